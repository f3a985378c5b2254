"""Words that mean nearly the same as a gold word: a country and its people, a year and its decade.

People accept most of these ("French Indochina" for "France", "the late 1990s" for "1998", 760 for 759.96). They get
less credit than the word itself, and are features for the trees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragmeter.metrics.bags import Ids, ranges
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.vocabulary import Bools, Floats, Texts

CREDIT = 0.8
_YEARS = 100, 2100  # the range of years
_CENTURIES = 21
_COUNTED = 1e6  # below it, whole numbers count as rounded only if they end in two zeros
_MOST_FIGURES = 12
_MOST_NUMBERS = 100
_ROUNDED = 0.005  # the largest relative difference of a rounded number


@dataclass(frozen=True)
class Related:
    """Gold items with a related item in the answer, the place of that item, and all related items of the answers."""

    gold: Ids
    found_at: Ids
    answer: Ids


def kindred(question: Texts, gold: Texts, answer: Texts, missing: Bools) -> Related:
    """Missing gold words with a related word in the answer that the question does not have."""
    of_tongue = (question.per_text(question.has(Mark.TONGUE)) > 0)[
        gold.text
    ]  # a question about a language: there, French is not France
    gold_items = np.flatnonzero(missing & (gold.kin > 0) & ~of_tongue)
    answer_items = np.flatnonzero(answer.kin > 0)
    n_kin = 1 + max((int(side.kin.max()) for side in (question, gold, answer) if len(side.kin)), default=0)
    question_items = np.flatnonzero(question.kin > 0)
    keys = answer.text[answer_items] * n_kin + answer.kin[answer_items]
    new = ~np.isin(keys, question.text[question_items] * n_kin + question.kin[question_items])
    answer_items, keys = answer_items[new], keys[new]
    return _joined(gold_items, gold.text[gold_items] * n_kin + gold.kin[gold_items], answer_items, keys)


def _joined(gold_items: Ids, gold_keys: Ids, answer_items: Ids, answer_keys: Ids) -> Related:
    """Items with the same key. Both sides are sorted by place, so that the first place is found."""
    distinct_keys, first = np.unique(answer_keys, return_index=True)
    is_related = np.isin(gold_keys, distinct_keys)
    found_at = answer_items[first[np.searchsorted(distinct_keys, gold_keys[is_related])]]
    return Related(gold_items[is_related], found_at, answer_items[np.isin(answer_keys, gold_keys)])


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


def roughly(gold: Texts, answer: Texts, missing: Bools, answer_asked: Bools) -> Related:
    """Missing gold years within a decade or century of the answer, and vice versa; and rounded numbers."""
    free = ~answer_asked
    gold_periods, answer_periods = _Periods.of(gold), _Periods.of(answer)
    gold_numbers, gold_years = _numbers(gold, missing)
    answer_numbers, answer_years = _numbers(answer, free)
    gold_year, period = _within(gold_numbers[gold_years], gold, answer_periods)
    answer_year, of_gold = _within(answer_numbers[answer_years], answer, gold_periods)
    exact, rounded = _rounded(gold_numbers[~gold_years], gold, answer_numbers, answer)
    gold_period, answer_period = _nested(gold_periods, answer_periods)
    relations = [
        (gold_year, answer_periods.item[period], answer_periods.other_item[period]),
        (gold_periods.item[of_gold], answer_year, answer_year),
        (gold_periods.other_item[of_gold], answer_year, answer_year),
        (gold_periods.item[gold_period], answer_periods.item[answer_period], answer_periods.other_item[answer_period]),
        (gold_periods.other_item[gold_period], answer_periods.item[answer_period], answer_periods.item[answer_period]),
        (exact, rounded, rounded),
    ]
    gold_items, found_at, beside = (np.concatenate(side) for side in zip(*relations, strict=True))
    fits = missing[gold_items] & free[found_at]
    gold_items, found_at, beside = gold_items[fits], found_at[fits], beside[fits]
    _, first = np.unique(gold_items, return_index=True)
    return Related(gold_items[first], found_at[first], np.unique(np.concatenate([found_at, beside])))


def _nested(gold: _Periods, answer: _Periods) -> tuple[Ids, Ids]:
    """Periods of the gold answer and of the answer, one within the other: the 12th century and the 1100s."""
    starts = np.searchsorted(answer.text, gold.text), np.searchsorted(answer.text, gold.text, side="right")
    counts = starts[1] - starts[0]
    i, j = np.repeat(np.arange(len(gold.text)), counts), ranges(starts[0], counts)
    inside = (gold.first_year[i] <= answer.first_year[j]) & (gold.last_year[i] >= answer.last_year[j])
    around = (gold.first_year[i] >= answer.first_year[j]) & (gold.last_year[i] <= answer.last_year[j])
    return i[inside | around], j[inside | around]


def _numbers(side: Texts, is_candidate: Bools) -> tuple[Ids, Bools]:
    """The places of numbers among the candidates, and which can be years. At most the first 100 of a text."""
    number_marks = Mark.NUMBER | Mark.DECADE | Mark.WEAK
    places = np.flatnonzero(is_candidate & (side.marks & number_marks == Mark.NUMBER))
    places = _first(places, side)
    value = side.value[places]
    first, last = _YEARS
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
    near = np.flatnonzero((np.abs(exact - rounded) <= _ROUNDED * np.abs(exact)) & (exact * rounded > 0))
    near = near[_is_rounded(np.abs(exact[near]), np.abs(rounded[near]))]
    return gold_item[near], answer_item[near]


def _is_rounded(first: Floats, second: Floats) -> Bools:
    """Whether one number is the other one rounded to fewer figures. 90210 and 90211 are different numbers."""
    fewer = _figures(first) < _figures(second)
    shorter, longer = np.where(fewer, first, second), np.where(fewer, second, first)
    counted = (longer < _COUNTED) & (longer == np.floor(longer)) & (shorter % 100 != 0)
    is_equal = np.isclose(_with_figures(longer, _figures(shorter)), shorter, rtol=1e-12, atol=0)
    return np.asarray((_figures(shorter) < _figures(longer)) & ~counted & is_equal)


def _figures(values: Floats) -> Ids:
    """The number of significant figures, without zeros at the end."""
    n_figures = np.full(len(values), _MOST_FIGURES + 1)
    for figures in range(_MOST_FIGURES, 0, -1):
        rounded = _with_figures(values, np.full(len(values), figures))
        n_figures[np.isclose(rounded, values, rtol=1e-13, atol=0)] = figures
    return n_figures


def _with_figures(values: Floats, figures: Ids) -> Floats:
    """Numbers above 0, rounded to a number of significant figures."""
    scale = 10.0 ** (np.floor(np.log10(values)) - figures + 1)
    return np.asarray(np.round(values / scale) * scale)
