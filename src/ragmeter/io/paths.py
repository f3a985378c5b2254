"""Dotted paths into objects and lists: `outputs.answer`, `outputs.documents[*].text`, `choices[0]`.

A title that has dots itself comes first, be it of a column (`attributes.input.value`) or of a key of an object. A text
that is an object or a list written as JSON is read as that. A name that meets a list is looked up in each of its items;
an item that lacks it keeps its place, as None.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+|\*)\]")
_EVERY = "*"
_KINDS = {str: "a text", int: "a number", float: "a number", bool: "true or false", type(None): "null"}


def split_path(path: str, titles: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """The column that a path begins with, and the steps from there; None if there is no such column."""
    for title in sorted(titles, key=len, reverse=True):
        rest = path[len(title) :]
        if path.startswith(title) and rest[:1] in ("", ".", "["):
            steps = read_steps(rest)
            return None if steps is None else (title, steps)
    return None


def read_steps(path: str) -> tuple[str, ...] | None:
    """The steps of a path; None if it is none."""
    steps: list[str] = []
    position = 0
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            return None
        steps.append(step[1] or step[2])
        position = step.end()
    return tuple(steps)


def value_at(value: Any, steps: Sequence[str]) -> Any:
    """The value at a path, a list of them where it leads through every item of a list; None if there is none."""
    value, steps = _through_objects(value, steps)
    if not steps or value is None:
        return value
    values, is_many = _through_list(value, steps)
    if all(item is None for item in values):
        return None
    return values if is_many else values[0]


def values_at(value: Any, steps: Sequence[str]) -> list[Any]:
    """All values at a path; an empty list if there is none."""
    values = _walk(value, steps)[0]
    return [] if all(item is None for item in values) else values


def _walk(value: Any, steps: Sequence[str]) -> tuple[list[Any], bool]:
    """All values at a path, and whether it leads through every item of a list."""
    value, steps = _through_objects(value, steps)
    if value is None:
        return [None], False
    return _through_list(value, steps) if steps else ([value], False)


def _through_objects(value: Any, steps: Sequence[str]) -> tuple[Any, Sequence[str]]:
    """The value that the first steps lead to through objects, None if they lead nowhere, and the steps from there."""
    while steps:
        value = decoded(value)
        if not isinstance(value, Mapping):
            break
        for size in range(len(steps), 0, -1):  # a key may have dots itself
            key = steps[0] if size == 1 else ".".join(steps[:size])
            if key in value:
                value, steps = value[key], steps[size:]
                break
        else:
            return None, ()
    return value, steps


def _through_list(value: Any, steps: Sequence[str]) -> tuple[list[Any], bool]:
    if not isinstance(value, list | tuple):
        return [], False
    step, rest = steps[0], steps[1:]
    if step.isdecimal():
        return _walk(value[int(step)], rest) if int(step) < len(value) else ([], False)
    rest = rest if step == _EVERY else steps
    inner = ([None] if item is None else _walk(item, rest)[0] for item in value)
    return [item for items in inner for item in items], True


def missing_at(value: Any, steps: Sequence[str]) -> str | None:
    """What is there instead of a path's next step, in words; None if all of the path is there.

    A null at its end, and an empty list on the way, say that there is nothing: the path is there.
    """
    walked = ""
    while steps:
        value = decoded(value)
        if not value and (isinstance(value, list | tuple) or steps[0] == _EVERY):
            return None
        if isinstance(value, Mapping):
            size = next((size for size in range(len(steps), 0, -1) if ".".join(steps[:size]) in value), 0)
            if not size:
                return f"{walked or 'the reply'} has {', '.join(map(str, value)) or 'no keys'}"
            walked = ".".join(filter(None, (walked, *steps[:size])))
            value, steps = value[".".join(steps[:size])], steps[size:]
        elif isinstance(value, list | tuple):
            return _missing_in_list(value, steps, walked)
        else:
            return f"{walked or 'the reply'} is {_KINDS.get(type(value), type(value).__name__)}"
    return None


def _missing_in_list(values: Sequence[Any], steps: Sequence[str], walked: str) -> str | None:
    step, rest = steps[0], steps[1:]
    if step.isdecimal():
        items = values[int(step) : int(step) + 1]
    else:
        items, rest = [item for item in values if item is not None], rest if step == _EVERY else steps
    reasons = [missing_at(item, rest) for item in items]
    if not reasons:
        return None if step == _EVERY else f"{walked or 'the reply'} is a list of {len(values):,}"
    if None in reasons:
        return None
    return (reasons[0] or "").replace("the reply", f"each of {walked or 'the reply'}", 1)


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
