"""A text as clauses: which are negated, which concepts of `poles.toml` they have, and what is said in passing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise, zip_longest

import regex

from ragmeter.metrics.normalize import words_and_figures
from ragmeter.metrics.offline import thresholds as threshold
from ragmeter.metrics.offline.polarity.poles import Poles
from ragmeter.metrics.offline.reading.tables import plain

_STOP = regex.compile(r"\.(?!\d)|[;:!?\n()—–…]|,(?!\d)|\s-\s")
_LEAD_ENDS = regex.compile(r"\s*(?:[.,;:!?—–-]|$)")
_FREE = regex.compile(r"(\w+)-free\b")
#: Words with a capital within a sentence: "Dr. No", "Can't Buy Me Love".
NAME = regex.compile(r"(?<=[\p{L}\p{N},;] |\b(?:Dr|Mrs?|Ms|St|Sra?)\. )(?:\p{Lu}\p{L}*n['’]t\b|\p{Lu}\p{L}+)")
Roots = frozenset[str]
Concepts = frozenset[int]


@dataclass(frozen=True)
class Clause:
    """The words of a clause, its content words, its sign by negations, and the sign of each concept in it."""

    poles: Poles
    order: tuple[str, ...]
    content: Roots
    sign: int
    concepts: Mapping[int, int]
    is_side: bool = False  # "although ...", "which ...", "if ..."

    def has(self, name: str) -> bool:
        """Whether it has a word of this list of `poles.toml`."""
        return not self.poles.words[name].isdisjoint(self.order)

    def begins(self, name: str) -> bool:
        """Whether it begins with a word of this list."""
        return self.order[0] in self.poles.words[name]

    def place(self, name: str) -> int:
        """The place after the first word of this list, or 0."""
        return next((place for place, word in enumerate(self.order, 1) if word in self.poles.words[name]), 0)

    def overall(self, *, is_gold: bool = False) -> int:
        """The sign, with concepts of which one end says yes and the other no; a gold answer is to the point."""
        saying = self.poles.affirms if is_gold else self.poles.verdicts
        ends = [end * self.sign for concept, end in self.concepts.items() if concept in saying]
        return self.sign * min(ends, default=1)


@dataclass(frozen=True)
class Statement:
    """A text as clauses, and whether it begins with a yes (1) or a no (-1)."""

    poles: Poles
    lead: int
    clauses: tuple[Clause, ...]

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of all clauses."""
        return frozenset(word for clause in self.clauses for word in clause.order)

    @cached_property
    def content(self) -> Roots:
        """The content words of all clauses."""
        return frozenset().union(*(clause.content for clause in self.clauses))

    @cached_property
    def concepts(self) -> Concepts:
        """The concepts of all clauses."""
        return frozenset().union(*(clause.concepts for clause in self.clauses))

    @cached_property
    def main(self) -> tuple[Clause, ...]:
        """The clauses that are not said in passing, or all."""
        return tuple(clause for clause in self.clauses if not clause.is_side) or self.clauses

    @cached_property
    def negates(self) -> bool:
        """Whether a clause is negated."""
        return any(clause.sign < 0 for clause in self.main)

    @cached_property
    def both_ends(self) -> Concepts:
        """The concepts of which the text has both ends: "before or after"."""
        ends = {end for word in self.words for end in self.poles.word(word).ends.items()}
        return frozenset(concept for concept, end in ends if (concept, -end) in ends)

    @cached_property
    def bias(self) -> int:
        """-1 for a question whose first concept is a no: to "Is it impossible?", what is possible is a no."""
        concepts = self.clauses[0].concepts.items() if self.clauses else ()
        return next((end for concept, end in concepts if concept in self.poles.verdicts), 1)

    def has(self, name: str) -> bool:
        """Whether it has a word of this list of `poles.toml`."""
        return not self.poles.words[name].isdisjoint(self.words)

    def without(self, concepts: Concepts) -> Statement:
        """The statement without these concepts."""
        others = ({c: end for c, end in clause.concepts.items() if c not in concepts} for clause in self.clauses)
        return replace(self, clauses=tuple(map(lambda c, own: replace(c, concepts=own), self.clauses, others)))

    def restriction(self, asked: Statement) -> tuple[int, Roots]:
        """What the text is restricted to (1) or excepts (-1): "not without a permit", "all but Ann"."""
        asked_ends = {concept: end for clause in asked.clauses for concept, end in clause.concepts.items()}
        before = self.lead or 1  # whether what comes before an exception says yes to the question
        for clause, following in zip_longest(self.clauses, self.clauses[1:]):
            content, sign = clause.content, 0
            if clause.begins("exceptions") or clause.begins("unless"):
                sign = clause.concepts.get(self.poles.need, -before)
            elif clause.begins("conditions"):
                sign = clause.sign
            elif clause.begins("joins") and not self.poles.words["negators"].isdisjoint(clause.order[1:2]):
                sign = -before  # "daily, but not on Mondays"
            elif at := clause.place("only" if clause.sign > 0 else "limits"):
                after = self.poles.content(clause.order[at:])
                content = after or (following.content if following and following.is_side else content)
                sign = 1
            if sign and content - asked.content:
                return sign, content - asked.content
            ends = [end * asked_ends[concept] for concept, end in clause.concepts.items() if concept in asked_ends]
            before = min(ends, default=clause.sign)
        return 0, frozenset()


