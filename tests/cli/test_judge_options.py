"""`ragmeter evaluate --metrics llm_correct` as a person runs it, and what the other commands make of such a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragmeter import Run
from ragmeter.effects.replies.journal import Journal
from ragmeter.judges.asking.probes import PROBES
from ragmeter.models.prices import AS_OF
from tests.conftest import Run as Command
from tests.judge_rows import files
from tests.judge_server import Action, JudgeServer, completion, texts

ROWS = [
    {
        "qid": f"r{number}",
        "question": "which city",
        "reference": "Paris",
        "answer": "Paris" if number == 0 else f"I would say {'Paris' if number % 3 else 'Rome'}, number {number}",
        "domain": "ab"[number % 2],
    }
    for number in range(40)
]
PRICES = '{"m": {"input": 1, "output": 2}}'


@pytest.fixture(autouse=True)
def _rows(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")


def judge(server: JudgeServer, *more: str, check: bool = False) -> list[str]:
    return ["--judge-model", "m", "--base-url", server.url, *([] if check else ["--no-judge-check"]), *more]


def results(run: str = "r", metrics: str = "llm_correct") -> list[str]:
    return ["evaluate", "--results", "rows.jsonl", "--run", run, "--metrics", metrics]


def said(done: Any, code: int = 0) -> str:
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return str(done.stdout if code == 0 else done.stderr)


def knows_all(request: dict[str, Any], number: int) -> Action:
    """A server that gets all built-in cases right, and goes by the usual rule elsewhere."""
    shown = texts(request)
    known = {(probe.question, probe.answer): probe.verdict for probe in PROBES}
    rule = "CORRECT" if shown["reference"].casefold() in shown["answer"].casefold() else "WRONG"
    return Action(body=completion(known.get((shown["question"], shown["answer"]), rule)))


def test_a_file(ragmeter: Command, tmp_path: Path) -> None:
    with JudgeServer() as server:
        shown = said(ragmeter(*results(), *judge(server)))
        assert server.count == 39
    assert "verdicts by: exact 1, llm 39" in shown
    assert "calls: 39 (0 recorded before, 39 made now)" in shown
    assert "39 of the judge's 39 reasons are the same: 'by rule'" in shown
    assert files(tmp_path / "runs") == [
        "judge.journal.sqlite", "r", "r/manifest.json", "r/rows.parquet", "r/summary.json",
    ]  # fmt: skip


@pytest.mark.parametrize("twice", [("--judge-repeats", "2"), ("--judge-wordings", "2")])
def test_a_dry_run_asks_and_writes_nothing_and_is_right(
    ragmeter: Command, tmp_path: Path, twice: tuple[str, ...]
) -> None:
    (tmp_path / "prices.json").write_text(PRICES, encoding="utf-8")
    with JudgeServer(knows_all) as server:
        options = judge(server, "--prices", "prices.json", *twice, check=True)
        shown = said(ragmeter(*results(), *options, "--dry-run"))
        assert "rows: 40; calls: about 78, and 0 recorded before" in shown
        assert "48 calls more to try the judge on built-in cases (--no-judge-check)" in shown
        assert "nothing was asked" in shown
        assert "$" in shown
        assert server.count == 0
        assert files(tmp_path) == ["prices.json", "rows.jsonl"]
        planned = json.loads(said(ragmeter(*results(), *options, "--dry-run", "--json")))
        summary = json.loads(said(ragmeter(*results(), *options, "--json")))
        assert server.count == planned["calls"] + planned["check_calls"] == summary["judge_usage"]["calls"]
        again = json.loads(said(ragmeter(*results(), *options, "--dry-run", "--json")))
        assert (again["calls"], again["recorded"], again["check_calls"]) == (0, 78, 0)
        kept = ["evaluate", "--run", "r", "--metrics", "llm_correct[judge=cascade]", *options]
        assert json.loads(said(ragmeter(*kept, "--dry-run", "--json")))["calls"] == 0
        before = server.count
        said(ragmeter(*kept))
        assert server.count == before


def test_a_dry_run_says_what_a_limit_cuts_off(ragmeter: Command, tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text(PRICES, encoding="utf-8")
    with JudgeServer(knows_all) as server:
        options = judge(server, "--prices", "prices.json", check=True)
        shown = said(ragmeter(*results(), *options, "--dry-run"))
        assert "24 calls more to try the judge" in shown
        assert "in all about 63 calls, " in shown
        assert "up to 63 more in other words" in shown
        planned = json.loads(said(ragmeter(*results(), *options, "--dry-run", "--json")))
        assert planned["most_calls"] == 126
        assert f"at most 126 calls and ${planned['most_cost_usd']:.4f}" in shown
        assert 1.8 < planned["most_cost_usd"] / planned["cost_usd"] < 2.2
        limited = [*options, "--max-calls", "10"]
        shown = said(ragmeter(*results(), *limited, "--dry-run"))
        assert "the judge will not be tried on built-in cases: the limit of 10 calls" in shown
        assert (
            "--judge-max-calls leaves 10 calls: about 29 are not made, and what they are about is skipped_budget"
            in shown
        )
        done = ragmeter(*results(), *limited)
        assert (done.returncode, server.count) == (3, 10)
        shown = said(ragmeter(*results(), *options, "--max-calls", "14", "--dry-run"))
        assert "--judge-max-calls leaves 4 calls: about 25 are not made" in shown  # 10 were made before
        shown = said(ragmeter(*results(), *options, "--max-calls", "100", "--judge-seed", "1", "--dry-run"))
        assert "--judge-max-calls leaves 100 calls: up to 26 are not made if the model is often in doubt" in shown
        assert "leaves" not in said(
            ragmeter(*results(), *options, "--max-calls", "126", "--judge-seed", "1", "--dry-run")
        )
        budget = [*options, "--judge-budget", "0.004", "--judge-max-tokens", "10"]
        planned = json.loads(said(ragmeter(*results("s"), *budget, "--dry-run", "--json")))
        assert planned["limited_by"] == "budget"
        assert "--judge-budget of $0.004 lets about" in said(ragmeter(*results("s"), *budget, "--dry-run"))
        before = server.count
        ragmeter(*results("s"), *budget)
        assert server.count - before == pytest.approx(planned["calls_left"], rel=0.5)


def test_a_judge_that_is_tried(ragmeter: Command, tmp_path: Path) -> None:
    with JudgeServer() as server:
        shown = said(ragmeter(*results(), *judge(server, check=True)), 2)
        assert "m: this judge got 15 of 24 built-in cases right, and 17 are needed" in shown
        assert "--no-judge-check" in shown
        assert server.count == 24
        assert not (tmp_path / "runs" / "r").exists()
        said(ragmeter(*results(), *judge(server, check=True)), 2)
        assert server.count == 24  # what it said is recorded
    with JudgeServer(knows_all) as server:
        assert "this judge got 24 of 24 built-in cases right" in said(ragmeter(*results(), *judge(server, check=True)))
        assert "this judge got 24 of 24" in said(ragmeter("summary", "r"))
        done = ragmeter(*results("s"), *judge(server, "--judge-max-calls", "30", "--judge-seed", "1", check=True))
        assert done.returncode == 3
        problem = "9 of 40 rows have no score, more than 5% (--max-unscored): the exit code is 3; "
        higher = "a higher limit (--judge-max-calls)"
        assert done.stderr.endswith(
            f"{problem}the same command with --retry-failed and {higher} goes on with these alone\n"
        )
        shown = done.stdout
        assert "this judge was not tried on built-in cases: the limit" in shown
        assert "skipped_budget" in shown


def test_a_dry_run_names_the_prices_and_needs_no_lock(ragmeter: Command, tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text(PRICES, encoding="utf-8")
    with JudgeServer() as server:
        said(ragmeter(*results(), *judge(server, "--judge-journal", "j.sqlite")))
        estimate = [*results("s"), *judge(server, "--judge-journal", "j.sqlite"), "--dry-run"]
        with Journal(tmp_path / "j.sqlite"):
            refused = said(ragmeter(*estimate[:-1]), 2)
            assert "another process is using the journal j.sqlite" in refused
            assert "or name another file with --judge-journal" in refused
            shown = said(ragmeter(*estimate, "--prices", "prices.json"))
            assert "calls: about 0, and 39 recorded before" in shown
            assert "$0.0000 at your prices" in shown
        known = [*results("s"), "--judge-model", "gpt-4o", "--dry-run"]
        assert f"at prices of {AS_OF}" in said(ragmeter(*known, env={"OPENAI_API_KEY": "k"}))


def test_a_run_that_is_there(ragmeter: Command) -> None:
    said(ragmeter(*results(metrics="token_f1")))
    with JudgeServer() as server:
        shown = said(ragmeter("evaluate", "--run", "r", "--metrics", "llm_correct", *judge(server)))
        assert "token_f1" in shown
        assert "llm_correct" in shown
        assert server.count == 39
        assert "calls: 39 (0 recorded before, 39 made now); " in shown
        kept = ["evaluate", "--run", "r", "--metrics"]
        again = said(ragmeter(*kept, "llm_correct", *judge(server)))
        assert server.count == 39
        for shown in (again, said(ragmeter(*kept, "exact_match")), said(ragmeter("summary", "r"))):
            assert "calls: 39; tokens: " in shown  # in all: nothing was asked now
        shown = said(
            ragmeter("evaluate", "--run", "r", "--metrics", "llm_correct", *judge(server, "--judge-seed", "4")), 2
        )
        assert "was filled by this judge with other settings (seed)" in shown
        assert "--results runs/r/rows.parquet --run NAME" in shown


def test_another_try_for_rows_without_a_verdict(ragmeter: Command) -> None:
    down = {"on": True}

    def behave(request: dict[str, Any], number: int) -> Action | None:
        unclear = down["on"] and "number 7" in texts(request)["answer"]
        return Action(body=completion("hard to say")) if unclear else None

    with JudgeServer(behave) as server:
        shown = said(ragmeter(*results(), *judge(server)))
        assert "unparsable: 1" in shown
        assert "1 unparsable: not a verdict" in shown
        down["on"] = False
        before = server.count
        kept = ["evaluate", "--run", "r", "--metrics", "llm_correct", *judge(server)]
        said(ragmeter(*kept))
        assert server.count == before
        planned = json.loads(said(ragmeter(*kept, "--retry-failed", "--dry-run", "--json")))
        shown = said(ragmeter(*kept, "--retry-failed"))
        assert server.count - before == planned["calls"] == 1
        assert "no score" not in shown
        assert "verdicts by: exact 1, llm 39" in shown


def test_a_budget_over_several_commands(ragmeter: Command, tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text(PRICES, encoding="utf-8")
    with JudgeServer() as server:
        options = judge(server, "--prices", "prices.json", "--judge-budget", "0.004", "--judge-max-tokens", "10")
        counts = []
        for _ in range(3):
            done = ragmeter(*results(), *options)
            assert done.returncode == 3  # too many rows without a verdict
            assert "skipped_budget" in done.stdout
            counts.append(server.count)
        assert 0 < counts[0] <= counts[-1] <= 33  # a call costs $0.00012


def test_a_server_that_counts_no_tokens(ragmeter: Command, tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text(PRICES, encoding="utf-8")
    with JudgeServer(lambda request, number: Action(body={**completion("Yes"), "usage": None})) as server:
        assert "no token counts for 39 of 39 calls: they are not in these totals\n" in said(
            ragmeter(*results(), *judge(server))
        )
        options = judge(server, "--prices", "prices.json", "--judge-budget", "0.004", "--judge-seed", "1")
        done = ragmeter(*results("s"), *options, "--json")
        usage = json.loads(done.stdout)["judge_usage"]
        assert 0 < usage["calls"] == usage["calls_without_token_counts"] < 39
        assert 0.002 < usage["charged_usd"] <= 0.004
        shown = ragmeter("summary", "s").stdout
        assert f"the most that it can cost: ${usage['charged_usd']:.4f} in all" in shown


def test_what_failed_calls_cost_at_an_unknown_price_is_not_known(ragmeter: Command) -> None:
    with JudgeServer(lambda request, number: Action(500)) as server:
        done = ragmeter(*results(), *judge(server, "--judge-retries", "0"))
        assert done.returncode == 3
        assert "calls: 0 (" in done.stdout
        assert "cost" not in done.stdout


def test_a_cascade(ragmeter: Command, tmp_path: Path) -> None:
    with JudgeServer() as server:
        options = judge(server, "--judge", "cascade", "--llm-share", "0.2", "--audit-share", "0.1")
        shown = said(ragmeter(*results(), *options))
        assert "llm_correct[judge=cascade]" in shown
        assert "accuracy as the model would find it" in shown
        shares = ["--llm-share", "0.2", "--audit-share", "0.1"]
        for more in ([], ["--judge", "cascade"]):  # the metric's name says the same as the option
            by_name = said(ragmeter(*results("s", "llm_correct[judge=cascade]"), *judge(server, *shares, *more)))
            assert shown.splitlines()[:6] == by_name.splitlines()[:6]
        both = said(ragmeter(*results("s", "llm_correct,llm_correct[judge=cascade]"), *judge(server, *shares)))
        assert "set by a share of 0.2" in both
        said(ragmeter("label", "r", "--by", "random", "--n", "30", "--blank", "--output", "labels.csv"))
        done = ragmeter(*results("t"), *judge(server, "--judge", "cascade", "--labels", "labels.csv"))
        assert "no row is labelled" in said(done, 2)
        lines = ["qid,label", *(f"{row['qid']},{int('Paris' in row['answer'])}" for row in ROWS)]
        (tmp_path / "labels.csv").write_text("\n".join(lines), encoding="utf-8")
        labelled = judge(server, "--judge", "cascade", "--labels", "labels.csv", "--target-agreement", "0.9")
        assert "set by 40 labels" in said(ragmeter(*results("t"), *labelled))
        said(ragmeter(*results("u", "token_f1")))
        of_run = ["evaluate", "--run", "u", "--metrics", "llm_correct", *labelled]
        assert "set by 40 labels" in said(ragmeter(*of_run))


def test_own_words(ragmeter: Command, tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text("For {domain}:\n{answer}\n{refrence}", encoding="utf-8")
    with JudgeServer(lambda request, number: Action(body=completion("CORRECT"))) as server:
        shown = said(ragmeter(*results(), *judge(server, "--judge-prompt", "prompt.txt")), 2)
        assert "prompt.txt, line 3: there is no column {refrence}" in shown
        assert server.count == 0
        (tmp_path / "prompt.txt").write_text("For {domain}:\n{answer}", encoding="utf-8")
        said(ragmeter(*results(), *judge(server, "--judge-prompt", "prompt.txt")))
        assert texts(server.requests[0])["domain"] in "ab"
        assert server.count == 40


def test_headers_and_reasons(ragmeter: Command) -> None:
    with JudgeServer() as server:
        options = judge(server, "--judge-header", "x-tenant: $TENANT", "--judge-api-version", "v7", "--reasons")
        said(ragmeter(*results(), *options, env={"TENANT": "canary-tenant"}))
        assert "x-tenant: canary-tenant" in server.headers[0].replace("X-Tenant", "x-tenant")
        assert "api-version=v7" in server.headers[0]
        assert "response_format" in server.requests[0]


def test_a_live_system(ragmeter: Command, tmp_path: Path) -> None:
    (tmp_path / "pipeline.py").write_text("def answer(question):\n    return f'It is Paris: {question}'\n")
    with JudgeServer() as server:
        options = ["--judge-model", "m", "--judge-base-url", server.url, "--no-judge-check"]
        asking = ["ask", "--dataset", "rows.jsonl", "--target", "pipeline:answer", "--run", "r"]
        shown = said(ragmeter(*asking, "--metrics", "llm_correct,token_f1", *options))
    assert "verdicts by: llm 40" in shown
    assert server.count == 1  # all rows are the same to the judge


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--metrics", "llm_correct"], "llm_correct needs a judge"),
        (["--metrics", "token_f1", "--judge-model", "m"], "none of the metrics needs a judge"),
        (["--metrics", "token_f1", "--dry-run"], "nothing to estimate without a judge"),
        (["--metrics", "llm_correct", "--judge-repeats", "3"], "--judge-repeats has no effect without --judge-model"),
        (["--metrics", "llm_correct", "--reasons"], "--reasons has no effect without --judge-model"),
        (["--metrics", "llm_correct", "--judge-header", "a: b"], "--judge-header has no effect without --judge-model"),
        (["--metrics", "llm_correct", "--no-judge-check"], "--no-judge-check has no effect without --judge-model"),
        (["--metrics", "llm_correct", "--judge", "cascade"], "--judge has no effect without --judge-model"),
        (["--metrics", "token_f1", "--retry-failed"], "--retry-failed has no effect without --judge-model"),
        (["--metrics", "llm_correct", "--judge-model", "m", "--llm-share", "0.1"], "without --judge cascade"),
        (["--metrics", "llm_correct", "--judge-model", "m", "--judge-repeats", "0"], "--judge-repeats must be"),
        (
            ["--metrics", "llm_correct", "--judge-model", "m", "--budget=-5"],
            "--judge-budget must be at least 0, got -5",
        ),
        (["--metrics", "llm_correct", "--judge-model", "m", "--budget", "nan"], "--judge-budget must be at least 0"),
        (["--metrics", "llm_correct", "--judge-model", "m", "--max-calls=-1"], "--judge-max-calls must be at least 0"),
        (
            ["--metrics", "llm_correct[judge=cascade]", "--judge-model", "m", "--llm-share", "2"],
            "--llm-share must be between 0 and 1, got 2",
        ),
        (
            ["--metrics", "llm_correct[judge=cascade]", "--judge-model", "m", "--audit-share", "-1"],
            "--audit-share must be between 0 and 1, got -1",
        ),
        (["--metrics", "llm_correct", "--judge-model", "m", "--wordings", "3"], "--judge-wordings must be 1 or 2"),
        (["--metrics", "llm_correct", "--judge-model", "m", "--budget", "1"], "the price of 'm' is not known"),
        (["--metrics", "llm_correct[judge=nobody]", "--judge-model", "m"], "judge"),
        (
            ["--metrics", "llm_grade", "--judge", "cascade", "--judge-model", "m"],
            "--judge cascade has no effect on llm_grade",
        ),
        (
            ["--metrics", "llm_correct[judge=cascade]", "--judge", "llm", "--judge-model", "m"],
            "--judge llm contradicts llm_correct[judge=cascade]",
        ),
        (
            ["--metrics", "faithfulness", "--judge", "offline", "--offline-calibration", "c.json"],
            "--offline-calibration has no effect without --judge cascade",
        ),
        (["--metrics", "llm_grade[scale=9-1]", "--judge-model", "m"], "a scale is two numbers"),
        (["--evaluator", "EditDistanceEvaluator", "--judge-model", "m"], "--judge-model has no effect"),
        (["--evaluator", "EditDistanceEvaluator", "--judge-budget", "1"], "--judge-budget has no effect"),
        (["--evaluator", "EditDistanceEvaluator", "--dry-run"], "--dry-run has no effect"),
        (["--evaluator", "EditDistanceEvaluator", "--reasons"], "--reasons has no effect"),
        (["--evaluator", "EditDistanceEvaluator", "--judge", "cascade"], "--judge has no effect"),
        (["--evaluator", "EditDistanceEvaluator", "--retry-failed"], "--retry-failed has no effect"),
    ],
)
def test_what_makes_no_sense_is_refused(ragmeter: Command, tmp_path: Path, more: list[str], complaint: str) -> None:
    env = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "k"}
    assert complaint in said(ragmeter("evaluate", "--results", "rows.jsonl", *more, env=env), 2)
    assert files(tmp_path) == ["rows.jsonl"]


def test_every_command_takes_such_a_run(ragmeter: Command, tmp_path: Path) -> None:
    with JudgeServer() as server:
        both = "llm_correct,llm_correct[judge=cascade],exact_match"
        said(ragmeter(*results("a", both), *judge(server)))
        said(ragmeter(*results("b", both), *judge(server, "--judge-seed", "1")))
    assert Run.at(tmp_path / "runs" / "a").slices() == ["domain"]
    shown = said(ragmeter("compare", "a", "b"))
    assert "llm_correct" in shown
    assert "outcome" not in shown
    shown = said(ragmeter("summary", "a", "--slice", "domain"))
    assert "verdicts by: exact 1, llm 39" in shown
    said(ragmeter("gate", "a", "--fail-under", "llm_correct=0.5"))
    assert ragmeter("gate", "a", "--fail-under", "llm_correct[judge=cascade]=0.9").returncode == 1
    said(ragmeter("report", "a", "b", "--output", "report.html"))
    assert "llm_correct[judge=cascade]" in (tmp_path / "report.html").read_text(encoding="utf-8")
    said(ragmeter("label", "a", "--by", "random", "--n", "20", "--blank", "--output", "labels.csv"))
    lines = ["qid,label", *(f"{row['qid']},{int('Paris' in row['answer'])}" for row in ROWS[:30])]
    (tmp_path / "labels.csv").write_text("\n".join(lines), encoding="utf-8")
    shown = said(ragmeter("calibrate", "a", "--labels", "labels.csv"))
    assert "llm_correct" in shown  # of three metrics of 0 and 1, the judge's is meant
    shown = said(ragmeter("calibrate", "a", "--labels", "labels.csv", "--metric", "llm_correct[judge=cascade]"))
    assert "llm_correct[judge=cascade]" in shown


def test_what_the_metrics_command_says(ragmeter: Command) -> None:
    shown = said(ragmeter("metrics", "llm_correct"))
    assert "Needs reference, answer, and a judge. Settings judge, juror." in " ".join(shown.split())
    listed = {entry["name"]: entry for entry in json.loads(said(ragmeter("metrics", "--json")))}
    assert (listed["llm_correct"]["needs"], listed["llm_correct"]["asks"]) == (["reference", "answer"], ["verdict"])
    assert listed["token_f1"]["asks"] == []


@pytest.mark.parametrize(("readable", "code"), [(30, 3), (38, 0)])
def test_too_many_rows_without_a_verdict_are_exit_code_3(ragmeter: Command, readable: int, code: int) -> None:
    def behave(request: dict[str, Any], number: int) -> Action | None:
        return None if number <= readable else Action(body=completion("I can't say"))

    with JudgeServer(behave) as server:
        options = judge(server, "--judge-tries", "1", "--judge-workers", "1")
        assert ragmeter(*results(), *options).returncode == code
        assert ragmeter(*results(), *options, "--max-unscored", "0.5").returncode == 0


def test_rows_that_failed_at_any_stage_of_a_metric_are_without_a_verdict(ragmeter: Command, tmp_path: Path) -> None:
    rows = [
        {**row, "contexts": ["It is a city."], "answer": f"It is city number {n:02d}."}
        for n, row in enumerate(ROWS[:20])
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def behave(request: dict[str, Any], number: int) -> Action:
        shown = request["messages"][-1]["content"]
        row = int(shown.rpartition("city number ")[2][:2])
        if "List every claim" in shown:
            return Action(body=completion("Well" if row < 3 else f"- It is city number {row:02d}."))
        return Action(body=completion("Well" if row < 6 else "1: Supported"))

    with JudgeServer(behave) as server:
        options = judge(server, "--judge-tries", "1")
        done = ragmeter(*results(metrics="faithfulness"), *options, "--max-unscored", "0.2")
        counts = json.loads((tmp_path / "runs" / "r" / "summary.json").read_text(encoding="utf-8"))
        assert counts["metrics"]["faithfulness"]["n_not_scored"] == {"unparsable": 6}
        assert [sum(column["causes"].values()) for column in counts["judges"].values()] == [3, 3]
        assert "6 of 20 rows have no score, more than 20%" in done.stderr
        assert done.returncode == 3
        assert ragmeter(*results(metrics="faithfulness"), *options, "--max-unscored", "0.3").returncode == 0


def test_rows_that_the_system_failed_on_are_not_the_judges(ragmeter: Command, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "def ask(question):\n    return 'I would say Paris, ' + question\n", encoding="utf-8"
    )
    ask = ["ask", "--dataset", "rows.jsonl", "--target", "slow:ask", "--metrics", "token_f1", "--run", "r"]
    done = ragmeter(*ask, "--max-calls", "10", env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 3
    goes_on = "the same command with --retry-failed and a higher limit (--max-calls) goes on with these alone"
    assert done.stderr.endswith(
        f"30 of 40 questions have no answer, more than 5% (--max-unscored): the exit code is 3; {goes_on}\n"
    )
    with JudgeServer() as server:
        said(ragmeter("evaluate", "--run", "r", "--metrics", "llm_correct", *judge(server)))
