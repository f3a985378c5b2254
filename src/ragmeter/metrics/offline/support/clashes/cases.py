"""A claim beside a passage, of which the rules ask what clashes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ragmeter.metrics.offline.polarity.poles import Poles, poles_of
from ragmeter.metrics.offline.reading.tables import Table
from ragmeter.metrics.offline.support.clashes.tokens import Token, TokenList

_HALF = 2


class Clash(NamedTuple):
    """The rule that says so, by its name, and the words of the claim and of the passage.

    Where the passage says the opposite of the claim as a whole, the words of the claim are empty.
    """

    rule: str
    claim: str
    passage: str


@dataclass(frozen=True)
class Case:
    """A claim and a passage. `best` is the number of the sentence that has most of the claim."""

    claim: TokenList
    passage: TokenList
    best: int
    table: Table
    language: str

    @cached_property
    def matches(self) -> dict[int, tuple[Token, ...]]:
        """The passage's words that are forms of each content word of the claim, by its place."""
        return self.passage.like(self.claim.content)

    def like(self, token: Token) -> tuple[Token, ...]:
        """The passage's words that are forms of this content word of the claim."""
        return self.matches[token.place]

    @cached_property
    def _shared(self) -> frozenset[int]:
        return frozenset(token.place for tokens in self.matches.values() for token in tokens)

    def has(self, token: Token) -> bool:
        """Whether the claim has a form of this word of the passage."""
        return token.place in self._shared

    @cached_property
    def n_in(self) -> Counter[int]:
        """How many content words of the claim each sentence has."""
        return Counter(number for tokens in self.matches.values() for number in {token.sentence for token in tokens})

    @cached_property
    def n_in_segment(self) -> Counter[int]:
        """How many each part of a sentence has."""
        return Counter(number for tokens in self.matches.values() for number in {token.segment for token in tokens})

    @cached_property
    def n_around(self) -> int:
        """How many the best sentence and those beside it have."""
        return sum(any(abs(token.sentence - self.best) <= 1 for token in tokens) for tokens in self.matches.values())

    @cached_property
    def sentence(self) -> TokenList:
        """The best sentence."""
        return self.passage.sentences[self.best]

    @cached_property
    def n_told(self) -> int:
        """How many content words the parts of the best sentence have that have a word of the claim."""
        return sum(token.segment in self.n_in_segment for token in self.passage.content if token.sentence == self.best)

    @cached_property
    def close(self) -> list[TokenList]:
        """The sentences that have more than half of the claim, the best one first."""
        others = (number for number, count in self.n_in.items() if count * _HALF > len(self.claim.content))
        return [self.passage.sentences[number] for number in dict.fromkeys([self.best, *others])]

    @cached_property
    def poles(self) -> Poles | None:
        """The words of the language that turn a statement around."""
        return poles_of(self.language)


def in_a_row(tokens: Sequence[Token]) -> str:
    """Words as a text."""
    return " ".join(token.word for token in tokens)
