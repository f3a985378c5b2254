"""Run folders: `manifest.json` (what was run), `rows.parquet` (the table), `summary.json` (what it says)."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ragmeter.definition import Metric
from ragmeter.errors import InputError, OutputError, UnknownNameError, UsageError
from ragmeter.hints import option
from ragmeter.io.write import dumps
from ragmeter.stats.clusters import Codes, cluster_codes, has_clusters
from ragmeter.stats.confidence import AUTO, Confidence
from ragmeter.stats.intervals import within
from ragmeter.stats.summary import MetricSummary, percentiles, summarise
from ragmeter.table import LIST_COLUMNS, NUMBER_COLUMNS, QID, SCORED, Batch, Measure, Scores, outcome_column

MANIFEST, ROWS, SUMMARY = "manifest.json", "rows.parquet", "summary.json"
_LISTS = pa.list_(pa.large_string())
#: The types of a column of single texts.
TEXTS = (pa.large_string(), pa.string())
_OUTCOME = pa.dictionary(pa.int32(), pa.string())
#: So many runs are named where one is not found.
_NAMED_RUNS = 20
_NOT_WHOLE = "the run is damaged, or was not copied whole: evaluate again"


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
        self._taken = {each for metric in metrics for each in (metric.name, outcome_column(metric.name))}
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
        for name, (values, found) in scored.scores.items():
            arrays[name] = pa.array(values, pa.float64())
            if id(found) not in outcomes:
                outcomes[id(found)] = pa.array(found, pa.string()).dictionary_encode().cast(_OUTCOME)
            arrays[outcome_column(name)] = outcomes[id(found)]
            if found.count(SCORED) < len(found):
                self.not_scored[name].update(outcome for outcome in found if outcome != SCORED)
        if self._writer is None:
            self._schema = pa.schema([(name, array.type) for name, array in arrays.items()])
            self._writer = pq.ParquetWriter(
                self._file,
                self._schema,
                compression="zstd",
                compression_level=1,
                use_dictionary=[outcome_column(metric.name) for metric in self._metrics],
                write_statistics=[
                    metric.name for metric in self._metrics
                ],  # of texts nobody asks the least and greatest
            )
        rows = len(scored.batch)
        for name in arrays:
            if name not in self._schema.names:
                self.left_out[name] = self.left_out.get(name, 0) + rows
        held = [arrays.get(field.name, pa.nulls(rows, field.type)) for field in self._schema]
        self._writer.write_table(pa.Table.from_arrays(held, schema=self._schema), row_group_size=rows)

    def _own(self, name: str) -> str:
        """A column's name in the file: one that a metric's scores have taken gives way to them."""
        return f"input.{name}" if name in self._taken else name

    def close(self) -> None:
        """Finish the file."""
        try:
            if self._writer is not None:
                self._writer.close()
        finally:
            self._file.close()

    def numbers(self) -> dict[str, dict[str, float]]:
        """What the table's own numbers come to, latency for one: how many, their mean, and percentiles."""
        found = {}
        with opened_rows(self._path) as file:
            for name in NUMBER_COLUMNS:
                if name in file.schema_arrow.names:
                    values = _column(file, name).drop_null().to_numpy()
                    if len(values):
                        found[name] = percentiles(values)
        return found

    def summaries(self, how: Confidence) -> tuple[Confidence, dict[str, MetricSummary]]:
        """Each metric's summary, from the file: one column at a time is all that memory has to hold.

        With them, how their intervals were made after all: by which column rows belong together.
        """
        cluster, codes = clusters_in(self._path, how)
        with opened_rows(self._path) as file:
            found = {
                metric.name: summarise(
                    _column(file, metric.name).to_numpy(),
                    self.not_scored[metric.name],
                    binary=metric.binary,
                    direction=metric.direction,
                    bounds=metric.bounds,
                    how=how,
                    codes=codes,
                )
                for metric in self._metrics
            }
        return replace(how, cluster=cluster), found


@contextmanager
def opened_rows(path: Path) -> Iterator[Any]:
    """A run's table, to be read from. One that is not there, or not whole, is said in our words."""
    try:
        # Not by its path, for one with a colon would be taken for an address.
        with path.open("rb") as file, pq.ParquetFile(file) as opened:
            yield opened
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"can't be read: {reason}", file=str(path), hint=_NOT_WHOLE) from None


def _column(file: Any, name: str) -> Any:
    """A column of a run's table. Not by Arrow's threads, which now and then abort a short process when it ends."""
    return file.read(columns=[name], use_threads=False)[name]


def clusters_in(rows: Path, how: Confidence) -> tuple[str | None, Codes | None]:
    """By which column the rows of a file belong together, if they do, and for each row the number of its cluster."""
    with opened_rows(rows) as file:
        texts = [field.name for field in file.schema_arrow if field.type in TEXTS]
        if how.cluster != AUTO:
            if how.cluster is None:
                return None, None
            if how.cluster not in texts:
                raise UnknownNameError("column", how.cluster, texts, hint=f"the columns are {', '.join(texts)}")
            codes = cluster_codes(_column(file, how.cluster).combine_chunks())
            if len(np.unique(codes)) < 2:
                raise UsageError(
                    f"all rows have the same {how.cluster!r}: with fewer than two clusters there is no interval",
                    hint=f"choose another column with {option('cluster')}, or {option('cluster', None)}",
                )
            return how.cluster, codes
        for name in ("session_id", QID):
            if name in texts and has_clusters(column := _column(file, name).combine_chunks()):
                return name, cluster_codes(column)
    return None, None


