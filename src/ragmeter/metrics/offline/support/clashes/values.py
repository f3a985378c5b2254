"""Numbers, months and weekdays that are others, have another unit, or belong to something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragmeter.metrics.offline.reading.quantities import SHARE
from ragmeter.metrics.offline.reading.tables import Mark, Table
from ragmeter.metrics.offline.support.clashes.cases import Case, Clash
from ragmeter.metrics.offline.support.clashes.tokens import MONTH, NAME, NUMBER, WORD, Token, TokenList

_MORE = 2  # times as many words of the claim must stand beside another value
_BESIDE = 2  # places between a number and its unit: "millones de dólares"
_BOUNDS, _SIGNS, _WORDS_OF_BOUND = ("least", "most", "over", "under"), (1, -1, 2, -2), 3
_WEEKDAY = "weekday", 0.0


class _Value(NamedTuple):
    """A number, month or weekday with its unit."""

    token: Token
    value: float
    unit: tuple[str, float] | None
    unit_word: str

    def equals(self, other: _Value) -> bool:
        if self.unit and other.unit:
            return self.unit[0] == other.unit[0] and self.size == other.size and self._is_same(other)
        return self.token.root == other.token.root

    def _is_same(self, other: _Value) -> bool:
        return self.unit != _WEEKDAY or self.token.root == other.token.root

    @property
    def size(self) -> float:
        return float(f"{self.value * (self.unit[1] if self.unit else 1.0):.6g}")

    def is_like(self, other: _Value) -> bool:
        """Whether the other one could stand in its place."""
        if self.token.kind != other.token.kind or bool(self.unit) != bool(other.unit):
            return False
        if self.unit and other.unit:
            return self.unit[0] == other.unit[0]
        return are_of_a_kind(self.token, other.token)

    @property
    def shown(self) -> str:
        return f"{self.token.word} {self.unit_word}".strip()


def are_of_a_kind(token: Token, other: Token) -> bool:
    """Whether both numbers are years, or neither, and both have decimals, or neither."""
    return _is_year(token) == _is_year(other) and (token.value % 1 == 0) == (other.value % 1 == 0)


def _is_year(token: Token) -> bool:
    return token.kind == NUMBER and 1000 <= token.value <= 2100 and token.value == int(token.value)


def measure(token: Token, table: Table) -> tuple[str, float] | None:
    """The dimension and the size of a unit."""
    return table.measures.get(table.units.get(token.word, token.word))


def _values(text: TokenList, table: Table) -> list[_Value]:
    """The values of a text. A unit stands behind its number, or is a sign before it."""
    values, tokens = [], text.content
    for place, token in enumerate(tokens):
        if token.word in table.weekdays:
            values.append(_Value(token._replace(kind=MONTH), 0.0, _WEEKDAY, ""))
        elif token.kind == MONTH:
            values.append(_Value(token, token.value, None, ""))
        elif token.kind == NUMBER or token.word in table.fractions:
            part = table.fractions.get(token.word)
            number = token if part is None else token._replace(kind=NUMBER)
            unit, word = _unit(tokens, place, table) or ((SHARE, 1.0) if part else None, "")
            values.append(_Value(number, part or token.value, unit, word))
    return values


def _unit(tokens: Sequence[Token], place: int, table: Table) -> tuple[tuple[str, float], str] | None:
    """The unit of a number, and its word: a sign before it, or the word after it."""
    before = [one for one in tokens[max(place - 1, 0) : place] if not one.word.isalpha()]
    behind = [one for one in tokens[place + 1 : place + 2] if one.place - tokens[place].place <= _BESIDE]
    for one in (*before, *behind):
        if one.sentence == tokens[place].sentence and (unit := measure(one, table)):
            return unit, one.word
    return None


def other_unit(case: Case) -> Iterator[Clash]:
    """A number that the passage has only with another unit: 16 days and 16 hours."""
    own = [value for value in _values(case.claim, case.table) if value.token.kind == NUMBER and value.unit]
    if not own:
        return
    theirs = _values(case.passage, case.table)
    for value in own:
        same = [other for other in theirs if other.token.root == value.token.root]
        if (
            same
            and all(other.unit for other in same)
            and not any(other.equals(value) for other in theirs if other.unit)
        ):
            yield Clash("unit", value.shown, same[0].shown)


def other_bound(case: Case) -> Iterator[Clash]:
    """A number that is the least in the claim and the most there: at least 5, up to 5."""
    for token, bound in turned_bounds(case):
        if bound == 1 or not (case.claim.n_negations or case.sentence.n_negations):  # "over 18", "not under 18"
            yield Clash("bound", token.word, token.word)


def turned_bounds(case: Case) -> Iterator[tuple[Token, int]]:
    """The numbers that have the opposite bound there: 1 for the least and the most, 2 for over and under."""
    bounds = [case.table.words[name] for name in _BOUNDS]
    for token in case.claim.content:
        if token.kind != NUMBER or not (own := _bound(case.claim, token, bounds)):
            continue
        theirs = [_bound(case.passage, other, bounds) for other in case.like(token) if other.kind == NUMBER]
        if theirs and all(other == -own for other in theirs):
            yield token, abs(own)


def _bound(text: TokenList, number: Token, bounds: Sequence[frozenset[str]]) -> int:
    """1 and 2 for the least and what it is over, -1 and -2 for the most and what it is under, 0 for none."""
    for length in range(_WORDS_OF_BOUND, 0, -1):  # "no less than" before "less than"
        part = text.tokens[max(number.place - length, 0) : number.place]
        words = "_".join(own.word for own in part if own.sentence == number.sentence)
        for sign, phrases in zip(_SIGNS, bounds, strict=True):
            if words in phrases:
                return sign
    return 0


def other_value(case: Case) -> Iterator[Clash]:
    """A value that belongs to something else there: another one stands beside the claim's words."""
    own = _values(case.claim, case.table)
    theirs = _values(case.passage, case.table) if own else []
    anchors = [token for token in case.claim.content if token.kind in (WORD, NAME) and not _is_value(token, case.table)]
    for value in own:
        if value.token.marks & Mark.WEAK and not value.unit:
            continue
        equal = [other.token for other in theirs if other.equals(value)]
        others = [
            other.token for other in theirs
            if value.is_like(other) and not any(other.equals(mine) for mine in own)
            and bool(other.token.marks & Mark.WEAK) == bool(value.token.marks & Mark.WEAK)
        ]  # fmt: skip
        if not equal or not others or _is_named_beside(value.token, equal, others, anchors, case):
            continue
        rivals = [rival(same, others, anchors, case) for same in equal]
        if all(rivals):
            yield Clash("value", value.shown, rivals[0].word if rivals[0] else "")


