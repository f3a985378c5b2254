"""Cheap checks of an answer: 1 if it passes, 0 if not. What is expected stands in a column, or is a setting."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import regex

from ragmeter.definition import metric
from ragmeter.errors import UsageError
from ragmeter.metrics.normalize import Language, fold
from ragmeter.table import NO_EXPECTATION, NO_NUMBER, SLOW_PATTERN, Failed, Scores

#: Seconds that a pattern may take on one answer: some patterns take for ever on some texts.
_PATTERN_SECONDS = 1.0

Unit = Literal["words", "characters"]
Checked = list[float | Failed]


@metric(direction="higher", binary=True, optional=("must_contain",))
def contains(answer: Sequence[str], must_contain: Sequence[str | None], *, text: str | None = None) -> Checked:
    """Whether the answer contains a text.

    **Formula.** 1 if each expected text stands in the answer, after Unicode NFC and without regard to case. The text is
    the setting `text`, else the row's column `must_contain`: a text, or a JSON list of texts.

    **Edge cases.** A row without an expected text has no score (`no_expectation`).

    **Use it** for words that must not be missing: a product's name, a warning. **Not** for whether an answer is right:
    "not Paris" contains "Paris".
    """

    def check(answer: str, expected: str) -> bool:
        folded = fold(answer)
        return all(fold(part) in folded for part in _texts(expected))

    return _checked(answer, must_contain, text, check)


@metric(name="regex", direction="higher", binary=True, optional=("must_match",))
def matches_pattern(answer: Sequence[str], must_match: Sequence[str | None], *, pattern: str | None = None) -> Checked:
    """Whether a regular expression matches somewhere in the answer.

    **Formula.** 1 if the pattern is found in the answer. The pattern is the setting `pattern`, else the row's column
    `must_match`; `(?i)` at its beginning ignores case, `^` and `$` tie it to the ends.

    **Edge cases.** A row without a pattern has no score (`no_expectation`), nor has one on which the pattern takes over
    a second (`pattern_too_slow`). A pattern that is not one is an error.

    **Use it** for forms: an order number, a date, a citation. **Not** for what can be said in many ways.
    """

    def check(answer: str, expected: str) -> bool | Failed:
        try:
            return regex.search(expected, answer, timeout=_PATTERN_SECONDS) is not None
        except TimeoutError:
            return Failed(SLOW_PATTERN)
        except regex.error as error:
            raise UsageError(f"{expected[:80]!r} is not a regular expression: {error}") from None

    return _checked(answer, must_match, pattern, check)


@metric(direction="higher", binary=True)
def is_json(answer: Sequence[str]) -> Scores:
    """Whether the answer is JSON.

    **Formula.** 1 if the whole answer is one JSON value, as RFC 8259 has it: no text around it, no `NaN`, no name twice
    in an object.

    **Edge cases.** An empty answer is no JSON, and a fence of ``` around it is text.

    **Use it** for answers that a program reads. **Not** for what stands in them (see `json_match`).
    """
    return np.array([not isinstance(_json(text), Failed) for text in answer], dtype=np.float64)


@metric(direction="higher", binary=True, optional=("expected_json",))
def json_match(answer: Sequence[str], expected_json: Sequence[str | None], *, field: str | None = None) -> Checked:
    """Whether the answer is JSON with the expected fields.

    **Formula.** 1 if the answer is JSON, and each field of the object in the row's column `expected_json` has the same
    value in it, at any depth; fields that are not expected may be there. `field` names one to compare, with points for
    those inside: `json_match[field=address.city]`. 1 and 1.0 are equal; lists must have the same values in the same
    order.

    **Edge cases.** A row without `expected_json`, or whose `expected_json` is no JSON or lacks the field, has no score
    (`no_expectation`). An answer that is no JSON: 0.

    **Use it** for extracted fields. **Not** for fields with free words in them.
    """

    def check(answer: str, expected: str) -> bool | Failed:
        wanted = _at(_json(expected), field)
        return wanted if isinstance(wanted, Failed) else _has(_at(_json(answer), field), wanted)

    return _checked(answer, expected_json, None, check)


@metric(direction="higher", binary=True)
def numeric_match(
    reference: Sequence[str], answer: Sequence[str], *, tolerance: float = 0.0, language: Language | None = None
) -> Checked:
    """Whether the answer has the reference's numbers.

    **Formula.** 1 if the answer has an equal one for each number of the reference: of the same unit (48 hours are two
    days, 25% is a quarter), and at most `tolerance` away as a share of the expected number, 0.01 for one percent. A
    number without a unit may stand before any.

    **Edge cases.** A reference without a number has no score (`no_number`). An answer without one: 0. More numbers in
    the answer don't matter.

    **Use it** for figures: prices, dates, results of arithmetic. **Not** where a wrong number beside the right one
    matters (see `offline_correct`).
    """
    if not tolerance >= 0:
        raise UsageError(f"tolerance must be 0 or more, got {tolerance:g}")
    from ragmeter.metrics.offline.reading.figures import (
        figures,
    )  # here, so that other metrics don't wait for its import

    expected, stated = figures(reference, answer, language)
    return [
        float(all(any(number.equals(other, tolerance) for other in others) for number in numbers))
        if numbers
        else Failed(NO_NUMBER)
        for numbers, others in zip(expected, stated, strict=True)
    ]


@metric(direction="higher", binary=True)
def max_length(answer: Sequence[str], *, limit: int = 100, unit: Unit = "words") -> Scores:
    """Whether the answer is not too long.

    **Formula.** 1 if it has at most `limit` words (between white space) or, with `unit=characters`, characters.

    **Edge cases.** An empty answer passes.

    **Use it** for answers that are read aloud or shown in little space. **Not** for languages without spaces between
    words, unless by characters.
    """
    lengths = [len(text.split()) if unit == "words" else len(text) for text in answer]
    return (np.array(lengths, np.float64) <= limit).astype(np.float64)


@metric(direction="higher", binary=True)
def max_latency(latency_ms: Sequence[float], *, limit_ms: float = 5000.0) -> Scores:
    """Whether the answer came in time.

    **Formula.** 1 if `latency_ms` is at most `limit_ms`.

    **Edge cases.** A row without a latency has no score.

    **Use it** as a promise to users: the share of answers within two seconds. **Not** for how fast they are on average.
    """
    return (np.asarray(latency_ms, dtype=np.float64) <= limit_ms).astype(np.float64)


@metric(direction="higher", binary=True)
def max_cost(cost_usd: Sequence[Any], *, limit_usd: float = 0.01) -> Checked:
    """Whether the answer was not too expensive.

    **Formula.** 1 if the row's column `cost_usd`, as a system may return it beside its answer, is at most `limit_usd`.

    **Edge cases.** A row without a cost, or with one that is no number, has no score.

    **Use it** to bound what a question may cost. **Not** for the bill, which is a sum.
    """
    return [_at_most(cost, limit_usd) for cost in cost_usd]


def _at_most(cost: Any, limit: float) -> float | Failed:
    try:
        dollars = float(cost)
    except (TypeError, ValueError):
        return Failed(NO_NUMBER)
    return float(dollars <= limit) if np.isfinite(dollars) else Failed(NO_NUMBER)


def _checked(
    answers: Sequence[str],
    expectations: Sequence[str | None],
    setting: str | None,
    check: Callable[[str, str], bool | Failed],
) -> Checked:
    """Check each answer by the setting, or by its row's own expectation."""

    def scores() -> Iterator[float | Failed]:
        for answer, own in zip(answers, expectations, strict=True):
            expected = own if setting is None else setting
            passed = Failed(NO_EXPECTATION) if not expected else check(answer, str(expected))
            yield passed if isinstance(passed, Failed) else float(passed)

    return list(scores())


def _texts(cell: str) -> list[str]:
    """The texts of a cell: those of a JSON list of texts, or the cell itself."""
    parts = _json(cell) if cell.lstrip().startswith("[") else None
    return parts if isinstance(parts, list) and all(isinstance(part, str) for part in parts) else [cell]


def _json(text: str) -> Any:
    """The value that a text is in JSON, or why there is none."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return Failed(NO_EXPECTATION)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a name stands twice")
    return fields


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not in JSON")


def _at(value: Any, field: str | None) -> Any:
    """The value of a field, or that there is none."""
    for name in field.split(".") if field else ():
        if not isinstance(value, dict) or name not in value:
            return Failed(NO_EXPECTATION)
        value = value[name]
    return value


def _has(value: Any, expected: Any) -> bool:
    """Whether a value is the expected one, or an object with all of its fields."""
    if isinstance(expected, dict):
        return isinstance(value, dict) and all(
            name in value and _has(value[name], own) for name, own in expected.items()
        )
    if isinstance(expected, list):
        return isinstance(value, list) and len(value) == len(expected) and all(map(_has, value, expected))
    return (type(value) is type(expected) and value == expected) or _equal_numbers(value, expected)


def _equal_numbers(value: Any, expected: Any) -> bool:
    both = (value, expected)
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in both) and value == expected
