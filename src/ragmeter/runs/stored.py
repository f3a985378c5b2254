"""What there is in a run that was kept: its measures, the columns that slice it, the rows that belong together."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self, cast, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.io.write import RUNS
from ragmeter.runs.folder import (
    MANIFEST,
    ROWS,
    TEXTS,
    NewRun,
    RunFolder,
    clusters_in,
    opened_rows,
    unknown_run,
    writing,
)
from ragmeter.stats.clusters import Codes
from ragmeter.stats.confidence import Confidence
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

#: A column with more values than this, or with longer ones, is no slice but a text.
_MOST_VALUES, _LONGEST = 50, 100
#: How a missing value is shown.
NOTHING = "(none)"


class TemporaryRun(RunFolder):
    """The folder of a run that nobody asked to keep: it is removed when nothing refers to this object any more."""

    @classmethod
    def write(cls, name: str, rows: pa.Table, manifest: Mapping[str, Any], summary: Mapping[str, Any]) -> Self:
        """Write a run into a folder of its own, among the system's temporary files."""
        scratch = tempfile.mkdtemp(prefix="ragmeter-")
        try:
            with NewRun(Path(scratch) / (name if name.strip(".") else "run")) as new:
                with writing(new.path), (new.folder / ROWS).open("wb") as file:
                    pq.write_table(rows, file)
                run = cls(new.finish({"run": name, **manifest}, dict(summary)).path)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        weakref.finalize(run, _remove, scratch, os.getpid())
        return run


def _remove(folder: str, process: int) -> None:
    """Remove a folder, unless this is another process that was forked from the one that made it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


@runtime_checkable
class HasRun(Protocol):
    """What `evaluate()` and `ask()` return: results with a run behind them."""

    def run_folder(self) -> RunFolder:
        """The run's folder."""


#: Every way to say which run is meant.
RunLike = str | os.PathLike[str] | RunFolder | HasRun


def is_run(given: object) -> bool:
    """Whether this is one run, and not several."""
    return isinstance(given, str | os.PathLike | RunFolder | HasRun)


def find_run(run: RunLike, output_dir: str | Path = RUNS) -> RunFolder:
    """The run that is meant: by its results, its folder, the path of its folder, or its name in `output_dir`."""
    if isinstance(run, RunFolder):
        RunFolder.at(run.path)  # or else it is gone
        return run
    if isinstance(run, HasRun):
        return run.run_folder()
    if not isinstance(run, str | os.PathLike):
        raise UsageError(
            f"{type(run).__name__} is no run",
            hint="a run is what evaluate() or ask() returned, a RunFolder, the path of a run's folder, or its name in "
            f"{output_dir}/",
        )
    for path in (Path(run), Path(output_dir) / run):
        if (path / MANIFEST).is_file():
            return RunFolder(path)
    if (Path(output_dir) / run).is_dir():
        return RunFolder.at(Path(output_dir) / run)  # which says what it lacks
    raise unknown_run(str(run), Path(output_dir))


def find_runs(runs: RunLike | Iterable[RunLike], output_dir: str | Path = RUNS) -> list[RunFolder]:
    """One run, or several."""
    if is_run(runs) or not isinstance(runs, Iterable):
        return [find_run(cast(RunLike, runs), output_dir)]  # which says so if it is none
    return [find_run(run, output_dir) for run in runs]


def run_labels(runs: Sequence[RunFolder]) -> list[str]:
    """The runs' names. Where two have the same name, their paths tell them apart; if they were not kept, numbers do."""
    counts = Counter(run.name for run in runs)
    numbers: Counter[str] = Counter()
    labels = []
    for run in runs:
        label = run.name
        if counts[label] > 1:
            numbers[label] += 1
            temporary = isinstance(run, TemporaryRun)
            label = f"{label.removeprefix('this ')} {numbers[label]}" if temporary else str(run.path)
        labels.append(label)
    return labels


