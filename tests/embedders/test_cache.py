"""The cache: what it keeps, and that a run goes on without it."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ragmeter.documents.manifest import EmbeddingUse
from ragmeter.embedders.cache import Cache, cache_folder, keys_of, remove_cache
from ragmeter.embedders.embedder import Embedders
from ragmeter.embedders.port import Identity
from ragmeter.embedders.static import WordLlama
from tests.command import PATIENCE
from tests.embedders.helpers import texts

IDENTITY = Identity("static", "m", "r", "")
FILE = "embeddings.sqlite"


def embed_all(many: list[str]) -> EmbeddingUse:
    """One run's worth; says what was done."""
    with Embedders() as run:
        vectors = run.of("wordllama", None, None).embed(many)
        (used,) = run.used()
    oracle, _ = WordLlama("").embed(many)
    np.testing.assert_allclose(vectors, oracle / np.linalg.norm(oracle, axis=1, keepdims=True), atol=1e-6)
    return used


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGMETER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAGMETER_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("RAGMETER_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "ragmeter"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "ragmeter"


def test_keys_depend_on_all_that_vectors_depend_on() -> None:
    others = [
        IDENTITY,
        Identity("onnx", "m", "r", ""),
        Identity("static", "n", "r", ""),
        Identity("static", "m", "s", ""),
        Identity("static", "m", "r", "query: "),
        Identity("static", "m", "r", "", "http://127.0.0.1/v1"),
    ]
    keys = {key for identity in others for key in keys_of(identity, ["a", "b"])}
    assert len(keys) == 2 * len(others)
    assert keys_of(IDENTITY, ["a"]) == keys_of(IDENTITY, ["a"])


def test_what_was_put_in_comes_out(tmp_path: Path) -> None:
    keys = keys_of(IDENTITY, [str(number) for number in range(1200)])
    vectors = np.random.default_rng(1).normal(size=(1200, 8)).astype(np.float32)
    cache = Cache(tmp_path)
    cache.put({key: (bool(i % 2), vectors[i]) for i, key in enumerate(keys)})
    cache.close()
    cache = Cache(tmp_path)
    cached = cache.get([*keys, b"another"])
    cache.close()
    assert [cached[key][0] for key in keys] == [bool(i % 2) for i in range(1200)]
    np.testing.assert_array_equal(np.stack([cached[key][1] for key in keys]), vectors)
    assert len(cached) == 1200


def test_a_second_run_embeds_nothing_and_loads_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = texts()
    used = embed_all(many)
    assert (used.texts, used.embedded, used.from_cache, used.truncated) == (len(many), len(many), 0, 0)
    monkeypatch.setattr("ragmeter.embedders.embedder._loaded", {})

    def never(*given: object) -> None:
        raise AssertionError("the model was loaded")

    with monkeypatch.context() as patched:
        patched.setattr(WordLlama, "_load", never)
        with Embedders() as run:
            run.of("wordllama", None, None).embed(many)
            (used,) = run.used()
    assert (used.embedded, used.from_cache) == (0, len(many))
    assert embed_all([*many, "one more"]).embedded == 1


def flip(file: Path, content: bytes, bit: int) -> None:
    """Flip one bit of the place where the file has this."""
    whole = bytearray(file.read_bytes())
    whole[whole.index(content) + bit // 8] ^= 1 << bit % 8
    file.write_bytes(whole)


def test_a_damaged_vector_is_computed_again_and_that_is_said(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Every bit counts, a sign as well, after which the vector is as long as before."""
    many = texts()
    embed_all(many)
    with sqlite3.connect(folder / FILE) as database:
        vectors = [vector for (vector,) in database.execute("SELECT vector FROM vectors")]
    database.close()
    for number, vector in enumerate(vectors[:5]):
        flip(folder / FILE, vector, 31 if number == 0 else 37 * number)
    with caplog.at_level(logging.WARNING, "ragmeter"):
        assert embed_all(many).embedded == 5  # which compares with the model's own vectors
    assert "5 vectors in the cache of embeddings are damaged" in caplog.text
    assert str(folder / FILE) in caplog.text
    caplog.clear()
    assert embed_all(many).embedded == 0
    assert not caplog.text


@pytest.mark.parametrize(
    "harm", ["truncated = 'x'", "truncated = 1", "vector = 'text'", "vector = x''", "checksum = 7"]
)
def test_a_row_of_something_else_is_damaged(tmp_path: Path, harm: str, caplog: pytest.LogCaptureFixture) -> None:
    key = keys_of(IDENTITY, ["a"])[0]
    vector = np.array([0.6, 0.8], dtype=np.float32)
    for _ in range(2):
        cache = Cache(tmp_path)
        assert cache.get([key]) == {}
        cache.put({key: (False, vector)})
        assert cache.get([key])[key][1].tolist() == vector.tolist()
        cache.close()
        with sqlite3.connect(tmp_path / FILE) as database:
            database.execute(f"UPDATE vectors SET {harm}")  # noqa: S608
        database.close()
    assert "1 vector in the cache of embeddings is damaged" in caplog.text


def test_a_damaged_schema_is_said_and_the_run_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """SQLite quotes the damaged bytes in its message, which is no UTF-8 then."""
    Cache(tmp_path).close()
    content = bytearray((tmp_path / FILE).read_bytes())
    content[content.index(b"CREATE TABLE ") + 12] = 0xCE
    (tmp_path / FILE).write_bytes(content)
    cache = Cache(tmp_path)
    cache.put({b"key": (False, np.array([0.6, 0.8], dtype=np.float32))})
    assert b"key" in cache.get([b"key"])
    cache.close()
    assert f"can't be used: {tmp_path / FILE}: its schema is damaged" in caplog.text


def test_a_cache_with_a_damaged_schema_can_be_removed(folder: Path) -> None:
    Cache().close()
    content = bytearray((folder / FILE).read_bytes())
    content[content.index(b"CREATE TABLE ") + 12] = 0xCE
    (folder / FILE).write_bytes(content)
    remove_cache()
    assert not (folder / FILE).exists()


def broken(folder: Path) -> None:
    (folder / FILE).write_bytes(b"this is no database at all, and it is longer than a header " * 20)


def foreign(folder: Path) -> None:
    database = sqlite3.connect(folder / FILE)
    database.execute("CREATE TABLE vectors (other TEXT)")
    database.close()


def newer(folder: Path) -> None:
    Cache(folder).close()
    database = sqlite3.connect(folder / FILE)
    database.execute("PRAGMA user_version = 99")
    database.close()


def cut_short(folder: Path) -> None:
    embed_all(texts())
    content = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize("harm", [broken, foreign, newer, cut_short])
def test_without_a_cache_that_can_be_used(folder: Path, harm: object, caplog: pytest.LogCaptureFixture) -> None:
    assert callable(harm)
    folder.mkdir()
    harm(folder)
    before = (folder / FILE).read_bytes()
    many = texts()
    with caplog.at_level(logging.WARNING, "ragmeter"):
        assert embed_all(many).embedded == len(many)
    assert "RAGMETER_CACHE" in caplog.text
    assert caplog.text.count("can't be used") == 1
    assert (folder / FILE).read_bytes() == before


def test_a_folder_that_can_not_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("RAGMETER_CACHE", str(tmp_path / "file" / "cache"))
    with Embedders() as run:
        embedder = run.of("wordllama", None, None)
        embedder.embed(["a", "b"])
        embedder.embed(["b", "c"])
        (used,) = run.used()
    assert (used.texts, used.embedded) == (3, 3)  # each distinct text once, all the same
    assert "can't be used" in caplog.text


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def homeless(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("RAGMETER_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    cache = Cache()
    cache.put({b"key": (True, np.ones(2, dtype=np.float32))})
    assert cache.get([b"key"])[b"key"][0]
    cache.close()
    assert "can't be used" in caplog.text


WRITER = """
import sys
import numpy as np
from pathlib import Path
from ragmeter.embedders.cache import Cache, keys_of
from ragmeter.embedders.port import Identity
cache = Cache(Path(sys.argv[1]))
for part in range(40):
    keys = keys_of(Identity("b", "m", "r", ""), [f"{part} {i}" for i in range(50)])
    cache.put({key: (False, np.full(16, part, dtype=np.float32)) for key in keys})
    assert len(cache.get(keys)) == 50
assert cache.path is not None, "gave the file up"
cache.close()
"""


def test_several_processes_at_once(tmp_path: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for process in running:
        _, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, errors) == (0, "")
    cache = Cache(tmp_path)
    keys = keys_of(Identity("b", "m", "r", ""), [f"{part} {i}" for part in range(40) for i in range(50)])
    cached = cache.get(keys)
    cache.close()
    assert [int(cached[key][1][0]) for key in keys] == [part for part in range(40) for _ in range(50)]
