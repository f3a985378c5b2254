"""Runs in the formats of other tools."""

from __future__ import annotations

import csv
import json
import os
import sys
import types
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import ragmeter
from ragmeter.cli.export import _FORMATS
from ragmeter.errors import MissingExtraError, OutputError, UsageError
from ragmeter.show.exports.export import FORMATS
from ragmeter.show.exports.mlflow import metric_values, safe_names
from tests.conftest import Run
from tests.make_runs import summary_of

ROWS = [
    {"qid": "1", "question": "capital?", "reference": "Paris", "relevant": ["d1", "d3"], "session_id": "s"},
    {"qid": "two 2", "question": "=1+1|x", "reference": "2", "relevant": ["d 2"], "session_id": "s"},
]
ANSWERS = {
    "capital?": {"answer": "Paris", "documents": [{"id": "d1", "text": "A", "score": 0.9},
                                                  {"id": "d2", "text": "B", "score": 0.5},
                                                  {"id": "d1", "text": "A", "score": 0.4}]},
    "=1+1|x": {"answer": "", "documents": [{"id": "d 2", "text": "C", "score": 1},
                                           {"id": "x", "text": "D", "score": 1}]},
}  # fmt: skip


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    metrics = "token_f1,ndcg@10,offline_correct"
    ragmeter.ask(ROWS, lambda question: ANSWERS[question], metrics=metrics, run="r", output_dir=tmp_path / "runs")
    return tmp_path / "runs"


def export(runs: Path, to: str, **options: Any) -> Path:
    return Path(ragmeter.export("r", to, runs.parent / f"out.{to}", output_dir=runs, **options)[0])


def test_the_command_has_all_formats() -> None:
    assert sorted(_FORMATS) == sorted(FORMATS)


def test_rows_as_csv_jsonl_and_parquet(runs: Path) -> None:
    with export(runs, "csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert first["answer"] == "Paris"
    assert json.loads(first["retrieved"]) == ["d1", "d2", "d1"]
    assert second["question"] == "'=1+1|x"  # no spreadsheet runs it
    assert float(first["token_f1"]) == 1
    with export(runs, "csv", guard=False).open(encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file))[1]["question"] == "=1+1|x"
    records = [json.loads(line) for line in export(runs, "jsonl").read_text().splitlines()]
    assert [record["question"] for record in records] == ["capital?", "=1+1|x"]
    assert records[0]["ndcg@10"] == pytest.approx(float(first["ndcg@10"]))
    table = pq.read_table(export(runs, "parquet"))
    assert table.equals(ragmeter.Run(runs / "r").rows())
    assert export(runs, "csv").stat().st_mode & 0o077 == 0  # answers are their owner's


def test_a_missing_score_is_empty_and_null(tmp_path: Path) -> None:
    ragmeter.evaluate(
        [{"answer": "a"}, {"answer": "b", "reference": "b"}], metrics="token_f1", run="r", output_dir=tmp_path
    )
    [path] = ragmeter.export("r", "csv", tmp_path / "x.csv", output_dir=tmp_path)
    with Path(path).open(newline="") as file:
        assert [row["token_f1"] for row in csv.DictReader(file)] == ["", "1.0"]
    [path] = ragmeter.export("r", "jsonl", tmp_path / "x.jsonl", output_dir=tmp_path)
    assert json.loads(Path(path).read_text().splitlines()[0])["token_f1"] is None


def test_a_missing_answer_is_missing_when_the_csv_is_read_again(tmp_path: Path) -> None:
    answers = [{"qid": "1", "answer": "a"}, {"qid": "2", "answer": None}, {"qid": "3", "answer": ""}]
    gold = [{"qid": str(qid), "reference": "a"} for qid in range(1, 5)]
    run = ragmeter.evaluate(answers, gold, metrics="exact_match", run="r", output_dir=tmp_path)
    assert run["exact_match"].n_not_scored == {"no_answer": 1, "no_result": 1}
    for name in ("r.csv", "r.jsonl"):
        ragmeter.export(run, name.partition(".")[2], tmp_path / name)
        again = ragmeter.evaluate(tmp_path / name, metrics="exact_match")
        assert again.rows["answer"].to_pylist() == ["a", None, "", None]
        assert again["exact_match"].mean == run["exact_match"].mean == 0.5
        assert again["exact_match"].n_not_scored == {"no_answer": 2}


