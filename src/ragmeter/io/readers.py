"""How a file is read: by the entry of `READERS` for the ending of its name, or by what it begins with.

A new format is a module in `formats/`, and an entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from ragmeter.errors import InputError
from ragmeter.io.delimited import strict
from ragmeter.io.formats import jsons, parquet, trec, xlsx
from ragmeter.io.formats.parquet import Choose
from ragmeter.io.limits import Limit
from ragmeter.io.locations import Location
from ragmeter.io.reading import Reading
from ragmeter.io.text_stream import Opener, binary, read_text, text_errors
from ragmeter.table import Batch

FORMATS = "csv, tsv, json, jsonl, parquet, xlsx, or a run or qrels of TREC, plain or compressed (.gz, .zst)"
_COMPRESSED = {".gz", ".zst", ".zstd"}
_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_SPREADSHEETS = frozenset({".xls", ".xlsb", ".ods", ".numbers"})


@dataclass(frozen=True)
class File:
    """A file that is to be read, or a piece of it: some columns or row groups of a Parquet file, some lines of a text.

    `limit` is the most that a row or a document may take; `say` takes a line about how the file was understood, where
    that could be otherwise.
    """

    name: str
    ending: str
    opened: Opener
    reading: Reading
    limit: Limit
    say: Callable[[str], None]
    choose: Choose | None = None
    groups: Sequence[int] | None = None
    is_piece: bool = False

    @property
    def encoding(self) -> str:
        """The encoding of a text file."""
        return self.reading.encoding or "utf-8-sig"

    def texts(self, read: Callable[[BinaryIO, str], Iterator[Batch]]) -> Iterator[Batch]:
        """The rows of a text file, as `read` takes them from its stream of bytes."""
        return read_text(self.name, self.opened, self.encoding, read, may_be_empty=self.is_piece)


Reader = Callable[[File], Iterator[Batch]]


def _parquet(file: File) -> Iterator[Batch]:
    return parquet.read(file.name, file.opened, file.limit, file.choose, file.groups)


def _delimited(file: File) -> Iterator[Batch]:
    delimiter = file.reading.delimiter or _DELIMITERS[file.ending]
    read = partial(strict.read, name=file.name, delimiter=delimiter, quotes=file.reading.quotes, limit=file.limit)
    if delimiter == "\t" and not file.is_piece:  # a run or qrels of TREC may be called .tsv
        read = partial(trec.read_or, other=read, name=file.name, limit=file.limit, say=file.say)
    return file.texts(read)


def _json_lines(file: File) -> Iterator[Batch]:
    return file.texts(partial(jsons.read_lines, name=file.name, limit=file.limit))


def _json_document(file: File) -> Iterator[Batch]:
    split = file.reading.split
    return file.texts(partial(jsons.read_document, name=file.name, limit=file.limit, split=split, say=file.say))


def _workbook(file: File) -> Iterator[Batch]:
    return xlsx.read(file.name, file.opened, file.limit, split=file.reading.split, say=file.say)


def _trec(kind: trec.Kind, file: File) -> Iterator[Batch]:
    return file.texts(trec.reader(kind, file.name, file.limit, file.say))


#: The readers of files, by the ending of their names without that of a compression.
READERS: dict[str, Reader] = {
    **dict.fromkeys(_DELIMITERS, _delimited),
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json_document,
    ".parquet": _parquet,
    ".xlsx": _workbook,
    ".xlsm": _workbook,
}


def reader_of(file: File) -> Reader:
    """What reads this file; an error if neither its name nor its beginning says what it is."""
    if file.ending in READERS:
        return READERS[file.ending]
    if kind := _trec_kind(file):
        return partial(_trec, kind)
    sheet = "save the sheet as CSV (UTF-8) in your spreadsheet program; " if file.ending in _SPREADSHEETS else ""
    hint = f"{sheet}it should be {FORMATS}"
    raise InputError(f"can't tell the format from the ending {file.ending!r}", file=file.name, hint=hint)


def _trec_kind(file: File) -> trec.Kind | None:
    """Whether a file whose ending says nothing is one of TREC's."""
    with text_errors(file.name, file.opened, file.encoding), binary(file.opened) as stream:
        return trec.kind_of(stream.read(trec.HEAD), file.encoding)


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


def decimal_of(ending: str, reading: Reading) -> str:
    """The decimal mark of numbers in a file with this ending; JSON and Parquet have numbers of their own."""
    return (reading.decimal or ".") if ending in _DELIMITERS else "."
