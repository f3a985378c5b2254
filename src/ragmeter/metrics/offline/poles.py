"""The words of a language that turn a statement around: negations, yes and no, and words with an opposite."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import regex

from ragmeter.metrics.normalize import known_languages, stemmer
from ragmeter.metrics.offline.tables import Mark, Table, polarity_words, table

_ASKS_MORE = regex.compile(
    r"\b(?:qué|quién|quiénes|cuándo|dónde|cuánt[oa]s?|cómo|cuál|cuáles)\b"
    r"|^\W*(?:(?:a|de|en|por|con|para|desde|hasta)\s+)?"
    r"(?:que|quien|quienes|cuando|donde|cuant[oa]s?|como|cual|cuales|adonde)\b",
    regex.IGNORECASE,
)
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "des")
_LONGEST_PHRASE = 4  # words
_SHORTEST_STEM = 3  # letters
_SHORTEST_BASE = 4  # letters after a prefix


@dataclass(frozen=True, eq=False)
class Poles:
    """One language's words. Concepts have numbers: above 0, or below 0 if they are quantities ("nobody")."""

    language: str
    table: Table
    ends: Mapping[str, Mapping[int, int]]  # by word or stem: its concepts, and at which end of each it is
    n_turning: int  # the first concepts: one end turns the rest of the clause around, as in "support was dropped"
    n_affirming: int  # these and some more: one end says yes, the other no
    phrases: frozenset[str]
    negators: frozenset[str]
    concord: frozenset[str]
    innocuous: frozenset[str]
    leads: Mapping[str, tuple[tuple[str, int], ...]]  # by the first word, longer phrases first
    auxiliaries: frozenset[str]
    subjects: frozenset[str]
    joins: frozenset[str]
    comparisons: frozenset[str]
    only: frozenset[str]

    @cached_property
    def begin_phrases(self) -> frozenset[str]:
        """The first words of phrases."""
        return frozenset(phrase.split("_")[0] for phrase in self.phrases)

    @cached_property
    def phrase_words(self) -> frozenset[str]:
        """All words of phrases."""
        return frozenset(word for phrase in self.phrases for word in phrase.split("_"))

    @cached_property
    def concepts_of_phrases(self) -> dict[str, frozenset[int]]:
        """For the first word of phrases, the concepts of all of them."""
        concepts: dict[str, set[int]] = {}
        for phrase in self.phrases:
            concepts.setdefault(phrase.split("_")[0], set()).update(self.concepts_of(phrase))
        return {word: frozenset(numbers) for word, numbers in concepts.items()}

    @property
    def prefix_means(self) -> str:
        """The negation that a prefix stands for."""
        return "no" if self.language == "es" else "not"

    def may_have_polarity(self, order: Iterable[str]) -> bool:
        """Whether one of these words can say anything of yes and no: a quick look, before a text is read."""
        return any(_is_pole(self, word) for word in order)

    def may_share(self, order: Iterable[str], concepts: Collection[int]) -> bool:
        """Whether one of these words can belong to one of the concepts: a quick look, before a text is read."""
        return bool(concepts) and any(
            not self.concepts_of(word).keys().isdisjoint(concepts)
            or not self.concepts_of_phrases.get(word, frozenset()).isdisjoint(concepts)
            for word in order
        )

    def affirms(self, concept: int) -> bool:
        """Whether one end of the concept says yes, and the other no."""
        return 0 < concept <= self.n_affirming

    def turns(self, concept: int) -> bool:
        """Whether one end of the concept turns what it is said of around."""
        return 0 < concept <= self.n_turning

    def root(self, word: str) -> str:
        """The word's stem."""
        return _stem(self.language, word)

    def concepts_of(self, word: str) -> Mapping[int, int]:
        """The concepts of a word, by itself or by its stem, and its end of each."""
        return _concepts(self, word)

    def negated_forms(self, order: Sequence[str], others: Sequence[str]) -> frozenset[str]:
        """The words with a prefix such as "un-" whose other part is a word here or in the other texts."""
        prefixed = [word for word in order if _base(word)]
        known = {self.root(word) for word in (*order, *others)} if prefixed else set()
        return frozenset(word for word in prefixed if self.root(_base(word)) in known)

    def is_content(self, word: str) -> bool:
        """Whether the word says something of its own."""
        marks = self.table.marks.get(word, 0)
        if self.table.numbers.get(word, (0, 0))[1] & Mark.WEAK:  # "without one"
            return False
        return not marks & (Mark.FUNCTION | Mark.NEGATION | Mark.YES | Mark.NO) and word not in self.negators

    def joined(self, order: Sequence[str], negated: frozenset[str]) -> list[str]:
        """The words, with phrases such as "no longer" as one word, "don't" as "do not", and negated forms apart."""
        spread: list[str] = []
        for word in order:
            if word in negated:
                spread.append(self.prefix_means)
                word = _base(word)
            if word.endswith("n't"):
                spread += ["can" if word == "can't" else "will" if word == "won't" else word[:-3], "not"]
            elif word == "cannot":
                spread += ["can", "not"]
            else:
                spread.append(word)
        joined, place = [], 0
        while place < len(spread):
            for length in range(min(_LONGEST_PHRASE, len(spread) - place), 0, -1):
                phrase = "_".join(spread[place : place + length])
                if length == 1 or phrase in self.phrases:
                    joined.append(phrase)
                    place += length
                    break
        return joined

    def restricts(self, order: Iterable[str]) -> bool:
        """Whether a clause is about a part only: "only guide dogs"."""
        return not self.only.isdisjoint(order)

    def compares(self, order: Iterable[str]) -> bool:
        """Whether a clause compares two things, whose order matters."""
        return not self.comparisons.isdisjoint(order)

    def split(self, order: Sequence[str]) -> list[list[str]]:
        """The words between those that join clauses, where what follows is a clause of its own."""
        clauses: list[list[str]] = [[]]
        for word in order:
            if word in self.joins:
                clauses.append([])
            else:
                clauses[-1].append(word)
        return [clause for clause in clauses if clause]

    def negations(self, order: Iterable[str]) -> int:
        """How many times a clause is negated. In Spanish, "no vino nadie" is negated once."""
        negators = [word for word in order if word in self.negators]
        if "neither" in negators or len(negators) > 1:
            negators = [word for word in negators if word != "nor"]
        agreeing = [word for word in negators if word in self.concord]
        others = [word for word in negators if word not in self.concord]
        return len(others) + (1 if agreeing and not others else 0)

    def is_polar(self, question: str) -> bool:
        """Whether a question asks for a yes or a no."""
        if not self.auxiliaries:
            return _ASKS_MORE.search(question) is None
        beginnings = [part.split()[:1] for part in question.casefold().replace("’", "'").split(",")]
        return any(begin and begin[0].strip("\"'¿") in self.auxiliaries for begin in beginnings)


