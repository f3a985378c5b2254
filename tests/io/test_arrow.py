"""Batches and scores as Arrow: what arrives is what was sent, to the bit."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.io.arrow import from_arrow, scores_from_arrow, scores_to_arrow, to_arrow
from ragmeter.table import Batch, Embeddings

TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]))
LISTS = st.none() | st.lists(st.text(st.characters(exclude_categories=["Cs"])))
NUMBERS = st.none() | st.floats(allow_nan=False)


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    rows = draw(st.integers(0, 5))

    def column(cells: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(cells, min_size=rows, max_size=rows))

    columns = {"qid": column(TEXTS), "answer": column(TEXTS), "reference": column(LISTS), "latency_ms": column(NUMBERS)}
    own = draw(st.lists(st.sampled_from(["lines", "causes", "domain", "a.outcome", "ünï"]), unique=True))
    columns |= {name: column(TEXTS) for name in own}
    lines = draw(st.just(()) | st.lists(st.integers(1, 2**40), min_size=rows, max_size=rows))
    causes = draw(st.just(()) | st.lists(TEXTS, min_size=rows, max_size=rows))
    return Batch(columns, lines, causes)


@given(batches())
def test_a_batch_there_and_back(batch: Batch) -> None:
    arrived = from_arrow(to_arrow(batch))
    assert arrived.columns == batch.columns
    assert list(arrived.columns) == list(batch.columns)
    assert (list(arrived.lines), list(arrived.causes)) == (list(batch.lines), list(batch.causes))
    assert arrived.embedded == {}


def test_numbers_that_a_judge_filled_stay_numbers() -> None:
    batch = Batch({"verdict": ["yes", None], "verdict_probability": [0.25, None], "turn": [1, 2]})
    assert from_arrow(to_arrow(batch)).columns == batch.columns


@pytest.mark.parametrize("pairs", [0, 1, 3])
def test_vectors_travel_with_their_batch(pairs: int) -> None:
    draws = np.random.default_rng(pairs)
    keys = [(("reference", "answer"), (), 'embeddings[model="a b",prefix=query]'), (("answer",), ("error",), "x")]
    embedded = {
        key: Embeddings(
            draws.normal(size=(pairs + 1, 4 + number)).astype(np.float32),
            draws.integers(0, pairs + 1, pairs),
            draws.integers(0, pairs + 1, pairs),
        )
        for number, key in enumerate(keys)
    }
    arrived = from_arrow(to_arrow(Batch({"answer": ["a"] * pairs}, embedded=embedded)))
    assert list(arrived.embedded) == keys
    assert len(arrived) == pairs
    for key, sent in embedded.items():
        for name in ("vectors", "reference", "answer"):
            there, here = getattr(arrived.embedded[key], name), getattr(sent, name)
            assert there.dtype == here.dtype
            np.testing.assert_array_equal(there, here)


@given(st.lists(st.tuples(st.floats(width=64), st.text()), max_size=6), st.text(min_size=1))
def test_scores_there_and_back_to_the_bit(rows: list[tuple[float, str]], name: str) -> None:
    values = np.array([value for value, _ in rows], dtype=np.float64)
    outcomes = [outcome for _, outcome in rows]
    sent = {"first": (values, outcomes), f"{name}.": (values[::-1] * 2, outcomes), "third": (values, outcomes[::-1])}
    arrived = scores_from_arrow(scores_to_arrow(sent))
    assert list(arrived) == list(sent)
    for metric, (scores, words) in sent.items():
        assert arrived[metric][0].tobytes() == scores.tobytes()
        assert arrived[metric][1] == words
    assert arrived["first"][1] is arrived[f"{name}."][1]


def test_a_worker_does_not_import_pandas() -> None:
    code = (
        "import sys, numpy; from ragmeter.io.arrow import *\n"
        "data = scores_to_arrow({'m': (numpy.zeros(3), ['scored'] * 3)}); scores_from_arrow(data)\n"
        "from_arrow(sys.stdin.buffer.read()); print('pandas' in sys.modules)"
    )
    sent = to_arrow(Batch({"answer": ["a", None], "reference": [["b"], []], "latency_ms": [1.5, None]}))
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    assert done.stdout.strip() == b"False"
