"""Which words of a gold answer stand in an answer, letter for letter or nearly, and which in the question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein, Prefix

from ragmeter.metrics.bags import Ids, ranges
from ragmeter.metrics.offline.related import CREDIT, kindred, roughly
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.vocabulary import Bools, Floats, Small, Texts, Words, counted

#: From this similarity on, two words are taken for spellings of one: one letter in five may differ.
_ALIKE = 0.8
_STEM = 0.6  # of the longer word's letters, from the first on, make two words forms of one
_SHORTEST = 4  # letters of a word that may be spelled differently
_SQUASHED = 5  # letters of a gold answer that may be written in one word or in several
_INITIAL = 0.7  # what an initial is worth where the gold answer has the name


@dataclass(frozen=True)
class Match:
    """The texts of some pairs, and what they have in common. All arrays are per item of the side that they name."""

    question: Texts
    gold: Texts
    answer: Texts
    credit: Floats  # of gold items: 1 found, 0 missing, between: found in another spelling
    where: Ids  # of gold items: at which item of the answer, or -1
    gold_asked: Bools  # it stands in the question
    answer_asked: Bools
    answer_gold: Bools  # it is a gold item
    question_answered: Bools
    content: Bools  # of gold items: says something; where all are function words, all do
    answer_content: Bools
    exact: Bools  # of gold items: found letter for letter
    squashed: Bools  # per pair: the gold answer stands in the answer once blanks are taken away
    inside: Bools  # per pair: so it does, though perhaps in the midst of other letters
    acronym: Bools  # per pair: one side has the other's initials
    kin: Bools  # of gold items: the answer has kin of it
    rough: Bools  # of gold items: the answer has the decade of this year, the number rounded


def match(question: Texts, gold: Texts, answer: Texts, words: Words) -> Match:
    """Compare gold answers with answers, pair by pair. `words` are those of the items' ids."""
    kinds = 1 + max((int(side.root.max()) for side in (question, gold, answer) if len(side.root)), default=0)
    keys = {name: side.text * kinds + side.root for name, side in (("q", question), ("g", gold), ("a", answer))}
    told, order = _sorted(keys["a"])
    where, answer_gold = _both_ways(told, order, keys["g"])
    asked_where, answer_asked = _both_ways(told, order, keys["q"])
    found = where >= 0
    answer_content = ~answer.has(Mark.FUNCTION)
    content = ~gold.has(Mark.FUNCTION)
    content |= (gold.per_text(content) == 0)[gold.text]
    credit = found.astype(np.float64)
    spelled = _other_spellings(gold, answer, credit, where, content, answer_asked, words)
    answer_gold[where[spelled]] = True
    acronym = _acronyms(gold, answer, credit, where, content, words)
    _initials(gold, answer, credit, where, content)
    lacking = content & (credit == 0)
    every = (kindred(question, gold, answer, lacking), roughly(gold, answer, lacking, answer_asked))
    related = [np.zeros(len(credit), bool) for _ in every]
    for each, flags in zip(every, related, strict=True):
        flags[each.gold], credit[each.gold], where[each.gold] = True, CREDIT, each.where
        answer_gold[each.answer] = True
    squashed, inside = _squashed(gold, answer, credit, content, words)
    credit[squashed[gold.text]] = 1.0
    return Match(
        question=question,
        gold=gold,
        answer=answer,
        credit=credit,
        where=where,
        gold_asked=look_up(np.sort(keys["q"]), keys["g"])[0],
        answer_asked=answer_asked,
        answer_gold=answer_gold,
        question_answered=asked_where >= 0,
        content=content,
        answer_content=answer_content,
        exact=found,
        squashed=squashed,
        inside=inside,
        acronym=acronym,
        kin=related[0],
        rough=related[1],
    )


