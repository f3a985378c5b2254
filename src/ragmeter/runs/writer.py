"""Writing a run: rows batch by batch, then summary and manifest; all three are moved into place when complete."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from ragmeter.definition import Metric
from ragmeter.errors import OutputError
from ragmeter.hints import option
from ragmeter.io.write import dumps
from ragmeter.runs.layout import FILES, MANIFEST, ROWS, SUMMARY, writing
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
    """Writes each batch as a row group, and counts what was not scored."""

    def __init__(self, path: Path, metrics: Sequence[Metric | Measure]) -> None:
        self._path = path
        self._metrics = metrics
        self._score_columns = {name for metric in metrics for name in (metric.name, outcome_column(metric.name))}
        self._file = path.open("wb")
        self._writer: pq.ParquetWriter | None = None
        self._schema: Any = None
        self.left_out: dict[str, int] = {}
        self.not_scored: dict[str, Counter[str]] = {metric.name: Counter() for metric in metrics}

    def write(self, scored: Scored, carried: Mapping[str, Any] | None = None) -> None:
        """Add a batch. The first one fixes the columns; a column that appears later is counted and left out.

        `carried` are columns of an earlier run that stay as they are.
        """
        numbers = {*NUMBER_COLUMNS, *scored.batch.numbers}
        arrays = {
            self._input_name(name): _array(name, column, numbers) for name, column in scored.batch.columns.items()
        }
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
                write_statistics=[metric.name for metric in self._metrics],  # nobody needs a text's minimum
            )
        rows = len(scored.batch)
        for name in arrays:
            if name not in self._schema.names:
                self.left_out[name] = self.left_out.get(name, 0) + rows
        columns = [arrays.get(field.name, pa.nulls(rows, field.type)) for field in self._schema]
        with writing(self._path):
            self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema), row_group_size=rows)

    def _input_name(self, name: str) -> str:
        """An input column's name in the file; one that is also the name of a score column gets a prefix."""
        return f"input.{name}" if name in self._score_columns else name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.close()
        else:
            with suppress(Exception):  # the first error is the one to report
                self.close()

    def close(self) -> None:
        """Finish the file."""
        with writing(self._path), self._file:
            if self._writer is not None:
                self._writer.close()

    def numbers(self) -> dict[str, dict[str, float]]:
        """Count, mean and percentiles of the table's own numbers, such as latency."""
        with closing(RowsFile(self._path)) as rows:
            present = [name for name in NUMBER_COLUMNS if name in rows.schema.names]
            columns = {name: rows.read([name])[name].drop_null().to_numpy() for name in present}
        return {name: percentiles(values) for name, values in columns.items() if len(values)}

    def summaries(self, confidence: Confidence) -> tuple[Confidence, dict[str, MetricSummary]]:
        """The interval settings with the cluster column that was used, and each metric's summary.

        They are computed from the file, so memory holds one column at a time.
        """
        with closing(RowsFile(self._path)) as rows:
            texts = [field.name for field in rows.schema if field.type in TEXTS]
            cluster, codes = clusters_of(
                confidence.cluster, texts, lambda name: rows.read([name])[name].combine_chunks()
            )
            summaries = {
                metric.name: summarise(
                    rows.read([metric.name])[metric.name].to_numpy(),
                    self.not_scored[metric.name],
                    binary=metric.binary,
                    direction=metric.direction,
                    bounds=metric.bounds,
                    confidence=confidence,
                    codes=codes,
                )
                for metric in self._metrics
            }
        return replace(confidence, cluster=cluster), summaries


def _array(name: str, column: list[Any], numbers: Collection[str]) -> Any:
    if name in numbers:
        return pa.array(column, pa.float64())
    return pa.array(column, _LISTS if name in LIST_COLUMNS else pa.large_string())


class NewRun:
    """A run being written: into a temporary folder, which replaces the run's folder in one step when it is complete.

    It is its owner's only, since it has questions, prompts and answers.

    With `inside`, the run's folder may exist before the run and holds other files too, such as a journal: then only the
    run's own files are replaced, the manifest last.
    """

    def __init__(self, path: Path, *, inside: bool = False) -> None:
        if not inside:
            _check_place(path)
        self.path = path
        self._modes: dict[str, int] = {}  # of an older run's files
        self._inside = inside
        parent = path if inside else path.parent
        self._created = [folder for folder in (parent, *parent.parents) if not folder.exists()]
        try:
            with writing(path):
                parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                temporary = tempfile.mkdtemp(prefix=f".{path.name}.{os.getpid()}.", suffix=".tmp", dir=parent)
                self.folder = Path(temporary)
        except OutputError:
            self._remove_parents()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._remove_parents()

    def _remove_parents(self) -> None:
        """Remove the folders that were created for the run, if they are empty."""
        for parent in self._created:
            with suppress(OSError):
                parent.rmdir()

    def keep(self, older: Run) -> None:
        """Copy the other files of an older run's folder: a journal, exports. Whoever could read the run still can."""
        with writing(self.path):
            self._modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in older.path.iterdir()}
            shutil.copymode(older.path, self.folder)
            for file in older.path.iterdir():
                if file.name not in FILES:
                    copy = shutil.copytree if file.is_dir() else shutil.copy2
                    copy(file, self.folder / file.name)

    def finish(self, manifest: dict[str, Any], summary: dict[str, Any]) -> Run:
        """Write summary and manifest, and move the run into place; an older run of the same name is replaced."""
        with writing(self.path):
            (self.folder / SUMMARY).write_text(dumps(summary, indent=2) + "\n", encoding="utf-8")
            (self.folder / MANIFEST).write_text(dumps(manifest, indent=2) + "\n", encoding="utf-8")
            for file in self.folder.iterdir():
                if file.is_file():
                    _sync(file)
                    file.chmod(self._modes.get(file.name, 0o600))
            if self._inside:
                for name in (ROWS, SUMMARY, MANIFEST):
                    (self.folder / name).replace(self.path / name)
            else:
                self._swap()
        return Run(self.path)

    def _swap(self) -> None:
        """Move the folder into place. Another process may do the same at the same time; the last one wins."""
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
    """Raise an error if the path is taken by something other than a run."""
    with writing(path):
        foreign = all(_is_foreign(path) for _ in range(5))  # another process may be swapping a run in right now
    if foreign:
        raise OutputError(f"{path} already exists and is not a run", hint=f"choose another name with {option('run')}")


def _is_foreign(path: Path) -> bool:
    """Whether something other than a run is at this path."""
    try:
        return MANIFEST not in {file.name for file in path.iterdir()}
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        return True


def _sync(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())