def test_rankings_for_trec_eval(runs: Path, tmp_path: Path) -> None:
    run, qrels = ragmeter.export("r", "trec", tmp_path / "x.run", output_dir=runs)
    assert Path(run).read_text().splitlines() == [
        "1 Q0 d1 1 0.9 r",
        "1 Q0 d2 2 0.5 r",  # once, at its first rank
        "two%202 Q0 d%202 1 1.0 r",  # equal scores would leave the order to trec_eval
        "two%202 Q0 x 2 0.5 r",
    ]
    assert Path(qrels).read_text().splitlines() == ["1 0 d1 1", "1 0 d3 1", "two%202 0 d%202 1"]


def test_trec_eval_gives_the_same_ndcg(runs: Path, tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run, qrels = ragmeter.export("r", "trec", tmp_path / "x.run", output_dir=runs)
    with Path(run).open() as ranking, Path(qrels).open() as gold:
        scores = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(gold), {"ndcg_cut_10"}).evaluate(
            pytrec_eval.parse_run(ranking)
        )
    ours = ragmeter.Run(runs / "r").scores("ndcg@10").tolist()
    assert [scores[qid]["ndcg_cut_10"] for qid in ("1", "two%202")] == pytest.approx(ours, abs=1e-9)


def test_repeated_questions_are_in_files_of_their_own(tmp_path: Path) -> None:
    answers = lambda question: ANSWERS[question]  # noqa: E731
    ragmeter.ask(ROWS, answers, metrics="mrr", run="r", output_dir=tmp_path, repeats=2)
    files = ragmeter.export("r", "trec", tmp_path / "x.run", output_dir=tmp_path)
    assert [Path(file).name for file in files] == ["x.run", "x-2.run", "x.qrels"]
    assert Path(files[0]).read_text() == Path(files[1]).read_text()


def test_no_ranking(tmp_path: Path) -> None:
    ragmeter.evaluate([{"answer": "b", "reference": "b"}], metrics="token_f1", run="r", output_dir=tmp_path)
    with pytest.raises(UsageError, match="no ranking"):
        ragmeter.export("r", "trec", output_dir=tmp_path)


def values(attributes: list[dict[str, Any]]) -> dict[str, Any]:
    return {attribute["key"]: next(iter(attribute["value"].values())) for attribute in attributes}


def test_openinference_spans(runs: Path) -> None:
    [line] = export(runs, "openinference").read_text().splitlines()
    [resource] = json.loads(line)["resourceSpans"]
    assert values(resource["resource"]["attributes"])["openinference.project.name"] == "r"
    spans = resource["scopeSpans"][0]["spans"]
    assert [span["name"] for span in spans] == ["question", "retrieval"] * 2
    root, child = spans[:2]
    assert (child["traceId"], child["parentSpanId"]) == (root["traceId"], root["spanId"])
    assert (len(root["traceId"]), len(root["spanId"])) == (32, 16)
    assert int(root["endTimeUnixNano"]) >= int(root["startTimeUnixNano"]) > 0
    about, result = values(root["attributes"]), values(child["attributes"])
    assert about["openinference.span.kind"] == "CHAIN"
    assert (about["input.value"], about["output.value"], about["session.id"]) == ("capital?", "Paris", "s")
    assert about["ragmeter.token_f1"] == 1
    assert result["openinference.span.kind"] == "RETRIEVER"
    assert result["retrieval.documents.1.document.id"] == "d2"
    assert result["retrieval.documents.1.document.content"] == "B"
    assert result["retrieval.documents.1.document.score"] == 0.5
    assert export(runs, "openinference").read_text().splitlines() == [line]


