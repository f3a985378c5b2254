"""The words of a language that turn a statement around, from `poles.toml`: negations, yes and no, and opposites."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from itertools import accumulate, chain, pairwise
from typing import Any, TypeVar

import regex

from ragmeter.metrics.normalize import words
from ragmeter.metrics.offline.tables import Mark, Table, plain, table
from ragmeter.metrics.offline.vocabulary import stemming

_T = TypeVar("_T")
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "des")
_NO_PHRASES = {"affirmed", "denied", "turns", "verdicts", "affirms", "opposites"}  # lists of other things
DECIDES = 1  # the bit of a chunk that says so
_MOST_KEPT = 200_000  # words or chunks of texts: hostile texts have ever more
_LONGEST_PHRASE = 4  # words
_SHORTEST_STEM = 3  # letters
_SHORTEST_BASE = 4  # letters after a prefix
_CONTRACTED = {"can't": ("can", "not"), "cannot": ("can", "not"), "won't": ("will", "not"), "shan't": ("shall", "not")}


@dataclass(frozen=True, eq=False)
class Poles:
    """One language's words. Concepts have numbers, from 1."""

    table: Table
    words: Mapping[str, frozenset[str]]  # the lists of `poles.toml` that are not concepts
    ends: Mapping[str, Mapping[int, int]]  # by word or stem: its concepts, and at which end of each it is
    n_turning: int  # the first concepts: one end turns the rest of the clause around, as in "support was dropped"
    n_verdicts: int  # these and some more: one end says yes to most questions, the other no
    n_affirming: int  # these and some more: one end says yes to questions about it, the other no
    phrases: Mapping[tuple[str, ...], str]  # by the stems of their words
    leads: Mapping[str, int]  # what says yes or no at the beginning of an answer
    roots: _Roots
    concepts: _Concepts = field(init=False)
    chunks: _Chunks = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "concepts", _Concepts(self))
        object.__setattr__(self, "chunks", _Chunks(self.concepts, max(map(max, self.ends.values()))))

    def reach(self, order: Sequence[str], without: frozenset[str] = frozenset()) -> set[int]:
        """The concepts that these words may have, alone or in a phrase; some words count in a phrase only."""
        concepts: set[int] = set()
        for word, following in pairwise([*order, ""]):
            entry = self.concepts[word]
            if entry.ends and word not in without:
                concepts.update(entry.ends)
            if entry.phrases:
                concepts.update(entry.phrases.get(self.roots[following], ()))
        return concepts

    @cached_property
    def deciding(self) -> frozenset[str]:
        """Words that make a text worth reading: negations, "only", "except"."""
        return self.words["negators"] | self.words["only"] | self.words["exceptions"]

    @cached_property
    def aside(self) -> regex.Pattern[str]:
        """A "however" between commas."""
        return regex.compile(rf", (?:{'|'.join(self.words['aside']).replace('_', ' ')}),")

    @cached_property
    def saying_nothing(self) -> frozenset[str]:
        """Words that are no content."""
        return self.words["negators"] | self.words["likewise"] | self.words["openers"]

    @cached_property
    def named(self) -> Mapping[str, frozenset[int]]:
        """The concepts of what is needed and of what can be, for "without", and of what says no to the present only."""
        names = ("need", "can", "present")
        return {name: frozenset(min(self.concepts[word].ends) for word in self.words[name]) for name in names}

    @cached_property
    def need(self) -> int:
        """The concept of what is needed."""
        return min(self.named["need"])

    def affirms(self, concept: int) -> bool:
        """Whether one end of the concept says yes to questions about it, and the other no."""
        return concept <= self.n_affirming

    def says(self, concept: int) -> bool:
        """Whether one end of the concept says yes to most questions, and the other no."""
        return concept <= self.n_verdicts

    def turns(self, concept: int) -> bool:
        """Whether one end of the concept turns what it is said of around."""
        return concept <= self.n_turning

    def is_content(self, word: str) -> bool:
        """Whether the word says something of its own."""
        marks = self.table.marks.get(word, 0) & (Mark.FUNCTION | Mark.NEGATION | Mark.YES | Mark.NO)
        weak = self.table.numbers.get(word, (0, 0))[1] & Mark.WEAK  # "without one"
        return not (marks or weak or word in self.saying_nothing)

    def joined(self, order: Sequence[str]) -> list[str]:
        """The words, with phrases as one word, and "don't" as "do not"."""
        spread: list[str] = []
        for word in order:
            if word.endswith("n't") or word in _CONTRACTED:
                spread += _CONTRACTED.get(word, (word[:-3], "not"))
            elif word in self.words["particles"] and len(spread) > 1 and spread[-1] in self.words["subjects"]:
                spread.insert(-1, word)  # "turned it down"
            else:
                spread.append(word)
        stems = [self.roots[word] for word in spread]
        joined, place = [], 0
        while place < len(spread):
            length = _LONGEST_PHRASE if self.concepts[spread[place]].phrases else 1
            while length > 1 and tuple(stems[place : place + length]) not in self.phrases:
                length -= 1
            joined.append(self.phrases[tuple(stems[place : place + length])] if length > 1 else spread[place])
            place += length
        return joined

    def sign(self, order: Sequence[str]) -> int:
        """-1 if the words are negated, else 1. In Spanish, "no vino nadie" is negated once."""
        negators = [word for word in order if word in self.words["negators"]]
        agreeing = [word for word in negators if word in self.words["concord"]]
        n_others = len(negators) - len(agreeing)
        is_agreed = n_others or any(word.startswith("no_") for word in order)  # "no cuesta nada"
        return -1 if (n_others + bool(agreeing and not is_agreed)) % 2 else 1


