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
from claimed import Bools, Claimed, Floats, answers, claims, made_up, weights
from learning import SETTINGS, calibration, grown

from ragmeter.metrics.offline.answers import unsupported, words_of
from ragmeter.metrics.offline.claims import claims_of
from ragmeter.metrics.offline.support import log_odds, split_into, support_lines
from ragmeter.metrics.offline.support_features import FEATURES, NAMES
from ragmeter.metrics.offline.trees import Trees

ROOT = Path(__file__).parent.parent
MODEL = ROOT / "src" / "ragmeter" / "metrics" / "offline" / "support.json.gz"
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
    chosen = parser.parse_args()
    real = claims()
    rows = [*real, *made_up(real)]
    lines = lines_of(rows)
    is_real = np.array([not row.is_made_up for row in rows])
    print("cross-validation, of which the calibration is made ...", flush=True)
    scores = cross_validated(rows, lines)
    model = fitted(rows, lines, np.ones(len(rows), bool))
    model["calibration"] = calibration(scores[is_real], np.array([row.supported for row in real]), weights(real))
    trees = Trees.read(model, NAMES)
    marked = answers()
    model["answer"] = answer_calibration(answer_odds(trees, marked), marked)
    chosen.model.write_bytes(gzip.compress(json.dumps(model, separators=(",", ":")).encode(), 9, mtime=0))
    print(f"{chosen.model}: {len(model['feature'])} trees, {chosen.model.stat().st_size:,} bytes", flush=True)


def lines_of(rows: list[Claimed]) -> Floats:
    """The features of each row's text, as one claim."""
    return support_lines([([row.text], row.passages) for row in rows])


def fitted(rows: list[Claimed], lines: Floats, some: Bools) -> dict[str, Any]:
    """Trees for some of the rows."""
    chosen = [row for row, is_chosen in zip(rows, some.tolist(), strict=True) if is_chosen]
    supported = np.array([row.supported for row in chosen])
    return grown(lines[some], supported, weights(chosen), FEATURES, SUPPORT_SETTINGS)


def cross_validated(rows: list[Claimed], lines: Floats) -> Floats:
    """The log-odds of each row from trees that saw no row of its documents."""
    folds = np.array([row.fold for row in rows])
    scores = np.zeros(len(rows))
    for number in np.unique(folds).tolist():
        inside = folds == number
        scores[inside] = Trees.read(fitted(rows, lines, ~inside), NAMES).scores(lines[inside])
    return scores


def answer_odds(trees: Trees, marked: list[Claimed]) -> Floats:
    """For each answer the logarithm of the mean odds that its claims are not supported."""
    split = [claims_of(row.text) for row in marked]
    lines = support_lines([(texts, row.passages) for texts, row in zip(split, marked, strict=True)])
    odds = log_odds(lines, trees)
    counts = [len(texts) for texts in split]
    parts = zip(split_into(odds, counts), split_into(words_of(lines), counts), strict=True)
    return np.array([unsupported(of_answer, words) for of_answer, words in parts])


def answer_calibration(odds: Floats, marked: list[Claimed]) -> tuple[float, float]:
    """Slope and intercept, as if half of the answers had a hallucination."""
    return calibration(odds, ~np.array([row.supported for row in marked]), weights(marked))


if __name__ == "__main__":
    main()
