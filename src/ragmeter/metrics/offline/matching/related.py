"""Words that mean nearly the same as a gold word: a country and its people, a year and its decade.

People accept most of these ("French Indochina" for "France", "the late 1990s" for "1998", 760 for 759.96). They get
less credit than the word itself, and are features for the trees.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ragmeter.metrics.bags import Ids, ranges, slices
from ragmeter.metrics.offline import thresholds as threshold
from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import Bools, Floats, Texts

_CENTURIES = 21
_MOST_FIGURES = 12
_MOST_NUMBERS = 100
_AT_ONCE = 1 << 18  # pairs of numbers: more would take too much memory


class Found(NamedTuple):
    """Gold items, the items of the answers that they were found at, those that count as gold words, and the credit."""

    gold: Ids
    at: Ids
    answer: Ids
    credit: Floats | float = threshold.RELATED


def kindred(question: Texts, gold: Texts, answer: Texts, missing: Bools) -> Found:
    """Missing gold words with a related word in the answer that the question does not have."""
    of_tongue = question.per_text(question.has(Mark.TONGUE)) > 0  # there, French is not France
    n_kin = 1 + max((int(side.kin.max()) for side in (question, gold, answer) if len(side.kin)), default=0)
    asked_items, answer_items = (np.flatnonzero(side.kin > 0) for side in (question, answer))
    gold_items = np.flatnonzero(missing & (gold.kin > 0) & ~of_tongue[gold.text])
    asked_keys, gold_keys, keys = (
        side.text[items] * n_kin + side.kin[items]
        for side, items in ((question, asked_items), (gold, gold_items), (answer, answer_items))
    )
    new = ~np.isin(keys, asked_keys)
    answer_items, keys = answer_items[new], keys[new]
    distinct_keys, first = np.unique(keys, return_index=True)  # items are sorted by place: the first place is found
    is_related = np.isin(gold_keys, distinct_keys)
    found_at = answer_items[first[np.searchsorted(distinct_keys, gold_keys[is_related])]]
    return Found(gold_items[is_related], found_at, answer_items[np.isin(keys, gold_keys)])


class _Spans(NamedTuple):
    """Decades, centuries and then other numbers of each text: the first and last year, or the number, and the items."""

    text: Ids
    first: Floats
    last: Floats
    item: Ids
    other_item: Ids  # a century has two: its number and its name
    is_period: Bools

    @classmethod
    def of(cls, side: Texts, is_candidate: Bools) -> _Spans:
        """All periods, and the numbers among the candidates."""
        decade, (century, name) = _first(side, side.has(Mark.DECADE)), _centuries(side)
        number = _first(side, is_candidate & (side.marks & (Mark.NUMBER | Mark.DECADE | Mark.WEAK) == Mark.NUMBER))
        begin, ordinal, value = (side.value[items] for items in (decade, century, number))
        length = np.where(begin % 100 == 0, 99, 9)  # the 1800s are mostly the century
        item = np.concatenate([decade, century, number])
        order = np.argsort(side.text[item], kind="stable")
        return cls(
            side.text[item][order],
            np.concatenate([begin, (ordinal - 1) * 100, value])[order],
            np.concatenate([begin + length, ordinal * 100, value])[order],
            item[order],
            np.concatenate([decade, name, number])[order],
            order < len(decade) + len(century),
        )

    @property
    def is_year(self) -> Bools:
        """Which are numbers that can be years."""
        first, last = threshold.YEARS
        is_whole = self.first == np.floor(self.first)
        return np.asarray((self.first >= first) & (self.first <= last) & is_whole & ~self.is_period)


def _centuries(side: Texts) -> tuple[Ids, Ids]:
    """The places of the numbers of centuries, and of the word "century" before or after each."""
    name = _first(side, side.has(Mark.CENTURY))
    number_at = np.full(len(name), -1)
    for step in (1, -1):
        beside = np.clip(name + step, 0, max(len(side.ids) - 1, 0))
        value = side.value[beside]
        fits = (value >= 1) & (value <= _CENTURIES) & (value == np.floor(value)) & (beside != name)
        number_at = np.where(fits & (side.text[beside] == side.text[name]), beside, number_at)
    return number_at[number_at >= 0], name[number_at >= 0]


def _first(side: Texts, flags: Bools) -> Ids:
    """The first 100 flagged places of each text, so that the time is limited."""
    places = np.flatnonzero(flags)
    rank = np.arange(len(places)) - np.searchsorted(places, side.starts)[side.text[places]]
    return places[rank < _MOST_NUMBERS]


def roughly(gold: Texts, answer: Texts, missing: Bools, answer_asked: Bools) -> Found:
    """Missing gold years within a decade or century of the answer, and vice versa; and rounded numbers."""
    golds, answers = _Spans.of(gold, missing), _Spans.of(answer, ~answer_asked)
    starts = np.searchsorted(answers.text, np.arange(answer.count + 1))
    counts, spans = np.diff(starts)[golds.text], np.arange(len(golds.text))
    pairs = [(spans[:0], spans[:0])]
    pairs += (_related(golds, spans[part], answers, starts, counts[part]) for part in slices(counts, _AT_ONCE))
    own, other = (np.concatenate(side) for side in zip(*pairs, strict=True))
    is_new = ~answer_asked[answers.item[other]]
    own, other = own[is_new], other[is_new]
    gold_items = np.concatenate([golds.item[own], golds.other_item[own]])
    is_missing, other = missing[gold_items], np.tile(other, 2)
    gold_items, found_at, beside = (
        items[is_missing] for items in (gold_items, answers.item[other], answers.other_item[other])
    )
    _, first = np.unique(gold_items, return_index=True)
    return Found(gold_items[first], found_at[first], np.unique(np.concatenate([found_at, beside])))


def _related(golds: _Spans, own: Ids, answers: _Spans, starts: Ids, counts: Ids) -> tuple[Ids, Ids]:
    """Each of some gold spans with each span of its answer that says nearly the same."""
    other = ranges(starts[golds.text[own]], counts)
    own = np.repeat(own, counts)
    is_dated = golds.is_year[own] & answers.is_period[other]
    is_dated |= golds.is_period[own] & answers.is_year[other]
    is_related = is_dated & (golds.first[own] <= answers.last[other]) & (answers.first[other] <= golds.last[own])
    is_related[_rounded(golds, own, answers, other)] = True
    return own[is_related], other[is_related]


def _rounded(golds: _Spans, own: Ids, answers: _Spans, other: Ids) -> list[int]:
    """Where a gold number, which is no year, and a number of the answer are the same if rounded: 759.96 and 760."""
    exact, rounded = golds.first[own], answers.first[other]
    is_near = (np.abs(exact - rounded) <= threshold.ROUNDED * np.abs(exact)) & (exact * rounded > 0)
    is_near &= ~(golds.is_period | golds.is_year)[own] & ~answers.is_period[other]
    return [place for place in np.flatnonzero(is_near).tolist() if _is_rounded(abs(exact[place]), abs(rounded[place]))]


def _is_rounded(first: float, second: float) -> bool:
    """Whether one number is the other one rounded to fewer figures. 90210 and 90211 are different numbers."""
    shorter, longer = sorted((first, second), key=_figures)
    is_count = longer < threshold.COUNTED and longer == int(longer) and shorter % 100 != 0
    rounded = float(f"{longer:.{_figures(shorter)}g}")
    return _figures(shorter) < _figures(longer) and not is_count and math.isclose(rounded, shorter, rel_tol=1e-12)


def _figures(value: float) -> int:
    """The number of significant figures, without zeros at either end."""
    return len(f"{value:.{_MOST_FIGURES}g}".partition("e")[0].replace(".", "").strip("0"))
