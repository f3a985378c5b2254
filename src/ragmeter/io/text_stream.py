"""Files of text as streams of bytes: decompressed, and with errors that name the byte that does not decode."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import pyarrow as pa

from ragmeter.errors import InputError
from ragmeter.hints import option
from ragmeter.table import Batch

Opener = Callable[[], BinaryIO]
_WHICH = f"say which with {option('encoding')}"
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def read_text(
    name: str,
    opened: Opener,
    encoding: str,
    read: Callable[[BinaryIO, str], Iterator[Batch]],
    *,
    may_be_empty: bool = False,
) -> Iterator[Batch]:
    """The batches of a text file; errors of decoding, decompression and the system become InputErrors."""
    any_rows = False
    with text_errors(name, opened, encoding), binary(opened) as stream:
        for batch in read(stream, encoding):
            if len(batch):
                any_rows = True
                yield batch
    if not any_rows and not may_be_empty:
        raise InputError("the file has no rows", file=name, hint="at least one row of data is needed")


@contextmanager
def text_errors(name: str, opened: Opener, encoding: str) -> Iterator[None]:
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
def binary(opened: Opener) -> Iterator[BinaryIO]:
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
    with binary(opened) as stream:
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
    with binary(opened) as stream:
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
