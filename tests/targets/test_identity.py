"""What tells one Python target from another, and what does not."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import os
import re
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter.targets.identity import fingerprint


class System:
    """A pipeline of a user's."""

    def __init__(self, city: Any, lock: Any = None) -> None:
        self.city = city
        self.lock = lock

    def run(self, question: str) -> str:
        return str(self.city)


def closure(city: str) -> Callable[[str], str]:
    def answer(question: str) -> str:
        return city

    return answer


def defined(source: str) -> Any:
    """A function as a notebook's cell defines it: without a file."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(source, namespace)  # noqa: S102 - the test's own
    return namespace["answer"]


class Settings(dict[str, str]):
    """Settings of a user's, with methods."""


class Name(str):
    """A text with methods."""


def attributed(function: Any, prompt: str) -> Any:
    function.prompt = prompt
    return function


@dataclasses.dataclass(frozen=True)
class Doc:
    """A document of a user's."""

    text: str


class Hooks:
    """An object whose set points back to it."""

    def __init__(self) -> None:
        self.hooks = {self.begin, self.end}

    def begin(self) -> None:
        pass

    def end(self) -> None:
        pass

    def query(self, question: str) -> str:
        return question


def with_array(value: float) -> Callable[[str], str]:
    return functools.partial(lambda vectors, question: str(vectors), np.full(4, value))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (System("London").run, System("Paris").run),
        (System("London"), System("Paris")),
        (closure("London"), closure("Paris")),
        (functools.partial(closure("x"), "London"), functools.partial(closure("x"), "Paris")),
        (with_array(1), with_array(2)),
        (defined("def answer(q):\n    return 'London'"), defined("def answer(q):\n    return 'Paris'")),
        (defined("def answer(q):\n    return q.upper()"), defined("def answer(q):\n    return q.lower()")),
        (defined("def answer(q, k=1):\n    return q * k"), defined("def answer(q, k=2):\n    return q * k")),
        (defined("K = 1\ndef answer(q):\n    return q * K"), defined("K = 2\ndef answer(q):\n    return q * K")),
        (
            defined("def helper(q):\n    return 1\ndef answer(q):\n    return helper(q)"),
            defined("def helper(q):\n    return 2\ndef answer(q):\n    return helper(q)"),
        ),
        (
            defined("def answer(q):\n    f = lambda: 'London'\n    return f()"),
            defined("def answer(q):\n    f = lambda: 'Paris'\n    return f()"),
        ),
        ({"a": 1}.get, {"a": 2}.get),
        (functools.lru_cache(closure("London")), functools.lru_cache(closure("Paris"))),
        (System(Settings(model="old")), System(Settings(model="new"))),
        (System(Name("old")), System(Name("new"))),
        (attributed(closure("x"), "old"), attributed(closure("x"), "new")),
        (
            defined("def answer(q):\n    try:\n        a = 1\n        b = 2\n    except ValueError:\n        b = 3\n"),
            defined(
                "def answer(q):\n    try:\n        a = 1\n    except ValueError:\n        b = 3\n"
                "    else:\n        b = 2\n"
            ),
        ),
        (re.compile("x" * 300 + "a").match, re.compile("x" * 300 + "b").match),
        (types.SimpleNamespace(query=closure("London")), types.SimpleNamespace(query=closure("Paris"))),
    ],
)
def test_different_targets_differ(first: Any, second: Any) -> None:
    assert fingerprint(first) != fingerprint(second)
    assert fingerprint(first) == fingerprint(first)


@pytest.mark.parametrize(
    "make",
    [
        lambda: System("London", threading.Lock()).run,
        lambda: closure("London"),
        lambda: with_array(1),
        lambda: defined("def answer(q):\n    return 'London'"),
        lambda: defined("def answer(q):\n    return {'b', 'a', 'c'} and len(q)"),
        lambda: System(city=str({"x", "y"} == {"y", "x"})),
        lambda: System(Doc("x")),
        lambda: System({Doc(str(i)) for i in range(2000)}),
        Hooks,
        lambda: Hooks().query,
    ],
)
def test_the_same_target_made_twice_is_the_same(make: Callable[[], Any]) -> None:
    assert fingerprint(make()) == fingerprint(make())
    assert fingerprint(make()).certain


