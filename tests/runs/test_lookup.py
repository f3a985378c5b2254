"""Which run is meant: what `evaluate()` and `ask()` returned, a folder, a path or a name, in every function alike."""

from __future__ import annotations

import copy
import errno
import gc
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter import Evaluation, Run, evaluate
from ragmeter.analysis.people.offline import recalibrate
from ragmeter.analysis.people.sheets import Sheet
from ragmeter.analysis.power import plan_from_pilot
from ragmeter.analysis.slices import summarise_run
from ragmeter.errors import InputError, UnknownNameError, UsageError
from ragmeter.runs.lookup import RunLike, find_run, find_runs, run_labels
from ragmeter.runs.temporary_run import TemporaryRun
from tests.analysis.people.helpers import questions

ROWS = questions(60)
METRICS = "exact_match,token_f1,offline_correct_probability"
LABELS = [{"qid": row["qid"], "label": row["correct"]} for row in ROWS]
#: Functions of one run, each with something that it must say of the run, whichever way the run is given.
FUNCTIONS: dict[str, Callable[[RunLike], object]] = {
    "add_metrics": lambda run: ragmeter.add_metrics(run, "token_recall")["token_recall"].mean,
    "calibrate": lambda run: ragmeter.calibrate(run, LABELS, metric="exact_match").corrected,
    "choose_sample": lambda run: [row.qid for row in ragmeter.choose_sample(run, 5)],
    "compare": lambda run: ragmeter.compare(["base", run])["token_f1"].difference,
    "compare, first": lambda run: ragmeter.compare([run, "base"])["token_f1"].difference,
    "explain": lambda run: ragmeter.explain(run, "q001")[0].probability,
    "export": lambda run: len(Path(ragmeter.export(run, "jsonl", "out.jsonl")[0]).read_text().splitlines()),
    "gate": lambda run: ragmeter.gate(run, fail_under={"token_f1": 0.2}).checks[0].value,
    "gate, baseline": lambda run: ragmeter.gate("base", no_worse_than={run: {"token_f1": 0.1}}).checks[0].value,
    "list_documents": lambda run: _no_documents(run),
    "plan_from_pilot": lambda run: plan_from_pilot(run, "token_f1").needed,
    "recalibrate": lambda run: recalibrate(run, LABELS).curve,
    "report": lambda run: ragmeter.report(run, "out.html").rows,
    "report, several": lambda run: ragmeter.report(["base", run], "out.html").rows,
    "summarise_run": lambda run: summarise_run(run).metrics["token_f1"].mean,
}


