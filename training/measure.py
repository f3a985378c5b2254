"""How often the offline judge agrees with people on a file of judged answers: `python training/measure.py FILE`.

A line of the file is a JSON object: `question`, `reference` (a text or a list of texts), `answer`, and `right` (true or
false). `--wrong` lists the answers on which the judge is wrong; leave it out where the file is to stay unseen.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from learning import agreement, calibration_error, kappa

from ragmeter import get_metric


def main() -> None:
    """Judge the answers, and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", type=Path, help="JSON lines: question, reference, answer, right")
    parser.add_argument("--language", help="of the answers; default: told from each")
    parser.add_argument("--wrong", action="store_true", help="list the answers on which the judge is wrong")
    chosen = parser.parse_args()
    rows = [json.loads(line) for line in chosen.file.read_text(encoding="utf-8").splitlines() if line.strip()]
    metric = get_metric("offline_correct_probability")
    if chosen.language:
        metric = metric.with_settings(language=chosen.language)
    chances = np.asarray(metric(*([row[name] for row in rows] for name in ("question", "reference", "answer"))))
    right = np.array([bool(row["right"]) for row in rows])
    verdict = chances >= 0.5
    print(f"answers: {len(rows):,}, right: {right.sum():,}")
    print(f"agreement: {agreement(verdict, right):.3f}, kappa: {kappa(verdict, right):.3f}")
    print(f"right answers called right: {(verdict & right).sum():,} of {right.sum():,}")
    print(f"wrong answers called wrong: {(~verdict & ~right).sum():,} of {(~right).sum():,}")
    print(f"expected calibration error: {calibration_error(chances, right):.3f}")
    for row, chance in zip(rows, chances.tolist(), strict=True):
        if chosen.wrong and (chance >= 0.5) != bool(row["right"]):
            print(f"{chance:.2f}  {row['question']} | {row['reference']} | {row['answer']}")


if __name__ == "__main__":
    main()
