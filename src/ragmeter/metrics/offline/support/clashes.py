"""Where a claim and a passage clash: another value in the same place, another unit, swapped roles, the opposite.

The trees see which words of a claim a passage has, and not what they say of each other. What is found here caps the
probability, and is shown beside the label `contradicted`. Only pairs that share many words are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from ragmeter.metrics.offline.polarity.polarities import opposed
from ragmeter.metrics.offline.polarity.poles import Poles, poles_of
from ragmeter.metrics.offline.reading.tables import Mark, Table
from ragmeter.metrics.offline.support.tokens import MONTH, NAME, NUMBER, UNIT, WORD, Token, TokenList

_NEGATIONS = Mark.NEGATION | Mark.NO | Mark.DENIAL
_NEAR = 3  # content words on each side of a verb that may be its subject or its object
_SHORT = 3  # content words: a shorter part between commas belongs to the one before it


class Clash(NamedTuple):
    """The rule that says so, by its name in `RULES`, and the words of the claim and of the passage."""

    rule: str
    claim: str
    passage: str


@dataclass(frozen=True)
class Case:
    """A claim and a passage. `best` is the sentence that has most of the claim."""

    claim: TokenList
    passage: TokenList
    best: int
    table: Table
    language: str

    @cached_property
    def sentence(self) -> tuple[Token, ...]:
        """The content words of the best sentence."""
        return tuple(token for token in self.passage.content if token.sentence == self.best)

    @cached_property
    def poles(self) -> Poles | None:
        """The words of the language that turn a statement around."""
        return poles_of(self.language)


def first_clash(case: Case) -> Clash | None:
    """The first rule that finds a clash."""
    return next((clash for rule in RULES.values() if (clash := next(iter(rule(case)), None))), None)


def _measure(token: Token, table: Table) -> tuple[str, float] | None:
    return table.measures.get(table.units.get(token.word, token.word))


class _Value(NamedTuple):
    """A number, month or weekday with its unit, and its place among the content words of its text."""

    place: int
    token: Token
    unit: tuple[str, float] | None
    unit_word: str

    def equals(self, other: _Value) -> bool:
        if self.unit and other.unit and self.unit[0] == other.unit[0]:
            return abs(self.size - other.size) <= 1e-6 * abs(self.size)
        return self.token.root == other.token.root

    @property
    def size(self) -> float:
        return self.token.value * (self.unit[1] if self.unit else 1.0)

    def is_like(self, other: _Value) -> bool:
        """Whether the other one could stand in its place."""
        if self.token.kind != other.token.kind or bool(self.unit) != bool(other.unit):
            return False
        if self.unit and other.unit:
            return self.unit[0] == other.unit[0]
        return _is_year(self.token) == _is_year(other.token)

    @property
    def shown(self) -> str:
        return f"{self.token.word} {self.unit_word}".strip()


def _is_year(token: Token) -> bool:
    return token.kind == NUMBER and 1000 <= token.value <= 2100 and token.value == int(token.value)


def _values(tokens: Sequence[Token], table: Table) -> list[_Value]:
    values = []
    for place, token in enumerate(tokens):
        if token.word in table.weekdays:
            values.append(_Value(place, token._replace(kind=MONTH), ("weekday", 0.0), ""))
        elif token.kind in (NUMBER, MONTH):
            around = [tokens[place + 1 : place + 2], tokens[max(place - 1, 0) : place]]
            units = [
                (measure, beside.word)
                for side in around
                for beside in side
                if beside.sentence == token.sentence and (measure := _measure(beside, table))
                and (side is around[0] or not beside.word.isalpha())
            ]  # fmt: skip
            unit, word = units[0] if units and token.kind == NUMBER else (None, "")
            values.append(_Value(place, token, unit, word))
    return values


def _other_unit(case: Case) -> Iterator[Clash]:
    """A number that the passage has only with another unit: 16 days and 16 hours."""
    theirs = _values(case.passage.content, case.table)
    for value in _values(case.claim.content, case.table):
        if value.token.kind != NUMBER or value.unit is None:
            continue
        same = [other for other in theirs if other.token.root == value.token.root]
        if not same or any(other.equals(value) for other in theirs if other.unit):
            continue
        if all(other.unit for other in same):
            yield Clash("unit", value.shown, same[0].shown)


def _other_value(case: Case) -> Iterator[Clash]:
    """A number, month or weekday that belongs to something else there: another one stands beside the claim's words."""
    own, theirs = (_values(text.content, case.table) for text in (case.claim, case.passage))
    if not own or not theirs:
        return
    anchors = [token for token in case.claim.content if token.kind in (WORD, NAME)]
    anchors = [token for token in anchors if token.word not in case.table.weekdays and not _measure(token, case.table)]
    for value in own:
        if value.token.marks & Mark.WEAK and not value.unit:
            continue
        equal = [other for other in theirs if other.equals(value)]
        others = [
            other for other in theirs
            if value.is_like(other) and not any(other.equals(mine) for mine in own)
            and bool(other.token.marks & Mark.WEAK) == bool(value.token.marks & Mark.WEAK)
        ]  # fmt: skip
        if not equal or not others:
            continue
        rival = [_rival(same, others, anchors, case) for same in equal]
        if all(rival):
            yield Clash("value", value.shown, rival[0].shown if rival[0] else "")


