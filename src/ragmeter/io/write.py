"""Atomic writes of files, and cells that no spreadsheet runs as formulas."""

from __future__ import annotations

import csv
import errno
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from ragmeter.errors import OutputError
from ragmeter.hints import option
from ragmeter.io.cells import whole
from ragmeter.io.delimited.formulas import guarded

FORMATS = ("tsv", "csv", "jsonl", "parquet", "xlsx")
#: Default output folders.
RUNS = Path("runs")
EVALUATION_RESULTS = Path("data/evaluation_results")

#: What this process has put into place, in that order: an interruption afterwards has not undone it.
WRITTEN: dict[str, None] = {}

#: Windows does not replace a file that a program has open: access denied, or a sharing violation.
_OPEN_ELSEWHERE = (5, 32)
_NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG)
_DELIMITERS = {"tsv": "\t", "csv": ","}
_NUMBERS = {int, float, bool, type(None)}


@contextmanager
def replacing(*paths: Path, private: bool = False) -> Iterator[list[Path]]:
    """Temporary paths to write to; they replace `paths` at the end, and are deleted after an error.

    Files that are `private`, and folders that are created for them, are their owner's only.
    """
    temporary = [path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in paths]
    try:
        for path, written in zip(paths, temporary, strict=True):
            path.parent.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
            if private:
                written.touch(mode=0o600)
        yield temporary
        for written in temporary:
            with written.open("r+b") as file:  # Windows can only flush a file that is open for writing
                os.fsync(file.fileno())
        for written, path in zip(temporary, paths, strict=True):
            written.replace(path)
            WRITTEN[str(path)] = None
    except OSError as error:
        written_to = dict(zip(map(str, temporary), paths, strict=True))
        place = written_to.get(str(error.filename), error.filename) or paths[0]
        raise OutputError(f"can't write {place}: {error.strerror or error}", hint=remedy(error)) from error
    finally:
        for leftover in temporary:
            with suppress(OSError):
                leftover.unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, so that after a loss of power a replaced file is the new one."""
    if os.name != "posix":  # others have no open folders
        return
    with suppress(OSError):  # nor have some network file systems
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remedy(error: Exception, elsewhere: str = "choose another folder") -> str:
    """What helps where a file can't be written. `elsewhere` says how to write to another place."""
    if getattr(error, "winerror", None) in _OPEN_ELSEWHERE:
        return f"close the program that has it open, or {elsewhere}"
    number = getattr(error, "errno", None)
    return elsewhere if number in _NOT_ALLOWED else f"{elsewhere}, or free some space"


def check_writable(folder: Path, named_by: str = option("output_dir")) -> None:
    """Raise if a folder can't be written to, before any work is done. `named_by` is the option that names it."""
    present = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not present.is_dir() or not os.access(present, os.W_OK):
        raise OutputError(f"can't write into {folder}", hint=f"choose another folder with {named_by}")


def table_format(path: Path) -> str:
    """The format of a table that is CSV unless its name says that it is for Excel; raises if that can't be written."""
    file_format = "xlsx" if path.suffix.lower() == ".xlsx" else "csv"
    check_format(file_format)
    return file_format


def check_format(file_format: str) -> None:
    """Raise if a package is missing that writes this format, before any work is done."""
    if file_format == "xlsx":
        from ragmeter.io.formats.xlsx import load_openpyxl

        load_openpyxl("writing Excel files")


def write_rows(
    path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]], file_format: str, *, guard: bool = True
) -> None:
    """Rows in one of the formats. Numbers are written in full; a missing cell is empty, or null where that exists."""
    if file_format in _DELIMITERS:
        cells = ([_cell(value, guard) for value in row] for row in rows)
        _write_cells(path, [_cell(title, guard) for title in columns], cells, file_format)
    elif file_format == "xlsx":
        from ragmeter.io.formats import xlsx

        plain = ([value if isinstance(value, str) else _cell(value, guard) for value in row] for row in rows)
        xlsx.write(path, columns, plain, guard=guard)
    elif file_format == "jsonl":
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for row in rows:
                file.write(dumps(dict(zip(columns, row, strict=True))) + "\n")
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        by_column = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in columns]
        table = pa.table({title: _array(cells) for title, cells in zip(columns, by_column, strict=True)})
        with path.open("wb") as file:
            pq.write_table(table, file)


def write_columns(path: Path, columns: Mapping[str, Sequence[Any]], file_format: str, *, guard: bool = True) -> None:
    """Write a file from whole columns, which is faster than `write_rows`."""
    if file_format not in _DELIMITERS:
        write_rows(path, list(columns), zip(*columns.values(), strict=True), file_format, guard=guard)
        return
    cells = [_cells(column, guard) for column in columns.values()]
    _write_cells(path, [_cell(title, guard) for title in columns], zip(*cells, strict=True), file_format)


def _write_cells(path: Path, titles: Sequence[str], rows: Iterable[Sequence[Any]], file_format: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(_Lines(file), delimiter=_DELIMITERS[file_format], lineterminator="\r\n")
        writer.writerow(titles)
        writer.writerows(rows)


def _cells(column: Sequence[Any], guard: bool) -> Sequence[Any]:
    """The cells of a column as they are written. Most texts begin with a letter or a digit, which no formula does."""
    if set(map(type, column)) <= _NUMBERS:
        return column
    return [
        value if type(value) is str and value[:1].isalnum() and value[:1].isascii() else _cell(value, guard)
        for value in column
    ]


class _Lines:
    """Ends rows with a line feed. The writer itself uses CR LF, so that it quotes a cell with a carriage return."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, row: str) -> None:
        self._file.write(row.removesuffix("\r\n") + "\n")


def _array(cells: list[Any]) -> Any:
    """A column for Parquet; one that mixes texts with lists or numbers is written as JSON."""
    import pyarrow as pa

    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if cell is None else cell if isinstance(cell, str) else dumps(cell) for cell in cells])


def _record(value: Any) -> Any:
    """A record as JSON has it."""
    if not hasattr(type(value), "__struct_fields__"):
        raise TypeError(f"{type(value).__name__} can't be written as JSON")
    from ragmeter.documents.record import plain  # most of what is written has no records

    return plain(value)


#: One for all plain values: `json.dumps` would make a new one for each.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_record)


def dumps(value: Any, *, indent: int | None = None, default: Callable[[Any], Any] | None = None) -> str:
    """Strict JSON: null for NaN, text not escaped. `default` converts what JSON can't represent, other than records."""
    encoder = _ENCODER
    if indent is not None or default is not None:
        encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=indent, default=default or _record)
    try:
        text = encoder.encode(value)
    except ValueError:
        text = encoder.encode(_without_nan(value))
    return text if text.isascii() else whole(text)


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _without_nan(member) for key, member in value.items()}
    if hasattr(type(value), "__struct_fields__"):
        return _without_nan(_record(value))
    return [_without_nan(member) for member in value] if isinstance(value, list | tuple) else value


def _cell(value: Any, guard: bool) -> Any:
    if isinstance(value, str):
        return guarded(value) if guard else value
    if isinstance(value, list | dict):
        return dumps(value)
    return value
