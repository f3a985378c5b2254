"""Strict JSON: no duplicate keys, no NaN, no depth that overflows later, and an error that knows its place."""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import Any, NoReturn, TypeAlias

from ragmeter.errors import InputError

#: An object of JSON as somebody else wrote it: another tool's file, a server's reply. Nothing is known of its keys, and
#: of their values only what its reader checks. What ragmeter itself writes has types of its own.
JsonObject: TypeAlias = dict[str, Any]
#: Deeper than any data of people. Python itself fails somewhere below 1000, depending on who calls.
MAX_DEPTH = 200
#: Values take up to some hundred bytes each: this many are about 3 GB.
_MAX_VALUES = 25_000_000
_SPACE = " \t\n\r"
_TOKEN = re.compile(r"""(?P<key>"[^"\\]*+(?:\\.[^"\\]*+)*+")\s*+:|"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]""")
_CONTAINERS = (list, tuple, dict)


class _ConstantError(Exception):
    """A number that JSON does not have: NaN, Infinity."""


class _DuplicateError(Exception):
    """An object has a key twice."""


def _refuse(constant: str) -> NoReturn:
    raise _ConstantError(constant)


def _unique(pairs: list[tuple[str, Any]]) -> JsonObject:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _DuplicateError
    return members


#: One for all values: `json.loads` would make a new one for each.
_DECODER = json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=_unique)


def decode(text: str, name: str, line: int | None = None) -> Any:
    """The value that is all of `text`: of one line of the file, or, without `line`, of a whole file."""
    start = len(text) - len(text.lstrip(_SPACE))
    try:
        value, end = _DECODER.raw_decode(text, start)
    except _ConstantError as error:
        raise InputError(f"{error} is not JSON", file=name, line=line, hint="write null for a missing value") from None
    except _DuplicateError:
        raise _duplicate(text, start, name, line) from None
    except json.JSONDecodeError as error:
        raise _not_json(error.msg, text, error.pos, name, line) from None
    except RecursionError:
        raise _too_deep(name, line) from None
    except ValueError as error:  # a number with thousands of digits
        raise InputError(f"this JSON can't be read: {error}", file=name, line=line) from None
    if end < len(text) and (rest := text[end:].lstrip(_SPACE)):
        raise _not_json("Extra data", text, len(text) - len(rest), name, line)
    if (_has_many("[", text) or _has_many("{", text)) and is_too_deep(value):
        raise _too_deep(name, line)
    return value


def _not_json(reason: str, text: str, place: int, name: str, line: int | None) -> InputError:
    column = place - text.rfind("\n", 0, place)
    rest = f", found {text[place : place + 20]!r}" if place < len(text) else ", the text ends there"
    return InputError(
        f"this is not JSON: {reason} at column {column}{rest}", file=name, line=(line or 1) + text.count("\n", 0, place)
    )


def is_too_deep(value: Any) -> bool:
    """Whether lists and objects are nested deeper than MAX_DEPTH."""
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        items = (inner.values() if isinstance(inner, dict) else inner for inner in level)
        level = [item for item in chain.from_iterable(items) if isinstance(item, _CONTAINERS)]
    return bool(level)


def _has_many(bracket: str, text: str) -> bool:
    """Whether there are enough of them for half of MAX_DEPTH. `count()` would take as long as decoding."""
    place = -1
    for _ in range(MAX_DEPTH // 2):
        place = text.find(bracket, place + 1)
        if place < 0:
            return False
    return True


def check_values(text: str, name: str, line: int | None = None) -> None:
    """Refuse what is nothing but brackets and commas, before it becomes objects that take fifty times its size."""
    if len(text) > _MAX_VALUES and sum(map(text.count, ",[{")) > _MAX_VALUES:
        raise InputError(
            f"more than {_MAX_VALUES:,} values in one {'document' if line is None else 'row'}",
            file=name,
            line=line,
            hint="JSON Lines (one object per line, .jsonl) may have any number of rows",
        )


def _duplicate(text: str, start: int, name: str, line: int | None) -> InputError:
    token = _second(text, start)
    place, key = (start, "?") if token is None else (token.start(), token["key"])
    return InputError(
        f"the key {key if len(key) <= 60 else key[:57] + '...'} appears for the second time in one object",
        file=name,
        line=(line or 1) + text.count("\n", 0, place),
        hint="only one of the two values can be meant: delete the other",
    )


def _second(text: str, start: int) -> re.Match[str] | None:
    """The first key that its object has already."""
    keys: list[set[str]] = []
    for token in _TOKEN.finditer(text, start):
        if token["key"] is not None:
            key = json.loads(token["key"])
            if key in keys[-1]:
                return token
            keys[-1].add(key)
        elif token[0] in "[{":
            keys.append(set())
        elif token[0] in "]}":
            keys.pop()
    return None


def _too_deep(name: str, line: int | None) -> InputError:
    return InputError(f"the JSON is nested more than {MAX_DEPTH} levels deep", file=name, line=line)