def _rival(same: _Value, others: Sequence[_Value], anchors: Sequence[Token], case: Case) -> _Value | None:
    """Of the other values one that stands beside more of the claim's words, and these are all of the first one's."""
    for other in others:
        in_one_sentence = same.token.sentence == other.token.sentence
        if in_one_sentence and same.token.segment == other.token.segment:
            continue
        mine, its = (
            {place for place, anchor in enumerate(anchors) if _is_beside(anchor, value, case, in_one_sentence)}
            for value in (same, other)
        )
        if mine < its and len(its) * 2 >= len(anchors):
            return other
    return None


def _is_beside(anchor: Token, value: _Value, case: Case, in_segment: bool) -> bool:
    return any(
        anchor.is_like(token)
        for token in case.passage.content
        if token.sentence == value.token.sentence and (not in_segment or token.segment == value.token.segment)
    )


def _other_in_place(case: Case) -> Iterator[Clash]:
    """A name, number or word in whose place, between the same neighbours, the sentence has another one."""
    own, theirs = case.claim.content, case.sentence
    titles = case.table.words["titles"]
    for place, token in enumerate(own):
        before, after = (own[beside] if 0 <= beside < len(own) else None for beside in (place - 1, place + 1))
        left = [at + 1 for at, other in enumerate(theirs) if before and before.is_like(other)]
        right = [at - 1 for at, other in enumerate(theirs) if after and after.is_like(other)]
        candidates = [at for at in {*left, *right} if 0 <= at < len(theirs)]
        if not candidates or any(theirs[at].is_like(token) for at in candidates):
            continue
        is_elsewhere = case.passage.has(token)
        for at in candidates:
            other = theirs[at]
            if other.word in titles or token.word in titles or (token.marks | other.marks) & Mark.LETTER:
                continue
            is_between = at in left and at in right
            is_given = case.claim.has(other)
            if is_between and is_elsewhere and (_alike(token, other) or not is_given):
                yield Clash("place", token.word, other.word)
            elif not is_given and _alike(token, other) and token.kind != WORD and is_elsewhere:
                yield Clash("place", token.word, other.word)
            elif is_between and not is_given and token.kind == other.kind != WORD:
                yield Clash("place", token.word, other.word)


def _alike(token: Token, other: Token) -> bool:
    if token.kind == other.kind:
        return True
    return {token.kind, other.kind} == {WORD, NAME} and bool(token.marks & other.marks & Mark.CAPITAL)


def _swapped(case: Case) -> Iterator[Clash]:
    """A verb with subject and object the other way round: "Ann beat Ben", and "Ben beat Ann"."""
    own, theirs = case.claim.tokens, [token for token in case.passage.tokens if token.sentence == case.best]
    for place, verb in enumerate(own):
        if verb.kind != WORD or not verb.is_content or verb.marks & Mark.CAPITAL:
            continue
        for at, other in enumerate(theirs):
            if not verb.is_like(other):
                continue
            mine, its = _sides(own, place), _sides(theirs, at)
            crossed = [_common(mine[0], its[1]), _common(mine[1], its[0])]
            straight = [_common(mine[0], its[0]), _common(mine[1], its[1])]
            if not all(crossed) and not all(straight):
                continue
            is_turned = _by_agent(own, place, case) != _by_agent(theirs, at, case)
            wrong, right = (straight, crossed) if is_turned else (crossed, straight)
            if all(wrong) and not any(right):
                yield Clash("roles", " ".join(token.word for token in mine[0]), " ".join(t.word for t in its[0]))


def _sides(tokens: Sequence[Token], place: int) -> tuple[list[Token], list[Token]]:
    """The content words near this one, before and after it, in its sentence."""
    before = [token for token in tokens[:place] if token.is_content][-_NEAR:]
    after = [token for token in tokens[place + 1 :] if token.is_content][:_NEAR]
    return before, after


def _common(some: Sequence[Token], others: Sequence[Token]) -> bool:
    return any(token.is_like(other) for token in some for other in others if token.kind in (WORD, NAME))


def _by_agent(tokens: Sequence[Token], place: int, case: Case) -> bool:
    """Whether the one who acts follows the verb: "was bought by Ann"."""
    for token in tokens[place + 1 : place + 3]:
        if token.is_content:
            return False
        if token.word in case.table.words["agent"]:
            return True
    return False


def _opposite(case: Case) -> Iterator[Clash]:
    """A negation that only one of both has, or opposites: open and closed."""
    sentence = [token for token in case.passage.tokens if token.sentence == case.best]
    text, claim = _spelled(sentence), _spelled(case.claim.tokens)
    if case.poles is not None and opposed(text, claim, case.poles):
        yield Clash("opposite", claim, text)


def _spelled(tokens: Sequence[Token]) -> str:
    """The words as a text, with commas and capitals where they matter."""
    words = []
    for token in tokens:
        word = token.word.capitalize() if token.kind == NAME else token.word
        words.append(word + ("," if token.marks & Mark.CLAUSE else "." if token.marks & Mark.SENTENCE else ""))
    return " ".join(words)


RULES = {
    "unit": _other_unit,
    "value": _other_value,
    "place": _other_in_place,
    "roles": _swapped,
    "opposite": _opposite,
}
