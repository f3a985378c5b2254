"""Where workers find the files of an evaluation, and whether these are large enough to be scored in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ragmeter.definition import Metric
from ragmeter.engine.parts.work import ReferenceFiles
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import option
from ragmeter.io.columns import Typed
from ragmeter.io.data import Data
from ragmeter.io.formats.datasets import DataFile, single
from ragmeter.io.locations import Location
from ragmeter.io.pieces import Part, open_part
from ragmeter.io.readers import format_of, is_compressed
from ragmeter.io.reading import Reading
from ragmeter.io.source import Source, data_set, open_file
from ragmeter.table import Batch

#: The most bytes of a part, as they are in the file: some hundred thousand rows, which a worker scores in seconds.
PART_BYTES = 32 << 20
#: The least, and how many parts a table has if that is enough for each: several for each of many cores.
_LEAST_BYTES, _PARTS = 1 << 20, 128
#: From so many bytes of text on, a table is scored in parts: less than a second or two of work is done sooner by one.
MANY_BYTES = 48 << 20
#: What Arrow and compression make of texts is so much smaller, and slow metrics take so much longer for a text.
_PACKED, _SLOWER = 3, 8


def is_slow(metrics: Iterable[Metric]) -> bool:
    """Whether Python code of ours takes most of the time: that of the judges without a model."""
    return any(metric.holds_lock or metric.offline for metric in metrics)


def part_bytes(files: Sequence[DataFile], metrics: Sequence[Metric]) -> int:
    """How many bytes a part of these files has. It depends on the files and the metrics alone, not on who computes."""
    least = _LEAST_BYTES // _SLOWER if is_slow(metrics) else _LEAST_BYTES
    return min(max(least, sum(file.size for file in files) // _PARTS), PART_BYTES)


def is_many(data: Data, metrics: Sequence[Metric]) -> bool:
    """Whether the results are worth being scored in parts, and can be.

    Not where models of vectors or labels are used: they take all cores by themselves, and the run says what they did.
    """
    by_model = any(metric.embedded or metric.by_session for metric in metrics) or any(
        column.support_model for metric in metrics for column in metric.offline
    )
    sources = [source for source in (data.results, data.reference) if source is not None]
    if by_model or not all(_is_in_files(source) for source in sources):
        return False
    files = files_for_workers(data.results, "results")
    weight = sum(file.size * (_PACKED if _is_packed(file) else 1) for file in files) * (
        _SLOWER if is_slow(metrics) else 1
    )
    return weight >= MANY_BYTES and len(files) * part_bytes(files, metrics) <= 4 * weight


def _is_in_files(source: Source) -> bool:
    """Whether workers can read it as it is: no pipe, nothing in memory, no texts of passages beside it."""
    if source.path is None or source.passages is not None:
        return False
    return bool(source.files) or (isinstance(source.path, Path) and source.path.is_file())


def _is_packed(file: DataFile) -> bool:
    return format_of(file.location) == ".parquet" or is_compressed(file.location)


def files_for_workers(source: Source, what: str) -> tuple[DataFile, ...]:
    """The files of a source, as workers find them."""
    if source.files:
        return tuple(replace(file, location=_absolute(file.location)) for file in source.files)
    if source.path is None:
        raise UsageError(
            f"parts are read from files, and the {what} are {source.name}",
            hint=f"write them to Parquet first, or leave {option('engine')} and {option('skip_bad_parts')} out",
        )
    return (single(_absolute(source.path)),)


def without_bad_files(data: Data, reading: Reading) -> Data:
    """The data without those files at its beginning that can't be read."""
    source = data.results
    for place, file in enumerate(source.files):
        with suppress(InputError):
            if next(open_file(file.location, reading).batches(), None) is not None:
                assert source.path is not None  # noqa: S101 - a data set has one
                return replace(data, results=data_set(source.name, source.path, source.files[place:], reading))
    return data


def only_parts(data: Data, parts: Sequence[Part], reading: Reading) -> Data:
    """The data with the rows of these parts alone."""
    sources = [open_part(part, reading, is_data_set=bool(data.results.files)) for part in parts]

    def batches() -> Iterator[Batch]:
        for source in sources:
            yield from source.batches()

    return replace(data, results=replace(data.results, batches=batches, n_rows=None, some=None))


def _absolute(path: Location) -> Location:
    """Workers may be in another folder."""
    return path.absolute() if isinstance(path, Path) else path


def reference_for_workers(data: Data, metrics: Sequence[Metric]) -> ReferenceFiles:
    """Where workers read the reference."""
    source = data.reference
    assert source is not None  # noqa: S101 - the caller has looked
    files = files_for_workers(source, "references")
    assert source.path is not None  # noqa: S101 - else _files has refused it
    first = next(Typed(source, "reference", data.mapping, data.wanted(metrics)).batches())
    return ReferenceFiles(source.name, _absolute(source.path), files, bool(source.files), tuple(first.columns))
