"""A run: what was run, the table, and what came out."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.errors import InputError, UnknownNameError
from ragmeter.runs.files import (
    FILES,
    MANIFEST,
    NOT_WHOLE,
    ROWS,
    SUMMARY,
    Stamp,
    clip_intervals,
    read_text,
    stamp_of,
    unknown_run,
)
from ragmeter.runs.rows import Rows, RowsFile, clusters_of
from ragmeter.stats.clusters import Codes
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.summary import MetricSummary
from ragmeter.table import (
    JUDGE_COLUMNS,
    NAMED_COLUMNS,
    NUMBER_COLUMNS,
    OTHER_NAMES,
    SCORED,
    Measure,
    Scores,
    outcome_column,
)

#: The types of a column of single texts.
TEXTS = (pa.large_string(), pa.string())
#: A column with more values than this, or with longer ones, is no slice but a text.
_MOST_VALUES, _LONGEST = 50, 100
#: How a missing value is shown.
NOTHING = "(none)"

T = TypeVar("T")


class Run:
    """A run in its folder.

    A file is opened when it is first needed, and what was read stays in memory until another process or call replaces
    the run: then it is read anew.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path: Path | None = Path(path)
        self._kept: dict[Hashable, Any] = {}
        self._stamps: tuple[Stamp, ...] = ()

    @classmethod
    def at(cls, where: str | os.PathLike[str]) -> Self:
        """The run at a path, or an error if there is none."""
        run = cls(where)
        run.check()
        return run

    def check(self) -> None:
        """Raise an error if the run is not there (any more)."""
        if (self.path / MANIFEST).is_file():
            return
        if self.path.exists():
            raise InputError("this is not a run folder: it has no manifest.json", file=str(self.path))
        raise unknown_run(self.path.name, self.path.parent)

    @property
    def path(self) -> Path:
        """The folder."""
        assert self._path is not None  # noqa: S101 - only a run that was not kept has none
        return self._path

    @property
    def name(self) -> str:
        """The folder's name is the run's; `.` and `..` don't say it."""
        return self.path.name if self.path.name not in ("", "..") else self.path.resolve().name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Run) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path,)

    def _once(self, what: Hashable, read: Callable[[], T]) -> T:
        """What `read` gives, kept as long as the run's files are the same."""
        stamps = self._files()
        if stamps != self._stamps:
            self._kept, self._stamps = {}, stamps
        kept = self._kept
        if what not in kept:
            kept[what] = read()
        value: T = kept[what]
        return value

    def _files(self) -> tuple[Stamp, ...]:
        return tuple(stamp_of(self.path / name) for name in FILES)

    def _text(self, name: str) -> str:
        return self._once(name, lambda: read_text(self.path / name))

    def _open(self) -> Rows:
        return RowsFile(self.path / ROWS)

    @property
    def _rows(self) -> Rows:
        return self._once(ROWS, self._open)

    def close(self) -> None:
        """Let go of the open file and of what was read; what is needed later is read again."""
        self._kept, kept = {}, self._kept
        if isinstance(rows := kept.get(ROWS), RowsFile):
            rows.close()

    def manifest(self) -> dict[str, Any]:
        """What was run. The dict is the caller's own."""
        content: dict[str, Any] = json.loads(self._text(MANIFEST))
        return content

    def summary(self) -> dict[str, Any]:
        """What came out. The dict is the caller's own."""
        content: dict[str, Any] = json.loads(self._text(SUMMARY))
        clip_intervals(content.get("metrics"))
        return content

    def metrics(self) -> dict[str, dict[str, Any]]:
        """What came out, for each metric."""
        metrics = self.summary().get("metrics")
        if not isinstance(metrics, dict):
            raise InputError("it has no metrics", file=str(self.path / SUMMARY), hint=NOT_WHOLE)
        for name, summary in metrics.items():
            if not isinstance(summary, dict) or not MetricSummary.required() <= summary.keys():
                raise InputError(f"{name} is not all there", file=str(self.path / SUMMARY), hint=NOT_WHOLE)
        return metrics

    @property
    def confidence(self) -> Confidence:
        """How the run's own intervals were made."""
        settings = self.summary().get("statistics") or {}
        return Confidence(**{key: settings[key] for key in ("method", "cluster", "level", "seed") if key in settings})

    def rows(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The table, or some of its columns."""
        return self._rows.table(columns)

    def batches(self, size: int) -> Iterator[pa.RecordBatch]:
        """The table, some rows at a time, as Arrow has them; nothing of it is kept in memory."""
        return self._rows.batches(size)

    def records(self, places: Sequence[int], columns: Sequence[str]) -> list[dict[str, Any]]:
        """Some cells of the rows at these places, in that order."""
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
        return self._once("texts", lambda: [field.name for field in self._rows.schema if field.type in TEXTS])

    @property
    def other_columns(self) -> list[str]:
        """Columns of texts that the table has no name for: slices, ids and notes of the user's."""
        scores = {column for name in self.metrics() for column in (name, outcome_column(name))}
        return [name for name in self.texts if name not in {*NAMED_COLUMNS, *JUDGE_COLUMNS, *scores}]

    @property
    def row_metrics(self) -> list[str]:
        """The metrics that every row has a score of; a conversation's own score is not among them."""
        return self._once("row_metrics", lambda: [name for name in self.metrics() if name in self.columns])

    @property
    def measures(self) -> dict[str, Measure]:
        """The columns of numbers: metrics in the order of the summary, then latency and the like."""
        return self._once("measures", self._read_measures)

    def _read_measures(self) -> dict[str, Measure]:
        measures = {}
        for name, summary in self.metrics().items():
            if name in self.columns:
                low, high = summary["range"]
                binary = summary.get("binary", summary["interval_method"] == "wilson")
                ends = (-math.inf if low is None else low, math.inf if high is None else high)
                measures[name] = Measure(name, binary, summary["direction"], ends)
        for name in NUMBER_COLUMNS:
            if name in self.columns:
                measures[name] = Measure(name, direction="lower", bounds=(0.0, math.inf))
        return measures

    def measure(self, name: str) -> Measure:
        """One measure by its name, or an error that says which there are."""
        for known in (name, OTHER_NAMES.get(name)):
            if known in self.measures:
                return self.measures[known]
        raise UnknownNameError("metric", name, self.measures, hint=f"{self.name} has {', '.join(self.measures)}")

    def scores(self, metric: str) -> Scores:
        """A measure's scores, NaN where a row has none. The array is the caller's own."""
        return np.array(self.rows([metric])[metric].to_numpy(), dtype=np.float64)

    def outcomes(self, name: str) -> tuple[Codes, list[str]]:
        """For each row the number of its outcome of a measure, and the outcomes' names, `scored` among them."""
        column = outcome_column(name)
        if column in self.columns:
            encoded = pc.dictionary_encode(self.rows([column])[column].cast(pa.string()).combine_chunks())
            return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary.to_pylist()
        return np.isnan(self.scores(name)).astype(np.int64), [SCORED, "missing"]

    def column(self, name: str) -> pa.Array:
        """A column of texts."""
        if name not in self.texts:
            raise UnknownNameError("column", name, self.texts, hint=f"{self.name} has {', '.join(self.texts)}")
        return self._rows.array(name)

    def slices(self) -> list[str]:
        """The columns by which the rows fall into a few groups: of the user's own, with 2 to 50 short values."""
        own = [
            name
            for name in self.texts
            if name not in (*NAMED_COLUMNS, *JUDGE_COLUMNS)
            and not name.startswith("input.")
            and self.is_short(name, _LONGEST)
        ]
        return [name for name in own if 2 <= pc.count_distinct(self.column(name)).as_py() <= _MOST_VALUES]

    def is_short(self, name: str, longest: int = 1_000) -> bool:
        """Whether a column is there and its values are short, estimated from Parquet metadata without reading it."""
        return name in self.texts and self._rows.size(name) <= longest * max(self.n_rows, 1)

    def columns_of(self, given: str) -> list[str]:
        """The columns that a slice is by: one, or two with a comma between them."""
        return [given] if given in self.texts else given.split(",")

    def groups(self, names: Sequence[str]) -> tuple[Codes, list[tuple[str | None, ...]]]:
        """For each row the number of its group by some columns, and each group's values, in the order of appearance."""
        encoded = [pc.dictionary_encode(self.column(name), null_encoding="encode") for name in names]
        codes = np.zeros(len(encoded[0]), dtype=np.int64)
        for column in encoded:
            codes = codes * len(column.dictionary) + column.indices.to_numpy(zero_copy_only=False)
        distinct, first, places = np.unique(codes, return_index=True, return_inverse=True)
        rank = np.empty(len(distinct), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(distinct))
        values = [tuple(column[int(row)].as_py() for column in encoded) for row in np.sort(first)]
        return rank[places], values

    def clusters(self, how: Confidence) -> tuple[str | None, Codes | None]:
        """By which column rows belong together, if they do, and for each row the number of its cluster."""
        return self._once(("clusters", how.cluster), lambda: clusters_of(how.cluster, self.texts, self.column))


#: The name by which `ragmeter` has it.
RunFolder = Run


def slice_label(values: Sequence[str | None]) -> str:
    """A slice's value, or its values, as they are shown."""
    return ", ".join(NOTHING if value is None else value for value in values)
