"""The words of a claim and of a passage one by one, as `clashes.py` looks at them: the few pairs that are worth it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import Texts, Words

WORD, NAME, NUMBER, MONTH, UNIT = range(5)
_PREFIX = 5  # letters that two forms of a word have in common
_SHORTEST = 2  # content words of a part between commas; a shorter one belongs to the next: "and the second, in May"
_SILENT = Mark.FUNCTION | Mark.NEGATION | Mark.NO
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

    @property
    def is_content(self) -> bool:
        """Whether it says something of its own."""
        return not self.marks & _SILENT or bool(self.marks & _DATED)

    def is_like(self, other: Token) -> bool:
        """Whether it is another form of this word, or the same number."""
        if self.root == other.root or (self.kin and self.kin == other.kin):
            return True
        if (self.marks | other.marks) & _DATED or len(self.word) < _PREFIX:
            return False
        return self.word[:_PREFIX] == other.word[:_PREFIX]

    def is_kind_of(self, other: Token) -> bool:
        """Whether both are numbers, months, units or names."""
        return self.kind == other.kind != WORD


@dataclass(frozen=True)
class TokenList:
    """The tokens of a text."""

    tokens: tuple[Token, ...]

    @cached_property
    def content(self) -> tuple[Token, ...]:
        """Those that say something."""
        return tuple(token for token in self.tokens if token.is_content)

    def has(self, token: Token) -> bool:
        """Whether a form of this word is there."""
        return any(token.is_like(own) for own in self.content)

    @cached_property
    def segments(self) -> tuple[tuple[Token, ...], ...]:
        """The content words of each part of a sentence, in the order of the text."""
        parts: dict[int, list[Token]] = {}
        for token in self.content:
            parts.setdefault(token.segment, []).append(token)
        return tuple(map(tuple, parts.values()))

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
            token = Token(root, kin, kind, word, marks, value, sentence, segment, len(tokens))
            tokens.append(token)
            n_content += token.is_content
            begins, before = bool(marks & Mark.SENTENCE), text
            if begins or (marks & Mark.CLAUSE and n_content >= _SHORTEST):
                sentence, segment, n_content = sentence + begins, segment + 1, 0
        return cls(tuple(tokens))


def _kind(marks: int, *, is_name: bool) -> int:
    if marks & Mark.MONTH:
        return MONTH
    if marks & Mark.NUMBER:
        return NUMBER
    if marks & Mark.UNIT:
        return UNIT
    return NAME if is_name and marks & Mark.CAPITAL else WORD
