"""Shapes of JSON: a check returns what is wrong with a value, or an empty text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

#: Of a value and the name of its place in the document.
Shape = Callable[[Any, str], str]
_LARGEST = 2**53


def text(value: Any, place: str) -> str:
    """A text."""
    return "" if isinstance(value, str) else _wrong(value, place, "a text")


def flag(value: Any, place: str) -> str:
    """True or false."""
    return "" if isinstance(value, bool) else _wrong(value, place, "true or false")


def count(value: Any, place: str) -> str:
    """A whole number from 0 up."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST
    return "" if is_count else _wrong(value, place, "a whole number from 0 up")


def number(value: Any, place: str) -> str:
    """A finite number."""
    if isinstance(value, float):
        is_finite = math.isfinite(value)
    else:
        is_finite = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST
    return "" if is_finite else _wrong(value, place, "a finite number")


def share(value: Any, place: str) -> str:
    """A number between 0 and 1."""
    return number(value, place) or ("" if 0 < value < 1 else _wrong(value, place, "between 0 and 1"))


def mapping(value: Any, place: str) -> str:
    """An object of whatever members."""
    return "" if isinstance(value, dict) else _wrong(value, place, "an object")


def one_of(*words: str) -> Shape:
    """One of these texts."""

    def check(value: Any, place: str) -> str:
        is_known = isinstance(value, str) and value in words
        return "" if is_known else _wrong(value, place, f"one of {', '.join(words)}")

    return check


def maybe(shape: Shape) -> Shape:
    """This shape, or null."""
    return lambda value, place: "" if value is None else shape(value, place)


def listed(shape: Shape, length: int | None = None) -> Shape:
    """A list of this shape, of this length if one is given."""

    def check(value: Any, place: str) -> str:
        if not isinstance(value, list) or length not in (None, len(value)):
            return _wrong(value, place, "a list" if length is None else f"a list of {length}")
        for n, part in enumerate(value):
            if problem := shape(part, f"{place}[{n}]"):
                return problem
        return ""

    return check


def mapped(shape: Shape) -> Shape:
    """An object whose members all have this shape."""

    def check(value: Any, place: str) -> str:
        if not isinstance(value, dict):
            return mapping(value, place)
        for key, part in value.items():
            if problem := shape(part, f"{place}.{key}" if place else str(key)):
                return problem
        return ""

    return check


def record(required: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None) -> Shape:
    """An object with these members; others, which a later version may write, are not looked at."""
    members = {**required, **(optional or {})}

    def check(value: Any, place: str) -> str:
        if not isinstance(value, dict):
            return mapping(value, place)
        for key, shape in members.items():
            if key in value:
                if problem := shape(value[key], f"{place}.{key}" if place else key):
                    return problem
            elif key in required:
                return f"{place} is incomplete: it has no {key}" if place else f"it has no {key}"
        return ""

    return check


def both(*shapes: Shape) -> Shape:
    """All of these shapes."""

    def check(value: Any, place: str) -> str:
        for shape in shapes:
            if problem := shape(value, place):
                return problem
        return ""

    return check


def _wrong(value: Any, place: str, wanted: str) -> str:
    shown = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else repr(value)[:40]
    return f"{place or 'it'} should be {wanted}, got {shown}"
