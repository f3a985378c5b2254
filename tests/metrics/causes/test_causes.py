"""The decision: every line of the table in docs/causes.md."""

import pytest

from ragmeter.metrics.causes import (
    ANSWERED_UNANSWERABLE,
    CAUSES,
    GOLD_DOCUMENTS,
    GOOD,
    NO_EVIDENCE,
    NO_TEXTS,
    NOT_SURE,
    OF_GENERATOR,
    OF_RETRIEVER,
    OFFLINE_SUPPORT,
    PASSAGES_DISAGREE,
    REFERENCE_DECLINES,
    UNANSWERABLE,
    Facts,
    Known,
    cause_of,
    causes_of,
    direction_of,
)

YES, NO = Known(True, OFFLINE_SUPPORT), Known(False, OFFLINE_SUPPORT)
GOLD, NO_GOLD = Known(True, GOLD_DOCUMENTS), Known(False, GOLD_DOCUMENTS)
RIGHT, WRONG, DOUBT = Known(True, "offline_correct"), Known(False, "offline_correct"), Known(None, NOT_SURE)
NOTHING = Known(None, NO_EVIDENCE)


def facts(
    right: Known,
    retrieved: Known,
    supported: Known = NOTHING,
    *,
    answers: bool = False,
    failure: str | None = None,
    declines: bool = False,
    unanswerable: bool | None = None,
    reference_declines: bool = False,
) -> Facts:
    return Facts(failure, declines, unanswerable, reference_declines, right, retrieved, supported, answers)


CASES = [
    (facts(RIGHT, GOLD), "right", GOLD_DOCUMENTS),
    (facts(Known(None, "no_reference"), NOTHING, unanswerable=True), "not_known", ANSWERED_UNANSWERABLE),
    (facts(Known(None, "no_reference"), NOTHING, unanswerable=False), "not_known", "no_reference"),
    (facts(RIGHT, NO_GOLD, YES), "right", OFFLINE_SUPPORT),  # another document has it
    (facts(RIGHT, NO_GOLD, NO), "right_not_from_passages", OFFLINE_SUPPORT),
    (facts(RIGHT, NO_GOLD), "right_not_from_passages", GOLD_DOCUMENTS),
    (facts(RIGHT, NOTHING), "right", "offline_correct"),
    (facts(WRONG, NO_GOLD, NO), "not_retrieved", GOLD_DOCUMENTS),
    (facts(WRONG, NO_GOLD, YES, answers=True), "not_retrieved", GOLD_DOCUMENTS),  # misled, by the retriever
    (facts(WRONG, NO, NO), "not_retrieved", OFFLINE_SUPPORT),
    (facts(WRONG, NO, YES), "not_retrieved", OFFLINE_SUPPORT),
    (facts(WRONG, NO, YES, answers=True), "misread", PASSAGES_DISAGREE),  # the reference may be wrong
    (facts(WRONG, GOLD, NO), "retrieved_not_used", GOLD_DOCUMENTS),
    (facts(WRONG, GOLD, YES), "misread", GOLD_DOCUMENTS),
    (facts(WRONG, GOLD, Known(None, NO_TEXTS)), "retrieved_not_used", NO_TEXTS),
    (facts(WRONG, NOTHING, YES), "not_known", NO_EVIDENCE),
    (facts(DOUBT, NO_GOLD, NO), "not_known", NOT_SURE),
    (facts(WRONG, GOLD, declines=True), "declined_though_retrieved", GOLD_DOCUMENTS),
    (facts(DOUBT, NO_GOLD, declines=True), "not_retrieved", GOLD_DOCUMENTS),
    (facts(WRONG, NOTHING, declines=True), "not_known", NO_EVIDENCE),
    (facts(WRONG, GOLD, declines=True, unanswerable=True), "rightly_declined", UNANSWERABLE),
    (facts(WRONG, GOLD, declines=True, reference_declines=True), "rightly_declined", REFERENCE_DECLINES),
    (facts(RIGHT, GOLD, declines=True, reference_declines=True), "rightly_declined", REFERENCE_DECLINES),
    (facts(RIGHT, GOLD, declines=True), "right", GOLD_DOCUMENTS),  # whoever judged has read more than the first words
    (facts(WRONG, NO, YES, unanswerable=True), "misread", OFFLINE_SUPPORT),
    (facts(WRONG, NO, NO, unanswerable=True), "not_known", ANSWERED_UNANSWERABLE),
    (facts(WRONG, NO, YES, reference_declines=True), "misread", OFFLINE_SUPPORT),
    (facts(WRONG, NO_GOLD, NO, reference_declines=True), "not_known", ANSWERED_UNANSWERABLE),
    (facts(RIGHT, GOLD, failure="target_error"), "failed", "target_error"),
]


@pytest.mark.parametrize(("row", "cause", "evidence"), CASES)
def test_each_line_of_the_table(row: Facts, cause: str, evidence: str) -> None:
    assert cause_of(row) == (cause, evidence)


def test_every_cause_has_a_case_and_a_direction() -> None:
    causes, evidence = causes_of(row for row, _, _ in CASES)
    assert set(causes) == set(CAUSES)
    assert evidence == [by for _, _, by in CASES]
    assert {direction_of(cause) for cause in GOOD} == {"higher"}
    assert {direction_of(cause) for cause in OF_RETRIEVER | OF_GENERATOR | {"failed"}} == {"lower"}
    assert direction_of("not_known") == "none"
    assert not GOOD & (OF_RETRIEVER | OF_GENERATOR)
