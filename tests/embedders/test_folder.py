"""What a model's files say, and what is said of a folder that is none."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ragmeter.embedders.cache import Cache
from ragmeter.embedders.folder import ModelFolder, find
from ragmeter.errors import InputError, UsageError


def folder(path: Path, **files: Any) -> ModelFolder:
    """A folder with these JSON files; two underscores stand for a slash."""
    for name, content in files.items():
        file = path / f"{name.replace('__', '/')}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content), encoding="utf-8")
    return ModelFolder("m", path)


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        ({}, "mean"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False, "include_prompt": True}, "mean"),
        ({"pooling_mode_cls_token": True}, "cls"),
        ({"pooling_mode": "cls"}, "cls"),
        ({"pooling_mode": "lasttoken"}, None),
        ({"pooling_mode_max_tokens": True}, None),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, None),
    ],
)
def test_pooling(tmp_path: Path, config: dict[str, Any], pooling: str | None) -> None:
    assert folder(tmp_path, **{"1_Pooling__config": config}).pooling == pooling


def test_pooling_in_another_place(tmp_path: Path) -> None:
    modules = [{"path": "7_Pooling", "type": "sentence_transformers.models.Pooling"}]
    assert folder(tmp_path, modules=modules, **{"7_Pooling__config": {"pooling_mode": "cls"}}).pooling == "cls"


@pytest.mark.parametrize(
    ("files", "longest"),
    [
        ({}, None),
        ({"sentence_bert_config": {"max_seq_length": 256}, "tokenizer_config": {"model_max_length": 512}}, 256),
        ({"tokenizer_config": {"model_max_length": 512}}, 512),
        ({"tokenizer_config": {"model_max_length": 1e30}, "config": {"max_position_embeddings": 128}}, 128),
        ({"config": {"model_type": "xlm-roberta", "max_position_embeddings": 514, "pad_token_id": 1}}, 512),
    ],
)
def test_longest_text(tmp_path: Path, files: dict[str, Any], longest: int | None) -> None:
    assert folder(tmp_path, **files).longest == longest


def test_the_default_prompt(tmp_path: Path) -> None:
    prompts = {"prompts": {"a": "search: ", "b": "x"}}
    assert folder(tmp_path, config_sentence_transformers=prompts).prompt == ""
    assert folder(tmp_path, config_sentence_transformers={**prompts, "default_prompt_name": "a"}).prompt == "search: "


def test_what_onnx_leaves_out(tmp_path: Path) -> None:
    model = folder(tmp_path, tokenizer={})
    assert "no ONNX file" in model.unfit_for_onnx()
    (tmp_path / "model.onnx").touch()
    assert ModelFolder("m", tmp_path).unfit_for_onnx() == ""
    (tmp_path / "tokenizer.json").unlink()
    assert "tokenizer.json" in ModelFolder("m", tmp_path).unfit_for_onnx()
    dense = folder(tmp_path, tokenizer={}, modules=[{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}])
    assert "Dense" in dense.unfit_for_onnx()


def test_which_onnx_file(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").touch()
    assert ModelFolder("m", tmp_path).onnx_file == tmp_path / "a.onnx"
    (tmp_path / "b.onnx").touch()
    assert ModelFolder("m", tmp_path).onnx_file is None
    (tmp_path / "model.onnx").touch()
    assert ModelFolder("m", tmp_path).onnx_file == tmp_path / "model.onnx"


@pytest.mark.parametrize("content", ["{", "[]", "7"])
def test_a_file_that_can_not_be_read_names_itself(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(InputError, match=r"config\.json"):
        _ = ModelFolder("m", tmp_path).padding


def test_the_revision_is_a_hash_of_the_files_and_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "model"
    files = folder(model, config={"a": 1}, tokenizer={})
    (model / "model.onnx").write_bytes(b"one")
    cache = Cache(tmp_path / "cache")
    hashed = []
    digest = hashlib.file_digest

    def counted(*given: Any) -> Any:
        hashed.append(given)
        return digest(*given)

    monkeypatch.setattr(hashlib, "file_digest", counted)
    first = files.revision(cache, onnx=True)
    count = len(hashed)
    assert first.startswith("sha256:")
    assert files.revision(cache, onnx=True) == first
    assert len(hashed) == count > 0
    (model / "model.onnx_data").write_bytes(b"more weights")
    second = files.revision(cache, onnx=True)
    (model / "model.onnx").write_bytes(b"two")
    os.utime(model / "model.onnx", ns=(1, 1))
    third = files.revision(cache, onnx=True)
    assert len({first, second, third}) == 3
    copy = folder(tmp_path / "copy", config={"a": 1}, tokenizer={})
    (tmp_path / "copy" / "model.onnx").write_bytes(b"one")
    assert copy.revision(cache, onnx=True) == first  # wherever it lies
    cache.close()


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/folder", "a/b/c", "a b", ""])
def test_no_such_folder(name: str) -> None:
    with pytest.raises(UsageError, match="wordllama"):
        find(name)
