"""What all tests share: real texts, and a way to run the command."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from ragmeter import registry
from ragmeter.definition.metrics import COLUMNS, METRICS
from ragmeter.targets.web.browser import launch
from tests.browser import chromium_server, served
from tests.command import PATIENCE, call
from tests.driver import Driver

DATA = Path(__file__).parent / "data"
Run = Callable[..., subprocess.CompletedProcess[str]]

#: Hypothesis tries a few cases, the same every time; more of them and others where RAGMETER_EXAMPLES says how many.
settings.register_profile("few", deadline=None, max_examples=40, derandomize=True, database=None)
settings.register_profile(
    "many", deadline=None, max_examples=int(os.environ.get("RAGMETER_EXAMPLES", "100")), print_blob=True
)
settings.load_profile("many" if "RAGMETER_EXAMPLES" in os.environ else "few")


def load_rows(name: str, **wanted: str) -> list[dict[str, Any]]:
    """The rows of a file in tests/data that have these values."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def load_pairs(name: str, **wanted: str) -> tuple[list[str], list[str]]:
    """First references and answers of a file in tests/data."""
    rows = load_rows(name, **wanted)
    return [row["reference"][0] for row in rows], [row["answer"] for row in rows]


def pytest_configure() -> None:
    """Hear Ctrl-C: where the tests run in the background it is ignored, and whatever they start inherits that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the tests of pages over all others, between modules: they mostly wait, the others compute."""
    waits = {item: "shared_browser" in getattr(item, "fixturenames", ()) for item in items}
    waiting = [item for item in items if waits[item]]
    modules = [list(tests) for _, tests in groupby((i for i in items if not waits[i]), lambda item: item.path)]
    placed = 0
    items.clear()
    for number, tests in enumerate(modules, 1):
        share = len(waiting) * number // len(modules)
        items += [*tests, *waiting[placed:share]]
        placed = share
    items += waiting[placed:]


def pytest_collection_finish() -> None:
    """What is there now stays: looking through it for garbage, again and again, would take longer than many tests."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the user's cache, or leaves anything in it."""
    monkeypatch.setenv("RAGMETER_CACHE", str(tmp_path_factory.getbasetemp() / "ragmeter-cache"))


@pytest.fixture(autouse=True)
def _own_registry() -> Iterator[None]:
    """No test sees the metrics that another one has declared: tests run in any order."""
    registry.known()
    metrics, columns = dict(METRICS), dict(COLUMNS)
    yield
    for registered, before in ((METRICS, metrics), (COLUMNS, columns)):
        registered.clear()
        registered.update(before)  # type: ignore[arg-type]


@pytest.fixture
def ragmeter(tmp_path: Path) -> Run:
    """Runs the command in an empty folder, as a person would; in this process, since starting one takes longer."""

    def run(*arguments: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return call([*map(str, arguments)], tmp_path, {"COLUMNS": "80", **(env or {})})

    return run


@pytest.fixture
def ragmeter_process(tmp_path: Path) -> Run:
    """Runs the command in a process of its own, where that is what is tested."""

    def run(*arguments: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        command: Sequence[str] = [sys.executable, "-m", "ragmeter", *map(str, arguments)]
        environment = {**os.environ, "COLUMNS": "80", "PYTHONUTF8": "1", **(env or {})}
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", env=environment, timeout=PATIENCE
        )

    return run


@pytest.fixture(scope="session")
def s3_environment() -> Iterator[dict[str, str]]:
    """An object store for all tests, as the environment variables that lead to it."""
    from tests.store import s3_server

    with s3_server() as environment:
        yield environment


@pytest.fixture
def s3(s3_environment: dict[str, str], request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an empty bucket."""
    from tests.store import bucket

    with bucket(s3_environment, f"bucket-{abs(hash(request.node.nodeid)) % 10**9}") as address:
        yield address


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of the test pages: one server for all tests."""
    with served(str(Path(__file__).parent / "web" / "site.py")) as address:
        yield address


@pytest.fixture(scope="session")
def browser_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One browser for all tests; each has its own pages in it."""
    with chromium_server(tmp_path_factory.mktemp("browser")) as address:
        yield address


@pytest.fixture(scope="session")
def shared_driver() -> Iterator[Driver]:
    """One driver of Playwright for all tests."""
    with Driver.started() as driver:
        yield driver


@pytest.fixture
def shared_browser(browser_address: str, shared_driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have web targets use the tests' driver and browser, where a call does not ask for another browser."""

    async def connect(playwright: Any, path: str | None, *, headed: bool, own_origin: bool) -> Any:
        if path is not None or headed:
            return await launch(playwright, path, headed=headed, own_origin=own_origin)
        return await playwright.chromium.connect(browser_address)

    monkeypatch.setattr("ragmeter.targets.web.target.launch", connect)
    monkeypatch.setattr("ragmeter.targets.web.target.start_playwright", shared_driver.playwright)
    monkeypatch.setattr("ragmeter.effects.process.loop.asyncio.run", shared_driver.run)
