"""What does a text claim? A list of short statements, by a language model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragmeter.definition.judge_columns import JUDGED_BY, Parts, PerCall, judge_column
from ragmeter.judges.asking.list_forms import Items
from ragmeter.metrics.offline.support.claims import claims_of, made_claims
from ragmeter.metrics.refusals import is_miss
from ragmeter.metrics.sentences import is_long, sentences
from ragmeter.table import ABSTAINED, Failed, Row

_ASK = (
    "List every claim that the {kind} makes, each as a short sentence that is understood without the others. "
    "Keep the language of the {kind} and as many of its words as you can. Say nothing about the {kind} itself, and "
    "add nothing."
)


@dataclass(frozen=True)
class Claims(Items):
    """A list of what a text claims. A claim without any content word of the text is about it, or another's."""

    def read(self, reply: str, sent: Mapping[str, str]) -> dict[str, str] | None:
        """The claims; a list with one that has no word of the text is no list."""
        columns = super().read(reply, sent)
        return None if columns is None or self._foreign(columns["value"], sent) else columns

    def problem(self, reply: str, sent: Mapping[str, str]) -> str:
        """How many claims have no word of the text."""
        columns = super().read(reply, sent)
        number = self._foreign(columns["value"], sent) if columns else 0
        return (
            f"{number} {'claim has' if number == 1 else 'claims have'} no word of the {self.source}" if number else ""
        )

    def _foreign(self, value: str, sent: Mapping[str, str]) -> int:
        """How many claims have no content word of the text, nor of the question where the text may be a mere "yes"."""
        from ragmeter.metrics.offline.support.gaps import speak_of  # here, for it takes time to load

        text, question = sent[self.source], sent.get("question", "")
        return speak_of(json.loads(value), [text] if is_long(text) else [text, question]).count(False)


def declined(row: Row) -> Failed | None:
    """An answer that declines to answer claims nothing: it is counted by itself."""
    return Failed(ABSTAINED) if is_miss(row["answer"]) else None


claims = judge_column(
    "claims",
    words="{question}\n{answer}\n\n" + _ASK.format(kind="answer"),
    form=Claims("claims", "answer"),
    optional=("question",),
    labels={"question": "Question", "answer": "Answer"},
    known=declined,
    structured=True,
    given=True,
    guess=lambda row: sentences(row["answer"]),
    settings=JUDGED_BY,
    offline=lambda rows, support: [made_claims(row["answer"]) for row in rows],
)


def first_reference(row: Row, per_call: PerCall) -> list[dict[str, str]]:
    """The question and the first of several references: the claims of two would be those of neither."""
    return [{"question": row["question"] or "", "reference": _first(row["reference"])}]


def _first(reference: str | Sequence[str]) -> str:
    return reference if isinstance(reference, str) else reference[0]


reference_claims = judge_column(
    "reference_claims",
    words="{question}\n{reference}\n\n" + _ASK.format(kind="reference"),
    form=Claims("claims", "reference"),
    optional=("question",),
    labels={"question": "Question", "reference": "Reference"},
    structured=True,
    given=True,
    parts=Parts(("question", "reference"), first_reference, lambda row, values: values[0]),
    guess=lambda row: sentences(_first(row["reference"])),
    settings=JUDGED_BY,
    offline=lambda rows, support: [claims_of(_first(row["reference"])) for row in rows],
)
