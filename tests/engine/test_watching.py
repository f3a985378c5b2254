"""Judging is watched from outside while it is under way."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ragmeter
from ragmeter import FakeProvider, Judge
from ragmeter.cli.main import main
from ragmeter.compat.crag.evaluator import CRAGEvaluator
from ragmeter.documents.status import Exchange, RunUnderWay
from ragmeter.effects.limits.caller import Caller
from ragmeter.effects.replies.journal import Reply
from ragmeter.effects.replies.usage import UsageCounter
from ragmeter.engine.judging import setup
from ragmeter.engine.judging.observers import JudgingWatch
from ragmeter.errors import Interrupted
from ragmeter.io import progress
from ragmeter.judges.asking.judgement import Judgement
from ragmeter.judges.asking.probes import PROBES
from ragmeter.judges.verdict import CORRECT
from ragmeter.runs import status
from ragmeter.runs.status import under_way
from ragmeter.table import SCORED

ROWS = [{"qid": str(i), "question": f"Q{i}", "reference": "Paris", "answer": f"Answer {i}"} for i in range(4)]


class Onlooker:
    """Replies as a judge, and looks at the folder of the runs each time that it is asked."""

    def __init__(self, folder: Path, monkeypatch: Any) -> None:
        monkeypatch.setattr(status, "_PAUSE", 0.0)
        self.folder, self.states = folder, list[RunUnderWay]()

    def __call__(self, prompt: str) -> str:
        self.states += under_way(self.folder)
        return "Hm" if "Answer 1" in prompt else "Yes"

    def judge(self) -> Judge:
        return Judge(provider=FakeProvider(self), check=False, workers=1, tries=1)


def test_an_evaluation_with_a_judge(tmp_path: Path, monkeypatch: Any) -> None:
    looks = Onlooker(tmp_path, monkeypatch)
    ragmeter.evaluate(ROWS, metrics="llm_correct", judge=looks.judge(), run="r", output_dir=tmp_path)
    last = looks.states[-1]
    assert (last.run, last.what, last.total) == ("r", "judging", 4)
    assert 1 <= last.done < 4
    assert Exchange("Q0", "verdict: CORRECT") in last.latest
    assert last.failures == {"unparsable": 1}
    assert under_way(tmp_path) == []


def test_a_run_that_gets_a_judged_metric(tmp_path: Path, monkeypatch: Any) -> None:
    looks = Onlooker(tmp_path, monkeypatch)
    ragmeter.evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path)
    ragmeter.add_metrics("r", "llm_correct", judge=looks.judge(), output_dir=tmp_path)
    assert {state.what for state in looks.states} == {"judging"}


def test_asked_answers_are_judged(tmp_path: Path, monkeypatch: Any) -> None:
    looks = Onlooker(tmp_path, monkeypatch)
    ragmeter.ask(ROWS, lambda question: "x", metrics="llm_correct", judge=looks.judge(), run="r", output_dir=tmp_path)
    assert {state.what for state in looks.states} == {"judging"}


def test_conversations(tmp_path: Path, monkeypatch: Any) -> None:
    looks = Onlooker(tmp_path, monkeypatch)
    turns = tmp_path / "turns.jsonl"
    turns.write_text(
        "".join(
            f'{{"session_id": "s{i}", "turn_idx": 0, "query": "Q{i}", "ground_truth": "x", "agent_response": "y{i}"}}\n'
            for i in range(4)
        )
    )
    made: list[CRAGEvaluator] = []
    init = CRAGEvaluator.__init__

    def with_our_judge(self: CRAGEvaluator, *positional: Any, **settings: Any) -> None:
        init(self, *positional, **{**settings, "judge": looks.judge()})
        made.append(self)

    monkeypatch.setattr(CRAGEvaluator, "__init__", with_our_judge)
    main(["crag", "evaluate", "--turns", str(turns), "--output-dir", str(tmp_path / "r"), "--judge-model", "fake",
          "--judge-base-url", "http://127.0.0.1:9/v1", "--workers", "1"])  # fmt: skip
    assert made
    assert {(state.run, state.what, state.total) for state in looks.states} == {("r", "judging", 4)}


def test_what_is_not_kept_is_not_watched(tmp_path: Path, monkeypatch: Any) -> None:
    looks = Onlooker(tmp_path, monkeypatch)
    ragmeter.evaluate(ROWS, metrics="llm_correct", judge=looks.judge(), output_dir=tmp_path)
    assert looks.states == []


class Pressed:
    """After five calls somebody presses Ctrl-C, and calls end only once the caller knows."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls, self.stopped = 0, False
        stop = Caller.stop

        def stop_and_tell(caller: Caller) -> None:
            stop(caller)
            self.stopped = True

        monkeypatch.setattr(Caller, "stop", stop_and_tell)

    async def wait(self) -> None:
        self.calls += 1
        if self.calls == 5:
            os.kill(os.getpid(), signal.SIGINT)
        while self.calls >= 5 and not self.stopped:
            await asyncio.sleep(0.01)

    def judge(self) -> Judge:
        pressed = self

        class Slow(FakeProvider):
            async def send(self, messages: Any, parameters: Any) -> Reply:
                await pressed.wait()
                return await super().send(messages, parameters)

        return Judge(provider=Slow("Yes"), check=False, workers=1)

    async def answer(self, question: str) -> str:
        await self.wait()
        return "x"


