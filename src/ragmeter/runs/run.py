"""A run: its manifest, its table and its summary."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.documents.manifest import Manifest
from ragmeter.documents.metrics import MetricSummary
from ragmeter.documents.summary import Summary
from ragmeter.errors import InputError, UnknownNameError, UsageError
from ragmeter.io.locations import Location, StorePath, location, on_disk
from ragmeter.metrics.causes import CAUSE, CAUSE_EVIDENCE, CAUSES, SHARE_OF, hides_in
from ragmeter.naming import matching
from ragmeter.registry import other_names
from ragmeter.runs.declined import marked_unanswerable, rightly_declined
from ragmeter.runs.documents import read_manifest, read_summary, scores_problem, table_problem
from ragmeter.runs.layout import (
    MANIFEST,
    PARTS,
    ROWS,
    SUMMARY,
    Stamp,
    stamps_of,
    unknown_run,
    unreadable,
)
from ragmeter.runs.parts import RowsParts
from ragmeter.runs.places import settle
from ragmeter.runs.rows import Rows, RowsFile, StoredRows, clusters_of
from ragmeter.stats.clusters import Codes
from ragmeter.stats.confidence import AUTO, Confidence
from ragmeter.table import (
    JUDGE_COLUMNS,
    NAMED_COLUMNS,
    NUMBER_COLUMNS,
    PARTIAL_ANSWER,
    SCORED,
    Measure,
    NewRow,
    Scores,
    outcome_column,
)

#: The types of a column of single texts.
TEXTS = (pa.large_string(), pa.string())
#: A column with more values than this, or with longer ones, is not offered as a slice.
MOST_SLICES, _LONGEST = 50, 100
#: What a run lacks that has no causes.
_NO_CAUSES = (
    "a run has causes where a metric says which answers are right (llm_correct, offline_correct or exact_match), and "
    "passages or gold documents are there"
)
#: How a missing value is shown.
NOTHING = "(none)"

T = TypeVar("T")


class Run:
    """A run in its folder.

    A file is opened when it is first needed. What was read is cached until this process or another changes the files.
    """

    def __init__(self, path: str | os.PathLike[str] | StorePath) -> None:
        self._path: Location | None = location(path)
        self._cache: dict[Hashable, Any] = {}
        self._stamps: tuple[Stamp, ...] = ()

    @classmethod
    def at(cls, path: str | os.PathLike[str] | StorePath) -> Self:
        """The run at a path, or an error if there is none."""
        run = cls(path)
        run.check()
        return run

    def check(self) -> None:
        """Raise an error if the run does not exist (any more)."""
        self._settle()
        if (self.location / MANIFEST).is_file():
            return
        if self.location.exists():
            raise InputError("this is not a run folder: it has no manifest.json", file=str(self.location))
        raise unknown_run(self.location.name, self.location.parent)

    @property
    def location(self) -> Location:
        """The folder, on a disk or in a store."""
        assert self._path is not None  # noqa: S101 - only a run that was not kept has none
        return self._path

    @property
    def path(self) -> Path:
        """The folder on a disk; an error for a run in a store."""
        return on_disk(self.location, "this")

    @property
    def folder(self) -> Path | None:
        """The folder with this run and others; None for a run in a store, and for one that was not kept."""
        return self._path.parent if isinstance(self._path, Path) else None

    @property
    def name(self) -> str:
        """The folder's name, also where the path is `.` or `..`."""
        name: str = self.location.name if self.location.name not in ("", "..") else self.location.resolve().name
        return name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.location)!r})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Run) and self.location == other.location

    def __hash__(self) -> int:
        return hash(self.location)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.location,)

    def _cached(self, key: Hashable, read: Callable[[], T]) -> T:
        """The value of `read()`, cached until the run's files change."""
        stamps = self._files()
        if stamps != self._stamps:
            self._settle()
            self._cache, self._stamps = {}, self._files()
        cache = self._cache
        if key not in cache:
            cache[key] = read()
        value: T = cache[key]
        return value

    def _settle(self) -> None:
        if isinstance(self.location, Path):
            settle(self.location)

    def _files(self) -> tuple[Stamp, ...]:
        """Changes with the files. What is read of a run in a store is kept: asking it each time would take long."""
        if isinstance(self.location, StorePath):
            return (None,)
        return stamps_of(self.location)

    def _file(self, name: str) -> Location:
        """Where a file of the run is: the manifest in its folder, the others where the manifest says."""
        inside = "" if name == MANIFEST else self.manifest().files_in
        return self.location / inside / name if inside else self.location / name

    @property
    def rows_path(self) -> Location:
        """The file of the run's table, or the folder with its parts."""
        return self._file(PARTS if self.manifest().parts else ROWS)

    def _open(self) -> Rows:
        parts = [(part.file, part.rows) for part in self.manifest().parts]
        path = self.rows_path
        rows: StoredRows = RowsParts(path, parts) if parts else RowsFile(path)
        if problem := table_problem(rows.schema, rows.n_rows, self.summary()):
            rows.close()
            raise unreadable(path, problem)
        return rows

    @property
    def _rows(self) -> Rows:
        return self._cached(ROWS, self._open)

    def close(self) -> None:
        """Close the file and drop the cache; what is needed later is read again."""
        self._cache, cache = {}, self._cache
        if isinstance(rows := cache.get(ROWS), StoredRows):
            rows.close()

    def manifest(self) -> Manifest:
        """The manifest, which says what was run."""
        return self._cached(MANIFEST, lambda: read_manifest(self._file(MANIFEST)))

    def summary(self) -> Summary:
        """The results."""
        return self._cached(SUMMARY, lambda: read_summary(self._file(SUMMARY)))

    def metrics(self) -> dict[str, MetricSummary]:
        """The results of each metric, as a new dict."""
        return dict(self.summary().metrics)

    @property
    def confidence(self) -> Confidence:
        """The settings of the run's own intervals."""
        return Confidence.of(self.summary().statistics)

    def rows(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The table, or some of its columns."""
        return self._rows.table(columns)

    def batches(self, size: int) -> Iterator[pa.RecordBatch]:
        """The table, `size` rows at a time, without caching."""
        return self._rows.batches(size)

    @property
    def schema(self) -> pa.Schema:
        """The types of the table's columns."""
        return self._rows.schema

    def check_sizes(self) -> None:
        """Raise an error if the table's files are shorter than their footers say; the rows are not read."""
        if isinstance(self._rows, StoredRows):
            self._rows.check_sizes()

    def records(self, places: Sequence[int], columns: Sequence[str]) -> list[NewRow]:
        """These columns, as far as they exist, of the rows at these places, in that order."""
        return self._rows.records(places, [name for name in columns if name in self.columns])

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self._rows.n_rows

    @property
    def columns(self) -> list[str]:
        """The names of the table's columns."""
        names: list[str] = self._rows.schema.names
        return names

    @property
    def texts(self) -> list[str]:
        """The columns of single texts."""
        return self._cached("texts", lambda: [field.name for field in self._rows.schema if field.type in TEXTS])

    @property
    def other_columns(self) -> list[str]:
        """The user's own columns of texts: slices, ids and notes."""
        scores = {column for name in self.metrics() for column in (name, outcome_column(name))}
        others = {*NAMED_COLUMNS, CAUSE, CAUSE_EVIDENCE, *self._of_judges, *scores}
        return [name for name in self.texts if name not in others]

    @property
    def judged_columns(self) -> dict[str, list[str]]:
        """The columns that a judge has filled, by the name of the value: it, the reason, who decided, how probable."""
        manifest = self.manifest()
        entries = {name: entry.get("columns") for name, entry in manifest.judged_columns.items()}
        entries |= {name: entry.columns for name, entry in manifest.offline.items()}
        filled = [list(columns) for columns in entries.values() if columns]
        if not any("verdict" in columns for columns in filled):  # of the user's own table
            filled.append(list(JUDGE_COLUMNS))
        return {columns[0]: columns for columns in filled if set(columns) & set(self.columns)}

    @property
    def _of_judges(self) -> set[str]:
        columns = {name for columns in self.judged_columns.values() for name in columns}
        return {*columns, *map(outcome_column, columns)}

    @property
    def row_metrics(self) -> list[str]:
        """The metrics with a column of scores."""
        return self._cached("row_metrics", lambda: [name for name in self.metrics() if name in self.columns])

    @property
    def measures(self) -> dict[str, Measure]:
        """The columns of numbers: metrics in the order of the summary, then others such as latency."""
        return self._cached("measures", self._read_measures)

    def _read_measures(self) -> dict[str, Measure]:
        measures = {}
        for name, summary in self.metrics().items():
            if name in self.columns:
                measures[name] = Measure(name, summary.binary, summary.direction, summary.bounds)
        for name in NUMBER_COLUMNS:
            if name in self.columns:
                measures[name] = Measure(name, direction="lower", bounds=(0.0, math.inf))
        return measures

    @property
    def share_measures(self) -> dict[str, Measure]:
        """Whether a row has a cause, as a score of 0 or 1: `cause:not_retrieved`. They are used only where named."""
        cause = self.summary().cause
        if cause is None or CAUSE not in self.texts:
            return {}
        named = {f"{SHARE_OF}{name}": share for name, share in cause.shares.items()}
        return {name: Measure(name, True, share.direction, share.bounds) for name, share in named.items()}

    def measure(self, name: str) -> Measure:
        """One measure by its name or a short one, or an error that lists the names."""
        return self.measures[full_name(name, self.measures, self.name)]

    def scores(self, metric: str) -> Scores:
        """A measure's scores as a new array, NaN where a row has none."""
        if metric in self.share_measures:
            causes, cause = self.column(CAUSE), metric.removeprefix(SHARE_OF)
            shares = np.array(pc.equal(causes, cause).cast(pa.float64()).fill_null(math.nan), dtype=np.float64)
            shares[np.asarray(pc.is_in(causes, pa.array(sorted(hides_in(cause)), pa.string())))] = math.nan
            return shares
        scores = np.array(self.rows([metric])[metric].to_numpy(), dtype=np.float64)
        summary = self.metrics().get(metric)
        if problem := scores_problem(metric, scores, binary=summary is not None and summary.binary):
            raise unreadable(self.rows_path, problem)
        return scores

    def rightly_declined(self) -> npt.NDArray[np.bool_]:
        """The rows whose answer declines a question that can't be answered."""
        return rightly_declined(self._rows, list(self.metrics()))

    def marked_unanswerable(self) -> npt.NDArray[np.bool_]:
        """The rows whose question is marked as one without an answer."""
        return marked_unanswerable(self._rows)

    def outcomes(self, name: str) -> tuple[Codes, list[str]]:
        """Each row's outcome as a number, and the outcomes' names by number, `scored` among them."""
        column = outcome_column(name)
        if column in self.columns:
            texts = self.rows([column])[column].cast(pa.string()).combine_chunks()
            if texts.null_count:
                raise unreadable(self.rows_path, f"{texts.null_count:,} cells of the column {column!r} are empty")
            encoded = pc.dictionary_encode(texts)
            return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary.to_pylist()
        return np.isnan(self.scores(name)).astype(np.int64), [SCORED, "missing"]

    def column(self, name: str) -> pa.Array:
        """A column of texts."""
        if name not in self.texts:
            raise UnknownNameError("column", name, self.texts, hint=f"{self.name} has {', '.join(self.texts)}")
        column = self._rows.array(name)
        if name == CAUSE and self.summary().cause is not None:
            unknown = set(pc.unique(column).to_pylist()) - {None, *CAUSES}
            if unknown:
                raise unreadable(self.rows_path, f"there is no cause {min(unknown)!r}")
        return column

    def slice_candidates(self) -> list[str]:
        """The user's own columns of short values. A cause is a result, and none of them."""
        others = {*NAMED_COLUMNS, PARTIAL_ANSWER, CAUSE, CAUSE_EVIDENCE, *self._of_judges}
        return [
            name
            for name in self.texts
            if name not in others and not name.startswith("input.") and self.is_short(name, _LONGEST)
        ]

    def slices(self) -> list[str]:
        """The user's own columns with 2 to 50 different short values."""
        counts = {name: pc.count_distinct(self.column(name)).as_py() for name in self.slice_candidates()}
        return [name for name, count in counts.items() if 2 <= count <= MOST_SLICES]

    def is_short(self, name: str, longest: int = 1_000) -> bool:
        """Whether a column exists and its values are short, estimated from Parquet metadata without reading it."""
        return name in self.texts and self._rows.size(name) <= longest * max(self.n_rows, 1)

    def columns_of(self, slice_name: str) -> list[str]:
        """The columns of a slice's name: one column, or two separated by a comma."""
        return [slice_name] if slice_name in self.texts else slice_name.split(",")

    def groups(self, names: Sequence[str]) -> tuple[Codes, list[tuple[str | None, ...]]]:
        """Each row's group number by some columns, and each group's values, in the order of appearance."""
        encoded = [pc.dictionary_encode(self.column(name), null_encoding="encode") for name in names]
        codes = np.zeros(len(encoded[0]), dtype=np.int64)
        for column in encoded:
            codes = codes * len(column.dictionary) + column.indices.to_numpy(zero_copy_only=False)
        distinct, first, places = np.unique(codes, return_index=True, return_inverse=True)
        rank = np.empty(len(distinct), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(distinct))
        values = [tuple(column[int(row)].as_py() for column in encoded) for row in np.sort(first)]
        return rank[places], values

    def clusters(self, confidence: Confidence) -> tuple[str | None, Codes | None]:
        """The column that clusters the rows, and each row's cluster number; None and None for independent rows.

        "auto" is the run's own column.
        """
        is_own = confidence.cluster == AUTO
        cluster = self.confidence.cluster if is_own else confidence.cluster
        key = ("clusters", cluster, is_own)
        return self._cached(key, lambda: clusters_of(cluster, self.texts, self.column, is_own=is_own))


def known_names(name: str, names: Collection[str]) -> list[str]:
    """The members of `names` that `name` means: as a short name, or else as another tool's name for a metric."""
    return matching(name, names) or [known for other in other_names(name) for known in matching(other, names)]


def full_name(name: str, names: Iterable[str], owner: str, *, named_by: str = "") -> str:
    """The full name that a short one means among those of `owner`; an error if there is none, or several.

    `named_by` begins the message where it must be said which rule has the name.
    """
    available = list(names)
    matches = known_names(name, available)
    if len(matches) > 1:
        begin = f"{named_by}: " if named_by else ""
        raise UsageError(f"{begin}{name} could be {' or '.join(matches)}", hint="write the name in full")
    if not matches:
        no_causes = name.startswith(SHARE_OF) and not any(known.startswith(SHARE_OF) for known in available)
        why = f"; {_NO_CAUSES}" if no_causes else ""
        raise UnknownNameError("metric", name, available, hint=f"{owner} has {', '.join(available)}{why}")
    return matches[0]


def slice_label(values: Sequence[str | None]) -> str:
    """A slice's value or values, as shown to people."""
    return ", ".join(NOTHING if value is None else value for value in values)
