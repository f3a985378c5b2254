"""Dotted paths into the objects and lists of a column: `outputs.answer`, `outputs.documents[*].text`, `choices[0]`.

A title that has dots itself comes first, be it of a column (`attributes.input.value`) or of a key of an object. A cell
that is an object or a list written as JSON is read as that. A name that meets a list is looked up in each of its items.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+|\*)\]")
_EVERY = "*"


def split_path(path: str, titles: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """The column that a path begins with, and the steps from there; None if there is no such column."""
    for title in sorted(titles, key=len, reverse=True):
        rest = path[len(title) :]
        if path.startswith(title) and rest[:1] in ("", ".", "["):
            steps = _steps(rest)
            return None if steps is None else (title, steps)
    return None


def _steps(text: str) -> tuple[str, ...] | None:
    steps: list[str] = []
    position = 0
    while position < len(text):
        step = _STEP.match(text, position)
        if step is None:
            return None
        steps.append(step[1] or step[2])
        position = step.end()
    return tuple(steps)


def value_at(value: Any, steps: Sequence[str]) -> Any:
    """The value at a path; None if there is none."""
    if not steps:
        return value
    value = decoded(value)
    step, rest = steps[0], steps[1:]
    if isinstance(value, Mapping):
        for size in range(len(steps), 0, -1):  # a key may have dots itself
            if (key := ".".join(steps[:size])) in value:
                return value_at(value[key], steps[size:])
        return None
    if not isinstance(value, list | tuple):
        return None
    if step.isdecimal():
        return value_at(value[int(step)], rest) if int(step) < len(value) else None
    inner = [value_at(item, rest if step == _EVERY else steps) for item in value]
    inner = [item for item in inner if item is not None]
    return inner or None


def decoded(value: Any) -> Any:
    """An object or a list that was written as JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value.tolist() if hasattr(value, "tolist") else value


def keys_of(column: Sequence[Any]) -> list[str]:
    """The keys of the first object in a column, for a message."""
    objects = (decoded(value) for value in column)
    first = next((value for value in objects if isinstance(value, Mapping)), {})
    return [str(key) for key in first]
