"""From a path or a frame to batches of raw rows, whatever the format.

The format follows from the file's ending, compression from its first bytes. Cells are not converted: `007`, `NA` and
`None` stay text.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from ragmeter.errors import InputError, UsageError
from ragmeter.hints import option
from ragmeter.io import delimited, jsons, parquet
from ragmeter.io.batches import batches_of_records
from ragmeter.table import Batch

_WHICH = f"say which with {option('encoding')}"
_COMPRESSED = {".gz", ".zst", ".zstd"}
_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
FORMATS = "csv, tsv, json, jsonl or parquet, plain or compressed (.gz, .zst)"


@dataclass(frozen=True)
class Source:
    """Something to read rows from. `batches()` reads it from the start each time it is called.

    `n_rows` is None where the number of rows is not known without reading them.
    """

    name: str
    path: Path | None
    batches: Callable[[], Iterator[Batch]]
    n_rows: int | None = None

    def records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Its rows one by one as dicts, each with its line."""
        for batch in self.batches():
            names = list(batch.columns)
            rows = zip(*batch.columns.values(), strict=True)
            for line, row in zip(batch.lines, rows, strict=True):
                yield line, dict(zip(names, row, strict=True))


def stem(path: Path) -> str:
    """A file's name without its endings."""
    return Path(path.stem).stem if path.suffix.lower() in _COMPRESSED else path.stem


@dataclass(frozen=True)
class Reading:
    """How to read a text file. Without `delimiter` it follows from the file's ending."""

    encoding: str | None = None
    quotes: bool = True
    delimiter: str | None = None


def open_source(data: Any, reading: Reading = Reading(), *, what: str = "results") -> Source:  # noqa: B008 - frozen
    """A source for a path, a list of dicts, or a pandas, polars or Arrow frame. `what` names data without a file."""
    if isinstance(data, str | Path):
        return _open_file(Path(data), reading)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "to_arrow"):
        return Source(what, None, partial(_read_frame, data, what), len(data) if hasattr(data, "__len__") else None)
    if isinstance(data, Sequence) and all(isinstance(row, Mapping) for row in data):
        if not data:
            raise InputError("the list has no rows", file=what)
        return Source(what, None, lambda: batches_of_records(enumerate(data, 1)), len(data))
    raise UsageError(
        f"can't read rows from {type(data).__name__}",
        hint="give a path, a list of dicts, or a pandas, polars or Arrow frame",
    )


def _open_file(path: Path, reading: Reading) -> Source:
    name = str(path)
    if not path.exists():
        raise InputError("there is no such file", file=name, hint=f"the current folder is {Path.cwd()}")
    if path.is_dir():
        raise InputError("this is a folder, a file is expected", file=name)
    if reading.encoding is not None:
        reading = replace(reading, encoding=_text_encoding(reading.encoding))
    if reading.delimiter is not None and (len(reading.delimiter) != 1 or reading.delimiter in '"\r\n'):
        raise UsageError(f"a delimiter is one character, not {reading.delimiter!r}")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    ending = next((suffix for suffix in reversed(suffixes) if suffix not in _COMPRESSED), "")
    if ending == ".parquet":
        return Source(name, path, partial(parquet.read, path))
    if ending in _DELIMITERS:
        delimiter = reading.delimiter or _DELIMITERS[ending]
        read = partial(delimited.read, name=name, delimiter=delimiter, quotes=reading.quotes)
    elif ending in (".jsonl", ".ndjson"):
        read = partial(jsons.read_lines, name=name)
    elif ending == ".json":
        read = partial(jsons.read_document, name=name)
    else:
        raise InputError(f"can't tell the format from the ending {ending!r}", file=name, hint=f"it should be {FORMATS}")
    return Source(name, path, partial(_read_text, path, reading.encoding or "utf-8-sig", read))


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


def _read_text(path: Path, encoding: str, read: Callable[[BinaryIO, str], Iterator[Batch]]) -> Iterator[Batch]:
    """The batches of a text file; errors of decoding, decompression and the system become InputErrors."""
    name = str(path)
    try:
        with _binary(path) as stream:
            any_rows = False
            for batch in read(stream, encoding):
                if len(batch):
                    any_rows = True
                    yield batch
    except UnicodeDecodeError as error:
        raise _encoding_error(path, encoding, error) from None
    except UnicodeError as error:
        raise InputError(f"the file is not {encoding}: {error}", file=name, hint=_WHICH) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"the compressed file is damaged: {error}", file=name) from None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", file=name) from None
    if not any_rows:
        raise InputError("the file has no rows", file=name, hint="at least one row of data is needed")


@contextmanager
def _binary(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as plain:
        magic = plain.read(4)
        plain.seek(0)
        if magic[:2] == b"\x1f\x8b":
            yield cast(BinaryIO, gzip.GzipFile(fileobj=plain))
        elif magic == b"\x28\xb5\x2f\xfd":
            yield cast(BinaryIO, io.BufferedReader(_Arrow(pa.CompressedInputStream(plain, "zstd")), 1 << 20))
        else:
            yield plain


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


def _encoding_error(path: Path, encoding: str, error: UnicodeDecodeError) -> InputError:
    """Find the byte that does not decode: read again from the start, since the decoder knows only its buffer."""
    with _binary(path) as stream:
        head = stream.read(2)
    if head in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return InputError("the file is UTF-16, not UTF-8", file=str(path), hint=f"add {option('encoding', 'utf-16')}")
    wide = encoding.startswith(("utf-16", "utf-32"))  # a line break is not a single byte there
    offset = 0
    with _binary(path) as stream:
        for number, line in enumerate(() if wide else stream, 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as problem:
                byte = f"byte 0x{line[problem.start]:02x} at offset {offset + problem.start}"
                return InputError(
                    f"{byte} is not {encoding.removesuffix('-sig')}",
                    file=str(path),
                    line=number,
                    hint=f"say which encoding it is, for example {option('encoding', 'latin-1')} or "
                    f"{option('encoding', 'cp1252')}",
                )
            offset += len(line)
    return InputError(f"the file is not {encoding}: {error.reason}", file=str(path), hint=_WHICH)


def _read_frame(frame: Any, what: str) -> Iterator[Batch]:
    try:
        table = frame.to_arrow() if hasattr(frame, "to_arrow") else pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(
            f"the {type(frame).__name__} can't be read: {error}",
            file=what,
            hint="it should be a frame with named columns; if one of them mixes types, make it text first",
        ) from None
    if table.num_rows == 0:
        raise InputError("the frame has no rows", file=what)
    yield from parquet.batches_of_arrow(table.to_batches(max_chunksize=parquet.ROWS))
