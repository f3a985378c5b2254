"""The support of whole answers, from that of their claims: sentences and clauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ragmeter.metrics.offline.reading.vocabulary import Bools, Floats
from ragmeter.metrics.offline.support.claims import claims_of
from ragmeter.metrics.offline.support.features import N_COLUMNS, NAMES
from ragmeter.metrics.offline.support.model import (
    MODEL,
    Row,
    best_pairs,
    compare,
    lines_of,
    log_odds,
    pair_counts,
    support_trees,
)
from ragmeter.metrics.offline.trees import read_model
from ragmeter.metrics.refusals import is_miss

#: From this probability on an answer counts as one with a hallucination.
HALLUCINATED = 0.5
_LEAST = 1e-6
_SHORT = 30  # content words up to which the length of an answer says nothing
_CLAIM_WORDS = NAMES.index("claim_words")


@dataclass(frozen=True)
class Claims:
    """The claims of an answer, the log-odds that the passages support each, and which of them decline to answer."""

    texts: list[str]
    log_odds: Floats
    words: Floats  # how many content words each has
    declines: Bools

    @property
    def made(self) -> list[str]:
        """Those that don't decline."""
        return [text for text, declines in zip(self.texts, self.declines.tolist(), strict=True) if not declines]

    def supported(self) -> float:
        """The probability that the passages support the answer: the mean of its claims, weighed by their words."""
        made = ~self.declines
        return _chance(float(np.average(self.log_odds[made], weights=self.words[made])))

    def hallucinated(self, slope: float, intercept: float) -> float:
        """The probability that some claim is not supported: from the mean odds of its claims that they are not."""
        made = ~self.declines
        return _chance(slope * unsupported(self.log_odds[made], self.words[made]) + intercept)


def unsupported(log_odds: Floats, words: Floats) -> float:
    """The log-odds that some claim is not supported: the mean odds, weighed by words, so that the worst decide.

    A long answer has more to go wrong. Its claims stand and fall together, so the odds grow with the square root only.
    """
    length = np.log(max(float(words.sum()), _SHORT) / _SHORT) / 2
    return float(np.log(np.average(np.exp(-log_odds), weights=words)) + length)


def _chance(log_odds: float) -> float:
    return float(1 / (1 + np.exp(-log_odds)))


def words_of(lines: Floats) -> Floats:
    """How many content words each claim has, by its features; never quite 0, so that every claim has a weight."""
    return np.maximum(np.expm1(lines[:, _CLAIM_WORDS]), _LEAST)


def claims_of_answers(answers: Sequence[str], passages: Sequence[Sequence[str]]) -> list[Claims]:
    """The claims of each answer with their support by the passages of its row."""
    rows: list[Row] = [(claims_of(answer), row) for answer, row in zip(answers, passages, strict=True)]
    texts = [text for own, _ in rows for text in own]
    lines = np.zeros((int(pair_counts(rows).sum()), N_COLUMNS))
    declines = np.array([is_miss(text) for text in texts], bool)
    for block in compare(rows):
        lines[block.pairs] = lines_of(block.compared, support_trees())
    odds = log_odds(lines, support_trees())
    best = best_pairs(odds, rows)
    odds, words = odds[best], words_of(lines[best])
    ends = np.cumsum([len(own) for own, _ in rows]).tolist()
    parts = (slice(begin, end) for begin, end in pairwise([0, *ends]))
    return [Claims(texts[part], odds[part], words[part], declines[part]) for part in parts]


def answer_calibration() -> tuple[float, float]:
    """Slope and intercept of the packaged model, from the odds of claims to those of an answer."""
    slope, intercept = read_model(MODEL)["answer"]
    return slope, intercept
