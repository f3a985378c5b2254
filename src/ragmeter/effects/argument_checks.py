"""Numbers that a caller gives: each must be one, and in its range. Names are as `parameter()` writes them."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

from ragmeter.errors import UsageError
from ragmeter.wording.numbers import given


def check_whole(name: str, value: Any, least: int, *, optional: bool = False) -> None:
    """Refuse what is no whole number, or one below `least`."""
    _check(name, value, Integral, "a whole number", f"at least {least}", lambda: value >= least, optional)


def check_number(name: str, value: Any, least: float = 0, *, optional: bool = False) -> None:
    """Refuse what is no number, or one below `least`."""
    _check(name, value, Real, "a number", f"at least {least}", lambda: value >= least, optional)


def check_above_zero(name: str, value: Any) -> None:
    """Refuse what is no number above 0."""
    _check(name, value, Real, "a number", "above 0", lambda: value > 0)


def check_share(name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse what is no number between 0 and 1."""
    _check(name, value, Real, "a number", "between 0 and 1", lambda: 0 <= value <= 1, optional)


def _check(
    name: str,
    value: Any,
    kind: type[Any],
    words: str,
    allowed: str,
    is_allowed: Callable[[], bool],
    optional: bool = False,
) -> None:
    """Check that a number is in its range. Where it is `optional`, None passes."""
    if optional and value is None:
        return
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UsageError(f"{name} must be {words}, {allowed}, got {value!r}")
    if not is_allowed():
        raise UsageError(f"{name} must be {allowed}, got {given(float(value))}")
