"""A run that is replaced while its pages are looked at."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter.app import snapshots
from ragmeter.app.queries import Database
from ragmeter.app.snapshots import Snapshot, of_one_moment
from ragmeter.errors import UsageError
from tests.app.serving import Client, serving

PAGES = (
    "/", "/run/r", "/run/r?sort=qid", "/run/r?search=what&sort=question", "/run/r/row/1?sort=qid",
    "/run/r?by=lang", "/compare?run=r&run=s", "/run/r/report", "/run/r/export/csv",
    "/run/r/label?rater=x",
)  # fmt: skip


def make(folder: Path, name: str, n: int) -> None:
    """A run whose length shows in all of its parts, and whose columns and metrics change with it."""
    rows: list[dict[str, Any]] = [
        {
            "qid": f"q{i}",
            "question": f"what {i} of {n}?",
            "answer": "a",
            "reference": ["a"],
            "lang": ["en", "de"][i % 2],
        }
        for i in range(n)
    ]
    more = [{**row, "extra": "1"} for row in rows] if n % 2 else rows
    metrics = "token_f1,edit_distance" if n % 2 else "token_f1"
    ragmeter.evaluate(more, metrics=metrics, run=name, output_dir=folder, replace=True)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    make(tmp_path, "r", 12)
    make(tmp_path, "s", 12)
    with serving(tmp_path) as client:
        yield client


@pytest.mark.parametrize("page", PAGES[1:])
def test_a_run_that_is_replaced_in_the_middle_of_a_page(
    page: str, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At its first look into a run's files, whichever it is."""
    lengths = iter([3, 7])
    reads: list[int] = []

    def after(read: Any) -> Any:
        def reading(*arguments: Any, **keywords: Any) -> Any:
            result = read(*arguments, **keywords)
            if (length := next(lengths, None)) is not None:
                reads.append(length)
                make(tmp_path, "r", length)
            return result

        return reading

    for name in ("read_manifest", "read_summary"):
        monkeypatch.setattr(f"ragmeter.runs.run.{name}", after(getattr(ragmeter.runs.run, name)))
    monkeypatch.setattr(Database, "_ask", after(Database._ask))
    answer = client.ask(page)
    assert reads
    assert answer.status == 200, answer.text
    if page in PAGES[1:4]:
        assert "of 7?" in answer.text
        assert "of 12?" not in answer.text
        assert "of 3?" not in answer.text


def test_a_run_that_is_replaced_again_and_again(client: Client, tmp_path: Path) -> None:
    done = threading.Event()

    def replace() -> None:
        for length in [5, 8, 3, 12] * 3:
            make(tmp_path, "r", length)
        done.set()

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        while not done.is_set():
            for page in PAGES:
                answer = client.ask(page)
                assert answer.status == 200, (page, answer.text)
            assert 'href="/run/r"' in client.page("/")
    finally:
        writer.join()


def test_what_is_not_sent_is_dropped_and_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "r", 2)
    monkeypatch.setattr(snapshots, "_PATIENCE", 0.0)
    dropped: list[int] = []

    def read(snapshot: Snapshot) -> int:
        rows = snapshot.run("r").n_rows
        make(tmp_path, "r", rows + 1)
        return rows

    with pytest.raises(UsageError, match="replaced meanwhile"):
        of_one_moment(tmp_path, read, dropped.append)
    assert dropped == [2]
    assert of_one_moment(tmp_path, read, dropped.append, again=False) == 3
    with pytest.raises(KeyError):
        of_one_moment(tmp_path, lambda snapshot: dict[str, int]()["x"], dropped.append)
