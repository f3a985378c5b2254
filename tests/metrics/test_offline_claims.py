"""Claims of a text, and labels of claims, without a model."""

from __future__ import annotations

import pytest

from ragmeter.metrics.offline.support.claims import claims_of, labels_by_passage, labels_by_text
from ragmeter.metrics.offline.support.contradictions import clashing_words


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("", []),
        ("Paris is the capital [1]. It is old.[2, 3]", ["Paris is the capital.", "It is old."]),
        ("See [the map](https://a.example/b) of Paris.", ["See the map of Paris."]),
        ("Did you know? Here are two facts:\n- Paris is big.\n- It is old.", ["Paris is big.", "It is old."]),
        ("<think>It may be Lyon.</think>It is Paris.", ["It is Paris."]),
        (
            "Paris is the capital of France, and Lyon is a very large city; both are old towns by the river.",
            ["Paris is the capital of France", "and Lyon is a very large city", "both are old towns by the river."],
        ),
        ("It is big, and old.", ["It is big, and old."]),
        ("It flows through Uganda, Sudan, and Egypt before it reaches the sea.",
         ["It flows through Uganda, Sudan, and Egypt before it reaches the sea."]),
        ("París es la capital de Francia, pero Lyon es más bonita.",
         ["París es la capital de Francia", "pero Lyon es más bonita."]),
    ],
)  # fmt: skip
def test_claims_of_a_text(text: str, claims: list[str]) -> None:
    assert claims_of(text) == claims


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        ("The tower was built in 1889.", "The tower was built in 1887.", ("1889", "1887")),
        ("The tower was built in 1889.", "The tower was built in 1889.", None),
        ("The tower was built in 1889.", "The bridge of the town is old.", None),
        ("The tower was built in 1889.", "The tower was built by Eiffel.", None),  # no other number
        ("The drug is safe for children.", "The drug is not safe for children.",
         ("", "The drug is not safe for children")),
        ("La torre no es segura para niños.", "La torre es segura para niños.", ("", "La torre es segura para niños")),
        ("The drug is safe for children.", "The drug, which nobody has ever tested on any animals in a laboratory at "
         "all, is safe for children in Spain and in many other rich countries.", None),
    ],
)  # fmt: skip
def test_a_contradiction_has_a_basis(claim: str, passage: str, expected: tuple[str, str] | None) -> None:
    assert clashing_words(claim, passage) == expected
    assert labels_by_passage([[claim]], [[passage]])[0][0][0] in (
        ("contradicted",) if expected else ("supported", "not mentioned")
    )


def test_what_another_passage_supports_is_not_contradicted() -> None:
    labels = labels_by_passage([["It was built in 1889."]], [["It was built in 1887.", "It was built in 1889."]])
    assert labels == [[["contradicted", "supported"]]]
    assert labels_by_text(labels) == [["supported"]]


def test_the_best_of_several_texts_counts() -> None:
    claims = [["Paris is the capital of France.", "Bananas grow on tall plants."]]
    assert labels_by_text(labels_by_passage(claims, [["Lyon is large.", "Paris is the capital of France."]])) == [
        ["supported", "not mentioned"]
    ]
    assert labels_by_text(labels_by_passage([["Paris is old."]], [[]])) == [["not mentioned"]]
