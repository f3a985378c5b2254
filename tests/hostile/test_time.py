"""The time of text metrics and of the offline judge grows with the length of a text, not with its square."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from ragmeter import get_metric
from ragmeter.metrics.refusals import is_miss
from ragmeter.registry import get_all
from ragmeter.table import Block, Scores
from tests.hostile.texts import KINDS, text_of
from tests.usual import mostly_slow

QUESTION, GOLD = "What is the capital of France?", "Paris is the capital of France"
METRICS = (
    "edit_distance", "normalized_distance", "exact_match", "token_f1", "rouge_l_score", "meteor_score",
    "cosine_similarity", "average_score", "offline_correct",
)  # fmt: skip
_NOISE = 0.01  # seconds: whatever takes less than this, grows as it likes


def scores(question: str, reference: str, answer: str) -> list[Scores]:
    """Every score of one row."""
    block = Block({"question": [question], "reference": [[reference]], "answer": [answer]})
    return [metric.score(block)[0] for metric in get_all(METRICS, language="en")]


def rows(text: str) -> list[tuple[str, str, str]]:
    """The text as an answer, with the gold answer before and after it, as a reference and as a question."""
    return [
        (QUESTION, GOLD, text),
        (QUESTION, GOLD, f"Paris {text}"),
        (QUESTION, GOLD, f"{text} Paris"),
        (QUESTION, text, "Paris"),
        (text, GOLD, "Paris"),
    ]


def all_scores(text: str) -> list[Scores]:
    """The scores of all these rows, and whether the text is a refusal."""
    return [np.concatenate(scores(*row)) for row in rows(text)] + [np.array([float(is_miss(text))])]


def seconds(work: Callable[[], object]) -> float:
    """The CPU time of this thread."""
    begin = time.thread_time()
    work()
    return time.thread_time() - begin


def growth(kind: str, length: int) -> float:
    """How many times the CPU time four times the text takes."""
    short, long = (seconds(partial(all_scores, text_of(kind, size))) for size in (length, 4 * length))
    return long / max(short, _NOISE)


@pytest.mark.parametrize("kind", mostly_slow(KINDS))
def test_four_times_the_text_takes_no_square(kind: str) -> None:
    """A square would be 16. A noisy measurement is made again: noise doesn't grow with the text, a square does."""
    assert any(growth(kind, length) < 10 for length in (10_000, 20_000, 40_000))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_megabyte_is_scored(kind: str) -> None:
    """Each of these took minutes or hours where something is a square."""
    for row_scores in all_scores(text_of(kind, 1_000_000)):
        assert np.isfinite(row_scores).all()


@pytest.mark.slow
def test_many_hostile_texts_in_one_column() -> None:
    texts = [text_of(kind, 10_000) for kind in KINDS]
    together = get_metric("token_f1")([GOLD] * len(texts), texts)
    alone = [get_metric("token_f1")([GOLD], [text])[0] for text in texts]
    np.testing.assert_array_equal(together, alone)
