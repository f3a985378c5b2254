"""Where workers find the files of an evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from ragmeter.io.reading import Reading
from ragmeter.io.source import Source, data_set, open_file
from ragmeter.table import Batch


def files_for_workers(source: Source, what: str) -> tuple[DataFile, ...]:
    """The files of a source, as workers find them."""
    if source.files:
        return tuple(replace(file, location=_absolute(file.location)) for file in source.files)
    if source.path is None:
        raise UsageError(
            f"an engine reads files, and the {what} are {source.name}",
            hint=f"write them to Parquet first, or leave {option('engine')} out",
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
