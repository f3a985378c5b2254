"""Does a text support each claim? Supported, contradicted or not mentioned, by a language model.

The claims are those of the answer or of the reference. Each passage is asked about by itself, so that a metric can say
which of them supports what; or several are shown together, and the reply names those that a label comes from. Asked
about several claims, a small model goes on as it began: it does best with one claim, and the passages together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragmeter.definition.judge_columns import (
    JUDGED_BY,
    Changes,
    JudgeColumn,
    Parts,
    PerCall,
    Support,
    Variant,
    judge_column,
)
from ragmeter.judges.asking.list_forms import Labels, groups_of, is_single, listed
from ragmeter.judges.claims import declined
from ragmeter.judges.passage_labels import PassageLabels, are_together, shown
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
_ABOUT_ONE = Variant(is_single, ALONE)
_MANY_TOGETHER = (
    "{passages}\n{claims}\n\nGoing by the passages alone, is each claim supported by them, contradicted by them, or "
    "neither?"
)
#: Asked for all that a claim says, a small model agrees less easily than asked for its support.
_ONE_TOGETHER = "{passages}\n{claims}\n\nDo the passages say everything that the claim says?"
_EVERYTHING = {"Yes": SUPPORTED, "No": NOT_MENTIONED}
#: What is different where a call shows passages together.
_OF_SEVERAL_PASSAGES = [
    Variant(
        lambda sent: are_together(sent) and is_single(sent),
        {
            "words": _ONE_TOGETHER,
            "form": PassageLabels(_EVERYTHING, _WORDS | _ALSO, alone=True, none=NOT_MENTIONED),
            "labels": {"passages": "Passage", "claims": "Claim"},
        },
    ),
    Variant(
        are_together,
        {
            "words": _MANY_TOGETHER,
            "form": PassageLabels(_WORDS, _ALSO, none=NOT_MENTIONED),
            "labels": {"passages": "Passage", "claims": "Claims"},
        },
    ),
]


def _support(name: str, claims: str, text: str, *, by_passage: bool = False) -> JudgeColumn:
    """A column with a label for each claim; `by_passage`: with a list of labels for each claim, one a passage."""

    def split(row: Row, per_call: PerCall) -> list[dict[str, str]]:
        texts = [{"text": _whole(row[text])}]
        if by_passage:
            passages = list(filter(has_text, as_passages(row[text])))
            texts = shown(passages, per_call.passages)
        groups = groups_of(claim_texts(row[claims]), per_call.claims)
        return [{**own, "claims": listed(group)} for own in texts for group in groups]

    def join(row: Row, labels: list[Any]) -> list[Any]:
        in_order = [label for group in labels for label in group]
        return _by_claim(in_order, len(row[claims]), as_passages(row[text])) if by_passage else in_order

    def offline(rows: Sequence[Row], support: Support) -> list[Any]:
        texts = [as_passages(row[text]) if by_passage else _several(row[text]) for row in rows]
        labels = support.labels([claim_texts(row[claims]) for row in rows], texts)
        return list(labels) if by_passage else labels_by_text(labels)

    return judge_column(
        name,
        words=_MANY,
        form=Labels(_WORDS, _ALSO),
        structured=True,
        parts=Parts((claims, text), split, join, [*(_OF_SEVERAL_PASSAGES if by_passage else ()), _ABOUT_ONE]),
        known=declined if text == "answer" else None,
        labels=_LABELS,
        settings=JUDGED_BY,
        offline=offline,
    )


def _by_claim(labels: Sequence[str | list[str]], n_claims: int, passages: Sequence[str]) -> list[list[str]]:
    """For each claim a label for each passage. Of passages shown together each claim has a list of labels."""
    by_claim: list[list[str]] = [[] for _ in range(n_claims)]
    for place, label in enumerate(labels):
        by_claim[place % n_claims] += [label] if isinstance(label, str) else label
    remaining = [iter(row) for row in by_claim]
    return [[next(own) if has_text(passage) else NO_TEXT for passage in passages] for own in remaining]


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
