"""A judge for a run that is there already: of a file, of a live system, of conversations, or one that was not kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragmeter import CRAGEvaluator, Evaluation, LLMJudge, Run, add_metrics, ask, evaluate, metric
from ragmeter.engine.judging.setup import JUDGE_JOURNAL
from ragmeter.errors import ColumnError, InputError, UsageError
from ragmeter.judges.asking.cascade import Cascade
from ragmeter.registry import get_all
from tests.compat.crag.helpers import turn
from tests.judge_rows import ROWS, asked, fake, judge, planned_addition, rows, scripted


def column(evaluation: Evaluation, name: str) -> list[Any]:
    return list(evaluation.rows[name].to_pylist())


def test_a_run_of_a_file(tmp_path: Path) -> None:
    provider = fake()
    evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path)
    evaluation = add_metrics("r", "llm_correct", judge=judge(provider), output_dir=tmp_path)
    whole = evaluate(ROWS, metrics="token_f1,llm_correct", judge=judge(provider), run="whole", output_dir=tmp_path)
    assert len(provider.prompts) == 2
    assert evaluation.rows.to_pylist() == whole.rows.to_pylist()
    assert evaluation.summary.metrics == whole.summary.metrics
    assert evaluation.summary.judges == whole.summary.judges
    assert evaluation.manifest.judged_columns == whole.manifest.judged_columns


def test_another_metric_over_the_column_costs_nothing(tmp_path: Path) -> None:
    @metric(direction="lower", binary=True)
    def llm_wrong(verdict: list[str]) -> list[float]:
        return [float(value == "WRONG") for value in verdict]

    provider = fake()
    evaluate(ROWS, metrics="llm_correct", judge=judge(provider), run="r", output_dir=tmp_path)
    (tmp_path / JUDGE_JOURNAL).unlink()
    assert planned_addition("r", "llm_wrong", judge(provider), tmp_path)["calls"] == 0
    evaluation = add_metrics("r", [llm_wrong], output_dir=tmp_path)  # nobody need be there who could be asked
    assert column(evaluation, "llm_wrong") == [0.0, 0.0, 1.0]
    same = add_metrics("r", "llm_correct", judge=judge(provider), output_dir=tmp_path)
    assert list(same.metrics) == ["llm_correct", "llm_wrong"]
    assert len(provider.prompts) == 2


def test_a_run_of_a_live_system(tmp_path: Path) -> None:
    def pipeline(question: str) -> str:
        if question == "broken":
            raise ValueError("it broke")
        return f"You asked: {question}"

    dataset = [
        {"qid": str(number), "question": question, "reference": reference}
        for number, (question, reference) in enumerate([("Paris", "paris"), ("Rome", "Bonn"), ("broken", "x")])
    ]
    keywords: dict[str, Any] = {"output_dir": tmp_path, "retries": 0, "allow_failures": True}
    ask(dataset, pipeline, metrics="token_f1", run="r", **keywords)
    evaluation = add_metrics("r", "llm_correct", judge=judge(fake()), output_dir=tmp_path)
    assert column(evaluation, "verdict") == ["CORRECT", "WRONG", None]
    assert evaluation["llm_correct"].n_not_scored == {"target_error": 1}
    at_once = ask(dataset, pipeline, metrics="llm_correct", judge=judge(fake()), run="s", **keywords)
    assert column(at_once, "verdict") == column(evaluation, "verdict")
    assert at_once["llm_correct"] == evaluation["llm_correct"]


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [("{answer}\n{nothing}", InputError, r"line 2.*there is no column \{nothing\}"), (None, ColumnError, "reference")],
)
def test_what_can_not_be_judged_is_refused_before_a_system_is_asked(
    tmp_path: Path, words: str | None, error: type[Exception], said: str
) -> None:
    questions: list[str] = []

    def pipeline(question: str) -> str:
        questions.append(question)
        return "x"

    given: dict[str, Any] = {}
    if words is not None:
        given["prompt"] = tmp_path / "prompt.txt"
        given["prompt"].write_text(words, encoding="utf-8")
    with pytest.raises(error, match=said):
        ask(
            [{"qid": "1", "question": "q"}],
            pipeline,
            metrics="llm_correct",
            judge=judge(fake(), **given),
            output_dir=tmp_path,
        )
    assert questions == []


def test_own_words_need_no_reference(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("{contexts}\n{answer}", encoding="utf-8")
    evaluation = ask(
        [{"qid": "1", "question": "q"}],
        lambda question: "x",
        metrics="llm_correct",
        judge=judge(fake("WRONG"), prompt=prompt),
        output_dir=tmp_path,
    )
    assert evaluation["llm_correct"].n_not_scored == {"no_contexts": 1}


def test_a_run_of_conversations(tmp_path: Path) -> None:
    turns = [turn("a", 0, "red", "it is red"), turn("b", 0, "red", "blue"), turn("c", 0, "red", "red")]
    made = CRAGEvaluator(journal=None)
    made.save_results(*made.evaluate_agent_responses(turns), tmp_path / "r")
    provider = fake()
    evaluation = add_metrics("r", "llm_correct", judge=judge(provider), output_dir=tmp_path)
    assert column(evaluation, "llm_correct") == [1.0, 0.0, 1.0]
    assert column(evaluation, "judged_by") == ["llm", "llm", "exact"]
    assert column(evaluation, "input.judged_by") == ["nobody", "nobody", "exact"]  # what the run had stays
    assert column(evaluation, "accuracy") == [1.0, 0.0, 1.0]  # it goes by the verdicts that the run has
    assert (tmp_path / "r" / "scores_dictionary.json").exists()


def test_what_was_asked_about_conversations_is_not_asked_again(tmp_path: Path) -> None:
    turns = [turn("a", 0, ["red", "scarlet"], "it is red"), turn("b", 0, "red", "blue"), turn("c", 0, "red", "red")]
    provider = fake()
    made = CRAGEvaluator(judge=judge(provider), journal=tmp_path / "r" / "journal.sqlite")
    made.save_results(*made.evaluate_agent_responses(turns), tmp_path / "r")
    calls = len(provider.prompts)
    evaluation = add_metrics("r", "llm_correct", judge=judge(provider), output_dir=tmp_path)
    assert (calls, len(provider.prompts)) == (2, 2)
    assert column(evaluation, "llm_correct") == column(evaluation, "accuracy")
    assert not (tmp_path / JUDGE_JOURNAL).exists()


def test_a_run_that_was_not_kept(tmp_path: Path) -> None:
    provider = fake()
    first = evaluate(ROWS, metrics="token_f1", output_dir=tmp_path)
    evaluation = add_metrics(first, "llm_correct", judge=judge(provider), output_dir=tmp_path)
    assert column(evaluation, "llm_correct") == [1.0, 1.0, 0.0]
    assert list(first.metrics) == ["token_f1"]
    again = add_metrics(evaluation, "llm_correct,exact_match", judge=judge(provider), output_dir=tmp_path)
    assert (list(again.metrics), len(provider.prompts)) == (["token_f1", "llm_correct", "exact_match"], 2)
    with pytest.raises(UsageError, match="other settings") as caught:
        add_metrics(evaluation, "llm_correct", judge=judge(provider, temperature=1.0), output_dir=tmp_path)
    assert "/" not in caught.value.hint  # there is no file to name


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"temperature": 1.0}, r"this judge with other settings \(temperature\)"),
        ({"seed": 3}, r"this judge with other settings \(seed\)"),
        ({"reasons": True}, r"this judge with other settings \(reasons, prompt, wordings\)"),
        ({"repeats": 1}, r"this judge with other settings \(repeats\)"),
        ({"repeats": 3, "seed": 3}, r"this judge with other settings \(seed, repeats\)"),
        ({"provider": fake(model="better")}, r"another judge \(model\)"),
    ],
)
def test_another_judge_is_refused(tmp_path: Path, other: dict[str, Any], named: str) -> None:
    provider = fake()
    evaluate(ROWS, metrics="llm_correct", judge=judge(provider, repeats=2), run="r", output_dir=tmp_path)
    before = (tmp_path / "r" / "rows.parquet").read_bytes()
    given: dict[str, Any] = {"provider": provider, "repeats": 2} | other
    for retry_failed in (False, True):
        with pytest.raises(UsageError, match=f"was filled by {named}") as caught:
            add_metrics("r", "llm_correct", judge=judge(**given), output_dir=tmp_path, retry_failed=retry_failed)
        assert str(tmp_path / "r" / "rows.parquet") in caught.value.hint
        assert ("with repeats=2, or" in caught.value.hint) == (other == {"repeats": 1})
    assert (tmp_path / "r" / "rows.parquet").read_bytes() == before
    same = judge(provider, repeats=2, tries=7, workers=1)  # that is not of the kind
    add_metrics("r", "llm_correct", judge=same, output_dir=tmp_path)


@pytest.mark.parametrize("retry_failed", [False, True])
def test_more_repeats_of_the_same_judge_break_a_tie(tmp_path: Path, retry_failed: bool) -> None:
    provider = scripted(a=["Yes", "No", "No"], b=["Yes", "Yes", "No"], c=["No", "No", "Yes"])

    def added(repeats: int, retry_failed: bool) -> Evaluation:
        one = judge(provider, repeats=repeats, workers=1)
        return add_metrics("r", "llm_correct", judge=one, output_dir=tmp_path, retry_failed=retry_failed)

    first = evaluate(
        rows(*"abc"), metrics="llm_correct", judge=judge(provider, repeats=2, workers=1), run="r", output_dir=tmp_path
    )
    assert column(first, "verdict") == [None, "CORRECT", "WRONG"]
    assert "more repeats" in column(first, "reason")[0]
    assert added(2, retry_failed=True)["llm_correct"].n_not_scored == {"tied": 1}  # all of its repeats are there
    assert len(provider.prompts) == 6
    metrics = get_all("llm_correct")
    estimate = planned_addition("r", metrics, judge(provider, repeats=3), tmp_path, retry_failed=retry_failed)
    assert (estimate["calls"], estimate["recorded"]) == (3, 6)
    evaluation = added(3, retry_failed=retry_failed)
    assert column(evaluation, "verdict") == ["WRONG", "CORRECT", "WRONG"]
    assert column(evaluation, "llm_correct") == [0.0, 1.0, 0.0]
    assert len(provider.prompts) == 9
    assert evaluation.manifest.judged_columns["verdict"]["repeats"] == 3
    assert evaluation.summary.judges["verdict"].flip_rate == 1.0


def test_another_cascade_is_refused(tmp_path: Path) -> None:
    provider = fake()
    name = "llm_correct[judge=cascade]"
    evaluate(ROWS, metrics=name, judge=judge(provider, cascade=Cascade(llm_share=0.5)), run="r", output_dir=tmp_path)
    with pytest.raises(UsageError, match=r"other settings \(cascade\)"):
        add_metrics("r", name, judge=judge(provider, cascade=Cascade(llm_share=1.0)), output_dir=tmp_path)
    add_metrics("r", name, judge=judge(provider, cascade=Cascade(llm_share=0.5)), output_dir=tmp_path)


def test_headers_and_versions_are_the_same_when_read_again(tmp_path: Path) -> None:
    from tests.judge_server import JudgeServer

    with JudgeServer() as server:

        def named(key: str) -> LLMJudge:
            return LLMJudge("k", "m", server.url, headers={"x-key": key}, api_version="2024-10-21")

        evaluate(ROWS, metrics="llm_correct", judge=named("a"), run="r", output_dir=tmp_path)
        add_metrics("r", "llm_correct", judge=named("a"), output_dir=tmp_path)
        assert server.count == 2


def test_a_column_of_the_users_is_not_lost(tmp_path: Path) -> None:
    table = [{**row, "verdict": "mine", "verdict_probability": "high"} for row in ROWS]
    evaluate(table, metrics="token_f1", run="r", output_dir=tmp_path)
    provider = scripted(**{"It is Paris.": "hm", "It is Rome.": "No"})
    for retry_failed in (False, True):
        evaluation = add_metrics(
            "r", "llm_correct", judge=judge(provider), output_dir=tmp_path, retry_failed=retry_failed
        )
        assert column(evaluation, "input.verdict") == ["mine"] * 3
        assert column(evaluation, "input.verdict_probability") == ["high"] * 3
        assert column(evaluation, "verdict") == [None, "CORRECT", "WRONG"]


def retried(tmp_path: Path, change: Callable[[], object] = lambda: None, **settings: Any) -> tuple[Any, Evaluation]:
    """A run with a row that can't be read, and the same run after another try."""
    provider = scripted(a=["hm", "hm", "hm", "Yes"], b="No", c=["Yes", "No", "Yes"])
    evaluate(rows(*"abc", None), metrics="llm_correct", judge=judge(provider, **settings), run="r", output_dir=tmp_path)
    change()
    estimate = planned_addition("r", "llm_correct", judge(provider, **settings), tmp_path, retry_failed=True)
    before = len(provider.prompts)
    evaluation = add_metrics(
        "r", "llm_correct", judge=judge(provider, **settings), output_dir=tmp_path, retry_failed=True
    )
    assert (estimate["rows"], estimate["calls"]) == (4, len(provider.prompts) - before)
    return provider, evaluation