def _evaluate(pressed: Pressed, advance: Callable[[int], None], folder: Path) -> None:
    rows = [{**ROWS[0], "qid": str(n), "answer": f"Answer {n}" if n < 50 else "Paris"} for n in range(60)]
    ragmeter.evaluate(rows, metrics="llm_correct", judge=pressed.judge(), output_dir=folder, progress=advance)


def _judge_conversations(pressed: Pressed, advance: Callable[[int], None], folder: Path) -> None:
    names = ("session_id", "turn_idx", "query", "ground_truth", "agent_response")
    turns = [dict(zip(names, (f"s{n}", 0, f"Q{n}", "x", f"y{n}"), strict=True)) for n in range(60)]
    evaluator = CRAGEvaluator(judge=pressed.judge(), num_workers=1, journal=None, progress=advance)
    evaluator.evaluate_agent_responses(turns)


def _ask(pressed: Pressed, advance: Callable[[int], None], folder: Path) -> None:
    rows = [{**ROWS[0], "qid": str(n), "question": f"Q{n}"} for n in range(60)]
    options: dict[str, Any] = {"run": "r", "output_dir": folder, "workers": 1, "progress": advance}
    ragmeter.ask(rows, pressed.answer, metrics="exact_match", **options)


@pytest.mark.parametrize("work", [_evaluate, _judge_conversations, _ask])
def test_after_ctrl_c_the_progress_is_that_of_what_was_done(
    work: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []
    with pytest.raises(Interrupted):
        work(Pressed(monkeypatch), done.append, tmp_path)
    assert sum(done) == 5


def test_the_bar_has_a_total_and_says_that_the_judge_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows.csv").write_text("question,reference,answer\nQ,Paris,It is Paris\nQ,Paris,Oslo\n")
    bars: list[tuple[Any, Any]] = []
    titles: list[str] = []
    show = progress.progress_bar

    def noted(shown: Any, title: Any, unit: str = "rows", total: int | None = None) -> Any:
        bars.append((title, total))
        return show(shown, title, unit, total)

    def reply(question: str, answer: str) -> str:
        titles.append(bars[0][0]())
        right = {(probe.question, probe.answer): probe.verdict == CORRECT for probe in PROBES}
        return "Yes" if right.get((question, answer), True) else "No"

    monkeypatch.setattr(setup, "progress_bar", noted)
    judge = Judge(provider=FakeProvider(reply), workers=1)
    ragmeter.evaluate(tmp_path / "rows.csv", metrics="llm_correct", judge=judge, output_dir=tmp_path, progress=True)
    assert [total for _, total in bars] == [2]
    assert titles[0] == "trying the judge, 0 of 24 built-in cases"
    assert titles[23].endswith(" of 24 built-in cases")
    assert titles[24:] == ["judging", "judging"]


def test_the_bar_of_a_judge_says_what_failed_and_what_it_has_cost() -> None:
    watch = JudgingWatch()
    assert watch.title() == "judging"
    usage = UsageCounter()
    watch.begin(SimpleNamespace(usage=usage))  # type: ignore[arg-type]
    watch.judged("verdict", {}, Judgement(SCORED, "CORRECT"))
    usage.add("free", Reply("yes", 10, 1))
    assert watch.title() == "judging", "its price is not known"
    usage.add("a", Reply("yes", 10, 1, cost=0.25))
    watch.judged("verdict", {}, Judgement("timeout"))
    assert watch.title() == "judging, 1 failed, $0.2500"
