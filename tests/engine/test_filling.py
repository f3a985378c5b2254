"""Columns that a judge fills: from every kind of input, once for each text, and beside what the user's table has."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ragmeter import Judge, Run, add_metrics, evaluate, metric
from ragmeter.engine.judging.setup import JUDGE_JOURNAL
from ragmeter.errors import ColumnError, InputError, UsageError
from ragmeter.models.fake import fenced_texts
from tests.judge_rows import ROWS, asked, fake, files, judge, rows


def test_a_list_of_rows(tmp_path: Path) -> None:
    provider = fake()
    evaluation = evaluate(ROWS, metrics="llm_correct", judge=judge(provider), output_dir=tmp_path)
    assert evaluation.rows["llm_correct"].to_pylist() == [1.0, 1.0, 0.0]
    assert evaluation.rows["verdict"].to_pylist() == ["CORRECT", "CORRECT", "WRONG"]
    assert evaluation.rows["verdict.outcome"].to_pylist() == ["scored"] * 3
    assert evaluation.rows["judged_by"].to_pylist() == ["llm", "exact", "llm"]
    assert evaluation.summary.judges["verdict"].judged_by == {"exact": 1, "llm": 2}
    assert asked(provider) == ["It is Paris.", "It is Rome."]  # what matches exactly is not asked
    assert evaluation.manifest.judged_columns["verdict"]["model"] == "fake"
    assert evaluation.manifest.judging.made == evaluation.summary.judge_usage.calls == 2
    assert files(tmp_path) == [JUDGE_JOURNAL]  # nothing else is kept of an evaluation without a name


def test_several_references_are_shown_each_on_its_line(tmp_path: Path) -> None:
    provider = fake()
    table = [{"qid": "1", "answer": "It is Lyon", "reference": ["Paris", "Lyon"]}]
    evaluation = evaluate(table, metrics="llm_correct", judge=judge(provider), output_dir=tmp_path)
    assert evaluation["llm_correct"].mean == 1.0
    assert fenced_texts(provider.prompts[0])["reference"] == "Paris\nor: Lyon"
    assert fenced_texts(provider.prompts[0])["question"] == ""  # the table has none


def test_two_files_joined(tmp_path: Path) -> None:
    (tmp_path / "results.tsv").write_text("qid\tanswer\n1\tIt is Paris\n2\tnobody knows\n", encoding="utf-8")
    (tmp_path / "reference.tsv").write_text(
        "qid\tquestion\treference\n1\tq\tParis\n2\tq\tRome\n3\tq\tBonn\n", encoding="utf-8"
    )
    evaluation = evaluate(
        str(tmp_path / "results.tsv"),
        str(tmp_path / "reference.tsv"),
        metrics="llm_correct",
        judge=judge(fake()),
        output_dir=tmp_path,
        run="r",
    )
    assert (evaluation["llm_correct"].mean, evaluation["llm_correct"].n_not_scored) == (0.5, {"no_result": 1})
    assert evaluation.rows["verdict.outcome"].to_pylist() == ["scored", "scored", "no_result"]


@pytest.mark.parametrize("metrics", ["llm_correct", "token_f1", "llm_correct[judge=cascade]"])
def test_a_pipe_is_read_once(tmp_path: Path, metrics: str) -> None:
    pipe = tmp_path / "results.jsonl"
    os.mkfifo(pipe)
    text = "".join(json.dumps(row) + "\n" for row in ROWS)
    writer = threading.Thread(target=pipe.write_text, args=(text,), daemon=True)
    writer.start()
    evaluation = evaluate(
        pipe, metrics=metrics, judge=judge(fake()) if "llm" in metrics else None, run="r", output_dir=tmp_path / "runs"
    )
    writer.join()
    assert evaluation[metrics].n_scored == 3
    assert evaluation.manifest.inputs["results"] == {"object": str(pipe)}


def test_a_stream_of_arrow_is_read_once(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(rows("it is expected", "no"))
    stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    evaluation = evaluate(stream, metrics="llm_correct", judge=judge(fake()), output_dir=tmp_path)
    assert evaluation["llm_correct"].mean == 0.5


def test_rows_that_can_not_be_judged_are_not_asked(tmp_path: Path) -> None:
    provider = fake()
    table = [
        {"qid": "1", "question": None, "answer": "say Paris", "reference": ["Paris"]},
        {"qid": "2", "question": "q", "answer": None, "reference": ["Paris"]},
        {"qid": "3", "question": "q", "answer": "x", "reference": []},
        {"qid": "4", "question": "q", "answer": "x", "reference": ["Paris"], "error": "broke"},
        {"qid": "5", "question": "q", "answer": "", "reference": ["Paris"]},
    ]
    evaluation = evaluate(table, metrics="llm_correct", judge=judge(provider), output_dir=tmp_path)
    assert asked(provider) == ["say Paris"]
    outcomes = ["scored", "no_answer", "no_reference", "target_error", "scored"]
    assert (
        evaluation.rows["verdict.outcome"].to_pylist() == evaluation.rows["llm_correct.outcome"].to_pylist() == outcomes
    )
    assert evaluation.rows["verdict"].to_pylist() == ["CORRECT", None, None, None, "WRONG"]
    assert evaluation["llm_correct"].n_not_scored == {"no_answer": 1, "no_reference": 1, "target_error": 1}


def test_an_empty_cell_is_no_reference_and_an_empty_answer_is_wrong(tmp_path: Path) -> None:
    provider = fake()
    (tmp_path / "e.csv").write_text(
        "qid,question,answer,reference\n1,What?,,\n2,Who?,Bob,\n3,Who?,  ,Ann\n4,Who?,Ann,Ann\n", encoding="utf-8"
    )
    evaluation = evaluate(
        tmp_path / "e.csv", metrics="llm_correct,token_f1", judge=judge(provider), output_dir=tmp_path
    )
    assert provider.prompts == []
    assert evaluation.rows["verdict.outcome"].to_pylist() == ["no_reference", "no_reference", "scored", "scored"]
    assert evaluation.rows["judged_by"].to_pylist() == [None, None, "miss", "exact"]
    assert evaluation["llm_correct"].mean == 0.5
    assert evaluation.rows["token_f1"].to_pylist() == [1.0, 0.0, 0.0, 1.0]  # of two empty texts: see metrics.md


def test_of_several_references_those_without_words_are_left_out(tmp_path: Path) -> None:
    provider = fake()
    table = [
        {"qid": "1", "question": "q", "answer": "Lyon", "reference": ["", "Paris"]},
        {"qid": "2", "question": "q", "answer": "", "reference": ["", "Paris"]},
        {"qid": "3", "question": "q", "answer": "Lyon", "reference": [" ", ""]},
    ]
    evaluation = evaluate(table, metrics="llm_correct", judge=judge(provider), output_dir=tmp_path)
    assert [fenced_texts(prompt)["reference"] for prompt in provider.prompts] == ["Paris"]
    assert evaluation.rows["verdict"].to_pylist() == ["WRONG", "WRONG", None]


@pytest.mark.parametrize(
    ("metric_name", "values"),
    [
        ("llm_grade[scale=1-10]", ["no_reference", 0.0, 1.0]),
        ("criteria[file={file}]", ["no_reference", "no_answer", 1.0]),
    ],
)
def test_no_judgement_asks_about_an_empty_answer(tmp_path: Path, metric_name: str, values: list[Any]) -> None:
    (tmp_path / "tone.md").write_text("{reference}\n{answer}\nPolite?", encoding="utf-8")
    provider = fake("10" if "grade" in metric_name else "Yes")
    table = [*rows("", reference=" "), *rows("", "It is Paris.")]
    for number, row in enumerate(table):
        row["qid"] = str(number)
    name = metric_name.format(file=tmp_path / "tone.md")
    evaluation = evaluate(table, metrics=name, judge=judge(provider), output_dir=tmp_path)
    assert asked(provider) == ["It is Paris."]
    scores, outcomes = evaluation.rows[name].to_pylist(), evaluation.rows[f"{name}.outcome"].to_pylist()
    assert [s if o == "scored" else o for s, o in zip(scores, outcomes, strict=True)] == values


def test_own_words_are_not_asked_about_an_empty_text(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("{topic}\n{answer}\nPolite?", encoding="utf-8")
    provider = fake("CORRECT")
    table = [{**row, "topic": topic} for row, topic in zip(rows("x", "", "y"), [" ", "t", "t"], strict=True)]
    evaluation = evaluate(table, metrics="llm_correct", judge=judge(provider, prompt=prompt), output_dir=tmp_path)
    assert evaluation.rows["verdict.outcome"].to_pylist() == ["no_topic", "no_answer", "scored"]
    assert asked(provider) == ["y"]


def test_the_same_text_is_asked_about_once(tmp_path: Path) -> None:
    provider = fake()
    table = [{"qid": str(i), "question": "q", "answer": f"it is {i % 3}", "reference": "2"} for i in range(300)]
    evaluation = evaluate(table, metrics="llm_correct", judge=judge(provider), output_dir=tmp_path, run="a")
    assert len(provider.prompts) == 3
    assert evaluation["llm_correct"].mean == pytest.approx(1 / 3)
    assert evaluation.summary.judge_usage.calls == 3
    evaluate(table[:7], metrics="llm_correct", judge=judge(provider), output_dir=tmp_path, run="b")
    assert len(provider.prompts) == 3  # another run of the folder


def test_two_metrics_over_one_column(tmp_path: Path) -> None:
    @metric(direction="lower", binary=True)
    def llm_wrong(verdict: list[str]) -> list[float]:
        return [float(value == "WRONG") for value in verdict]

    provider = fake()
    evaluation = evaluate(ROWS, metrics=["llm_correct", llm_wrong], judge=judge(provider), output_dir=tmp_path)
    assert evaluation["llm_correct"].mean == pytest.approx(2 / 3)
    assert evaluation["llm_wrong"].mean == pytest.approx(1 / 3)
    assert len(provider.prompts) == 2


def test_a_column_of_the_users_gives_way(tmp_path: Path) -> None:
    table = [{**row, "verdict": "mine", "reason": "because", "domain": "d"} for row in ROWS]
    evaluation = evaluate(table, metrics="llm_correct", judge=judge(fake()), output_dir=tmp_path, run="r")
    assert evaluation.rows["verdict"].to_pylist() == ["CORRECT", "CORRECT", "WRONG"]
    assert evaluation.rows["input.verdict"].to_pylist() == ["mine"] * 3
    assert evaluation.rows["input.reason"].to_pylist() == ["because"] * 3
    assert evaluation.rows["domain"].to_pylist() == ["d"] * 3


def test_a_table_that_has_the_verdicts_needs_no_judge(tmp_path: Path) -> None:
    table = [{"qid": str(i), "verdict": verdict} for i, verdict in enumerate(["CORRECT", "WRONG", "yes", None])]
    evaluation = evaluate(table, metrics="llm_correct")
    assert evaluation.rows["llm_correct.outcome"].to_pylist() == ["scored", "scored", "unparsable", "no_verdict"]
    assert evaluation["llm_correct"].mean == 0.5
    assert not evaluation.summary.judges
    with pytest.raises(UsageError, match="llm_grade needs a judge"):
        evaluate(table, metrics="llm_correct,llm_grade")


def test_the_run_of_another_folder_is_judged_by_its_rows(tmp_path: Path) -> None:
    provider = fake()
    evaluate(ROWS, metrics="llm_correct", judge=judge(provider), output_dir=tmp_path, run="a")
    again = evaluate(
        tmp_path / "a" / "rows.parquet", metrics="llm_correct", judge=judge(fake("No")), output_dir=tmp_path
    )
    assert again.rows["llm_correct"].to_pylist() == [0.0, 1.0, 0.0]
    assert again.rows["input.verdict"].to_pylist() == ["CORRECT", "CORRECT", "WRONG"]
    assert again.rows["input.llm_correct"].to_pylist() == ["1.0", "1.0", "0.0"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"metrics": "llm_correct"}, "llm_correct needs a judge"),
        ({"metrics": "token_f1", "judge": judge(fake())}, "none of the metrics needs a judge"),
        ({"metrics": "llm_correct", "judge": "gpt-4o"}, "judge is a str"),
    ],
)
def test_a_judge_where_there_should_be_one(given: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        evaluate(ROWS, **given, output_dir=tmp_path)
    assert caught.value.hint
    assert files(tmp_path) == []


def test_a_missing_column_is_named_before_anything_is_asked(tmp_path: Path) -> None:
    provider = fake()
    path = tmp_path / "results.csv"
    path.write_text("qid,answer\n1,x\n", encoding="utf-8")
    with pytest.raises(ColumnError, match="llm_correct needs the column 'reference'") as caught:
        evaluate(path, metrics="llm_correct", judge=judge(provider), output_dir=tmp_path)
    assert str(path) in str(caught.value)
    assert "reference=" in caught.value.hint  # another file may have it
    assert provider.prompts == []


def test_a_key_is_missed_before_anything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        evaluate(ROWS, metrics="llm_correct", judge=Judge("gpt-4o"), output_dir=tmp_path)
    assert files(tmp_path) == []


def test_a_prompt_of_ones_own_shows_any_column(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("For {domain}: do {contexts} support {answer}? Not a field: {this one}.", encoding="utf-8")
    table = [
        {"qid": "1", "answer": "a", "contexts": ["one", "two"], "domain": "law"},
        {"qid": "2", "answer": "b", "contexts": None, "domain": "law"},
    ]
    provider = fake("CORRECT")
    evaluation = evaluate(table, metrics="llm_correct", judge=judge(provider, prompt=prompt), output_dir=tmp_path)
    assert evaluation.rows["verdict.outcome"].to_pylist() == ["scored", "no_contexts"]
    (sent,) = provider.prompts
    shown = fenced_texts(sent)
    assert {name: shown[name] for name in ("domain", "contexts", "answer")} == {
        "domain": "law", "contexts": "[1] one\n\n[2] two", "answer": "a",
    }  # fmt: skip
    assert "{this one}" in sent


def test_own_words_are_asked_about_exact_matches_too(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Is {answer} polite?", encoding="utf-8")
    provider = fake("WRONG")
    evaluation = evaluate(ROWS, metrics="llm_correct", judge=judge(provider, prompt=prompt), output_dir=tmp_path)
    assert evaluation["llm_correct"].mean == 0.0
    assert len(provider.prompts) == 3


@pytest.mark.parametrize(
    ("words", "said", "line"),
    [
        ("Is {answer}\n{referense}?", r"there is no column \{referense\}.*reference", 2),
        ("{answer}\n\n{contexts}", r"there is no column \{contexts\}", 3),
        ("Is it right?", r"never shows \{answer\}", None),
    ],
)
def test_a_prompt_with_a_column_that_is_not_there(tmp_path: Path, words: str, said: str, line: int | None) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text(words, encoding="utf-8")
    provider = fake("Yes")
    with pytest.raises(InputError, match=said) as caught:
        evaluate(ROWS, metrics="llm_correct", judge=judge(provider, prompt=prompt), output_dir=tmp_path)
    assert str(caught.value).startswith(f"{prompt}" + ("" if line is None else f", line {line}"))
    assert provider.prompts == []


def test_a_prompt_of_ones_own_is_for_one_judgement(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("{answer}", encoding="utf-8")
    with pytest.raises(UsageError, match="for one judgement") as caught:
        evaluate(ROWS, metrics="llm_correct,llm_grade", judge=judge(fake("1"), prompt=prompt), output_dir=tmp_path)
    assert caught.value.hint.startswith("name llm_correct or llm_grade, and add the other to the run that you keep")
    assert caught.value.hint.endswith("add_metrics()")
    evaluate(ROWS, metrics="llm_correct", judge=judge(fake("WRONG"), prompt=prompt), run="r", output_dir=tmp_path)
    evaluation = add_metrics("r", "llm_grade", judge=judge(fake("5"), prompt=prompt), output_dir=tmp_path)
    assert (evaluation["llm_correct"].mean, evaluation["llm_grade"].mean) == (0.0, 1.0)
    with pytest.raises(UsageError, match="for one judgement") as caught:
        add_metrics("r", "claim_recall", judge=judge(fake("1"), prompt=prompt), output_dir=tmp_path)
    assert caught.value.hint == "claim_recall takes several: leave the prompt out"


def test_a_file_that_changes_while_it_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"

    def write(*answers: str) -> None:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows(*answers)), encoding="utf-8")

    for later in (("c", "b"), ("b",), ("b", "c", "d")):
        write("b", "c")

        def reply(prompt: str, later: tuple[str, ...] = later) -> str:
            write(*later)
            return "Yes"

        with pytest.raises(InputError, match="the rows have changed while the judge was asked"):
            evaluate(path, metrics="llm_correct", judge=judge(fake(reply)), output_dir=tmp_path, run="r")
        assert not (tmp_path / "r").exists()


def test_progress_is_told_of_each_row_once(tmp_path: Path) -> None:
    steps: list[int] = []
    evaluate(ROWS, metrics="llm_correct", judge=judge(fake()), output_dir=tmp_path, progress=steps.append)
    assert sum(steps) == 3


def test_processes_score_what_was_judged(tmp_path: Path) -> None:
    names = "llm_correct,llm_correct[judge=cascade],token_f1"
    evaluation = evaluate(ROWS, metrics=names, judge=judge(fake()), output_dir=tmp_path, engine="local:2", run="a")
    same = evaluate(ROWS, metrics=names, judge=judge(fake()), output_dir=tmp_path, run="b")
    assert evaluation.rows.equals(same.rows)


def test_what_a_judge_leaves_is_no_slice(tmp_path: Path) -> None:
    table = [{**row, "domain": f"d{row['qid']}"} for row in [*ROWS, {"qid": "4", "answer": None, "reference": "x"}]]
    names = "llm_correct,llm_correct[judge=cascade]"
    evaluate(table, metrics=names, judge=judge(fake()), output_dir=tmp_path, run="r")
    evaluate(table, metrics="llm_grade[scale=0-1]", judge=judge(fake("1"), reasons=True), output_dir=tmp_path, run="g")
    for name in "rg":
        run = Run.at(tmp_path / name)
        assert run.slices() == ["domain"]
        assert not [column for column in run.other_columns if column.endswith(".outcome")]
