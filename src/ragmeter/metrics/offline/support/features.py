"""The features of a claim and its evidence, which the trees of the support model use.

As in `features.py`, each has a direction: more of the claim in the evidence never lowers the probability, a name or a
number that is missing never raises it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ragmeter.metrics.bags import Ids, share
from ragmeter.metrics.offline.features import Feature
from ragmeter.metrics.offline.matching.match import look_up
from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import Bools, Floats, Texts, Vocabulary
from ragmeter.metrics.offline.support.coverage import Evidence, Pairs, Roots, Sought, begins_sentence, sizes, sought
from ragmeter.metrics.offline.support.verbatim import verbatim

FEATURES = (
    Feature("covered", +1, "words"),
    Feature("covered_rare", +1, "words"),
    Feature("missing", -1, "words"),
    Feature("missing_run", -1, "words"),
    Feature("in_sentence", +1, "sentences"),
    Feature("in_two", +1, "sentences"),
    Feature("in_two_rare", +1, "sentences"),
    Feature("sentence_precision", +1, "sentences"),
    Feature("names_missing", -1, "names"),
    Feature("names_in_two", +1, "names"),
    Feature("numbers_missing", -1, "numbers"),
    Feature("numbers_in_two", +1, "numbers"),
    Feature("neighbours", +1, "order"),
    Feature("in_order", +1, "order"),
    Feature("negated", -1, "negation"),
    Feature("denied", -1, "negation"),
    Feature("claim_words", 0, "length"),
    Feature("evidence_words", -1, "length"),
)
NAMES = tuple(feature.name for feature in FEATURES)
#: After the features, a line says what is no feature, but a floor or a cap: whether the claim stands word for word in
#: the evidence, whether the two clash, and whether a number of the claim stands nowhere in the evidence.
LIMITS = ("copied", "clashes", "number_nowhere")
COPIED, CLASHES, NOWHERE = range(len(NAMES), len(NAMES) + len(LIMITS))
N_COLUMNS = len(NAMES) + len(LIMITS)
CAPITALISES_NOUNS = "de"
_SHORT = np.log1p(2.5)  # more than two content words, as the feature has them
_MOST = 5  # missing names or numbers that are told apart


@dataclass(frozen=True)
class ComparedClaims:
    """Claims, their evidence, and where the words of each pair's claim are."""

    claims: Texts
    evidence: Evidence
    pairs: Pairs
    roots: Roots
    words: Sought
    vocabulary: Vocabulary

    @classmethod
    def of(cls, claims: Texts, passages: Texts, pairs: Pairs, vocab: Vocabulary) -> ComparedClaims:
        """Compare each pair."""
        evidence, roots = Evidence.of(passages, pairs), Roots.of(claims, passages)
        words = sought(claims, evidence, pairs, roots, vocab.properties.words, vocab.table)
        return cls(claims, evidence, pairs, roots, words, vocab)

    @cached_property
    def is_name(self) -> Bools:
        """Which words begin with a capital, though no sentence begins there. In German all nouns do: none counts."""
        if self.vocabulary.language == CAPITALISES_NOUNS:
            return np.zeros(len(self.words.item), bool)
        name = self.claims.has(Mark.CAPITAL) & ~begins_sentence(self.claims)
        return np.asarray(name[self.words.item] & ~self.is_number)

    @cached_property
    def is_number(self) -> Bools:
        """Which words are numbers or months."""
        return self.claims.has(Mark.NUMBER | Mark.MONTH)[self.words.item]

    @cached_property
    def size(self) -> Floats:
        """How much of a word each of the claims' items is."""
        return sizes(self.claims)[self.words.item]

    @cached_property
    def mean_size(self) -> Floats:
        """The mean of it over each pair."""
        return share(self.words.per_pair(self.size), self.words.count, 1.0)

    @cached_property
    def slots(self) -> Ids:
        """The sentences of each pair, one after the other: where those of each pair begin."""
        n_sentences = np.diff(self.evidence.first_sentence)[self.pairs.evidence]
        return np.concatenate([[0], np.cumsum(n_sentences)])

    @cached_property
    def slot(self) -> Ids:
        """The slot of each occurrence."""
        pair = self.words.pair[self.words.word]
        return self.slots[pair] + self.words.sentence - self.evidence.first_sentence[self.pairs.evidence[pair]]

    @cached_property
    def rarity(self) -> Floats:
        """The weight of each word: those in few sentences of the evidence, or in none, weigh more."""
        n_in = np.bincount(self.words.word, minlength=len(self.words.item))
        return np.asarray(np.log((np.diff(self.slots)[self.words.pair] + 1.5) / (n_in + 0.5)))

    def best_two(self, weight: Floats) -> tuple[Top, Top]:
        """The sentence with most of the claim, and the one with most of the rest."""
        first = self._best(weight)
        return first, self._best(weight * ~self.within(first))

    def _best(self, weight: Floats) -> Top:
        sums = np.bincount(self.slot, weight[self.words.word], int(self.slots[-1]))
        return _top(np.asarray(sums, np.float64), self.slots)

    def within(self, sentence: Top) -> Bools:
        """Which words stand in this sentence of their pair."""
        flags = np.zeros(len(self.words.item), bool)
        flags[self.words.word[self._is_in(sentence)]] = True
        return flags

    def _is_in(self, sentence: Top) -> Bools:
        return np.asarray(self.slot == sentence.slot[self.words.pair[self.words.word]])

    def of_sentence(self, sentence: Top, flags: Bools) -> Floats:
        """How many items of this sentence of each pair have the flag; 0 for a pair without sentences."""
        has_any = np.diff(self.slots) > 0
        number = sentence.slot - self.slots[:-1] + self.evidence.first_sentence[self.pairs.evidence]
        counts = np.zeros(self.pairs.count)
        counts[has_any] = self.evidence.per_sentence(flags)[number[has_any]]
        return counts

    def in_order(self, sentence: Top) -> Floats:
        """The share of the claim's words in this sentence that follow each other as in the claim."""
        is_in = self._is_in(sentence)
        pair, at = self.words.pair[self.words.word[is_in]], self.words.at[is_in]
        is_next = pair[1:] == pair[:-1]
        steps = np.bincount(pair[1:][is_next], minlength=self.pairs.count)
        ascending = np.bincount(pair[1:][is_next], (at[1:] > at[:-1])[is_next], self.pairs.count)
        return share(ascending, steps, 0.5)


