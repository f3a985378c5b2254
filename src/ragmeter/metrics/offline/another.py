"""Detects a different number after a name, a different name or a different unit in place of the gold answer's."""

from __future__ import annotations

import numpy as np

from ragmeter.metrics.bags import Ids
from ragmeter.metrics.offline.matching import LETTERS, Match
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.vocabulary import Bools, Texts


def another_number(pairs: Match) -> Bools:
    """Where a name has a different number or letter after it than in the gold answer: Henry VII for VIII, vitamin C."""
    gold, answer = pairs.gold, pairs.answer
    n_roots = 1 + max((int(side.root.max()) for side in (gold, answer) if len(side.root)), default=0)
    keys = []
    for side, is_candidate in ((gold, pairs.credit == 0), (answer, ~pairs.answer_gold & ~pairs.answer_asked)):
        letter = side.has(Mark.LETTER)
        places = np.flatnonzero(is_candidate & (np.isfinite(side.value) | letter) & ~side.has(Mark.MONTH))
        places = places[places > side.starts[side.text[places]]]
        named = ~side.has(Mark.MONTH | Mark.CLAUSE | Mark.SENTENCE | Mark.FUNCTION) & np.isnan(side.value)
        places = places[named[places - 1] & (side.has(Mark.CAPITAL)[places - 1] | letter[places])]
        keys.append(side.text[places] * n_roots + side.root[places - 1])
    differs = np.zeros(gold.count, bool)
    differs[keys[0][np.isin(keys[0], keys[1])] // n_roots] = True
    return differs


def another_name(pairs: Match, titles: Ids) -> Bools:
    """Where a part of a name is replaced by a different one: Franklin Roosevelt for Theodore Roosevelt.

    A name with the same first letter as one of the gold names is mostly a variant of it: Cindy for Cyndi, Ave for
    Avenue, Kate Walsh for Kathleen Erin Walsh. `titles` are the roots of words that are no names: President Kennedy.
    """
    gold, answer = pairs.gold, pairs.answer
    name, is_other_name = (_names(side) & ~np.isin(side.root, titles) for side in (gold, answer))
    is_other_name &= ~answer.has(Mark.ACRONYM) & ~pairs.answer_gold & ~pairs.answer_asked
    is_found = (name | gold.has(Mark.LETTER)) & (pairs.credit == 1)  # also an initial: F. Kennedy
    gold_at = np.flatnonzero(name[:-1] & (pairs.credit[:-1] == 0) & is_found[1:] & (gold.text[:-1] == gold.text[1:]))
    gold_at = gold_at[pairs.found_at[gold_at + 1] > 0]
    before = pairs.found_at[gold_at + 1] - 1
    letters = gold.text[name] * LETTERS + gold.letter[name]
    same_letter = np.isin(gold.text[gold_at] * LETTERS + answer.letter[before], letters)
    ends = answer.has(Mark.CLAUSE | Mark.SENTENCE)[before] | (answer.text[before] != gold.text[gold_at])
    differs = np.zeros(gold.count, bool)
    differs[gold.text[gold_at[is_other_name[before] & ~ends & ~same_letter]]] = True
    # The last name is what counts: Margaret Mitchell for Margaret Atwood.
    first = name & (pairs.credit == 1) & (pairs.found_at >= 0)
    gold_at = np.flatnonzero(first[:-1] & name[1:] & (pairs.credit[1:] == 0) & (gold.text[:-1] == gold.text[1:]))
    place = pairs.found_at[gold_at]
    after = np.minimum(place + 1, max(len(answer.ids) - 1, 0))
    ends = answer.has(Mark.CLAUSE | Mark.SENTENCE)[place] | (answer.text[after] != gold.text[gold_at])
    same_letter = np.isin(gold.text[gold_at] * LETTERS + answer.letter[after], letters)
    differs[gold.text[gold_at[is_other_name[after] & ~ends & ~same_letter & (after > place)]]] = True
    return differs


def another_unit(pairs: Match) -> Bools:
    """Where the gold answer's number has a different unit beside it: 5 miles for 5 km, 8 am for 8 pm."""
    gold, answer = pairs.gold, pairs.answer
    missing = gold.has(Mark.UNIT) & (pairs.credit == 0)
    lacks = (gold.per_text(missing) > 0) & (gold.per_text(gold.has(Mark.UNIT) & ~missing) == 0)
    numbers = np.flatnonzero(gold.has(Mark.NUMBER) & pairs.exact & lacks[gold.text])
    number_at, text = pairs.found_at[numbers], gold.text[numbers]
    is_other_unit = answer.has(Mark.UNIT) & ~pairs.answer_gold & ~pairs.answer_asked
    differs = np.zeros(gold.count, bool)
    for step in (-1, 1, 2):
        beside = np.clip(number_at + step, 0, max(len(is_other_unit) - 1, 0))
        close = (abs(step) == 1) | answer.has(Mark.FUNCTION)[np.clip(beside - 1, 0, None)]  # 20 millones de euros
        differs[text[is_other_unit[beside] & close & (answer.text[beside] == text)]] = True
    return differs


def _names(side: Texts) -> Bools:
    """Capitalised content words that are not numbers, initials or units."""
    no_name = Mark.FUNCTION | Mark.NUMBER | Mark.LETTER | Mark.MONTH | Mark.UNIT
    return np.asarray(side.has(Mark.CAPITAL) & ~side.has(no_name) & np.isnan(side.value))
