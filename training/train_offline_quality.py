"""Trains the offline judge of long answers: part of `make train`. The same data give the same file, byte for byte.

Writes the weights into the package and their card into docs/. Every figure of the card comes from here.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from preferring import NAMES, both, fit, mean_preference, read
from quality_card import write_card

ROOT = Path(__file__).parent.parent
DATA = Path(__file__).with_name("preferences.jsonl.gz")
OTHER = Path(__file__).with_name("mtrag_preferences.jsonl.gz")
WEIGHTS = ROOT / "src" / "ragmeter" / "metrics" / "offline" / "quality.json"
CARD = ROOT / "docs" / "offline-quality.md"
ASPECTS = ("overall", "correctness", "completeness")


def main() -> None:
    """Learn from all rows, and say how good it is on rows that it has not seen; or only learn, with --no-card."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--weights", type=Path, default=WEIGHTS, help="where the weights go")
    parser.add_argument("--no-card", action="store_true", help="leave the card, whose figures take two minutes more")
    chosen = parser.parse_args()
    rows = read(DATA)
    shares_of_both = both(rows)
    differences = shares_of_both[:, 1] - shares_of_both[:, 0]
    weights = {}
    for aspect in ASPECTS:
        learnt = fit(differences, mean_preference(rows, aspect))
        weights[aspect] = {name: round(float(weight), 4) for name, weight in zip(NAMES, learnt, strict=True)}
    chosen.weights.write_text(json.dumps({"weights": weights}, indent=1) + "\n", encoding="utf-8")
    print(f"{chosen.weights}: {len(NAMES)} weights for each of {len(ASPECTS)} aspects", flush=True)
    if not chosen.no_card:
        CARD.write_text(write_card(rows, read(OTHER), weights), encoding="utf-8")
        print(f"{CARD}", flush=True)


if __name__ == "__main__":
    main()
