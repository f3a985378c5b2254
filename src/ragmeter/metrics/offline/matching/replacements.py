"""Detects a different number after a name, a different name or a different unit in place of the gold answer's."""

from __future__ import annotations

import numpy as np

from ragmeter.metrics.bags import Ids
from ragmeter.metrics.offline.matching.comparison import Compared
from ragmeter.metrics.offline.matching.match import LETTERS, Match
from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import Bools, Texts

_LAST_DAY = 31


def another_number(case: Compared) -> Bools:
    """Where a name has a different number or letter after it than in the gold answer: Henry VII for VIII, vitamin C."""
    pairs, gold, answer = case.pairs, case.pairs.gold, case.pairs.answer
    n_roots = 1 + max((int(side.root.max()) for side in (gold, answer) if len(side.root)), default=0)
    keys = []
    for side, is_candidate in ((gold, pairs.credit == 0), (answer, pairs.other)):
        letter = side.has(Mark.LETTER)
        places = np.flatnonzero(is_candidate & (np.isfinite(side.value) | letter) & ~side.has(Mark.MONTH))
        places = places[places > side.starts[side.text[places]]]
        named = ~side.has(Mark.MONTH | Mark.CLAUSE | Mark.SENTENCE | Mark.FUNCTION) & np.isnan(side.value)
        places = places[named[places - 1] & (side.has(Mark.CAPITAL)[places - 1] | letter[places])]
        keys.append(side.text[places] * n_roots + side.root[places - 1])
    differs = np.zeros(gold.count, bool)
    differs[keys[0][np.isin(keys[0], keys[1])] // n_roots] = True
    return differs


def other_numbers(pairs: Match) -> Bools:
    """Where a number or month of the gold answer is missing, and another is there that the question does not have."""
    sides = (pairs.gold, (pairs.credit == 0) & ~pairs.gold_asked), (pairs.answer, pairs.other)
    n_missing, n_others = (
        side.per_text(flags & side.has(Mark.NUMBER | Mark.MONTH) & ~side.has(Mark.WEAK)) for side, flags in sides
    )
    return np.asarray((n_missing > 0) & (n_others > 0))


def another_name(case: Compared) -> Bools:
    """Where a part of a name is replaced by a different one: Franklin Roosevelt for Theodore Roosevelt.

    A name with the same first letter as one of the gold names is mostly a variant of it: Cindy for Cyndi, Ave for
    Avenue, Kate Walsh for Kathleen Erin Walsh. Words like "president" are no names: President Kennedy.
    """
    pairs, gold, answer = case.pairs, case.pairs.gold, case.pairs.answer
    titles = case.vocabulary.roots_of(case.vocabulary.table.words["titles"])
    is_name = _names(gold, titles, slice(None))
    letters = gold.text[is_name] * LETTERS + gold.letter[is_name]
    missing, is_whole = np.flatnonzero(is_name & (pairs.credit == 0)), (pairs.credit == 1) & (pairs.found_at >= 0)
    differs = np.zeros(gold.count, bool)
    for step in (1, -1):  # the word after the missing one was found, or the one before it
        places = missing[(missing + step >= 0) & (missing + step < len(gold.ids))]
        beside = places + step
        is_found = is_name[beside] | ((step > 0) & gold.has(Mark.LETTER)[beside])  # also an initial: F. Kennedy
        is_found &= is_whole[beside] & (gold.text[beside] == gold.text[places])
        text, other = gold.text[places[is_found]], pairs.found_at[beside[is_found]] - step
        is_there = (other >= answer.starts[text]) & (other < answer.starts[text + 1])
        text, other = text[is_there], other[is_there]
        is_other = _names(answer, titles, other) & pairs.other[other]
        is_other &= ~answer.has(Mark.ACRONYM)[other] & ~np.isin(text * LETTERS + answer.letter[other], letters)
        is_other &= ~answer.has(Mark.CLAUSE | Mark.SENTENCE)[np.minimum(other, other + step)]
        differs[text[is_other]] = True
    return differs


def another_day(case: Compared) -> Bools:
    """Where a date in figures can be read in two ways, and neither is the gold answer's: 3/4/2021 for March 3, 2021."""
    pairs, gold, answer = case.pairs, case.pairs.gold, case.pairs.answer
    is_other_day = np.zeros(gold.count, bool)
    months = np.flatnonzero(gold.has(Mark.MONTH) & pairs.exact)
    two_readings = _two_readings(case)
    for month, at in zip(months.tolist(), pairs.found_at[months].tolist(), strict=True):
        if not two_readings[at]:
            continue
        around = np.arange(
            max(month - 2, gold.starts[gold.text[month]]), min(month + 3, gold.starts[gold.text[month] + 1])
        )
        days = around[(gold.value[around] <= _LAST_DAY) & ~gold.has(Mark.MONTH)[around]]
        is_other_day[gold.text[month]] |= len(days) > 0 and answer.root[at + 1] not in gold.root[days]
    return is_other_day


def _two_readings(case: Compared) -> Bools:
    """Which months of answers belong to a date that `values` reads in two ways: month, day, month, day, year."""
    answer = case.pairs.answer
    month = answer.has(Mark.MONTH)
    first = np.flatnonzero(month[:-2] & month[2:] & (answer.text[:-2] == answer.text[2:]))
    words = case.vocabulary.properties.words
    first = first[words[answer.ids[first]] == words[answer.ids[first + 2]]]  # both are the whole date
    flags = np.zeros(len(month), bool)
    flags[first] = flags[first + 2] = True
    return flags


def another_unit(case: Compared) -> Bools:
    """Where the gold answer's number has a different unit beside it: 5 miles for 5 km, 8 am for 8 pm."""
    pairs, gold, answer = case.pairs, case.pairs.gold, case.pairs.answer
    missing = gold.has(Mark.UNIT) & (pairs.credit == 0)
    lacks = (gold.per_text(missing) > 0) & (gold.per_text(gold.has(Mark.UNIT) & ~missing) == 0)
    numbers = np.flatnonzero(gold.has(Mark.NUMBER) & pairs.exact & lacks[gold.text])
    number_at, text = pairs.found_at[numbers], gold.text[numbers]
    is_other_unit = answer.has(Mark.UNIT) & pairs.other
    differs = np.zeros(gold.count, bool)
    for step in (-1, 1, 2):
        beside = np.clip(number_at + step, 0, max(len(is_other_unit) - 1, 0))
        close = (abs(step) == 1) | answer.has(Mark.FUNCTION)[np.clip(beside - 1, 0, None)]  # 20 millones de euros
        differs[text[is_other_unit[beside] & close & (answer.text[beside] == text)]] = True
    return differs


def _names(side: Texts, titles: Ids, places: Ids | slice) -> Bools:
    """Which of these items are capitalised content words, and no numbers, initials, units or titles."""
    no_name = Mark.FUNCTION | Mark.NUMBER | Mark.LETTER | Mark.MONTH | Mark.UNIT
    is_name = (side.marks[places] & (no_name | Mark.CAPITAL) == Mark.CAPITAL) & np.isnan(side.value[places])
    return np.asarray(is_name & ~np.isin(side.root[places], titles))
