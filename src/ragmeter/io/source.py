"""Sources of rows: a path or a frame becomes batches of raw rows, whatever the format.

The format follows from the file's ending, compression from its first bytes. Cells are not converted: `007`, `NA` and
`None` stay text.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from ragmeter.errors import InputError, UsageError, errors_of
from ragmeter.hints import option
from ragmeter.io.batches import ROWS
from ragmeter.io.delimited import strict
from ragmeter.io.delimited.spans import Span, open_span
from ragmeter.io.formats import beir, in_memory, jsons, parquet, trec
from ragmeter.io.formats.datasets import DataFile, files_of, is_glob, single
from ragmeter.io.formats.parquet import Choose
from ragmeter.io.limits import Limit, read_once
from ragmeter.io.locations import Location, StorePath, location
from ragmeter.table import Batch, NewRow

_WHICH = f"say which with {option('encoding')}"
_COMPRESSED = {".gz", ".zst", ".zstd"}
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_SPREADSHEETS = frozenset({".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers"})
Opener = Callable[[], BinaryIO]
FORMATS = "csv, tsv, json, jsonl, parquet, or a run or qrels of TREC, plain or compressed (.gz, .zst)"


@dataclass(frozen=True)
class Source:
    """Something to read rows from. `batches()` reads it from the start each time it is called.

    `n_rows` is None where the number of rows is not known without reading them. `files` are those of a data set, be it
    a folder, a pattern or what is in a store; of a data set, `some` reads those columns alone that are chosen.
    `notes` say how the data was understood, where that could be otherwise; reading adds to them. `passages` gives the
    texts of documents by their ids, where the data has them. `decimal` is the mark in numbers that are texts.
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
    return Path(path.stem).stem if path.suffix.lower() in _COMPRESSED else path.stem


@dataclass(frozen=True)
class Reading:
    """How to read a file. Without `delimiter` it follows from the file's ending.

    `max_field` is the most that a row may take, or a JSON document, in MiB. `split` is the part of a data set to read
    that has several under names: `test` of a BEIR folder, of a `DatasetDict`, or of a JSON object with lists of rows.
    `decimal` is the mark in numbers of csv and tsv files, a point or a comma.
    """

    encoding: str | None = None
    quotes: bool = True
    delimiter: str | None = None
    max_field: float | None = None
    split: str | None = None
    decimal: str | None = None


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


def checked(reading: Reading) -> Reading:
    """The settings with the codec's own name. An unknown codec, delimiter or decimal mark is an error."""
    if reading.delimiter is not None and (len(reading.delimiter) != 1 or reading.delimiter in '"\r\n'):
        raise UsageError(f"a delimiter is one character, not {reading.delimiter!r}")
    if reading.decimal not in (None, ".", ","):
        raise UsageError(f"a decimal mark is a point or a comma, not {reading.decimal!r}")
    return reading if reading.encoding is None else replace(reading, encoding=_text_encoding(reading.encoding))


def _open_location(path: Location, reading: Reading) -> Source:
    name = str(path)
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

    return Source(name, path, partial(some, None), None, tuple(files), some, decimal=_decimal(files, reading))


def _decimal(files: Sequence[DataFile], reading: Reading) -> str:
    """The decimal mark of texts in these files; JSON and Parquet have numbers of their own."""
    has_cells = any(format_of(file.location) in _DELIMITERS for file in files)
    return (reading.decimal or ".") if has_cells else "."


def of_data_set(source: Source, file: DataFile) -> Iterator[Batch]:
    """The batches of a file with the columns that the names of its folders give, where it has none of that name."""
    for batch in source.batches():
        of_folders = {title: [value] * len(batch) for title, value in file.partition if title not in batch.columns}
        batch.columns = {**batch.columns, **of_folders}
        batch.file = file.name
        yield batch


