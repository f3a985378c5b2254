"""Which words of claims stand in which sentences of their evidence.

Claims and passages become arrays of items (`vocabulary.py`). A pair is a claim with its evidence, which is one passage
or several. Each word of each pair is looked up once in the sorted words of the evidence; all else is arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ragmeter.metrics.bags import Ids, ranges
from ragmeter.metrics.offline.matching.match import look_up, sorted_keys
from ragmeter.metrics.offline.reading.quantities import quantities
from ragmeter.metrics.offline.reading.tables import Mark, Table
from ragmeter.metrics.offline.reading.vocabulary import Bools, Floats, Texts, Words, counted

#: A sentence of more words than this is cut: lists, tables, and scripts without full stops.
_LONGEST_SENTENCE = 50
_PREFIX = 5  # letters that two forms of a word have in common
_CJK = 0x2E80, 0x9FFF  # here a character is an item, and says little alone
#: Scripts without spaces have more items than words: the first and the last letter, and an item's share of a word.
_SIZES = ((*_CJK, 0.6), (0x0E00, 0x0FFF, 0.3), (0x1000, 0x109F, 0.3), (0x1780, 0x17FF, 0.3))


@dataclass(frozen=True)
class Pairs:
    """Which claim goes with which evidence. The passages of one piece of evidence follow each other."""

    claim: Ids  # of each pair
    evidence: Ids  # of each pair
    of_passage: Ids  # the evidence that each passage belongs to
    n_evidence: int

    @property
    def count(self) -> int:
        """The number of pairs."""
        return len(self.claim)


@dataclass(frozen=True)
class Roots:
    """What the items of both sides are compared by. Related words have the same root; CJK characters go in twos."""

    claims: Ids
    passages: Ids
    number: int

    @classmethod
    def of(cls, claims: Texts, passages: Texts) -> Roots:
        """The roots of these texts."""
        n_roots = 1 + max((int(side.root.max()) for side in (claims, passages) if len(side.root)), default=0)
        n_kin = 1 + max((int(side.kin.max()) for side in (claims, passages) if len(side.kin)), default=0)
        both = [np.where(side.kin > 0, n_roots + side.kin, side.root) for side in (claims, passages)]
        twos = [_twos(side, roots, n_roots + n_kin) for side, roots in zip((claims, passages), both, strict=True)]
        if not any(len(places) for places, _ in twos):
            return cls(both[0], both[1], n_roots + n_kin)
        distinct, numbers = np.unique(np.concatenate([pairs for _, pairs in twos]), return_inverse=True)
        both[0][twos[0][0]] = n_roots + n_kin + numbers[: len(twos[0][0])]
        both[1][twos[1][0]] = n_roots + n_kin + numbers[len(twos[0][0]) :]
        return cls(both[0], both[1], n_roots + n_kin + len(distinct))


def _twos(side: Texts, roots: Ids, n_roots: int) -> tuple[Ids, Ids]:
    """The CJK characters that another one follows, and a number for both."""
    is_cjk = (side.length == 1) & (side.letter >= _CJK[0]) & (side.letter <= _CJK[1])
    is_followed = is_cjk[:-1] & is_cjk[1:] & (side.text[:-1] == side.text[1:])
    is_followed &= ~side.has(Mark.CLAUSE | Mark.SENTENCE)[:-1] & ~side.has(Mark.FUNCTION)[1:]
    places = np.flatnonzero(is_followed)
    return places, roots[places] * n_roots + roots[places + 1]


def sizes(side: Texts) -> Floats:
    """How much of a word each item is."""
    size = np.ones(len(side.ids))
    if len(size) and side.letter.max() >= _SIZES[1][0]:
        for first, last, share_of_word in _SIZES:
            size[(side.letter >= first) & (side.letter <= last)] = share_of_word
    return size


def begins_sentence(texts: Texts) -> Bools:
    """Which items are the first of a sentence."""
    begins = np.zeros(len(texts.ids), bool)
    begins[1:] = texts.has(Mark.SENTENCE)[:-1]
    begins[texts.starts[:-1][np.diff(texts.starts) > 0]] = True
    return begins


@dataclass(frozen=True)
class Evidence:
    """The items of all passages, their sentences, and which evidence they belong to."""

    texts: Texts
    sentence: Ids  # of each item
    evidence: Ids  # of each item
    first_sentence: Ids  # of each piece of evidence, and the end of the last
    passage: Ids  # of each sentence

    @classmethod
    def of(cls, texts: Texts, pairs: Pairs) -> Evidence:
        """Find the sentences."""
        begins = begins_sentence(texts)
        firsts = np.flatnonzero(begins)
        place = np.arange(len(begins)) - np.repeat(firsts, np.diff(np.append(firsts, len(begins))))
        begins |= (place % _LONGEST_SENTENCE == 0) & (place > 0)
        passage = texts.text[begins]
        first = np.searchsorted(pairs.of_passage[passage], np.arange(pairs.n_evidence + 1))
        return cls(texts, counted(begins).astype(np.int64) - 1, pairs.of_passage[texts.text], first, passage)

    def per_sentence(self, flags: Bools) -> Floats:
        """How many items of each sentence have the flag."""
        return np.asarray(np.bincount(self.sentence, flags, len(self.passage)), np.float64)


@dataclass(frozen=True)
class Sought:
    """The content words of each pair's claim, one after the other, and where they occur.

    An occurrence is a sentence that has the word: the word `word[k]` is in `sentence[k]`, first at the item `at[k]`.
    """

    pair: Ids  # of each word
    item: Ids  # of each word, in the texts of the claims
    starts: Ids  # of each pair among the words
    is_exact: Bools  # the evidence has the word
    is_covered: Bools  # or another form of it
    word: Ids
    sentence: Ids
    at: Ids

    def per_pair(self, values: Floats | Bools) -> Floats:
        """The sum over each pair's words."""
        sums = np.zeros(len(values) + 1)
        np.cumsum(values, out=sums[1:])
        return np.diff(sums[self.starts])

    @cached_property
    def count(self) -> Floats:
        """How many words each pair has."""
        return np.diff(self.starts).astype(np.float64)


