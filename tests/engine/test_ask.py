"""`ragmeter.ask()`: fresh answers whatever the target is, and keywords that mean something."""

from __future__ import annotations

import importlib
import json
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter.documents.manifest import Limit
from ragmeter.errors import AllFailedError, EndpointError, RagmeterError, RagmeterWarning, UsageError
from ragmeter.targets import functions
from ragmeter.targets.opening import open_target
from ragmeter.targets.port import Question
from ragmeter.targets.python import PythonTarget
from ragmeter.wording.limits import limit_lines
from tests.judge_server import Action, JudgeServer, completion

QA = [{"question": f"q{i}", "ground_truth": "Paris"} for i in range(3)]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ask(target: Any, **keywords: Any) -> Any:
    return ragmeter.ask(QA, target, metrics="exact_match", **keywords)


def answers(service: Any) -> list[str | None]:
    found: list[str | None] = service.rows["answer"].to_pylist()
    return found


class Sys:
    """A system with a setting."""

    def __init__(self, city: str) -> None:
        self.city = city

    def run(self, question: str) -> str:
        return self.city


@pytest.mark.parametrize("run", ["r", None])
def test_two_objects_of_a_class_are_two_systems(run: str | None) -> None:
    assert answers(ask(Sys("London").run, run=run)) == ["London"] * 3
    assert answers(ask(Sys("Paris").run, run=run)) == ["Paris"] * 3


def test_a_function_that_was_redefined() -> None:
    def make(city: str) -> Callable[[str], str]:
        namespace: dict[str, Any] = {"__name__": "__main__"}
        exec(f"def answer(question):\n    return {city!r}", namespace)  # noqa: S102 - a cell of a notebook
        made: Callable[[str], str] = namespace["answer"]
        return made

    for city in ("London", "Paris"):
        assert answers(ask(make(city), run="r")) == [city] * 3


def test_two_chains_with_one_method() -> None:
    class Chain:
        """The shape of a runnable: what it is made of is in its fields, and one method runs it."""

        def __init__(self, *steps: Callable[[str], str]) -> None:
            self.steps = steps

        def invoke(self, question: str, config: object = None, **more: Any) -> str:
            for step in self.steps:
                question = step(question)
            return question

    for city in ("London", "Paris"):
        assert answers(ask(Chain(str.upper, Sys(city).run).invoke, run="r")) == [city] * 3


def test_a_helper_module_that_was_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "my_rag.py").write_text("import my_rag_helper\ndef answer(q):\n    return my_rag_helper.city()\n")
    for city in ("London", "Paris"):
        (tmp_path / "my_rag_helper.py").write_text(f"def city():\n    return {city!r}\n")
        importlib.invalidate_caches()
        for name in ("my_rag", "my_rag_helper"):
            sys.modules.pop(name, None)
        assert answers(ask("my_rag:answer", run="r")) == [city] * 3


def test_a_service_that_was_redeployed() -> None:
    with JudgeServer(lambda request, number: Action(body={"answer": "London" if number <= 3 else "Paris"})) as server:
        for city in ("London", "Paris"):
            assert answers(ask(f"http://127.0.0.1:{server.port}/", run="r")) == [city] * 3
    assert server.count == 6


