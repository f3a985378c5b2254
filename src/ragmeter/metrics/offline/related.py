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
    """What has the same key. Both sides are in the order of their places."""
    order = np.argsort(told_keys, kind="stable")
    ordered = told_keys[order]
    begin, end = np.searchsorted(ordered, wanted_keys), np.searchsorted(ordered, wanted_keys, side="right")
    found = begin < end
    every = np.unique(told[order[ranges(begin[found], (end - begin)[found])]])
    return Related(wanted[found], told[order[begin[found]]], every)


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
    gold_items = np.concatenate([which, wanted.item[of_gold], wanted.other_item[of_gold], exact])
    gold_items = np.concatenate([gold_items, wanted.item[one], wanted.other_item[one]])
    where = np.concatenate([told.item[period], year, year, rounded, told.item[other], told.item[other]])
    beside = np.concatenate([told.other_item[period], year, year, rounded, told.other_item[other], told.item[other]])
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
    """Where these have numbers that count, and which of the numbers can be years."""
    kinds = Mark.NUMBER | Mark.DECADE | Mark.WEAK
    places = np.flatnonzero(which & (side.marks & kinds == Mark.NUMBER))
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
    near = np.abs(gold.value[one] - answer.value[other]) <= _ROUNDED * np.abs(gold.value[one])
    one, other = one[near], other[near]
    exact = [_is_rounded(*pair) for pair in zip(gold.value[one].tolist(), answer.value[other].tolist(), strict=True)]
    rounded = np.array(exact, bool)
    return one[rounded], other[rounded]


def _is_rounded(exact: float, told: float) -> bool:
    """Whether one number is the other with fewer figures. 90210 and 90211 are two numbers."""
    few, many = sorted((exact, told), key=_figures)
    if many < _COUNTED and many == int(many) and few % 100:
        return False  # 90210 is a number of its own
    return _figures(few) < _figures(many) and float(f"{many:.{_figures(few) - 1}e}") == few


def _figures(value: float) -> int:
    """How many figures a number is written with, without zeros at its ends."""
    return len(f"{value:.12e}".split("e")[0].rstrip("0").replace(".", "").replace("-", ""))
