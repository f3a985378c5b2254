"""Which words of a gold answer occur in the answer, exactly or approximately, and which in the question."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein, Prefix

from ragmeter.metrics.bags import Ids, ranges, share, slices
from ragmeter.metrics.offline import thresholds as threshold
from ragmeter.metrics.offline.matching.related import Found, kindred, roughly
from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import Bools, Floats, Small, Texts, Words, counted

_MOST_MISSING = 200  # words of a gold answer that are looked for in other spellings, so that the time is limited
_AT_ONCE = 1 << 19  # pairs of words: more would take too much memory
LETTERS = 0x110000  # the number of code points in Unicode
_NO_WORD = Mark.NUMBER | Mark.WEAK | Mark.MONTH | Mark.FUNCTION
_YEAR, _MONTH, _OTHER = 1, 2, 3  # kinds of numbers


class Parts(NamedTuple):
    """The number of parts of each gold answer, and the share that was found of the part that was found least."""

    number: Floats
    least: Floats


@dataclass(frozen=True)
class Match:
    """The texts of some pairs, and how they match. Arrays are per item of the side that they are named after."""

    question: Texts
    gold: Texts
    answer: Texts
    credit: Floats  # of gold items: 1 found, 0 missing, between: found in another spelling
    found_at: Ids  # of gold items: the matching item of the answer, or -1
    gold_asked: Bools  # it occurs in the question
    answer_asked: Bools
    answer_gold: Bools  # it is a gold item
    question_answered: Bools
    content: Bools  # of gold items: a content word; if all are function words, all count as content words
    answer_content: Bools
    exact: Bools  # of gold items: found exactly
    squashed: Bools  # per pair: without spaces, the answer has the gold answer, between word boundaries
    inside: Bools  # per pair: the same, also within words
    kin: Bools  # of gold items: the answer has a related word
    rough: Bools  # of gold items: the answer has the decade of this year, or the number rounded

    @cached_property
    def other(self) -> Bools:
        """The answer's items that are neither gold nor the question's."""
        return ~self.answer_gold & ~self.answer_asked

    @cached_property
    def parts(self) -> Parts:
        """The parts of gold answers that are lists, between commas and words like "and": "blue, white and red"."""
        gold = self.gold
        begins = gold.has(Mark.ALSO)
        begins[1:] |= gold.has(Mark.CLAUSE | Mark.SENTENCE)[:-1]
        begins[gold.starts[:-1][np.diff(gold.starts) > 0]] = True
        part = counted(begins) - 1
        n_words, n_found = np.bincount(part, self.content), np.bincount(part, self.credit * self.content)
        has_words = n_words > 0
        pair = gold.text[begins][has_words]
        least = np.where(gold.per_text(self.content) > 0, 1.0, 0.0)
        np.minimum.at(least, pair, n_found[has_words] / n_words[has_words])
        return Parts(np.bincount(pair, minlength=gold.count).astype(np.float64), least)

    @cached_property
    def numbers(self) -> dict[str, Floats]:
        """The features of numbers: which agree, which are missing, and which contradict each other by their kind."""
        gold, answer, is_missing = self.gold, self.answer, self.credit < 1
        is_strong = ~gold.has(Mark.WEAK) | (gold.per_text(~gold.has(Mark.WEAK)) == 0)[gold.text]
        kind = np.where(is_strong, _kinds(gold), 0)
        other_kind = np.where(self.other & ~answer.has(Mark.WEAK), _kinds(answer), 0)
        n_against, n_alike = np.zeros(gold.count), np.zeros(gold.count)
        for code in (_YEAR, _MONTH, _OTHER):
            n_others = answer.per_text(other_kind == code)
            n_against += np.where(n_others > 0, gold.per_text((kind == code) & is_missing), 0)
            n_alike += np.where(gold.per_text(kind == code) > 0, n_others, 0)
        n_numbers, n_missing = gold.per_text(kind > 0), gold.per_text((kind > 0) & is_missing)
        return {
            "numbers_found": share(n_numbers - n_missing, n_numbers, 0.5),
            "numbers_missing": np.minimum(n_missing, 4),
            "numbers_contradicted": np.minimum(n_against, 4),
            "same_kind": np.log1p(n_alike),
            "roughly": np.minimum(gold.per_text(self.rough), 1),
            "gold_is_number": share(n_numbers, gold.per_text(self.content)),
        }


def match(question: Texts, gold: Texts, answer: Texts, words: Words) -> Match:
    """Compare gold answers with answers, pair by pair. `words` has the word of each item's id."""
    n_roots = 1 + max((int(side.root.max()) for side in (question, gold, answer) if len(side.root)), default=0)
    asked_keys, gold_keys, answer_keys = (side.text * n_roots + side.root for side in (question, gold, answer))
    found_at, answer_gold = _both_ways(answer_keys, gold_keys)
    asked_at, answer_asked = _both_ways(answer_keys, asked_keys)
    exact = found_at >= 0
    credit = exact.astype(np.float64)
    content = ~gold.has(Mark.FUNCTION)
    content |= (gold.per_text(content) == 0)[gold.text]

    def give(match: Found) -> Bools:
        credit[match.gold], found_at[match.gold] = match.credit, match.at
        answer_gold[match.answer] = True
        is_given = np.zeros(len(credit), bool)
        is_given[match.gold] = True
        return is_given

    give(_other_spellings(gold, answer, content & (credit == 0), answer_asked, words))
    give(_acronyms(gold, answer, content & (credit == 0), found_at, words))
    give(_initials(gold, answer, credit, content))
    lacking = content & (credit == 0)
    related = kindred(question, gold, answer, lacking), roughly(gold, answer, lacking, answer_asked)
    kin, rough = map(give, related)
    squashed, inside = _squashed(gold, answer, gold.per_text(content & (credit < 1)) > 0, words)
    credit[squashed[gold.text]] = 1.0
    return Match(
        question=question,
        gold=gold,
        answer=answer,
        credit=credit,
        found_at=found_at,
        gold_asked=look_up(np.sort(asked_keys), gold_keys)[0],
        answer_asked=answer_asked,
        answer_gold=answer_gold,
        question_answered=asked_at >= 0,
        content=content,
        answer_content=~answer.has(Mark.FUNCTION),
        exact=exact,
        squashed=squashed,
        inside=inside,
        kin=kin,
        rough=rough,
    )