def content_words(claims: Texts) -> Bools:
    """The words that say something; all words of a claim that has no others."""
    content = ~claims.has(Mark.FUNCTION)
    return np.asarray(content | (claims.per_text(content) == 0)[claims.text])


def sought(claims: Texts, evidence: Evidence, pairs: Pairs, roots: Roots, words: Words, table: Table) -> Sought:
    """Look up each content word of each pair. `words` has the word of each item's id."""
    content = np.flatnonzero(content_words(claims))
    first = np.searchsorted(content, claims.starts)
    counts = np.diff(first)[pairs.claim]
    item = content[ranges(first[pairs.claim], counts)]
    pair = np.repeat(np.arange(pairs.count), counts)
    is_wanted = np.zeros(roots.number, bool)
    is_wanted[roots.claims[content]] = True
    places = np.flatnonzero(is_wanted[roots.passages])
    keys = evidence.evidence[places] * roots.number + roots.passages[places]
    looked_for = pairs.evidence[pair] * roots.number + roots.claims[item]
    word, at, is_exact = _occurrences(keys, places, evidence.sentence, looked_for)
    lacking = np.flatnonzero(~is_exact)
    found, found_at = _equal_quantities(claims, item[lacking], pairs.evidence[pair[lacking]], evidence, words, table)
    is_exact[lacking[found]] = True
    word, at = np.concatenate([word, lacking[found]]), np.concatenate([at, found_at])
    lacking = np.flatnonzero(~is_exact)
    is_covered = is_exact.copy()
    is_covered[lacking] = _other_forms(claims, item[lacking], pairs.evidence[pair[lacking]], evidence, words)
    starts = np.concatenate([[0], np.cumsum(counts)])
    return Sought(pair, item, starts, is_exact, is_covered, word, evidence.sentence[at], at)


def _occurrences(keys: Ids, places: Ids, sentences: Ids, looked_for: Ids) -> tuple[Ids, Ids, Bools]:
    """The places of each word that is looked for, one in each sentence, and which words occur at all."""
    keys, order = sorted_keys(keys)
    places = places[order]
    sentence = sentences[places]
    is_first = np.ones(len(keys), bool)
    is_first[1:] = (keys[1:] != keys[:-1]) | (sentence[1:] != sentence[:-1])
    keys, places = keys[is_first], places[is_first]
    begin, end = np.searchsorted(keys, looked_for), np.searchsorted(keys, looked_for, side="right")
    word = np.repeat(np.arange(len(looked_for)), end - begin)
    return word, places[ranges(begin, end - begin)], end > begin


def _equal_quantities(
    claims: Texts, items: Ids, evidence_of: Ids, evidence: Evidence, words: Words, table: Table
) -> tuple[Ids, Ids]:
    """Which of these items are a quantity, or its unit, that the evidence has in another unit; and where it has it."""
    own = quantities(claims, words, table)
    is_wanted = np.isin(items, own.item) | np.isin(items, own.unit)
    if not is_wanted.any():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    theirs = quantities(evidence.texts, words, table)
    distinct, numbers = np.unique(np.concatenate([own.keys(), theirs.keys()]), return_inverse=True)
    keys, order = sorted_keys(evidence.evidence[theirs.item] * len(distinct) + numbers[len(own.item) :])
    found, found_at = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for own_items, their_items in ((own.item, theirs.item), (own.unit, theirs.unit)):
        place_of = np.full(len(claims.ids), -1)
        place_of[own_items] = np.arange(len(own_items))
        wanted = np.flatnonzero(place_of[items] >= 0)
        looked_for = evidence_of[wanted] * len(distinct) + numbers[place_of[items[wanted]]]
        is_there, place = look_up(keys, looked_for)
        new = is_there & ~np.isin(wanted, found[0])
        found = [np.concatenate([found[0], wanted[new]])]
        found_at = [np.concatenate([found_at[0], their_items[order[place[new]]]])]
    return found[0], found_at[0]


def _other_forms(claims: Texts, items: Ids, evidence_of: Ids, evidence: Evidence, words: Words) -> Bools:
    """Which of these words the evidence has in another form: with the same first letters."""
    fits = (claims.length[items] >= _PREFIX) & (claims.marks[items] & (Mark.NUMBER | Mark.MONTH) == 0)
    is_there = np.zeros(len(items), bool)
    own_prefixes = [word[:_PREFIX] for word in words[claims.ids[items[fits]]].tolist()]
    number_of = {prefix: number for number, prefix in enumerate(dict.fromkeys(own_prefixes), 1)}
    if not number_of:
        return is_there
    is_long = np.flatnonzero(evidence.texts.length >= _PREFIX)
    is_used = np.zeros(len(words), bool)
    is_used[evidence.texts.ids[is_long]] = True
    ids = np.flatnonzero(is_used)
    numbers = np.zeros(len(words), np.int64)
    numbers[ids] = [number_of.get(word[:_PREFIX], 0) for word in words[ids].tolist()]
    number = numbers[evidence.texts.ids[is_long]]
    n_numbers = len(number_of) + 1
    keys = np.sort((evidence.evidence[is_long] * n_numbers + number)[number > 0])
    own = np.fromiter(map(number_of.__getitem__, own_prefixes), np.int64, len(own_prefixes))
    is_there[fits] = look_up(keys, evidence_of[fits] * n_numbers + own)[0]
    return is_there
