"""A judge in words: of a run, and of conversations."""

from __future__ import annotations

from pathlib import Path

import ragmeter
from ragmeter import Run
from ragmeter.wording.judging import CAUSE, PLAIN, WARNING, judge_causes, judge_lines
from tests.compat.crag.helpers import keep_talk
from tests.conftest import Run as Command
from tests.show.report.helpers import keep, keep_judged, rows


def lines_of(run: Run) -> list[tuple[str, str]]:
    return list(judge_lines(run.summary(), run.manifest()))


def test_a_run_with_a_judge(tmp_path: Path) -> None:
    run = Run(keep_judged(tmp_path))
    check, decided, cause, warning, spent = lines_of(run)
    assert check[0].startswith("this judge got 23 of 24 built-in cases right; it missed: wrong: ")
    assert decided == ("verdicts by: exact 5, llm 24", PLAIN)
    assert cause == ('  1 unparsable: not a verdict, for example "well"', CAUSE)
    assert warning == ("24 of the judge's 24 verdicts are the same: 'CORRECT'", WARNING)
    assert spent[0].startswith("calls: 51; tokens: ")
    assert judge_causes(run.summary()) == {"unparsable: not a verdict": 1}
    assert run.manifest().judge_model == "judge-7"


def test_of_several_columns_those_that_only_the_model_filled_are_not_listed(tmp_path: Path) -> None:
    row = {"question": "Who?", "answer": "Ada.", "contexts": ["Ada."]}
    judge = ragmeter.Judge(provider=ragmeter.FakeProvider(["Not a list", "Fully"]), check=False, tries=1, workers=1)
    metrics = "faithfulness,answer_relevance"
    ragmeter.evaluate([row], metrics=metrics, judge=judge, run="claims", output_dir=tmp_path)
    said = [line for line, _ in lines_of(Run(tmp_path / "claims"))]
    assert said[0] == '  claims: 1 unparsable: not in the form of claims, for example "Not a list"'
    assert not any("verdicts by" in line for line in said)


def test_conversations(tmp_path: Path) -> None:
    run = keep_talk(tmp_path / "talk")
    decided, spent = lines_of(run)
    assert decided == ("verdicts by: llm 8, miss 1", PLAIN)
    assert spent[0].startswith("calls: 8; tokens: ")
    assert run.manifest().judge_model == "fake"


def test_a_run_without_a_judge(tmp_path: Path) -> None:
    run = Run(keep(tmp_path))
    assert lines_of(run) == []
    assert run.manifest().judge_model == ""


def test_markdown_and_the_summary_say_the_same(tmp_path: Path, ragmeter: Command) -> None:
    keep_judged(tmp_path)
    shown = ragmeter("summary", "judged", "--output-dir", str(tmp_path)).stdout
    made = tmp_path / "r.md"
    ragmeter(
        "report", "judged", "--output-dir", str(tmp_path), "--output", str(tmp_path / "r.html"), "--markdown", str(made)
    )
    markdown = made.read_text(encoding="utf-8")
    assert "**The judge, judged**: judge-7" in markdown
    for said in (
        "this judge got 23 of 24 built-in cases right",
        "verdicts by: exact 5, llm 24",
        "calls: 51; tokens: ",
    ):
        assert said in shown
        assert f"- {said}" in markdown
    assert "- 1 unparsable: not a verdict" in markdown
    assert "by verdict" not in markdown  # what the judge said is no slice


def test_what_a_judge_filled_is_no_column_of_the_user_s(tmp_path: Path) -> None:
    judge = ragmeter.Judge(provider=ragmeter.FakeProvider("3"), check=False)
    metrics = "llm_correct[judge=cascade],llm_grade"
    ragmeter.evaluate(rows(), metrics=metrics, judge=judge, run="graded", output_dir=tmp_path)
    run = Run(tmp_path / "graded")
    assert run.judged_columns == {
        "verdict[judge=cascade]": [
            f"{name}[judge=cascade]" for name in ("verdict", "reason", "judged_by", "verdict_probability")
        ],
        "grade": ["grade", "grade_reason"],
    }
    assert run.other_columns == ["domain", "note"]
    assert run.slices() == ["domain", "note"]


LONG = "The tower is in Paris, on a field beside the river. A company built it for the fair of 1889, in two years."


def test_the_offline_judge_of_short_answers_with_long_references(tmp_path: Path) -> None:
    rows = [{"question": "q", "reference": LONG if n < 2 else "Paris", "answer": LONG} for n in range(20)]
    ragmeter.evaluate(rows, metrics="token_f1", output_dir=tmp_path, run="long")
    run = Run(tmp_path / "long")
    assert lines_of(run) == []
    assert run.summary().long_references is None
    before = ragmeter.add_metrics(run, "offline_quality", output_dir=tmp_path)
    assert lines_of(before.run) == []
    after = ragmeter.add_metrics(run, "offline_correct", output_dir=tmp_path)
    ((line, kind),) = lines_of(after.run)
    assert line.startswith(
        "2 of 20 references are longer than a sentence: offline_correct has learnt from answers of a"
    )
    assert line.endswith("offline_quality is for long ones")
    assert kind == WARNING


def test_few_long_references_are_counted_and_not_warned_of() -> None:
    rows = [{"question": "q", "reference": LONG if n < 1 else "Paris", "answer": LONG} for n in range(20)]
    evaluation = ragmeter.evaluate(rows, metrics="offline_correct_probability")
    assert evaluation.summary.long_references == 1
    assert list(judge_lines(evaluation.summary, evaluation.manifest)) == []


def test_the_command_names_the_other_judge(tmp_path: Path, ragmeter: Command) -> None:
    results = tmp_path / "results.jsonl"
    results.write_text(f'{{"question": "q", "reference": "{LONG}", "answer": "Paris"}}\n', encoding="utf-8")
    done = ragmeter(
        "evaluate", "--metrics", "offline_correct", "--results", str(results), "--output-dir", str(tmp_path)
    )
    assert "1 of 1 references are longer than a sentence" in " ".join(done.stdout.split())
