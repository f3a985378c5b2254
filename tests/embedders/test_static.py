"""The static model, beside the package's own loader."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from ragmeter.embedders import static
from ragmeter.errors import InputError, MissingExtraError
from tests.embedders.helpers import TOKENIZER, texts


def test_vectors_are_the_packages_own(tmp_path: Path) -> None:
    from wordllama import WordLlama

    (tmp_path / "tokenizers").mkdir()
    shutil.copy(TOKENIZER, tmp_path / "tokenizers")
    oracle = WordLlama.load(cache_dir=tmp_path, disable_download=True)
    many = [*texts(), "x", "北京大学", "🙂", "word " * 70_000]
    vectors, truncated = static.WordLlama("").embed(many)
    np.testing.assert_allclose(vectors[:-1], oracle.embed(many[:-1], batch_size=1), atol=1e-4)
    np.testing.assert_allclose(vectors[-1], oracle.embed(many[-1])[0], atol=1e-3)  # the oracle adds up 70,000 in a row
    assert not truncated.any()


def test_a_prefix_stands_in_front() -> None:
    np.testing.assert_array_equal(
        static.WordLlama("query: ").embed(["a cat"])[0], static.WordLlama("").embed(["query: a cat"])[0]
    )


def test_no_tokens_is_zero() -> None:
    assert not static.WordLlama("").embed([""])[0].any()


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"\[static\]"):
        static.WordLlama("")


def test_a_package_without_its_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(static, "_folder", lambda: tmp_path)
    with pytest.raises(InputError, match="force-reinstall"):
        static.WordLlama("").embed(["x"])
