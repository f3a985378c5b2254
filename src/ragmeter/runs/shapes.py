"""Shapes of JSON: a check raises `WrongShape` for a value of another shape.

There may be thousands of documents with hundreds of values each: the place of a value is put together only where one is
wrong, on the way up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Shape = Callable[[Any], None]
_LARGEST = 2**53


class WrongShape(Exception):
    """A value that is not as it should be. `place` leads to it in its document, such as `.metrics.token_f1.mean`."""

    def __init__(self, reason: str, *, joint: str = " ") -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = ""
        self._joint = joint

    def inside(self, part: str) -> WrongShape:
        """The error with its place seen from what the value is a part of."""
        self.place = part + self.place
        return self

    def __str__(self) -> str:
        return f"{self.place.removeprefix('.') or 'it'}{self._joint}{self.reason}"


def text(value: Any) -> None:
    """A text."""
    if not isinstance(value, str):
        raise _wrong(value, "a text")


def flag(value: Any) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise _wrong(value, "true or false")


def count(value: Any) -> None:
    """A whole number from 0 up."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
        raise _wrong(value, "a whole number from 0 up")


def number(value: Any) -> None:
    """A finite number."""
    if isinstance(value, float):
        is_finite = math.isfinite(value)
    else:
        is_finite = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST
    if not is_finite:
        raise _wrong(value, "a finite number")


def share(value: Any) -> None:
    """A number between 0 and 1."""
    number(value)
    if not 0 < value < 1:
        raise _wrong(value, "between 0 and 1")


def mapping(value: Any) -> None:
    """An object of whatever members."""
    if not isinstance(value, dict):
        raise _wrong(value, "an object")


def one_of(*words: str) -> Shape:
    """One of these texts."""

    def check(value: Any) -> None:
        if not isinstance(value, str) or value not in words:
            raise _wrong(value, f"one of {', '.join(words)}")

    return check


def maybe(shape: Shape) -> Shape:
    """This shape, or null."""

    def check(value: Any) -> None:
        if value is not None:
            shape(value)

    return check


def listed(shape: Shape, length: int | None = None) -> Shape:
    """A list of this shape, of this length if one is given."""

    def check(value: Any) -> None:
        if not isinstance(value, list) or length not in (None, len(value)):
            raise _wrong(value, "a list" if length is None else f"a list of {length}")
        for n, part in enumerate(value):
            try:
                shape(part)
            except WrongShape as wrong:
                raise wrong.inside(f"[{n}]") from None

    return check


def mapped(shape: Shape) -> Shape:
    """An object whose members all have this shape."""

    def check(value: Any) -> None:
        mapping(value)
        for key, part in value.items():
            try:
                shape(part)
            except WrongShape as wrong:
                raise wrong.inside(f".{key}") from None

    return check


def record(required: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None) -> Shape:
    """An object with these members; others, which a later version may write, are not looked at."""
    members = {**required, **(optional or {})}

    def check(value: Any) -> None:
        mapping(value)
        for key, shape in members.items():
            if key in value:
                try:
                    shape(value[key])
                except WrongShape as wrong:
                    raise wrong.inside(f".{key}") from None
            elif key in required:
                raise WrongShape(f"has no {key}")

    return check


def both(*shapes: Shape) -> Shape:
    """All of these shapes."""

    def check(value: Any) -> None:
        for shape in shapes:
            shape(value)

    return check


def _wrong(value: Any, wanted: str) -> WrongShape:
    shown = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else repr(value)[:40]
    return WrongShape(f"should be {wanted}, got {shown}")
