"""A judge beside an engine: the rows of an evaluation without one, each reply paid once, parts scored meanwhile."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from ragmeter import Evaluation, evaluate
from ragmeter.engine.parts import work
from ragmeter.errors import EndpointError, InputError, UsageError, WorkerError
from ragmeter.models.fake import FakeProvider
from tests.command import PATIENCE
from tests.engine.test_parts import content, rows, write
from tests.in_parts import in_parts
from tests.judge_rows import asked, fake, judge

METRICS = "llm_correct,token_f1,llm_correct[judge=cascade]"


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.engine.parts.sources.PART_BYTES", 6_000)


def without_effort(evaluation: Evaluation) -> tuple[dict[str, Any], dict[str, object]]:
    """The summary and the rows, without what the replies have cost: they are paid once."""
    summary, columns = content(evaluation)
    return {key: value for key, value in json.loads(summary).items() if key != "judge_usage"}, columns


@pytest.mark.parametrize("engine", ["threads", pytest.param("local:2", marks=pytest.mark.slow)])
def test_the_rows_of_an_evaluation_without_an_engine(tmp_path: Path, engine: str) -> None:
    data = write(tmp_path / "data", [{**row, "verdict": "mine"} for row in rows()])
    given: dict[str, Any] = {"metrics": METRICS, "judge": judge(fake()), "output_dir": tmp_path}
    plain = evaluate(data, run="plain", **given)
    parts = in_parts(data, run="parts", engine=engine, **given)
    assert len(parts.manifest.parts) > 4
    assert without_effort(parts) == without_effort(plain)
    assert parts.rows["input.verdict"].to_pylist() == ["mine"] * 240
    assert parts.manifest.judged_columns == plain.manifest.judged_columns
    assert parts.summary.judge_usage.calls == plain.summary.judge_usage.calls
    assert parts.manifest.judging.made == 0  # all replies are in the journal


def test_questions_without_a_result_and_rows_without_a_qid(tmp_path: Path) -> None:
    table = rows(60)
    results = write(tmp_path / "results", [{"qid": row["qid"], "answer": row["answer"]} for row in table[:50]])
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(json.dumps({"qid": row["qid"], "reference": row["reference"]}) + "\n" for row in table))
    given: dict[str, Any] = {"metrics": METRICS, "judge": judge(fake()), "output_dir": tmp_path}
    plain = evaluate(results, gold, run="plain", **given)
    parts = in_parts(results, gold, run="parts", **given)
    assert without_effort(parts) == without_effort(plain)
    assert parts["llm_correct"].n_not_scored["no_result"] == 10
    bare = write(tmp_path / "bare", [{"answer": row["answer"], "reference": row["reference"]} for row in table])
    plain = evaluate(bare, run="plain", replace=True, **given)
    parts = in_parts(bare, run="parts", replace=True, **given)
    assert without_effort(parts) == without_effort(plain)


def test_parts_are_scored_while_the_judge_is_asked_about_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored = threading.Event()
    write_part = work.write_part

    def noticed(*given: Any) -> Any:
        done = write_part(*given)
        scored.set()
        return done

    def reply(answer: str) -> str:
        if answer == table[-1]["answer"]:  # the last one is asked about when a part is done
            assert scored.wait(PATIENCE)
        return "Yes"

    monkeypatch.setattr("ragmeter.engine.parts.work.write_part", noticed)
    table = [{"qid": str(place), "answer": f"It is {place}.", "reference": "It is so."} for place in range(200)]
    data = write(tmp_path / "data", table)
    provider = FakeProvider(reply)
    parts = in_parts(data, metrics="llm_correct", judge=judge(provider), output_dir=tmp_path, run="parts")
    assert parts["llm_correct"].mean == 1.0


def test_a_crash_pays_for_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(tmp_path / "data", rows(120))
    provider = fake()
    given: dict[str, Any] = {"metrics": METRICS, "judge": judge(provider), "output_dir": tmp_path, "run": "parts"}
    write_part = work.write_part

    def fails(job: bytes, number: int, *more: Any) -> Any:
        if number == 2:
            raise WorkerError("the worker has ended")
        return write_part(job, number, *more)

    monkeypatch.setattr("ragmeter.engine.parts.work.write_part", fails)
    with pytest.raises(WorkerError, match="the worker has ended"):
        in_parts(data, **given)
    monkeypatch.setattr("ragmeter.engine.parts.work.write_part", write_part)
    before = len(asked(provider))
    parts = in_parts(data, **given)
    plain = evaluate(data, **{**given, "run": "plain"})
    assert without_effort(parts) == without_effort(plain)
    assert len(set(asked(provider))) == len(asked(provider)) >= before > 0


def test_a_row_that_had_no_verdict_is_asked_about_again(tmp_path: Path) -> None:
    data = write(tmp_path / "data", rows(60))
    given: dict[str, Any] = {"metrics": "llm_correct", "output_dir": tmp_path, "run": "parts", "engine": "threads"}
    broken = judge(FakeProvider([EndpointError("out of order")] * 500))
    with pytest.raises(EndpointError):
        evaluate(data, judge=broken, **given)
    assert evaluate(data, judge=judge(fake()), **given)["llm_correct"].n_scored > 40


@pytest.mark.parametrize("has_qid", [True, False])
def test_rows_of_parts_that_are_skipped_are_not_asked_about(tmp_path: Path, has_qid: bool) -> None:
    table = [{**row, "answer": f"{place}: {row['answer']}"} for place, row in enumerate(rows(80))]
    table = [row if has_qid else {key: row[key] for key in ("answer", "reference")} for row in table]
    data, rest = write(tmp_path / "data", table), write(tmp_path / "rest", table)
    for name in ("0.parquet", "3.jsonl"):
        (data / name).write_bytes((data / name).read_bytes()[:-50])  # its first rows can be read
        (rest / name).unlink()
    given: dict[str, Any] = {"metrics": METRICS, "output_dir": tmp_path}
    provider = fake()
    parts = in_parts(data, run="parts", judge=judge(provider), skip_bad_parts=True, **given)
    skipped = parts.summary.parts_skipped
    assert [name in reason for name, reason in zip(("0.parquet", "3.jsonl"), skipped, strict=True)] == [True, True]
    other = fake()
    plain = evaluate(rest, run="plain", judge=judge(other, journal=tmp_path / "other.sqlite"), **given)
    assert asked(provider) == asked(other)
    summary, columns = without_effort(parts)
    assert ({key: value for key, value in summary.items() if key != "parts_skipped"}, columns) == without_effort(plain)


def test_what_does_not_go_together(tmp_path: Path) -> None:
    data = write(tmp_path / "data", rows(8))
    given: dict[str, Any] = {"metrics": "llm_correct", "output_dir": tmp_path, "run": "parts", "engine": "threads"}
    with pytest.raises(UsageError, match="llm_correct needs a judge"):
        evaluate(data, **given)


def test_rows_that_change_meanwhile(tmp_path: Path) -> None:
    data, other = tmp_path / "data.jsonl", tmp_path / "other.jsonl"
    for path, name in ((data, "old"), (other, "new")):
        path.write_text("".join(json.dumps({**row, "qid": f"{name} {row['qid']}"}) + "\n" for row in rows(40)))

    def reply(prompt: str) -> str:
        if other.exists():
            other.replace(data)
        return "Yes"

    with pytest.raises(InputError, match="the rows have changed while the judge was asked about them"):
        in_parts(data, metrics="llm_correct", judge=judge(FakeProvider(reply)), output_dir=tmp_path, run="r")
    assert not (tmp_path / "r").exists()
