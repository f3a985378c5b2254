"""What does a text claim? A list of short statements, by a language model."""

from __future__ import annotations

from collections.abc import Sequence

from ragmeter.definition.judge_columns import JUDGED_BY, Parts, judge_column
from ragmeter.judges.list_forms import Items
from ragmeter.metrics.offline.support.claims import claims_of, made_claims
from ragmeter.metrics.refusals import is_miss
from ragmeter.metrics.sentences import sentences
from ragmeter.table import ABSTAINED, Failed, Row

_ASK = (
    "List every claim that the {kind} makes, each as a short sentence that is understood without the others. "
    "Add nothing."
)


def declined(row: Row) -> Failed | None:
    """An answer that declines to answer claims nothing: it is counted by itself."""
    return Failed(ABSTAINED) if is_miss(row["answer"]) else None


claims = judge_column(
    "claims",
    words="{question}\n{answer}\n\n" + _ASK.format(kind="answer"),
    form=Items("claims", "answer"),
    optional=("question",),
    labels={"question": "Question", "answer": "Answer"},
    known=declined,
    structured=True,
    given=True,
    guess=lambda row: sentences(row["answer"]),
    settings=JUDGED_BY,
    offline=lambda rows, support: [made_claims(row["answer"]) for row in rows],
)


def first_reference(row: Row, at_once: int) -> list[dict[str, str]]:
    """The question and the first of several references: the claims of two would be those of neither."""
    return [{"question": row["question"] or "", "reference": _first(row["reference"])}]


def _first(reference: str | Sequence[str]) -> str:
    return reference if isinstance(reference, str) else reference[0]


reference_claims = judge_column(
    "reference_claims",
    words="{question}\n{reference}\n\n" + _ASK.format(kind="reference"),
    form=Items("claims", "reference"),
    optional=("question",),
    labels={"question": "Question", "reference": "Reference"},
    structured=True,
    given=True,
    parts=Parts(("question", "reference"), first_reference, lambda row, values: values[0]),
    guess=lambda row: sentences(_first(row["reference"])),
    settings=JUDGED_BY,
    offline=lambda rows, support: [claims_of(_first(row["reference"])) for row in rows],
)
