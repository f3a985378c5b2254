"""The features of a pair of a gold answer and an answer, which the trees use.

Each feature has a direction: a larger value never lowers the probability (+1), never raises it (-1), or may do either
(0). The trees are trained with these constraints, which keeps them sensible on unusual answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ragmeter.metrics.bags import share
from ragmeter.metrics.offline import thresholds as threshold
from ragmeter.metrics.offline.guards import guard_numbers
from ragmeter.metrics.offline.matching.comparison import Compared, compared_pairs
from ragmeter.metrics.offline.matching.match import Match
from ragmeter.metrics.offline.matching.mentions import begins
from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import Floats, Texts


class Feature(NamedTuple):
    """A feature's name, its direction, and the topic of the evidence that it belongs to."""

    name: str
    direction: int
    topic: str


FEATURES = tuple(
    Feature(name, direction, topic)
    for topic, direction, names in (
        ("gold words", +1, "recall_new recall recall_all recall_exact recall_letters"),
        ("gold words", -1, "missing_names missing_new"),
        ("list", +1, "parts_found"),
        ("gold words", +1, "precision precision_all exact inside"),
        ("other candidates", -1, "extra_words early_names"),
        ("length", 0, "answer_words"),
        ("position", -1, "position"),
        ("question", 0, "gold_asked"),
        ("numbers", +1, "numbers_found"),
        ("numbers", -1, "numbers_missing numbers_contradicted same_kind"),
        ("numbers", 0, "roughly gold_is_number"),
        ("negation", -1, "negations"),
        ("refusal", -1, "refusal"),
        ("alternatives", -1, "hedges"),
    )
    for name in names.split()
)
NAMES = tuple(feature.name for feature in FEATURES)

_UNSPACED = ((0x0E00, 0x1100), (0x2E80, 0xAC00))  # Thai to Burmese, Chinese and Japanese


def features(
    question: Sequence[str], reference: Sequence[str], answer: Sequence[str], language: str | None = None
) -> Floats:
    """A line for each pair: its features, and then the number of the guard that holds, or 0."""
    lines = np.zeros((len(answer), len(FEATURES) + 1))
    for compared in compared_pairs(question, reference, answer, language):
        lines[compared.rows] = evidence_lines(compared)
    return lines


def evidence_lines(compared: Compared) -> Floats:
    """The lines of compared pairs. The guard's number in the last column is no feature: training and trees know."""
    pairs = compared.pairs
    columns = {
        **_of_gold_words(pairs),
        **_of_other_words(pairs),
        **pairs.numbers,
        **_of_doubts(pairs),
        "parts_found": pairs.parts.least,
        "refusal": compared.refusal.astype(np.float64),
    }
    return np.stack([*(columns[name] for name in NAMES), guard_numbers(compared)], axis=1)


def _of_gold_words(pairs: Match) -> dict[str, Floats]:
    """Which gold words the answer has, and where. New words are those that the question does not have, if any."""
    gold, answer, credit, content = pairs.gold, pairs.answer, pairs.credit, pairs.content
    new = content & ~pairs.gold_asked
    new |= content & (gold.per_text(new) == 0)[gold.text]
    weight = np.where(gold.has(Mark.LETTER), 0.25, 1.0)
    is_missing = new & (credit < 0.5)
    is_found = new & (pairs.found_at >= 0)
    places, pair = pairs.found_at[is_found], gold.text[is_found]
    first = np.full(gold.count, threshold.NOT_THERE)
    np.minimum.at(first, pair, (places - answer.starts[pair]) * _n_words(answer)[places])
    return {
        "recall_new": share(gold.per_text(credit * weight * new), gold.per_text(weight * new)),
        "recall": share(gold.per_text(credit * weight * content), gold.per_text(weight * content)),
        "recall_all": share(gold.per_text(credit), np.diff(gold.starts)),
        "recall_exact": share(gold.per_text(pairs.exact & new), gold.per_text(new)),
        "recall_letters": share(gold.per_text(credit * gold.length * new), gold.per_text(gold.length * new)),
        "missing_names": np.minimum(gold.per_text(is_missing & gold.has(Mark.CAPITAL)), 4),
        "missing_new": np.minimum(gold.per_text(is_missing), 8),
        "inside": pairs.inside.astype(np.float64),
        "position": np.log1p(first),
        "gold_asked": share(gold.per_text(content & pairs.gold_asked), gold.per_text(content)),
    }


def _of_other_words(pairs: Match) -> dict[str, Floats]:
    """How much of the answer the gold words are, and what else it says."""
    gold, answer, spoken = pairs.gold, pairs.answer, pairs.answer_content
    free, extra = spoken & ~pairs.answer_asked, spoken & pairs.other
    n_words = _n_words(answer)
    names = np.flatnonzero(extra & answer.has(Mark.CAPITAL))
    sentence = begins(answer, answer.has(Mark.SENTENCE)).before(names)
    is_early = (sentence == answer.starts[answer.text[names]]) & (names > sentence)  # and not its first word
    has_words = (np.diff(answer.starts) > 0) & (np.diff(gold.starts) > 0)
    n_missing = gold.per_text(pairs.content & (pairs.credit < 1))
    n_others = answer.per_text(spoken & ~pairs.answer_gold)
    return {
        "precision": share(answer.per_text(free & pairs.answer_gold), answer.per_text(free)),
        "precision_all": share(answer.per_text(spoken & pairs.answer_gold), answer.per_text(spoken)),
        "exact": (has_words & (n_missing == 0) & (n_others == 0)).astype(np.float64),
        "extra_words": np.log1p(answer.per_text(extra * n_words)),
        "early_names": np.log1p(np.bincount(answer.text[names[is_early]], minlength=answer.count)),
        "answer_words": np.minimum(np.log1p(answer.per_text(n_words)), np.log1p(60)),
    }


def _n_words(side: Texts) -> Floats:
    """How many words each item counts for: in scripts without spaces, items are groups of letters."""
    unspaced = [(side.letter >= first) & (side.letter < end) for first, end in _UNSPACED]
    return np.where(np.logical_or.reduce(unspaced), threshold.OF_A_WORD, 1.0)


def _of_doubts(pairs: Match) -> dict[str, Floats]:
    """How many negations and hedges the answer has that are not the gold answer's; none count if that one negates."""
    gold, answer = pairs.gold, pairs.answer
    n_negations = answer.per_text(answer.has(Mark.NEGATION) & pairs.other)
    return {
        "negations": np.where(gold.per_text(gold.has(Mark.NEGATION)) > 0, 0, np.minimum(n_negations, 4)),
        "hedges": np.minimum(answer.per_text(answer.has(Mark.HEDGE) & ~pairs.answer_gold), 4),
    }
