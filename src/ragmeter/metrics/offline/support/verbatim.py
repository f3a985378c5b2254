"""Which claims stand word for word in their evidence, and are not negated there.

The trees weigh words by themselves, so that a "not" elsewhere in the sentence, or a heading in the way, can make them
doubt what is copied. Only a few claims are copies, so these are looked at one by one.
"""

from __future__ import annotations

import numpy as np

from ragmeter.metrics.bags import Ids
from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import Bools, Texts
from ragmeter.metrics.offline.support.coverage import Evidence, Pairs, Sought

#: Fewer words, or content words, stand somewhere by accident.
_FEWEST, _FEWEST_CONTENT = 3, 2
_NEGATIONS = Mark.NEGATION | Mark.NO | Mark.DENIAL
_ENDS = Mark.CLAUSE | Mark.SENTENCE


def verbatim(claims: Texts, evidence: Evidence, pairs: Pairs, words: Sought) -> Bools:
    """Which pairs have a claim that stands word for word in one passage, with no negation beside it in its clause."""
    flags = np.zeros(pairs.count, bool)
    is_whole = (words.per_pair(words.is_exact) == words.count) & (words.count >= _FEWEST_CONTENT)
    texts = evidence.texts
    bounds = np.searchsorted(evidence.evidence, np.arange(pairs.n_evidence + 1))
    negates, ends, asks = texts.has(_NEGATIONS), _ends(texts), texts.has(Mark.ASKS)
    for pair in np.flatnonzero(is_whole).tolist():
        own = slice(claims.starts[pairs.claim[pair]], claims.starts[pairs.claim[pair] + 1])
        first, last = bounds[pairs.evidence[pair]], bounds[pairs.evidence[pair] + 1]
        if own.stop - own.start < _FEWEST:
            continue
        for begin in _places(claims.root[own], texts.root[first:last]).tolist():
            place = slice(first + begin, first + begin + own.stop - own.start)
            is_in_one = texts.text[place.start] == texts.text[place.stop - 1]
            around = _rest_of_clause(place, ends, int(texts.starts[texts.text[place.start]]), len(ends))
            if is_in_one and not negates[around].any() and not asks[place.stop - 1]:
                flags[pair] = True
                break
    return flags


def _ends(texts: Texts) -> Bools:
    """Which items end a clause. A point after an abbreviation may end a sentence: then "The" or "An" comes next."""
    ends = texts.has(_ENDS)
    begins = texts.has(Mark.CAPITAL) & texts.has(Mark.FUNCTION)
    ends[:-1] |= begins[1:]
    return ends


def _places(claim: Ids, passage: Ids) -> Ids:
    """Where the claim's roots begin among the passage's."""
    n_begins = max(len(passage) - len(claim) + 1, 0)
    begins = np.flatnonzero(passage[:n_begins] == claim[0])
    for step in range(1, len(claim)):
        begins = begins[passage[begins + step] == claim[step]]
    return begins


def _rest_of_clause(place: slice, ends: Bools, first: int, last: int) -> Ids:
    """The items of the clause around this place: back to where a clause or the text begins, and on to its end."""
    before = np.flatnonzero(ends[first : place.start])
    begin = first + int(before[-1]) + 1 if len(before) else first
    after = np.flatnonzero(ends[place.stop - 1 : last])
    end = place.stop + int(after[0]) if len(after) else last
    return np.concatenate([np.arange(begin, place.start), np.arange(place.stop, end)])
