"""A real transformer, exported to ONNX, beside sentence-transformers. `make test-slow` installs what this needs."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ragmeter.embedders import port
from ragmeter.embedders.cache import Cache
from ragmeter.embedders.port import Vectors
from tests.embedders import exported
from tests.embedders.helpers import texts

# What PyTorch and its friends warn of is theirs.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def source() -> Path:
    folder = exported.packaged()
    if folder is None or find_spec("sentence_transformers") is None:
        pytest.skip("the model and PyTorch are not installed: make test-slow installs them")
    return folder


@pytest.fixture(scope="module")
def folder(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("transformer") / "all-minilm"
    subprocess.run([sys.executable, exported.__file__, str(path)], check=True, capture_output=True)
    return path


@pytest.fixture(scope="module")
def many() -> list[str]:
    return [*texts(), "x", "北京大学", "🙂", "a long text " * 400]


@pytest.fixture(scope="module")
def oracle(source: Path, many: list[str]) -> Vectors:
    from sentence_transformers import SentenceTransformer

    vectors: Vectors = SentenceTransformer(str(source), device="cpu").encode(many, show_progress_bar=False)
    return vectors


def test_onnx_gives_the_vectors_of_sentence_transformers(
    folder: Path, many: list[str], oracle: Vectors, tmp_path: Path
) -> None:
    cache = Cache(tmp_path)
    model = port.choose(str(folder), None, None, cache)
    assert model.identity.backend == "onnx"
    vectors, truncated = model.embed(many)
    np.testing.assert_allclose(vectors, oracle, atol=1e-4)
    assert truncated[-1]
    assert 1 < truncated.sum() < len(many)
    cache.close()


def test_without_an_onnx_file_sentence_transformers_runs_it(
    source: Path, folder: Path, many: list[str], oracle: Vectors, tmp_path: Path
) -> None:
    cache = Cache(tmp_path)
    model = port.choose(str(source), None, None, cache)
    assert model.identity.backend == "sentence-transformers"
    vectors, truncated = model.embed(many)
    np.testing.assert_allclose(vectors, oracle, atol=1e-5)
    np.testing.assert_array_equal(truncated, port.choose(str(folder), None, None, cache).embed(many)[1])
    cache.close()


def test_a_prefix_is_the_same_for_both(source: Path, folder: Path, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    given = ["a cat", "two dogs"]
    original, converted = (port.choose(str(path), None, "query: ", cache).embed(given)[0] for path in (source, folder))
    np.testing.assert_allclose(original, converted, atol=1e-4)
    cache.close()


def test_meaning_counts_and_not_words(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ragmeter import get_metric

    monkeypatch.setenv("RAGMETER_CACHE", str(tmp_path))
    metric = get_metric("semantic_similarity").with_settings(model=str(folder))
    near, far = metric(["A man is playing a guitar"] * 2, ["Someone plays an instrument", "A man is eating an apple"])
    assert near > far
