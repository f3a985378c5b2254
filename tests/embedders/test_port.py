"""Which backend a name stands for, and what is said where there is none."""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter import add_metrics, evaluate, get_metric
from ragmeter.embedders import hub, port, sentence
from ragmeter.embedders.cache import Cache
from ragmeter.embedders.folder import ModelFolder
from ragmeter.errors import MissingExtraError, RagmeterWarning, UnknownNameError, UsageError
from ragmeter.registry import Kind
from tests.conftest import Run
from tests.embedders.helpers import write_folder

E5 = "intfloat/multilingual-e5-base"
COMMIT = "d13f1b27baf31030b7fd040960d60d909913633f"
ROWS = '{"qid":"1","answer":"It is Paris","reference":["Paris"]}\n{"qid":"2","answer":"","reference":["x"]}\n'


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        (E5, "query: "),
        ("intfloat/e5-small-v2", "query: "),
        ("models/multilingual-e5-large", "query: "),
        ("intfloat/multilingual-e5-large-instruct", ""),
        ("sentence-transformers/all-MiniLM-L6-v2", ""),
        ("someone/the5th", ""),
    ],
)
def test_the_prefix_of_e5(name: str, prefix: str, tmp_path: Path) -> None:
    assert port._prefix(name, ModelFolder(name, tmp_path)) == prefix


def test_a_prefix_that_is_given_wins(tmp_path: Path, cache: Cache) -> None:
    folder = str(write_folder(tmp_path / "my-e5-model"))
    assert port.choose(folder, None, None, cache).identity.prefix == "query: "
    assert port.choose(folder, None, "passage: ", cache).identity.prefix == "passage: "
    assert port.choose(folder, None, "", cache).identity.prefix == ""


def test_an_endpoint_for_a_model_that_needs_none(cache: Cache) -> None:
    with pytest.raises(UsageError, match="openai:NAME"):
        port.choose("wordllama", "http://127.0.0.1:1/v1", None, cache)


class Letters:
    """A backend from a plugin: a text's vector is its length."""

    identity = port.Identity("letters", "letters:1", None, "")

    def embed(self, texts: list[str]) -> tuple[port.Vectors, port.Flags]:
        return np.asarray([[len(text), 1] for text in texts], dtype=np.float32), np.zeros(len(texts), dtype=np.bool_)


class LettersKind(Kind[port.Backend]):
    prefix = "letters:"

    def open(self, given: Any, settings: Mapping[str, Any]) -> port.Backend:
        return Letters()


def test_a_kind_from_a_plugin(monkeypatch: pytest.MonkeyPatch, cache: Cache) -> None:
    point = EntryPoint("letters", f"{__name__}:LettersKind", "ragmeter.embedders")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point] if group == point.group else [])
    assert port.choose("letters:1", None, None, cache).embed(["abc"])[0].tolist() == [[3, 1]]
    with pytest.raises(UsageError, match="does not run behind one"):
        port.choose("letters:1", "http://127.0.0.1:1/v1", None, cache)


def test_an_unknown_prefix(cache: Cache) -> None:
    with pytest.raises(UnknownNameError, match="unknown kind of embedding model 'opnai:': did you mean openai:"):
        port.choose("opnai:text-embedding-3-small", None, None, cache)


def test_a_folder_without_onnx(tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence, "available", lambda: False)
    with pytest.raises(UsageError, match="pip install sentence-transformers"):
        port.choose(str(tmp_path), None, None, cache)
    monkeypatch.setattr(sentence, "available", lambda: True)
    assert port.choose(str(tmp_path), None, None, cache).identity.backend == "sentence-transformers"


def test_the_hub_without_its_library(monkeypatch: pytest.MonkeyPatch, cache: Cache) -> None:
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"\[semantic\]"):
        port.choose(E5, None, None, cache)


def test_a_name_that_no_model_has(cache: Cache) -> None:
    with pytest.raises(UsageError, match="the hub has no model"):
        port.choose("some--one/a..b", None, None, cache)


def test_which_files_are_fetched() -> None:
    files = ["onnx/model.onnx", "onnx/model_qint8.onnx", "model.safetensors", "tokenizer.json"]
    assert "onnx/model.onnx" in hub._onnx_files(files)
    assert hub._onnx_files(["model.safetensors", "tokenizer.json"]) == []
    assert hub._onnx_files(["onnx/model.onnx", "sentencepiece.bpe.model"]) == []


def test_a_hub_that_can_not_be_reached(ragmeter_process: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(ROWS)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    env = {"HF_HOME": str(tmp_path / "hub"), "HF_ENDPOINT": f"http://127.0.0.1:{port}"}
    options = ("--results", "rows.jsonl", "--embedding-model", E5)
    done = ragmeter_process("evaluate", "--metrics", "semantic_similarity", *options, env=env)
    assert done.returncode == 2
    assert "the hub can't be reached" in done.stderr
    assert "--embedding-model FOLDER" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "runs").glob("*"))


def test_a_model_that_was_fetched_before(ragmeter_process: Run, tmp_path: Path) -> None:
    """The earlier tools' model, where the hub's library keeps it. The weights are others; the way is real."""
    place = tmp_path / "hub" / "hub" / f"models--{E5.replace('/', '--')}"
    write_folder(place / "snapshots" / COMMIT)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(COMMIT)
    (tmp_path / "rows.jsonl").write_text(ROWS)
    env = {"HF_HOME": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"}
    options = ("--results", "rows.jsonl", "--run", "a", "--json", "--embedding-model", E5)
    done = ragmeter_process("evaluate", "--metrics", "semantic_similarity", *options, env=env)
    assert done.returncode == 0, done.stderr
    manifest = (tmp_path / "runs" / "a" / "manifest.json").read_text()
    for part in (f'"revision": "{COMMIT}"', '"prefix": "query: "', f'"model": "{E5}"', '"embedded": 3'):
        assert part in manifest


def test_without_a_name_the_model_that_needs_no_network(tmp_path: Path) -> None:
    rows = [{"answer": "It is Paris", "reference": "Paris"}]
    with pytest.warns(RagmeterWarning, match="no embedding model was named: wordllama is used.*embedding_model="):
        unnamed = evaluate(rows, metrics="semantic_similarity", run="r", output_dir=tmp_path)
    assert list(unnamed) == ["semantic_similarity[model=wordllama]"]
    named = evaluate(rows, metrics="semantic_similarity", embedding_model="wordllama")
    assert named["semantic_similarity"].mean == unnamed["semantic_similarity"].mean
    with pytest.warns(RagmeterWarning, match="no embedding model was named"):
        (direct,) = get_metric("semantic_similarity")(["Paris"], ["It is Paris"])
    assert direct == named["semantic_similarity"].mean
    with pytest.warns(RagmeterWarning, match="no embedding model was named"):
        more = add_metrics(unnamed, "semantic_similarity[prefix=query],token_f1")
    assert "semantic_similarity[model=wordllama,prefix=query]" in more


def test_without_a_name_and_without_that_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"no embedding model was named[^$]*embedding_model=[^$]*\[static\]"):
        evaluate([{"answer": "a", "reference": "a"}], metrics="semantic_similarity")
