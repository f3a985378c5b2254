"""Causes in words: every cause and every evidence has some, and sentences add up."""

import re
from pathlib import Path

import pytest

from ragmeter.metrics import causes
from ragmeter.wording.answer_causes import EVIDENCE, WORDS, cause_words, evidence_words, moved_sentence, row_sentence


def test_every_cause_has_words_in_the_same_order() -> None:
    assert tuple(WORDS) == causes.CAUSES


def test_every_evidence_has_words() -> None:
    source = Path(causes.__file__).read_text(encoding="utf-8")
    named = re.findall(r'^[A-Z_]+ = "(\w+)"', source[source.index("# Evidence") :], re.MULTILINE)
    assert len(named) == 12
    assert set(named) <= set(EVIDENCE)


def test_outcomes_are_evidence_of_failed_answers() -> None:
    assert evidence_words("target_error") == "the system failed to answer"
    assert evidence_words("no_answer") == "the row has no answer"
    assert cause_words("of_somebody_else") == "of somebody else"
    assert row_sentence("not_retrieved", "gold_documents") == (
        "cause: not retrieved: the passages don't have the answer (ids of gold documents)"
    )


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ((31, 7, 0), "of 38 more right answers, 31 by retrieval, 7 by generation"),
        ((-2, -1, 0), "of 3 fewer right answers, 2 by retrieval, 1 by generation"),
        ((1, 0, 0), "of 1 more right answer, 1 by retrieval"),
        ((45, -7, 0), "38 more right answers: 45 more by retrieval, 7 fewer by generation"),
        ((2, -2, 0), "0 more right answers: 2 more by retrieval, 2 fewer by generation"),
        ((0, 0, 0), ""),
    ],
)
def test_moved(parts: tuple[int, int, int], sentence: str) -> None:
    assert moved_sentence(*parts) == sentence


def test_moved_says_that_those_who_rightly_decline_are_counted() -> None:
    sentence = moved_sentence(2, 0, 1, with_declined=True)
    assert sentence == "of 3 more right or rightly declined answers, 2 by retrieval, 1 by other causes"
