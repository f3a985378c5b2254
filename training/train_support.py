"""Trains the offline support model: `make train`. The same data and the same packages give the same file.

Writes the model into the package and its card into docs/. Every figure of the card comes from here. Nothing but data of
this repository is read, and nothing is asked of other machines.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from claimed import KINDS, Bools, Claimed, Floats, answers, claims, controlled, made_up, weights
from learning import SETTINGS, calibration, grown
from support_card import Figures, write_card

from ragmeter.metrics.offline.answers import unsupported, words_of
from ragmeter.metrics.offline.claims import claims_of
from ragmeter.metrics.offline.support import log_odds, split_into, support_lines
from ragmeter.metrics.offline.support_features import FEATURES, NAMES
from ragmeter.metrics.offline.trees import Trees

ROOT = Path(__file__).parent.parent
MODEL = ROOT / "src" / "ragmeter" / "metrics" / "offline" / "support.json.gz"
CARD = ROOT / "docs" / "offline-support.md"
#: Fewer and stronger regularised trees than the offline judge's: there are far fewer labels.
SUPPORT_SETTINGS: dict[str, Any] = SETTINGS | {
    "iterations": 200,
    "depth": 4,
    "learning_rate": 0.045,
    "l2_leaf_reg": 30,
}


def main() -> None:
    """Train, and say how good it is; or only train."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--model", type=Path, default=MODEL, help="where the model goes")
    parser.add_argument("--no-card", action="store_true", help="leave the card")
    chosen = parser.parse_args()
    real = claims()
    rows = [*real, *made_up(real)]
    lines = lines_of(rows)
    is_real = np.array([not row.is_made_up for row in rows])
    print("cross-validation, of which the calibration is made ...", flush=True)
    scores = without(rows, lines, [str(row.fold) for row in rows])[is_real]
    model = fitted(rows, lines, np.ones(len(rows), bool))
    model["calibration"] = calibration(scores, np.array([row.supported for row in real]), weights(real))
    trees = Trees.read(model, NAMES)
    marked = answers()
    odds, covered = answer_odds(trees, marked)
    cited, cited_odds = one_claim_answers(real, lines[is_real], trees.slope * scores + trees.intercept)
    both = [*marked, *cited]
    wrong = ~np.array([row.supported for row in both])
    model["answer"] = calibration(np.concatenate([odds, cited_odds]), wrong, weights(both))
    chosen.model.write_bytes(gzip.compress(json.dumps(model, separators=(",", ":")).encode(), 9, mtime=0))
    print(f"{chosen.model}: {len(model['feature'])} trees, {chosen.model.stat().st_size:,} bytes", flush=True)
    if not chosen.no_card:
        print("leave one data set out ...", flush=True)
        unseen = without(rows, lines, [KINDS[row.source] for row in rows])[is_real]
        figures = Figures(
            real, lines[is_real], trees.slope * scores + trees.intercept, unseen, marked, odds, covered,
            cited, cited_odds, log_odds(lines_of(controlled()), trees), len(model["feature"]),
        )  # fmt: skip
        CARD.write_text(write_card(figures), encoding="utf-8")
        print(f"{CARD}", flush=True)


def lines_of(rows: list[Claimed]) -> Floats:
    """The features of each row's text, as one claim."""
    return support_lines([([row.text], row.passages) for row in rows])


def fitted(rows: list[Claimed], lines: Floats, some: Bools) -> dict[str, Any]:
    """Trees for some of the rows."""
    chosen = [row for row, is_chosen in zip(rows, some.tolist(), strict=True) if is_chosen]
    supported = np.array([row.supported for row in chosen])
    return grown(lines[some], supported, weights(chosen), FEATURES, SUPPORT_SETTINGS)


def without(rows: list[Claimed], lines: Floats, parts: list[str]) -> Floats:
    """The log-odds of each row from trees that saw no row of its part."""
    part_of_row = np.array(parts)
    scores = np.zeros(len(rows))
    for part in np.unique(part_of_row).tolist():
        inside = part_of_row == part
        scores[inside] = Trees.read(fitted(rows, lines, ~inside), NAMES).scores(lines[inside])
    return scores


def answer_odds(trees: Trees, marked: list[Claimed]) -> tuple[Floats, Floats]:
    """For each answer the log-odds that its claims are not supported, and the share of words that passages have."""
    split = [claims_of(row.text) for row in marked]
    lines = support_lines([(texts, row.passages) for texts, row in zip(split, marked, strict=True)])
    counts = [len(texts) for texts in split]
    columns = (log_odds(lines, trees), words_of(lines), lines[:, NAMES.index("covered")])
    parts = list(zip(*(split_into(column, counts) for column in columns), strict=True))
    odds = np.array([unsupported(of_claims, words) for of_claims, words, _ in parts])
    return odds, np.array([np.average(covered, weights=words) for _, words, covered in parts])


def one_claim_answers(rows: list[Claimed], lines: Floats, odds: Floats) -> tuple[list[Claimed], Floats]:
    """The claims of WiCE as answers of one claim: the rows, and the odds that they are not supported."""
    places = [place for place, row in enumerate(rows) if row.source == "wice_claims"]
    words = words_of(lines)
    return [rows[place] for place in places], np.array(
        [unsupported(odds[place : place + 1], words[place : place + 1]) for place in places]
    )


if __name__ == "__main__":
    main()
