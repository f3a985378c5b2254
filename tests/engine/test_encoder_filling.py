"""Columns that a support model fills, wherever the scoring happens."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ragmeter
from ragmeter import add_metrics, compare, evaluate, score_table
from ragmeter.analysis.claim_support import explain_claims
from ragmeter.embedders.onnx import Network
from ragmeter.embedders.pairs import PairClassifier
from ragmeter.errors import InputError, RagmeterWarning, UsageError
from tests.embedders.pair_models import NLI, write_pair_model
from tests.engine.test_parts import write
from tests.in_parts import in_parts

SHORT = "faithfulness[judge=encoder]"


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGMETER_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def model(tmp_path: Path) -> str:
    return str(write_pair_model(tmp_path / "nli"))


def rows(count: int = 12) -> list[dict[str, Any]]:
    numbers = ["one", "two", "three", "four"]
    return [
        {
            "qid": f"q{place}",
            "answer": "I don't know." if place % 4 == 0 else f"The tower is {numbers[place % 4]}. Bananas grow on it.",
            "contexts": ["", f"The tower is {numbers[place % 4]}."],
            "reference": f"The tower is {numbers[place % 4]}.",
        }
        for place in range(count)
    ]


def test_the_columns_are_those_of_the_offline_judge(model: str, tmp_path: Path) -> None:
    names = ["faithfulness", "claim_f1", "hallucination", "context_claim_recall"]
    metrics = [f"{name}[judge={judge}]" for name in names for judge in ("encoder", "offline")]
    run = evaluate(rows(), metrics=metrics, support_model=model, run="a", output_dir=tmp_path)
    assert run[SHORT].mean == 0.5
    assert run[SHORT].n_not_scored == {"abstained": 3}
    table = run.rows.to_pylist()
    offline = {name.partition("[")[0] for name in table[0] if name.endswith("[judge=offline]")}
    of_model = {name.partition("[")[0]: name for name in table[0] if "judge=encoder" in name and "outcome" not in name}
    assert offline == of_model.keys()
    assert json.loads(table[1][of_model["claims"]]) == ["The tower is two.", "Bananas grow on it."]
    labels = json.loads(table[1][of_model["support_by_passages"]])
    assert labels == [["no text", "supported"], ["no text", "not mentioned"]]


def test_the_manifest_has_the_models_hash_and_labels(model: str, tmp_path: Path) -> None:
    kept = evaluate(rows(), metrics=SHORT, support_model=model, run="a", output_dir=tmp_path)
    in_memory = evaluate(rows(), metrics=SHORT, support_model=model)
    (entry,) = (entry for name, entry in kept.manifest.offline.items() if name.startswith("support_by_passages"))
    assert entry.support_model == model
    assert entry.revision.startswith("sha256:")
    assert (entry.labels, entry.supported_by) == (list(NLI), ["entailment"])
    assert in_memory.manifest.offline == kept.manifest.offline


@pytest.mark.parametrize(
    ("contexts", "outcome"), [(["", " "], "no_contexts"), ([], "no_contexts"), (["", "the tower is two"], "scored")]
)
def test_passages_without_text_are_an_outcome(model: str, contexts: list[str], outcome: str) -> None:
    table = pa.Table.from_pylist([{"answer": "The tower is two.", "contexts": contexts}], schema=_SCHEMA)
    scored = score_table(table, SHORT, support_model=model).to_pylist()[0]
    name = next(name for name in scored if name.startswith("faithfulness") and "outcome" not in name)
    assert scored[f"{name}.outcome"] == outcome
    assert scored[name] == (1.0 if outcome == "scored" else None)


_SCHEMA = pa.schema([("answer", pa.string()), ("contexts", pa.list_(pa.string()))])


def test_in_parts(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.engine.parts.sources.PART_BYTES", 500)
    folder = write(tmp_path / "data", rows())
    settings: dict[str, Any] = {"metrics": SHORT, "support_model": model, "output_dir": tmp_path}
    whole = evaluate(rows(), run="whole", **settings)
    parts = in_parts(folder, run="parts", **settings)
    assert len(parts.manifest.parts) > 1
    assert whole[SHORT].mean == parts[SHORT].mean == 0.5
    assert whole.manifest.offline == parts.manifest.offline


def test_a_second_run_makes_no_inference(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = evaluate(rows(), metrics=SHORT, support_model=model)
    monkeypatch.setattr(Network, "run", lambda *given: pytest.fail("the network was run"))
    monkeypatch.setattr(Network, "_load", lambda *given: pytest.fail("the network was loaded"))
    assert evaluate(rows(), metrics=SHORT, support_model=model)[SHORT].mean == first[SHORT].mean


def test_more_metrics_for_a_run(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate(rows(), metrics="token_f1", run="a", output_dir=tmp_path)
    more = add_metrics("a", SHORT, support_model=model, output_dir=tmp_path)
    assert more[SHORT].mean == 0.5
    assert any(entry.support_model == model for entry in more.manifest.offline.values())
    monkeypatch.setattr(PairClassifier, "classify", lambda *given: pytest.fail("it was read again"))
    again = add_metrics("a", f"{SHORT},hallucination[judge=encoder]", support_model=model, output_dir=tmp_path)
    assert again["hallucination"].mean == 0.5


def test_a_run_that_other_files_have_judged_gets_no_more_metrics(model: str, tmp_path: Path) -> None:
    first = evaluate(rows(), metrics=SHORT, support_model=model, run="a", output_dir=tmp_path)
    write_pair_model(Path(model), labels=NLI[::-1], id2label=dict(enumerate(NLI)))  # entailment is contradiction now
    with pytest.raises(UsageError, match=r"was filled by other files of this model \(revision\)"):
        add_metrics("a", "hallucination[judge=encoder]", support_model=model, output_dir=tmp_path)
    again = evaluate(
        tmp_path / "a" / "rows.parquet", metrics=SHORT, support_model=model
    )  # its rows, as a run of their own
    assert (first[SHORT].mean, again[SHORT].mean) == (0.5, 0.0)


def test_nuggets_and_citations(model: str) -> None:
    table = [
        {
            "answer": "The tower is red [1]. It is in Paris [2].",
            "contexts": ["the tower is red", "it is in lyon"],
            "nuggets": [{"text": "the tower is red", "importance": "vital"}, {"text": "berlin", "importance": "vital"}],
        }
    ]
    metrics = ["nugget_recall[judge=encoder]", "citation_precision[judge=encoder]", "citation_recall[judge=encoder]"]
    run = evaluate(table, metrics=metrics, support_model=model)
    assert [run[name].mean for name in metrics] == [0.5, 0.5, 0.5]


def test_two_models_side_by_side(model: str, tmp_path: Path) -> None:
    other = str(write_pair_model(tmp_path / "other", labels=("neutral", "entailment", "contradiction")))
    metrics = [f'{SHORT[:-1]},support_model="{folder}"]' for folder in (model, other)]
    run = evaluate(rows(), metrics=metrics, run="a", output_dir=tmp_path)
    assert [run[name].mean for name in metrics] == [0.5, 0.5]
    sets = explain_claims("a", "q1", output_dir=tmp_path)[0]
    assert [(claims.column.partition("[")[0], claims.by) for claims in sets] == [
        ("claims", f"by {model}"),
        ("claims", f"by {other}"),
    ]
    assert sets[0].claims[0].passages == ((1, "not mentioned"), (2, "supported"))[1:]


def test_runs_of_other_files_are_not_compared_as_equals(model: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"metrics": f"{SHORT},token_f1", "support_model": model, "output_dir": tmp_path}
    first = evaluate(rows(), run="a", **settings)
    same = evaluate(rows(), run="b", **settings)
    name = next(name for name in first.summary.metrics if name.startswith("faithfulness"))
    assert compare([first, same]).pairs[0].metrics[name].p is not None
    shutil.rmtree(model)
    write_pair_model(Path(model), longest=48)
    third = evaluate(rows(), run="c", **settings)
    compared = compare([first, third])
    assert compared.pairs[0].metrics[name].p is None
    assert compared.pairs[0].metrics["token_f1"].p is not None
    assert any("were judged differently (revision: sha256:" in warning for warning in compared.pairs[0].warnings)


def test_runs_of_other_models_have_no_metric_in_common(model: str, tmp_path: Path) -> None:
    other = str(write_pair_model(tmp_path / "other"))
    runs = [evaluate(rows(), metrics=SHORT, support_model=folder) for folder in (model, other)]
    with pytest.raises(UsageError, match="no metric in common"):
        compare(runs)


@pytest.mark.parametrize(
    ("metrics", "named", "message"),
    [
        (SHORT, False, r"faithfulness\[judge=encoder\] needs a support model"),
        ("faithfulness[support_model=x]", False, "asks no support model"),
        ("faithfulness", True, "has no effect on faithfulness"),
        ("token_f1,faithfulness[judge=offline]", True, "has no effect on token_f1, faithfulness"),
        ("llm_correct[judge=encoder]", True, "must be one of"),
        ("passage_relevance[judge=encoder]", True, "passage_relevance"),
    ],
)
def test_what_does_not_fit_is_refused(model: str, metrics: str, named: bool, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        evaluate(rows(), metrics=metrics, support_model=model if named else None)


def test_a_wrong_model_is_refused_before_anything_is_asked(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = json.loads((Path(model) / "config.json").read_text())
    (Path(model) / "config.json").write_text(json.dumps({**content, "id2label": {"0": "joy", "1": "anger"}}))
    judge = ragmeter.Judge(model="fake", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match="say nothing of support: joy, anger"):
        evaluate(rows(), metrics=f"faithfulness,{SHORT}", support_model=model, judge=judge)


def test_labels_that_say_nothing_are_taken_for_no_and_yes_and_said(tmp_path: Path) -> None:
    folder = write_pair_model(
        tmp_path / "m", labels=("neutral", "entailment"), id2label={"0": "LABEL_0", "1": "LABEL_1"}
    )
    with pytest.warns(RagmeterWarning, match="LABEL_1 is taken for supported, and LABEL_0 for unsupported"):
        assert evaluate(rows(), metrics=SHORT, support_model=str(folder))[SHORT].mean == 0.5


def test_a_truncated_network_is_an_error_and_no_number(model: str, tmp_path: Path) -> None:
    content = (Path(model) / "model.onnx").read_bytes()
    (Path(model) / "model.onnx").write_bytes(content[:-200])
    with pytest.raises(InputError, match=r"model\.onnx: can't be loaded"):
        evaluate(rows(), metrics=SHORT, support_model=model, run="a", output_dir=tmp_path / "runs")
    assert not (tmp_path / "runs" / "a").exists()