def support_features(compared: ComparedClaims) -> Floats:
    """A line for each pair: its features, and then what limits its probability. `contradictions.py` finds clashes."""
    columns = {**_of_words(compared), **_of_sentences(compared), **_of_order(compared), **_of_lengths(compared)}
    copied = verbatim(compared.claims, compared.evidence, compared.pairs, compared.words)
    limits = (copied, np.zeros(compared.pairs.count), _number_nowhere(compared))
    return np.stack([*(columns[name] for name in NAMES), *(np.asarray(flags, np.float64) for flags in limits)], axis=1)


def _number_nowhere(compared: ComparedClaims) -> Bools:
    """Which claims have a number that the evidence has in no form. A "one" or a "first" is no such number."""
    words, claims = compared.words, compared.claims
    is_number = (claims.has(Mark.NUMBER) & ~claims.has(Mark.WEAK) & np.isfinite(claims.value))[words.item]
    return np.asarray(words.per_pair(is_number & ~words.is_covered) > 0)


def is_half_missing(lines: Floats) -> Bools:
    """Which claims have two content words at most, and the passages lack one: "Paris has a metro", where Paris is.

    People label few claims that are so short, and of those that the trees took for supported not one was.
    """
    column = {name: lines[:, place] for place, name in enumerate(NAMES)}
    return np.asarray((column["claim_words"] < _SHORT) & (column["covered"] < 1))


def _of_words(compared: ComparedClaims) -> dict[str, Floats]:
    words = compared.words
    lacks = ~words.is_covered
    name, number = compared.is_name, compared.is_number
    return {
        "covered": share(words.per_pair(words.is_covered), words.count),
        "covered_rare": share(words.per_pair(compared.rarity * words.is_covered), words.per_pair(compared.rarity)),
        "missing": np.log1p(words.per_pair(lacks * compared.size)),
        "missing_run": np.log1p(_longest_run(lacks, words) * compared.mean_size),
        "names_missing": np.minimum(words.per_pair(lacks & name), _MOST),
        "numbers_missing": np.minimum(words.per_pair(~words.is_exact & number), _MOST),
    }


