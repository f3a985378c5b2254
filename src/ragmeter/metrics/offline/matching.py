"""Which words of a gold answer occur in the answer, exactly or approximately, and which in the question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein, Prefix

from ragmeter.metrics.bags import Ids, ranges, slices
from ragmeter.metrics.offline import thresholds as threshold
from ragmeter.metrics.offline.related import kindred, roughly
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.vocabulary import Bools, Floats, Small, Texts, Words, counted

_MOST_MISSING = 200  # words of a gold answer that are looked for in other spellings, so that the time is limited
_AT_ONCE = 1 << 19  # pairs of words: more would take too much memory
LETTERS = 0x110000  # the number of code points in Unicode
_NO_WORD = Mark.NUMBER | Mark.WEAK | Mark.MONTH | Mark.FUNCTION


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
    acronym: Bools  # per pair: one side has the other's initials
    kin: Bools  # of gold items: the answer has a related word
    rough: Bools  # of gold items: the answer has the decade of this year, or the number rounded


def match(question: Texts, gold: Texts, answer: Texts, words: Words) -> Match:
    """Compare gold answers with answers, pair by pair. `words` has the word of each item's id."""
    n_roots = 1 + max((int(side.root.max()) for side in (question, gold, answer) if len(side.root)), default=0)
    keys = {name: side.text * n_roots + side.root for name, side in (("q", question), ("g", gold), ("a", answer))}
    found_at, answer_gold = _both_ways(keys["a"], keys["g"])
    asked_at, answer_asked = _both_ways(keys["a"], keys["q"])
    is_found = found_at >= 0
    answer_content = ~answer.has(Mark.FUNCTION)
    content = ~gold.has(Mark.FUNCTION)
    content |= (gold.per_text(content) == 0)[gold.text]
    credit = is_found.astype(np.float64)
    spelled = _other_spellings(gold, answer, credit, found_at, content, answer_asked, words)
    answer_gold[found_at[spelled]] = True
    acronym = _acronyms(gold, answer, credit, found_at, content, words)
    answer_gold[found_at[acronym[gold.text] & (found_at >= 0)]] = True
    _initials(gold, answer, credit, found_at, content)
    lacking = content & (credit == 0)
    relations = (kindred(question, gold, answer, lacking), roughly(gold, answer, lacking, answer_asked))
    related = [np.zeros(len(credit), bool) for _ in relations]
    for relation, flags in zip(relations, related, strict=True):
        flags[relation.gold], credit[relation.gold], found_at[relation.gold] = (
            True,
            threshold.RELATED,
            relation.found_at,
        )
        answer_gold[relation.answer] = True
    squashed, inside = _squashed(gold, answer, credit, content, words)
    credit[squashed[gold.text]] = 1.0
    return Match(
        question=question,
        gold=gold,
        answer=answer,
        credit=credit,
        found_at=found_at,
        gold_asked=look_up(np.sort(keys["q"]), keys["g"])[0],
        answer_asked=answer_asked,
        answer_gold=answer_gold,
        question_answered=asked_at >= 0,
        content=content,
        answer_content=answer_content,
        exact=is_found,
        squashed=squashed,
        inside=inside,
        acronym=acronym,
        kin=related[0],
        rough=related[1],
    )


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
    distinct = np.sort(looked_for)
    is_looked_for, place = look_up(distinct, keys)
    at = np.flatnonzero(is_looked_for)[::-1]  # backwards, so that the first one stays
    first = np.full(len(distinct), -1)
    first[place[at]] = at
    return first[look_up(distinct, looked_for)[1]] if len(distinct) else first, is_looked_for


def look_up(sorted_keys: Ids, looked_for: Ids) -> tuple[Bools, Ids]:
    """Which of the keys that are looked for are in `sorted_keys`, and the first place of each there."""
    if not len(sorted_keys):
        return np.zeros(len(looked_for), bool), np.zeros(len(looked_for), np.int64)
    place = np.minimum(np.searchsorted(sorted_keys, looked_for), len(sorted_keys) - 1)
    return sorted_keys[place] == looked_for, place


def _other_spellings(
    gold: Texts, answer: Texts, credit: Floats, found_at: Ids, content: Bools, asked: Bools, words: Words
) -> Ids:
    """Give credit to missing gold words that the answer, but not the question, has in another spelling; return them."""
    missing = np.flatnonzero(
        (credit == 0) & content & (gold.marks & _NO_WORD == 0) & (gold.length >= threshold.SHORTEST_SPELLED)
    )
    rank = np.arange(len(missing)) - np.searchsorted(gold.text[missing], gold.text[missing])
    missing = missing[rank < _MOST_MISSING]
    counts = np.diff(answer.starts)[gold.text[missing]]
    best = [
        _best_spellings(gold, answer, missing[part], counts[part], asked, words) for part in slices(counts, _AT_ONCE)
    ]
    if not best:
        return missing
    gold_item, candidate, similarity = (np.concatenate(side) for side in zip(*best, strict=True))
    credit[gold_item] = similarity
    found_at[gold_item] = candidate
    return np.asarray(gold_item)


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
    good = similarity > 0
    gold_item, candidate, similarity = gold_item[good], candidate[good], similarity[good]
    best = np.lexsort((candidate, -similarity, gold_item))
    gold_item, candidate, similarity = gold_item[best], candidate[best], similarity[best]
    is_first = np.concatenate([[True], gold_item[1:] != gold_item[:-1]]) if len(gold_item) else np.zeros(0, bool)
    return gold_item[is_first], candidate[is_first], similarity[is_first]


