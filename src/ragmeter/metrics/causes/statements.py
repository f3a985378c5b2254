"""What a reference or an answer says about its question, and whether passages say it, by the offline support model.

A short text ("Paris") is no claim: the passage must have it, and must fit the question with it. A longer text is taken
as its sentences and clauses. docs/causes.md says what the thresholds were measured on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragmeter.metrics.offline.support.claims import claims_of

#: A text of at most so many words and characters is short.
_WORDS, _CHARACTERS = 8, 60
#: At least this share of a longer text's claims.
_SHARE = 0.5
#: The least probability of the question and a short text together, in a passage that has the text itself.
_FITS = 0.25
_SURE = 0.5


@dataclass(frozen=True, slots=True)
class Statement:
    """The claims to look up in passages; of a short text itself, and with its question."""

    claims: tuple[str, ...]
    is_short: bool


@dataclass(frozen=True, slots=True)
class StatementSupport:
    """Whether a passage has the text (`is_there`), says it about the question (`is_said`), and surely so."""

    is_there: bool
    is_said: bool
    is_sure: bool


def statement_of(question: str, text: str) -> Statement:
    """What a text says about its question."""
    if len(text) <= _CHARACTERS and len(text.split()) <= _WORDS:
        return Statement((text, f"{question} {text}".strip()), is_short=True)
    return Statement(tuple(claims_of(text)) or (text,), is_short=False)


def statements_support(
    statements: Sequence[Sequence[Statement]], passages: Sequence[Sequence[str]]
) -> list[list[StatementSupport]]:
    """For each row the support of its statements by its passages."""
    from ragmeter.metrics.offline.support.model import support_of_rows  # here: others don't wait for its import

    claims = [[claim for statement in row for claim in statement.claims] for row in statements]
    chances = support_of_rows(claims, passages)
    return [_of_row(row, of_row) for row, of_row in zip(statements, chances, strict=True)]


def _of_row(statements: Sequence[Statement], chances: npt.NDArray[np.float64]) -> list[StatementSupport]:
    ends = np.cumsum([len(statement.claims) for statement in statements])
    parts = np.split(chances, ends[:-1])
    return [_of_statement(statement, part) for statement, part in zip(statements, parts, strict=True)]


def _of_statement(statement: Statement, chances: npt.NDArray[np.float64]) -> StatementSupport:
    """`chances` has a line for each claim, and a column for each passage."""
    from ragmeter.metrics.offline.support.model import SUPPORTED

    if statement.is_short:
        itself, with_question = chances
        has_it = itself >= SUPPORTED
        fits, is_sure = (bool((has_it & (with_question >= least)).any()) for least in (_FITS, _SURE))
        return StatementSupport(bool(has_it.any()), fits, is_sure)
    share = float((chances.max(axis=1, initial=0.0) >= SUPPORTED).mean())
    return StatementSupport(share >= _SHARE, share >= _SHARE, share >= _SHARE)
