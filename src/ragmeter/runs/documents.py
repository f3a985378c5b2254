"""What is read of a run's documents and of its table has the shape that the rest of ragmeter relies on.

A folder may have been edited, damaged or written by another program: all is checked here, once, where it is read.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from functools import cache
from typing import Any, TypeVar

import msgspec
import pyarrow as pa

from ragmeter.documents.manifest import Manifest
from ragmeter.documents.record import Record
from ragmeter.documents.summary import Summary
from ragmeter.io.cells import whole
from ragmeter.io.locations import Location
from ragmeter.runs.layout import INCOMPLETE, SUMMARY, reading, unreadable
from ragmeter.table import LIST_COLUMNS, NUMBER_COLUMNS, TEXT_COLUMNS, Scores, outcome_column

R = TypeVar("R", bound=Record)

_LARGEST_SCORE = 1e100
_IN_WORDS = {
    "int": "a whole number",
    "float": "a finite number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
#: msgspec's message about a value of another type, and about one out of its limits.
_EXPECTED = re.compile(r"Expected `(?P<types>[^`]*)`(?P<limit>[^,]*?)(, got .*)?")
_PLACE = re.compile(r" - at (`key` in )?`\$(?P<place>[^`]*)`$")
_STEPS = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<number>\d+|\.\.\.)\]")


def read_manifest(path: Location) -> Manifest:
    """A manifest, checked."""
    return read_record(path, Manifest)


def read_summary(path: Location) -> Summary:
    """A summary, checked."""
    return read_record(path, Summary)


def read_record(path: Location, kind: type[R], hint: str = INCOMPLETE) -> R:
    """A JSON object of this type. An error names the file, the place in it, what is wrong there, and says `hint`."""
    with reading(path, hint):
        content = path.read_bytes()
        try:
            if rb"\u" not in content:
                decoded: R = _decoder(kind).decode(content)
                return decoded
            return msgspec.convert(_parsed(content), kind)
        except msgspec.ValidationError as error:
            wrong = _problem(_parsed(content), kind, str(error))
    raise unreadable(path, wrong, hint)


@cache
def _decoder(kind: type[R]) -> msgspec.json.Decoder[R]:
    return msgspec.json.Decoder(kind)


def _parsed(content: bytes) -> Any:
    """What JSON says. Half of a surrogate pair, which can't be written anywhere, is made whole."""
    return _whole(json.loads(content.decode("utf-8"), parse_constant=_refused, parse_float=_finite))


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no number that JSON has")


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        raise ValueError(f"{number[:40]} is out of range")
    return value


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {whole(key): _whole(member) for key, member in value.items()}
    return [_whole(member) for member in value] if isinstance(value, list) else value


def _problem(content: Any, kind: type[Record], message: str) -> str:
    """The message of a wrong value with its place, in words that need no knowledge of JSON libraries."""
    if not isinstance(content, dict):
        return "it is not a JSON object"
    place, value = _found(content, kind, message)
    name = place.removeprefix(".") or "it"
    reason = _PLACE.sub("", message)
    if missing := re.fullmatch("Object missing required field `(.*)`", reason):
        return f"{name} has no {missing[1]}"
    if reason.startswith("Number out of range"):
        reason = "Expected `float`"
    expected = _EXPECTED.fullmatch(reason)
    if expected is None:
        return f"{name}: {reason}" if place else reason
    shown = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else repr(value)[:40]
    return f"{name} should be {_wanted(expected['types'], expected['limit'])}, got {shown}"


def _wanted(types: str, limit: str) -> str:
    """What is expected, in words; a null that is allowed too is not worth a word."""
    words = [_IN_WORDS.get(name, name) for name in types.split(" | ") if name != "null"]
    if choices := re.fullmatch(r" matching regex '\^\((.*)\)\$'", limit):
        return f"one of {', '.join(choices[1].split('|'))}"
    if least := re.fullmatch(r" >= (\d+)", limit):
        return f"{words[0]} from {least[1]} up"
    if most := re.fullmatch(r" <= (\d+)", limit):
        return f"{words[0]} up to {most[1]}"
    if limit in (" > 0.0", " < 1.0"):
        return "between 0 and 1"
    return " or ".join(words) + limit.replace(" of length", " of")


def _place(message: str) -> str:
    match = _PLACE.search(message)
    return match["place"] if match else ""


def _found(content: dict[str, Any], kind: type[Record], message: str) -> tuple[str, Any]:
    """The place that a message is about, such as `.metrics.token_f1.mean`, and the value there.

    Of an object whose members have any names, msgspec says `[...]`: the member is found by leaving out all others.
    """
    place = ""
    value: Any = content
    for step in _STEPS.finditer(_place(message)):
        if not isinstance(value, dict | list):  # a name in the message may look like a place
            break
        if step["name"] is not None:
            key: Any = step["name"]
        elif step["number"] == "..." and isinstance(value, dict):
            key = _wrong_member(content, kind, message, value)
        else:
            key = int(step["number"])
        place += f"[{key}]" if isinstance(key, int) else f".{key}"
        value = value[key]
    return place, value


def _wrong_member(content: dict[str, Any], kind: type[Record], message: str, parent: dict[str, Any]) -> str:
    """The name of the first member of `parent`, which is inside the content, that the message is about."""
    members = dict(parent)
    for name, member in members.items():
        parent.clear()
        parent[name] = member
        try:
            msgspec.convert(content, kind)
        except msgspec.ValidationError as error:
            if _place(str(error)) == _place(message):  # of a list's length, the messages of msgspec differ
                break
    parent.clear()
    parent.update(members)
    return name


def scores_problem(metric: str, scores: Scores, *, binary: bool) -> str:
    """What is wrong with scores: they are infinite or so large that their squares would be, or are no shares."""
    least, most = (0.0, 1.0) if binary else (-_LARGEST_SCORE, _LARGEST_SCORE)
    wrong = scores[(scores < least) | (scores > most)]
    return f"{metric} has a score of {wrong[0]}, and it should be from {least} to {most}" if len(wrong) else ""


def table_problem(schema: pa.Schema, n_rows: int, summary: Summary) -> str:
    """What is wrong with a table: its columns have other types than a run's, or it is not the summary's."""
    repeated = [name for name, number_of in Counter(schema.names).items() if number_of > 1]
    if repeated:
        return f"the column {repeated[0]!r} occurs twice"
    if n_rows != summary.n_rows:
        return f"it has {n_rows:,} rows, and {SUMMARY} says {summary.n_rows:,}"
    wanted: dict[str, tuple[str, Any]] = {
        **dict.fromkeys(TEXT_COLUMNS, ("texts", _is_text)),
        **dict.fromkeys(LIST_COLUMNS, ("lists of texts", _is_list)),
        **dict.fromkeys((*NUMBER_COLUMNS, *summary.metrics), ("numbers", _is_number)),
        **dict.fromkeys(map(outcome_column, summary.metrics), ("texts", _is_text)),
    }
    for field in schema:
        kind, is_right = wanted.get(field.name, ("", None))
        if is_right is not None and not is_right(field.type):
            return f"the column {field.name!r} should have {kind}, and has {field.type}"
    return ""


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool((pa.types.is_list(kind) or pa.types.is_large_list(kind)) and _is_text(kind.value_type))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))
