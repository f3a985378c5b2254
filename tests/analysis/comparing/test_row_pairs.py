"""Which rows of two runs belong together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ragmeter.analysis.comparing import row_pairs
from ragmeter.documents.summary import Unmatched
from ragmeter.runs.run import Run
from tests.make_runs import make_run

REPEATED = ["x", "y", "x", "z", "x"]


def paired(folder: Path, *qids: Sequence[str]) -> row_pairs.Pairing:
    for name, of_run in zip("ab", qids, strict=True):
        make_run(folder / name, {"score": np.zeros(len(of_run))}, {"qid": list(of_run)})
    return row_pairs.pair(Run(folder / "a"), Run(folder / "b"))


@pytest.mark.parametrize(
    ("second", "a", "b"),
    [
        (REPEATED, [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]),
        (["y", "x", "x", "x", "z"], [0, 1, 2, 3, 4], [1, 0, 2, 4, 3]),
        (["x", "w", "x"], [0, 2], [0, 2]),
    ],
)
def test_the_nth_of_a_qid_with_the_nth(second: list[str], a: list[int], b: list[int], tmp_path: Path) -> None:
    pairs = paired(tmp_path, REPEATED, second)
    assert (pairs.a.tolist(), pairs.b.tolist()) == (a, b)
    assert pairs.only_a.count == len(REPEATED) - len(a)
    assert pairs.only_b == Unmatched(len(second) - len(b), ["w"] if "w" in second else [])


def test_the_same_qids_in_the_same_order_are_not_sorted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(row_pairs, "_keys", None)
    assert paired(tmp_path, REPEATED, REPEATED).b.tolist() == [0, 1, 2, 3, 4]