@dataclass(frozen=True)
class Word:
    """What a word says of yes and no."""

    ends: Mapping[int, int]
    phrases: Mapping[str, set[int]]  # by the second word's stem: the concepts of phrases that begin so
    decides: bool  # a negation, a yes or a no


class _Known(dict[str, _T]):
    """What is known of the words or chunks that were asked for; of a limited number of them."""

    def keep(self, key: str, value: _T) -> _T:
        """The value, from now on known."""
        if len(self) >= _MOST_KEPT:
            self.clear()
        return self.setdefault(key, value)


class _Roots(_Known[str]):
    """The stem of each word that was asked for."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._stem = stemming(language)

    def __missing__(self, word: str) -> str:
        return self.keep(word, word if "_" in word else self._stem(word))


class _Concepts(_Known[Word]):
    """What each word says that was asked for, by itself, by its stem, or by what follows a prefix such as "un-"."""

    def __init__(self, poles: Poles) -> None:
        super().__init__()
        self._poles = poles
        self._phrases: dict[str, dict[str, set[int]]] = {}
        for (first, second, *_), phrase in poles.phrases.items():
            self._phrases.setdefault(first, {}).setdefault(second, set()).update(poles.ends.get(phrase, ()))

    def __missing__(self, word: str) -> Word:
        poles = self._poles
        ends = {**poles.ends.get(poles.roots[word], {}), **poles.ends.get(word, {})}
        if word in poles.words["unrelated"]:
            ends = {}
        elif not ends and (base := _base(word)):
            ends = {concept: -end for concept, end in self[base].ends.items()}
        decides = word in poles.deciding or word in poles.leads or word.endswith("n't")
        return self.keep(word, Word(ends, self._phrases.get(poles.roots[word], {}), decides))


class _Chunks(_Known[bytes]):
    """For each chunk of a text that was asked for, as bits: whether it decides, and the concepts that it may have."""

    def __init__(self, concepts: _Concepts, n_concepts: int) -> None:
        super().__init__()
        self._concepts = concepts
        self.width = 8 * (n_concepts // 64 + 1)  # bytes

    def __missing__(self, chunk: str) -> bytes:
        if chunk.isdecimal():  # many, and each is rare
            return bytes(self.width)
        bits = 0
        for entry in map(self._concepts.__getitem__, words(plain(chunk))):
            bits |= DECIDES * entry.decides
            for concept in chain(entry.ends, *entry.phrases.values()):
                bits |= DECIDES << concept
        return self.keep(chunk, bits.to_bytes(self.width, "little"))


def _base(word: str) -> str:
    """The word without a prefix such as "un-"; nothing if it has none."""
    prefix = next(filter(word.startswith, _PREFIXES), "") if word.startswith(_PREFIXES) else ""
    return word[len(prefix) :] if prefix and len(word) - len(prefix) >= _SHORTEST_BASE else ""


@cache
def _read() -> dict[str, Any]:
    text = files("ragmeter.metrics.offline").joinpath("poles.toml").read_text(encoding="utf-8")
    return tomllib.loads(plain(text))


@cache
def poles(language: str) -> Poles | None:
    """The words of a language, if `poles.toml` has them."""
    lists = _read().get(language)
    if lists is None:
        return None
    roots = _Roots(language)
    kinds = [lists[name].strip().splitlines() for name in ("turns", "verdicts", "affirms", "opposites")]
    n_turning, n_verdicts, n_affirming, _ = accumulate(map(len, kinds))
    ends: dict[str, dict[int, int]] = {}
    verbs = tuple(lists.get("verbs", "").split() or [""])
    first_ending, *endings = lists.get("endings", "").split() or [""]
    for concept, line in enumerate(chain(*kinds), 1):
        for side, end in zip(line.split("/"), (1, -1), strict=True):
            for word in side.split():
                # "cancelled!" is a state, and stands for itself: "cancel" is none
                stem = "" if word.endswith("!") else roots[word]
                is_long = len(stem) > _SHORTEST_STEM or (len(stem) == _SHORTEST_STEM and word.endswith(verbs))
                forms = {word.rstrip("!"), stem if is_long else word.rstrip("!")}
                if first_ending and word.endswith(first_ending):
                    forms.update(word.removesuffix(first_ending) + ending for ending in endings)
                for form in forms:
                    ends.setdefault(form, {}).setdefault(concept, end)
    named_words = {name: frozenset(lists.get(name, "").split()) for name in lists.keys() | {"concord"}}
    named = {word for name in named_words.keys() - _NO_PHRASES for word in named_words[name]}
    phrases = {word for word in ends.keys() | named if "_" in word}
    return Poles(
        table=table(language),
        words=named_words,
        ends=ends,
        n_turning=n_turning,
        n_verdicts=n_verdicts,
        n_affirming=n_affirming,
        phrases={tuple(roots[part] for part in phrase.split("_")): phrase for phrase in sorted(phrases)},
        leads={word.replace("_", " "): 1 for word in named_words["affirmed"]}
        | {word.replace("_", " "): -1 for word in named_words["denied"]},
        roots=roots,
    )
