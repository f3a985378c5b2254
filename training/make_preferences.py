"""Makes the data of the offline judge of long answers from the originals.

`python training/make_preferences.py human_labeled_data.json mtrag_human.json` writes `preferences.jsonl.gz`, of
RAGChecker's meta-evaluation, and `mtrag_preferences.jsonl.gz`. The same originals always give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ASPECTS = ("correctness", "completeness", "overall")
#: The two systems of MTRAG's human evaluation, beside its reference.
SYSTEMS = ("llama-3.1-405b-instruct", "gpt-4o")
MARKS = ("completeness", "faithfulness", "win-rate")


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ragchecker", type=Path)
    parser.add_argument("mtrag", type=Path)
    chosen = parser.parse_args()
    _write("preferences.jsonl.gz", _ragchecker(json.loads(chosen.ragchecker.read_text(encoding="utf-8"))))
    _write("mtrag_preferences.jsonl.gz", _mtrag(json.loads(chosen.mtrag.read_text(encoding="utf-8"))))


def _ragchecker(original: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """A line a question; the original has one for each of the two people."""
    rows: dict[int, dict[str, Any]] = {}
    for record in original:
        row = rows.setdefault(
            record["instance_id"],
            {
                "domain": record["dataset"],
                "question": record["query"],
                "reference": record["gt_answer"],
                "answers": [record["model1"]["response"], record["model2"]["response"]],
                "preferences": {aspect: [] for aspect in ASPECTS},
            },
        )
        for aspect in ASPECTS:
            row["preferences"][aspect].append(record[f"{aspect}_label"])
    return rows.values()


def _mtrag(original: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """A line a task: the last question, the reference, both systems' answers, and the difference of people's marks."""
    judged = {(record["task_id"], record["model_id"]): record for record in original["evaluations"]}
    for task in original["tasks"]:
        records = [judged[task["task_id"], system] for system in SYSTEMS]
        marks = [{mark: _mean(record["annotations"][mark]) for mark in MARKS} for record in records]
        yield {
            "question": task["input"][-1]["text"],
            "reference": task["targets"][0]["text"],
            "answers": [record["model_response"] for record in records],
            "preferences": {mark: [round(marks[1][mark] - marks[0][mark], 4)] for mark in MARKS},
        }


def _mean(marks: dict[str, dict[str, Any]]) -> float:
    values = [float(mark["value"]) for mark in marks.values()]
    return sum(values) / len(values)


def _write(name: str, rows: Iterable[dict[str, Any]]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path = Path(__file__).with_name(name)
    path.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
    print(f"{name}: {len(lines):,} questions, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
