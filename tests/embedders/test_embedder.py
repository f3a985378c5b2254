"""One model for one run: counted, shared by threads, and let go in the middle if need be."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ragmeter.embedders.embedder import Embedder, Embedders, embed, plain
from ragmeter.embedders.port import Flags, Vectors
from ragmeter.embedders.static import WordLlama
from ragmeter.errors import InputError, Interrupted, UsageError
from tests.embedders.helpers import texts, write_folder


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGMETER_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [(" a b \n", "a b"), ("cafe\u0301", "café"), ("\ud83d\ude42", "🙂"), ("a\ud800b", "a\ufffdb"), ("\u3000", "")],
)
def test_plain(raw: str, expected: str) -> None:
    assert plain(raw) == expected


def test_truncated_texts_are_counted_in_every_run(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m", longest=16)
    many = texts()
    counts = []
    for _ in range(2):
        with Embedders() as run:
            embedder = run.of(str(folder), None, None)
            embedder.embed(many[:50])
            embedder.embed(many[40:])
            (used,) = run.used()
        counts.append(used)
    assert 0 < counts[0].truncated < counts[0].texts == len(many)
    assert (counts[0].embedded, counts[1].embedded) == (len(many), 0)
    assert counts[0].truncated == counts[1].truncated
    assert (counts[0].backend, counts[0].dimensions) == ("onnx", 256)
    assert counts[0].revision.startswith("sha256:")


def test_threads_take_turns_and_embed_each_text_once(monkeypatch: pytest.MonkeyPatch) -> None:
    many = texts()
    seen: list[str] = []
    inside = threading.Semaphore(1)
    real = WordLlama.embed

    def watched(self: WordLlama, given: list[str]) -> tuple[Vectors, Flags]:
        assert inside.acquire(blocking=False), "two at once"
        seen.extend(given)
        try:
            return real(self, given)
        finally:
            inside.release()

    monkeypatch.setattr(WordLlama, "embed", watched)
    with Embedders() as run, ThreadPoolExecutor(4) as pool:
        embedder = run.of("wordllama", None, None)
        results = list(pool.map(lambda start: embedder.embed(many[start:]), range(8)))
    assert sorted(seen) == sorted(many)
    for start, vectors in enumerate(results):
        np.testing.assert_array_equal(vectors, results[0][start:])


def test_a_run_that_is_over_embeds_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Embedder("wordllama", None, None)
    real = WordLlama.embed

    def and_stop(self: WordLlama, given: list[str]) -> tuple[Vectors, Flags]:
        embedder.close()  # as the main thread does after Ctrl-C, while this one is at work
        return real(self, given)

    monkeypatch.setattr(WordLlama, "embed", and_stop)
    with pytest.raises(Interrupted):
        embedder.embed([f"text {number}" for number in range(2000)])
    monkeypatch.undo()


def test_vectors_that_are_no_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    real = WordLlama.embed
    monkeypatch.setattr(WordLlama, "embed", lambda self, given: (real(self, given)[0] * np.nan, np.zeros(1, bool)))
    with pytest.raises(InputError, match="no numbers"):
        embed(["never seen before"], "wordllama", None, None)


def test_a_model_that_fails_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: WordLlama, given: list[str]) -> tuple[Vectors, Flags]:
        raise IndexError("out of range")

    monkeypatch.setattr(WordLlama, "embed", fails)
    with pytest.raises(UsageError, match="the embedding model wordllama failed with IndexError: out of range"):
        embed(["never seen before"], "wordllama", None, None)


def test_outside_a_run() -> None:
    vectors = embed(["a cat", "a dog"], "wordllama", None, None)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
