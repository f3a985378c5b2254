"""The linear model of answers that decline: its features, its arithmetic, and when it is asked."""

from __future__ import annotations

import math

import pytest

from ragmeter.metrics.refusals import is_miss, model, without_refusals
from ragmeter.metrics.refusals.detector import clauses_to_learn, is_read_as_refusal, model_threshold
from ragmeter.metrics.refusals.model import NEVER, Clause, classes_of, features, probability


def test_a_word_has_the_classes_of_its_beginning() -> None:
    assert "document" in classes_of("documentation")
    assert "negation" in classes_of("kein")
    assert classes_of("0") == {"number"}
    assert classes_of("zebra") == frozenset()


def test_features_of_a_clause() -> None:
    (names,) = features([Clause("the manual does not mention 42", "ANSWERS", is_question=False)])
    assert {"only", "kind ANSWERS", "= manual", "= does not", "= 0", "document < negation", "negation << say"} <= names
    assert "negation < document" not in names
    assert not any(name.startswith("asks") for name in names)


def test_a_clause_knows_the_one_before_it() -> None:
    _, second = features([Clause("which model", "ASKS", is_question=True), Clause("it is red", "ANSWERS", False)])
    assert {"before which", "after a question", "kinds ASKS ANSWERS", "last", "some ask"} <= second


def test_an_answer_declines_if_some_clause_does_and_none_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = {"= no": (2.0, -1.0), "= yes": (-3.0, 1.5)}
    monkeypatch.setattr(model, "_weights", lambda: weights)

    def logistic(value: float) -> float:
        return 1 / (1 + math.exp(-value))

    clauses = [Clause("no", "ANSWERS", False), Clause("yes", "ANSWERS", False)]
    expected = (1 - (1 - logistic(2)) * (1 - logistic(-3))) * (1 - logistic(-1)) * (1 - logistic(1.5))
    assert probability(clauses) == pytest.approx(expected)
    assert probability([]) == 0


@pytest.mark.parametrize(
    "answer",
    [
        "Everything retrieved deals with parking permits; not a line is about bus passes.",
        "Could you tell me which of the two boilers this is about?",
        "Die Unterlagen drehen sich ausschließlich um den Winterdienst, zur Müllabfuhr steht da leider gar nichts.",
        "Il testo parla soltanto della storia del teatro e dei suoi restauri.",
    ],
)
def test_refusals_in_words_of_their_own(answer: str) -> None:
    assert is_miss(answer)


@pytest.mark.parametrize(
    "answer",
    ["Paris", "Nothing Compares", "x" * 2000, "Библиотека не работает в понедельник, но открыта во вторник.", ""],
)
def test_the_model_is_not_asked_about(answer: str) -> None:
    assert model_threshold(answer) == NEVER


@pytest.mark.parametrize(
    ("answer", "declines"),
    [
        ("poner su asunto sobre la mesa", False),
        ("poner su tema sobre la mesa", False),
        ("No tengo su tema sobre la mesa, lo siento.", True),
        ("reveló que existían dos clades (ramas genéticas) del genoma de Y.", False),
        ("no reveló los dos clades del genoma de Y, el texto no dice nada de eso.", True),
        ("Los fragmentos recuperados tratan sobre la historia del acueducto y las obras de restauración.", True),
    ],
)
def test_words_that_hardly_tell_must_make_a_refusal_very_likely(answer: str, declines: bool) -> None:
    assert is_miss(answer) is declines


def test_a_claim_keeps_what_only_the_model_takes_for_a_refusal() -> None:
    claim = "Il testo parla soltanto della storia del teatro e dei suoi restauri."
    assert not is_read_as_refusal(claim)
    assert without_refusals(claim) == claim


def test_a_quotation_is_no_word_of_the_answer() -> None:
    (clause,) = clauses_to_learn('The sign says "no entry without a ticket" in red.')
    assert "ticket" not in clause.text
