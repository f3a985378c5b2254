"""What to ask: kinds by their shares, a passage or two for each question, and who asks in which manner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.hints import option
from ragmeter.testsets.categories import Categories
from ragmeter.testsets.questions import (
    COMPARISON,
    FACT,
    FALSE_PREMISE,
    HOW_WHY,
    KEYWORDS,
    UNANSWERABLE,
    Category,
    Passage,
    PlannedQuestion,
)
from ragmeter.testsets.sampling import Sample, lot
from ragmeter.testsets.words import content_words

KINDS = (KEYWORDS, FACT, HOW_WHY, COMPARISON, FALSE_PREMISE, UNANSWERABLE)
#: What is asked where nobody says otherwise.
SHARES: Mapping[str, float] = {
    KEYWORDS: 0.2, FACT: 0.35, HOW_WHY: 0.2, COMPARISON: 0.1, FALSE_PREMISE: 0.05, UNANSWERABLE: 0.1,
}  # fmt: skip
#: Without a model nobody writes a sentence that can be read.
OFFLINE_SHARES: Mapping[str, float] = {KEYWORDS: 1.0}
#: A conversation begins with a question that has an answer.
TURN_SHARES: Mapping[str, float] = {FACT: 0.6, HOW_WHY: 0.4}
#: So many times the questions that are wanted are planned at most: the rest takes the place of those that fail.
_SPARE = 5


@dataclass(frozen=True)
class Wish:
    """The test set that is wanted: how many questions, of which kinds, in which categories, with how many turns."""

    n: int
    shares: Mapping[str, float]
    categories: Categories = field(default_factory=Categories)
    turns: int = 1
    seed: int = 0

    @property
    def drafts(self) -> int:
        """How many questions, or conversations, are to be written."""
        return -(-self.n // self.turns)

    @property
    def spare(self) -> int:
        """How many may be planned, so that there is one in the place of each that fails."""
        return _SPARE * self.drafts + 20

    def counts(self, possible: Sequence[str]) -> dict[str, int]:
        """How many of each kind that is possible: by the shares, and all together what is wanted."""
        shares = {kind: share for kind, share in self.shares.items() if kind in possible and share > 0}
        total = sum(shares.values())
        exact = {kind: self.drafts * share / total for kind, share in shares.items()}
        counts = {kind: int(value) for kind, value in exact.items()}
        by_rest = sorted(exact, key=lambda kind: counts[kind] - exact[kind])
        for kind in by_rest[: self.drafts - sum(counts.values())]:
            counts[kind] += 1
        return counts


def read_shares(text: str) -> dict[str, float]:
    """`fact=0.5,how_why=0.5` as shares of kinds."""
    shares = {}
    for part in text.split(","):
        kind, _, share = part.strip().partition("=")
        if kind not in KINDS:
            raise UnknownNameError("kind of question", kind, KINDS)
        try:
            shares[kind] = float(share or 1)
        except ValueError:
            raise UsageError(f"{part.strip()}: a share is a number", hint="for example fact=0.5,how_why=0.5") from None
        if not 0 <= shares[kind] < float("inf"):
            raise UsageError(f"the share of {kind} must be at least 0, got {share}")
    if not sum(shares.values()):
        raise UsageError(f"{option('kinds', text)} asks for nothing", hint="for example fact=0.5,how_why=0.5")
    return shares


def planned_questions(wish: Wish, sample: Sample) -> dict[str, list[PlannedQuestion]]:
    """For each kind what is to be written, in order: more than is wanted, for those that fail.

    A passage is asked about once in each kind, and in another kind first where there are enough passages.
    """
    possible = [
        kind
        for kind in wish.shares
        if len(sample.held_out if kind == UNANSWERABLE else sample.passages) >= (2 if kind == COMPARISON else 1)
    ]
    counts = wish.counts(possible) if possible else {}
    plans: dict[str, list[PlannedQuestion]] = {}
    first = 0
    for kind, count in counts.items():
        pool = sample.held_out if kind == UNANSWERABLE else sample.passages
        start = 0 if kind == UNANSWERABLE else first % max(1, len(pool))
        in_order = [*pool[start:], *pool[:start]]
        passages = _pairs(in_order) if kind == COMPARISON else [(passage,) for passage in in_order]
        plans[kind] = [PlannedQuestion(kind, texts, *_categories(wish, kind, texts[0])) for texts in passages]
        first += 0 if kind == UNANSWERABLE else count
    return plans


def _categories(wish: Wish, kind: str, passage: Passage) -> tuple[tuple[Category, ...], tuple[Category, ...]]:
    """Who asks about a passage, and in which manner: drawn for it alone, so that other passages change nothing."""
    if not wish.categories.groups:
        return (), ()
    return wish.categories.draw(np.random.default_rng(lot(wish.seed, kind, passage.id, passage.text)))


def _pairs(passages: Sequence[Passage]) -> list[tuple[Passage, ...]]:
    """Each passage with the one that shares most of its rarer words, from another chunk or document."""
    bags = [set(content_words(passage.text, passage.language)) for passage in passages]
    frequencies = Counter(word for bag in bags for word in bag)
    places: dict[str, list[int]] = {}
    for place, bag in enumerate(bags):
        for word in bag:
            places.setdefault(word, []).append(place)
    pairs: list[tuple[Passage, ...]] = []
    for place, passage in enumerate(passages):
        shared: Counter[int] = Counter()
        for word in bags[place]:
            if 1 < frequencies[word] <= 50:
                shared.update(dict.fromkeys(places[word], 1 / frequencies[word]))
        others = [
            other for other in sorted(shared, key=lambda at: (-shared[at], at)) if passages[other].id != passage.id
        ]
        if others:
            pairs.append((passage, passages[others[0]]))
    return pairs