def _acronyms(gold: Texts, answer: Texts, credit: Floats, found_at: Ids, content: Bools, words: Words) -> Bools:
    """Where one side has an abbreviation in capitals, and the other the words that it abbreviates."""
    is_acronym = np.zeros(gold.count, bool)
    lacks_words = gold.per_text(content & (credit == 0)) > 0
    short, short_gold = answer.has(Mark.ACRONYM), gold.has(Mark.ACRONYM)
    in_answer = answer.per_text(short) > 0
    in_gold = gold.per_text(short_gold & (credit == 0)) > 0
    gold_initials, answer_initials = _initials_of(gold), _initials_of(answer)
    for pair in np.flatnonzero(lacks_words & (in_answer | in_gold)).tolist():
        golds, answers = slice(*gold.starts[pair : pair + 2].tolist()), slice(*answer.starts[pair : pair + 2].tolist())
        if in_answer[pair]:
            initials = {texts[pair] for texts in gold_initials}
            for place in (answers.start + np.flatnonzero(short[answers])).tolist():
                word = words[answer.ids[place]]
                if len(word) > 1 and word in initials:
                    is_acronym[pair] = True
                    credit[golds] = 1.0
                    found_at[golds] = np.where(found_at[golds] < 0, place, found_at[golds])
        if in_gold[pair] and not is_acronym[pair]:
            for place in (golds.start + np.flatnonzero(short_gold[golds])).tolist():
                word = words[gold.ids[place]]
                if credit[place] == 0 and len(word) > 1:
                    places = [texts[pair].find(word) for texts in answer_initials]
                    if max(places) >= 0:
                        is_acronym[pair], credit[place] = True, 1.0
                        found_at[place] = answers.start + max(places[0], 0)
    return is_acronym


def _initials_of(side: Texts) -> tuple[_Slices, _Slices]:
    """The first letters of each text's words: of all, and of content words."""
    is_content = ~side.has(Mark.FUNCTION)
    before = np.concatenate([[0], counted(is_content)])
    return _Slices(_letters(side.letter), side.starts), _Slices(_letters(side.letter[is_content]), before[side.starts])


@dataclass(frozen=True)
class _Slices:
    """One long text, and where each part of it begins."""

    text: str
    starts: Ids

    def __getitem__(self, place: int) -> str:
        return self.text[self.starts[place] : self.starts[place + 1]]

    def __iter__(self) -> Iterator[str]:
        starts = self.starts.tolist()
        return (self.text[begin:end] for begin, end in pairwise(starts))

    def __len__(self) -> int:
        return len(self.starts) - 1


def _letters(code_points: Small) -> str:
    return code_points.astype("<u4").tobytes().decode("utf-32-le", "replace")


def _initials(gold: Texts, answer: Texts, credit: Floats, found_at: Ids, content: Bools) -> None:
    """`J. Smith` for `John Smith`: a missing name whose initial is in the answer, where another name was found."""
    partly = gold.per_text(content & (credit > 0)) > 0
    missing = np.flatnonzero((credit == 0) & content & gold.has(Mark.CAPITAL) & partly[gold.text])
    letters = np.flatnonzero(answer.has(Mark.LETTER) & (answer.length == 1))
    keys, order = sorted_keys(answer.text[letters] * LETTERS + answer.letter[letters])
    is_there, place = look_up(keys, gold.text[missing] * LETTERS + gold.letter[missing])
    credit[missing[is_there]] = threshold.INITIAL
    found_at[missing[is_there]] = letters[order[place[is_there]]]


def _squashed(gold: Texts, answer: Texts, credit: Floats, content: Bools, words: Words) -> tuple[Bools, Bools]:
    """`Spider-Man` and `Spiderman`: the gold answer's letters without spaces, between word boundaries of the answer."""
    is_squashed, inside = np.zeros(gold.count, bool), np.zeros(gold.count, bool)
    letters = gold.per_text(gold.length)
    fits = (letters >= threshold.SQUASHED) & (letters <= answer.per_text(answer.length))
    lacking = np.flatnonzero((gold.per_text(content & (credit < 1)) > 0) & fits)
    gold_letters, _ = _run_together(gold, lacking, words)
    answer_letters, edges = _run_together(answer, lacking, words)
    places = [
        -1 if gold.isdigit() else answer.find(gold) for gold, answer in zip(gold_letters, answer_letters, strict=True)
    ]
    place = np.array(places, np.int64)
    inside[lacking] = place >= 0
    begin = answer_letters.starts[:-1] + place
    at_edges = look_up(edges, begin)[0] & look_up(edges, begin + np.diff(gold_letters.starts))[0]
    is_squashed[lacking] = (place >= 0) & at_edges
    return is_squashed, inside


def _run_together(side: Texts, texts: Ids, words: Words) -> tuple[_Slices, Ids]:
    """The letters of these texts without spaces, and where words begin or end."""
    counts = np.diff(side.starts)[texts]
    items = ranges(side.starts[texts], counts)
    edges = np.concatenate([[0], np.cumsum(side.length[items])])
    ends = np.concatenate([[0], np.cumsum(counts)])
    return _Slices("".join(words[side.ids[items]].tolist()), edges[ends]), edges