def common(first: Iterable[str], second: Roots) -> list[str]:
    """The words of `first` that `second` has, in any form."""
    beginnings = {word[: threshold.SAME_BEGINNING] for word in second}
    return [word for word in first if word in second or word[: threshold.SAME_BEGINNING] in beginnings]


@lru_cache(maxsize=4_096)
def named(text: str, poles: Poles) -> frozenset[str]:
    """The words of a text that are names, as they stand in clauses."""
    words = words_and_figures(plain(" ".join(NAME.findall(text))))
    return frozenset(words).union(poles.joined(words))


@lru_cache(maxsize=4_096)
def read(text: str, poles: Poles, names: frozenset[str] = frozenset()) -> Statement:
    """A text as a statement. `names` are those of another text: they are names here, too, where a sentence begins."""
    names |= named(text, poles)
    folded = _FREE.sub(r"without \1", plain(text)).strip(" \"'¿¡*")
    lead, rest = _lead(folded, poles)
    clauses: list[Clause] = []
    for part in filter(None, map(words_and_figures, _STOP.split(poles.aside.sub(" ", rest)))):
        for order in _split(poles.joined(part), poles):
            clauses.append(_clause(order, names, clauses, poles))
    return Statement(poles, lead, tuple(clauses))


def _split(order: Sequence[str], poles: Poles) -> Iterator[list[str]]:
    """A part as clauses: at "but", "although", "except", and at an "and" between two that say yes or no."""
    clause: list[str] = []
    for place, word in enumerate(order):
        is_between = word in poles.words["and"] and _decides(order[place:], poles) and _decides(clause, poles)
        if clause and (word in poles.words["beginning"] or is_between):
            yield clause
            clause = []
        clause.append(word)
    yield clause


def _decides(order: Iterable[str], poles: Poles) -> bool:
    return any(poles.word(word).ends or word in poles.words["negators"] for word in order)


def _lead(folded: str, poles: Poles) -> tuple[int, str]:
    """The yes or no at the beginning, or after an opener and a comma ("Typically, no"); and what follows it."""
    hedge, comma, after = folded.partition(", ")
    is_word = " " not in hedge and hedge not in poles.leads and hedge not in poles.words["negators"]
    if comma and (is_word or hedge.replace(" ", "_") in poles.words["openers"]):
        folded = after
    begin = words_and_figures(folded[:40])
    for length in range(min(4, len(begin)), 0, -1):
        phrase = " ".join(begin[:length])
        sign = poles.leads.get(phrase, 0)
        rest = folded[len(phrase) :]
        is_followed = sign < 0 and not poles.words["subjects"].isdisjoint(begin[length : length + 1])  # "No it isn't."
        if sign and (is_followed or _LEAD_ENDS.match(rest)):
            return sign, folded if poles.word(phrase).ends else rest  # "False."
    return 0, folded


def _clause(order: list[str], names: frozenset[str], clauses: Sequence[Clause], poles: Poles) -> Clause:
    """A clause of these words, after others. Names are neither concepts nor negations: New York, No Country ..."""
    first = order[0]
    own = [word for word in order if word not in names]
    is_without = first in poles.words["without"]
    is_needed = is_without and poles.sign(own[1:]) < 0  # "without a ticket nobody enters"
    sign = -1 if is_needed else poles.sign(own)
    concepts: dict[int, int] = {}
    for word, following in pairwise([*own, ""]):
        if word in poles.words["than"]:
            break  # the other thing
        if word in poles.table.months and following.isdecimal():
            continue  # May 2017
        for concept, end in poles.word(word).ends.items():
            concepts[concept] = sign * min(end, concepts.get(concept, sign) * sign)
    before = clauses[-1] if clauses else None
    if first in poles.words["exceptions"]:  # "everybody must except ...", "nobody may except ..."
        sign = -before.sign if before else -1
        concepts = {concept: -end for concept, end in before.concepts.items()} if before else {}
    elif is_needed:
        concepts.setdefault(poles.need, 1)
    elif is_without and before and (before.sign < 0 or before.concepts.keys() & poles.concepts("can")):
        concepts.setdefault(poles.need, -before.sign)  # "nobody enters without a ticket": a ticket is needed
    is_side = first in poles.words["sides"] or (bool(clauses) and first in poles.words["relatives"])
    return Clause(poles, tuple(order), poles.content(order), sign, concepts, is_side)
