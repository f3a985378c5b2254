"""Words that are not the gold answer's but mean nearly the same: a country and its people, a year and its decade.

People call most of these right ("French Indochina" for "France", "the late 1990s" for "1998", 760 for 759.96). They get
less credit than the word itself, and the trees know of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragmeter.metrics.bags import Ids, ranges
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.vocabulary import Bools, Floats, Texts

CREDIT = 0.8
_YEARS = 100, 2100  # numbers that can be one
_CENTURIES = 21
_COUNTED = 1e6  # below it, whole numbers are rounded to hundreds at the least
_MOST_FIGURES = 12
_MOST_NUMBERS = 100
_ROUNDED = 0.005  # of a number may be rounded away


@dataclass(frozen=True)
class Related:
    """Gold items that something in the answer is related to: which, where that is, and all that is."""

    gold: Ids
    where: Ids
    answer: Ids


def kindred(question: Texts, gold: Texts, answer: Texts, missing: Bools) -> Related:
    """Missing gold words of which the answer has kin, unless the question has it as well and says nothing by it."""
    of_tongue = (question.per_text(question.has(Mark.TONGUE)) > 0)[gold.text]  # where French is not France
    wanted = np.flatnonzero(missing & (gold.kin > 0) & ~of_tongue)
    told = np.flatnonzero(answer.kin > 0)
    kinds = 1 + max((int(side.kin.max()) for side in (question, gold, answer) if len(side.kin)), default=0)
    has = np.flatnonzero(question.kin > 0)
    keys = answer.text[told] * kinds + answer.kin[told]
    new = ~np.isin(keys, question.text[has] * kinds + question.kin[has])
    told, keys = told[new], keys[new]
    return _joined(wanted, gold.text[wanted] * kinds + gold.kin[wanted], told, keys)


def _joined(wanted: Ids, wanted_keys: Ids, told: Ids, told_keys: Ids) -> Related:
    """What has the same key. Both sides are in the order of their places, so that the first place is found."""
    known, first = np.unique(told_keys, return_index=True)
    found = np.isin(wanted_keys, known)
    where = told[first[np.searchsorted(known, wanted_keys[found])]]
    return Related(wanted[found], where, told[np.isin(told_keys, wanted_keys)])


@dataclass(frozen=True)
class _Periods:
    """Decades and centuries: in which text, from which year to which, and the items that say so."""

    text: Ids
    first_year: Floats
    last_year: Floats
    item: Ids
    other_item: Ids  # a century has two: its number and its name

    @classmethod
    def of(cls, side: Texts) -> _Periods:
        decade = np.flatnonzero(side.has(Mark.DECADE))
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
    """Where the name of a century stands, and its number before it or after it."""
    name = np.flatnonzero(side.has(Mark.CENTURY))
    found = np.full(len(name), -1)
    for step in (1, -1):
        beside = np.clip(name + step, 0, max(len(side.ids) - 1, 0))
        value = side.value[beside]
        fits = (value >= 1) & (value <= _CENTURIES) & (value == np.floor(value)) & (beside != name)
        found = np.where(fits & (side.text[beside] == side.text[name]), beside, found)
    return name[found >= 0], found[found >= 0]


def roughly(gold: Texts, answer: Texts, missing: Bools, answer_asked: Bools) -> Related:
    """Missing gold years in a decade or century that the answer has, and the other way round; and rounded numbers."""
    free = ~answer_asked
    wanted, told = _Periods.of(gold), _Periods.of(answer)
    gold_numbers, gold_years = _numbers(gold, missing)
    answer_numbers, answer_years = _numbers(answer, free)
    which, period = _within(gold_numbers[gold_years], gold, told)
    year, of_gold = _within(answer_numbers[answer_years], answer, wanted)
    exact, rounded = _rounded(gold_numbers[~gold_years], gold, answer_numbers, answer)
    one, other = _nested(wanted, told)
    found = [
        (which, told.item[period], told.other_item[period]),
        (wanted.item[of_gold], year, year),
        (wanted.other_item[of_gold], year, year),
        (wanted.item[one], told.item[other], told.other_item[other]),
        (wanted.other_item[one], told.item[other], told.item[other]),
        (exact, rounded, rounded),
    ]
    gold_items, where, beside = (np.concatenate(side) for side in zip(*found, strict=True))
    fits = missing[gold_items] & free[where]
    gold_items, where, beside = gold_items[fits], where[fits], beside[fits]
    _, first = np.unique(gold_items, return_index=True)
    return Related(gold_items[first], where[first], np.unique(np.concatenate([where, beside])))


def _nested(wanted: _Periods, told: _Periods) -> tuple[Ids, Ids]:
    """Periods of the gold answer and of the answer, one within the other: the 12th century and the 1100s."""
    starts = np.searchsorted(told.text, wanted.text), np.searchsorted(told.text, wanted.text, side="right")
    counts = starts[1] - starts[0]
    one, other = np.repeat(np.arange(len(wanted.text)), counts), ranges(starts[0], counts)
    inside = (wanted.first_year[one] <= told.first_year[other]) & (wanted.last_year[one] >= told.last_year[other])
    around = (wanted.first_year[one] >= told.first_year[other]) & (wanted.last_year[one] <= told.last_year[other])
    return one[inside | around], other[inside | around]


def _numbers(side: Texts, which: Bools) -> tuple[Ids, Bools]:
    """Where these have numbers that count, and which can be years. Of a text full of numbers the first will do."""
    kinds = Mark.NUMBER | Mark.DECADE | Mark.WEAK
    places = np.flatnonzero(which & (side.marks & kinds == Mark.NUMBER))
    rank = np.arange(len(places)) - np.searchsorted(places, side.starts)[side.text[places]]
    places = places[rank < _MOST_NUMBERS]
    value = side.value[places]
    first, last = _YEARS
    return places, (value >= first) & (value <= last) & (value == np.floor(value))


def _within(years: Ids, side: Texts, periods: _Periods) -> tuple[Ids, Ids]:
    """Each year with each period of its text that it lies in."""
    starts = np.searchsorted(periods.text, np.arange(side.count + 1))
    counts = np.diff(starts)[side.text[years]]
    year, period = np.repeat(years, counts), ranges(starts[side.text[years]], counts)
    value = side.value[year]
    inside = (value >= periods.first_year[period]) & (value <= periods.last_year[period])
    return year[inside], period[inside]


def _rounded(wanted: Ids, gold: Texts, told: Ids, answer: Texts) -> tuple[Ids, Ids]:
    """Each gold number with each of the answer's that it rounds to: 759.96 and 760."""
    starts = np.searchsorted(told, answer.starts)
    counts = np.diff(starts)[gold.text[wanted]]
    one, other = np.repeat(wanted, counts), told[ranges(starts[gold.text[wanted]], counts)]
    exact, said = gold.value[one], answer.value[other]
    near = np.flatnonzero((np.abs(exact - said) <= _ROUNDED * np.abs(exact)) & (exact * said > 0))
    near = near[_is_rounded(np.abs(exact[near]), np.abs(said[near]))]
    return one[near], other[near]


def _is_rounded(one: Floats, other: Floats) -> Bools:
    """Whether one number is the other with fewer figures. 90210 and 90211 are two numbers."""
    fewer = _figures(one) < _figures(other)
    few, many = np.where(fewer, one, other), np.where(fewer, other, one)
    counted = (many < _COUNTED) & (many == np.floor(many)) & (few % 100 != 0)
    same = np.isclose(_with_figures(many, _figures(few)), few, rtol=1e-12, atol=0)
    return np.asarray((_figures(few) < _figures(many)) & ~counted & same)


def _figures(values: Floats) -> Ids:
    """How many figures numbers are written with, without zeros at their ends."""
    found = np.full(len(values), _MOST_FIGURES + 1)
    for figures in range(_MOST_FIGURES, 0, -1):
        whole = _with_figures(values, np.full(len(values), figures))
        found[np.isclose(whole, values, rtol=1e-13, atol=0)] = figures
    return found


def _with_figures(values: Floats, figures: Ids) -> Floats:
    """Numbers above 0 rounded to so many figures."""
    scale = 10.0 ** (np.floor(np.log10(values)) - figures + 1)
    return np.asarray(np.round(values / scale) * scale)
