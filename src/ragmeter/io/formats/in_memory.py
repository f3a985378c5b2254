"""Rows that Python has in memory: dicts in a list or a generator, a dict of lists, a Dataset of Hugging Face.

In place of a dict stands any object with attributes, such as DeepEval's LLMTestCase or a sample of Ragas, alone, in a
list or in the tool's own EvaluationDataset. All are known by what they have, so that nothing need be installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import partial
from typing import Any

from ragmeter.errors import InputError, UsageError, did_you_mean
from ragmeter.hints import option
from ragmeter.io.batches import ROWS, batches_of_records, numbered
from ragmeter.io.titles import text_column
from ragmeter.io.tools.json_tables import same_length
from ragmeter.table import Batch, Row

#: Where an EvaluationDataset has its rows: Ragas's; DeepEval's, with answers or else with questions alone.
_ROWS_OF_DATASETS = ("samples", "test_cases", "goldens")
#: What one row alone has, of Ragas or DeepEval.
_ROW_ATTRIBUTES = ("user_input", "actual_output", "turns")
#: Lists of objects that are no passages: messages, calls of tools.
_LISTS = ("user_input", "turns", "tools_called", "expected_tools", "reference_tool_calls", "tool_calls")
_PASSAGES = "retrieval_context"


@dataclass(frozen=True)
class InMemoryRows:
    """Rows that can be read several times; `count` is None where it is not known."""

    batches: Callable[[], Iterator[Batch]]
    count: int | None


def rows_of(data: Any, what: str, split: str | None) -> InMemoryRows | None:
    """The rows of an object; None if it has none that can be read. `split` chooses one of several data sets."""
    if isinstance(data, Mapping):
        if data and all(map(_is_dataset, data.values())):
            return rows_of(_split(data, split), what, None)
        return _columns(data, what)
    data = _as_rows(data)
    if _is_dataset(data):  # it may be too large for the memory: read again each time
        count = len(data) if hasattr(data, "__len__") else None
        return InMemoryRows(lambda: batches_of_records(numbered(_dicts(data, what)), what), count)
    if isinstance(data, str | bytes) or not isinstance(data, Iterable):
        return None
    if hasattr(data, "to_pandas"):
        return None  # it says itself what its columns are
    rows = data if isinstance(data, Sequence) else list(data)  # a generator can be read only once
    if not all(isinstance(row, Mapping) for row in rows):
        records = [_record(row) for row in rows]
        if any(record is None for record in records):
            return None
        rows = [record for record in records if record is not None]
    if not rows:
        raise InputError("the list has no rows", file=what)
    return InMemoryRows(lambda: batches_of_records(numbered(rows), what), len(rows))


def _as_rows(data: Any) -> Any:
    """The rows of an EvaluationDataset, or a row that is not in a list as a list of one; anything else as it is."""
    if isinstance(data, type | str | bytes | list | tuple):
        return data
    for name in _ROWS_OF_DATASETS:
        rows = getattr(data, name, None)
        if isinstance(rows, list) and rows:
            return rows
    return [data] if any(name in getattr(data, "__dict__", ()) for name in _ROW_ATTRIBUTES) else data


def _record(item: Any) -> Row | None:
    """A dict as it is, an object's public attributes by their names; None for what has none.

    An attribute that is None is left out, since Ragas and DeepEval have dozens, but for a question, a reference or an
    answer: that one is missing.
    """
    if isinstance(item, Mapping):
        return item
    if isinstance(item, type) or callable(item):
        return None
    if is_dataclass(item):
        names = [field.name for field in fields(item)]
    else:
        names = list(getattr(item, "_fields", ()) or getattr(item, "__dict__", ()))
    record = {name: getattr(item, name) for name in names if isinstance(name, str) and name[:1] != "_"}
    return {
        name: _cell(name, value) for name, value in record.items() if value is not None or text_column(name)
    } or None


def _cell(name: str, value: Any) -> Any:
    """An attribute as a cell: messages and calls of tools are objects of JSON."""
    if not isinstance(value, list):
        return value
    if name == _PASSAGES:
        return [_passage(item) for item in value]
    return [_plain(item) for item in value] if name in _LISTS else value


def _passage(item: Any) -> Any:
    """DeepEval's RetrievedContextData as an object with a text."""
    text = getattr(item, "context", None)
    return {"text": text, "source": getattr(item, "source", None)} if isinstance(text, str) else item


def _plain(value: Any) -> Any:
    """An object with attributes as an object of JSON, and what is in it likewise."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    record = value if isinstance(value, Mapping) else _record(value)
    if record is None:
        return str(value)
    plain = {str(key): [_passage(item) for item in part] if key == _PASSAGES and part else _plain(part)
             for key, part in record.items()}  # fmt: skip
    return {key: part for key, part in plain.items() if part is not None}


def _is_dataset(data: Any) -> bool:
    """Whether this is a Dataset of Hugging Face, or a streamed one: rows are dicts, and columns have names."""
    return hasattr(data, "column_names") and hasattr(data, "features") and hasattr(data, "__iter__")


def _dicts(data: Any, what: str) -> Iterator[Row]:
    """The rows of a Dataset as plain dicts, whatever it was told to make of them (arrays of numpy, tensors)."""
    plain = data.with_format(None) if hasattr(data, "with_format") else data
    empty = True
    for row in plain:
        empty = False
        yield row
    if empty:
        raise InputError("the data set has no rows", file=what)


def _split(data: Mapping[str, object], split: str | None) -> Any:
    names = ", ".join(data)
    if split is None:
        if len(data) == 1:
            return next(iter(data.values()))
        first = next(iter(data))
        raise UsageError(f"the DatasetDict has {names}", hint=f"say which with {option('split', first)}")
    if split not in data:
        raise UsageError(
            f"the DatasetDict has no split {split!r}{did_you_mean(split, list(data))}", hint=f"it has {names}"
        )
    return data[split]


def _columns(data: Mapping[object, Any], what: str) -> InMemoryRows | None:
    """A dict of lists of one length: a list for each column."""
    columns = {str(title): column.tolist() if hasattr(column, "tolist") else column for title, column in data.items()}
    if not columns or not all(isinstance(column, list | tuple) for column in columns.values()):
        return None
    count = same_length(columns, what)
    return InMemoryRows(partial(_batches, columns, count), count)


def _batches(columns: Mapping[str, Sequence[Any]], count: int) -> Iterator[Batch]:
    for begin in range(0, count, ROWS):
        end = min(begin + ROWS, count)
        yield Batch({title: list(column[begin:end]) for title, column in columns.items()}, range(begin + 1, end + 1))
