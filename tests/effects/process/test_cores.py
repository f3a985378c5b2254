"""How many cores a process may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragmeter.effects.process import cores


@pytest.mark.parametrize(("quota", "expected"), [("max 100000", 8), ("150000 100000", 2), ("1000 100000", 1), ("", 8)])
def test_a_container_s_quota_counts(quota: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpu.max").write_text(quota)
    monkeypatch.setattr(cores, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(8), raising=False)
    assert cores.available_cores() == expected


def test_a_worker_has_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "_share", None)
    cores.share_cores(1)
    assert cores.available_cores() == 1
