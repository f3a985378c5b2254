"""Several judges of the same answers, and their verdict together."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from ragmeter import FakeProvider, Judge, add_metrics, evaluate
from ragmeter.engine.judging.setup import JudgeSetup
from ragmeter.engine.metric_choice import choose_metrics
from ragmeter.engine.plan import Plan
from ragmeter.errors import UsageError
from ragmeter.io.data import Data
from ragmeter.judges.jury import jury_agreement, jury_correct
from ragmeter.models.prices import Price
from ragmeter.naming import parse
from ragmeter.registry import get
from tests.embedders.pair_models import write_pair_model

A, B, C = "CORRECT", "WRONG", None
ROWS = [
    {"qid": "1", "question": "Capital of France?", "reference": "Paris", "answer": "It is Paris."},
    {"qid": "2", "question": "Capital of Italy?", "reference": "Rome", "answer": "It is Milan."},
    {"qid": "3", "question": "Capital of Spain?", "reference": "Madrid", "answer": "Madrid or so, perhaps."},
    {"qid": "4", "question": "Capital of Peru?", "reference": "Lima", "answer": None},
]


def judge(name: str, reply: object, **more: object) -> Judge:
    return Judge(provider=FakeProvider(reply, model=name, price=Price(1, 1)), check=False, **more)  # type: ignore[arg-type]


def votes(*ballots: tuple[str | None, ...]) -> list[list[str | None]]:
    """The columns of the jurors, from a ballot for each row."""
    return [list(column) for column in zip(*ballots, strict=True)]


@pytest.mark.parametrize(
    ("ballot", "joint", "agreement"),
    [
        ((A, A, A), 1, 1),
        ((A, A, B), 1, 1 / 3),
        ((B, A, B), 0, 1 / 3),
        ((A, A, C), 1, 1),
        ((A, B, C), math.nan, 0),
        ((A, C, C), math.nan, math.nan),
        ((C, C, C), math.nan, math.nan),
    ],
)
def test_the_majority_of_those_with_a_verdict_counts(
    ballot: tuple[str | None, ...], joint: float, agreement: float
) -> None:
    columns = votes(ballot)
    assert jury_correct.with_settings(jurors="x+y+z")(*columns).tolist() == pytest.approx([joint], nan_ok=True)
    assert jury_agreement.with_settings(jurors="x+y+z")(*columns).tolist() == pytest.approx([agreement], nan_ok=True)


def test_weights_are_log_odds_of_what_each_vote_says() -> None:
    metric = jury_correct.with_settings(jurors="x+y", weights="0.5/1/-2")
    assert metric(*votes((A, A), (A, B), (B, B), (C, B), (B, C))).tolist() == [0, 1, 1, 1, 0]
    with pytest.raises(UsageError, match="3 numbers with / between them, got '1/2'"):
        jury_correct.with_settings(jurors="x+y", weights="1/2")(*votes((A, A)))


def test_the_printed_name_gives_an_equal_metric() -> None:
    for jurors in ("gpt-4o+anthropic:claude-x+offline", "a b+Qwen/Qwen2.5", "encoder:models/nli+m@2"):
        metric = jury_correct.with_settings(jurors=jurors, weights="0.5/1/-1/0.2")
        assert get(metric.name) == metric
        assert parse(metric.name).settings["jurors"] == jurors


def test_each_juror_has_its_column_and_its_costs(tmp_path: Path) -> None:
    first = judge("strict", "No", jurors=[judge("lenient", "Yes"), "offline"])
    evaluation = evaluate(ROWS, metrics="llm_correct", judge=first, output_dir=tmp_path, run="r")
    jury = "jury_correct[jurors=strict+lenient+offline]"
    assert list(evaluation.summary.metrics) == [
        jury,
        "jury_agreement[jurors=strict+lenient+offline]",
        "llm_correct[juror=strict]",
        "llm_correct[juror=lenient]",
    ]
    rows = evaluation.rows
    assert rows["verdict[juror=strict]"].to_pylist() == ["WRONG", "WRONG", "WRONG", None]
    assert rows["verdict[juror=lenient]"].to_pylist() == ["CORRECT", "CORRECT", "CORRECT", None]
    assert rows["verdict[judge=offline]"].to_pylist()[:2] == ["CORRECT", "WRONG"]
    assert rows[jury].to_pylist()[:2] == [1, 0]
    assert evaluation.summary.metrics[jury].n_not_scored == {"no_quorum": 1}
    judges = evaluation.summary.judges
    assert [judges[f"verdict[juror={name}]"].usage.calls for name in ("strict", "lenient")] == [3, 3]
    assert evaluation.summary.judge_usage is not None
    assert evaluation.summary.judge_usage.calls == 6
    assert all(judges[name].usage.cost_usd for name in judges)
    assert evaluation.manifest.judged_columns["verdict[juror=lenient]"]["model"] == "lenient"


def test_a_juror_whose_replies_cannot_be_read_has_no_vote(tmp_path: Path) -> None:
    first = judge("a", "Yes", jurors=[judge("b", "hm", tries=1), judge("c", "Yes")])
    evaluation = evaluate(ROWS[:1], metrics="jury_correct", judge=first, output_dir=tmp_path)
    assert evaluation["jury_correct"].mean == 1
    assert evaluation.rows["verdict[juror=b].outcome"].to_pylist() == ["unparsable"]


def test_replies_are_in_the_journal_and_a_juror_is_added_without_asking_the_others(tmp_path: Path) -> None:
    two = judge("a", "Yes", jurors=[judge("b", "Yes")])
    evaluate(ROWS, metrics="jury_correct", judge=two, output_dir=tmp_path, run="r")
    b, c = two.jurors["b"], judge("c", "No")
    assert b is not None
    three = Judge(provider=two.provider, check=False, jurors=[b, c])
    evaluation = add_metrics("r", "jury_correct", judge=three, output_dir=tmp_path)
    assert evaluation["jury_correct[jurors=a+b+c]"].mean == 1
    providers = [asked.provider for asked in (two, b, c)]
    assert [len(provider.prompts) for provider in providers if isinstance(provider, FakeProvider)] == [3, 3, 3]


def test_what_is_no_jury_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'a' are two jurors"):
        judge("a", "Yes", jurors=[judge("a", "No")])
    with pytest.raises(UsageError, match="has a \\+ in it"):
        judge("a+b", "Yes", jurors=["offline"])
    with pytest.raises(UsageError, match="a jury has two different judges or more"):
        evaluate(ROWS, metrics="jury_correct", judge=judge("a", "Yes"), output_dir=tmp_path)
    with pytest.raises(UsageError, match="nobody is called 'z'"):
        evaluate(ROWS, metrics="llm_correct[juror=z]", judge=judge("a", "Yes", jurors=["offline"]), output_dir=tmp_path)


def test_an_estimate_has_a_part_for_each_juror(tmp_path: Path) -> None:
    first = judge("a", "Yes", max_calls=4, jurors=[judge("b", "Yes"), "offline"])
    metrics = choose_metrics("llm_correct", jurors=list(first.jurors))
    plan = Plan.of(Data.open(ROWS), metrics, JudgeSetup(first, tmp_path))
    estimate = plan.estimate()
    assert estimate["rows"] == 4
    assert estimate["calls"] == 6
    assert {name: own["calls"] for name, own in estimate["jurors"].items()} == {"a": 3, "b": 3}
    assert (estimate["calls_left"], estimate["limited_by"]) == (4, "max_calls")
    assert estimate["cost_usd"] == pytest.approx(sum(own["cost_usd"] for own in estimate["jurors"].values()))


def test_a_classifier_is_a_juror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says whether the answer, read with its question, implies one of the references."""
    write_pair_model(tmp_path / "nli")
    monkeypatch.chdir(tmp_path)
    rows = [
        {"question": "Where?", "reference": ["The tower is in Rome.", "Paris"], "answer": answer}
        for answer in ("The tower is in Paris.", "It is red.")
    ]
    first = judge("a", "Yes", jurors=["offline", "encoder:nli"])
    evaluation = evaluate(rows, metrics="llm_correct", judge=first, output_dir=tmp_path)
    column = evaluation.rows["verdict[judge=encoder,support_model=nli]"].to_pylist()
    assert column == ["CORRECT", "WRONG"]
    assert evaluation["jury_correct"].n_scored == 2
    with pytest.raises(UsageError, match="needs a support model"):
        evaluate(rows, metrics="llm_correct", judge=judge("a", "Yes", jurors=["encoder"]), output_dir=tmp_path)
