"""Where each answer failed: one cause for every row, and the evidence that it rests on.

`facts.py` beside this file reads the evidence from a run's columns; here is only the decision, row by row. The first
cause that holds is the row's: whoever declines a question that can't be answered is right, a retriever that misses
everything is to blame before the generator is, and what can't be told is `not_known`, with the reason as its evidence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

#: The columns.
CAUSE, CAUSE_EVIDENCE = "cause", "cause_evidence"

RIGHT = "right"
RIGHT_NOT_FROM_PASSAGES = "right_not_from_passages"
NOT_RETRIEVED = "not_retrieved"
RETRIEVED_NOT_USED = "retrieved_not_used"
MISREAD = "misread"
DECLINED_THOUGH_RETRIEVED = "declined_though_retrieved"
RIGHTLY_DECLINED = "rightly_declined"
FAILED = "failed"
NOT_KNOWN = "not_known"
#: All causes, in the order in which they are shown.
CAUSES = (
    RIGHT, RIGHT_NOT_FROM_PASSAGES, RIGHTLY_DECLINED, NOT_RETRIEVED, RETRIEVED_NOT_USED, MISREAD,
    DECLINED_THOUGH_RETRIEVED, FAILED, NOT_KNOWN,
)  # fmt: skip
#: Causes of answers that are as they should be.
GOOD = frozenset({RIGHT, RIGHT_NOT_FROM_PASSAGES, RIGHTLY_DECLINED})
#: Causes that the retriever answers for, and those that the generator does.
OF_RETRIEVER = frozenset({NOT_RETRIEVED})
OF_GENERATOR = frozenset({RETRIEVED_NOT_USED, MISREAD, DECLINED_THOUGH_RETRIEVED})

#: Causes that say nothing of the system's retriever and generator.
UNTOLD = frozenset({FAILED, NOT_KNOWN})

#: A cause's share in the place of a metric: `cause:not_retrieved`.
SHARE_OF = "cause:"


def hides_in(cause: str) -> frozenset[str]:
    """The causes behind which answers with this one may hide: a system that fails misses no document."""
    return UNTOLD if direction_of(cause) == "lower" and cause not in UNTOLD else frozenset()


def direction_of(cause: str) -> Literal["higher", "lower", "none"]:
    """Whether more answers with this cause are better: "higher", "lower", or "none" where nobody can tell."""
    return "higher" if cause in GOOD else "none" if cause == NOT_KNOWN else "lower"


# Evidence: what says whether the passages have the answer.
GOLD_DOCUMENTS = "gold_documents"
JUDGED_CLAIMS = "judged_claims"
OFFLINE_SUPPORT = "offline_support"
PASSAGES_DISAGREE = "passages_disagree"  # they give another answer to the question than the reference does
NO_PASSAGES = "no_passages"  # nothing was retrieved
UNANSWERABLE = "marked_unanswerable"
REFERENCE_DECLINES = "reference_declines"
NO_TEXTS = "no_texts"  # a gold document was retrieved, and the texts of the passages are not there
# Evidence of `not_known`: why it can't be told.
NOT_SURE = "not_sure"  # the offline judge
NO_REFERENCE = "no_reference"
NO_EVIDENCE = "no_evidence"  # neither ids of documents nor texts of passages
ANSWERED_UNANSWERABLE = "answered_unanswerable"


@dataclass(frozen=True, slots=True)
class Known:
    """Whether something holds, and what says so; `holds` is None where nobody knows, and `by` says why."""

    holds: bool | None
    by: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one answer.

    `failure` is why there is no answer, if there is none. `retrieved`: the passages have what the reference says.
    `supported`: a passage says what the answer says; `answers` that it says so of the question.
    """

    failure: str | None
    declines: bool
    unanswerable: bool | None
    reference_declines: bool
    right: Known
    retrieved: Known
    supported: Known
    answers: bool = False


def cause_of(facts: Facts) -> tuple[str, str]:
    """The cause of one row and its evidence."""
    if facts.failure is not None:
        return FAILED, facts.failure
    if facts.declines and facts.right.holds is not True:
        return _of_declined(facts)
    if facts.declines and facts.reference_declines:
        return RIGHTLY_DECLINED, REFERENCE_DECLINES
    if facts.right.holds is None and not facts.unanswerable:  # whoever answers such a question is wrong
        return NOT_KNOWN, facts.right.by
    return _of_right(facts) if facts.right.holds else _of_wrong(facts)


def _of_declined(facts: Facts) -> tuple[str, str]:
    if facts.unanswerable:
        return RIGHTLY_DECLINED, UNANSWERABLE
    if facts.reference_declines:
        return RIGHTLY_DECLINED, REFERENCE_DECLINES
    if facts.retrieved.holds is None:
        return NOT_KNOWN, facts.retrieved.by
    return DECLINED_THOUGH_RETRIEVED if facts.retrieved.holds else NOT_RETRIEVED, facts.retrieved.by


def _of_right(facts: Facts) -> tuple[str, str]:
    """Where nothing is known of the passages, the answer is right all the same."""
    for has_it in (facts.retrieved, facts.supported):
        if has_it.holds:
            return RIGHT, has_it.by
    known = facts.supported if facts.supported.holds is not None else facts.retrieved
    return (RIGHT, facts.right.by) if known.holds is None else (RIGHT_NOT_FROM_PASSAGES, known.by)


def _of_wrong(facts: Facts) -> tuple[str, str]:
    if facts.unanswerable or facts.reference_declines:  # there was nothing to retrieve
        return (MISREAD, facts.supported.by) if facts.supported.holds else (NOT_KNOWN, ANSWERED_UNANSWERABLE)
    if facts.retrieved.holds is None:
        return NOT_KNOWN, facts.retrieved.by
    if not facts.retrieved.holds:
        # Without gold documents, passages that give another answer to the question than the reference does speak
        # for a wrong reference or a misleading passage: there was something to read.
        is_doubtful = facts.retrieved.by == OFFLINE_SUPPORT and facts.answers
        return (MISREAD, PASSAGES_DISAGREE) if is_doubtful else (NOT_RETRIEVED, facts.retrieved.by)
    if facts.supported.holds is None:  # not used, or misread: the generator's in either case
        return RETRIEVED_NOT_USED, facts.supported.by
    return MISREAD if facts.supported.holds else RETRIEVED_NOT_USED, facts.retrieved.by


def causes_of(rows: Iterable[Facts]) -> tuple[list[str], list[str]]:
    """The two columns: each row's cause, and its evidence."""
    pairs = [cause_of(facts) for facts in rows]
    return [cause for cause, _ in pairs], [evidence for _, evidence in pairs]