def _kinds(side: Texts) -> Small:
    """What kind of number each item is, 0 if none."""
    with np.errstate(invalid="ignore"):
        year = (side.value >= 1000) & (side.value <= 2100) & (side.value == np.floor(side.value))
    is_number = side.has(Mark.NUMBER) & ~np.isnan(side.value)
    return np.select([side.has(Mark.MONTH), is_number & year, is_number], [_MONTH, _YEAR, _OTHER], 0).astype(np.int32)


def sorted_keys(keys: Ids) -> tuple[Ids, Ids]:
    """The sorted keys, and the place of each; a stable sort."""
    bits = len(keys).bit_length()
    if not len(keys) or int(keys.max()) >= 1 << (63 - bits):
        order = np.argsort(keys, kind="stable")
        return keys[order], order
    packed = np.sort(keys << bits | np.arange(len(keys)))  # takes half the time of argsort
    return packed >> bits, packed & ((1 << bits) - 1)


def _both_ways(keys: Ids, looked_for: Ids) -> tuple[Ids, Bools]:
    """The first place of each key that is looked for, or -1; and which of the `keys` were looked for."""
    in_order = np.sort(looked_for)
    is_looked_for, place = look_up(in_order, keys)
    at = np.flatnonzero(is_looked_for)[::-1]  # backwards, so that the first one stays
    first = np.full(len(in_order), -1)
    first[place[at]] = at
    return first[look_up(in_order, looked_for)[1]] if len(in_order) else first, is_looked_for


def look_up(sorted_keys: Ids, looked_for: Ids) -> tuple[Bools, Ids]:
    """Which of the keys that are looked for are in `sorted_keys`, and the first place of each there."""
    if not len(sorted_keys):
        return np.zeros(len(looked_for), bool), np.zeros(len(looked_for), np.int64)
    place = np.minimum(np.searchsorted(sorted_keys, looked_for), len(sorted_keys) - 1)
    return sorted_keys[place] == looked_for, place


def _other_spellings(gold: Texts, answer: Texts, lacking: Bools, asked: Bools, words: Words) -> Found:
    """Missing gold words that the answer, but not the question, has in another spelling."""
    missing = np.flatnonzero(lacking & (gold.marks & _NO_WORD == 0) & (gold.length >= threshold.SHORTEST_SPELLED))
    rank = np.arange(len(missing)) - np.searchsorted(gold.text[missing], gold.text[missing])
    missing = missing[rank < _MOST_MISSING]
    counts = np.diff(answer.starts)[gold.text[missing]]
    parts = ((missing[part], counts[part]) for part in slices(counts, _AT_ONCE))
    best = [(missing[:0], missing[:0], np.zeros(0))]
    best += (_best_spellings(gold, answer, *part, asked, words) for part in parts)
    gold_item, at, similarity = (np.concatenate(side) for side in zip(*best, strict=True))
    return Found(gold_item, at, at, similarity)


