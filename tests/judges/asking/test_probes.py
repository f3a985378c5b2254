"""A judge is tried before it is trusted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ragmeter import CRAGEvaluator, Evaluation, Judge, evaluate
from ragmeter.documents.judging import FEWEST_RIGHT
from ragmeter.effects.limits.caller import GiveUp
from ragmeter.errors import UsageError
from ragmeter.judges.asking.probes import PROBES
from ragmeter.judges.verdict import CORRECT
from ragmeter.metrics.conversation import is_same_answer
from ragmeter.models.fake import FakeProvider, FakeReply, fenced_texts
from ragmeter.models.prices import Price
from ragmeter.registry import get_all
from ragmeter.stats.distributions import binomial_cdf
from ragmeter.wording.judging import WARNING, judge_lines
from tests.compat.crag.helpers import turn
from tests.judge_rows import asked, fake, files, judge, planned, rows

KNOWN = {(probe.question, probe.answer): probe.verdict for probe in PROBES}


def expert(wrong: int = 0, reply: FakeReply | None = None) -> FakeProvider:
    """Knows the cases but for the first few, of which it says the opposite, or `reply`; of all else it says Yes."""
    missed = {(probe.question, probe.answer) for probe in PROBES[:wrong]}

    def say(prompt: str) -> FakeReply:
        texts = fenced_texts(prompt)
        case = (texts["question"], texts["answer"])
        if case in missed and reply is not None:
            return reply
        return "Yes" if (KNOWN.get(case, CORRECT) == CORRECT) != (case in missed) else "No"

    return FakeProvider(say, price=Price(1.0, 1.0))


def tried(provider: FakeProvider, folder: Path, n: int = 1, **settings: Any) -> Evaluation:
    one = Judge(provider=provider, retries=0, **settings)
    return evaluate(
        rows(*map(str, range(n))), metrics="llm_correct", judge=one, output_dir=folder, run="r", replace=True
    )


def test_the_cases() -> None:
    assert len(PROBES) == 24
    assert Counter(probe.verdict for probe in PROBES) == {"CORRECT": 10, "WRONG": 14}
    kinds = {"right", "paraphrased", "another language", "incomplete", "wrong", "negated", "two answers", "injection"}
    assert kinds <= {probe.kind for probe in PROBES}
    assert not any(is_same_answer(probe.answer, probe.reference) for probe in PROBES)
    assert len(KNOWN) == 24


def test_the_line_is_what_chance_reaches() -> None:
    """A coin gets 17 of 24 or more in 3.2% of all tries, 16 or more in 7.6%; one that says no to all gets 14."""
    assert FEWEST_RIGHT == 17
    by_coin = next(right for right in range(len(PROBES)) if binomial_cdf(right, len(PROBES), 0.5) >= 0.95)
    always_the_same = max(Counter(probe.verdict for probe in PROBES).values())
    assert max(by_coin, always_the_same) + 1 == FEWEST_RIGHT


@pytest.mark.parametrize(("wrong", "right"), [(0, 24), (1, 23), (7, 17)])
def test_a_judge_that_knows_enough(tmp_path: Path, wrong: int, right: int) -> None:
    provider = expert(wrong)
    check = tried(provider, tmp_path).summary.judge_check
    assert (check.right, check.n, check.skipped, len(check.missed)) == (right, 24, None, wrong)
    assert len(provider.prompts) == 25
    assert tried(provider, tmp_path).summary.judge_check == check
    assert len(provider.prompts) == 25  # one that was tried before costs nothing


@pytest.mark.parametrize("always", ["Yes", "No", "hm"])
def test_a_judge_that_does_not_stops_before_any_row(tmp_path: Path, always: str) -> None:
    provider = fake(always)
    with pytest.raises(
        UsageError, match=r"fake: this judge got (10|14|0) of 24 built-in cases right, and 17 are"
    ) as caught:
        tried(provider, tmp_path, tries=1)
    assert "Judge(check=False)" in caught.value.hint
    missed = [probe for probe in PROBES if always == "hm" or (probe.verdict == CORRECT) != (always == "Yes")]
    assert [repr(probe.answer) in str(caught.value) for probe in missed[:6]] == [True] * 5 + [False]
    assert f" and {len(missed) - 5} more" in str(caught.value)
    assert (always == "hm") == ('24 have no verdict, unparsable: not a verdict: "hm"' in str(caught.value))
    assert len(asked(provider)) == 24
    assert files(tmp_path) == ["judge.journal.sqlite"]
    trial = tried(provider, tmp_path, tries=1, check=False)  # to go on all the same
    assert trial.summary.judge_check is None
    assert len(provider.prompts) == 25


def test_calls_that_failed_are_told_from_wrong_verdicts(tmp_path: Path) -> None:
    provider = expert(8, GiveUp("judge_error", "HTTP 400: out of order"))
    with pytest.raises(UsageError, match=r"16 of 24.*8 have no verdict, judge_error: HTTP 400: out of order"):
        tried(provider, tmp_path)


@pytest.mark.parametrize(("wrong", "is_warned"), [(4, False), (5, True), (6, True), (7, True)])
def test_between_chance_and_a_good_judge_it_warns_and_goes_on(
    tmp_path: Path, wrong: int, is_warned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    trial = tried(expert(wrong), tmp_path)
    assert trial["llm_correct"].n_scored == 1
    said, (line, kind) = capsys.readouterr().err, next(judge_lines(trial.summary, trial.manifest))
    caution = "that is more than chance (16), and fewer than the 20 of a judge to rely on"
    assert (caution in said, caution in line, kind == WARNING) == (is_warned,) * 3
    assert all(repr(probe.answer) in line for probe in PROBES[: min(wrong, 5)])
    assert (f"and {wrong - 5} more" in line) == (wrong > 5)


@pytest.mark.parametrize(
    ("limits", "is_tried"),
    [
        ({"max_calls": 47, "wordings": 1}, False),
        ({"max_calls": 48, "wordings": 1}, True),
        ({"max_calls": 95}, False),  # it may be in doubt, and asked twice
        ({"max_calls": 96}, True),
        ({"budget": 0.001, "max_tokens": 1}, False),
        ({"budget": 1.0}, True),
    ],
)
def test_where_little_may_be_spent_the_rows_come_first(tmp_path: Path, limits: dict[str, Any], is_tried: bool) -> None:
    provider = expert()
    metrics = get_all("llm_correct")
    estimate = planned(rows("0"), metrics, Judge(provider=provider, **limits), tmp_path)
    trial = tried(provider, tmp_path, **limits)
    check = trial.summary.judge_check
    assert len(provider.prompts) == estimate["calls"] + estimate["check_calls"] == (25 if is_tried else 1)
    assert (check.skipped is None, check.n) == (is_tried, 24 if is_tried else 0)
    assert is_tried or "even where the check is asked for" in (check.skipped or "")
    assert trial["llm_correct"].n_scored == 1


def test_a_judge_of_other_words_is_another(tmp_path: Path) -> None:
    provider = expert()
    tried(provider, tmp_path)
    tried(provider, tmp_path, temperature=0.5)
    assert len(provider.prompts) == 50


def test_own_words_are_tried_if_the_cases_have_what_they_show(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    table = [{"qid": "1", "question": "q", "answer": "a", "reference": "b", "domain": "d"}]
    for words, calls, why_not in (
        ("{question}\n{reference}\n{answer}", 25, None),
        ("{domain}\n{reference}\n{answer}", 1, "its words show {domain}, which the cases don't have"),
        ("{question}\n{answer}", 1, "its words don't show {reference}, and the cases can't be decided without it"),
    ):
        prompt.write_text(words, encoding="utf-8")
        provider = expert() if calls > 1 else fake("Yes")
        own = Judge(provider=provider, prompt=prompt)
        estimate = planned(table, "llm_correct", own, tmp_path)
        assert estimate["check_calls"] == calls - 1
        evaluation = evaluate(table, metrics="llm_correct", judge=own, output_dir=tmp_path)
        assert len(provider.prompts) == calls
        assert evaluation.summary.judge_check.skipped == why_not


def test_own_words_may_be_the_reason_for_a_failed_check(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("{question}\n{reference}\n{answer}\nPolite?", encoding="utf-8")
    with pytest.raises(UsageError, match="10 of 24") as caught:
        tried(fake("Yes"), tmp_path, prompt=prompt)
    assert caught.value.hint.startswith("your own words may be the reason")
    assert caught.value.hint.endswith("Judge(check=False)")


def test_grades_have_no_known_cases(tmp_path: Path) -> None:
    provider = fake("3")
    evaluation = evaluate(rows("a"), metrics="llm_grade", judge=Judge(provider=provider), output_dir=tmp_path)
    assert (len(provider.prompts), evaluation.summary.judge_check) == (1, None)


def test_repeats_are_tried_as_they_are_asked(tmp_path: Path) -> None:
    provider = expert()
    tried(provider, tmp_path, repeats=3)
    assert len(provider.prompts) == 3 * 25


def test_conversations_are_judged_by_a_judge_that_was_tried(tmp_path: Path) -> None:
    turns = [turn("a", 0, "red", "it is red")]
    for provider, is_good in ((fake("Yes"), False), (expert(), True)):
        made = CRAGEvaluator(judge=judge(provider, check=True), journal=tmp_path / "journal.sqlite")
        if is_good:
            made.evaluate_agent_responses(turns)
            assert made.report is not None
            assert made.report.summary["judge_check"]["right"] == 24
        else:
            with pytest.raises(UsageError, match="10 of 24"):
                made.evaluate_agent_responses(turns)
        assert ("it is red" in asked(provider)) == is_good


@pytest.mark.parametrize("wordings", [None, 1, 2])
def test_the_journal_of_a_judge_that_has_got_no_further_is_not_reported(
    tmp_path: Path, wordings: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    provider = expert()
    provider_down = {"rows": True}
    knows = provider._reply

    def say(prompt: str) -> FakeReply:
        is_case = (fenced_texts(prompt)["question"], fenced_texts(prompt)["answer"]) in KNOWN
        return knows(prompt) if is_case or not provider_down["rows"] else GiveUp("judge_error", "HTTP 500")

    one = Judge(provider=FakeProvider(say), retries=0, journal=tmp_path / "j.sqlite", wordings=wordings)
    for _ in range(2):
        evaluation = evaluate(rows("a"), metrics="llm_correct", judge=one, output_dir=tmp_path)
        assert not evaluation.manifest.judging.journal_notice
    turns = CRAGEvaluator(judge=one, journal=tmp_path / "j.sqlite")
    turns.evaluate_agent_responses([turn("s", 0, "gold", "it is gold")])
    assert capsys.readouterr().err == ""
    provider_down["rows"] = False
    evaluate(rows("a"), metrics="llm_correct", judge=one, output_dir=tmp_path)
    evaluate(rows("b"), metrics="llm_correct", judge=one, output_dir=tmp_path)
    assert "only those about built-in cases are used: the others were given to " in capsys.readouterr().err
