"""Writing a run: its rows batch by batch, then the summary and the manifest, and all three into place when whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from ragmeter.definition import Metric
from ragmeter.errors import OutputError
from ragmeter.hints import option
from ragmeter.io.write import dumps
from ragmeter.runs.files import FILES, MANIFEST, ROWS, SUMMARY, writing
from ragmeter.runs.rows import RowsFile, clusters_of
from ragmeter.runs.run import TEXTS, Run
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.summary import MetricSummary, percentiles, summarise
from ragmeter.table import LIST_COLUMNS, NUMBER_COLUMNS, SCORED, Batch, Measure, Scores, outcome_column

_LISTS = pa.list_(pa.large_string())
_OUTCOME = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class Scored:
    """A batch with its scores: for each metric the values, and each row's outcome."""

    batch: Batch
    scores: dict[str, tuple[Scores, list[str]]]


class RowsWriter:
    """Writes the table as it comes, a row group a batch, and counts what was not scored."""

    def __init__(self, path: Path, metrics: Sequence[Metric | Measure]) -> None:
        self._path = path
        self._metrics = metrics
        self._taken = {name for metric in metrics for name in (metric.name, outcome_column(metric.name))}
        self._file = path.open("wb")
        self._writer: pq.ParquetWriter | None = None
        self._schema: Any = None
        self.left_out: dict[str, int] = {}
        self.not_scored: dict[str, Counter[str]] = {metric.name: Counter() for metric in metrics}

    def write(self, scored: Scored, carried: Mapping[str, Any] | None = None) -> None:
        """Add a batch. The first one fixes the columns; a column that appears later is counted and left out.

        `carried` are columns of an earlier run that stay as they are.
        """
        arrays = {self._own(name): _array(name, column) for name, column in scored.batch.columns.items()}
        arrays.update(carried or {})
        outcomes: dict[int, Any] = {}  # metrics with the same needs share the list
        for name, (values, causes) in scored.scores.items():
            arrays[name] = pa.array(values, pa.float64())
            if id(causes) not in outcomes:
                outcomes[id(causes)] = pa.array(causes, pa.string()).dictionary_encode().cast(_OUTCOME)
            arrays[outcome_column(name)] = outcomes[id(causes)]
            if causes.count(SCORED) < len(causes):
                self.not_scored[name].update(cause for cause in causes if cause != SCORED)
        if self._writer is None:
            self._schema = pa.schema([(name, array.type) for name, array in arrays.items()])
            self._writer = pq.ParquetWriter(
                self._file,
                self._schema,
                compression="zstd",
                compression_level=1,
                use_dictionary=[outcome_column(metric.name) for metric in self._metrics],
                write_statistics=[metric.name for metric in self._metrics],  # nobody asks for the least text
            )
        rows = len(scored.batch)
        for name in arrays:
            if name not in self._schema.names:
                self.left_out[name] = self.left_out.get(name, 0) + rows
        columns = [arrays.get(field.name, pa.nulls(rows, field.type)) for field in self._schema]
        with writing(self._path):
            self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema), row_group_size=rows)

    def _own(self, name: str) -> str:
        """A column's name in the file: one that a metric's scores have taken gives way to them."""
        return f"input.{name}" if name in self._taken else name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.close()
        else:
            with suppress(Exception):  # what went wrong first is what matters
                self.close()

    def close(self) -> None:
        """Finish the file."""
        with writing(self._path), self._file:
            if self._writer is not None:
                self._writer.close()

    def numbers(self) -> dict[str, dict[str, float]]:
        """What the table's own numbers come to, latency for one: how many, their mean, and percentiles."""
        numbers = {}
        for name in NUMBER_COLUMNS:
            if name in self._written.schema.names:
                values = self._column(name).drop_null().to_numpy()
                if len(values):
                    numbers[name] = percentiles(values)
        return numbers

    def summaries(self, how: Confidence) -> tuple[Confidence, dict[str, MetricSummary]]:
        """Each metric's summary, from the file: one column at a time is all that memory has to hold.

        With them, how their intervals were made after all: by which column rows belong together.
        """
        texts = [field.name for field in self._written.schema if field.type in TEXTS]
        cluster, codes = clusters_of(how.cluster, texts, lambda name: self._column(name).combine_chunks())
        summaries = {
            metric.name: summarise(
                self._column(metric.name).to_numpy(),
                self.not_scored[metric.name],
                binary=metric.binary,
                direction=metric.direction,
                bounds=metric.bounds,
                how=how,
                codes=codes,
            )
            for metric in self._metrics
        }
        return replace(how, cluster=cluster), summaries

    @cached_property
    def _written(self) -> RowsFile:
        return RowsFile(self._path)

    def _column(self, name: str) -> Any:
        return self._written.read([name])[name]


