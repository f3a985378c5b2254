"""Reads the body of a reply: whole, or line by line as it arrives, and never more than a limit.

What is compressed is unpacked here and not by the HTTP library, so that a small reply can't fill the memory and half of
one is not taken for a whole.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

#: What a request says that it takes.
ENCODINGS = "gzip, deflate"
_BIGGEST = 8 << 20
_LONGEST_LINE = 512 << 10
_PART = 1 << 16  # bytes that are unpacked at once


class UnreadableError(Exception):
    """A body that can't be read. `passing`: another reply may be better."""

    def __init__(self, cause: str, *, passing: bool) -> None:
        super().__init__(cause)
        self.passing = passing


async def read_text(response: Any) -> str:
    """The whole body as text."""
    charset = _charset(response)
    content = bytearray()
    async for part in _parts(response):
        content += part
        if len(content) > _BIGGEST:
            raise UnreadableError("the reply is too long", passing=True)
    try:
        return content.decode(charset, "replace").removeprefix("\ufeff")
    except UnicodeError:  # encodings that can't replace what is wrong
        raise _no_text(charset) from None


async def read_lines(response: Any, on_line: Callable[[str], None]) -> None:
    """Pass on the lines of a stream; they are UTF-8, whatever else it says."""
    _charset(response)
    splitter = _Lines()
    size = 0
    async for part in _parts(response):
        size += len(part)
        for line in splitter.feed(part):
            on_line(line)
        if size > _BIGGEST:
            raise UnreadableError("the reply is too long", passing=True)
    if rest := splitter.rest():
        on_line(rest)


def _parts(response: Any) -> AsyncIterator[bytes]:
    """The body's bytes as they arrive, unpacked."""
    encoding = response.headers.get("Content-Encoding", "").strip().lower().removeprefix("x-")
    if encoding in ("", "identity"):
        parts: AsyncIterator[bytes] = response.content.iter_any()
        return parts
    if encoding not in ENCODINGS.split(", "):
        raise UnreadableError(f"the reply is encoded as {encoding[:40]!r}, which was not asked for", passing=False)
    return _unpacked(response.content, encoding)


async def _unpacked(content: Any, encoding: str) -> AsyncIterator[bytes]:
    unpacker: Any = None
    try:
        async for packed in content.iter_any():
            if unpacker is None:
                has_header = encoding == "gzip" or packed[0] & 15 == 8  # some servers send deflate without one
                unpacker = zlib.decompressobj(47 if has_header else -15)
            while packed:
                yield unpacker.decompress(packed, _PART)
                packed = unpacker.unconsumed_tail
    except zlib.error:
        raise UnreadableError(f"the reply is not {encoding}", passing=True) from None
    if unpacker is not None and not unpacker.eof:
        raise UnreadableError("the compressed reply is not whole", passing=True)


class _Lines:
    """Splits bytes into lines, which end with LF, CR or both."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._after_cr = False
        self._first = True

    def feed(self, part: bytes) -> Iterator[str]:
        """The lines that end in this part. What was there before is not searched again."""
        if self._after_cr and part[:1] == b"\n":
            part = part[1:]
        self._after_cr = part[-1:] == b"\r"
        if b"\n" not in part and b"\r" not in part:
            self._rest += part
        else:
            lines = (bytes(self._rest) + part).splitlines(keepends=True)
            self._rest = bytearray() if lines[-1].endswith((b"\n", b"\r")) else bytearray(lines.pop())
            for line in lines:
                self._check(len(line))
                yield self._decoded(line.rstrip(b"\r\n"))
        self._check(len(self._rest))

    def rest(self) -> str:
        """The bytes that came after the last line."""
        return self._decoded(bytes(self._rest))

    def _decoded(self, line: bytes) -> str:
        text = line.decode("utf-8", "replace")
        text, self._first = text.removeprefix("\ufeff") if self._first else text, False
        return text

    def _check(self, size: int) -> None:
        if size > _LONGEST_LINE:
            raise UnreadableError(f"a line of the stream is longer than {_LONGEST_LINE >> 10} KiB", passing=True)


def _charset(response: Any) -> str:
    """The encoding that a response declares; UTF-8 where it declares none that Python knows."""
    declared = response.charset if "charset" in response.headers.get("Content-Type", "") else None
    try:
        name = codecs.lookup(declared or "utf-8").name
    except (LookupError, ValueError):
        return "utf-8"
    try:
        b"a".decode(name, "replace")
    except (LookupError, UnicodeError):  # a codec that is not for texts: hex, zlib ...
        raise _no_text(name) from None
    return name


def _no_text(charset: str) -> UnreadableError:
    return UnreadableError(f"the reply declares the charset {charset!r}, which is not a text encoding", passing=False)