def _sorted(keys: Ids) -> tuple[Ids, Ids]:
    """The keys in order, and where each was; of equal ones, the first comes first."""
    bits = len(keys).bit_length()
    if not len(keys) or int(keys.max()) >= 1 << (63 - bits):
        order = np.argsort(keys, kind="stable")
        return keys[order], order
    packed = np.sort(keys << bits | np.arange(len(keys)))  # half the time that finding the order takes
    return packed >> bits, packed & ((1 << bits) - 1)


def _both_ways(told: Ids, order: Ids, wanted: Ids) -> tuple[Ids, Bools]:
    """Where each of the wanted keys stands first among those told, or -1; and which of those told are wanted."""
    begin, end = np.searchsorted(told, wanted), np.searchsorted(told, wanted, side="right")
    is_wanted = np.zeros(len(told), bool)
    is_wanted[order[ranges(begin, end - begin)]] = True
    first = np.full(len(wanted), -1)
    found = begin < end
    first[found] = order[begin[found]]
    return first, is_wanted


def look_up(known: Ids, wanted: Ids) -> tuple[Bools, Ids]:
    """Which of the wanted are among the known, which are sorted, and where the first of each is."""
    if not len(known):
        return np.zeros(len(wanted), bool), np.zeros(len(wanted), np.int64)
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return known[place] == wanted, place


def _other_spellings(
    gold: Texts, answer: Texts, credit: Floats, where: Ids, content: Bools, asked: Bools, words: Words
) -> Ids:
    """Give credit to missing gold words that the answer has in another spelling, not the question; returns them."""
    no_word = Mark.NUMBER | Mark.WEAK | Mark.MONTH | Mark.FUNCTION
    missing = np.flatnonzero((credit == 0) & content & (gold.marks & no_word == 0) & (gold.length >= _SHORTEST))
    counts = np.diff(answer.starts)[gold.text[missing]]
    which = np.repeat(missing, counts)
    candidate = ranges(answer.starts[gold.text[missing]], counts)
    near = (gold.letter[which] == answer.letter[candidate]) & (answer.marks[candidate] & no_word == 0)
    near &= ~asked[candidate]
    which, candidate = which[near], candidate[near]
    one, other = gold.length[which], answer.length[candidate]
    near = np.abs(one - other) <= (1 - _STEM) * np.maximum(one, other)
    which, candidate = which[near], candidate[near]
    if not len(which):
        return np.asarray(which)
    one_texts, other_texts = words[gold.ids[which]], words[answer.ids[candidate]]
    alike = process.cpdist(
        one_texts, other_texts, scorer=Levenshtein.normalized_similarity, dtype=np.float64, workers=1
    )
    begin = process.cpdist(one_texts, other_texts, scorer=Prefix.similarity, dtype=np.float64, workers=1)
    longer = np.maximum(gold.length[which], answer.length[candidate])
    inflected = (begin >= _SHORTEST) & (begin >= _STEM * longer)
    alike = np.where(alike >= _ALIKE, alike, np.where(inflected, begin / longer, 0.0))
    good = alike > 0
    which, candidate, alike = which[good], candidate[good], alike[good]
    best = np.lexsort((candidate, -alike, which))
    which, candidate, alike = which[best], candidate[best], alike[best]
    first = np.concatenate([[True], which[1:] != which[:-1]]) if len(which) else np.zeros(0, bool)
    credit[which[first]] = alike[first]
    where[which[first]] = candidate[first]
    return np.asarray(which[first])