@dataclass(frozen=True)
class StoredRun:
    """A run's table, one column at a time."""

    folder: RunFolder

    @property
    def name(self) -> str:
        """The run's."""
        return self.folder.name

    @cached_property
    def _schema(self) -> pa.Schema:
        with opened_rows(self.folder.path / ROWS) as opened:
            return opened.schema_arrow

    @cached_property
    def measures(self) -> dict[str, Measure]:
        """The columns of numbers: metrics in the order of the summary, then latency and the like."""
        found = {}
        for name, each in self.folder.metrics().items():
            if name in self._schema.names:
                low, high = each["range"]
                binary = each.get("binary", each["interval_method"] == "wilson")
                ends = (-math.inf if low is None else low, math.inf if high is None else high)
                found[name] = Measure(name, binary, each["direction"], ends)
        for name in NUMBER_COLUMNS:
            if name in self._schema.names:
                found[name] = Measure(name, direction="lower", bounds=(0.0, math.inf))
        return found

    @cached_property
    def texts(self) -> list[str]:
        """The columns of single texts."""
        return [field.name for field in self._schema if field.type in TEXTS]

    def scores(self, name: str) -> Scores:
        """A measure's values, NaN where a row has none."""
        return self.folder.scores(name)

    def column(self, name: str) -> pa.Array:
        """A column of texts."""
        if name not in self.texts:
            raise UnknownNameError("column", name, self.texts, hint=f"{self.name} has {', '.join(self.texts)}")
        found = self.folder.rows([name])[name]
        return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found

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
        """Whether a column is there and its values are short, as the file's own books say: nothing of it is read."""
        if name not in self.texts:
            return False
        with opened_rows(self.folder.path / ROWS) as opened:
            books = opened.metadata
            place = [books.schema.column(i).path for i in range(len(books.schema))].index(name)
            sizes = sum(books.row_group(i).column(place).total_uncompressed_size for i in range(books.num_row_groups))
            return bool(sizes <= longest * max(books.num_rows, 1))

    def columns_of(self, given: str) -> list[str]:
        """The columns that a slice is by: one, or two with a comma between them."""
        return [given] if given in self.texts else given.split(",")

    def groups(self, names: Sequence[str]) -> tuple[Codes, list[tuple[str | None, ...]]]:
        """For each row the number of its group by some columns, and each group's values, in the order of appearance."""
        encoded = [pc.dictionary_encode(self.column(name), null_encoding="encode") for name in names]
        codes = np.zeros(len(encoded[0]), dtype=np.int64)
        for each in encoded:
            codes = codes * len(each.dictionary) + each.indices.to_numpy(zero_copy_only=False)
        distinct, first, places = np.unique(codes, return_index=True, return_inverse=True)
        rank = np.empty(len(distinct), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(distinct))
        values = [tuple(each[int(row)].as_py() for each in encoded) for row in np.sort(first)]
        return rank[places], values

    def clusters(self, how: Confidence) -> tuple[str | None, Codes | None]:
        """By which column rows belong together, if they do, and for each row the number of its cluster."""
        return clusters_in(self.folder.path / ROWS, how)

    def measure(self, name: str) -> Measure:
        """One measure by its name, or an error that says which there are."""
        for each in (name, OTHER_NAMES.get(name)):
            if each in self.measures:
                return self.measures[each]
        raise UnknownNameError("metric", name, self.measures, hint=f"{self.name} has {', '.join(self.measures)}")

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are."""
        with opened_rows(self.folder.path / ROWS) as opened:
            return int(opened.metadata.num_rows)

    def outcomes(self, name: str) -> tuple[Codes, list[str]]:
        """For each row the number of its outcome of a measure, and the outcomes' names, `scored` among them."""
        column = outcome_column(name)
        if column in self._schema.names:
            found = pc.dictionary_encode(self.folder.rows([column])[column].cast(pa.string()).combine_chunks())
            return found.indices.to_numpy(zero_copy_only=False).astype(np.int64), found.dictionary.to_pylist()
        return np.isnan(self.scores(name)).astype(np.int64), [SCORED, "missing"]


def slice_label(values: Sequence[str | None]) -> str:
    """A slice's value, or its values, as they are shown."""
    return ", ".join(NOTHING if each is None else each for each in values)