class Interrupts:
    """Fails in scoring the first time: its answers are there, and the run is not."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def run(self, question: str) -> str:
        self.asked.append(question)
        return "Paris"


def test_an_interrupted_run_goes_on_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    failing = threading.Event()

    @ragmeter.metric(direction="higher")
    def breaks_once(answer: list[str]) -> Any:
        """Breaks."""
        import numpy as np

        if failing.is_set():
            raise RuntimeError("broken")
        return np.ones(len(answer))

    system = Interrupts()
    service = Sys("Paris")
    for target in (system.run, service.run):
        failing.clear()
        calls: list[str] = []

        def advance(count: int, calls: list[str] = calls) -> None:
            calls.append("asked")
            failing.set()

        with pytest.raises(RagmeterError, match="broken"):
            ragmeter.ask(QA, target, metrics=[breaks_once], run="r", progress=advance)
        failing.clear()
        assert capsys.readouterr().err == ""
        done = ragmeter.ask(QA, target, metrics=[breaks_once], run="r")
        assert done.replies.effort.from_journal == 3
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("r: 3 of 3 answers are from 20")
        assert line.endswith("UTC, when this run was begun")  # nothing more: the object is known
        assert done.summary.reused_answers == line.removeprefix("r: ")
    assert len(system.asked) == 3


def test_a_finished_run_is_resumed_only_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    system = Interrupts()
    for resume, count in ((False, 3), (False, 6), (True, 6)):
        assert ask(system.run, run="r", resume=resume)["exact_match"].mean == 1.0
        assert len(system.asked) == count
    assert "3 of 3 answers are from" in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"the target has changed since then \(.*source"):
        ask(Sys("Paris").run, run="r", resume=True)


def test_only_what_failed_is_asked_again() -> None:
    well = threading.Event()
    asked: list[str] = []

    def sometimes(question: str) -> str:
        asked.append(question)
        if question == "q1" and not well.is_set():
            raise ConnectionError("not today")
        return "Paris"

    assert answers(ask(sometimes, run="r", retries=0, allow_failures=True)) == ["Paris", None, "Paris"]
    well.set()
    asked_before = len(asked)
    assert answers(ask(sometimes, run="r", retry_failed=True)) == ["Paris"] * 3
    assert asked[asked_before:] == ["q1"]


def test_the_earlier_run_stays_until_the_new_one_is_complete() -> None:
    first = ask(Sys("London").run, run="r")
    with pytest.raises(EndpointError):
        ask("http://127.0.0.1:9/", run="r", retries=0)
    assert answers(first) == ["London"] * 3


def test_a_limited_run_says_so_and_replaces_no_whole_one(capsys: pytest.CaptureFixture[str]) -> None:
    system = Interrupts()
    limited = ask(system.run, limit=2)
    assert system.asked == ["q0", "q1"]
    assert limited.manifest.limit == limited.summary.limit == Limit(asked=2, of=3)
    assert limited.folder.name.endswith("-first-2")
    assert limit_lines(limited.manifest) == ["only the first 2 questions were asked, of 3"]
    whole = ask(system.run, run="r", limit=3)
    assert whole.manifest.limit is None
    for resume in (False, True):
        with pytest.raises(UsageError, match="r exists already, and has the answers to all questions"):
            ask(system.run, run="r", limit=1, resume=resume)
    assert ask(system.run, run="r", limit=1, replace=True).rows.num_rows == 1
    again = ask(system.run, run="r", resume=True)
    assert (again.manifest.limit, again.rows.num_rows) == (None, 3)
    assert "1 of 3 answers are from" in capsys.readouterr().err


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_of_nothing_is_refused(limit: int) -> None:
    with pytest.raises(UsageError, match="limit must be at least 1"):
        ask(Sys("Paris").run, limit=limit)


def test_a_limit_counts_questions_and_not_their_repeats() -> None:
    done = ask(Sys("Paris").run, limit=2, repeats=2)
    assert done.rows["qid"].to_pylist() == ["1", "2", "1", "2"]
    assert done.manifest.limit == Limit(asked=2, of=3)


def test_keywords_that_are_unknown_are_refused() -> None:
    for wrong in ("worker", "model", "limits"):
        with pytest.raises(TypeError, match=wrong):
            ask(Sys("Paris").run, **{wrong: 1})
    with pytest.raises(UsageError, match="price is not known"):
        ask(Sys("Paris").run, budget=1.0)


def test_what_a_target_says_beside_its_answer_is_a_column() -> None:
    """Under a name that the run uses for something else, it is still there."""
    data = [{"question": f"q{i}", "ground_truth": "Paris", "language": "en"} for i in range(2)]

    def system(question: str) -> dict[str, Any]:
        more = {"tokens": 7, "note.outcome": "x"} if question == "q1" else {}
        return {"answer": "Paris", "tool_calls": ["search"], "language": "fr", "reference": "a book", **more}

    rows = ragmeter.ask(data, system, metrics="exact_match", run="r").rows.to_pydict()
    assert rows["tokens"] == [None, 7.0]
    assert rows["tool_calls"] == ['["search"]'] * 2
    assert (rows["language"], rows["returned.language"]) == (["en"] * 2, ["fr"] * 2)
    assert (rows["reference"], rows["returned.reference"]) == ([["Paris"]] * 2, ["a book"] * 2)
    assert rows["returned.note"] == [None, "x"]
    again = ragmeter.ask(data, system, metrics="exact_match", run="r", resume=True).rows.to_pydict()
    assert again == rows


def test_numbers_beside_the_answer_are_columns_of_numbers() -> None:
    data = [{"question": f"q{i}", "ground_truth": "Paris"} for i in range(3)]

    def system(question: str) -> dict[str, Any]:
        place = int(question[1:])
        mixed = "many" if place == 1 else place
        return {
            "answer": "Paris",
            "tokens": 5 + place,
            "cost_usd": 0.01,
            "mixed": mixed,
            "cached": True,
            "size": 10**400,
        }

    done = ragmeter.ask(data, system, metrics="exact_match", run="r")
    rows = done.rows.to_pydict()
    assert (rows["tokens"], rows["cost_usd"], rows["mixed"]) == ([5.0, 6.0, 7.0], [0.01] * 3, ["0", "many", "2"])
    assert (rows["cached"], rows["size"]) == (["true"] * 3, [str(10**400)] * 3)
    assert done.summary.numbers["tokens"].mean == 6
    assert set(done.summary.numbers) == {"latency_ms", "tokens", "cost_usd"}
    more = ragmeter.add_metrics("runs/r", "token_f1")
    assert more.rows.to_pydict()["tokens"] == [5.0, 6.0, 7.0]
    assert more.summary.numbers == done.summary.numbers


def test_metrics_that_are_not_named_are_said_so() -> None:
    data = [{"question": "q", "ground_truth": "Paris"}]
    with pytest.raises(UsageError, match=r"no metric was named\n.*list_metrics"):
        ragmeter.ask(data, lambda question: "Paris", metrics=[])
    with pytest.raises(UsageError, match="no metric was named: metrics is int"):
        ragmeter.evaluate([{"answer": "a", "reference": "a"}], metrics=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^ask\(\) got an unexpected keyword argument 'allow_failure'"):
        ragmeter.ask(data, lambda question: "Paris", metrics="exact_match", allow_failure=True)  # type: ignore[call-arg]


def test_keys_without_end_are_not_all_columns(capsys: pytest.CaptureFixture[str]) -> None:
    data = [{"question": f"q{i}", "ground_truth": "Paris"} for i in range(60)]
    service = ragmeter.ask(data, lambda question: {"answer": "Paris", question: 1, "tokens": 2}, metrics="exact_match")
    assert "tokens" in service.rows.column_names
    assert len(service.rows.column_names) < 70
    assert "the target's dicts have 61 other keys" in capsys.readouterr().err


def test_workers_and_timeout() -> None:
    together = threading.Barrier(3, timeout=120)  # breaks unless all three are under way at once

    def waits(question: str) -> str:
        together.wait()
        return "Paris"

    assert answers(ask(waits, workers=3)) == ["Paris"] * 3
    for_ever = threading.Event()
    done = ask(lambda question: str(for_ever.wait()), timeout=0.2, retries=0, allow_failures=True)
    assert list(done.replies.causes()) == ["timeout: no answer within 0.2 s"]


def test_addresses_and_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    with JudgeServer(lambda request, number: Action(body=completion("Paris"))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert answers(ask("openai:some-model")) == ["Paris"] * 3
    with JudgeServer(lambda request, number: Action(body={"data": {"text": request["q"]}})) as server:
        address = f"http://127.0.0.1:{server.port}/"
        target = open_target(address, request={"q": "{question}"}, answer_path="data.text", headers={"X-A": "b"})
        assert answers(ask(target)) == ["q0", "q1", "q2"]
        assert "X-A: b" in server.headers[0]
    for wrong, option in ((address, "max_tokens"), ("openai:m", "method"), ("json:dumps", "request")):
        with pytest.raises(UsageError, match=f"{option} has no effect on"):
            open_target(wrong, timeout=1.0, **{option: "x"})


def test_an_embedding_model_by_the_name_that_evaluate_has() -> None:
    done = ragmeter.ask(QA, Sys("Paris").run, metrics="semantic_similarity", embedding_model="wordllama")
    assert done["semantic_similarity"].mean == pytest.approx(1.0)


def test_classes_and_odd_callables() -> None:
    class Rag:
        def query(self, question: str) -> str:
            return "Paris"

    class Almost:
        """Has some of a target's names."""

        def __getattr__(self, name: str) -> Any:
            return lambda *arguments: "Paris"

        def __call__(self, question: str) -> str:
            return "Paris"

    assert answers(ask(Rag)) == ["Paris"] * 3
    assert answers(ask(Almost())) == ["Paris"] * 3
    assert answers(ask(str.upper)) == ["Q0", "Q1", "Q2"]


