"""ONNX Runtime, on a real graph with real weights; the transformer's turn is in test_real_transformer.py."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from ragmeter.embedders import onnx
from ragmeter.embedders.cache import Cache
from ragmeter.embedders.folder import ModelFolder
from ragmeter.embedders.onnx import Network, OnnxModel
from ragmeter.errors import InputError, MissingExtraError
from tests.embedders.helpers import CLS, expected, texts, write_folder, write_model


def model(folder: Path, prefix: str = "") -> OnnxModel:
    cache = Cache(folder.parent / "cache")
    try:
        return OnnxModel(ModelFolder("m", folder), prefix, cache)
    finally:
        cache.close()


@pytest.fixture(scope="module")
def plain_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("onnx") / "plain", longest=64)


def test_the_mean_over_tokens_without_padding(plain_folder: Path) -> None:
    many = texts()
    vectors, truncated = model(plain_folder).embed(many)
    np.testing.assert_allclose(vectors, expected(many, longest=64), atol=1e-5)
    uncut = expected(many, longest=10_000)
    changed = np.abs(uncut - expected(many, longest=64)).max(axis=1) > 0
    np.testing.assert_array_equal(truncated, changed)
    assert 0 < truncated.sum() < len(many)


def test_the_prefix_counts(plain_folder: Path) -> None:
    vectors, _ = model(plain_folder, "query: ").embed(["a cat"])
    np.testing.assert_allclose(vectors, expected(["query: a cat"]), atol=1e-6)


def test_the_first_token_and_length_one(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m", pooling=CLS, normalize=True, inputs=("input_ids",))
    vectors, _ = model(folder).embed(["a cat", "two dogs and a cat"])
    first = expected(["a cat", "two dogs and a cat"], first=True)
    np.testing.assert_allclose(vectors, first / np.linalg.norm(first, axis=1, keepdims=True), atol=1e-6)


def test_other_inputs_and_types(tmp_path: Path) -> None:
    inputs = ("input_ids", "token_type_ids", "attention_mask")
    folder = write_folder(tmp_path / "m", inputs=inputs, kind=TensorProto.INT32)
    np.testing.assert_allclose(model(folder).embed(["a cat"])[0], expected(["a cat"]), atol=1e-6)


def test_an_output_that_is_pooled_already(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m", pooling=CLS, output="sentence_embedding")
    np.testing.assert_allclose(model(folder).embed(["a cat"])[0], expected(["a cat"]), atol=1e-6)


def test_lower_case_where_the_model_says_so(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m")
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 8, "do_lower_case": True}))
    np.testing.assert_allclose(model(folder).embed(["A CAT"])[0], expected(["a cat"]), atol=1e-6)


def test_each_core_has_a_batch_of_its_own(plain_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "available_cores", lambda: 3)
    side_by_side, sizes = threading.Barrier(3, timeout=60), []

    def run_with_the_others(of: Network, encoded: Any, *given: Any) -> Any:
        sizes.append(len(encoded))
        side_by_side.wait()
        return run(of, encoded, *given)

    run = Network._run
    monkeypatch.setattr(Network, "_run", run_with_the_others)
    many = texts()[:7]
    np.testing.assert_allclose(model(plain_folder).embed(many)[0], expected(many, longest=64), atol=1e-5)
    assert sorted(sizes) == [1, 3, 3]


def test_no_texts(plain_folder: Path) -> None:
    vectors, truncated = model(plain_folder).embed([])
    assert len(vectors) == len(truncated) == 0


def test_a_broken_file_names_itself(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m")
    (folder / "onnx" / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(InputError, match=r"model\.onnx: can't be loaded"):
        model(folder).embed(["x"])
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"tokenizer\.json: can't be loaded"):
        model(folder).embed(["x"])


def test_inputs_that_nobody_knows(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m")
    write_model(folder / "onnx", inputs=("input_ids", "pixel_values"))
    with pytest.raises(InputError, match="pixel_values"):
        model(folder).embed(["x"])


def test_without_the_extra(plain_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"\[semantic\]"):
        model(plain_folder).embed(["x"])
