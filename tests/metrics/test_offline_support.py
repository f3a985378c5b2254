"""Whether passages support a claim or an answer."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragmeter
from ragmeter.metrics.offline.support.features import FEATURES
from ragmeter.metrics.offline.support.model import (
    support,
    support_lines,
    support_of_rows,
    support_trees,
    supported,
    supported_of_rows,
    unsupported_words,
)
from ragmeter.metrics.refusals import is_miss

PASSAGES = ["The Eiffel Tower in Paris was finished in 1889.", "Gustave Eiffel's company built the tower."]


def words(claim: str, passages: list[str]) -> list[str]:
    return [claim[begin:end] for begin, end in unsupported_words(claim, passages)]


def test_a_claim_in_a_passage_is_supported_and_another_is_not() -> None:
    claims = ["The Eiffel Tower was finished in 1889.", "Mozart composed forty-one symphonies in Vienna."]
    by_passage, together = support(claims, PASSAGES), supported(claims, PASSAGES)
    assert by_passage.shape == (2, 2)
    assert by_passage[0, 0] > 0.5 > by_passage[0, 1]
    assert together[0] > 0.5 > together[1]


def test_nothing_to_compare() -> None:
    assert support([], PASSAGES).shape == (0, 2)
    assert support(["A claim."], []).shape == (1, 0)
    assert supported([], PASSAGES).shape == (0,)
    assert np.all(supported(["A claim about towers.", "", "Lyon"], []) < 0.5)
    assert np.all(supported(["A claim about towers.", "Lyon"], ["", "\n"]) < 0.5)
    assert support_of_rows([], []) == []
    assert supported_of_rows([], []) == []


def test_many_rows_at_once_are_scored_as_one_by_one() -> None:
    claims = [["The tower is in Paris.", "It is red."], [], ["La torre está en París."], ["铁塔在巴黎。"], ["Alone."]]
    passages = [PASSAGES, PASSAGES, ["La torre Eiffel de París."], ["埃菲尔铁塔在法国巴黎。", "别的"], []]
    for row, (of_row, together) in enumerate(
        zip(support_of_rows(claims, passages), supported_of_rows(claims, passages), strict=True)
    ):
        np.testing.assert_array_equal(of_row, support(claims[row], passages[row]))
        np.testing.assert_array_equal(together, supported(claims[row], passages[row]))
        assert of_row.shape == (len(claims[row]), len(passages[row]))


@pytest.mark.parametrize(
    ("claim", "passage", "is_supported"),
    [
        (
            "Roth IRA and Roth 401(k) are the opposite: you pay income tax up front before putting money into it",
            "Roth IRA and Roth 401(k) are the opposite: you pay income tax up front before putting money into it, "
            "but you will not pay any on what you withdraw.",
            True,
        ),
        (
            "You can opt for the Division of Child Support Services to enforce your support orders.",
            "The documents do not specify jail sentences, but you can opt for the Division of Child Support Services "
            "to enforce your support orders.",
            True,
        ),
        ("Cubre daños por agua.", "No cubre daños por agua.", False),
        ("The plan includes three users.", "It is not true that the plan includes three users.", False),
        ("The shop is open on Sundays.", "The shop is open on Sundays in no case.", False),
    ],
)
def test_a_claim_word_for_word_in_a_passage_is_supported_unless_it_is_negated_there(
    claim: str, passage: str, is_supported: bool
) -> None:
    other = "Mozart composed forty-one symphonies in Vienna, and did not finish his last work."
    for passages in ([passage], [other, passage], [passage, other]):
        assert (supported([claim], passages)[0] >= 0.5) == is_supported


@pytest.mark.parametrize("claim", ["Paris has a metro.", "París tiene metro", "The Seine is long."])
def test_half_of_a_short_claim_is_not_enough(claim: str) -> None:
    assert supported([claim], ["Paris is the capital of France. It lies on the Seine."])[0] < 0.5


@pytest.mark.parametrize(
    ("supported_claim", "other", "passage"),
    [
        ("The tower was finished in 1889.", "The tower was finished in 1925.", PASSAGES[0]),
        ("The tower stands in Paris.", "The tower stands in Vienna, Austria.", PASSAGES[0]),
        ("The tower is old.", "The tower is not old.", "The tower is old."),
        ("The tower is not old.", "The tower is old.", "The tower is not old."),
        ("La torre se terminó en 1889.", "La torre se terminó en 1925.", "La torre Eiffel fue terminada en 1889."),
        ("La torre está en París.", "La torre está en Viena, Austria.", "La torre Eiffel de París es alta."),
        ("埃菲尔铁塔在法国巴黎。", "埃菲尔铁塔在日本东京。", "埃菲尔铁塔位于法国首都巴黎。"),
        ("หอไอเฟลอยู่ในกรุงปารีส", "หอไอเฟลอยู่ในกรุงเวียนนาประเทศออสเตรีย", "หอไอเฟลตั้งอยู่ในกรุงปารีส"),
        ("Revenue was 3 million dollars.", "Revenue was 4 million dollars.", "The revenue came to $3,000,000."),
    ],
)
def test_minimal_pairs(supported_claim: str, other: str, passage: str) -> None:
    chances = supported([supported_claim, other], [passage])
    assert chances[0] > 0.5
    assert chances[1] < chances[0] - 0.2


SENTENCES = st.sampled_from(
    [
        *PASSAGES,
        "The tower was not finished in 1889.",
        "The tower, 330 metres high, was finished in 1925 and opened two weeks later.",
        "La torre Eiffel de París se terminó en 1889.",
        "埃菲尔铁塔在法国巴黎。",
        "The company of Eiffel built the tower for 25 million francs, and the bridge for 7 million.",
        "",
    ]
)


@given(
    claim=SENTENCES,
    passages=st.lists(SENTENCES, min_size=1, max_size=3),
    others=st.lists(SENTENCES, max_size=4),
    place=st.integers(0, 4),
)
@settings(max_examples=60, deadline=None)
def test_more_passages_never_make_a_claim_less_supported(
    claim: str, passages: list[str], others: list[str], place: int
) -> None:
    more = [*others[:place], *passages, *others[place:]]
    assert supported([claim], more)[0] >= supported([claim], passages)[0]
    assert supported([claim], more)[0] == support([claim], more).max()


@given(
    sentence=st.sampled_from(
        ["The tower in Paris was finished in 1889.", "Cubre daños por agua.", "塔在法国巴黎很高。"]
    ),
    others=st.lists(SENTENCES, max_size=4),
)
@settings(max_examples=30, deadline=None)
def test_a_claim_word_for_word_in_a_passage_is_supported_beside_any_others(sentence: str, others: list[str]) -> None:
    for place in range(len(others) + 1):
        assert supported([sentence], [*others[:place], sentence, *others[place:]])[0] >= 0.5


def test_each_feature_has_its_direction() -> None:
    claims = [
        "The Eiffel Tower was finished in 1889 by Mozart.",
        "It is red.",
        "Gustave Eiffel built the tower in 1925.",
    ]
    lines = support_lines([(claims, PASSAGES)])
    before = support_trees().scores(lines)
    for place, feature in enumerate(FEATURES):
        for step in (0.1, 1.0):
            more = lines.copy()
            more[:, place] += step
            assert np.all((support_trees().scores(more) - before) * feature.direction >= 0) or not feature.direction


def test_words_that_no_passage_has() -> None:
    assert words("The Eiffel Tower was finished in 1925, in Lyon.", PASSAGES) == ["1925", "Lyon"]
    assert words("", PASSAGES) == []
    assert words("The towers of Eiffel [3] are finished (doc 2).", PASSAGES) == []
    assert words("**Based on the given passages**, the tower is tall.", PASSAGES) == ["tall"]
    assert words("Revenue: 3 million", ["the revenue was 3,000,000"]) == []
    assert words("铁塔在东京。", ["埃菲尔铁塔在法国巴黎。"]) == ["东京"]
    assert words("A claim.", []) == ["claim"]


ROWS: list[tuple[str, Any, str]] = [
    ("The tower was finished in 1889.", PASSAGES, "scored"),
    ("The tower was finished in 1889.", [], "no_contexts"),
    ("The tower was finished in 1889.", ["", " \n"], "no_contexts"),
    ("", PASSAGES, "no_claims"),
    ("?!", PASSAGES, "no_claims"),
    ("I don't know.", PASSAGES, "abstained"),
    ("Unable to answer based on given passages.", PASSAGES, "abstained"),
    ("I don't know who built it. The tower was finished in 1889.", PASSAGES, "scored"),
    ("The tower was finished in 1889.", [*PASSAGES, *["Another passage."] * 498], "scored"),
    ("The tower was finished in 1889.", ["word " * 200_000 + PASSAGES[0]], "scored"),
    ("x" * 100_000, ["x" * 1_000_000], "scored"),
    ("\ud800 was finished", ["\ud800 was finished"], "scored"),
]


def test_answers_with_good_and_bad_contexts(tmp_path: Any) -> None:
    rows = [{"answer": answer.replace("\ud800", "\ufffd"), "contexts": contexts} for answer, contexts, _ in ROWS]
    evaluation = ragmeter.evaluate(rows, metrics=["offline_supported", "offline_hallucination"], output_dir=tmp_path)
    for name in ("offline_supported", "offline_hallucination"):
        assert evaluation.rows[f"{name}.outcome"].to_pylist() == [outcome for *_, outcome in ROWS]
        scores = [score for score in evaluation.rows[name].to_pylist() if not math.isnan(score)]
        assert all(0 <= score <= 1 for score in scores)
    assert evaluation.rows["offline_supported"][9].as_py() > 0.5


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The passages do not mention the price.", True),
        ("However, the provided context doesn't explicitly say who built it.", True),
        ("The price is not mentioned in the given passages.", True),
        ("I don't know.", True),
        ("Los pasajes no mencionan el precio.", True),
        ("No se menciona en los pasajes.", True),
        ("The price was not given in dollars.", False),
        ("El precio no es de 20 euros.", False),
    ],
)
def test_what_the_passages_lack_is_no_claim(claim: str, expected: bool) -> None:
    assert is_miss(claim) == expected


def test_an_answer_with_one_bad_sentence() -> None:
    good = "The Eiffel Tower in Paris was finished in 1889. Gustave Eiffel's company built it."
    bad = f"{good} Mozart painted it green in 1925 for the Austrian emperor."
    hallucination, is_supported = (ragmeter.get_metric(f"offline_{name}") for name in ("hallucination", "supported"))
    doubts = hallucination([good, bad], [PASSAGES, PASSAGES])
    assert doubts[0] < 0.5 < doubts[1]
    chances = is_supported([good, bad], [PASSAGES, PASSAGES])
    assert chances[0] > chances[1]
    assert hallucination.direction == "lower"
    assert is_supported.direction == "higher"


def test_the_share_of_answers_with_a_hallucination_is_a_rate() -> None:
    answers = ["The Eiffel Tower was finished in 1889.", "Mozart composed forty-one symphonies.", "I don't know."]
    evaluation = ragmeter.evaluate(
        [{"answer": answer, "contexts": PASSAGES} for answer in answers],
        metrics="offline_hallucination,offline_hallucinated",
    )
    chances, flags = (evaluation.rows[name].to_pylist() for name in ("offline_hallucination", "offline_hallucinated"))
    assert flags[:2] == [float(chance >= 0.5) for chance in chances[:2]] == [0, 1]
    assert evaluation["offline_hallucinated"].n_not_scored == {"abstained": 1}
    assert evaluation["offline_hallucinated"].interval_method == "wilson"
