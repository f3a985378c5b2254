"""Cut a source into parts of about the same size, so that many workers can read it.

The cuts depend on the files alone, not on how many workers there are: so do the numbers. A small file is one part. A
large Parquet file is cut between row groups; a large JSONL, CSV or TSV file between lines. Where cells of it may be
quoted, and so have line breaks, somebody has to look for its rows first: see `settle`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise

import pyarrow as pa

from ragmeter.errors import InputError
from ragmeter.io.batches import row_place
from ragmeter.io.delimited.quotes import Quotes, row_begins
from ragmeter.io.delimited.spans import HEAD, Span, header_end, next_line
from ragmeter.io.formats import trec
from ragmeter.io.formats.datasets import DataFile
from ragmeter.io.formats.parquet import Choose
from ragmeter.io.readers import delimiter_of, format_of, is_compressed
from ragmeter.io.reading import Reading
from ragmeter.io.source import Source, of_data_set, open_file
from ragmeter.io.text_stream import compression_of
from ragmeter.table import Batch

_LINES = (".jsonl", ".ndjson")
#: Encodings in which a line break is one byte that no other character has.
_BYTE_LINES = ("utf-8-sig", "ascii", "iso8859-1", "cp1252")
_Piece = tuple[DataFile, tuple[int, ...] | None, Span | None]


@dataclass(frozen=True)
class Part:
    """A piece of a file of the source: some row groups, some lines, or all of it."""

    number: int
    file: DataFile
    groups: tuple[int, ...] | None = None
    span: Span | None = None

    @property
    def is_rough(self) -> bool:
        """Whether its rows have to be looked for first."""
        return self.span is not None and bool(self.span.delimiter)

    @property
    def name(self) -> str:
        """The file's name and which piece of it this is, for messages."""
        if self.groups is not None:
            return f"{self.file.name}, row groups {self.groups[0]} to {self.groups[-1]}"
        if self.span is not None:
            return f"{self.file.name}, bytes {self.span.begin:,} to {self.span.end:,}"
        return self.file.name


def cut(files: Sequence[DataFile], reading: Reading, most: int) -> list[Part]:
    """The parts of these files, in their order."""
    pieces = [piece for file in files for piece in _cut_file(file, reading, most)]
    return [Part(number, *piece) for number, piece in enumerate(pieces)]


def open_part(part: Part, reading: Reading, *, is_data_set: bool) -> Source:
    """A part as a source of its own. Its lines are counted from its beginning, and errors name the piece."""

    def some(choose: Choose | None) -> Iterator[Batch]:
        source = open_file(part.file.location, reading, choose=choose, groups=part.groups, span=part.span)
        try:
            for batch in of_data_set(source, part.file):
                batch.file = part.name
                yield batch
        except InputError as error:
            raise (
                error if part.name == part.file.name else error.at(part.name, line=error.line, row=error.row)
            ) from None

    path = part.file.location
    return Source(part.name, path, partial(some, None), None, (part.file,), some if is_data_set else None)


def in_file(error: InputError, part: Part) -> InputError:
    """An error of a part with the place in the whole file, whose lines are counted only now."""
    number = error.line or error.row
    if error.file != part.name or part.name == part.file.name or number is None:
        return error
    return error.at(**row_place(part.file.name, number + _lines_before(part)))


def _lines_before(part: Part) -> int:
    """How many lines or rows of its file come before the part, without a header."""
    with part.file.location.open("rb") as stream:
        if part.groups is not None:
            import pyarrow.parquet as pq

            metadata = pq.ParquetFile(stream).metadata
            return sum(metadata.row_group(group).num_rows for group in range(part.groups[0]))
        assert part.span is not None  # noqa: S101 - else it is the whole file
        begin = max(next_line(stream, part.span.begin), part.span.header)
        stream.seek(part.span.header)
        lines, left = 0, begin - part.span.header
        while left and (block := stream.read(min(left, 1 << 20))):
            lines, left = lines + block.count(b"\n"), left - len(block)
        return lines


def _cut_file(file: DataFile, reading: Reading, most: int) -> Iterator[_Piece]:
    ending = format_of(file.location)
    if file.size <= most or is_compressed(file.location):
        yield file, None, None
    elif ending == ".parquet":
        for groups in _row_groups(file, most):
            yield file, groups, None
    elif (spans := _spans(file, ending, reading, most)) is not None:
        for span in spans:
            yield file, None, span
    else:
        yield file, None, None


def _spans(file: DataFile, ending: str, reading: Reading, most: int) -> list[Span] | None:
    """Ranges of a text file; None if it can't be cut, be it that it can't be read: that is told when it is scored."""
    encoding = reading.encoding or "utf-8-sig"
    delimiter = delimiter_of(ending, reading)
    is_quoted = delimiter is not None and reading.quotes
    if encoding not in _BYTE_LINES or (delimiter is None and ending not in _LINES):
        return None
    if is_quoted and not str(delimiter).isascii():
        return None
    try:
        with file.location.open("rb") as stream:
            head = stream.read(HEAD)
    except (InputError, OSError):
        return None
    header: int | None = 0
    if delimiter is not None:
        is_trec = delimiter == "\t" and trec.kind_of(head[: trec.HEAD], encoding, strict=True)
        header = None if is_trec else header_end(head, quotes=reading.quotes)
    if header is None or compression_of(head) is not None:
        return None
    number = -(-file.size // most)
    places = [file.size * place // number for place in range(number + 1)]
    return [Span(begin, end, header, str(delimiter) if is_quoted else "") for begin, end in pairwise(places)]


def settle(parts: Sequence[Part], quotes: Mapping[int, Quotes | None]) -> list[Part]:
    """The parts with exact ranges, once the quotes of those that are rough are known, by their numbers.

    A file whose quotes don't tell where rows begin, or that can't be read, is one part.
    """
    pieces: list[_Piece] = []
    for file, own in groupby(parts, key=lambda part: part.file):
        ranges = list(own)
        span = ranges[0].span
        if span is None or not ranges[0].is_rough:
            pieces += [(file, part.groups, part.span) for part in ranges]
            continue
        scans = [scan for part in ranges if (scan := quotes[part.number]) is not None]
        begins = row_begins(scans) if len(scans) == len(ranges) else None
        if begins is None:
            pieces.append((file, None, None))
            continue
        cuts = [span.header, *(begin for begin in begins if begin > span.header), file.size]
        pieces += [(file, None, Span(begin, end, span.header)) for begin, end in pairwise(cuts)]
    return [Part(number, *piece) for number, piece in enumerate(pieces)]


def _row_groups(file: DataFile, most: int) -> Iterator[tuple[int, ...] | None]:
    """Row groups that make up a part; None for all of a file that can't be read."""
    import pyarrow.parquet as pq

    try:
        with file.location.open("rb") as stream, pq.ParquetFile(stream) as opened:
            sizes = [
                sum(group.column(column).total_compressed_size for column in range(group.num_columns))
                for group in map(opened.metadata.row_group, range(opened.num_row_groups))
            ]
    except (pa.ArrowException, InputError, OSError):
        yield None
        return
    groups: list[int] = []
    total = 0
    for group, size in enumerate(sizes):
        if groups and total + size > most:
            yield tuple(groups)
            groups, total = [], 0
        groups.append(group)
        total += size
    yield tuple(groups)
