"""How far made-up questions rank retrievers as people's do: the retrievers, and the figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

TRAINING = Path(__file__).parent.parent / "training"
DOCUMENTS = ["a red tower stands by the river", "the bridge crosses a river", "bread is baked in an oven"]


@pytest.fixture(autouse=True)
def _training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TRAINING))


def _lengths(texts: list[str]) -> Any:
    return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


def test_tau_is_that_of_scipy() -> None:
    from ragmeter.analysis.testsets import tau

    rng = np.random.default_rng(1)
    for _ in range(20):
        left, right = rng.integers(5, size=(2, 14)).astype(float)
        assert tau(left, right) == pytest.approx(kendalltau(left, right).statistic)


def test_retrievers_find_the_document_and_ties_share_a_rank() -> None:
    from retrievers import ranks, settings

    by_name = {setting.name: setting for setting in settings("en", _lengths, _lengths)}
    assert len(by_name) == 14
    for name in ("BM25, stems", "BM25, stems, chunks of 20 words", "TF-IDF, words", "TF-IDF, 5 characters"):
        found = ranks(by_name[name], DOCUMENTS, ["baked breads", "crossing bridge", "xyzzy"], np.array([2, 1, 0]))
        assert found.tolist() == [1, 1, 2]


def test_a_table_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import rank_retrievers

    texts = [
        f"The tower number {number} of the old harbour was built by masons from Porto in {1500 + number}."
        for number in range(30)
    ]
    paragraphs = [
        {"context": text, "qas": [{"question": f"who built tower {number}"}]} for number, text in enumerate(texts)
    ]
    file = tmp_path / "towns.en.json"
    file.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}))
    given = tmp_path / "set.jsonl"
    given.write_text('{"question": "tower 3", "relevant": ["d3"]}\n{"question": "tower 4", "relevant": ["d4"]}\n')
    monkeypatch.setattr(rank_retrievers, "_DRAWS", 5)
    monkeypatch.setattr("sys.argv", ["rank_retrievers.py", str(file), "--questions", str(given)])
    rank_retrievers.main()
    printed = capsys.readouterr().out
    assert "people's questions 30" in printed
    assert all(name in printed for name in ("recall@1", "mrr", "ndcg@10", "the given set", "as many of people's"))
