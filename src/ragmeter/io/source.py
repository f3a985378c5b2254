"""Sources of rows: a path or a frame becomes batches of raw rows, whatever the format.

The format follows from the file's ending, compression from its first bytes. Cells are not converted: `007`, `NA` and
`None` stay text.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from ragmeter.errors import InputError, UsageError, errors_of
from ragmeter.io.batches import ROWS
from ragmeter.io.delimited.spans import Span, open_span
from ragmeter.io.formats import beir, in_memory, parquet
from ragmeter.io.formats.datasets import DataFile, files_of, is_glob, single
from ragmeter.io.formats.parquet import Choose
from ragmeter.io.limits import Limit, read_once
from ragmeter.io.locations import Location, StorePath, location
from ragmeter.io.readers import File, decimal_of, format_of, is_compressed, reader_of
from ragmeter.io.reading import Reading, checked
from ragmeter.io.text_stream import Opener
from ragmeter.io.tools.spans.traces import Traces
from ragmeter.table import Batch, NewRow

#: The files of a run that is read as a table of its rows: a test set, for one.
_RUN = ("rows.parquet", "manifest.json")


@dataclass(frozen=True)
class Source:
    """Something to read rows from. `batches()` reads it from the start each time it is called.

    `n_rows` is None where the number of rows is not known without reading them. `files` are those of a data set, be it
    a folder, a pattern or what is in a store; of a data set, `some` reads those columns alone that are chosen.
    `notes` say how the data was understood, where that could be otherwise; reading adds to them. `passages` gives the
    texts of documents by their ids, where the data has them. `decimal` is the mark in numbers that are texts. `traces`
    keeps the rows of data whose records are spans.
    """

    name: str
    path: Location | None
    batches: Callable[[], Iterator[Batch]]
    n_rows: int | None = None
    files: tuple[DataFile, ...] = ()
    some: Callable[[Choose], Iterator[Batch]] | None = None
    notes: list[str] = field(default_factory=list)
    passages: Callable[[Collection[str]], dict[str, str]] | None = None
    decimal: str = "."
    traces: Traces = field(default_factory=Traces)

    def say(self, text: str) -> None:
        """Add a note; reading again adds nothing."""
        _say(self.notes, self.name, text)

    def records(self) -> Iterator[tuple[int, NewRow]]:
        """The source's rows one by one as dicts, each with its line."""
        for batch in self.batches():
            names = list(batch.columns)
            rows = zip(*batch.columns.values(), strict=True)
            for line, row in zip(batch.lines, rows, strict=True):
                yield line, dict(zip(names, row, strict=True))


def stem(path: Location) -> str:
    """A file's name without its endings; of a pattern, the name of the folder that it is in."""
    while is_glob(path):
        path = path.parent
    return Path(path.stem).stem if is_compressed(path) else path.stem


def open_source(data: Any, reading: Reading = Reading(), *, what: str = "results") -> Source:  # noqa: B008 - frozen
    """A source for a path or an address, rows in memory (`in_memory.py`), or a pandas, polars or Arrow frame.

    A path may be that of a folder, or a pattern. `what` names data without a file.
    """
    if isinstance(data, str | Path | StorePath):
        return _open_location(location(data), checked(reading))
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "to_arrow"):
        if hasattr(data, "__len__"):
            return Source(what, None, partial(_read_frame, partial(_arrow, data, what), what), len(data))
        return Source(
            what, None, partial(_read_frame, cache(partial(_arrow, data, what)), what)
        )  # a stream is read once
    if (rows := in_memory.rows_of(data, what, reading.split)) is not None:
        return Source(what, None, rows.batches, rows.count)
    if callable(to_pandas := getattr(data, "to_pandas", None)) and not isinstance(data, type):
        with errors_of(f"to_pandas() of {type(data).__name__}"):
            frame = to_pandas()
            n_rows = len(frame)
        return Source(what, None, partial(_read_frame, partial(_arrow, frame, what), what), n_rows)
    raise UsageError(
        f"can't read rows from {type(data).__name__}",
        hint="give a path, a list or a generator of dicts or of objects with attributes, a dict of lists, a pandas, "
        "polars or Arrow frame, or a Dataset of Hugging Face",
    )