def test_the_rest_of_a_script_is_not_part_of_a_function() -> None:
    plain = defined("def answer(q):\n    return q")
    moved = defined("import json\nOTHER = 5\n\ndef unrelated():\n    pass\n\ndef answer(q):\n    return q")
    assert fingerprint(plain) == fingerprint(moved)


def test_what_only_a_call_shows_is_not_certain() -> None:
    assert not fingerprint(defined("import os\ndef answer(q):\n    return os.environ['CITY']")).certain
    assert not fingerprint(defined("def answer(q):\n    import not_there_yet\n    return not_there_yet.x")).certain
    assert fingerprint(defined("def answer(q):\n    import json\n    return json.dumps(q)")).certain


def test_the_value_of_a_module_counts(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (modules / "my_helper.py").write_text("MODEL = 'old'\n")
    (modules / "my_pipeline.py").write_text("import my_helper\ndef answer(q):\n    return my_helper.MODEL\n")
    answer = importlib.import_module("my_pipeline").answer
    before = fingerprint(answer)
    monkeypatch.setattr("my_helper.MODEL", "new")
    assert fingerprint(answer) != before


def test_what_cannot_be_known_is_said() -> None:
    class Holds:
        def __init__(self) -> None:
            self.iterator = iter([1, 2])

        def query(self, question: str) -> str:
            return question

    assert not fingerprint(Holds()).certain
    deep: list[Any] = []
    for _ in range(1000):
        deep = [deep]
    assert not fingerprint(System(deep)).certain
    loop: list[Any] = []
    loop.append(loop)
    assert fingerprint(System(loop)).certain


def test_the_same_in_every_process(tmp_path: Path) -> None:
    """Sets are in another order in every process, also those that the compiler makes of constants."""
    (tmp_path / "script.py").write_text(
        "from ragmeter.targets.identity import fingerprint\n"
        "LETTERS = {str(i) for i in range(50)}\n"
        "def answer(q):\n    return q in {'a', 'b', 'c', 'd', 'e', 'f', ('g', 'h')} and q in LETTERS\n"
        "print(fingerprint(answer))\n"
    )
    printed = {
        subprocess.run(
            [sys.executable, tmp_path / "script.py"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1
    assert "certain=True" in printed.pop()


def test_what_does_not_let_itself_be_looked_at_is_no_error() -> None:
    class Proxy:
        __slots__ = ("city",)

        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError("working outside of its context")

    assert not fingerprint(System(Proxy())).certain


def test_reading_runs_no_code_of_the_target() -> None:
    class Trap:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

        def __repr__(self) -> str:
            raise AssertionError

        def __eq__(self, other: object) -> bool:
            raise AssertionError

        def query(self, question: str) -> str:
            return question

    assert fingerprint(Trap()) == fingerprint(Trap())


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for name in ("my_pipeline", "my_helper", "my_deep_helper"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("edited", ["my_helper", "my_deep_helper"])
def test_a_helper_module_that_was_edited(modules: Path, edited: str) -> None:
    sources = {
        "my_deep_helper": "def deep(q):\n    return 'London'\n",
        "my_helper": "import my_deep_helper\ndef helper(q):\n    return my_deep_helper.deep(q)\n",
        "my_pipeline": "import my_helper\ndef answer(q):\n    return my_helper.helper(q)\n",
    }
    for name, source in sources.items():
        (modules / f"{name}.py").write_text(source)
    before = fingerprint(importlib.import_module("my_pipeline").answer)
    for name in sources:
        sys.modules.pop(name)
    assert fingerprint(importlib.import_module("my_pipeline").answer) == before
    (modules / f"{edited}.py").write_text(sources[edited] + "\nEDITED = True\n")
    for name in sources:
        sys.modules.pop(name)
    importlib.invalidate_caches()
    assert fingerprint(importlib.import_module("my_pipeline").answer).source != before.source