def _array(name: str, column: list[Any]) -> Any:
    if name in NUMBER_COLUMNS:
        return pa.array(column, pa.float64())
    return pa.array(column, _LISTS if name in LIST_COLUMNS else pa.large_string())


class NewRun:
    """A run being written: into a temporary folder, which takes the run's place in one step when it is whole.

    With `inside`, the run's folder holds other files as well, a journal for one, and may be there before there is a
    run: then only the run's own files are replaced, the manifest last.
    """

    def __init__(self, path: Path, *, inside: bool = False) -> None:
        if not inside:
            _check_place(path)
        self.path = path
        self._inside = inside
        parent = path if inside else path.parent
        self._made = [folder for folder in (parent, *parent.parents) if not folder.exists()]
        try:
            with writing(path):
                parent.mkdir(parents=True, exist_ok=True)
                temporary = tempfile.mkdtemp(prefix=f".{path.name}.{os.getpid()}.", suffix=".tmp", dir=parent)
                self.folder = Path(temporary)
                self.folder.chmod(0o777 & ~_umask())
        except OutputError:
            self._forget_parents()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._forget_parents()

    def _forget_parents(self) -> None:
        """Remove the folders that were made for the run, if nothing was kept in them."""
        for parent in self._made:
            with suppress(OSError):
                parent.rmdir()

    def keep(self, older: Run) -> None:
        """Take over what else an older run has in its folder: a journal, exports."""
        with writing(self.path):
            for file in older.path.iterdir():
                if file.name not in FILES:
                    copy = shutil.copytree if file.is_dir() else shutil.copy2
                    copy(file, self.folder / file.name)

    def finish(self, manifest: dict[str, Any], summary: dict[str, Any]) -> Run:
        """Write the two documents and put all in its place, in that of an older run of the same name."""
        with writing(self.path):
            (self.folder / SUMMARY).write_text(dumps(summary, indent=2) + "\n", encoding="utf-8")
            (self.folder / MANIFEST).write_text(dumps(manifest, indent=2) + "\n", encoding="utf-8")
            for file in self.folder.iterdir():
                if file.is_file():
                    _sync(file)
            if self._inside:
                for name in (ROWS, SUMMARY, MANIFEST):
                    (self.folder / name).replace(self.path / name)
            else:
                self._swap()
        return Run(self.path)

    def _swap(self) -> None:
        """Put the folder in its place. Another process may do the same at the same time; the last one stays."""
        older = self.folder.with_suffix(".old")
        for attempt in range(100):
            with suppress(FileNotFoundError):
                self.path.replace(older)
            try:
                self.folder.replace(self.path)
            except OSError:
                if attempt == 99:
                    raise
                continue
            finally:
                shutil.rmtree(older, ignore_errors=True)
            return


def _check_place(path: Path) -> None:
    """Refuse to replace what is not a run."""
    with writing(path):
        foreign = all(_is_foreign(path) for _ in range(5))  # a run may be taking its place this very moment
    if foreign:
        raise OutputError(
            f"{path} is there already, and it is not a run", hint=f"choose another name with {option('run')}"
        )


def _is_foreign(path: Path) -> bool:
    """Whether something other than a run is at this path."""
    try:
        return MANIFEST not in {each.name for each in path.iterdir()}
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        return True


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())
