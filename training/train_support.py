"""Trains the offline support model: `make train`. The same data and the same packages give the same file.

Writes the model into the package and its card into docs/. Every figure of the card comes from here. Nothing but data of
this repository is read, and nothing is asked of other machines.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from claimed import KINDS, Bools, Claimed, Floats, answers, claims, controlled, excerpts, made_up, weights
from learning import SETTINGS, calibration, grown
from support_card import Figures, write_card

from ragmeter.metrics.offline.support.answers import unsupported, words_of
from ragmeter.metrics.offline.support.claims import made_claims
from ragmeter.metrics.offline.support.features import CLASHES, FEATURES, NAMES, NOWHERE, is_half_missing
from ragmeter.metrics.offline.support.model import Row, best_pairs, log_odds, pair_counts, split_into, support_lines
from ragmeter.metrics.offline.trees import ModelFile, Trees

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
    rows = with_made_up()
    lines = Lines.of(rows)
    print("cross-validation, of which the calibrations are made ...", flush=True)
    by_fold = Parts.of(rows, lines, [str(row.fold) for row in rows])
    model = fitted(rows, lines, np.ones(len(rows), bool))
    model["calibration"] = by_fold.calibration
    marked = Answers.of(answers())
    odds = marked.odds(by_fold, [str(row.fold) for row in marked.rows])
    cited, cited_odds = one_claim_answers(rows, lines, by_fold)
    both = [*marked.rows, *cited]
    wrong = ~np.array([row.supported for row in both])
    model["answer"] = calibration(np.concatenate([odds, cited_odds]), wrong, weights(both))
    chosen.model.write_bytes(gzip.compress(json.dumps(model, separators=(",", ":")).encode(), 9, mtime=0))
    print(f"{chosen.model}: {len(model['feature'])} trees, {chosen.model.stat().st_size:,} bytes", flush=True)
    if not chosen.no_card:
        print("leave one data set out ...", flush=True)
        by_kind = Parts.of(rows, lines, [KINDS[row.source] for row in rows])
        is_real = np.array([not row.is_made_up for row in rows])
        figures = Figures(
            [row for row in rows if not row.is_made_up], lines.fullest[is_real], by_fold.odds[is_real],
            by_kind.odds[is_real], marked.rows, odds, marked.odds(by_kind, ["mtrag"] * len(marked.rows)),
            marked.covered(), cited, cited_odds,
            Lines.of(controlled()).odds(Trees.read(model, NAMES)), len(model["feature"]),
        )  # fmt: skip
        CARD.write_text(write_card(figures), encoding="utf-8")
        print(f"{CARD}", flush=True)


def with_made_up() -> list[Claimed]:
    """Every labelled claim, the made-up ones, and the labelled ones with short passages."""
    real = claims()
    return [*real, *made_up(real), *excerpts(real)]


@dataclass(frozen=True)
class Lines:
    """The features of each row's text, as one claim, with each of its passages."""

    of_pairs: Floats
    pairs: Sequence[Row]

    @classmethod
    def of(cls, rows: Sequence[Claimed]) -> Lines:
        """Compute them."""
        pairs = [([row.text], row.passages) for row in rows]
        return cls(support_lines(pairs), pairs)

    @cached_property
    def fullest(self) -> Floats:
        """The line of the passage that has most of the claim: what trees learn from, before any can tell."""
        most = sum(self.of_pairs[:, NAMES.index(name)] for name in ("covered", "in_sentence", "in_two"))
        return np.asarray(self.of_pairs[best_pairs(np.asarray(most), self.pairs)])

    @cached_property
    def is_capped(self) -> Bools:
        """Which rows have a cap, by the passage that has most of the claim."""
        limits = self.fullest[:, [CLASHES, NOWHERE]] > 0
        return np.asarray(limits.any(axis=1) | is_half_missing(self.fullest))

    def odds(self, trees: Trees) -> Floats:
        """The log-odds of each row by the passage that supports it best."""
        odds = log_odds(self.of_pairs, trees)
        return np.asarray(odds[best_pairs(odds, self.pairs)])

    def scores(self, trees: Trees) -> Floats:
        """The same before calibration, without limits."""
        scores = trees.scores(self.of_pairs)
        return np.asarray(scores[best_pairs(scores, self.pairs)])

    def some(self, chosen: Bools) -> Lines:
        """Those of some rows."""
        pairs = [pair for pair, is_chosen in zip(self.pairs, chosen.tolist(), strict=True) if is_chosen]
        return Lines(self.of_pairs[np.repeat(chosen, pair_counts(self.pairs))], pairs)


