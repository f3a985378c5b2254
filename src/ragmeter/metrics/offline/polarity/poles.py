"""The words of a language that turn a statement around, from `poles.toml`: negations, yes and no, and opposites."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import NamedTuple

import regex

from ragmeter.metrics.normalize import words_and_figures
from ragmeter.metrics.offline.reading.tables import Mark, Table, plain, table
from ragmeter.metrics.offline.reading.vocabulary import stemming

#: A prefix that turns a word around, and the rest of it; a very long one is no word, and may have hundreds of prefixes.
_PREFIXED = regex.compile(r"(?=.{1,40}$)(?:un|i[nmrl]|d[ie]s|non)(.{4,})")
_NOT_SCANNED = {
    "affirmed",
    "denied",
    "turns",
    "verdicts",
    "affirms",
    "opposites",
}  # no phrases are sought of these lists
MAY_SAY, DECIDES = 1, 2  # what a chunk says of yes and no
_FIRST = "en"  # the language whose lists every other one has, too
_MOST_KEPT = 200_000  # words or chunks of texts: hostile texts have ever more
_LONGEST_PHRASE = 4  # words
_SHORTEST_STEM = 3  # letters
_CONTRACTED = {"can't": ("can", "not"), "cannot": ("can", "not"), "won't": ("will", "not"), "shan't": ("shall", "not")}


class Word(NamedTuple):
    """What is known of a word: its stem, whether it says something of its own, and what it says of yes and no."""

    root: str
    is_content: bool
    ends: Mapping[int, int]  # its concepts, and at which end of each it is
    phrases: Mapping[str, set[int]]  # by the second word's stem: the concepts of phrases that begin so
    decides: bool  # a negation, a yes or a no


@dataclass(frozen=True, eq=False)
class Poles:
    """One language's words. Concepts have numbers, from 1."""

    table: Table
    words: Mapping[str, frozenset[str]]  # the lists of `poles.toml` that are not concepts
    ends: Mapping[str, Mapping[int, int]]  # by word or stem: its concepts, and at which end of each it is
    turns: range  # the first concepts: one end turns the rest of the clause around, as in "support was dropped"
    verdicts: range  # these and some more: one end says yes to most questions, the other no
    affirms: range  # these and some more: one end says yes to questions about it, the other no
    phrases: Mapping[tuple[str, ...], str]  # by the stems of their words
    leads: Mapping[str, int]  # what says yes or no at the beginning of an answer
    root: Callable[[str], str]  # the stem of a word

    def __post_init__(self) -> None:
        for method in (self.word, self.says):  # what is known of words and chunks is kept
            object.__setattr__(self, method.__name__, lru_cache(_MOST_KEPT)(method))

    def word(self, word: str) -> Word:
        """What a word says, by itself, by its stem, or by what follows a prefix such as "un-"."""
        root = self.root(word)
        ends = {**self.ends.get(root, {}), **self.ends.get(word, {})}
        if word in self.words["unrelated"]:
            ends = {}
        elif not ends and (prefixed := _PREFIXED.fullmatch(word)):
            ends = {concept: -end for concept, end in self.word(prefixed[1]).ends.items()}
        marks = self.table.marks.get(word, 0) & (Mark.FUNCTION | Mark.NEGATION | Mark.YES | Mark.NO)
        weak = self.table.numbers.get(word, (0, 0))[1] & Mark.WEAK  # "without one"
        is_content = not (marks or weak or word in self.words["saying nothing"])
        decides = word in self.words["deciding"] or word in self.leads or word.endswith("n't")
        return Word(root, is_content, ends, self._concepts_by_beginning.get(root, {}), decides)

    @cached_property
    def _concepts_by_beginning(self) -> Mapping[str, Mapping[str, set[int]]]:
        """The concepts of phrases, by the stems of their first two words."""
        by_stems: dict[str, dict[str, set[int]]] = {}
        for (first, second, *_), phrase in self.phrases.items():
            by_stems.setdefault(first, {}).setdefault(second, set()).update(self.ends.get(phrase, ()))
        return by_stems

    def says(self, chunk: str) -> int:
        """What a chunk of a text says of yes and no: `DECIDES`, `MAY_SAY` if it may have a concept, or 0."""
        known = [self.word(word) for word in words_and_figures(plain(chunk))]
        if any(word.decides for word in known):
            return DECIDES
        return MAY_SAY if any(word.ends or any(word.phrases.values()) for word in known) else 0

    def reach(self, order: Sequence[str]) -> Iterator[tuple[str, Collection[int]]]:
        """Words with the concepts that they may have; no word where these are of a phrase that begins so."""
        for word, following in pairwise([*order, ""]):
            known = self.word(word)
            if known.ends:
                yield word, known.ends.keys()
            if known.phrases and (concepts := known.phrases.get(self.root(following))):
                yield "", concepts

    @cached_property
    def aside(self) -> regex.Pattern[str]:
        """A "however" between commas."""
        return regex.compile(rf", (?:{'|'.join(self.words['aside']).replace('_', ' ')}),")

    def concepts(self, name: str) -> frozenset[int]:
        """The concepts of the words of a list, such as of what can be."""
        return frozenset(min(self.word(word).ends) for word in self.words[name])

    @cached_property
    def need(self) -> int:
        """The concept of what is needed."""
        return min(self.concepts("need"))

    def content(self, order: Iterable[str]) -> frozenset[str]:
        """The stems of the words that say something of their own."""
        return frozenset(word.root for word in map(self.word, order) if word.is_content)

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
        known = [self.word(word) for word in spread]
        stems = [*(word.root for word in known), ""]
        joined, place = [], 0
        while place < len(spread):
            length = _LONGEST_PHRASE if stems[place + 1] in known[place].phrases else 1
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


