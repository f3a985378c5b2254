"""Batches and scores as Arrow, the form in which they travel to another process and back. Nothing is pickled.

A batch is a stream of one table (its columns, then `lines` and `causes` where it has them) and, where vectors were
filled, a second stream with those. Scores are one stream: their bytes are the same on both sides.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np
import pyarrow as pa

from ragmeter.table import LIST_COLUMNS, NUMBER_COLUMNS, Batch, Column, EmbeddedKey, Embeddings, ScoreColumns

_ABOUT = b"ragmeter"
_LISTS = pa.list_(pa.large_string())


class _AboutBatch(TypedDict):
    """What the stream of a batch says about itself; `lines` and `causes` are the numbers of their columns."""

    columns: list[str]
    embedded: list[EmbeddedKey]
    lines: NotRequired[int]
    causes: NotRequired[int]


class _AboutScores(TypedDict):
    """What the stream of scores says: each metric's column of outcomes, and the words that its codes stand for."""

    outcomes: list[int]
    words: list[list[str]]


class _AboutVectors(TypedDict):
    """The dimensions of each embedded column's vectors."""

    dimensions: list[int]


def to_arrow(batch: Batch) -> bytes:
    """A batch as bytes. Its cells are texts, lists of texts and numbers, as readers leave them."""
    arrays = {name: array_of(name, column) for name, column in batch.columns.items()}
    about: _AboutBatch = {"columns": list(arrays), "embedded": list(batch.embedded)}
    fields = list(arrays.items())
    if len(batch.lines):
        about["lines"] = len(fields)  # by its place: a column may have that name too
        fields.append(("lines", pa.array(list(batch.lines), pa.int64())))
    if len(batch.causes):
        about["causes"] = len(fields)
        fields.append(("causes", pa.array(list(batch.causes), pa.large_string())))
    sink = pa.BufferOutputStream()
    _write(sink, fields, about)
    if batch.embedded:
        _write_embedded(sink, list(batch.embedded.values()))
    return bytes(sink.getvalue())


def from_arrow(data: bytes) -> Batch:
    """The batch of `to_arrow`."""
    reader = pa.BufferReader(data)
    about: _AboutBatch
    table, about = _read(reader)
    columns = {name: table.column(place).to_pylist() for place, name in enumerate(about["columns"])}
    lines = table.column(about["lines"]).to_pylist() if "lines" in about else ()
    causes = table.column(about["causes"]).to_pylist() if "causes" in about else ()
    embedded: Mapping[EmbeddedKey, Embeddings] = {}
    if about["embedded"]:
        keys = [(tuple(needs), tuple(optional), name) for needs, optional, name in about["embedded"]]
        embedded = dict(zip(keys, _read_embedded(reader), strict=True))
    return Batch(columns, lines, causes, embedded)


def scores_to_arrow(scores: ScoreColumns) -> bytes:
    """Scores and outcomes as bytes. Metrics that share a list of outcomes share it on the other side as well."""
    fields = [(name, _from_numpy(np.ascontiguousarray(values), pa.float64())) for name, (values, _) in scores.items()]
    shared: dict[int, int] = {}
    words: list[list[str]] = []
    for _, outcomes in scores.values():
        if id(outcomes) not in shared:
            shared[id(outcomes)] = len(words)
            places = {outcome: place for place, outcome in enumerate(dict.fromkeys(outcomes))}
            codes = np.fromiter(map(places.__getitem__, outcomes), np.int32, len(outcomes))
            words.append(list(places))
            fields.append(("outcomes", _from_numpy(codes, pa.int32())))
    about: _AboutScores = {"outcomes": [shared[id(outcomes)] for _, outcomes in scores.values()], "words": words}
    sink = pa.BufferOutputStream()
    _write(sink, fields, about)
    return bytes(sink.getvalue())


def scores_from_arrow(data: bytes) -> ScoreColumns:
    """The scores of `scores_to_arrow`."""
    about: _AboutScores
    table, about = _read(pa.BufferReader(data))
    places = about["outcomes"]
    lists = [
        [words[code] for code in _to_numpy(table.column(len(places) + place), np.int32).tolist()]
        for place, words in enumerate(about["words"])
    ]
    return {
        name: (_to_numpy(table.column(place), np.float64), lists[outcomes])
        for place, (name, outcomes) in enumerate(zip(table.schema.names[: len(places)], places, strict=True))
    }


def array_of(name: str, column: Column) -> Any:
    """A column of the table as an Arrow array, of the type that its name says."""
    if name in NUMBER_COLUMNS:
        return pa.array(column, pa.float64())
    if name in LIST_COLUMNS:
        return pa.array(column, _LISTS)
    try:
        return pa.array(column, pa.large_string())
    except (pa.ArrowTypeError, pa.ArrowInvalid):  # a column of numbers: what a judge is sure of, for one
        return pa.array(column)


def _from_numpy(values: Any, kind: Any) -> Any:
    """An Arrow array over the values' memory. `pa.array` would import pandas, in every worker."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _to_numpy(column: Any, kind: Any) -> Any:
    """A column without nulls that may be written to."""
    return np.frombuffer(column.buffers()[1], kind, len(column)).copy() if len(column) else np.zeros(0, kind)


def _write(sink: Any, fields: Sequence[tuple[str, Any]], about: _AboutBatch | _AboutScores | _AboutVectors) -> None:
    schema = pa.schema([(name, array.type) for name, array in fields], {_ABOUT: json.dumps(about)})
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_batch(pa.record_batch([array for _, array in fields], schema=schema))


def _read(source: Any) -> tuple[Any, Any]:
    """The table of the next stream, and what it says about itself: both are `_write`'s."""
    with pa.ipc.open_stream(source) as reader:
        batch = reader.read_next_batch()
        reader.read_all()  # to the stream's end, where the next one begins
        return batch, json.loads(batch.schema.metadata[_ABOUT])


def _write_embedded(sink: Any, values: Sequence[Embeddings]) -> None:
    parts = {
        name: [np.ascontiguousarray(getattr(value, name)) for value in values]
        for name in ("vectors", "reference", "answer")
    }
    fields = [(name, pa.array([array.data for array in arrays], pa.large_binary())) for name, arrays in parts.items()]
    about: _AboutVectors = {"dimensions": [value.vectors.shape[1] for value in values]}
    _write(sink, fields, about)


def _read_embedded(source: Any) -> list[Embeddings]:
    about: _AboutVectors
    table, about = _read(source)
    vectors, reference, answer = ([value.as_buffer() for value in column] for column in table.columns)
    return [
        Embeddings(
            np.frombuffer(vectors[place], np.float32).reshape(-1, dimensions),
            np.frombuffer(reference[place], np.int64),
            np.frombuffer(answer[place], np.int64),
        )
        for place, dimensions in enumerate(about["dimensions"])
    ]
