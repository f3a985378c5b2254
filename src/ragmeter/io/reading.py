"""How the user says that files are to be read."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace

from ragmeter.errors import UsageError


@dataclass(frozen=True)
class Reading:
    """How to read a file. Without `delimiter` it follows from the file's ending.

    `max_field` is the most that a row, a JSON document or an unpacked workbook may take, in MiB. `split` is the part of
    a data set to read that has several under names: `test` of a BEIR folder, of a `DatasetDict`, of a JSON object with
    lists of rows, or a workbook's sheet. `decimal` is the mark in numbers of csv and tsv files, a point or a comma.
    """

    encoding: str | None = None
    quotes: bool = True
    delimiter: str | None = None
    max_field: float | None = None
    split: str | None = None
    decimal: str | None = None


def checked(reading: Reading) -> Reading:
    """The settings with the codec's own name. An unknown codec, delimiter or decimal mark is an error."""
    if reading.delimiter is not None and (len(reading.delimiter) != 1 or reading.delimiter in '"\r\n'):
        raise UsageError(f"a delimiter is one character, not {reading.delimiter!r}")
    if reading.decimal not in (None, ".", ","):
        raise UsageError(f"a decimal mark is a point or a comma, not {reading.decimal!r}")
    return reading if reading.encoding is None else replace(reading, encoding=_text_encoding(reading.encoding))


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
