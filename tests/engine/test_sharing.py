"""The cascade over the rows of any run: the same threshold, the same rows asked, the same figures as conversations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragmeter import CRAGEvaluator, Evaluation, add_metrics, evaluate
from ragmeter.errors import UsageError
from ragmeter.judges.asking.cascade import Cascade
from ragmeter.models.fake import FakeProvider
from ragmeter.models.prices import Price
from ragmeter.wording.judging import judge_lines
from tests.compat.crag.helpers import turn
from tests.judge_rows import asked, fake, judge

NAME = "llm_correct[judge=cascade]"
_CITIES = ("Paris", "Rome", "Bonn", "Oslo", "Paris and Rome", "none", "the city of light", "PARIS!", "Paris")
TABLE: list[dict[str, Any]] = [
    {
        "qid": f"s{number}-0",
        "question": "which city is it",
        "answer": f"I would say that it is {_CITIES[number % len(_CITIES)]}, number {number}."
        if number % 9
        else "Paris, France",
        "reference": ["Paris", "Paris, France"],
    }
    for number in range(120)
]


def shared(provider: FakeProvider, folder: Path, cascade: Cascade | None, **settings: Any) -> Evaluation:
    one = judge(provider, cascade=cascade, **settings)
    return evaluate(TABLE, metrics=NAME, judge=one, output_dir=folder, run="r")


def conversations(provider: FakeProvider, cascade: Cascade, **limits: Any) -> tuple[dict[str, Any], list[float]]:
    """The same rows as conversations of one turn."""
    turns = [turn(row["qid"][:-2], 0, row["reference"], row["answer"], query=row["question"]) for row in TABLE]
    made = CRAGEvaluator(judge=judge(provider, max_tokens=4), cascade=cascade, journal=None, **limits)
    rows, _ = made.evaluate_agent_responses(turns)
    assert made.report is not None
    is_correct = {row["session_id"]: float(row["is_correct"]) for row in rows["all"]}  # sessions are sorted there
    return made.report.summary, [is_correct[row["qid"][:-2]] for row in TABLE]


def labels(n: int) -> dict[str, float]:
    return {row["qid"]: float("Paris" in row["answer"]) for row in TABLE[:n]}


@pytest.mark.parametrize(
    "cascade",
    [
        Cascade(),
        Cascade(target_agreement=0.9, audit=0.2, seed=4),
        Cascade(llm_share=0.2),
        Cascade(llm_share=0.5, audit=0.0),
        Cascade(llm_share=0.0),
        Cascade(labels=labels(100), target_agreement=0.9),
        Cascade(labels=labels(5)),
    ],
    ids=["usual", "target", "share", "no audit", "nobody", "labels", "few labels"],
)
def test_the_same_as_for_conversations(tmp_path: Path, cascade: Cascade) -> None:
    one, other = fake(), fake()
    shared_places = shared(one, tmp_path, cascade)
    summary, correct = conversations(other, cascade)
    mine = shared_places.summary.judges["verdict[judge=cascade]"]
    assert shared_places.rows[NAME].to_pylist() == correct
    assert asked(one) == asked(other)
    assert mine.judged_by == summary["judged_by"]
    assert mine.cascade.as_dict() == summary["cascade"]
    assert shared_places.manifest.judged_columns["verdict[judge=cascade]"]["cascade"] == cascade.signature()


def test_a_budget_sets_the_threshold_as_for_conversations(tmp_path: Path) -> None:
    one, other = fake(price=Price(1.0, 1.0)), fake(price=Price(1.0, 1.0))
    shared_places = shared(one, tmp_path, Cascade(), budget=0.01, max_tokens=4, workers=1)
    summary, _ = conversations(other, Cascade(), budget=0.01, num_workers=1)
    mine = shared_places.summary.judges["verdict[judge=cascade]"].cascade
    assert mine.basis == summary["cascade"]["basis"] == "a budget of $0.01"
    assert mine.threshold == summary["cascade"]["threshold"]
    assert 0 < len(one.prompts) == len(other.prompts) < 60
    assert (shared_places.summary.judge_usage.cost_usd or 0.0) <= 0.01


def test_who_decided_stands_beside_each_row(tmp_path: Path) -> None:
    shared_places = shared(fake("Yes"), tmp_path, Cascade(llm_share=0.3, audit=0.0))
    by = shared_places.rows["judged_by[judge=cascade]"].to_pylist()
    chances = shared_places.rows["verdict_probability[judge=cascade]"].to_pylist()
    verdicts = shared_places.rows["verdict[judge=cascade]"].to_pylist()
    assert {who: by.count(who) for who in set(by)} == shared_places.summary.judges["verdict[judge=cascade]"].judged_by
    assert set(by) == {"exact", "llm", "offline"}
    for who, chance, verdict in zip(by, chances, verdicts, strict=True):
        assert (chance is not None) == (who == "offline")
        assert verdict == ("WRONG" if chance is not None and chance < 0.5 else "CORRECT")


def test_an_audited_row_that_the_model_says_nothing_of_stays_decided(tmp_path: Path) -> None:
    shared_places = shared(fake("hm"), tmp_path, Cascade(llm_share=0.2, audit=1.0), tries=1)
    said = shared_places.summary.judges["verdict[judge=cascade]"]
    by = shared_places.rows["judged_by[judge=cascade]"].to_pylist()
    assert "llm" not in by
    assert shared_places[NAME].n_not_scored == {"unparsable": by.count(None)}
    assert (said.cascade.audited.n, said.cascade.accuracy.mean) == (0, None)
    assert f"{by.count(None)} doubtful rows have no score" in said.cascade.warnings[-1]
    assert said.causes == {"unparsable: not a verdict": by.count(None) + by.count("offline")}


def test_the_model_alone_and_the_cascade_in_one_run(tmp_path: Path) -> None:
    provider = fake()
    both = evaluate(
        TABLE,
        metrics=["llm_correct", NAME],
        judge=judge(provider, cascade=Cascade(llm_share=0.2)),
        output_dir=tmp_path,
        run="r",
    )
    doubtful = 120 - both.rows["judged_by"].to_pylist().count("exact")
    assert len(provider.prompts) == doubtful  # what both ask about is asked once
    assert both.rows["judged_by"].to_pylist() != both.rows["judged_by[judge=cascade]"].to_pylist()
    alone = evaluate(TABLE, metrics="llm_correct", judge=judge(provider), output_dir=tmp_path)
    assert alone.rows["llm_correct"].to_pylist() == both.rows["llm_correct"].to_pylist()
    low, high = both.summary.judges["verdict[judge=cascade]"].cascade.accuracy.interval or (1.0, 0.0)
    assert low <= (alone["llm_correct"].mean or 0.0) <= high
    assert len(provider.prompts) == doubtful


def test_a_run_that_the_model_has_judged_gets_a_cascade_for_nothing(tmp_path: Path) -> None:
    provider = fake()
    evaluate(TABLE, metrics="llm_correct", judge=judge(provider), output_dir=tmp_path, run="r")
    before = len(provider.prompts)
    evaluation = add_metrics("r", "llm_correct", judge=judge(provider, cascade=Cascade()), output_dir=tmp_path)
    assert list(evaluation.metrics) == ["llm_correct"]  # a setting of the metric, not of the judge, asks for it
    evaluation = add_metrics("r", NAME, judge=judge(provider, cascade=Cascade()), output_dir=tmp_path)
    assert list(evaluation.metrics) == ["llm_correct", NAME]
    assert len(provider.prompts) == before


def test_own_words_that_don_t_show_what_the_offline_judge_looks_at(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Is this right?\n{answer}", encoding="utf-8")
    shared_places = shared(fake("CORRECT"), tmp_path, Cascade(llm_share=0.2, audit=0.0), prompt=prompt)
    assert set(shared_places.rows["judged_by[judge=cascade]"].to_pylist()) == {"llm", "offline"}


def test_a_share_of_rows_that_are_equally_sure(tmp_path: Path) -> None:
    rows = [
        {"qid": f"q{n}", "question": f"place {n}?", "answer": "no idea", "reference": f"city{n}"} for n in range(40)
    ]
    cascade = Cascade(llm_share=0.5, audit=0.0)
    asked_about = []
    for table in (rows, rows[::-1]):
        provider = fake("No")
        evaluation = evaluate(table, metrics=NAME, judge=judge(provider, cascade=cascade), output_dir=tmp_path)
        summary = evaluation.summary.judges["verdict[judge=cascade]"]
        assert summary.judged_by == {"llm": 20, "offline": 20}
        lines = [line for line, _ in judge_lines(evaluation.summary, evaluation.manifest)]
        assert any(line.endswith("of 40 that are exactly so sure, 20 go to the model, by qid") for line in lines)
        asked_about.append(asked(provider))
    assert asked_about[0] == asked_about[1]


def test_a_judge_that_is_asked_about_no_row_is_not_tried(tmp_path: Path) -> None:
    provider = fake()
    shared_places = shared(provider, tmp_path, Cascade(llm_share=0.0, audit=0.0), check=True)
    assert shared_places.summary.judge_check.skipped == "it is asked about no row"
    exact = [{"qid": "a", "question": "which city", "reference": "Paris", "answer": "Paris"}]
    evaluate(exact, metrics="llm_correct", judge=judge(provider, check=True), output_dir=tmp_path)
    turns = [turn("s1", 0, "Paris", "Paris")]
    CRAGEvaluator(judge=judge(provider, check=True), journal=None).evaluate_agent_responses(turns)
    assert provider.prompts == []


def test_a_label_of_a_row_that_is_not_there(tmp_path: Path) -> None:
    provider = fake()
    with pytest.raises(UsageError, match="'s1-00', and no such row"):
        shared(provider, tmp_path, Cascade(labels={"s1-00": 1.0}))
    assert provider.prompts == []


@pytest.mark.parametrize(("settings", "is_said"), [({}, True), ({"audit": 0.0}, False), ({"audit": 1.0}, False)])
def test_where_fewer_are_sure_than_the_check_takes_it_says_so(
    tmp_path: Path, settings: dict[str, Any], is_said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before: the model was asked about every row, without a word."""
    provider = fake("Yes")
    one = judge(provider, cascade=Cascade(llm_share=0.5, **settings))
    evaluation = evaluate(TABLE[:20], metrics=NAME, judge=one, output_dir=tmp_path)
    cascade = evaluation.summary.judges["verdict[judge=cascade]"].cascade
    warning = "the language model is asked about all of them as a check, which takes at least 30: nothing is saved"
    assert any(warning in text for text in cascade.warnings) == is_said
    assert (warning in capsys.readouterr().err) == is_said
    assert (cascade.calls_saved == 0) == (settings.get("audit") != 0.0)
