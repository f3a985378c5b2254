"""A support model for a run: what it reads, what the cache knows, and where its files come from."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter.embedders.embedder import Embedders
from ragmeter.embedders.pairs import PairClassifier
from ragmeter.errors import InputError, UsageError
from ragmeter.judges.encoder import EncoderSupport
from tests.conftest import Run
from tests.embedders.pair_models import expected, write_pair_model
from tests.embedders.test_hub import COMMIT, NAME, ROWS, Hub

CLAIMS = [["The tower is in Paris", "it is red"], [], ["the tower"], ["the plan", " "]]
PASSAGES = [["The tower is in Paris.", "It is not red"], ["Rain."], ["", " "], ["the plan", "", "not the plan"]]


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGMETER_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_pair_model(tmp_path / "m")


def probabilities(folder: Path, claims: Any = CLAIMS, passages: Any = PASSAGES) -> list[Any]:
    with Embedders() as models:
        return list(models.support(str(folder)).probabilities(claims, passages))


def test_each_claim_by_each_passage(folder: Path) -> None:
    rows = probabilities(folder)
    assert [row.shape for row in rows] == [(2, 2, 2), (0, 1, 2), (1, 2, 2), (2, 3, 2)]
    for claims, passages, row in zip(CLAIMS, PASSAGES, rows, strict=True):
        for place, claim in enumerate(claims):
            for rank, passage in enumerate(passages):
                chances = expected(passage, claim)
                oracle = (chances[0], chances[2]) if passage.strip() and claim.strip() else (0, 0)
                np.testing.assert_allclose(row[place, rank], oracle, atol=1e-6)


def test_labels(folder: Path) -> None:
    with Embedders() as models:
        support = EncoderSupport(models.support(str(folder)))
        assert support.labels(CLAIMS, PASSAGES) == [
            [["supported", "not mentioned"], ["not mentioned", "contradicted"]],
            [],
            [["no text", "no text"]],
            [["supported", "no text", "contradicted"], ["not mentioned", "no text", "not mentioned"]],
        ]
        assert [len(row) for row in support.chances([["the plan", "red"], []], ["the plan", ""])] == [2, 0]


def test_a_second_run_reads_no_pair(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = probabilities(folder)
    monkeypatch.setattr(PairClassifier, "classify", lambda *given: pytest.fail("it was read again"))
    for one, other in zip(first, probabilities(folder), strict=True):
        np.testing.assert_array_equal(one, other)
    with Embedders() as models:
        assert models.support(str(folder)).computed == 0


def test_each_distinct_pair_is_read_once(folder: Path) -> None:
    with Embedders() as models:
        model = models.support(str(folder))
        assert model is models.support(str(folder))
        list(model.probabilities([["the tower"] * 3] * 4, [["the tower", "the tower ", "e\u0301"]] * 4))
        assert model.computed == 2
        list(model.probabilities([["the tower"]], [["\u00e9"]]))
        assert model.computed == 2


def test_other_files_are_another_model(folder: Path) -> None:
    before = probabilities(folder)
    write_pair_model(folder, labels=("neutral", "entailment", "contradiction"), longest=48)
    with Embedders() as models:
        model = models.support(str(folder))
        after = list(model.probabilities(CLAIMS, PASSAGES))
        assert model.computed > 0
        said = model.described(["support"])
        assert (said.labels, said.supported_by) == (["neutral", "entailment", "contradiction"], ["entailment"])
    np.testing.assert_allclose(after[0], before[0], atol=1e-6)


def test_numbers_that_are_none_are_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: PairClassifier, pairs: list[str]) -> Any:
        return np.full((len(pairs), 2), np.nan, np.float32), np.zeros(len(pairs), np.bool_)

    monkeypatch.setattr(PairClassifier, "classify", broken)
    with pytest.raises(InputError, match=r"the support model .* gave probabilities that are no numbers"):
        probabilities(folder)


@pytest.mark.parametrize("lost", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_a_network(folder: Path, lost: str) -> None:
    (folder / lost).unlink()
    (folder / "model.safetensors").write_bytes(b"weights")
    with pytest.raises(UsageError, match="can't run on ONNX Runtime: it has no") as refused:
        probabilities(folder)
    assert "optimum-cli export onnx --model" in (refused.value.hint or "")


@pytest.mark.parametrize("name", ["", "no/such/folder", "openai:gpt", "../x", "wordllama:"])
def test_a_name_that_is_none(name: str) -> None:
    with pytest.raises(UsageError, match="there is no support model"), Embedders() as models:
        models.support(name)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    served = write_pair_model(tmp_path / "served")
    with Hub(served) as server:
        for more in ("model.safetensors", "pytorch_model.bin", "modeling_own.py"):
            (served / more).write_bytes(b"big, and not asked for")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def evaluate(ragmeter_process: Run, tmp_path: Path, hub: Hub, model: str = NAME) -> Any:
    (tmp_path / "rows.jsonl").write_text('{"qid":"1","answer":"It is red","contexts":["it is red"]}\n')
    options = ("--results", "rows.jsonl", "--run", "a", "--support-model", model)
    metric = "faithfulness[judge=encoder]"
    return ragmeter_process("evaluate", "--metrics", metric, *options, env={"HF_HOME": "hub", **hub.env})


def test_a_model_of_the_hub_is_fetched_once_and_no_more_of_it_than_is_needed(
    ragmeter_process: Run, tmp_path: Path, hub: Hub
) -> None:
    first = evaluate(ragmeter_process, tmp_path, hub)
    assert first.returncode == 0, first.stderr
    offline = json.loads((tmp_path / "runs" / "a" / "manifest.json").read_text())["offline"]
    assert {entry["revision"] for entry in offline.values()} == {COMMIT}
    assert set(hub.fetched) == {"config.json", "model.onnx", "tokenizer.json"}
    calls = hub.calls
    second = evaluate(ragmeter_process, tmp_path, hub)
    assert second.returncode == 0, second.stderr
    assert hub.calls == calls  # what is here is used, and nobody is asked


def test_a_model_of_the_hub_without_an_onnx_file(ragmeter_process: Run, tmp_path: Path, hub: Hub) -> None:
    (tmp_path / "served" / "model.onnx").unlink()
    done = evaluate(ragmeter_process, tmp_path, hub)
    assert done.returncode == 2
    assert f"`optimum-cli export onnx --model {NAME} --task text-classification FOLDER`" in done.stderr
    assert "model.safetensors" not in hub.fetched


def test_a_folder_asks_nobody(ragmeter_process: Run, tmp_path: Path, hub: Hub) -> None:
    assert evaluate(ragmeter_process, tmp_path, hub, str(tmp_path / "served")).returncode == 0
    missing = evaluate(ragmeter_process, tmp_path, hub, "someone/nothing")
    assert (missing.returncode, "the hub has no model 'someone/nothing'" in missing.stderr) == (2, True)
    (tmp_path / "rows.jsonl").write_text(ROWS)
    calls = hub.calls
    unnamed = ragmeter_process(
        "evaluate", "--metrics", "claim_precision[judge=encoder]", "--results", "rows.jsonl", env=hub.env
    )
    assert (unnamed.returncode, "needs a support model" in unnamed.stderr) == (2, True)
    assert hub.calls == calls
