"""Does a text support each claim? Supported, contradicted or not mentioned, by a language model.

The claims are those of the answer or of the reference. Each passage is asked about by itself, so that a metric can say
which of them supports what.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragmeter.definition.judge_columns import JUDGED_BY, Changes, JudgeColumn, Parts, Support, judge_column
from ragmeter.judges.claims import declined
from ragmeter.judges.list_forms import Labels, listed
from ragmeter.metrics.offline.support.claims import labels_by_text
from ragmeter.metrics.support import CONTRADICTED, NO_TEXT, NOT_MENTIONED, SUPPORTED, as_passages, claim_texts, has_text
from ragmeter.table import Row

_WORDS = {"Supported": SUPPORTED, "Contradicted": CONTRADICTED, "Neither": NOT_MENTIONED}
_ALSO = {
    "entailment": SUPPORTED, "entailed": SUPPORTED, "contradiction": CONTRADICTED, "neutral": NOT_MENTIONED,
    "not mentioned": NOT_MENTIONED, "unsupported": NOT_MENTIONED, "not supported": NOT_MENTIONED,
}  # fmt: skip
_MANY = "{text}\n{claims}\n\nGoing by the text alone, is each claim supported by it, contradicted by it, or neither?"
_ONE = "{text}\n{claims}\n\nGoing by the text alone, is the claim supported by it, contradicted by it, or neither?"
_LABELS = {"text": "Text", "claims": "Claims"}
#: What is different where a call is about a single claim: the reply is one word. A list of one gets inventions.
ALONE: Changes = {
    "words": _ONE,
    "form": Labels(_WORDS, _ALSO, alone=True),
    "labels": {"text": "Text", "claims": "Claim"},
}


def _support(name: str, claims: str, text: str, *, by_passage: bool = False) -> JudgeColumn:
    """A column with a label for each claim; `by_passage`: each passage by itself, with a list of labels for a claim."""

    def groups(row: Row, at_once: int) -> list[list[str]]:
        texts = claim_texts(row[claims])
        return [texts[begin : begin + at_once] for begin in range(0, len(texts), at_once)]

    def split(row: Row, at_once: int) -> list[dict[str, str]]:
        passages = filter(has_text, as_passages(row[text])) if by_passage else [_whole(row[text])]
        return [{"text": passage, "claims": listed(group)} for passage in passages for group in groups(row, at_once)]

    def join(row: Row, labels: list[Any]) -> list[Any]:
        n_claims = len(row[claims])
        in_order = [label for group in labels for label in group]
        if not by_passage:
            return in_order
        by_claim: list[list[Any]] = [[] for _ in range(n_claims)]
        remaining = iter(in_order)
        for passage in as_passages(row[text]):
            for labels_of_claim in by_claim:
                labels_of_claim.append(next(remaining) if has_text(passage) else NO_TEXT)
        return by_claim

    def offline(rows: Sequence[Row], support: Support) -> list[Any]:
        texts = [as_passages(row[text]) if by_passage else _several(row[text]) for row in rows]
        labels = support.labels([claim_texts(row[claims]) for row in rows], texts)
        return list(labels) if by_passage else labels_by_text(labels)

    return judge_column(
        name,
        words=_MANY,
        form=Labels(_WORDS, _ALSO),
        structured=True,
        parts=Parts((claims, text), split, join, ALONE),
        known=declined if text == "answer" else None,
        labels=_LABELS,
        settings=JUDGED_BY,
        offline=offline,
    )


def _whole(value: str | Sequence[str]) -> str:
    """A text; of several acceptable references, each on its line."""
    return value if isinstance(value, str) else "\nor: ".join(value)


def _several(value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


support_by_reference = _support("support_by_reference", "claims", "reference")
support_by_passages = _support("support_by_passages", "claims", "contexts", by_passage=True)
reference_support_by_answer = _support("reference_support_by_answer", "reference_claims", "answer")
reference_support_by_passages = _support(
    "reference_support_by_passages", "reference_claims", "contexts", by_passage=True
)