@lru_cache(maxsize=200_000)
def _base(word: str) -> str:
    """The word without a prefix such as "un-"; nothing if it has none."""
    prefix = next((prefix for prefix in _PREFIXES if word.startswith(prefix)), "")
    return word[len(prefix) :] if prefix and len(word) - len(prefix) >= _SHORTEST_BASE else ""


@lru_cache(maxsize=200_000)
def _concepts(poles: Poles, word: str) -> Mapping[int, int]:
    ends = poles.ends.get(word) or poles.ends.get(poles.root(word))
    if ends is None and (base := _base(word)):
        ends = {concept: -end for concept, end in _concepts(poles, base).items() if concept > 0}
    return ends or {}


@lru_cache(maxsize=200_000)
def _is_pole(poles: Poles, word: str) -> bool:
    begins = word in poles.negators or word in poles.leads or word in poles.begin_phrases or word.endswith("n't")
    return begins or bool(poles.concepts_of(word))


@cache
def _stemming(language: str) -> Callable[[str], str]:
    stem = stemmer(language) if language in known_languages() else None
    return str if stem is None else lambda word: str(stem.stemWord(word))


@lru_cache(maxsize=200_000)
def _stem(language: str, word: str) -> str:
    return word if "_" in word else _stemming(language)(word)


def _forms(language: str, word: str, with_stem: bool) -> set[str]:
    """The word and its stem. A word that ends in "!" stands for itself alone: "cancelled" is a state, "cancel" not."""
    stem = _stem(language, word)
    return {word.rstrip("!")} | ({stem} if with_stem and len(stem) >= _SHORTEST_STEM and "!" not in word else set())


@cache
def poles(language: str) -> Poles | None:
    """The words of a language, if `words.toml` has them."""
    read = polarity_words(language)
    if "affirms" not in read:
        return None
    turns, affirms, opposites = (read[key].split() for key in ("turns", "affirms", "opposites"))
    ends: dict[str, dict[int, int]] = {}
    entries = [*enumerate([*turns, *affirms, *opposites], 1), (-1, read["quantity"])]
    for concept, entry in entries:
        for side, end in zip(entry.split("/"), (1, -1), strict=True):
            for word in side.split("|"):
                for form in _forms(language, word, concept > 0):
                    ends.setdefault(form, {}).setdefault(concept, end)
    negators, innocuous = read["negators"].split(), read["innocuous"].split()
    leads = [
        (word.replace("_", " "), sign) for key, sign in (("affirmed", 1), ("denied", -1)) for word in read[key].split()
    ]
    return Poles(
        language=language,
        table=table(language),
        ends=ends,
        n_turning=len(turns),
        n_affirming=len(turns) + len(affirms),
        phrases=frozenset(word for word in (*ends, *negators, *innocuous, *read["joins"].split()) if "_" in word),
        negators=frozenset(negators),
        concord=frozenset(read.get("concord", "").split()),
        innocuous=frozenset(innocuous),
        leads={
            first: tuple(lead for lead in sorted(leads, key=lambda lead: -len(lead[0])) if lead[0].split()[0] == first)
            for first in {phrase.split()[0] for phrase, _ in leads}
        },
        auxiliaries=frozenset(read["polar"].split()),
        subjects=frozenset(read["subjects"].split()),
        joins=frozenset(read["joins"].split()),
        comparisons=frozenset(read["comparisons"].split()),
        only=frozenset(read["only"].split()),
    )
