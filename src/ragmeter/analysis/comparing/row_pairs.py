"""Which row of one run belongs to which row of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.documents.summary import Unmatched
from ragmeter.errors import UnknownNameError
from ragmeter.runs.run import Run, slice_label
from ragmeter.stats.clusters import Codes, cluster_codes, joined
from ragmeter.stats.confidence import AUTO, Confidence
from ragmeter.table import QID

Rows = npt.NDArray[np.int64]
#: The slice that a comparison is cut to: by column, the value of the baseline's rows. Empty for all rows.
Where = Mapping[str, str]


@dataclass(frozen=True)
class Pairing:
    """The rows of two runs with the same qid, in the order of the first run, and those in only one of them."""

    a: Rows
    b: Rows
    only_a: Unmatched
    only_b: Unmatched
    questions_differ: int

    def __len__(self) -> int:
        return len(self.a)


def pair(a: Run, b: Run, where: Where | None = None) -> Pairing:
    """Pair rows by qid. If a qid is repeated, the nth row of one run is paired with the nth of the other.

    Of a slice, `where`, only its rows are paired; those in only one of the runs are of all rows.
    """
    rows_a, rows_b = _partners(a.column(QID), b.column(QID))
    unpaired = _unpaired(a, rows_a), _unpaired(b, rows_b)
    if where:
        selected = in_slice(a, where)[rows_a]
        rows_a, rows_b = rows_a[selected], rows_b[selected]
    return Pairing(rows_a, rows_b, *unpaired, _count_reworded(a, b, rows_a, rows_b))


def in_slice(run: Run, where: Where) -> npt.NDArray[np.bool_]:
    """The rows of a run that are in a slice, as flags; an error for a column or a value that it has not."""
    selected = np.ones(run.n_rows, dtype=np.bool_)
    for column, value in where.items():
        groups, values = run.groups(run.columns_of(column))
        labels = [slice_label(of_group) for of_group in values]
        if value not in labels:
            raise UnknownNameError("value", value[:100], labels, hint=f"the column {column!r} of {run.name} has others")
        selected &= groups == labels.index(value)
    return selected


def cluster_column(
    runs: Sequence[Run], labels: Sequence[str], confidence: Confidence
) -> tuple[str | None, dict[str, str]]:
    """The column that clusters the rows of all runs, and by their labels the other columns of runs that have another.

    If the runs' own columns are not the same, it is the first one that all of them have.
    """
    if confidence.cluster != AUTO:
        return runs[0].clusters(confidence)[0], {}
    columns = {label: run.clusters(confidence)[0] for label, run in zip(labels, runs, strict=True)}
    own = [column for column in columns.values() if column is not None]
    in_all = [column for column in own if all(column in run.texts for run in runs)]
    chosen = next(iter([*in_all, *own]), None)
    return chosen, {label: column for label, column in columns.items() if column is not None and column != chosen}


def paired_clusters(a: Run, b: Run, pairing: Pairing, confidence: Confidence) -> Codes | None:
    """The cluster number of each pair of rows. Two rows that share a cluster in either run are together, so that it
    does not matter which run is the baseline.
    """
    name = confidence.cluster
    groupings = [
        cluster_codes(run.column(name).take(rows))
        for run, rows in ((a, pairing.a), (b, pairing.b))
        if name is not None and name in run.texts
    ]
    return reduce(joined, groupings) if groupings else None


def _partners(first: pa.Array, second: pa.Array) -> tuple[Rows, Rows]:
    """The places of the pairs in both runs. Runs of one data set mostly have the same qids in the same order."""
    if first.equals(second):
        places = np.arange(len(first), dtype=np.int64)
        return places, places
    keys = _keys(first, second)
    _, rows_a, rows_b = np.intersect1d(*keys, assume_unique=True, return_indices=True)
    order = np.argsort(rows_a, kind="stable")
    return rows_a[order].astype(np.int64), rows_b[order].astype(np.int64)


def _keys(first: pa.Array, second: pa.Array) -> tuple[Rows, Rows]:
    """A key for each row: equal for the same qid and the same occurrence of it in its run."""
    encoded = pc.dictionary_encode(pa.concat_arrays([first, second]), null_encoding="encode")
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    keys = [_nth(part) * (len(encoded.dictionary) + 1) + part for part in (codes[: len(first)], codes[len(first) :])]
    return keys[0], keys[1]


def _nth(codes: Rows) -> Rows:
    """How often each row's code occurs before it."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, len(ordered)])
    occurrence = np.empty(len(codes), dtype=np.int64)
    occurrence[order] = np.arange(len(codes)) - np.repeat(starts, lengths)
    return occurrence


def _unpaired(run: Run, paired: Rows) -> Unmatched:
    is_unpaired = np.ones(run.n_rows, dtype=np.bool_)
    is_unpaired[paired] = False
    rows = np.flatnonzero(is_unpaired)
    return Unmatched(len(rows), run.column(QID).take(rows[:10]).to_pylist())


def _count_reworded(a: Run, b: Run, rows_a: Rows, rows_b: Rows) -> int:
    """How many pairs have different questions. Long texts are not compared: a question is short."""
    if not (a.is_short("question") and b.is_short("question")):
        return 0
    same = pc.equal(a.column("question").take(rows_a), b.column("question").take(rows_b))
    return int(pc.sum(pc.invert(same)).as_py() or 0)
