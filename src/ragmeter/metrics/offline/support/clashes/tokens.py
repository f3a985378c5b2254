"""The words of a claim and of a passage one by one, as clashes are looked for: the few pairs that are worth it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import Texts, Words

WORD, NAME, NUMBER, MONTH, UNIT = range(5)
_PREFIX = 5  # letters that two forms of a word have in common
_SHORTEST = 2  # content words of a part between commas; a shorter one belongs to the next: "and the second, in May"
_SILENT = Mark.FUNCTION | Mark.NEGATION | Mark.NO
NEGATIONS = Mark.NEGATION | Mark.NO | Mark.DENIAL
ENDS = Mark.CLAUSE | Mark.SENTENCE
_DATED = Mark.NUMBER | Mark.MONTH


class Token(NamedTuple):
    """A word: what it is compared by, its kind, and where it stands."""

    root: int
    kin: int
    kind: int
    word: str
    marks: int
    value: float
    sentence: int
    segment: int  # the part of the sentence between commas, "and", "but" and the like
    place: int  # in its text
    is_content: bool  # it says something of its own
    beginning: str  # the letters that two forms of a word have in common; empty for short words and for numbers

    def is_like(self, other: Token) -> bool:
        """Whether it is another form of this word, or the same number."""
        if self.root == other.root or (self.kin and self.kin == other.kin):
            return True
        return bool(self.beginning) and self.beginning == other.beginning


@dataclass(frozen=True)
class TokenList:
    """The tokens of a text."""

    tokens: tuple[Token, ...]

    @cached_property
    def content(self) -> tuple[Token, ...]:
        """Those that say something."""
        return tuple(token for token in self.tokens if token.is_content)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words, as they are folded."""
        return frozenset(token.word for token in self.tokens)

    @cached_property
    def sentences(self) -> dict[int, TokenList]:
        """The tokens of each sentence."""
        parts: dict[int, list[Token]] = {}
        for token in self.tokens:
            parts.setdefault(token.sentence, []).append(token)
        return {number: TokenList(tuple(part)) for number, part in parts.items()}

    @cached_property
    def segments(self) -> dict[int, TokenList]:
        """The tokens of each part of a sentence."""
        parts: dict[int, list[Token]] = {}
        for token in self.tokens:
            parts.setdefault(token.segment, []).append(token)
        return {number: TokenList(tuple(part)) for number, part in parts.items()}

    @cached_property
    def n_negations(self) -> int:
        """How many words turn what they stand beside around."""
        return sum(bool(token.marks & (Mark.NEGATION | Mark.NO)) for token in self.tokens)

    @cached_property
    def is_negated(self) -> bool:
        """Whether any word says that something is not so."""
        return any(token.marks & NEGATIONS for token in self.tokens)

    def like(self, tokens: Sequence[Token]) -> dict[int, tuple[Token, ...]]:
        """The forms here of each of these words that say something, by its place; in the order of the text."""
        wanted: dict[int | str, list[int]] = {}
        for token in tokens:
            for key in _keys(token):
                wanted.setdefault(key, []).append(token.place)
        forms: dict[int, list[Token]] = {token.place: [] for token in tokens}
        for own in self.content:
            if own.root in wanted or -own.kin in wanted or own.beginning in wanted:
                for place in {place for key in _keys(own) for place in wanted.get(key, ())}:
                    forms[place].append(own)
        return {place: tuple(own) for place, own in forms.items()}

    @classmethod
    def of(cls, texts: Texts, words: Words, first: int, last: int, *, has_names: bool) -> TokenList:
        """The tokens of these items."""
        part = slice(first, last)
        columns = (texts.root, texts.kin, texts.marks, texts.value, texts.text)
        spelled = words[texts.ids[part]].tolist()
        tokens: list[Token] = []
        sentence, segment, begins, n_content, before = 0, 0, True, 0, None
        for word, root, kin, marks, value, text in zip(
            spelled, *(column[part].tolist() for column in columns), strict=True
        ):
            is_new = before is not None and text != before and not begins
            if is_new or (n_content >= _SHORTEST and marks & (Mark.ALSO | Mark.TURN) and not begins):
                segment, n_content = segment + 1, 0
                sentence, begins = sentence + is_new, begins or is_new
            kind = _kind(marks, is_name=has_names and not begins)
            is_dated = bool(marks & _DATED)
            is_content = is_dated or not marks & _SILENT
            beginning = "" if is_dated or len(word) < _PREFIX else word[:_PREFIX]
            tokens.append(
                Token(root, kin, kind, word, marks, value, sentence, segment, len(tokens), is_content, beginning)
            )
            n_content += is_content
            begins, before = bool(marks & Mark.SENTENCE), text
            if begins or (marks & Mark.CLAUSE and n_content >= _SHORTEST):
                sentence, segment, n_content = sentence + begins, segment + 1, 0
        return cls(tuple(tokens))


def _keys(token: Token) -> tuple[int | str, ...]:
    """What a word has in common with its forms."""
    kin: tuple[int | str, ...] = (-token.kin,) if token.kin else ()
    return (token.root, *kin, token.beginning) if token.beginning else (token.root, *kin)


def _kind(marks: int, *, is_name: bool) -> int:
    if marks & Mark.MONTH:
        return MONTH
    if marks & Mark.NUMBER:
        return NUMBER
    if marks & Mark.UNIT:
        return UNIT
    return NAME if is_name and marks & Mark.CAPITAL else WORD