def _longest_run(flags: Bools, words: Sought) -> Floats:
    """The most flagged words in a row."""
    place = np.arange(len(flags))
    since = place - np.maximum.accumulate(np.where(flags, words.starts[words.pair] - 1, place))
    longest = np.zeros(len(words.starts) - 1)
    np.maximum.at(longest, words.pair, since)
    return longest


def _of_sentences(compared: ComparedClaims) -> dict[str, Floats]:
    words = compared.words
    first, second = compared.best_two(np.ones(len(words.item)))
    rare = sum(top.value for top in compared.best_two(compared.rarity))
    in_two = compared.within(first) | compared.within(second)
    name, number = compared.is_name, compared.is_number
    texts = compared.evidence.texts
    sentence_words = compared.of_sentence(first, ~texts.has(Mark.FUNCTION))
    claim_negates = (compared.claims.per_text(compared.claims.has(Mark.NEGATION)) > 0)[compared.pairs.claim]
    sentence_negates = compared.of_sentence(first, texts.has(Mark.NEGATION)) > 0
    return {
        "in_sentence": share(first.value, words.count),
        "in_two": share(first.value + second.value, words.count),
        "in_two_rare": share(np.asarray(rare), words.per_pair(compared.rarity)),
        "sentence_precision": share(np.minimum(first.value, sentence_words), sentence_words),
        "names_in_two": share(words.per_pair(in_two & name), words.per_pair(name), 1.0),
        "numbers_in_two": share(words.per_pair(in_two & number), words.per_pair(number), 1.0),
        "in_order": compared.in_order(first),
        "negated": (claim_negates & ~sentence_negates).astype(np.float64),
        "denied": (sentence_negates & ~claim_negates).astype(np.float64),
    }


def _of_order(compared: ComparedClaims) -> dict[str, Floats]:
    """The share of neighbouring words of the claim that are neighbours in the evidence, too."""
    words, n_pairs = compared.words, compared.pairs.count
    left = np.flatnonzero(words.pair[1:] == words.pair[:-1])
    pair = words.pair[left]
    hits = np.bincount(pair, _are_neighbours(compared, left), n_pairs)
    return {"neighbours": share(hits, np.bincount(pair, minlength=n_pairs), 1.0)}


def _are_neighbours(compared: ComparedClaims, left: Ids) -> Bools:
    """Whether these words of claims and the words after them are neighbours in the evidence, in either order."""
    evidence, roots, words = compared.evidence, compared.roots, compared.words
    is_wanted = np.zeros(roots.number, bool)
    is_wanted[roots.claims[words.item]] = True
    content = np.flatnonzero(~evidence.texts.has(Mark.FUNCTION))
    both = is_wanted[roots.passages[content]]
    both = both[1:] & both[:-1] & (evidence.texts.text[content[1:]] == evidence.texts.text[content[:-1]])
    first, second = content[:-1][both], content[1:][both]

    def keys(evidence_of: Ids, left: Ids, right: Ids) -> Ids:
        low, high = np.minimum(left, right), np.maximum(left, right)
        return np.asarray((evidence_of * roots.number + low) * roots.number + high)

    there = np.sort(keys(evidence.evidence[first], roots.passages[first], roots.passages[second]))
    own, following = roots.claims[words.item[left]], roots.claims[words.item[left + 1]]
    return look_up(there, keys(compared.pairs.evidence[words.pair[left]], own, following))[0]


def _of_lengths(compared: ComparedClaims) -> dict[str, Floats]:
    pairs = compared.pairs
    evidence = compared.evidence
    evidence_words = np.bincount(evidence.evidence, sizes(evidence.texts), pairs.n_evidence)[pairs.evidence]
    return {
        "claim_words": np.log1p(compared.words.per_pair(compared.size)),
        "evidence_words": np.log1p(evidence_words),
    }


@dataclass(frozen=True)
class Top:
    """The greatest value of each pair's slots, and its slot."""

    value: Floats
    slot: Ids


def _top(values: Floats, starts: Ids) -> Top:
    """The greatest value between each start and the next, and where it first stands; 0 where there is none."""
    counts = np.diff(starts)
    filled = np.flatnonzero(counts > 0)
    value, slot = np.zeros(len(counts)), starts[:-1].copy()
    if len(filled):
        value[filled] = np.maximum.reduceat(values, starts[filled])
        part = np.repeat(np.arange(len(counts)), counts)
        is_top = np.flatnonzero(values == value[part])[::-1]
        slot[part[is_top]] = is_top
    return Top(value, slot)
