"""Trains the offline judge: `make train`. The same data and the same packages give the same file, byte for byte.

Writes the model into the package and its card into docs/. Every figure of the card comes from here. Nothing but data of
this repository is read, and nothing is asked of other machines.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import numpy as np
from card import Figures, write_card
from judged import Judged, fold, is_held_out, judged, made_up
from learning import Rows, agreement, calibration, calibration_error, cross_validated, fingerprint, fit, kappa

from ragmeter.metrics.normalize import words
from ragmeter.metrics.offline.reading.tables import QUESTIONS, plain, table
from ragmeter.metrics.offline.trees import Trees

ROOT = Path(__file__).parent.parent
MODEL = ROOT / "src" / "ragmeter" / "metrics" / "offline" / "model.json.gz"
CARD = ROOT / "docs" / "offline-judge.md"


def main() -> None:
    """Train, and write the card; or only train, with --no-card, and say how well the trees agree with people."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--model", type=Path, default=MODEL, help="where the model goes")
    parser.add_argument("--no-card", action="store_true", help="leave the card, whose figures take a minute more")
    chosen = parser.parse_args()
    real = judged()
    every = [*real, *made_up(real)]
    rows = Rows.of(every)
    is_real = np.arange(len(every)) < len(real)
    seen = np.array([not is_held_out(row.question) for row in every])
    folds = np.array([fold(row.question) for row in every])

    print("cross-validation, of which the calibration is made ...", flush=True)
    scores = cross_validated(rows, folds, is_real)
    model = fit(rows.some(seen))
    fitted = is_real & seen
    model["calibration"] = calibration(rows.best(scores)[fitted], rows.right[fitted])
    model["fingerprint"] = fingerprint(every)
    pairs, of_real = rows.some(is_real), scores[is_real[rows.row]]
    chances = pairs.chances(of_real, *calibration(pairs.best(of_real), pairs.right))
    print(
        f"unseen questions: agreement {agreement(chances >= 0.5, pairs.right):.4f}, "
        f"kappa {kappa(chances >= 0.5, pairs.right):.4f}, ECE {calibration_error(chances, pairs.right):.4f}"
    )
    text = json.dumps(model, separators=(",", ":"))
    chosen.model.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{chosen.model}: {len(model['feature'])} trees, {chosen.model.stat().st_size:,} bytes", flush=True)
    if not chosen.no_card:
        print("leave one system out, leave one kind of question out ...", flush=True)
        in_real = is_real[rows.row]
        unseen = _without_each_system(rows, every)
        by_kind = cross_validated(rows, _kinds(every), is_real)[in_real]
        figures = Figures(real, rows.some(is_real), scores[in_real], folds[is_real], unseen, by_kind)
        CARD.write_text(write_card(figures), encoding="utf-8")
        print(f"{CARD}", flush=True)


def _kinds(every: list[Judged]) -> np.ndarray:
    """What the question of each row asks for."""
    english = table("en")
    return np.array([QUESTIONS.index(english.kind_of_question(words(plain(row.question)))) for row in every])


def _without_each_system(rows: Rows, every: list[Judged]) -> dict[str, np.ndarray]:
    """For each system the calibrated log-odds of its answers' pairs, from trees that saw neither it nor the questions.

    The calibration has not seen the system either: it is made of the same trees' scores of the other systems' answers.
    """
    system = np.array([row.system for row in every])
    halves = np.array([fold(f"half {row.question}", 2) for row in every])
    is_real = np.array([row.weight == 1 for row in every])
    chances = {}
    for name in dict.fromkeys(system[is_real].tolist()):
        scores = np.zeros(len(rows.row))
        for half in (0, 1):
            trees = Trees.read(fit(rows.some((system != name) & (halves != half))))
            others = rows.some(is_real & (system != name) & (halves == half))
            slope, intercept = calibration(others.best(trees.scores(others.features)), others.right)
            held_out = ((system == name) & (halves == half))[rows.row]
            scores[held_out] = slope * trees.scores(rows.features[held_out]) + intercept
        chances[name] = scores[(system == name)[rows.row]]
    return chances


if __name__ == "__main__":
    main()
