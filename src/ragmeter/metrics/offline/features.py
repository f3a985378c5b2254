"""The features of a pair of a gold answer and an answer, which the trees use.

Each feature has a direction: a larger value never lowers the probability (+1), never raises it (-1), or may do either
(0). The trees are trained with these constraints, which keeps them sensible on unusual answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ragmeter.metrics.bags import ranges, share, slices
from ragmeter.metrics.offline import thresholds as threshold
from ragmeter.metrics.offline.comparing import Compared, matches
from ragmeter.metrics.offline.guards import reasons
from ragmeter.metrics.offline.matching import Match, look_up
from ragmeter.metrics.offline.parts import Parts
from ragmeter.metrics.offline.tables import QUESTIONS, Mark
from ragmeter.metrics.offline.vocabulary import Bools, Floats, Small, Texts, counted


class Feature(NamedTuple):
    """A feature's name, its direction, and the evidence that it belongs to."""

    name: str
    direction: int
    evidence: str


#: The kinds of questions that the trees know.
ASKS = ("who", "when")
FEATURES = (
    Feature("recall_new", +1, "gold words"),
    Feature("recall", +1, "gold words"),
    Feature("recall_all", +1, "gold words"),
    Feature("recall_exact", +1, "gold words"),
    Feature("recall_letters", +1, "gold words"),
    Feature("missing_names", -1, "gold words"),
    Feature("missing_new", -1, "gold words"),
    Feature("first_found", +1, "gold words"),
    Feature("last_found", +1, "gold words"),
    Feature("parts_found", +1, "list"),
    Feature("in_order", +1, "gold words"),
    Feature("precision", +1, "gold words"),
    Feature("precision_all", +1, "gold words"),
    Feature("exact", +1, "gold words"),
    Feature("inside", +1, "gold words"),
    Feature("extra_words", -1, "other candidates"),
    Feature("early_names", -1, "other candidates"),
    Feature("answer_words", 0, "length"),
    Feature("first_sentence", +1, "position"),
    Feature("position", -1, "position"),
    Feature("told_there", 0, "question"),
    Feature("gold_asked", 0, "question"),
    Feature("numbers_found", +1, "numbers"),
    Feature("numbers_missing", -1, "numbers"),
    Feature("numbers_contradicted", -1, "numbers"),
    Feature("number_off", -1, "numbers"),
    Feature("year", +1, "numbers"),
    Feature("same_kind", -1, "numbers"),
    Feature("roughly", 0, "numbers"),
    Feature("gold_is_number", 0, "numbers"),
    Feature("negations", -1, "negation"),
    Feature("refusal", -1, "refusal"),
    Feature("hedges", -1, "alternatives"),
    Feature("gold_names", 0, "gold words"),
    *(Feature(f"asks_{kind}", 0, "question") for kind in ASKS),
)
NAMES = tuple(feature.name for feature in FEATURES)

_YEAR, _MONTH, _OTHER = 1, 2, 3  # kinds of numbers
_UNSPACED = ((0x0E00, 0x1100), (0x2E80, 0xAC00))  # Thai to Burmese, Chinese and Japanese


def features(
    question: Sequence[str], reference: Sequence[str], answer: Sequence[str], language: str | None = None
) -> Floats:
    """A line for each pair: its features, and then the number of the guard that holds, or 0."""
    lines = np.zeros((len(answer), len(FEATURES) + 1))
    for compared in matches(question, reference, answer, language):
        lines[compared.rows] = evidence_lines(compared)
    return lines


def evidence_lines(compared: Compared) -> Floats:
    """The lines of compared pairs."""
    columns = by_name(compared)
    return np.stack([*(columns[name] for name in NAMES), reasons(compared.case, columns)], axis=1)


def by_name(compared: Compared) -> dict[str, Floats]:
    """Every feature by its name."""
    pairs = compared.pairs
    return {
        **_of_words(pairs, compared.parts),
        **_of_position(pairs),
        **_of_numbers(pairs),
        **_of_doubts(pairs),
        "refusal": compared.refusal.astype(np.float64),
        **{f"asks_{kind}": (compared.kinds == QUESTIONS.index(kind)).astype(np.float64) for kind in ASKS},
    }


def new_gold(pairs: Match) -> Bools:
    """The gold content words that the question does not have; all content words if it has them all."""
    new = pairs.content & ~pairs.gold_asked
    none = pairs.gold.per_text(new) == 0
    return np.asarray(new | (pairs.content & none[pairs.gold.text]))


