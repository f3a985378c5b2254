"""Verdicts that are asked for in two wordings."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from ragmeter import CRAGEvaluator, Evaluation, FakeProvider, Judge, LLMJudge, evaluate
from ragmeter.analysis.calls import calls_of_row
from ragmeter.effects.replies.journal import Journal
from ragmeter.engine.evaluation import add_metrics
from ragmeter.errors import UsageError
from ragmeter.judges.asking.judgement import Judgement, of_two_wordings
from ragmeter.judges.verdict import CORRECT, WRONG, verdict
from ragmeter.models.fake import FakeReply, fenced_texts
from ragmeter.models.port import ChatReply
from ragmeter.models.prices import Price
from ragmeter.registry import get_all
from ragmeter.runs.run import Run
from ragmeter.wording.judging import judge_lines
from tests.compat.crag.helpers import turn
from tests.judge_rows import judge, planned, rows

REPHRASED = "Judging by the expected answer"


def chance(probability: float) -> ChatReply:
    """The likelier verdict, with the probability of Yes."""
    return drawn("Yes" if probability > 0.5 else "No", probability)


def drawn(word: str, probability: float) -> ChatReply:
    """A verdict that was drawn at a temperature above 0, with the probability of Yes."""
    return ChatReply(word, logprobs={"Yes": math.log(probability), "No": math.log(1 - probability)})


def provider(first: FakeReply, second: FakeReply, **settings: Any) -> FakeProvider:
    """Replies by wording."""
    return FakeProvider(lambda prompt: second if REPHRASED in prompt else first, **settings)


def judged(folder: Path, asked: FakeProvider, n: int = 1, **settings: Any) -> Evaluation:
    answers = [f"answer {number}" for number in range(n)]
    own = judge(asked, **({"wordings": 2, "tries": 1} | settings))
    return evaluate(rows(*answers), metrics="llm_correct", judge=own, run="r", output_dir=folder, replace=True)


@pytest.mark.parametrize(
    ("first", "second", "expected", "probability"),
    [
        (chance(0.9), chance(0.8), CORRECT, 0.85),
        (chance(0.9), chance(0.3), CORRECT, 0.6),
        (chance(0.3), chance(0.9), CORRECT, 0.6),
        (chance(0.6), chance(0.2), WRONG, 0.4),
        (chance(0.2), chance(0.6), WRONG, 0.4),
        (chance(0.7), chance(0.35), CORRECT, 0.525),
        (chance(0.75), chance(0.25), WRONG, 0.5),  # even
        (chance(0.505), chance(0.506), CORRECT, 0.5055),  # both say so
        (drawn("Yes", 0.3), drawn("Yes", 0.3), CORRECT, 0.3),  # both say so, as in one wording and with repeats
        (drawn("Yes", 0.3), drawn("No", 0.3), WRONG, 0.3),
        ("Yes", "Yes", CORRECT, None),
        ("Yes", "No", WRONG, None),
        ("No", "Yes", WRONG, None),
        ("No", "No", WRONG, None),
        (chance(0.9), "No", WRONG, None),
        (chance(0.9), "Yes", CORRECT, 0.9),  # what one of them says of how sure it is, is kept
    ],
)
def test_one_verdict_from_two(
    tmp_path: Path, first: FakeReply, second: FakeReply, expected: str, probability: float | None
) -> None:
    table = judged(tmp_path, provider(first, second)).to_pandas()
    assert table["verdict"].tolist() == [expected]
    assert table["verdict_probability"].astype(float).tolist() == pytest.approx(
        [math.nan if probability is None else probability], nan_ok=True
    )


@pytest.mark.parametrize("settings", [{"wordings": 1}, {"wordings": 1, "repeats": 3}])
def test_the_verdict_is_what_the_model_said(tmp_path: Path, settings: dict[str, int]) -> None:
    table = judged(tmp_path, FakeProvider(drawn("Yes", 0.3)), **settings).to_pandas()
    assert table["verdict"].tolist() == [CORRECT]
    assert table["verdict_probability"].tolist() == pytest.approx([0.3])


def test_the_reason_is_of_the_wording_that_decided(tmp_path: Path) -> None:
    def reply(prompt: str) -> str:
        word, reason = ("No", "not said") if REPHRASED in prompt else ("Yes", "it is said")
        return f'{{"verdict": "{word}", "reason": "{reason}"}}'

    table = judged(tmp_path, FakeProvider(reply), reasons=True).to_pandas()
    assert table[["verdict", "reason"]].values.tolist() == [["WRONG", "not said"]]


@pytest.mark.parametrize(("first", "second"), [("Yes", "Hm"), ("Hm", "Yes"), ("Hm", "Hm")])
def test_a_wording_without_a_verdict_leaves_the_row_without_one(tmp_path: Path, first: str, second: str) -> None:
    result = judged(tmp_path, provider(first, second))["llm_correct"]
    assert dict(result.n_not_scored) == {"unparsable": 1}


def test_both_see_the_same_texts_in_another_order(tmp_path: Path) -> None:
    asked = provider("Yes", "Yes")
    judged(tmp_path, asked)
    first, second = sorted(asked.prompts, key=lambda prompt: REPHRASED in prompt)
    assert fenced_texts(first) == fenced_texts(second)
    assert fenced_texts(first)["answer"] == "answer 0"
    assert first.index("answer 0") > first.index("expected")
    assert second.index("answer 0") < second.index("expected answer")


def test_the_flip_rate_says_how_often_they_differ(tmp_path: Path) -> None:
    def reply(prompt: str) -> str:
        return "No" if REPHRASED in prompt and fenced_texts(prompt)["answer"] == "answer 1" else "Yes"

    summary = judged(tmp_path, FakeProvider(reply), 4).summary.judges["verdict"]
    assert (summary.flip_rate, summary.n_judged_repeatedly) == (0.25, 4)


def test_with_repeats_each_wording_has_its_majority(tmp_path: Path) -> None:
    first, second = iter(["Yes", "No", "Yes"]), iter(["Yes", "Yes", "No"])
    asked = FakeProvider(lambda prompt: next(second if REPHRASED in prompt else first))
    table = judged(tmp_path, asked, repeats=3, workers=1).to_pandas()
    assert table["verdict"].tolist() == ["CORRECT"]
    assert len(asked.prompts) == 6


def test_replies_of_the_first_wording_are_not_paid_for_again(tmp_path: Path) -> None:
    asked = provider("Yes", "No")
    judged(tmp_path, asked, 3, wordings=1)
    judged(tmp_path, asked, 3)
    assert [REPHRASED in prompt for prompt in asked.prompts] == [False] * 3 + [True] * 3
    judged(tmp_path, asked, 3)
    assert len(asked.prompts) == 6


def test_the_estimate_counts_both(tmp_path: Path) -> None:
    asked = provider("Yes", "Yes", price=Price(1.0, 1.0))
    metrics = get_all(["llm_correct"])

    def estimate(wordings: int) -> dict[str, Any]:
        own = judge(asked, wordings=wordings)
        return planned(rows("a", "b", "a"), metrics, own, tmp_path)

    once, twice = estimate(1), estimate(2)
    assert (once["calls"], twice["calls"]) == (2, 4)
    assert 1.8 < twice["cost_usd"] / once["cost_usd"] < 2.2
    evaluate(rows("a"), metrics="llm_correct", judge=judge(asked), output_dir=tmp_path, run="r")
    assert (estimate(1)["calls"], estimate(2)["calls"]) == (1, 3)


def test_recorded_replies_say_the_same(tmp_path: Path) -> None:
    asked = provider(chance(0.9), chance(0.4))
    own = judge(asked, wordings=2)
    evaluate(rows("a"), metrics="llm_correct", judge=own, output_dir=tmp_path, run="r")
    texts = {"question": "q", "reference": "expected", "answer": "a"}
    with Journal(tmp_path / "judge.journal.sqlite") as journal:
        judgement = own.on(verdict).recorded_judgement(journal, texts)
        assert judgement is not None
        assert (judgement.verdict, judgement.verdicts) == (CORRECT, (CORRECT, WRONG))
        assert own.on(verdict).n_recorded_repeats(journal, texts) == 1
        assert own.on(verdict).recorded_judgement(journal, texts | {"answer": "b"}) is None


def test_a_first_token_of_another_word_says_nothing(tmp_path: Path) -> None:
    thinking = ChatReply("<think>hm</think>No", logprobs={"<think>": -0.0001, "Yes": -14.0})
    table = judged(tmp_path, provider(thinking, chance(0.9))).to_pandas()
    assert table["verdict"].tolist() == ["WRONG"]


def test_metrics_without_a_second_wording(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="wordings has no effect on these metrics"):
        evaluate(rows("a"), metrics="llm_grade", judge=judge(provider("5", "5"), wordings=2), output_dir=tmp_path)


def test_a_damaged_manifest_shows_the_calls_of_the_first_wording(tmp_path: Path) -> None:
    run = judged(tmp_path, provider("Yes", "No"))
    assert run.folder is not None
    path = tmp_path / "r" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["judged_columns"]["verdict"]["rephrased_calls"] = {"calls": 7}
    path.write_text(json.dumps(manifest), encoding="utf-8")
    assert [call.reply for call in calls_of_row(Run(tmp_path / "r"), 0)] == ["Yes"]


def test_the_calls_of_a_row_are_those_of_both(tmp_path: Path) -> None:
    run = judged(tmp_path, provider("Yes", "No"))
    assert run.folder is not None
    calls = calls_of_row(run.folder, 0)
    assert [(REPHRASED in call.messages[1][1], call.reply, call.changed) for call in calls] == [
        (False, "Yes", False),
        (True, "No", False),
    ]


def test_a_run_in_one_wording_takes_no_verdicts_in_two(tmp_path: Path) -> None:
    asked = provider("Hm", "Yes")
    judged(tmp_path, asked, wordings=1)
    with pytest.raises(UsageError, match="wordings"):
        add_metrics(tmp_path / "r", "llm_correct", judge=judge(asked, wordings=2), retry_failed=True)


def test_a_budget_stops_between_the_wordings(tmp_path: Path) -> None:
    asked = provider("Yes", "Yes")
    result = judged(tmp_path, asked, 3, max_calls=3, workers=1)["llm_correct"]
    assert len(asked.prompts) == 3
    assert result.n_total == 3
    assert result.n_not_scored["skipped_budget"] >= 1


def test_conversations_are_judged_in_two_wordings() -> None:
    asked = provider("Yes", "No")
    evaluator = CRAGEvaluator(judge=judge(asked, wordings=2))
    results, _ = evaluator.evaluate_agent_responses([turn("s", 0, "Paris", "It is Paris")])
    assert len(asked.prompts) == 2
    assert [row["is_correct"] for row in results["all"]] == [False]


def test_one_answer_at_once() -> None:
    asked = provider(chance(0.9), chance(0.4))
    judgement = LLMJudge(provider=asked, wordings=2).evaluate("q", "Paris", "Rome")
    assert (judgement.verdict, judgement.verdicts) == (CORRECT, (CORRECT, WRONG))


def test_a_failed_call_of_either_wording_is_the_outcome() -> None:
    scored, failed = Judgement("scored", CORRECT, verdicts=(CORRECT,)), Judgement("timeout", cause="60 s")
    for pair in ((scored, failed), (failed, scored)):
        joined = of_two_wordings(*pair, in_doubt=WRONG)
        assert (joined.outcome, joined.verdict, joined.cause) == ("timeout", None, "60 s")


@pytest.mark.parametrize(
    ("first", "second", "expected", "calls"),
    [
        (chance(0.95), chance(0.2), CORRECT, 1),
        (chance(0.05), chance(0.9), WRONG, 1),
        (chance(0.89), chance(0.3), CORRECT, 2),
        (chance(0.55), chance(0.3), WRONG, 2),
        (chance(0.11), chance(0.8), WRONG, 2),
        ("Yes", "No", CORRECT, 1),  # a server without log-probabilities
        ("Hm", "Yes", None, 1),
        (chance(0.6), "Hm", None, 2),
    ],
)
def test_without_a_number_the_second_is_asked_where_the_first_is_in_doubt(
    tmp_path: Path, first: FakeReply, second: FakeReply, expected: str | None, calls: int
) -> None:
    asked = provider(first, second)
    run = judged(tmp_path, asked, wordings=None)
    assert run.rows["verdict"].to_pylist() == [expected]
    assert [REPHRASED in prompt for prompt in asked.prompts] == [False, True][:calls]
    judged(tmp_path, asked, wordings=None)
    assert len(asked.prompts) == calls  # all of it is recorded


def by_answer(prompt: str) -> ChatReply:
    """In doubt about the first answer, sure of the others; the second wording says no."""
    if REPHRASED in prompt:
        return chance(0.2)
    return chance(0.6 if fenced_texts(prompt)["answer"] == "answer 0" else 0.99)


def test_what_is_in_doubt_is_counted(tmp_path: Path) -> None:
    asked = FakeProvider(by_answer)
    run = judged(tmp_path, asked, 4, wordings=None)
    assert run.to_pandas()["verdict"].tolist() == [WRONG, CORRECT, CORRECT, CORRECT]
    summary = run.summary.judges["verdict"]
    assert (summary.flip_rate, summary.n_judged_repeatedly) == (1.0, 1)
    assert run.manifest.judged_columns["verdict"]["wordings"] == "1 or 2"
    assert run.folder is not None
    assert [len(calls_of_row(run.folder, row)) for row in range(4)] == [2, 1, 1, 1]


def test_the_estimate_says_what_comes_where_it_is_in_doubt(tmp_path: Path) -> None:
    asked = FakeProvider(by_answer)
    metrics, answers = get_all(["llm_correct"]), rows(*(f"answer {number}" for number in range(4)))

    def calls(retry_first: bool = False) -> tuple[int, int]:
        own = judge(asked, wordings=1) if retry_first else judge(asked)
        estimate = planned(answers, metrics, own, tmp_path)
        return estimate["calls"], estimate.get("if_in_doubt", 0)

    assert calls() == (4, 4)
    evaluate(answers, metrics="llm_correct", judge=judge(asked, wordings=1), output_dir=tmp_path, run="r")
    assert calls() == (1, 0)  # of the recorded replies one is in doubt
    evaluate(answers, metrics="llm_correct", judge=judge(asked), output_dir=tmp_path, run="s")
    assert calls() == (0, 0)
    assert len(asked.prompts) == 5


@pytest.mark.parametrize("limit", [3, 5, 8])
def test_a_limit_takes_no_verdict_away(tmp_path: Path, limit: int) -> None:
    """Where no call is left for the second wording, the first one's verdict stands."""
    asked = FakeProvider(lambda prompt: chance(0.3 if REPHRASED in prompt else 0.6))
    run = judged(tmp_path, asked, 4, wordings=None, max_calls=limit)
    first = sum(REPHRASED not in prompt for prompt in asked.prompts)
    assert len(asked.prompts) == limit
    assert run["llm_correct"].n_scored == min(first, 4)
    halves = first - (limit - first)
    assert (run.summary.judges["verdict"].n_without_second_wording or 0) == halves
    lines = [line for line, _ in judge_lines(run.summary, run.manifest) if "on one wording" in line]
    assert [line.split()[0] for line in lines] == ([str(halves)] if halves else [])
    whole = judged(tmp_path, asked, 4, wordings=None, max_calls=100)
    assert len(asked.prompts) == 8
    assert not whole.summary.judges["verdict"].n_without_second_wording


