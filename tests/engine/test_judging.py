"""One column filled by a judge: what becomes of bad replies and failed calls, repeats, retries, limits, estimates."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from ragmeter import Evaluation, Judge, evaluate
from ragmeter.effects.limits.pace import Retries
from ragmeter.models.fake import FakeProvider
from ragmeter.models.port import ChatReply
from ragmeter.models.prices import Price
from ragmeter.registry import get_all
from tests.judge_rows import ROWS, asked, fake, judge, planned, rows, scripted
from tests.judge_server import Action, JudgeServer, completion, texts


def judged(
    table: Any, provider: FakeProvider, folder: Path, *, retry_failed: bool = False, **settings: Any
) -> Evaluation:
    judged_by = judge(provider, **settings)
    return evaluate(table, metrics="llm_correct", judge=judged_by, output_dir=folder, retry_failed=retry_failed)


def estimated(table: Any, provider: FakeProvider, folder: Path, *, retry_failed: bool = False, **settings: Any) -> Any:
    return planned(table, "llm_correct", judge(provider, **settings), folder, retry_failed=retry_failed)


def column(evaluation: Evaluation, name: str) -> list[Any]:
    return list(evaluation.rows[name].to_pylist())


def test_everything_that_can_go_wrong_is_an_outcome_and_no_number(tmp_path: Path) -> None:
    replies = {
        "a": Action(body=completion("Yes")),
        "b": Action(body=completion("I would say CORRECT")),
        "c": Action(body=completion(None, refusal="I can't help with that")),
        "d": Action(body=completion("Yes", "length")),
        "e": Action(delay=3600.0, body={}),
        "f": Action(500, {"error": {"message": "out of order"}}),
        "g": Action(400, {"error": {"message": "too long"}}),
        "h": Action(body=completion("No", "content_filter")),
        "i": Action(body=completion("x"), cut=3, reset=True),
    }
    with JudgeServer(lambda request, number: replies[texts(request)["answer"]]) as server:
        one = Judge("m", server.url, "k", check=False, tries=2, timeout=2.0)
        one.retries = Retries(failures=1, refusals=1, base=0.001)
        evaluation = evaluate(rows(*replies), metrics="llm_correct", judge=one, output_dir=tmp_path, run="r")
        assert server.count == 1 + 2 + 1 + 2 + 2 + 2 + 1 + 1 + 2  # what the server refuses is not asked again
    outcomes = [
        "scored", "unparsable", "refused", "unparsable", "timeout", "judge_error", "judge_error", "refused",
        "judge_error",
    ]  # fmt: skip
    assert column(evaluation, "verdict.outcome") == column(evaluation, "llm_correct.outcome") == outcomes
    assert column(evaluation, "verdict") == ["CORRECT", *[None] * 8]
    assert column(evaluation, "judged_by") == ["llm", *[None] * 8]
    scores = column(evaluation, "llm_correct")
    assert scores[0] == 1.0
    assert all(map(math.isnan, scores[1:]))
    assert evaluation["llm_correct"].n_not_scored == {"unparsable": 2, "refused": 2, "timeout": 1, "judge_error": 3}
    causes = evaluation.summary.judges["verdict"].causes
    assert causes["unparsable: cut off at max_tokens"] == causes["judge_error: HTTP 500: out of order"] == 1
    assert sum(causes.values()) == 8
    reasons = column(evaluation, "reason")
    assert reasons[2] == "I can't help with that"
    assert reasons[6] == "HTTP 400: too long"


@pytest.mark.parametrize("settings", [{}, {"repeats": 3}, {"wordings": 2}])
def test_what_can_not_be_read_is_shown(tmp_path: Path, settings: dict[str, Any]) -> None:
    replies = {"a": "Maybe", "b": "<think>Yes?</think>\x1b[31m" + "Well, " * 100, "c": " ", "d": "Yes"}
    evaluation = judged(rows(*replies), FakeProvider(lambda answer: replies[answer]), tmp_path, tries=1, **settings)
    maybe, long, empty, fine = column(evaluation, "reason")
    assert maybe == 'not a verdict: "Maybe"'
    assert long.startswith('not a verdict: "\\x1b[31mWell, Well, ')
    assert long.endswith('…"')
    assert len(long) < 230
    assert (empty, fine) == ('not a verdict: "an empty reply"', None)
    said = evaluation.summary.judges["verdict"]
    assert said.causes == {"unparsable: not a verdict": 3}  # counted together, with one example
    assert said.unreadable == {"unparsable: not a verdict": "Maybe"}


def test_no_secret_is_shown_with_what_can_not_be_read(tmp_path: Path) -> None:
    with JudgeServer(lambda request, number: Action(body=completion("your key is sk-very-secret"))) as server:
        one = Judge("m", server.url, "sk-very-secret", check=False, tries=1)
        evaluation = evaluate(rows("a"), metrics="llm_correct", judge=one, output_dir=tmp_path, run="r")
    (reason,) = column(evaluation, "reason")
    assert reason.startswith('not a verdict: "your key is ')
    assert "secret" not in reason
    assert "secret" not in (tmp_path / "r" / "summary.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("replies", "outcome", "verdict"),
    [
        (["Yes", "Yes", "No"], "scored", "CORRECT"),
        (["No", "hm", "No"], "scored", "WRONG"),
        (["Yes", "No", "hm"], "unparsable", None),
        (["Yes", "No"], "tied", None),
    ],
)
def test_repeats_are_counted(tmp_path: Path, replies: list[str], outcome: str, verdict: str | None) -> None:
    left = list(replies)
    provider = FakeProvider(lambda prompt: left.pop(0))
    evaluation = judged(rows("a"), provider, tmp_path, repeats=len(replies), tries=1, workers=1)
    assert (column(evaluation, "verdict.outcome"), column(evaluation, "verdict")) == ([outcome], [verdict])
    assert [sent["seed"] for sent in provider.parameters] == [1000 * number for number in range(len(replies))]


def test_the_flip_rate_is_over_what_was_judged_repeatedly(tmp_path: Path) -> None:
    provider = scripted(a=["Yes", "No", "Yes"], b="Yes", c="No", d=["Yes", "hm", "hm"])
    evaluation = judged(rows(*"abcd", "expected"), provider, tmp_path, repeats=3, tries=1)
    said = evaluation.summary.judges["verdict"]
    assert said.n_judged_repeatedly == 3
    assert said.flip_rate == pytest.approx(1 / 3)
    assert said.judged_by == {"exact": 1, "llm": 3}
    once = judged(rows("a"), scripted(a="Yes"), tmp_path).summary.judges["verdict"]
    assert (once.n_judged_repeatedly, once.flip_rate) == (0, None)


@pytest.mark.parametrize("reply", ["hm", ChatReply(None, "refusal", "no")], ids=["unreadable", "refused"])
def test_retry_failed_asks_anew_once(tmp_path: Path, reply: Any) -> None:
    calls_a_verdict = 1 if isinstance(reply, ChatReply) else 2
    provider = scripted(a=[*[reply] * (2 * calls_a_verdict), "Yes"], b="No")
    table = rows("a", "b", "a")
    assert column(judged(table, provider, tmp_path, tries=2), "verdict") == [None, "WRONG", None]
    assert len(provider.prompts) == calls_a_verdict + 1
    judged(table, provider, tmp_path, tries=2)  # without it, what is recorded counts
    assert len(provider.prompts) == calls_a_verdict + 1
    assert estimated(table, provider, tmp_path, tries=2)["calls"] == 0
    assert estimated(table, provider, tmp_path, tries=2, retry_failed=True)["calls"] == 1
    still = judged(table, provider, tmp_path, tries=2, retry_failed=True)
    assert column(still, "verdict") == [None, "WRONG", None]
    assert asked(provider).count("b") == 1  # a verdict that is there is not asked for again
    assert len(provider.prompts) == 2 * calls_a_verdict + 1  # and the same rows don't multiply calls
    assert len({sent["seed"] for sent in provider.parameters}) == 2 * calls_a_verdict  # the same would bring the same
    better = judged(table, provider, tmp_path, tries=2, retry_failed=True)
    assert column(better, "verdict") == ["CORRECT", "WRONG", "CORRECT"]
    assert len(provider.prompts) == 2 * calls_a_verdict + 2
    later = judged(table, provider, tmp_path, tries=2)  # reads the later reply
    assert column(later, "verdict") == ["CORRECT", "WRONG", "CORRECT"]
    assert len(provider.prompts) == 2 * calls_a_verdict + 2


def test_more_tries_go_on_where_fewer_ended(tmp_path: Path) -> None:
    provider = scripted(a=["hm", "hm", "Yes"])
    assert column(judged(rows("a"), provider, tmp_path, tries=1), "verdict") == [None]
    assert estimated(rows("a"), provider, tmp_path, tries=3)["calls"] == 1
    assert column(judged(rows("a"), provider, tmp_path, tries=3), "verdict") == ["CORRECT"]
    assert len(provider.prompts) == 3


def test_a_limit_of_calls_holds_over_several_commands(tmp_path: Path) -> None:
    table = rows(*(f"answer {number}" for number in range(10)))
    provider = fake()
    for made in (4, 4):  # what was spent before counts
        evaluation = judged(table, provider, tmp_path, max_calls=4, workers=1)
        assert len(provider.prompts) == made
        assert evaluation["llm_correct"].n_not_scored == {"skipped_budget": 6}
    evaluation = judged(table, provider, tmp_path, max_calls=7, workers=1)
    assert (len(provider.prompts), evaluation["llm_correct"].n_scored) == (7, 7)
    judged(rows("another"), provider, tmp_path, max_calls=4)  # other rows have a limit of their own
    assert len(provider.prompts) == 8
    assert judged(table, provider, tmp_path)["llm_correct"].n_scored == 10
    assert len(provider.prompts) == 11


def test_a_budget_is_never_overdrawn(tmp_path: Path) -> None:
    table = rows(*(f"answer {number}" for number in range(40)))
    provider = fake(price=Price(1.0, 2.0))
    alone = judged(table[:1], provider, tmp_path / "one")
    cost = alone.summary.judge_usage.cost_usd or 0.0
    assert cost > 0
    spent = []
    for _ in range(3):
        evaluation = judged(table, provider, tmp_path / "many", budget=30 * cost, max_tokens=5)
        spent.append(evaluation.summary.judge_usage.cost_usd or 0.0)
        assert evaluation["llm_correct"].n_not_scored["skipped_budget"] > 0
    assert 15 * cost < spent[0] <= spent[-1] <= 30 * cost


def test_an_estimate_is_what_is_then_asked(tmp_path: Path) -> None:
    table = [*rows("a", "b", "a", None, "expected"), *ROWS]
    table = [{**row, "qid": str(number)} for number, row in enumerate(table)]
    provider = fake("Yes", price=Price(1.0, 1.0))
    before = estimated(table, provider, tmp_path, repeats=2)
    assert (before["rows"], before["calls"], before["recorded"], before["check_calls"]) == (8, 8, 0, 0)
    assert not list(tmp_path.iterdir())
    evaluation = judged(table, provider, tmp_path, repeats=2)
    assert len(provider.prompts) == before["calls"]
    assert before["cost_usd"] == pytest.approx(evaluation.summary.judge_usage.cost_usd, rel=1)
    assert (estimated(table, provider, tmp_path, repeats=2) | {"cost_usd": 0})["calls"] == 0
    assert estimated(table, provider, tmp_path, repeats=3)["calls"] == 4


def test_an_estimate_counts_texts_of_two_columns_once(tmp_path: Path) -> None:
    table = rows(*(f"it is {number}" for number in range(50)))
    metrics = get_all(["llm_correct", "llm_correct[judge=cascade]"])
    provider = fake()
    estimate = planned(table, metrics, judge(provider), tmp_path)
    evaluation = evaluate(table, metrics=metrics, judge=judge(provider), output_dir=tmp_path)
    assert len(provider.prompts) == estimate["calls"] == 50
    assert column(evaluation, "verdict") == ["WRONG"] * 50


def test_a_judge_that_always_says_the_same_is_reported(tmp_path: Path) -> None:
    table = rows(*(f"answer {number}" for number in range(20)))
    said = judged(table, fake("Yes"), tmp_path).summary.judges["verdict"].warnings
    assert said == ["20 of the judge's 20 verdicts are the same: 'CORRECT'"]
    reply = lambda prompt: '{"verdict": "' + ("Yes" if "answer 1" in prompt else "No") + '", "reason": "one short"}'  # noqa: E731
    said = judged(table, fake(reply), tmp_path, reasons=True).summary.judges["verdict"].warnings
    assert said == ["20 of the judge's 20 reasons are the same: 'one short'"]
    assert judged(table[:19], fake("Yes"), tmp_path).summary.judges["verdict"].warnings == []


def test_the_probability_of_a_verdict_is_a_number(tmp_path: Path) -> None:
    sure = ChatReply("Yes", logprobs={"Yes": math.log(0.8), " no": math.log(0.1), "Maybe": math.log(0.1)})
    provider = scripted(a=sure, b="No", c=ChatReply("No", logprobs={"No": -0.01}))
    table = rows("a", "b", "expected", "c", None)
    evaluation = evaluate(table, metrics="llm_correct", judge=judge(provider), output_dir=tmp_path, run="r")
    values = column(evaluation, "verdict_probability")
    assert values[0] == pytest.approx(8 / 9)
    assert values[1:] == [None, None, 0.0, None]
    assert str(evaluation.rows.schema.field("verdict_probability").type) == "double"
    assert provider.parameters[0]["logprobs"] is True


def test_reasons_are_kept(tmp_path: Path) -> None:
    provider = fake('{"verdict": "No", "reason": "It is another city."}')
    evaluation = judged(ROWS, provider, tmp_path, reasons=True)
    assert column(evaluation, "reason") == ["It is another city.", None, "It is another city."]
    assert "response_format" in provider.parameters[0]


def test_a_journal_of_ones_own(tmp_path: Path) -> None:
    provider = fake()
    for folder in ("a", "b"):
        judged(ROWS, provider, tmp_path / folder, journal=tmp_path / "mine.sqlite")
    assert len(provider.prompts) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["mine.sqlite"]
