"""Writing a run: rows batch by batch, then summary and manifest; all three are moved into place when complete."""

from __future__ import annotations

import os
import shutil
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import structs

from ragmeter.definition import Metric
from ragmeter.documents.manifest import Manifest
from ragmeter.documents.summary import Summary
from ragmeter.errors import OutputError
from ragmeter.hints import option
from ragmeter.io.write import dumps
from ragmeter.metrics.normalize import AUTO as AUTO_LANGUAGE
from ragmeter.metrics.normalize import count_unknown
from ragmeter.metrics.sentences import count_long
from ragmeter.runs.layout import MANIFEST, SUMMARY, writing
from ragmeter.runs.places import hold, put, temporary_folder
from ragmeter.runs.rows import RowsFile
from ragmeter.runs.run import Run
from ragmeter.runs.table_summary import summarise_table
from ragmeter.stats.confidence import Confidence
from ragmeter.table import (
    LANGUAGE,
    LIST_COLUMNS,
    NUMBER_COLUMNS,
    SCORED,
    Batch,
    Column,
    Measure,
    Scores,
    outcome_column,
)

#: Bytes of a page: whoever wants a single row reads and decompresses the whole page that it is in.
_PAGE = 65_536
_LISTS = pa.list_(pa.large_string())
_OUTCOME = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class Scored:
    """A batch with its scores: for each metric the values, and each row's outcome."""

    batch: Batch
    scores: dict[str, tuple[Scores, list[str]]]


class RowsWriter:
    """Writes each batch as a row group, and counts what was not scored."""

    def __init__(
        self,
        path: Path,
        metrics: Sequence[Metric | Measure],
        columns: Sequence[str] | None = None,
        numbers: Collection[str] = (),
    ) -> None:
        """`columns` are the table's; without them, the first batch says which there are, and which are `numbers`."""
        self._path = path
        self._metrics = metrics
        self._score_columns = {name for metric in metrics for name in (metric.name, outcome_column(metric.name))}
        self._file = path.open("wb")
        self._writer: pq.ParquetWriter | None = None
        self._schema: Any = None
        self.left_out: dict[str, int] = {}
        self.not_scored: dict[str, Counter[str]] = {metric.name: Counter() for metric in metrics}
        self._is_for_short = any(isinstance(metric, Metric) and metric.needs_short_references for metric in metrics)
        self._is_by_language = any(
            isinstance(metric, Metric) and metric.settings.get("language") == AUTO_LANGUAGE for metric in metrics
        )
        self._cautions: Counter[str] = Counter()
        if columns is not None:
            kinds = [(self._input_name(name), _array(name, [], {*NUMBER_COLUMNS, *numbers}).type) for name in columns]
            scores = [((metric.name, pa.float64()), (outcome_column(metric.name), _OUTCOME)) for metric in metrics]
            self._begin(pa.schema([*kinds, *(kind for pair in scores for kind in pair)]))

    def _begin(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._writer = table_writer(self._file, schema, [metric.name for metric in self._metrics])

    def note(self, about: Mapping[str, str]) -> None:
        """Write texts into the file's footer."""
        assert self._writer is not None  # noqa: S101 - only where the columns are given
        self._writer.add_key_value_metadata(dict(about))

    def write(self, scored: Scored, carried: Mapping[str, pa.Array] | None = None) -> None:
        """Add a batch. The first one fixes the columns; a column that appears later is counted and left out.

        `carried` are columns of an earlier run that stay as they are.
        """
        if self._is_for_short:
            self._cautions["long_references"] += count_long(scored.batch.columns.get("reference") or ())
        if self._is_by_language:
            self._cautions["unknown_languages"] += count_unknown(scored.batch.columns.get(LANGUAGE) or ())
        numbers = {*NUMBER_COLUMNS, *scored.batch.numbers}
        arrays = {
            self._input_name(name): _array(name, column, numbers) for name, column in scored.batch.columns.items()
        }
        arrays.update(carried or {})
        outcomes: dict[int, Any] = {}  # metrics with the same needs share the list
        for name, (values, causes) in scored.scores.items():
            arrays[name] = pa.array(values, pa.float64())
            if id(causes) not in outcomes:
                outcomes[id(causes)] = _outcomes(causes)
            arrays[outcome_column(name)] = outcomes[id(causes)]
            if causes.count(SCORED) < len(causes):
                self.not_scored[name].update(cause for cause in causes if cause != SCORED)
        if self._writer is None:
            self._begin(pa.schema([(name, array.type) for name, array in arrays.items()]))
        assert self._writer is not None  # noqa: S101 - it was opened above
        rows = len(scored.batch)
        names = self._schema.names  # a new list at every access
        for name in arrays.keys() - set(names):
            self.left_out[name] = self.left_out.get(name, 0) + rows
        columns = [
            arrays[name] if name in arrays else pa.nulls(rows, kind)
            for name, kind in zip(names, self._schema.types, strict=True)
        ]
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

    def cautions(self) -> dict[str, int]:
        """Counts of what is to be said of the table, for the summary: of references that are very long, for one."""
        return dict(+self._cautions)

    def summary(self, confidence: Confidence, *, numbers: Iterable[str] = (), is_own: bool = False) -> Summary:
        """What was written comes to; the settings of intervals name the cluster column that was used.

        `numbers` are columns that are described as latency is. `is_own`: the settings are the run's.
        """
        more, not_scored = map(self._input_name, numbers), self.not_scored.__getitem__
        with closing(RowsFile(self._path)) as rows:
            summary = summarise_table(
                rows, self._metrics, not_scored, confidence, numbers=more, left_out=self.left_out, is_own=is_own
            )
        return structs.replace(summary, **self.cautions())


def table_writer(file: Any, schema: pa.Schema, metrics: Sequence[str]) -> pq.ParquetWriter:
    """The writer of a run's Parquet file."""
    return pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        compression_level=1,
        data_page_size=_PAGE,
        use_dictionary=[outcome_column(name) for name in metrics],
        write_statistics=list(metrics),  # nobody needs a text's minimum
        write_page_checksum=True,  # without it, a number with a flipped bit is another number
    )