def _open_location(path: Location, reading: Reading) -> Source:
    name = str(path)
    if isinstance(path, Path) and all((path / file).is_file() for file in _RUN):
        return replace(open_file(path / _RUN[0], reading), name=name)
    if isinstance(path, Path) and beir.is_beir(path):
        qrels, note = beir.qrels_of(path, reading.split)
        queries = open_file(beir.queries_of(path), reading)
        documents = beir.corpus_of(path)
        corpus = None if documents is None else open_file(documents, reading)
        return beir.with_questions(open_file(qrels, reading), queries, corpus, path, note)
    if is_glob(path) or path.is_dir():
        files = tuple(files_of(path))
    elif not path.exists():
        hint = "" if isinstance(path, StorePath) else f"the current folder is {Path.cwd()}"
        raise InputError("there is no such file", file=name, hint=hint)
    elif isinstance(path, StorePath) and not path.is_web:
        files = (single(path),)
    else:
        return open_file(path, reading)
    for file in files:  # a file of another kind is an error at once, not after an hour
        open_file(file.location, reading)
    return data_set(name, path, files, reading)


def data_set(name: str, path: Location, files: Sequence[DataFile], reading: Reading) -> Source:
    """The files as one source, one after the other."""

    def some(choose: Choose | None) -> Iterator[Batch]:
        for file in files:
            yield from of_data_set(open_file(file.location, reading, choose=choose), file)

    decimal = next((mark for file in files if (mark := decimal_of(format_of(file.location), reading)) != "."), ".")
    return Source(name, path, partial(some, None), None, tuple(files), some, decimal=decimal)


def of_data_set(source: Source, file: DataFile) -> Iterator[Batch]:
    """The batches of a file with the columns that the names of its folders give, where it has none of that name."""
    for batch in source.batches():
        of_folders = {title: [value] * len(batch) for title, value in file.partition if title not in batch.columns}
        batch.columns = {**batch.columns, **of_folders}
        batch.file = file.name
        yield batch


def open_file(
    path: Location,
    reading: Reading,
    *,
    choose: Choose | None = None,
    groups: Sequence[int] | None = None,
    span: Span | None = None,
) -> Source:
    """One file, or a piece of it: some row groups of a Parquet file, some lines of a text file."""
    name, ending = str(path), format_of(path)
    can_be_opened_again = not path.is_web if isinstance(path, StorePath) else path.is_file()
    content = cache(partial(_read_once, path))  # a pipe can be read only once, and a web server is asked once
    opened: Opener = (lambda: path.open("rb")) if can_be_opened_again else lambda: io.BytesIO(content())
    notes: list[str] = []
    say, limit = partial(_say, notes, name), Limit.of(reading.max_field)
    file = File(name, ending, opened, reading, limit, say, choose, groups, is_piece=span is not None)
    read = reader_of(file)
    if span is not None:
        file = replace(file, opened=partial(open_span, path, span))
    known_path = path if can_be_opened_again else None
    return Source(name, known_path, partial(read, file), notes=notes, decimal=decimal_of(ending, reading))


def _read_once(path: Location) -> bytes:
    with path.open("rb") as stream:
        return read_once(stream, str(path))


def _say(notes: list[str], name: str, text: str) -> None:
    """Add a note about a file; reading it again adds nothing."""
    if (note := f"{name}: {text}") not in notes:
        notes.append(note)


def _arrow(frame: Any, what: str) -> Any:
    try:
        return frame.to_arrow() if hasattr(frame, "to_arrow") else pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(
            f"the {type(frame).__name__} can't be read: {error}",
            file=what,
            hint="it should be a frame with named columns; if one of them mixes types, make it text first",
        ) from None


def _read_frame(read: Callable[[], Any], what: str) -> Iterator[Batch]:
    table = read()
    if table.num_rows == 0:
        raise InputError("the frame has no rows", file=what)
    try:
        yield from parquet.batches_of_arrow(table.to_batches(max_chunksize=ROWS))
    except (pa.ArrowException, OverflowError, ValueError) as error:
        raise InputError(f"the frame can't be read: {error}", file=what) from None
