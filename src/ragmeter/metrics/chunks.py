"""Chunks and their documents: the document's id in a chunk's id."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import regex

from ragmeter.errors import UsageError
from ragmeter.metrics.bags import Ids

#: `doc-<urn:uuid:X>::chunk-3` and `X::chunk-3` are chunks of the documents `<urn:uuid:X>` and `X`.
CHUNK_MARK = "::chunk-"
_CHUNK_ID = r"(?s)^(?:doc-(<.+>)|(.+))::chunk-\d+$"
#: Seconds that a user's pattern may take on a block of rows; most take far less than one.
_PATTERN_LIMIT = 10.0
_SHOWN = 80  # characters of an id in a message


class Pattern(str):
    """A regular expression for the document's id in a chunk's id: its first group, or the whole match."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """The pattern, if it is a valid regular expression."""
        try:
            re.compile(text)
            regex.compile(text)
        except (re.error, regex.error) as error:
            raise UsageError(f"{text!r} is not a regular expression: {error}") from None
        return cls(text)


def documents(names: Any, pattern: str | None, *, as_written: bool = False) -> Ids:
    """A number for each id, the same for the same document. `as_written`: an id is shortened by a pattern alone."""
    return numbered_documents(names, pattern, as_written=as_written)[0]


def numbered_documents(names: Any, pattern: str | None, *, as_written: bool = False) -> tuple[Ids, Any]:
    """A number for each id, as `documents()` has it, and the documents' ids in the order of these numbers."""
    encoded = names.dictionary_encode()
    distinct = encoded.dictionary
    if pattern is not None:
        distinct = pa.array(_matched(distinct.to_pylist(), pattern), pa.large_string())
    elif not as_written and pc.any(pc.match_substring(distinct, CHUNK_MARK)).as_py():
        distinct = documents_of(distinct)
    else:
        return np.asarray(encoded.indices.to_numpy(), dtype=np.int64), distinct
    of_names = distinct.dictionary_encode()
    numbers = of_names.indices.to_numpy()[encoded.indices.to_numpy()]
    return np.asarray(numbers, dtype=np.int64), of_names.dictionary


def documents_of(names: Any) -> Any:
    """The ids of the documents that these are chunks of; an id in another form stays as it is."""
    return pc.replace_substring_regex(names, _CHUNK_ID, r"\1\2")


def _matched(names: list[str], pattern: str) -> Iterator[str]:
    """The part of each id that the pattern finds, or the whole id; within a time limit, which `re` does not have."""
    compiled = regex.compile(pattern)
    group = 1 if compiled.groups else 0
    end = time.perf_counter() + _PATTERN_LIMIT
    for name in names:
        try:
            match = compiled.search(name, timeout=max(end - time.perf_counter(), 1e-3))
        except TimeoutError:
            raise UsageError(
                f"the pattern {pattern!r} takes more than {_PATTERN_LIMIT:g} seconds, at the id {_shortened(name)!r}",
                hint="avoid a repetition inside a repetition: (a|aa)+ tries every way to cut an id into pieces",
            ) from None
        yield name if match is None else match[group] or name


def _shortened(name: str) -> str:
    return name if len(name) <= _SHOWN else name[:_SHOWN] + "…"