def test_the_check_counts_both_wordings(tmp_path: Path) -> None:
    """Before: a judge that is in doubt took all of a limit for the built-in cases, and no row was scored."""
    asked = FakeProvider(lambda prompt: chance(0.6))
    own = judge(asked, check=True, max_calls=60)
    run = evaluate(rows("a", "b"), metrics="llm_correct", judge=own, run="r", output_dir=tmp_path)
    assert "too low" in (run.summary.judge_check.skipped or "")
    assert run["llm_correct"].n_scored == 2
    plan = judge(asked, check=True)
    estimate = planned(rows("c"), ["llm_correct"], plan, tmp_path)
    assert (estimate["calls"], estimate["check_calls"], estimate["if_in_doubt"]) == (1, 24, 25)


def test_a_cascade_plans_with_one_call_a_row() -> None:
    texts = {"question": "q", "reference": "expected", "answer": "a"}
    costs = [
        judge(provider("Yes", "Yes", price=Price(1.0, 1.0)), wordings=number).on(verdict).cost(texts)
        for number in (None, 1, 2)
    ]
    assert costs[0] == costs[1]
    assert 1.8 < costs[2] / costs[1] < 2.2


@pytest.mark.parametrize(
    ("before", "now", "hint"),
    [
        (None, 1, "without wordings"),
        (None, 2, "without wordings"),
        (1, 2, "with wordings=1"),
        (2, None, "with wordings=2"),
    ],
)
def test_the_hint_names_how_the_run_was_asked(tmp_path: Path, before: int | None, now: int | None, hint: str) -> None:
    asked = provider("Yes", "Yes")
    judged(tmp_path, asked, wordings=before)
    with pytest.raises(UsageError, match="wordings") as error:
        add_metrics(tmp_path / "r", "llm_correct", judge=judge(asked, wordings=now), retry_failed=True)
    assert hint in str(error.value.hint)