def _of_words(pairs: Match, parts: Parts) -> dict[str, Floats]:
    gold, answer, credit = pairs.gold, pairs.answer, pairs.credit
    new = new_gold(pairs)
    content = pairs.content
    weight = np.where(gold.has(Mark.LETTER), 0.25, 1.0)
    spoken = pairs.answer_content
    free = spoken & ~pairs.answer_asked
    extra = free & ~pairs.answer_gold
    begins = np.zeros(len(answer.ids), bool)
    begins[1:] = answer.has(Mark.SENTENCE)[:-1]
    begins[answer.starts[:-1][np.diff(answer.starts) > 0]] = True
    names = extra & answer.has(Mark.CAPITAL) & ~begins
    # The first and the last content word of a gold answer: they matter most in a name.
    places = np.flatnonzero(content)
    first, last = np.zeros(gold.count), np.zeros(gold.count)
    last[gold.text[places]] = credit[places]
    first[gold.text[places[::-1]]] = credit[places[::-1]]
    gold_in_answer = pairs.answer_gold & spoken
    recall_all = share(gold.per_text(credit), np.diff(gold.starts))
    exact = (gold.per_text(content & (credit < 1)) == 0) & (answer.per_text(spoken & ~pairs.answer_gold) == 0)
    return {
        "recall_new": share(gold.per_text(credit * weight * new), gold.per_text(weight * new)),
        "recall": share(gold.per_text(credit * weight * content), gold.per_text(weight * content)),
        "recall_all": recall_all,
        "recall_exact": share(gold.per_text(pairs.exact & new), gold.per_text(new)),
        "recall_letters": share(gold.per_text(credit * gold.length * new), gold.per_text(gold.length * new)),
        "missing_names": np.minimum(gold.per_text(new & (credit < 0.5) & gold.has(Mark.CAPITAL)), 4),
        "missing_new": np.minimum(gold.per_text(new & (credit < 0.5)), 8),
        "first_found": first,
        "last_found": last,
        "parts_found": parts.least,
        "in_order": _in_order(pairs),
        "precision": share(answer.per_text(gold_in_answer & free), answer.per_text(free)),
        "precision_all": share(answer.per_text(gold_in_answer), answer.per_text(spoken)),
        "exact": (exact & (np.diff(answer.starts) > 0) & (np.diff(gold.starts) > 0)).astype(np.float64),
        "inside": pairs.inside.astype(np.float64),
        "extra_words": np.log1p(answer.per_text(extra * _n_words(answer))),
        "early_names": np.log1p(answer.per_text(names & (_sentence(answer) == 0))),
        "answer_words": np.minimum(np.log1p(answer.per_text(_n_words(answer))), np.log1p(60)),
        "gold_asked": share(gold.per_text(content & pairs.gold_asked), gold.per_text(content)),
        "gold_names": share(gold.per_text(gold.has(Mark.CAPITAL) & content), gold.per_text(content)),
    }


def _n_words(side: Texts) -> Floats:
    """How many words each item counts for: in scripts without spaces, items are groups of letters."""
    unspaced = [(side.letter >= first) & (side.letter < end) for first, end in _UNSPACED]
    return np.where(np.logical_or.reduce(unspaced), threshold.OF_A_WORD, 1.0)


def _sentence(side: Texts) -> Small:
    """The number of each item's sentence in its text."""
    ended = counted(side.has(Mark.SENTENCE)) - side.has(Mark.SENTENCE)
    begin = np.minimum(side.starts[:-1], max(len(ended) - 1, 0))
    return ended - ended[begin][side.text] if len(ended) else ended


def _in_order(pairs: Match) -> Floats:
    """The share of neighbouring gold words that are neighbours in the answer too; for one word, whether it occurs."""
    gold, answer = pairs.gold, pairs.answer
    n_roots = 1 + max((int(side.root.max()) for side in (gold, answer) if len(side.root)), default=0)
    keys = []
    # In the answer, both neighbours must be gold words.
    for side, is_candidate in ((gold, np.ones(len(gold.ids), bool)), (answer, pairs.answer_gold)):
        joined = (side.text[1:] == side.text[:-1]) & is_candidate[1:] & is_candidate[:-1]
        keys.append((side.text[1:][joined] * n_roots + side.root[:-1][joined]) * n_roots + side.root[1:][joined])
    is_neighbour = look_up(np.sort(keys[1]), keys[0])[0]
    pair = keys[0] // (n_roots * n_roots)
    n_neighbours = np.bincount(pair, is_neighbour, gold.count)
    n_pairs = np.bincount(pair, minlength=gold.count)
    single = share(gold.per_text(pairs.credit), np.diff(gold.starts))
    return np.where(n_pairs > 0, share(n_neighbours, n_pairs), single)