def fitted(rows: list[Claimed], lines: Lines, some: Bools) -> ModelFile:
    """Trees for some of the rows."""
    chosen = [row for row, is_chosen in zip(rows, some.tolist(), strict=True) if is_chosen]
    supported = np.array([row.supported for row in chosen])
    return grown(lines.fullest[some, : len(NAMES)], supported, weights(chosen), FEATURES, SUPPORT_SETTINGS)


@dataclass(frozen=True)
class Parts:
    """For each part of the rows, trees that saw no row of it; and the calibrated log-odds of each row by them."""

    trees: dict[str, Trees]
    odds: Floats
    calibration: tuple[float, float]

    @classmethod
    def of(cls, rows: list[Claimed], lines: Lines, parts: list[str]) -> Parts:
        """Grow the trees of each part."""
        part_of_row = np.array(parts)
        trees, scores = {}, np.zeros(len(rows))
        for part in np.unique(part_of_row).tolist():
            inside = part_of_row == part
            trees[part] = Trees.read(fitted(rows, lines, ~inside), NAMES)
            scores[inside] = lines.some(inside).scores(trees[part])
        # Labelled claims of which the trees decide: no cap, which would lower the probability whatever they say.
        is_real = np.array([not row.is_made_up for row in rows])
        real = [row for row in rows if not row.is_made_up]
        told = ~lines.is_capped[is_real]
        right = np.array([row.supported for row in real])
        slope, intercept = calibration(scores[is_real][told], right[told], weights(real)[told])
        calibrated = {part: replace(grown, slope=slope, intercept=intercept) for part, grown in trees.items()}
        odds = np.zeros(len(rows))
        for part, of_part in calibrated.items():
            odds[part_of_row == part] = lines.some(part_of_row == part).odds(of_part)
        return cls(calibrated, odds, (slope, intercept))


@dataclass(frozen=True)
class Answers:
    """Answers, the features of their claims, and how many claims each has."""

    rows: list[Claimed]
    lines: Lines
    counts: list[int]

    @classmethod
    def of(cls, rows: list[Claimed]) -> Answers:
        """Split the answers into claims, as the metrics do: claims that decline don't count, nor such answers."""
        split = [(row, made_claims(row.text)) for row in rows]
        scored = [(row, texts) for row, texts in split if texts]
        lines = Lines.of([replace(row, text=text) for row, texts in scored for text in texts])
        return cls([row for row, _ in scored], lines, [len(texts) for _, texts in scored])

    def odds(self, parts: Parts, part_of_answer: list[str]) -> Floats:
        """For each answer the log-odds that its claims are not supported, from trees that saw nothing of its part."""
        part_of_claim = np.repeat(np.array(part_of_answer), self.counts)
        odds = np.zeros(len(part_of_claim))
        for part in np.unique(part_of_claim).tolist():
            odds[part_of_claim == part] = self.lines.some(part_of_claim == part).odds(parts.trees[part])
        split = (split_into(values, self.counts) for values in (odds, words_of(self.lines.fullest)))
        return np.array([unsupported(own, weight) for own, weight in zip(*split, strict=True)])

    def covered(self) -> Floats:
        """The share of each answer's words that the best passages have."""
        fullest = self.lines.fullest
        columns = (fullest[:, NAMES.index("covered")], words_of(fullest))
        parts = zip(*(split_into(column, self.counts) for column in columns), strict=True)
        return np.array([np.average(share, weights=words) for share, words in parts])


def one_claim_answers(rows: list[Claimed], lines: Lines, parts: Parts) -> tuple[list[Claimed], Floats]:
    """The claims of WiCE as answers of one claim: the rows, and the odds that they are not supported."""
    places = [place for place, row in enumerate(rows) if row.source == "wice_claims" and not row.is_made_up]
    words = words_of(lines.fullest)
    odds = [unsupported(parts.odds[place : place + 1], words[place : place + 1]) for place in places]
    return [rows[place] for place in places], np.array(odds)


if __name__ == "__main__":
    main()