def _no_documents(run: RunLike) -> bool:
    """Whether the run was found, and has no ids of documents."""
    with pytest.raises(UsageError, match="has no column 'retrieved'"):
        ragmeter.list_documents(run)
    return True


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunLike]:
    """The same run in every form. The folder that they are in is the current one for a while."""
    folder = tmp_path_factory.mktemp("runs")
    answers = {row["question"]: row["answer"] for row in ROWS}
    dataset = [{key: value for key, value in row.items() if key not in ("answer", "contexts")} for row in ROWS]
    before = Path.cwd()
    os.chdir(folder)
    try:
        kept = evaluate(ROWS, metrics=METRICS, run="kept")
        evaluate([{**row, "answer": row["reference"]} for row in ROWS], metrics=METRICS, run="base")
        fresh = evaluate(ROWS, metrics=METRICS)
        asked = ragmeter.ask(dataset, lambda question: answers[question], metrics=METRICS, run="asked")
    finally:
        os.chdir(before)
    return {
        "the folder of all": folder,
        "name": "kept",
        "path": Path("runs/kept"),
        "text of a path": "runs/kept",
        "folder": Run(Path("runs/kept")),
        "evaluation": kept,
        "evaluation that was not kept": fresh,
        "what ask() returned": asked,
    }


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_takes_every_form_of_a_run(
    function: str, runs: dict[str, RunLike], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, *_ = runs.values()
    assert isinstance(folder, Path)
    monkeypatch.chdir(folder)
    results = {form: FUNCTIONS[function](run) for form, run in runs.items() if run is not folder}
    assert len(results) == 7
    assert all(value == results["name"] for value in results.values()), results
    assert results["name"]


def test_every_public_function_of_runs_says_so() -> None:
    taking = {
        name: parameter.annotation
        for name in ragmeter.__all__
        if inspect.isfunction(function := getattr(ragmeter, name)) and name not in ("evaluate", "ask", "prefer")
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name in ("run", "runs")
    }
    assert set(taking) == {
        *(
            "add_metrics",
            "calibrate",
            "choose_sample",
            "compare",
            "explain",
            "export",
            "gate",
            "list_documents",
            "repeats",
            "report",
            "watch",
        ),
    }
    assert all("RunLike" in annotation for annotation in taking.values()), taking


def test_names_are_looked_for_in_the_folder_that_is_named(tmp_path: Path) -> None:
    evaluate(ROWS, metrics="token_f1", run="here", output_dir=tmp_path / "mine")
    assert find_run("here", tmp_path / "mine").path == tmp_path / "mine" / "here"
    with pytest.raises(UnknownNameError, match=r"unknown run 'her': did you mean here\?"):
        find_run("her", tmp_path / "mine")


@pytest.mark.parametrize("wrong", [None, 3, {"token_f1": 0.5}, object()])
def test_what_is_no_run_is_said(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"is not a run\n  a run is what evaluate\(\) or ask\(\) returned"):
        find_run(wrong)
    with pytest.raises(UsageError):
        find_runs([wrong])


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    kept = evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path)
    (tmp_path / "r").rename(tmp_path / "s")
    for run in (kept, Run(tmp_path / "r")):
        with pytest.raises(UnknownNameError, match=r"unknown run 'r'(.|\n)*there are s"):
            find_run(run)


def test_results_of_a_run_that_was_replaced_are_gone(tmp_path: Path) -> None:
    before = evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path)
    after = evaluate(ROWS[1:], metrics="token_f1", run="r", output_dir=tmp_path)
    with pytest.raises(UsageError, match=r"the run r was replaced(.|\n)*run=\.\.\."):
        ragmeter.compare([before, after])
    with pytest.raises(UsageError, match="was replaced"):
        _ = before.rows
    assert after.rows.num_rows == 59
    assert ragmeter.add_metrics(after, "exact_match")["exact_match"].n_scored == 59
    assert after.run_folder() == Run(tmp_path / "r")  # with more metrics it is still the same run


def test_metrics_are_added_to_a_run_that_was_not_kept() -> None:
    fresh = evaluate(ROWS, metrics="token_f1", interval="bootstrap", level=0.9)
    more = ragmeter.add_metrics(fresh, "token_recall,rouge_l_score", language="en")
    assert list(fresh) == ["token_f1"]
    assert list(more) == ["token_f1", "token_recall", "rouge_l_score[language=en]"]
    assert more.folder is None
    at_once = evaluate(ROWS, metrics="token_recall", interval="bootstrap", level=0.9)
    assert more["token_recall"] == at_once["token_recall"]
    assert more.rows.column_names[-1] == "rouge_l_score[language=en].outcome"
    assert "token_recall" not in find_run(fresh).summary().metrics
    assert [metric.name for metric in more.manifest.metrics] == list(more)
    with pytest.raises(UnknownNameError, match=r"unknown keyword 'langage': did you mean language\?"):
        ragmeter.add_metrics(fresh, "rouge_l_score", langage="en")


def test_a_run_that_was_not_kept_has_a_folder_as_long_as_it_is_used() -> None:
    fresh: Evaluation | None = evaluate(ROWS, metrics="token_f1")
    assert fresh is not None
    folder = fresh.run_folder()
    assert isinstance(folder, TemporaryRun)
    assert fresh.run_folder() is folder
    path = folder.path
    assert folder.rows().equals(fresh.rows)
    assert folder.manifest() == fresh.manifest
    sample = ragmeter.choose_sample(fresh, 3)
    del fresh, folder
    gc.collect()
    assert len(Sheet.of(sample, Path("unwritten.csv")).rows) == 3  # the sample still needs it
    del sample
    gc.collect()
    assert not path.parent.exists()