def _of_position(pairs: Match) -> dict[str, Floats]:
    gold, answer = pairs.gold, pairs.answer
    new = new_gold(pairs)
    is_found = new & (pairs.found_at >= 0)
    places = pairs.found_at[is_found]
    pair = gold.text[is_found]
    place = (places - answer.starts[pair]) * _n_words(answer)[places]
    first = np.full(gold.count, np.inf)
    np.minimum.at(first, pair, place)
    none = np.bincount(pair, minlength=gold.count) == 0
    sentence = _sentence(answer)
    in_first = sentence[places] == 0
    # The share of the question's words in the sentence with the first gold word.
    first_sentence = np.full(gold.count, -1)
    np.maximum.at(first_sentence, pair, np.where(place == first[pair], sentence[places], -1))
    asked = pairs.answer_asked & pairs.answer_content & (sentence == first_sentence[answer.text])
    content = ~pairs.question.has(Mark.FUNCTION)
    return {
        "first_sentence": share(np.bincount(pair, in_first, gold.count), gold.per_text(new)),
        "told_there": np.minimum(share(answer.per_text(asked), pairs.question.per_text(content)), 1.0),
        "position": np.log1p(np.where(none, threshold.NOT_THERE, np.minimum(first, threshold.NOT_THERE))),
    }


def _of_numbers(pairs: Match) -> dict[str, Floats]:
    gold, answer = pairs.gold, pairs.answer
    number = gold.has(Mark.NUMBER) & ~(gold.has(Mark.WEAK) & (gold.per_text(~gold.has(Mark.WEAK)) > 0)[gold.text])
    value = np.where(number, gold.value, np.nan)
    month = gold.has(Mark.MONTH)
    kind = _kind(value, month)
    is_other = answer.has(Mark.NUMBER | Mark.MONTH) & ~pairs.answer_gold & ~pairs.answer_asked & ~answer.has(Mark.WEAK)
    other_kind = np.where(is_other, _kind(answer.value, answer.has(Mark.MONTH)), 0)
    is_found = pairs.credit == 1
    against = np.zeros(gold.count)
    same_kind = np.zeros(gold.count)
    year = np.zeros(gold.count)
    for code in (_YEAR, _MONTH, _OTHER):
        is_kind = kind == code
        n_others = answer.per_text(other_kind == code)
        n_gold, n_found = gold.per_text(is_kind), gold.per_text(is_kind & is_found)
        against += np.where((n_gold > n_found) & (n_others > 0), n_gold - n_found, 0)
        same_kind += np.where(n_gold > 0, n_others, 0)
        if code == _YEAR:
            year = np.where(n_gold == 0, 0, np.where(n_found == n_gold, 1, np.where(n_others > 0, -1, -0.5)))
    numbers, hits = gold.per_text(kind > 0), gold.per_text((kind > 0) & is_found)
    return {
        "numbers_found": np.where(numbers > 0, share(hits, numbers), 0.5),
        "numbers_missing": np.minimum(numbers - hits, 4),
        "numbers_contradicted": np.minimum(against, 4),
        "number_off": _off(pairs, number & ~is_found),
        "year": year,
        "same_kind": np.log1p(same_kind),
        "roughly": np.minimum(gold.per_text(pairs.rough), 1),
        "gold_is_number": share(numbers, gold.per_text(pairs.content)),
    }


def _kind(value: Floats, month: Bools) -> Floats:
    """What kind of number each item is, 0 if none."""
    with np.errstate(invalid="ignore"):
        year = (value >= 1000) & (value <= 2100) & (value == np.floor(value))
    return np.where(month, _MONTH, np.where(year, _YEAR, np.where(np.isnan(value), 0, _OTHER)))


def _off(pairs: Match, missing: Bools) -> Floats:
    """The relative distance between a missing gold number and the nearest number of the answer; at most 1."""
    gold, answer = pairs.gold, pairs.answer
    off = np.zeros(gold.count)
    numbers = np.flatnonzero(answer.has(Mark.NUMBER) & np.isfinite(answer.value))
    first = np.searchsorted(numbers, answer.starts)  # of each answer among the numbers
    places = np.flatnonzero(missing & np.isfinite(gold.value))
    pair = gold.text[places]
    counts = np.diff(first)[pair]
    nearest = np.ones(len(places))
    for part in slices(counts):
        gold_value = np.repeat(gold.value[places[part]], counts[part])
        answer_value = answer.value[numbers[ranges(first[pair[part]], counts[part])]]
        apart = np.abs(answer_value - gold_value) / np.maximum(np.abs(gold_value), 1e-9)
        np.minimum.at(nearest[part], np.repeat(np.arange(len(counts[part])), counts[part]), apart)
    np.maximum.at(off, pair, nearest)
    return off


def _of_doubts(pairs: Match) -> dict[str, Floats]:
    """How many negations and hedges the answer has that are not the gold answer's; none count if that one negates."""
    gold, answer = pairs.gold, pairs.answer
    own = ~pairs.answer_gold
    n_negations = answer.per_text(answer.has(Mark.NEGATION) & own & ~pairs.answer_asked)
    return {
        "negations": np.where(gold.per_text(gold.has(Mark.NEGATION)) > 0, 0, np.minimum(n_negations, 4)),
        "hedges": np.minimum(answer.per_text(answer.has(Mark.HEDGE) & own), 4),
    }