def test_history_by_names() -> None:
    for city in ("London", "Paris"):
        ask(Sys(city).run, run="try-{n}")
    assert sorted(path.name for path in Path("runs").iterdir() if path.is_dir()) == ["try-1", "try-2"]


def fails(question: str) -> str:
    return question[99]


def test_where_every_question_fails_it_is_an_error_that_names_the_line() -> None:
    line = fails.__code__.co_firstlineno + 1
    cause = f"target_error: IndexError: string index out of range (test_ask.py, line {line})"
    with pytest.raises(AllFailedError, match=re.escape(f"all 3 questions failed with {cause}")):
        ask(fails, run="r", retries=0)
    assert not Path("runs/r").exists()
    with pytest.raises(AllFailedError, match="the target returned NoneType"):
        ask(lambda question: None)
    kept = ask(fails, run="r", retries=0, allow_failures=True)
    assert kept.replies.causes() == {cause: 3}
    assert kept["exact_match"].n_scored == 0


def test_the_line_is_the_users_own() -> None:
    def parses(question: str) -> Any:
        return json.loads("{")

    line = parses.__code__.co_firstlineno + 1
    with pytest.raises(AllFailedError, match=rf"JSONDecodeError.*\(test_ask.py, line {line}\)"):
        ask(parses, retries=0)


