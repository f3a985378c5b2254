"""Metrics and errors travel between processes: by name, or with a clear error."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import BaseScorer, errors, get_metric, metric
from ragmeter.definition import METRICS
from ragmeter.errors import RagmeterError, UnknownNameError, UsageError
from ragmeter.registry import known

RECEIVE = "import pickle, sys; print(pickle.load(sys.stdin.buffer).name)"


class Lengths(BaseScorer):
    """How much longer the answer is, with an addition that the object holds."""

    def __init__(self, more: float = 0) -> None:
        self.more = more

    def calculate_score(self, reference: str, candidate: str) -> float:
        return len(candidate) - len(reference) + self.more

    def get_score_name(self) -> str:
        return "lengths_that_travel"


def there_and_back(sent: Any) -> Any:
    """What arrives in this process."""
    return pickle.loads(pickle.dumps(sent))  # noqa: S301 - made here


def received(data: bytes, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """What another process, in another folder, makes of it."""
    return subprocess.run([sys.executable, "-c", RECEIVE], input=data, capture_output=True, cwd=folder)


@pytest.mark.parametrize("name", [metric.name for metric in known()])
def test_every_metric_travels(name: str) -> None:
    sent = get_metric(name)
    arrived = there_and_back(sent)
    assert arrived == sent
    assert arrived.owner is sent.owner


@given(pattern=st.text(), language=st.sampled_from(["es", "de", None]), k=st.integers(1, 10**6))
def test_settings_travel_in_the_name(pattern: str, language: str | None, k: int) -> None:
    for sent in (
        get_metric("ndcg").with_settings(k=k),
        get_metric("rouge_l_score").with_settings(language=language),
        get_metric("semantic_similarity").with_settings(model=pattern, prefix=pattern),
        get_metric("satisfaction_score").with_settings(latency_limit_ms=k / 7),
    ):
        arrived = there_and_back(sent)
        assert arrived.name == sent.name
        assert arrived.settings == sent.settings


def test_another_process_gets_it(tmp_path: Path) -> None:
    done = received(pickle.dumps(get_metric("ndcg@7")), tmp_path)
    assert done.stdout.decode().split() == ["ndcg@7"]


MODULE = """
from ragmeter import BaseScorer, metric

@metric
def short_answer(answer, *, limit=3):
    return [float(len(text) < limit) for text in answer]

@metric(name="named_otherwise")
def _hidden(answer):
    return [1.0 for _ in answer]

class Shorter(BaseScorer):
    def calculate_score(self, reference, candidate):
        return 1.0

    def get_score_name(self):
        return "shorter"
"""


@pytest.mark.parametrize("path", ["short_answer[limit=9]", "named_otherwise", "Shorter"])
def test_a_metric_of_the_user_s_is_imported(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "of_the_user.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    import of_the_user  # type: ignore[import-not-found]

    try:
        sent = get_metric(getattr(of_the_user, path) if path == "Shorter" else path)
        data = pickle.dumps(sent)
        assert there_and_back(sent) == sent
        assert received(data, tmp_path).stdout.decode().split() == [sent.name]
        (tmp_path / "elsewhere").mkdir()
        failed = received(data, tmp_path / "elsewhere").stderr.decode()
    finally:
        for name in ("short_answer", "named_otherwise", "shorter"):
            METRICS.pop(name, None)
        sys.modules.pop("of_the_user", None)
    assert "UsageError" in failed
    assert "was declared in the module of_the_user, and another process can't import it from there" in failed
    assert "No module named 'of_the_user'" in failed


def test_a_metric_of_a_script_says_that_it_can_t(tmp_path: Path) -> None:
    script = MODULE + (
        "import pickle, sys\n"
        "from ragmeter import get_metric\n"
        "sys.stdout.buffer.write(pickle.dumps(get_metric(globals()[sys.argv[1]])))\n"
    )
    for name, kind in (("short_answer", "metric"), ("Shorter", "scorer")):
        data = subprocess.run([sys.executable, "-c", script, name], capture_output=True, check=True).stdout
        failed = received(data, tmp_path).stderr.decode()
        assert f"the {kind} {name} was declared in a script or a notebook (__main__)" in failed
        assert "declare it at the top level of a module" in failed


def test_a_scorer_travels_with_what_it_holds() -> None:
    sent = get_metric(Lengths(more=5))
    try:
        arrived = there_and_back(sent)
        assert arrived == sent
        assert arrived(["abc"], ["abcd"]).tolist() == sent(["abc"], ["abcd"]).tolist() == [6]
    finally:
        del METRICS["lengths_that_travel"]


def test_a_scorer_inside_a_function_says_that_it_can_t() -> None:
    class Inner(Lengths):
        """In nobody's module."""

    try:
        with pytest.raises(UsageError, match=r"the scorer .*Inner was declared in the module .*can't import it"):
            pickle.dumps(get_metric(Inner))
    finally:
        del METRICS["lengths_that_travel"]


def test_another_metric_of_the_same_name_does_not_take_its_place() -> None:
    @metric(name="travelling_twin")
    def first(answer: list[str]) -> list[float]:
        return [0.0 for _ in answer]

    try:
        assert copy.deepcopy(first) is first
        data = pickle.dumps(first)
        del METRICS["travelling_twin"]

        @metric(name="travelling_twin")
        def second(answer: list[str]) -> list[float]:
            return [1.0 for _ in answer]

        with pytest.raises(UsageError, match="the metric travelling_twin was declared in the module"):
            pickle.loads(data)  # noqa: S301 - made here
    finally:
        METRICS.pop("travelling_twin", None)


def _every(kind: type[Any]) -> list[type[Any]]:
    return [kind, *(below for below_kind in kind.__subclasses__() for below in _every(below_kind))]


def test_errors_travel_as_they_are() -> None:
    made: list[RagmeterError] = [
        UnknownNameError("metric", "tokn_f1", ["token_f1"], hint="look again"),
        errors.InputError("broken", file="a.csv", line=3, hint="mend it"),
        errors.MissingExtraError("a frame", package="pandas"),
        errors.Interrupted(),
    ]
    ours = [kind for kind in _every(RagmeterError) if kind.__module__ == "ragmeter.errors"]
    simple = [kind for kind in ours if kind not in {type(value) for value in made}]
    for sent in (*made, *(kind("what\x02--a\x1fa=...\x03", hint="do") for kind in simple)):
        arrived = there_and_back(sent)
        assert type(arrived) is type(sent)
        assert (str(arrived), arrived.for_command_line()) == (str(sent), sent.for_command_line())
        assert vars(arrived) == vars(sent)
        assert arrived.args == sent.args
