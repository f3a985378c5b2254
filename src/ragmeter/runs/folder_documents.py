"""Small documents beside the runs of a folder: what people say of runs. One writer at a time, replaced as a whole."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from ragmeter.errors import InputError, RagmeterWarning
from ragmeter.io.lock import file_lock
from ragmeter.io.write import dumps, replacing
from ragmeter.runs.layout import reading, unreadable

Document = dict[str, Any]


def read_or_warn(path: Path, read: Callable[[Path], Document]) -> Document:
    """A document that one can do without: where it is damaged, a warning says so, and it counts as empty."""
    try:
        return read(path)
    except InputError as error:
        _warn(str(error))
        return {}


@cache
def _warn(problem: str) -> None:
    """Say it once, however often the file is looked at."""
    warnings.warn(problem, RagmeterWarning, stacklevel=4)


def read_document(path: Path, is_value: Callable[[object], bool], should_be: str, hint: str) -> Document:
    """An object whose values all are as they should be; an empty one where there is no file."""
    if not path.is_file():
        return {}
    with reading(path, hint):
        document = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(document, dict) or not all(map(is_value, document.values())):
        raise unreadable(path, f"it should be {should_be}", hint)
    return document


@contextmanager
def changing(path: Path, what: str, read: Callable[[Path], Document]) -> Iterator[Document]:
    """The document, to be changed in place; it is written if nothing fails. Empty values are left out. A damaged one
    is an error, and stays as it is.
    """
    with file_lock(path.with_name(f".{path.name}.lock"), what, "changes them"):
        document = read(path)
        yield document
        with replacing(path) as (temporary,):
            kept = {name: value for name, value in sorted(document.items()) if value}
            temporary.write_text(dumps(kept, indent=2) + "\n", encoding="utf-8", newline="\n")