def _is_value(token: Token, table: Table) -> bool:
    return token.word in table.weekdays or measure(token, table) is not None


def _is_named_beside(
    token: Token, equal: Sequence[Token], others: Sequence[Token], anchors: Sequence[Token], case: Case
) -> bool:
    """Whether a word next to the value in the claim stands beside the same value there, and beside no other."""
    near = [own for own in anchors if own.place < token.place][-1:] + [
        own for own in anchors if own.place > token.place
    ][:1]
    return any(
        any(_is_beside(own, same, case) for same in equal) and not any(_is_beside(own, other, case) for other in others)
        for own in near
    )


def rival(same: Token, others: Sequence[Token], anchors: Sequence[Token], case: Case) -> Token | None:
    """Of other words one that stands beside far more of the claim's words than `same` does, and beside half of them."""
    for other in others:
        in_sentence = same.sentence == other.sentence
        if in_sentence and same.segment == other.segment:
            continue
        mine, its = (
            {anchor.place for anchor in anchors if _is_beside(anchor, token, case, in_segment=in_sentence)}
            for token in (same, other)
        )
        if in_sentence and same.place > other.place and mine - its:
            continue  # what both have in common is said once, at first: 19 left with the drug and 11 with placebo
        more = 1 if in_sentence and same.place < other.place else _MORE
        if len(its - mine) >= max(more * len(mine - its), 1) and len(its) * 2 >= len(anchors):
            return other
    return None


def _is_beside(anchor: Token, beside: Token, case: Case, *, in_segment: bool = False) -> bool:
    return any(
        token.sentence == beside.sentence and (not in_segment or token.segment == beside.segment)
        for token in case.like(anchor)
    )