def test_a_copy_has_a_folder_of_its_own() -> None:
    fresh = evaluate(ROWS, metrics="token_f1")
    first = fresh.run_folder().path
    other = copy.deepcopy(fresh)
    del fresh
    gc.collect()
    assert not first.exists()
    assert ragmeter.gate(other, fail_under={"token_f1": 0.1})


@pytest.mark.parametrize("name", ["a b;ñ.csv", f"{'x' * 240}.csv"])
def test_odd_names_of_files_are_names_of_runs(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("qid,answer,reference\n1,a,a\n2,b,c\n", encoding="utf-8")
    assert ragmeter.gate(evaluate(tmp_path / name, metrics="token_f1"), fail_under={"token_f1": 0.5})


def test_a_process_leaves_no_folder_behind_and_a_fork_takes_none_away(tmp_path: Path) -> None:
    code = """
import os, sys
from ragmeter import evaluate
found = evaluate([{"answer": "a", "reference": "a"}], metrics="exact_match")
path = found.run_folder().path
if not os.fork():
    sys.exit(0)
os.wait()
print(path.exists())
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=300)
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_runs_that_were_not_kept_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "BasicRAG.csv"
    file.write_text("qid,answer,reference\n1,a,a\n2,b,c\n", encoding="utf-8")
    first, second = evaluate(str(file), metrics="token_f1"), evaluate(ROWS[:2], metrics="token_f1")
    third = evaluate(ROWS[:2], metrics="token_f1")
    assert [first.name, second.name] == ["BasicRAG", "this evaluation"]
    assert run_labels(find_runs([first, second])) == ["BasicRAG", "this evaluation"]
    assert ragmeter.compare([second, third]).runs == ["evaluation 1", "evaluation 2"]
    assert ragmeter.compare({"bm25": second, "dense": third}).runs == ["bm25", "dense"]
    assert "bm25" in ragmeter.report({"bm25": second, "dense": third}, tmp_path / "page.html").page.read_text("utf-8")
    assert second.name == "this evaluation"
    kept = [evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path / name) for name in "ab"]
    with pytest.raises(UsageError, match="the run r was kept under this name"):
        ragmeter.compare({"r": kept[0], "another": kept[1]})
    assert ragmeter.compare(kept).runs == [str(tmp_path / "a" / "r"), str(tmp_path / "b" / "r")]
    ragmeter.report([second, third], tmp_path / "out.html")
    assert "evaluation 2" in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_a_calibration_is_kept_only_where_the_run_is(tmp_path: Path) -> None:
    kept = evaluate(ROWS, metrics="exact_match", run="r", output_dir=tmp_path)
    assert ragmeter.calibrate(kept, LABELS).keep(kept) == tmp_path / "r" / "calibration.json"
    fresh = evaluate(ROWS, metrics="exact_match")
    with pytest.raises(UsageError, match=r"was not kept(.|\n)*run=\.\.\., or use write\(path\)"):
        ragmeter.calibrate(fresh, LABELS).keep(fresh)


def test_what_a_run_that_was_not_kept_says_of_itself() -> None:
    fresh = evaluate(ROWS, metrics="token_f1")
    assert find_run(fresh).n_rows == 60
    assert fresh.manifest.inputs == {"results": {"object": "results"}}
    assert fresh.manifest.statistics == fresh.summary.statistics


def test_a_run_that_this_user_may_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("ragmeter.runs.lookup.settle", refuse)
    with pytest.raises(InputError, match=r"secret: can't be read: Permission denied"):
        find_run("secret", tmp_path)


def test_a_name_that_no_folder_can_have(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError):
        find_run("n" * 300, tmp_path)
