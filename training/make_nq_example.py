"""Makes `examples/nq/`: 200 questions that the offline judge was not trained on, and two systems' answers to them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from judged import Judged, is_held_out, judged

FOLDER = Path(__file__).parent.parent / "examples" / "nq"
QUESTIONS = 200
#: The names of the files, and those of the systems in the original.
SYSTEMS = {"reader": "fid", "search": "newbing"}


def main() -> None:
    """Write the three files."""
    answers: dict[int, dict[str, Judged]] = {}
    for row in judged():
        if is_held_out(row.question):
            answers.setdefault(row.number, {})[row.system] = row
    complete = [(number, rows) for number, rows in answers.items() if set(SYSTEMS.values()) <= set(rows)][:QUESTIONS]
    golds = [(f"nq{number}", next(iter(rows.values()))) for number, rows in complete]
    _write("reference", ({"qid": qid, "question": row.question, "reference": list(row.golds)} for qid, row in golds))
    for name, system in SYSTEMS.items():
        _write(name, ({"qid": f"nq{number}", "answer": rows[system].answer} for number, rows in complete))
        right = sum(rows[system].right for _, rows in complete)
        print(f"{name}: people call {right} of {len(complete)} answers right")


def _write(name: str, rows: Iterable[Mapping[str, object]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (FOLDER / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