def format_of(path: Location) -> str:
    """The ending that says what a file is, without that of its compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return next((suffix for suffix in reversed(suffixes) if suffix not in _COMPRESSED), "")


def is_compressed(path: Location) -> bool:
    """Whether the name says that a file is compressed."""
    return path.suffix.lower() in _COMPRESSED


def delimiter_of(ending: str, reading: Reading) -> str | None:
    """What separates the cells of a file with this ending; None for other formats."""
    return (reading.delimiter or _DELIMITERS[ending]) if ending in _DELIMITERS else None


def open_file(
    path: Location,
    reading: Reading,
    *,
    choose: Choose | None = None,
    groups: Sequence[int] | None = None,
    span: Span | None = None,
) -> Source:
    """One file, or a piece of it: some row groups of a Parquet file, some lines of a text file."""
    name = str(path)
    limit = Limit.of(reading.max_field)
    ending = format_of(path)
    can_be_opened_again = not path.is_web if isinstance(path, StorePath) else path.is_file()
    content = cache(partial(_read_once, path))  # a pipe can be read only once, and a web server is asked once
    opened: Opener = (lambda: path.open("rb")) if can_be_opened_again else lambda: io.BytesIO(content())
    known_path = path if can_be_opened_again else None
    if ending == ".parquet":
        return Source(name, known_path, partial(parquet.read, name, opened, limit, choose, groups))
    encoding = reading.encoding or "utf-8-sig"
    notes: list[str] = []
    say = partial(_say, notes, name)
    read: Callable[[BinaryIO, str], Iterator[Batch]]
    if (delimiter := delimiter_of(ending, reading)) is not None:
        read = partial(strict.read, name=name, delimiter=delimiter, quotes=reading.quotes, limit=limit)
        if delimiter == "\t" and span is None:
            read = partial(trec.read_or, other=read, name=name, limit=limit, say=say)
    elif ending in (".jsonl", ".ndjson"):
        read = partial(jsons.read_lines, name=name, limit=limit)
    elif ending == ".json":
        read = partial(jsons.read_document, name=name, limit=limit, split=reading.split, say=say)
    elif kind := _trec_kind(name, opened, encoding):
        read = trec.reader(kind, name, limit, say)
    else:
        sheet = "save the sheet as CSV (UTF-8) in your spreadsheet program; " if ending in _SPREADSHEETS else ""
        hint = f"{sheet}it should be {FORMATS}"
        raise InputError(f"can't tell the format from the ending {ending!r}", file=name, hint=hint)
    if span is not None:
        opened = partial(open_span, path, span)
    may_be_empty = span is not None
    batches = partial(_read_text, name, opened, encoding, read, may_be_empty=may_be_empty)
    decimal = "." if delimiter is None else reading.decimal or "."
    return Source(name, known_path, batches, notes=notes, decimal=decimal)


def _read_once(path: Location) -> bytes:
    with path.open("rb") as stream:
        return read_once(stream, str(path))


def _say(notes: list[str], name: str, text: str) -> None:
    """Add a note about a file; reading it again adds nothing."""
    if (note := f"{name}: {text}") not in notes:
        notes.append(note)


def _trec_kind(name: str, opened: Opener, encoding: str) -> trec.Kind | None:
    """Whether a file whose ending says nothing is one of TREC's."""
    with _text_errors(name, opened, encoding), _binary(opened) as stream:
        return trec.kind_of(stream.read(trec.HEAD), encoding)


def _text_encoding(name: str) -> str:
    """The name of a codec for text."""
    try:
        codec = codecs.lookup(name)
    except LookupError:
        codec = None
    if (
        codec is None
        or not getattr(codec, "_is_text_encoding", True)
        or codec.name in ("undefined", "idna", "punycode")
    ):
        raise UsageError(f"unknown encoding {name!r}", hint="try utf-8, latin-1, cp1252 or utf-16")
    return "utf-8-sig" if codec.name == "utf-8" else codec.name


def _read_text(
    name: str,
    opened: Opener,
    encoding: str,
    read: Callable[[BinaryIO, str], Iterator[Batch]],
    *,
    may_be_empty: bool = False,
) -> Iterator[Batch]:
    """The batches of a text file; errors of decoding, decompression and the system become InputErrors."""
    any_rows = False
    with _text_errors(name, opened, encoding), _binary(opened) as stream:
        for batch in read(stream, encoding):
            if len(batch):
                any_rows = True
                yield batch
    if not any_rows and not may_be_empty:
        raise InputError("the file has no rows", file=name, hint="at least one row of data is needed")


@contextmanager
def _text_errors(name: str, opened: Opener, encoding: str) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise _encoding_error(name, opened, encoding, error) from None
    except UnicodeError as error:
        raise InputError(f"the file is not {encoding}: {error}", file=name, hint=_WHICH) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"the compressed file is damaged: {error}", file=name) from None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", file=name) from None


@contextmanager
def _binary(opened: Opener) -> Iterator[BinaryIO]:
    with opened() as plain:
        compression = compression_of(plain.read(4))
        plain.seek(0)
        if compression == "gzip":
            yield cast(BinaryIO, gzip.GzipFile(fileobj=plain))
        elif compression == "zstd":
            yield cast(BinaryIO, io.BufferedReader(_Arrow(pa.CompressedInputStream(plain, "zstd")), 1 << 20))
        else:
            yield plain


def compression_of(head: bytes) -> str | None:
    """How a file is compressed, from its first bytes."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


class _Arrow(io.RawIOBase):
    """An Arrow stream as a Python stream, for decoding text."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _encoding_error(name: str, opened: Opener, encoding: str, error: UnicodeDecodeError) -> InputError:
    """Find the byte that does not decode: read again from the start, since the decoder knows only its buffer."""
    with _binary(opened) as stream:
        head = stream.read(2)
    if head in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return InputError("the file is UTF-16, not UTF-8", file=name, hint=f"add {option('encoding', 'utf-16')}")
    wide = encoding.startswith(("utf-16", "utf-32"))  # a line break is not a single byte there
    if not wide and (place := _undecodable(opened, encoding)) is not None:
        line, offset, byte = place
        return InputError(
            f"byte 0x{byte:02x} at offset {offset} is not {encoding.removesuffix('-sig')}",
            file=name,
            line=line,
            hint=f"say which encoding it is, for example {option('encoding', 'latin-1')} or "
            f"{option('encoding', 'cp1252')}",
        )
    return InputError(f"the file is not {encoding}: {error.reason}", file=name, hint=_WHICH)


def _undecodable(opened: Opener, encoding: str) -> tuple[int, int, int] | None:
    """The line, the offset and the value of the first byte that does not decode."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line, offset = 1, 0
    with _binary(opened) as stream:
        while True:
            data = stream.read(1 << 20)
            try:
                decoder.decode(data, not data)
            except UnicodeDecodeError as problem:
                place = len(data) - len(problem.object) + problem.start  # below 0 in what was left of the last piece
                before = data.count(b"\n", 0, max(0, place))
                return line + before, offset + place, problem.object[problem.start]
            if not data:
                return None
            line += data.count(b"\n")
            offset += len(data)


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
