"""Tables in a JSON document that is an object: a list for each column, rows by their ids, lists of rows under names.

An object may also be the only row, with lists in some of its cells: a list is a column where its title stands for
single values, such as `question`, or where all values are lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragmeter.errors import InputError, did_you_mean
from ragmeter.hints import option
from ragmeter.io.decoding import JsonObject
from ragmeter.io.titles import by_alias, is_title
from ragmeter.table import LIST_COLUMNS, QID, NewRow

Say = Callable[[str], None]
_NAMED = 5


def rows_of_table(document: JsonObject, name: str, split: str | None, say: Say) -> list[Any] | None:
    """The rows of an object that is a table, or that has tables under names; None if it is a row itself."""
    columns = _columns(document)
    if columns:
        others = [key for key in document if key not in columns]
        say("read as a table with a list for each column" + (f"; not read: {_some(others)}" if others else ""))
        count = same_length(columns, name)
        return [{title: column[place] for title, column in columns.items()} for place in range(count)]
    if document and all(isinstance(value, dict) for value in document.values()):
        return _rows_of_objects(document, say)
    return None if any(map(is_title, document)) else _rows_under_names(document, name, split, say)


def same_length(columns: Mapping[str, Sequence[Any]], name: str) -> int:
    """The number of rows of columns; an error if it is not the same for all, or 0."""
    lengths = {title: len(column) for title, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{title} has {length:,}" for title, length in lengths.items())
        raise InputError(f"the lists differ in length: {shown}", file=name)
    count = next(iter(lengths.values()))
    if count == 0:
        raise InputError("the lists have no rows", file=name)
    return count


def holds_rows(value: Any) -> bool:
    """Whether this is a list of rows: any of its items is an object. A list of texts or numbers is a cell.

    Among rows, an item that is not an object is an error.
    """
    return isinstance(value, list) and (not value or any(isinstance(row, dict) for row in value))


def _columns(document: JsonObject) -> dict[str, list[Any]]:
    """The lists of an object that are columns; none if they are cells, or lists of rows."""
    lists = {key: value for key, value in document.items() if isinstance(value, list)}
    if any(is_title(key) and not _is_list_column(key) for key in lists):
        return lists
    rows = any(map(holds_rows, lists.values()))
    cells = all(_is_list_column(key) and not any(isinstance(item, list) for item in lists[key]) for key in lists)
    return {} if rows or cells or len(lists) < len(document) else lists


def _is_list_column(title: str) -> bool:
    """Whether a column of this title has lists in its cells."""
    return any(name in LIST_COLUMNS for name in by_alias([title], "both"))


def _rows_of_objects(document: Mapping[str, JsonObject], say: Say) -> list[NewRow] | None:
    """The rows of an object of objects: columns with a value for each row, as pandas writes them, or rows by id."""
    first, *others = (dict.fromkeys(value) for value in document.values())
    if not first or any(other.keys() != first.keys() for other in others):
        return None
    if any(map(is_title, document)) and not any(map(is_title, first)):
        say("read as a table with an object for each column, as pandas writes it")
        return [{title: column[row] for title, column in document.items()} for row in first]
    if others and any(map(is_title, first)):
        say("read as a row for each key")
        has_id = QID in by_alias(list(first), "both")
        return [row if has_id else {QID: key, **row} for key, row in document.items()]
    return None


def _rows_under_names(document: JsonObject, name: str, split: str | None, say: Say) -> list[Any] | None:
    """The only list of rows that an object has; an error if it has several, of which `split` names none."""
    lists: dict[str, list[Any]] = {key: value for key, value in document.items() if value and holds_rows(value)}
    if not lists:
        return None
    key, *others = lists
    if others:
        shown = _some([f"{key} ({len(rows):,})" for key, rows in lists.items()])
        meant = "" if split is None else f", and no {split!r}{did_you_mean(split, list(lists))}"
        raise InputError(
            f"the object has several lists of rows: {shown}{meant}",
            file=name,
            hint=f"say which one: {option('split', key)}",
        )
    say(f"the rows are those under {key!r}")
    return lists[key]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