def test_a_failed_question_is_a_span_with_its_error(tmp_path: Path) -> None:
    def broken(question: str) -> str:
        raise ValueError("down")

    keywords: dict[str, Any] = {"run": "r", "output_dir": tmp_path, "retries": 0, "allow_failures": True}
    ragmeter.ask(ROWS, broken, metrics="token_f1", **keywords)
    [path] = ragmeter.export("r", "openinference", tmp_path / "s.jsonl", output_dir=tmp_path)
    span = json.loads(Path(path).read_text())["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    assert span["status"]["code"] == 2
    assert "ValueError: down" in span["status"]["message"]
    assert "ragmeter.token_f1" not in values(span["attributes"])


class Client:
    """What is used of MLflow's client."""

    def __init__(self, tracking_uri: str) -> None:
        self.logged: dict[str, Any] = {"uri": tracking_uri, "metrics": {}, "params": {}, "texts": {}}
        Client.last = self.logged

    last: dict[str, Any]

    def get_experiment_by_name(self, name: str) -> None:
        self.logged["experiment"] = name

    def create_experiment(self, name: str) -> str:
        return "7"

    def create_run(self, experiment_id: str, run_name: str) -> Any:
        self.logged |= {"experiment_id": experiment_id, "name": run_name}
        return types.SimpleNamespace(info=types.SimpleNamespace(run_id="abc"))

    def log_metric(self, run_id: str, key: str, value: float) -> None:
        self.logged["metrics"][key] = value

    def log_param(self, run_id: str, key: str, value: str) -> None:
        self.logged["params"][key] = value

    def log_text(self, run_id: str, text: str, artifact_file: str) -> None:
        self.logged["texts"][artifact_file] = text

    def set_terminated(self, run_id: str) -> None:
        self.logged["terminated"] = run_id


def test_figures_in_mlflow(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", types.SimpleNamespace(MlflowClient=Client))
    monkeypatch.setattr(os, "environ", {**os.environ})
    os.environ.pop("MLFLOW_DISABLE_TELEMETRY", None)
    [place] = ragmeter.export("r", "mlflow", tracking_uri="http://localhost:5000", output_dir=runs)
    assert place == "http://localhost:5000, run abc"
    logged = Client.last
    assert (logged["uri"], logged["name"], logged["experiment"]) == ("http://localhost:5000", "r", "ragmeter")
    assert logged["metrics"]["ndcg_at_10"] == ragmeter.Run(runs / "r").summary().metrics["ndcg@10"].mean
    assert logged["metrics"]["token_f1.n_scored"] == 2
    assert logged["params"]["target.kind"] == "python"
    assert set(logged["texts"]) == {"summary.json", "manifest.json"}
    assert "capital?" not in json.dumps(logged)  # no questions, no answers
    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true", "MLflow sends what is used to its makers"


def test_names_that_mlflow_takes() -> None:
    names = ["ndcg@10", "rouge_l_score[language=es]", "rouge_l_score[language=es", "criteria[file=a/b.toml]", "ñ", "@"]
    safe = safe_names(names)
    assert list(safe.values()) == [
        "ndcg_at_10", "rouge_l_score_language_es", "rouge_l_score_language_es_2", "criteria_file_a/b.toml",
        "metric", "at",
    ]  # fmt: skip
    assert metric_values({"mrr": summary_of(n_total=3)}) == {
        "mrr.n_scored": 0.0,
        "mrr.n_total": 3.0,
    }


def test_mlflow_that_is_missing_or_refuses(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtraError, match="pip install mlflow-skinny"):
        ragmeter.export("r", "mlflow", tracking_uri="x", output_dir=runs)

    def refuse(tracking_uri: str) -> None:
        raise RuntimeError(f"no such server {tracking_uri}")

    monkeypatch.setitem(sys.modules, "mlflow", types.SimpleNamespace(MlflowClient=refuse))
    with pytest.raises(OutputError, match="did not take the run: RuntimeError: no such server http://host/") as error:
        ragmeter.export("r", "mlflow", tracking_uri="http://me:secret@host/", output_dir=runs)
    assert "secret" not in str(error.value)
    with pytest.raises(OutputError, match="name a server, or sqlite"):
        ragmeter.export("r", "mlflow", tracking_uri="./mlruns", output_dir=runs)
    monkeypatch.setattr("ragmeter.show.exports.mlflow.find_spec", lambda name: None)
    with pytest.raises(OutputError, match="for a database: pip install mlflow"):
        ragmeter.export("r", "mlflow", tracking_uri="sqlite:///x.db", output_dir=runs)


def test_mistakes(runs: Path) -> None:
    with pytest.raises(UsageError, match="Nothing is sent anywhere that was not named"):
        ragmeter.export("r", "mlflow", output_dir=runs)
    with pytest.raises(UsageError, match="tracking_uri has no effect on csv"):
        ragmeter.export("r", "csv", tracking_uri="x", output_dir=runs)
    with pytest.raises(UsageError, match="output has no effect on mlflow"):
        ragmeter.export("r", "mlflow", "x", tracking_uri="x", output_dir=runs)
    with pytest.raises(UsageError, match="did you mean parquet"):
        ragmeter.export("r", "paquet", output_dir=runs)
    with pytest.raises(UsageError, match="is a folder"):
        ragmeter.export("r", "csv", runs, output_dir=runs)


def test_the_command(ragmeter: Run, runs: Path, tmp_path: Path) -> None:
    done = ragmeter("export", "r", "--to", "trec")
    assert (done.returncode, done.stdout) == (0, "written: r.run\nwritten: r.qrels\n")
    assert json.loads(ragmeter("export", "r", "--to", "csv", "--json").stdout) == {"written": ["r.csv"]}
    assert (tmp_path / "r.csv").exists()
    assert ragmeter("export", "nobody", "--to", "csv").returncode == 2
    for name in ("k5.csv", "k5.jsonl", "k5.spans.jsonl", "k5.parquet"):  # the ending says enough
        assert ragmeter("export", "r", "--output", name).stdout == f"written: {name}\n"
    assert "resourceSpans" in (tmp_path / "k5.spans.jsonl").read_text()
    assert "resourceSpans" not in (tmp_path / "k5.jsonl").read_text()
    for arguments, problem in (([], "no format was named"), (["--output", "k5.xyz"], "k5.xyz says no format")):
        done = ragmeter("export", "r", *arguments)
        assert (done.returncode, problem in done.stderr, ".spans.jsonl" in done.stderr) == (2, True, True)


@pytest.mark.parametrize("to", ["jsonl", "csv"])
def test_what_a_run_was_made_from_is_not_overwritten(
    to: str, ragmeter: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / f"nightly.{to}"
    text = {"jsonl": '{"qid": "1", "answer": "a", "reference": "a"}\n', "csv": "qid,answer,reference\n1,a,a\n"}[to]
    source.write_text(text)
    assert ragmeter("evaluate", "--results", source.name, "--metrics", "token_f1", "--run", "nightly").returncode == 0
    for command in (
        ("export", "nightly", "--to", to),
        ("report", "nightly", "--markdown", source.name),
        ("gate", "nightly", "--fail-under", "token_f1=0", "--junit", source.name),
    ):
        refused = ragmeter(*command)
        assert refused.returncode == 2, command
        assert "is a file that the run nightly was made from, and is not overwritten" in refused.stderr
    source.write_text(text + text.splitlines()[-1].replace("1", "2") + "\n")  # changed since, and still the user's
    assert ragmeter("export", "nightly", "--to", to).returncode == 2
    source.rename(tmp_path / "elsewhere")
    for _ in range(2):  # its own file is written again and again
        assert ragmeter("export", "nightly", "--to", to).returncode == 0
