"""Whatever an endpoint does, the row has a typed outcome, and the rows before and after it their scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragmeter import Judge
from ragmeter.effects.limits.caller import Caller, Failure
from ragmeter.effects.limits.calls import Limits, run_calls
from ragmeter.engine.ask import ask as ask_and_score
from ragmeter.judges.asking.judgement import Judgement
from ragmeter.judges.verdict import verdict
from ragmeter.targets.http import HttpTarget
from ragmeter.targets.port import Answer, Question
from ragmeter.targets.replies import Answers, ask
from tests.command import PATIENCE
from tests.conftest import Run
from tests.hostile.endpoint_faults import FAULTS, SCORED, STREAMS, Fault
from tests.hostile.faulty_server import TRIGGER, FaultyServer, Play

_ROWS = ["before", TRIGGER, "after"]
_PARAMETERS = [pytest.param(fault, marks=[pytest.mark.slow] * fault.slow, id=fault.name) for fault in FAULTS]


def timeout_for(fault: Fault) -> float:
    """Seconds for a reply: a few where they must pass, and so many elsewhere that they don't on a busy machine."""
    return 0.5 if fault.short else PATIENCE


def answers(server: FaultyServer, timeout: float) -> list[Answer | Failure]:
    target = HttpTarget(server.url, timeout=timeout)
    questions = [Question(text, text) for text in _ROWS]
    with Answers(None, "run", target, questions) as journal:
        return ask(target, questions, Limits(workers=1, retries=0), journal, lambda count: None).in_order


def judgements(server: FaultyServer, timeout: float) -> list[Judgement]:
    judge = Judge("m", server.url, "key-of-the-tests", check=False, retries=0, tries=1, timeout=timeout)
    rows = [{"question": text, "reference": "Paris", "answer": "It is Paris"} for text in _ROWS]

    async def work(caller: Caller) -> list[Judgement]:
        async with judge.client() as client:
            return [await judge.on(verdict).ask(caller, client, row) for row in rows]

    return run_calls(work, judge.limits)


@pytest.mark.parametrize("fault", _PARAMETERS)
def test_a_target(fault: Fault) -> None:
    with FaultyServer(lambda request: fault.play) as server:
        before, reply, after = answers(server, timeout_for(fault))
    good = isinstance(before, Answer) and isinstance(after, Answer)
    assert good or fault.short  # a time that is short may be too short for a good reply
    outcome, _, words = fault.target.partition(": ")
    if isinstance(reply, Answer):
        assert (outcome, reply.answer.rstrip("\ufffd")) in ((SCORED, "Paris"), (SCORED, "It is Par")), reply
    else:
        assert reply.outcome == outcome, reply
        assert words in reply.cause


@pytest.mark.parametrize("name", ["an error after pieces", "cut in an event", "reset in a stream"])
def test_what_came_of_a_stream_is_kept_beside_the_failure(name: str, tmp_path: Path) -> None:
    (play,) = (fault.play for fault in STREAMS if fault.name == name)
    rows = [{"question": text, "reference": "Paris"} for text in _ROWS]
    output = tmp_path / "results.json"
    with FaultyServer(lambda request: play) as server:
        keywords: dict[str, Any] = {"output_dir": tmp_path, "output": output, "allow_failures": True}
        done = ask_and_score(rows, server.url, metrics="exact_match", retries=0, workers=1, **keywords)
    assert done.rows["answer"].to_pylist() == ["Paris", None, "Paris"]
    assert done.rows["partial_answer"].to_pylist() == [None, "It is Par", None]
    assert done["exact_match"].n_not_scored == {"target_error": 1}
    assert "partial_answer" not in done.run.slices()
    results = json.loads(output.read_text())["results"]
    assert [row.get("partial_answer") for row in results] == [None, "It is Par", None]


@pytest.mark.parametrize("fault", _PARAMETERS)
def test_a_judge(fault: Fault) -> None:
    with FaultyServer(lambda request: fault.play) as server:
        before, reply, after = judgements(server, timeout_for(fault))
    assert before.outcome == after.outcome == SCORED or fault.short
    outcome, _, words = fault.judge.partition(": ")
    assert reply.outcome == outcome, reply
    assert words in reply.cause


def test_all_of_them_in_one_run(tmp_path: Path, ragmeter: Run) -> None:
    """The whole command: every fault once, between good answers, and no fault reaches another row."""
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    faults = {fault.name: fault for fault in FAULTS if not fault.short and not fault.slow}
    rows = [row for name in faults for row in ({"question": f"{TRIGGER} {name}."}, {"question": f"before {name}"})]
    dataset = tmp_path / "questions.json"
    dataset.write_text(json.dumps([{**row, "reference": "Paris"} for row in rows]))

    def choose(request: str) -> Play:
        return faults[next(name for name in faults if f"{TRIGGER} {name}." in request)].play

    with FaultyServer(choose) as server:
        done = ragmeter(
            "ask", "--dataset", dataset, "--target", server.url, "--metrics", "exact_match", "--retries", "0",
            "--workers", "16", "--max-unscored", "1", "--output", tmp_path / "results.json", "--timeout", str(PATIENCE),
        )  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    results = json.loads((tmp_path / "results.json").read_text())["results"]
    for name, (bad, good) in zip(faults, zip(results[::2], results[1::2], strict=True), strict=True):
        assert good["generated_answer"] == "Paris", good
        outcome, _, words = faults[name].target.partition(": ")
        assert bad["not_scored"].get("exact_match", SCORED) == outcome, bad
        assert words in (bad["error"] or "")
