"""Makes `training/evouna_nq.jsonl.gz` from the original: `python training/make_judged.py evouna_nq.json`.

One line a question: the question, its gold answers, and for each system its answer and a person's verdict. The same
original always gives the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


def main() -> None:
    """Write the file, without the questions that are marked as improper and the answers without a verdict."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("original", type=Path)
    lines = []
    for entry in json.loads(parser.parse_args().original.read_text(encoding="utf-8")):
        if entry["improper"]:
            continue
        golds = list(dict.fromkeys(gold.strip() for gold in entry["golden_answer"].split("/") if gold.strip()))
        judged = {
            system: [entry[f"answer_{system}"], entry[f"judge_{system}"]]
            for system in SYSTEMS
            if entry[f"answer_{system}"] is not None and entry[f"judge_{system}"] is not None
        }
        if golds and judged:
            row = {"question": entry["question"], "golds": golds, "answers": judged}
            lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    path = Path(__file__).with_name("evouna_nq.jsonl.gz")
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
    print(f"{path.name}: {len(lines):,} questions, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