def test_a_second_wording_of_an_earlier_version_can_t_be_asked_for(tmp_path: Path) -> None:
    asked = provider("Yes", "Yes")
    judged(tmp_path, asked, wordings=2)
    path = tmp_path / "r" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["judged_columns"]["verdict"]["rephrased_prompt"] = "another"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(UsageError, match="rephrased_prompt") as error:
        add_metrics(tmp_path / "r", "llm_correct", judge=judge(asked, wordings=2), retry_failed=True)
    assert "as it was asked" not in str(error.value.hint)


def test_repeats_are_in_doubt_together(tmp_path: Path) -> None:
    """By the mean of the first wording's repeats: a sure one and a doubtful one are sure here, and nothing is asked."""
    replies = iter([chance(0.99), chance(0.85), chance(0.99)])
    asked = FakeProvider(lambda prompt: chance(0.2) if REPHRASED in prompt else next(replies))
    run = judged(tmp_path, asked, wordings=None, repeats=3, workers=1)
    assert run.to_pandas()["verdict"].tolist() == [CORRECT]
    assert len(asked.prompts) == 3
    own = judge(asked, repeats=3)
    with Journal(tmp_path / "judge.journal.sqlite") as journal:
        assert (
            own.on(verdict).n_recorded_repeats(
                journal, {"question": "q", "reference": "expected", "answer": "answer 0"}
            )
            == 3
        )