def test_rows_without_a_verdict_are_asked_again(tmp_path: Path) -> None:
    provider, evaluation = retried(tmp_path)
    assert column(evaluation, "verdict") == ["CORRECT", "WRONG", "CORRECT", None]
    assert (evaluation["llm_correct"].n_scored, evaluation["llm_correct"].n_not_scored) == (3, {"no_answer": 1})
    assert asked(provider) == ["a"] * 4 + ["b", "c"]
    said = evaluation.summary.judges["verdict"]
    assert (said.causes, said.judged_by) == ({}, {"llm": 3})
    assert evaluation.summary.judge_usage.calls == 6  # all that the run's verdicts took
    assert (evaluation.manifest.judging.made, evaluation.manifest.judging.from_journal) == (1, 5)
    assert [entry.name for entry in evaluation.manifest.metrics] == ["llm_correct"]


def test_repeats_are_still_counted_after_another_try(tmp_path: Path) -> None:
    _, evaluation = retried(tmp_path, repeats=3, tries=1, workers=1)
    said = evaluation.summary.judges["verdict"]
    assert said.n_judged_repeatedly == 3
    assert said.flip_rate == pytest.approx(1 / 3)


def test_verdicts_that_the_journal_has_lost_are_taken_from_the_run(tmp_path: Path) -> None:
    provider, evaluation = retried(tmp_path, (tmp_path / JUDGE_JOURNAL).unlink)
    assert column(evaluation, "verdict") == ["CORRECT", "WRONG", "CORRECT", None]
    assert evaluation.summary.judge_usage.calls == 6
    assert asked(provider) == ["a"] * 4 + ["b", "c"]