def _array(name: str, column: list[Any]) -> Any:
    if name in NUMBER_COLUMNS:
        return pa.array(column, pa.float64())
    return pa.array(column, _LISTS if name in LIST_COLUMNS else pa.large_string())


@dataclass(frozen=True)
class RunFolder:
    """A run on disk."""

    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))

    @classmethod
    def at(cls, where: str | Path) -> Self:
        """The run at a path, or an error if there is none."""
        path = Path(where)
        if (path / MANIFEST).is_file():
            return cls(path)
        if path.exists():
            raise InputError("this is not a run folder: it has no manifest.json", file=str(path))
        raise unknown_run(path.name, path.parent)

    @property
    def name(self) -> str:
        """The folder's name is the run's; `.` and `..` don't say it."""
        return self.path.name if self.path.name not in ("", "..") else self.path.resolve().name

    def manifest(self) -> dict[str, Any]:
        """What was run."""
        return self._json(MANIFEST)

    def summary(self) -> dict[str, Any]:
        """What came out."""
        found = self._json(SUMMARY)
        _clip_intervals(found.get("metrics"))
        return found

    def metrics(self) -> dict[str, dict[str, Any]]:
        """What came out, for each metric."""
        found = self.summary().get("metrics")
        if not isinstance(found, dict):
            raise InputError("it has no metrics", file=str(self.path / SUMMARY), hint=_NOT_WHOLE)
        for name, each in found.items():
            if not isinstance(each, dict) or not MetricSummary.required() <= each.keys():
                raise InputError(f"{name} is not all there", file=str(self.path / SUMMARY), hint=_NOT_WHOLE)
        return found

    def rows(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The table, or some of its columns."""
        # Not by Arrow's threads, which now and then abort a short process when it ends.
        with opened_rows(self.path / ROWS) as opened:
            return opened.read(columns=columns, use_threads=False)

    def batches(self, size: int) -> Iterator[Any]:
        """The table, some rows at a time, as Arrow has them."""
        with opened_rows(self.path / ROWS) as opened:
            yield from opened.iter_batches(batch_size=size)

    def scores(self, metric: str) -> Scores:
        """One metric's scores, NaN where a row has none."""
        return np.asarray(self.rows([metric])[metric].to_numpy(), dtype=np.float64)

    def _json(self, name: str) -> dict[str, Any]:
        try:
            content: dict[str, Any] = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"can't be read: {error}", file=str(self.path / name), hint=_NOT_WHOLE) from None
        if not isinstance(content, dict):
            raise InputError("can't be read: it is no JSON object", file=str(self.path / name), hint=_NOT_WHOLE)
        return content


def unknown_run(name: str, folder: Path) -> UnknownNameError:
    """The error for a run that is not in a folder, with those that are."""
    known = sorted(path.parent.name for path in folder.glob(f"*/{MANIFEST}"))
    more = f" and {len(known) - _NAMED_RUNS:,} more" if len(known) > _NAMED_RUNS else ""
    listed = f"in {folder}/ there are {', '.join(known[:_NAMED_RUNS])}{more}"
    return UnknownNameError("run", name, known, hint=listed if known else f"there are no runs in {folder}/")


def _clip_intervals(metrics: Any) -> None:
    """Clip the intervals of runs that an earlier version has kept, where they go beyond their metric's range."""
    for each in metrics.values() if isinstance(metrics, dict) else ():
        with suppress(TypeError, ValueError, KeyError, IndexError):  # what is missing is said by whoever needs it
            clipped = within(each["interval"], each["range"])
            if clipped is not None and clipped[0] <= each["mean"] <= clipped[1]:
                each["interval"] = clipped


class NewRun:
    """A run being written: into a folder beside its place, which takes that place in one step when it is whole."""

    def __init__(self, path: Path) -> None:
        with writing(path):
            foreign = all(_is_foreign(path) for _ in range(5))  # a run may be taking its place this very moment
        if foreign:
            raise OutputError(
                f"{path} is there already, and it is not a run", hint=f"choose another name with {option('run')}"
            )
        self.path = path
        self._made = [parent for parent in path.parents if not parent.exists()]
        try:
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                beside = tempfile.mkdtemp(prefix=f".{path.name}.{os.getpid()}.", suffix=".tmp", dir=path.parent)
                self.folder = Path(beside)
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

    def keep(self, older: RunFolder) -> None:
        """Take over what else an older run has in its folder: a journal, exports."""
        with writing(self.path):
            for each in older.path.iterdir():
                if each.name in (MANIFEST, ROWS, SUMMARY):
                    continue
                if each.is_dir():
                    shutil.copytree(each, self.folder / each.name)
                else:
                    shutil.copy2(each, self.folder / each.name)

    def finish(self, manifest: dict[str, Any], summary: dict[str, Any]) -> RunFolder:
        """Write the two documents and put the folder in its place, in that of an older run of the same name."""
        with writing(self.path):
            (self.folder / SUMMARY).write_text(dumps(summary, indent=2) + "\n", encoding="utf-8")
            (self.folder / MANIFEST).write_text(dumps(manifest, indent=2) + "\n", encoding="utf-8")
            for file in self.folder.iterdir():
                if file.is_file():
                    _sync(file)
            self._swap()
        return RunFolder(self.path)

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


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What goes wrong while a run is written, said in our words: no room, no right, a name that is too long."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or error
        hint = f"choose another folder with {option('output_dir')}, or make room"
        raise OutputError(f"can't write {path}: {reason}", hint=hint) from error


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
