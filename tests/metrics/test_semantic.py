"""Semantic similarity: worked cases, and its way through the api and the command."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ragmeter import add_metrics, evaluate, get_metric
from ragmeter.cli.main import main
from ragmeter.embedders.static import WordLlama
from ragmeter.metrics.semantic import similarities
from ragmeter.table import Embeddings
from tests.conftest import Run, load_pairs
from tests.embedders.helpers import write_folder
from tests.embedders.test_openai import answer
from tests.judge_server import JudgeServer

NAME = "semantic_similarity[model=wordllama]"


def test_by_hand() -> None:
    vectors = np.array([[1, 0], [0.6, 0.8], [-1, 0], [0, 0]], dtype=np.float32)
    pairs = [(0, 0, 1.0), (0, 1, 0.6), (1, 2, -0.6), (0, 2, -1.0), (0, 3, 0.0), (3, 3, 1.0)]
    reference, given, expected = (np.array(column) for column in zip(*pairs, strict=True))
    scores = similarities.function(Embeddings(vectors, reference, given))
    np.testing.assert_allclose(scores, expected, atol=1e-7)


@pytest.mark.parametrize(
    ("reference", "given", "expected"),
    [
        ("a cat", "a cat", 1),
        ("cafe\u0301", " caf\u00e9 ", 1),  # one text in NFD, the other in NFC
        ("", "", 1),
        ("", "  \n", 1),
        ("", "x", 0),
        ("x", "", 0),
    ],
)
def test_edge_cases(reference: str, given: str, expected: float) -> None:
    assert get_metric(NAME)([reference], [given])[0] == expected


def test_nothing_at_all() -> None:
    assert len(get_metric(NAME)([], [])) == 0


def test_the_cosine_of_real_texts() -> None:
    references, answers = load_pairs("evouna.jsonl")
    left, right = (WordLlama("").embed([text.strip() for text in side])[0] for side in (references, answers))
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    expected = (left * right).sum(axis=1) / np.where(norms > 0, norms, 1)
    np.testing.assert_allclose(get_metric(NAME)(references, answers), expected, atol=1e-5)


def test_nearer_in_meaning_is_higher() -> None:
    scores = get_metric(NAME)(["the dog barked"] * 2, ["a puppy was barking", "interest rates fell"])
    assert scores[0] > scores[1]


def test_the_best_reference_counts() -> None:
    many = get_metric(NAME)([["interest rates fell", "the dog barked"]], ["the dog barked"])
    assert many[0] == 1


def test_a_lone_half_of_a_character_is_no_crash() -> None:
    assert np.isfinite(get_metric(NAME)(["a\ud800"], ["b"])).all()


def test_the_setting_is_handed_on_and_shown(tmp_path: Path) -> None:
    rows = [{"qid": "1", "answer": "a cat", "reference": "a cat"}]
    evaluation = evaluate(rows, metrics="semantic_similarity,token_f1", embedding_model="wordllama")
    assert list(evaluation) == [NAME, "token_f1"]
    assert evaluation["semantic_similarity"].mean == 1
    assert evaluation.embeddings[0].texts == 1
    assert evaluate(rows, metrics="token_f1").embeddings == []


@pytest.mark.parametrize(
    ("given", "name", "in_full"),
    [
        ("query", "semantic_similarity[prefix=query]", "query: "),
        ("passage", "semantic_similarity[prefix=passage]", "passage: "),
        ("passage: ", "semantic_similarity[prefix=passage]", "passage: "),
        ("Represent: ", 'semantic_similarity[prefix="Represent: "]', "Represent: "),
        ("", 'semantic_similarity[prefix=""]', ""),
    ],
)
def test_the_prefix_is_a_setting(given: str, name: str, in_full: str) -> None:
    metric = get_metric("semantic_similarity").with_settings(prefix=given)
    assert metric.name == name
    assert get_metric(name) == metric
    assert get_metric("satisfaction_score").with_settings(prefix=given).settings["prefix"].in_full() == in_full
    rows = [{"qid": "1", "answer": "a cat", "reference": "a dog"}]
    (used,) = evaluate(
        rows, metrics="semantic_similarity", embedding_model="wordllama", embedding_prefix=given
    ).embeddings
    assert used.prefix == in_full


def test_an_e5_model_gets_query_unless_told_otherwise(tmp_path: Path) -> None:
    folder = str(write_folder(tmp_path / "tiny-e5-small"))
    rows = [{"qid": "1", "answer": "a cat", "reference": "a dog"}]
    prefixes = [
        evaluate(rows, metrics="semantic_similarity", embedding_model=folder, embedding_prefix=prefix).embeddings[0]
        for prefix in (None, "query", "passage", "")
    ]
    assert [used.prefix for used in prefixes] == ["query: ", "query: ", "passage: ", ""]


def test_the_prefix_is_an_option_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text('{"qid":"1","answer":"a cat","reference":"a dog","question":"what"}\n')
    (tmp_path / "answering_cats.py").write_text("def answer(question):\n    return 'a cat'\n")
    options = ["--metrics", "semantic_similarity", "--embedding-model", "wordllama", "--embedding-prefix", "passage"]
    monkeypatch.syspath_prepend(tmp_path)
    for command in (
        ["evaluate", "--results", "rows.jsonl"],
        ["ask", "--dataset", "rows.jsonl", "--target", "answering_cats:answer"],
    ):
        assert main([*command, *options, "--run", command[0]]) == 0, capsys.readouterr().err
        manifest = json.loads((tmp_path / "runs" / command[0] / "manifest.json").read_text())
        assert manifest["embeddings"][0]["prefix"] == "passage: "
        assert manifest["metrics"][0]["name"] == "semantic_similarity[model=wordllama,prefix=passage]"


def test_two_models_in_one_run(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m")
    rows = [{"qid": "1", "answer": "a cat", "reference": "a dog"}]
    other = get_metric("semantic_similarity").with_settings(model=str(folder))
    evaluation = evaluate(rows, metrics=[NAME, other], run="r", output_dir=tmp_path)
    assert [model.backend for model in evaluation.embeddings] == ["static", "onnx"]
    assert evaluation.folder is not None
    assert evaluation.folder.manifest().embeddings == evaluation.embeddings


def test_a_run_of_the_command_says_what_was_cut(ragmeter: Run, tmp_path: Path) -> None:
    write_folder(tmp_path / "m", longest=8)
    rows = [{"qid": str(i), "answer": f"answer {i} " * (1 + i), "reference": "an answer"} for i in range(9)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    command = ("evaluate", "--metrics", "semantic_similarity", "--results", "rows.jsonl", "--run", "a")
    env = {"RAGMETER_CACHE": str(tmp_path / "cache")}
    shown = [ragmeter(*command, "--embedding-model", "./m", env=env) for _ in range(2)]
    manifest = json.loads((tmp_path / "runs" / "a" / "manifest.json").read_text())
    for done in shown:
        assert done.returncode == 0, done.stderr
        assert "too long for ./m" in done.stdout
    assert shown[0].stdout.partition("rows:")[0] == shown[1].stdout.partition("rows:")[0]
    (used,) = manifest["embeddings"]
    assert (used["texts"], used["embedded"], used["from_cache"]) == (10, 0, 10)
    assert 0 < used["truncated"] < 10


def test_a_run_of_the_command_with_an_endpoint(ragmeter: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"qid":"1","answer":"It is Paris","reference":["Paris", "Lyon"]}\n')
    command = ("evaluate", "--metrics", "semantic_similarity", "--results", "rows.jsonl", "--run", "a", "--json")
    with JudgeServer(answer) as server:
        where = ("--embedding-model", "openai:m", "--embedding-base-url", server.url)
        done = [ragmeter(*command, *where, env={"RAGMETER_CACHE": str(tmp_path / "cache")}) for _ in range(2)]
    assert [process.returncode for process in done] == [0, 0], done[0].stderr
    assert server.count == 1  # the second run asks nobody
    expected = get_metric(NAME)(["Paris"], ["It is Paris"])[0]
    (result,) = json.loads(done[1].stdout)["metrics"].values()
    assert result["mean"] == pytest.approx(expected, abs=1e-6)


def test_options_that_do_nothing(ragmeter: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"qid":"1","answer":"a","reference":["a"]}\n')
    done = ragmeter(
        "evaluate", "--evaluator", "EditDistanceEvaluator", "--results", "rows.jsonl", "--embedding-model", "wordllama"
    )
    assert done.returncode == 2
    assert "--embedding-model has no effect" in done.stderr


def test_added_to_a_run_that_is_there(tmp_path: Path) -> None:
    rows = [{"qid": "1", "answer": "a cat", "reference": "a dog"}]
    evaluate(rows, metrics="token_f1", run="r", output_dir=tmp_path)
    evaluation = add_metrics("r", "semantic_similarity", output_dir=tmp_path, model="wordllama")
    assert evaluation.folder is not None
    (used,) = evaluation.folder.manifest().embeddings
    assert (used.model, used.texts) == ("wordllama", 2)
    assert list(evaluation) == ["token_f1", NAME]


def test_runs_at_once_are_counted_apart() -> None:
    def run(number: int) -> int:
        rows = [{"qid": str(i), "answer": f"{number} {i}", "reference": "same"} for i in range(number)]
        (used,) = evaluate(rows, metrics=NAME).embeddings
        return int(used.texts)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, [5, 10, 15, 20])) == [6, 11, 16, 21]