def test_what_else_rests_on_the_column_is_computed_again(tmp_path: Path) -> None:
    @metric(direction="lower", binary=True)
    def llm_wrong(verdict: list[str]) -> list[float]:
        return [float(value == "WRONG") for value in verdict]

    provider = scripted(a=["hm", "No"], b="Yes")
    one = judge(provider, tries=1)
    evaluate(rows(*"ab"), metrics=["llm_correct", llm_wrong, "token_f1"], judge=one, run="r", output_dir=tmp_path)
    evaluation = add_metrics("r", "llm_correct", judge=one, output_dir=tmp_path, retry_failed=True)
    assert (column(evaluation, "llm_correct"), column(evaluation, "llm_wrong")) == ([0.0, 1.0], [1.0, 0.0])
    assert list(evaluation.metrics) == ["llm_correct", "llm_wrong", "token_f1"]
    names = [entry.name for entry in Run.at(tmp_path / "r").manifest().metrics]
    assert names == ["llm_correct", "llm_wrong", "token_f1"]


def test_why_a_row_has_no_answer_stays_after_another_try(tmp_path: Path) -> None:
    def pipeline(question: str) -> str:
        return "it is expected"

    dataset = [{"qid": str(number), "question": f"q{number}", "reference": "expected"} for number in range(3)]
    one = judge(scripted(**{"it is expected": ["hm"] * 6 + ["Yes"]}), workers=1)
    first = ask(
        dataset, pipeline, metrics="llm_correct", judge=one, run="r", output_dir=tmp_path, max_calls=2, workers=1
    )
    assert first["llm_correct"].n_not_scored == {"unparsable": 2, "skipped_budget": 1}
    evaluation = add_metrics("r", "llm_correct", judge=one, output_dir=tmp_path, retry_failed=True)
    assert evaluation["llm_correct"].n_not_scored == {"skipped_budget": 1}
    assert column(evaluation, "verdict.outcome") == ["scored", "scored", "skipped_budget"]


def test_a_missing_column_of_a_run_is_named(tmp_path: Path) -> None:
    evaluate(
        [{"qid": "1", "retrieved": ["a"], "relevant": ["a"]}],
        metrics="retrieved_docs_count",
        run="r",
        output_dir=tmp_path,
    )
    with pytest.raises(ColumnError, match="verdict needs the column 'reference'"):
        add_metrics("r", "llm_correct", judge=judge(fake()), output_dir=tmp_path)


def test_a_run_that_is_named_by_its_path_has_its_replies_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    provider = fake()
    evaluation = evaluate(ROWS, metrics="llm_correct", judge=judge(provider), run="r", output_dir=tmp_path / "runs")
    for run in (evaluation, tmp_path / "runs" / "r"):
        estimate = planned_addition(run, "llm_correct[judge=cascade]", judge(provider), Path("runs"))
        assert (estimate["calls"], estimate["recorded"]) == (0, 2)
    add_metrics(tmp_path / "runs" / "r", "llm_correct[judge=cascade]", judge=judge(provider))
    assert len(provider.prompts) == 2
    assert list(Path.cwd().iterdir()) == []
