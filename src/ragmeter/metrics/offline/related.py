"""Words that mean nearly the same as a gold word: a country and its people, a year and its decade.

People accept most of these ("French Indochina" for "France", "the late 1990s" for "1998", 760 for 759.96). They get
less credit than the word itself, and are features for the trees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ragmeter.metrics.bags import Ids, ranges
from ragmeter.metrics.offline import thresholds as threshold
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.vocabulary import Bools, Floats, Texts

_CENTURIES = 21
_MOST_FIGURES = 12
_MOST_NUMBERS = 100


class Found(NamedTuple):
    """Gold items, the items of the answers that they were found at, those that count as gold words, and the credit."""

    gold: Ids
    at: Ids
    answer: Ids
    credit: Floats | float = threshold.RELATED


def kindred(question: Texts, gold: Texts, answer: Texts, missing: Bools) -> Found:
    """Missing gold words with a related word in the answer that the question does not have."""
    of_tongue = question.per_text(question.has(Mark.TONGUE)) > 0  # there, French is not France
    gold_items = np.flatnonzero(missing & (gold.kin > 0) & ~of_tongue[gold.text])
    answer_items = np.flatnonzero(answer.kin > 0)
    n_kin = 1 + max((int(side.kin.max()) for side in (question, gold, answer) if len(side.kin)), default=0)
    question_items = np.flatnonzero(question.kin > 0)
    keys = answer.text[answer_items] * n_kin + answer.kin[answer_items]
    new = ~np.isin(keys, question.text[question_items] * n_kin + question.kin[question_items])
    answer_items, keys = answer_items[new], keys[new]
    return _joined(gold_items, gold.text[gold_items] * n_kin + gold.kin[gold_items], answer_items, keys)


def _joined(gold_items: Ids, gold_keys: Ids, answer_items: Ids, answer_keys: Ids) -> Found:
    """Items with the same key. Both sides are sorted by place, so that the first place is found."""
    distinct_keys, first = np.unique(answer_keys, return_index=True)
    is_related = np.isin(gold_keys, distinct_keys)
    found_at = answer_items[first[np.searchsorted(distinct_keys, gold_keys[is_related])]]
    return Found(gold_items[is_related], found_at, answer_items[np.isin(answer_keys, gold_keys)])


@dataclass(frozen=True)
class _Periods:
    """Decades and centuries: their text, their first and last year, and their items."""

    text: Ids
    first_year: Floats
    last_year: Floats
    item: Ids
    other_item: Ids  # a century has two: its number and its name

    @classmethod
    def of(cls, side: Texts) -> _Periods:
        decade = _first(np.flatnonzero(side.has(Mark.DECADE)), side)
        begin = side.value[decade]
        length = np.where(begin % 100 == 0, 99, 9)  # the 1800s are mostly the century
        name, number = _centuries(side)
        value = side.value[number]
        text = np.concatenate([side.text[decade], side.text[name]])
        order = np.argsort(text, kind="stable")
        return cls(
            text[order],
            np.concatenate([begin, (value - 1) * 100])[order],
            np.concatenate([begin + length, value * 100])[order],
            np.concatenate([decade, number])[order],
            np.concatenate([decade, name])[order],
        )


def _centuries(side: Texts) -> tuple[Ids, Ids]:
    """The places of the word "century", and of its number before or after it."""
    name = _first(np.flatnonzero(side.has(Mark.CENTURY)), side)
    number_at = np.full(len(name), -1)
    for step in (1, -1):
        beside = np.clip(name + step, 0, max(len(side.ids) - 1, 0))
        value = side.value[beside]
        fits = (value >= 1) & (value <= _CENTURIES) & (value == np.floor(value)) & (beside != name)
        number_at = np.where(fits & (side.text[beside] == side.text[name]), beside, number_at)
    return name[number_at >= 0], number_at[number_at >= 0]


def roughly(gold: Texts, answer: Texts, missing: Bools, answer_asked: Bools) -> Found:
    """Missing gold years within a decade or century of the answer, and vice versa; and rounded numbers."""
    free = ~answer_asked
    gold_periods, answer_periods = _Periods.of(gold), _Periods.of(answer)
    gold_numbers, gold_years = _numbers(gold, missing)
    answer_numbers, answer_years = _numbers(answer, free)
    gold_year, period = _within(gold_numbers[gold_years], gold, answer_periods)
    answer_year, of_gold = _within(answer_numbers[answer_years], answer, gold_periods)
    exact, rounded = _rounded(gold_numbers[~gold_years], gold, answer_numbers, answer)
    relations = [
        (gold_year, answer_periods.item[period], answer_periods.other_item[period]),
        (gold_periods.item[of_gold], answer_year, answer_year),
        (gold_periods.other_item[of_gold], answer_year, answer_year),
        (exact, rounded, rounded),
    ]
    gold_items, found_at, beside = (np.concatenate(side) for side in zip(*relations, strict=True))
    fits = missing[gold_items] & free[found_at]
    gold_items, found_at, beside = gold_items[fits], found_at[fits], beside[fits]
    _, first = np.unique(gold_items, return_index=True)
    return Found(gold_items[first], found_at[first], np.unique(np.concatenate([found_at, beside])))


def _numbers(side: Texts, is_candidate: Bools) -> tuple[Ids, Bools]:
    """The places of numbers among the candidates, and which can be years. At most the first 100 of a text."""
    number_marks = Mark.NUMBER | Mark.DECADE | Mark.WEAK
    places = np.flatnonzero(is_candidate & (side.marks & number_marks == Mark.NUMBER))
    places = _first(places, side)
    value = side.value[places]
    first, last = threshold.YEARS
    return places, (value >= first) & (value <= last) & (value == np.floor(value))


def _first(places: Ids, side: Texts) -> Ids:
    """The first 100 places of each text, so that the time is limited."""
    rank = np.arange(len(places)) - np.searchsorted(places, side.starts)[side.text[places]]
    return places[rank < _MOST_NUMBERS]


def _within(years: Ids, side: Texts, periods: _Periods) -> tuple[Ids, Ids]:
    """Each year with each period of its text that it lies in."""
    starts = np.searchsorted(periods.text, np.arange(side.count + 1))
    counts = np.diff(starts)[side.text[years]]
    year, period = np.repeat(years, counts), ranges(starts[side.text[years]], counts)
    value = side.value[year]
    inside = (value >= periods.first_year[period]) & (value <= periods.last_year[period])
    return year[inside], period[inside]


def _rounded(gold_items: Ids, gold: Texts, answer_items: Ids, answer: Texts) -> tuple[Ids, Ids]:
    """Each gold number with each number of the answer that it rounds to: 759.96 and 760."""
    starts = np.searchsorted(answer_items, answer.starts)
    counts = np.diff(starts)[gold.text[gold_items]]
    gold_item, answer_item = np.repeat(gold_items, counts), answer_items[ranges(starts[gold.text[gold_items]], counts)]
    exact, rounded = gold.value[gold_item], answer.value[answer_item]
    is_near = (np.abs(exact - rounded) <= threshold.ROUNDED * np.abs(exact)) & (exact * rounded > 0)
    near = [place for place in np.flatnonzero(is_near).tolist() if _is_rounded(abs(exact[place]), abs(rounded[place]))]
    return gold_item[near], answer_item[near]


def _is_rounded(first: float, second: float) -> bool:
    """Whether one number is the other one rounded to fewer figures. 90210 and 90211 are different numbers."""
    shorter, longer = sorted((first, second), key=_figures)
    is_count = longer < threshold.COUNTED and longer == int(longer) and shorter % 100 != 0
    rounded = float(f"{longer:.{_figures(shorter)}g}")
    return _figures(shorter) < _figures(longer) and not is_count and math.isclose(rounded, shorter, rel_tol=1e-12)


def _figures(value: float) -> int:
    """The number of significant figures, without zeros at either end."""
    return len(f"{value:.{_MOST_FIGURES}g}".partition("e")[0].replace(".", "").strip("0"))
