"""Something else in the place of a part of the gold answer: another number after a name, another name, another unit."""

from __future__ import annotations

import numpy as np

from ragmeter.metrics.offline.matching import Match
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.vocabulary import Bools, Texts

_LETTERS = 0x110000  # there are in Unicode


def another_number(pairs: Match) -> Bools:
    """Where a name has another number or letter after it than in the gold answer: Henry VII for VIII, vitamin C."""
    gold, answer = pairs.gold, pairs.answer
    kinds = 1 + max((int(side.root.max()) for side in (gold, answer) if len(side.root)), default=0)
    keys = []
    for side, which in ((gold, pairs.credit == 0), (answer, ~pairs.answer_gold & ~pairs.answer_asked)):
        letter = side.has(Mark.LETTER)
        places = np.flatnonzero(which & (np.isfinite(side.value) | letter) & ~side.has(Mark.MONTH))
        places = places[places > side.starts[side.text[places]]]
        named = ~side.has(Mark.MONTH | Mark.CLAUSE | Mark.SENTENCE | Mark.FUNCTION) & np.isnan(side.value)
        places = places[named[places - 1] & (side.has(Mark.CAPITAL)[places - 1] | letter[places])]
        keys.append(side.text[places] * kinds + side.root[places - 1])
    found = np.zeros(gold.count, bool)
    found[keys[0][np.isin(keys[0], keys[1])] // kinds] = True
    return found


def another_name(pairs: Match) -> Bools:
    """Where a name stands in another one's place beside the rest of it: Franklin Roosevelt for Theodore Roosevelt.

    One with the first letter of any of the gold names is mostly another form of it: Cindy for Cyndi, Ave for Avenue,
    Kate Walsh for Kathleen Erin Walsh.
    """
    gold, answer = pairs.gold, pairs.answer
    name, told = (_names(side) for side in (gold, answer))
    told &= ~answer.has(Mark.ACRONYM) & ~pairs.answer_gold & ~pairs.answer_asked
    rest = (name | gold.has(Mark.LETTER)) & (pairs.credit == 1)  # of the name: F. Kennedy
    here = np.flatnonzero(name[:-1] & (pairs.credit[:-1] == 0) & rest[1:] & (gold.text[:-1] == gold.text[1:]))
    here = here[pairs.where[here + 1] > 0]
    before = pairs.where[here + 1] - 1
    letters = gold.text[name] * _LETTERS + gold.letter[name]
    known = np.isin(gold.text[here] * _LETTERS + answer.letter[before], letters)
    ends = answer.has(Mark.CLAUSE | Mark.SENTENCE)[before] | (answer.text[before] != gold.text[here])
    found = np.zeros(gold.count, bool)
    found[gold.text[here[told[before] & ~ends & ~known]]] = True
    # The last name is what counts: Margaret Mitchell for Margaret Atwood.
    first = name & (pairs.credit == 1) & (pairs.where >= 0)
    here = np.flatnonzero(first[:-1] & name[1:] & (pairs.credit[1:] == 0) & (gold.text[:-1] == gold.text[1:]))
    place = pairs.where[here]
    after = np.minimum(place + 1, max(len(answer.ids) - 1, 0))
    ends = answer.has(Mark.CLAUSE | Mark.SENTENCE)[place] | (answer.text[after] != gold.text[here])
    known = np.isin(gold.text[here] * _LETTERS + answer.letter[after], letters)
    found[gold.text[here[told[after] & ~ends & ~known & (after > place)]]] = True
    return found


def another_unit(pairs: Match) -> Bools:
    """Where the number is the gold answer's, and beside it stands another unit: 5 miles for 5 km, 8 am for 8 pm."""
    gold, answer = pairs.gold, pairs.answer
    missing = gold.has(Mark.UNIT) & (pairs.credit == 0)
    lacks = (gold.per_text(missing) > 0) & (gold.per_text(gold.has(Mark.UNIT) & ~missing) == 0)
    numbers = np.flatnonzero(gold.has(Mark.NUMBER) & pairs.exact & lacks[gold.text])
    here, text = pairs.where[numbers], gold.text[numbers]
    other = answer.has(Mark.UNIT) & ~pairs.answer_gold & ~pairs.answer_asked
    found = np.zeros(gold.count, bool)
    for step in (-1, 1, 2):
        beside = np.clip(here + step, 0, max(len(other) - 1, 0))
        close = (abs(step) == 1) | answer.has(Mark.FUNCTION)[np.clip(beside - 1, 0, None)]  # 20 millones de euros
        found[text[other[beside] & close & (answer.text[beside] == text)]] = True
    return found


def _names(side: Texts) -> Bools:
    """Words with a capital that say something, and are no numbers, initials or titles like Dr."""
    no_name = Mark.FUNCTION | Mark.NUMBER | Mark.LETTER | Mark.MONTH | Mark.UNIT
    return np.asarray(side.has(Mark.CAPITAL) & ~side.has(no_name) & np.isnan(side.value))