def _best_spellings(
    gold: Texts, answer: Texts, missing: Ids, counts: Ids, asked: Bools, words: Words
) -> tuple[Ids, Ids, Floats]:
    """Gold words that their answer has in another spelling, the place of the most similar one, and the similarity."""
    gold_item = np.repeat(missing, counts)
    candidate = ranges(answer.starts[gold.text[missing]], counts)
    near = (gold.letter[gold_item] == answer.letter[candidate]) & (answer.marks[candidate] & _NO_WORD == 0)
    near &= ~asked[candidate]
    gold_item, candidate = gold_item[near], candidate[near]
    gold_length, answer_length = gold.length[gold_item], answer.length[candidate]
    near = np.abs(gold_length - answer_length) <= (1 - threshold.STEM) * np.maximum(gold_length, answer_length)
    gold_item, candidate = gold_item[near], candidate[near]
    if not len(gold_item):
        return gold_item, candidate, np.zeros(0)
    gold_words, answer_words = words[gold.ids[gold_item]], words[answer.ids[candidate]]
    similarity = process.cpdist(
        gold_words, answer_words, scorer=Levenshtein.normalized_similarity, dtype=np.float64, workers=1
    )
    begin = process.cpdist(gold_words, answer_words, scorer=Prefix.similarity, dtype=np.float64, workers=1)
    longer = np.maximum(gold.length[gold_item], answer.length[candidate])
    inflected = (begin >= threshold.SHORTEST_SPELLED) & (begin >= threshold.STEM * longer)
    similarity = np.where(similarity >= threshold.ALIKE, similarity, np.where(inflected, begin / longer, 0.0))
    order = np.lexsort((candidate, -similarity, gold_item))
    best = order[np.unique(gold_item[order], return_index=True)[1]]
    best = best[similarity[best] > 0]
    return gold_item[best], candidate[best], similarity[best]


def _acronyms(gold: Texts, answer: Texts, lacking: Bools, found_at: Ids, words: Words) -> Found:
    """Where one side has an abbreviation in capitals, and the other the words that it abbreviates."""
    matches: list[tuple[int, int]] = []  # gold items, and the items of the answer that they were found at
    short, short_gold = (side.has(Mark.ACRONYM) & (side.length > 1) for side in (answer, gold))
    short_gold &= lacking
    may_have = (answer.per_text(short) > 0) | (gold.per_text(short_gold) > 0)
    for pair in np.flatnonzero((gold.per_text(lacking) > 0) & may_have).tolist():
        own, answered = (slice(*side.starts[pair : pair + 2].tolist()) for side in (gold, answer))
        spelled_out = _initials_of(gold, own)
        places = (answered.start + np.flatnonzero(short[answered])).tolist()
        place = next((place for place in places if words[answer.ids[place]] in spelled_out), None)
        if place is not None:
            matches += [(item, found_at[item] if found_at[item] >= 0 else place) for item in range(own.start, own.stop)]
            continue
        items = (own.start + np.flatnonzero(short_gold[own])).tolist()
        initials = _initials_of(answer, answered) if items else []
        for item in items:
            begins = [letters.find(words[gold.ids[item]]) for letters in initials]
            if max(begins) >= 0:
                matches.append((item, answered.start + max(begins[0], 0)))
    gold_items, at = np.array(matches, np.int64).reshape(-1, 2).T
    return Found(gold_items, at, at, 1.0)


def _initials_of(side: Texts, text: slice) -> list[str]:
    """The first letters of a text's words: of all, and of content words."""
    letters = side.letter[text]
    content = letters[side.marks[text] & Mark.FUNCTION == 0]
    return ["".join(map(chr, codes.tolist())) for codes in (letters, content)]


def _initials(gold: Texts, answer: Texts, credit: Floats, content: Bools) -> Found:
    """`J. Smith` for `John Smith`: a missing name whose initial is in the answer, where another name was found."""
    partly = gold.per_text(content & (credit > 0)) > 0
    missing = np.flatnonzero((credit == 0) & content & gold.has(Mark.CAPITAL) & partly[gold.text])
    letters = np.flatnonzero(answer.has(Mark.LETTER) & (answer.length == 1))
    keys, order = sorted_keys(answer.text[letters] * LETTERS + answer.letter[letters])
    is_there, place = look_up(keys, gold.text[missing] * LETTERS + gold.letter[missing])
    return Found(missing[is_there], letters[order[place[is_there]]], letters[:0], threshold.INITIAL)


def _squashed(gold: Texts, answer: Texts, lacking: Bools, words: Words) -> tuple[Bools, Bools]:
    """`Spider-Man` and `Spiderman`: the gold answer's letters without spaces, between word boundaries of the answer."""
    is_squashed, inside = np.zeros((2, gold.count), bool)
    letters = gold.per_text(gold.length)
    fits = (letters >= threshold.SQUASHED) & (letters <= answer.per_text(answer.length))
    pairs = np.flatnonzero(lacking & fits)
    sides = [_run_together(side, pairs, words) for side in (gold, answer)]
    for pair, own, answered in zip(pairs.tolist(), *sides, strict=True):
        place = -1 if own.isdigit() else answered.find(own)
        if place >= 0:
            inside[pair] = True
            lengths = answer.length[answer.starts[pair] : answer.starts[pair + 1]].tolist()
            is_squashed[pair] = {place, place + len(own)} <= {0, *accumulate(lengths)}
    return is_squashed, inside


def _run_together(side: Texts, texts: Ids, words: Words) -> list[str]:
    """The words of each of these texts without spaces."""
    counts = np.diff(side.starts)[texts]
    items = ranges(side.starts[texts], counts)
    letters = "".join(words[side.ids[items]].tolist())
    ends = np.concatenate([[0], np.cumsum(side.length[items])])[np.concatenate([[0], np.cumsum(counts)])].tolist()
    return [letters[begin:end] for begin, end in pairwise(ends)]
