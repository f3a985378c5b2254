"""Which row of one run belongs to which row of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.runs.run import Run
from ragmeter.table import QID

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pairing:
    """The rows of two runs that have the same qid, in the order of the first, and those without a partner."""

    a: Rows
    b: Rows
    only_a: dict[str, Any]
    only_b: dict[str, Any]
    questions_differ: int

    def __len__(self) -> int:
        return len(self.a)


def pair(a: Run, b: Run) -> Pairing:
    """Pair by qid. Where one is there several times, its first row goes with the first, its second with the second."""
    keys_a, keys_b = _keys(a.column(QID), b.column(QID))
    _, rows_a, rows_b = np.intersect1d(keys_a, keys_b, assume_unique=True, return_indices=True)
    order = np.argsort(rows_a, kind="stable")
    rows_a, rows_b = rows_a[order].astype(np.int64), rows_b[order].astype(np.int64)
    return Pairing(rows_a, rows_b, _alone(a, rows_a), _alone(b, rows_b), _questions_that_differ(a, b, rows_a, rows_b))


def _keys(first: pa.Array, second: pa.Array) -> tuple[Rows, Rows]:
    """A number for each row: the same for the same qid, and the same time that it is seen in its run."""
    both = pc.dictionary_encode(pa.concat_arrays([first, second]), null_encoding="encode")
    codes = both.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    keys = [_nth(part) * (len(both.dictionary) + 1) + part for part in (codes[: len(first)], codes[len(first) :])]
    return keys[0], keys[1]


def _nth(codes: Rows) -> Rows:
    """How often each row's code was there before."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, len(ordered)])
    seen = np.empty(len(codes), dtype=np.int64)
    seen[order] = np.arange(len(codes)) - np.repeat(starts, lengths)
    return seen


def _alone(run: Run, paired: Rows) -> dict[str, Any]:
    left = np.setdiff1d(np.arange(len(run.column(QID))), paired)
    return {"count": len(left), "qids": run.column(QID).take(left[:10]).to_pylist()}


def _questions_that_differ(a: Run, b: Run, rows_a: Rows, rows_b: Rows) -> int:
    """How many pairs are not of the same question after all. Questions are short, or they would not be compared."""
    if not (a.is_short("question") and b.is_short("question")):
        return 0
    same = pc.equal(a.column("question").take(rows_a), b.column("question").take(rows_b))
    return int(pc.sum(pc.invert(same)).as_py() or 0)
