"""What a reference or an answer says about its question, and whether passages say it, by the offline support model.

A short text ("Paris") is no claim: the passage must have it, and must fit the question with it. A longer text is taken
as its sentences and clauses. docs/causes.md says what the thresholds were measured on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragmeter.metrics.causes.mentions import has_mention, is_quoted
from ragmeter.metrics.citations import without_citations
from ragmeter.metrics.offline.support.claims import claims_of

#: A text of at most so many words and characters is short.
_WORDS, _CHARACTERS = 8, 60
#: At least this share of a longer text's claims.
_SHARE = 0.5
#: The least probability of the question and a short text together, in a passage that has the text itself.
_FITS = 0.25
#: The least probability of the question's own words: the passage is about what is asked.
_ABOUT = 0.5

Chances = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Statement:
    """The claims to look up in passages; of a short text itself, and with its question."""

    text: str
    claims: tuple[str, ...]
    is_short: bool


@dataclass(frozen=True, slots=True)
class StatementSupport:
    """Whether passages have the text (`is_there`), fit the question with it (`is_said`), and answer the question so.

    `answers`: a passage has the text, and is about what is asked by its own words.
    """

    is_there: bool
    is_said: bool
    answers: bool


def statement_of(question: str, text: str) -> Statement:
    """What a text says about its question."""
    if len(text) <= _CHARACTERS and len(text.split()) <= _WORDS:
        return Statement(text, (text, f"{question} {text}".strip()), is_short=True)
    return Statement(text, tuple(claims_of(text)) or (text,), is_short=False)


def statements_support(
    questions: Sequence[str], statements: Sequence[Sequence[Statement]], passages: Sequence[Sequence[str]]
) -> list[list[StatementSupport]]:
    """For each row the support of its statements by its passages. Without a question no statement answers it."""
    from ragmeter.metrics.offline.support.model import support_of_rows  # here: others don't wait for its import

    claims = [
        [*filter(None, [question]), *(claim for statement in row for claim in statement.claims)]
        for question, row in zip(questions, statements, strict=True)
    ]
    chances = support_of_rows(claims, passages)
    rows = zip(questions, statements, chances, strict=True)
    return [
        list(_of_row(bool(question), row, of_row, texts))
        for (question, row, of_row), texts in zip(rows, passages, strict=True)
    ]


def _of_row(
    asks: bool, statements: Sequence[Statement], chances: Chances, passages: Sequence[str]
) -> Iterator[StatementSupport]:
    """`chances` has a line for the question, if it `asks`, and one for each claim, and a column for each passage."""
    about = chances[0] >= _ABOUT if asks else np.zeros(chances.shape[1], bool)
    begin = int(asks)
    for statement in statements:
        end = begin + len(statement.claims)
        yield _of_statement(statement, chances[begin:end], about, passages)
        begin = end


def _of_statement(
    statement: Statement, chances: Chances, about: npt.NDArray[np.bool_], passages: Sequence[str]
) -> StatementSupport:
    from ragmeter.metrics.offline.support.model import SUPPORTED

    is_supported = chances >= SUPPORTED
    if statement.is_short:
        mentions = [
            not supported and has_mention(statement.claims[0], text)
            for supported, text in zip(is_supported[0].tolist(), passages, strict=True)
        ]
        has_it = is_supported[0] | np.array(mentions, bool)
        fits = has_it & (chances[1] >= _FITS)
        if not fits.any():
            quotes = np.array([is_quoted(statement.text, text) for text in passages], bool)
            has_it, fits = has_it | quotes, quotes
        return StatementSupport(bool(has_it.any()), bool(fits.any()), bool((fits & about).any()))
    has_part = is_supported.any(axis=0)
    is_said = bool(is_supported.any(axis=1).mean() >= _SHARE)
    if not is_said:
        has_part = np.array([is_quoted(statement.text, text) for text in passages], bool)
        is_said = bool(has_part.any())
    return StatementSupport(is_said, is_said, is_said and bool((has_part & about).any()))


def has_own_number(text: str, passages: Sequence[str]) -> bool:
    """Whether the text has a number that no passage has in any form. To the support model it is one word of many."""
    bare = without_citations(text)
    if not any(map(str.isdecimal, bare)):
        return False
    from ragmeter.metrics.offline.support.model import unsupported_words

    return any(any(map(str.isdecimal, bare[begin:end])) for begin, end in unsupported_words(bare, passages))
