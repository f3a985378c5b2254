"""Scores of conversations, worked by hand, and the seed's formulas as properties."""

from __future__ import annotations

import math
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.compat.crag.evaluation import scores
from ragmeter.metrics.conversation import (
    MISSED,
    Turn,
    accuracy_bounds,
    conversation_score,
    counted,
    ended_at,
)

RIGHT, WRONG, EXACT, UNKNOWN = Turn(True), Turn(False), Turn(True, exact=True), Turn(None)
KINDS = {"r": RIGHT, "w": WRONG, "e": EXACT, "m": MISSED, "?": UNKNOWN}


def turns(text: str) -> list[Turn]:
    return [KINDS[letter] for letter in text]


@pytest.mark.parametrize(
    ("asked", "came", "score"),
    [
        ("r", "r", 1.0),
        ("w", "w", -1.0),
        ("m", "m", 0.0),
        ("rwrw", "rwrw", 0.0),  # never two in a row
        ("wwrr", "wwmm", -0.5),  # two wrong, and the rest is missed
        ("rwwer", "rwwmm", (1 - 2) / 5),
        ("mwrrr", "mwmmm", -1 / 5),  # a miss is not correct either
        ("mmr", "mmm", 0.0),
        ("rww", "rww", -1 / 3),  # nothing comes after
        ("ww?", "wwm", -2 / 3),  # what is not known is past the end
        ("w?w", "w?w", None),
        ("?", "?", None),
    ],
)
def test_two_incorrect_turns_end_a_conversation(asked: str, came: str, score: float | None) -> None:
    counts = counted(turns(asked))
    assert counts == turns(came)
    assert conversation_score(counts) == (None if score is None else pytest.approx(score))


def test_where_a_conversation_ends() -> None:
    assert ended_at([]) == 0
    assert ended_at([False]) == 1
    assert ended_at([False, False]) == 2
    assert ended_at([True, False, False, True]) == 3
    assert ended_at([False, None, False, True]) == 4


def test_scores_by_hand() -> None:
    # Six turns: exact, right, missed / wrong, wrong, and a right one that counts as missed.
    result = scores([turns("erm"), turns("wwr")])
    assert result == {
        "total": 6.0,
        "correct_exact": 1.0,
        "correct": 2.0,
        "miss": 2.0,
        "hallucination": 2.0,
        "exact_match": pytest.approx(1 / 6),
        "accuracy": pytest.approx(2 / 6),
        "missing": pytest.approx(2 / 6),
        "hallucination_rate": pytest.approx(2 / 6),
        "truthfulness_score": pytest.approx((2 * 2 + 2) / 6 - 1),
        "mean_multi_turn_conversation_score": pytest.approx((2 / 3 + -2 / 3) / 2),
    }
    assert tuple(result) == (
        "total", "correct_exact", "correct", "miss", "hallucination", "exact_match", "accuracy", "missing",
        "hallucination_rate", "truthfulness_score", "mean_multi_turn_conversation_score",
    )  # fmt: skip


def test_nothing_has_no_rates() -> None:
    for nothing in ([], [turns("?")]):
        result = scores(nothing)
        assert result["total"] == 0.0
        assert (
            result["accuracy"] is result["truthfulness_score"] is result["mean_multi_turn_conversation_score"] is None
        )
    assert accuracy_bounds([]) is None


def test_bounds_by_hand() -> None:
    assert accuracy_bounds([turns("r?")]) == (0.5, 1.0)
    assert accuracy_bounds([turns("w?r")]) == (0.0, 2 / 3)  # wrong, it would end the conversation
    assert accuracy_bounds([turns("rw")]) == (0.5, 0.5)


conversations = st.lists(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=6).map("".join), max_size=8)


@given(conversations)
def test_the_seeds_formulas(texts: list[str]) -> None:
    sessions = [turns(text) for text in texts]
    results = {name: value if value is not None else math.nan for name, value in scores(sessions).items()}
    known = [turn for conversation in sessions for turn in counted(conversation) if turn.correct is not None]
    total = len(known)
    assert results["total"] == total
    assert results["correct_exact"] == sum(turn.exact for turn in known)
    assert results["correct"] == sum(bool(turn.correct) for turn in known)
    assert results["miss"] == sum(turn.miss for turn in known)
    assert (
        results["hallucination"] == total - results["correct"] - results["miss"] == sum(t.hallucination for t in known)
    )
    if total:
        assert results["exact_match"] == results["correct_exact"] / total
        assert results["accuracy"] == results["correct"] / total
        assert results["missing"] == results["miss"] / total
        assert results["hallucination_rate"] == results["hallucination"] / total
        assert results["truthfulness_score"] == pytest.approx((2 * results["correct"] + results["miss"]) / total - 1)
        assert results["truthfulness_score"] == pytest.approx(results["accuracy"] - results["hallucination_rate"])


@given(conversations)
def test_bounds_hold_what_might_have_been(texts: list[str]) -> None:
    sessions = [turns(text) for text in texts]
    bounds = accuracy_bounds(sessions)
    if bounds is None:
        assert not sessions
        return
    low, high = bounds
    assert 0 <= low <= high <= 1
    for letters in ("wr", "rw", "mr"):  # settle the unknown turns in some other way
        settled = [turns(text.replace("?", letters[0], 1).replace("?", letters[1])) for text in texts]
        after = [turn for conversation in settled for turn in counted(conversation)]
        assert low - 1e-12 <= fmean(bool(turn.correct) for turn in after) <= high + 1e-12


@given(st.lists(st.sampled_from("rwem"), min_size=1, max_size=8).map("".join))
def test_after_the_end_everything_is_missed(text: str) -> None:
    counts = counted(turns(text))
    end = next((i + 2 for i in range(len(text) - 1) if not counts[i].correct and not counts[i + 1].correct), len(text))
    assert counts[:end] == turns(text)[:end]
    assert all(turn == MISSED for turn in counts[end:])