def _outcomes(causes: list[str]) -> Any:
    """Outcomes as an Arrow array of codes; most often all rows were scored."""
    if causes.count(SCORED) < len(causes):
        return pa.array(causes, pa.string()).dictionary_encode().cast(_OUTCOME)
    return pa.DictionaryArray.from_arrays(np.zeros(len(causes), np.int32), pa.array([SCORED][: len(causes)]))


def _array(name: str, column: Column, numbers: Collection[str]) -> Any:
    if name in numbers:
        return pa.array(column, pa.float64())
    if name in LIST_COLUMNS:
        return pa.array(column, _LISTS)
    try:
        return pa.array(column, pa.large_string())
    except pa.ArrowTypeError:  # lists in a column whose name somebody has changed
        return pa.array(column, _LISTS)


class NewRun:
    """A run being written: into a temporary folder, whose files are moved into place when all are complete.

    The run's folder is held meanwhile: nobody else writes to it. An older run in it is replaced; only its journals
    stay. With `inside`, the folder's other files stay too, and files that are replaced keep their modes. New files are
    their owner's only, since they have questions, prompts and answers.
    """

    def __init__(self, path: Path, *, inside: bool = False) -> None:
        self.path = path
        self._inside = inside

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(hold(self.path, "writes it"))
            if not self._inside:
                _check_place(self.path)
            with writing(self.path):
                self.folder = temporary_folder(self.path)
            stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *failure: object) -> None:
        self._stack.close()

    def finish(self, manifest: Manifest, summary: Summary) -> Run:
        """Write summary and manifest, and move all files into place."""
        with writing(self.path):
            (self.folder / SUMMARY).write_text(dumps(summary, indent=2) + "\n", encoding="utf-8")
            (self.folder / MANIFEST).write_text(dumps(manifest, indent=2) + "\n", encoding="utf-8")
            for file in self.folder.iterdir():
                if file.is_dir():  # parts, each of which was synced when it was put there
                    continue
                _sync(file)
                file.chmod(self._mode_of(file.name))
            put(self.folder, self.path, beside=self._inside)
        return Run(self.path)

    def _mode_of(self, name: str) -> int:
        """Whoever may read the older file may read the new one."""
        with suppress(FileNotFoundError):
            if self._inside:
                return stat.S_IMODE((self.path / name).stat().st_mode)
        return 0o600


def _check_place(path: Path) -> None:
    """Raise an error if the path is taken by something other than a run."""
    with writing(path):
        if path.exists() and not (path.is_dir() and MANIFEST in {file.name for file in path.iterdir()}):
            hint = f"choose another name with {option('run')}"
            raise OutputError(f"{path} already exists and is not a run", hint=hint)


def _sync(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())