def test_where_some_questions_fail_a_warning_says_why() -> None:
    def sometimes(question: str) -> str:
        return "Paris" if question == "q1" else fails(question)

    with pytest.warns(RagmeterWarning, match="2 of 3 questions failed with target_error: IndexError"):
        assert answers(ask(sometimes, run="r", retries=0)) == [None, "Paris", None]


def test_a_run_of_failures_does_not_replace_one_with_scores() -> None:
    """Whatever it is measured by: a failure counts 0 in this metric."""
    first = ragmeter.ask(QA, Sys("Paris").run, metrics="response_coverage_rate", run="r")
    for keywords in ({"allow_failures": True}, {"replace": True, "allow_failures": True}, {}):
        with pytest.raises(AllFailedError, match="the run r stays as it was, since it has scores"):
            ragmeter.ask(QA, fails, metrics="response_coverage_rate", run="r", retries=0, **keywords)  # type: ignore[arg-type]
    assert answers(first) == ["Paris"] * 3
    ask(fails, run="s", retries=0, allow_failures=True)
    assert ask(fails, run="s", retries=0, allow_failures=True)["exact_match"].n_scored == 0  # there was none before


def test_a_function_that_does_not_take_a_question_is_named_and_not_retried() -> None:
    def with_more(question: str, top_k: int) -> str:
        raise AssertionError

    line = with_more.__code__.co_firstlineno
    attempts: list[str] = []

    def refused(question: Question) -> Any:
        attempts.append(question.qid)
        return with_more(question.text)  # type: ignore[call-arg]

    refused.__code__ = refused.__code__.replace(co_filename=functions.__file__)  # as where a function is called
    target = PythonTarget.of(with_more)
    target._ask = refused
    with pytest.raises(
        UsageError, match=rf"with_more \(test_ask.py, line {line}\) can't be called with a question: .*'top_k'"
    ):
        ask(target, retries=3, workers=1)
    assert len(set(attempts)) == len(attempts) < 3  # none is tried again