def test_a_run_of_an_earlier_version_goes_on_as_it_was_asked(tmp_path: Path) -> None:
    asked = provider("Hm", "Yes")
    judged(tmp_path, asked, wordings=1)
    with pytest.raises(UsageError, match="wordings") as error:
        add_metrics(tmp_path / "r", "llm_correct", judge=judge(asked), retry_failed=True)
    assert "with wordings=1" in str(error.value.hint)
    add_metrics(tmp_path / "r", "llm_correct", judge=judge(asked, wordings=1), retry_failed=True)


def test_reasons_are_asked_for_once(tmp_path: Path) -> None:
    asked = FakeProvider('{"verdict": "Yes", "reason": "it is"}')
    run = judged(tmp_path, asked, wordings=None, reasons=True)
    assert len(asked.prompts) == 1
    assert run.manifest.judged_columns["verdict"]["wordings"] == 1


@pytest.mark.parametrize("wordings", [0, 3])
def test_there_are_two_at_most(wordings: int) -> None:
    with pytest.raises(UsageError, match="wordings must be 1 or 2"):
        Judge("m", wordings=wordings)


def test_words_of_ones_own_are_one_wording(tmp_path: Path) -> None:
    prompt = tmp_path / "p.txt"
    prompt.write_text("{answer}?")
    with pytest.raises(UsageError, match="ragmeter's own words"):
        Judge("m", wordings=2, prompt=prompt)
