"""Workers that are started on this machine."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ragmeter.engine.parts import pools
from ragmeter.errors import WorkerError


@pytest.mark.parametrize(("failures", "works"), [(0, True), (2, True), (3, False)])
def test_workers_that_are_killed_while_they_start_are_started_again(failures: int, works: bool) -> None:
    begun: list[dict[str, Any]] = []

    def start(**settings: Any) -> str:
        begun.append(settings)
        if len(begun) <= failures:
            raise RuntimeError("Nanny failed to start.")
        return "cluster"

    dask = SimpleNamespace(LocalCluster=start)
    if works:
        assert pools._cluster(dask, 2) == "cluster"
    else:
        with pytest.raises(WorkerError, match="workers can't be started on this machine: Nanny failed to start"):
            pools._cluster(dask, 2)
    assert [settings["n_workers"] for settings in begun] == [2] * min(failures + 1, 3)


def test_workers_have_the_environment_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGMETER_TEST", "now")
    dask = SimpleNamespace(LocalCluster=lambda **settings: settings)
    assert pools._cluster(dask, 1)["env"]["RAGMETER_TEST"] == "now"