def _acronyms(gold: Texts, answer: Texts, credit: Floats, where: Ids, content: Bools, words: Words) -> Bools:
    """Where one side has an abbreviation in capitals, and the other the words that it stands for."""
    found = np.zeros(gold.count, bool)
    wanting = gold.per_text(content & (credit == 0)) > 0
    short, short_gold = answer.has(Mark.ACRONYM), gold.has(Mark.ACRONYM)
    in_answer = answer.per_text(short) > 0
    in_gold = gold.per_text(short_gold & (credit == 0)) > 0
    gold_initials, answer_initials = _initials_of(gold), _initials_of(answer)
    for pair in np.flatnonzero(wanting & (in_answer | in_gold)).tolist():
        golds, answers = slice(*gold.starts[pair : pair + 2].tolist()), slice(*answer.starts[pair : pair + 2].tolist())
        if in_answer[pair]:
            initials = {texts[pair] for texts in gold_initials}
            for place in (answers.start + np.flatnonzero(short[answers])).tolist():
                word = words[answer.ids[place]]
                if len(word) > 1 and word in initials:
                    found[pair] = True
                    credit[golds] = 1.0
                    where[golds] = np.where(where[golds] < 0, place, where[golds])
        if in_gold[pair] and not found[pair]:
            for place in (golds.start + np.flatnonzero(short_gold[golds])).tolist():
                word = words[gold.ids[place]]
                if credit[place] == 0 and len(word) > 1:
                    every = [texts[pair].find(word) for texts in answer_initials]
                    if max(every) >= 0:
                        found[pair], credit[place] = True, 1.0
                        where[place] = answers.start + max(every[0], 0)
    return found


def _initials_of(side: Texts) -> tuple[_Slices, _Slices]:
    """The first letters of each text's words: of every one, and of those that say something."""
    says = ~side.has(Mark.FUNCTION)
    before = np.concatenate([[0], counted(says)])
    return _Slices(_letters(side.letter), side.starts), _Slices(_letters(side.letter[says]), before[side.starts])


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


def _initials(gold: Texts, answer: Texts, credit: Floats, where: Ids, content: Bools) -> None:
    """`J. Smith` for `John Smith`: a missing name whose initial stands in the answer, where another name is found."""
    partly = gold.per_text(content & (credit > 0)) > 0
    missing = np.flatnonzero((credit == 0) & content & gold.has(Mark.CAPITAL) & partly[gold.text])
    letters = np.flatnonzero(answer.has(Mark.LETTER) & (answer.length == 1))
    first = np.searchsorted(letters, answer.starts)  # of each answer among the letters
    counts = np.diff(first)[gold.text[missing]]
    which = np.repeat(missing, counts)
    candidate = letters[ranges(first[gold.text[missing]], counts)]
    same = gold.letter[which] == answer.letter[candidate]
    credit[which[same]] = _INITIAL
    where[which[same][::-1]] = candidate[same][::-1]  # so that the first one stays


def _squashed(gold: Texts, answer: Texts, credit: Floats, content: Bools, words: Words) -> tuple[Bools, Bools]:
    """`Spider-Man` and `Spiderman`: the gold answer's letters in one piece, from where a word of the answer begins."""
    found, inside = np.zeros(gold.count, bool), np.zeros(gold.count, bool)
    letters = gold.per_text(gold.length)
    fits = (letters >= _SQUASHED) & (letters <= answer.per_text(answer.length))
    wanting = np.flatnonzero((gold.per_text(content & (credit < 1)) > 0) & fits)
    wanted, _ = _run_together(gold, wanting, words)
    told, edges = _run_together(answer, wanting, words)
    places = [-1 if gold.isdigit() else answer.find(gold) for gold, answer in zip(wanted, told, strict=True)]
    place = np.array(places, np.int64)
    inside[wanting] = place >= 0
    begin = told.starts[:-1] + place
    at_edges = look_up(edges, begin)[0] & look_up(edges, begin + np.diff(wanted.starts))[0]
    found[wanting] = (place >= 0) & at_edges
    return found, inside


def _run_together(side: Texts, texts: Ids, words: Words) -> tuple[_Slices, Ids]:
    """The letters of these texts without anything between the words, and where a word begins or ends."""
    counts = np.diff(side.starts)[texts]
    items = ranges(side.starts[texts], counts)
    edges = np.concatenate([[0], np.cumsum(side.length[items])])
    ends = np.concatenate([[0], np.cumsum(counts)])
    return _Slices("".join(words[side.ids[items]].tolist()), edges[ends]), edges