@cache
def _read() -> dict[str, dict[str, str]]:
    return tomllib.loads(plain(Path(__file__).with_name("poles.toml").read_text(encoding="utf-8")))


@cache
def poles_of(language: str) -> Poles | None:
    """The words of a language, if `poles.toml` has them."""
    lists = _read().get(language)
    if lists is None:
        return None
    if missing := _read()[_FIRST].keys() - lists.keys():
        raise ValueError(f"poles.toml, [{language}]: these lists are missing, and may be empty: {sorted(missing)}")
    stem = stemming(language)
    root = lru_cache(_MOST_KEPT)(lambda word: word if "_" in word else stem(word))
    kinds = [lists[name].strip().splitlines() for name in ("turns", "verdicts", "affirms", "opposites")]
    turns, verdicts, affirms, _ = (range(1, end + 1) for end in accumulate(map(len, kinds)))
    ends: dict[str, dict[int, int]] = {}
    verbs = tuple(lists["verbs"].split() or [""])
    first_ending, *endings = lists["endings"].split() or [""]
    for concept, line in enumerate(chain(*kinds), 1):
        for side, end in zip(line.split("/"), (1, -1), strict=True):
            for word in side.split():
                forms = {word.rstrip("!")}  # "cancelled!" is a state, and stands for itself: "cancel" is none
                if len(root(word)) >= _SHORTEST_STEM + (not word.endswith(verbs)) and not word.endswith("!"):
                    forms.add(root(word))
                if first_ending and word.endswith(first_ending):
                    forms.update(word.removesuffix(first_ending) + ending for ending in endings)
                for form in forms:
                    ends.setdefault(form, {}).setdefault(concept, end)
    own = {name: frozenset(text.split()) for name, text in lists.items()}
    listed = frozenset().union(*(own[name] for name in own.keys() - _NOT_SCANNED))
    phrases = sorted(word for word in ends.keys() | listed if "_" in word)
    return Poles(
        table=table(language),
        words=own
        | {"deciding": own["negators"] | own["only"] | own["exceptions"]}  # they make a text worth reading
        | {"saying nothing": own["negators"] | own["likewise"] | own["openers"]}
        | {"beginning": own["joins"] | own["sides"] | own["ahead"] | own["exceptions"]},  # a clause of their own
        ends=ends,
        turns=turns,
        verdicts=verdicts,
        affirms=affirms,
        phrases={tuple(map(root, phrase.split("_"))): phrase for phrase in phrases},
        leads={word.replace("_", " "): -1 if word in own["denied"] else 1 for word in own["affirmed"] | own["denied"]},
        root=root,
    )
