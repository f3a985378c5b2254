"""Claims and their labels without a model: sentences and clauses, and the offline support model.

A passage supports a claim from the probability `SUPPORTED` on. A claim that it does not support is contradicted only
where the two clash (`clashes.py`); else it is not mentioned.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragmeter.metrics.citations import without_citations
from ragmeter.metrics.markup import without_thoughts
from ragmeter.metrics.nuggets import NONE, PARTIAL, SUPPORT
from ragmeter.metrics.refusals import is_miss, without_refusals
from ragmeter.metrics.sentences import clauses, sentences
from ragmeter.metrics.support import CONTRADICTED, NO_TEXT, NOT_MENTIONED, SUPPORTED, as_label, has_text

#: From this probability on a fact has partial support.
PARTLY = 0.25
#: A sentence that ends so claims nothing: a question, or the line before a list.
_NO_CLAIM = ("?", "？", "؟", ":", "：")

RowsOfTexts = Sequence[Sequence[str]]


def claims_of(text: str) -> list[str]:
    """What a text claims: its sentences and their clauses, without citations, questions and lines before lists.

    Of a clause that declines in part the rest is left.
    """
    parts = sentences(without_citations(without_thoughts(text)))
    whole = [clause for part in parts if not part.endswith(_NO_CLAIM) for clause in clauses(part)]
    return [without_refusals(clause) or clause for clause in whole]


def made_claims(text: str) -> list[str]:
    """The same without claims that decline: "the documents don't say" is none that a passage could support."""
    return [claim for claim in claims_of(text) if not is_miss(claim)]


def labels_by_passage(claims: RowsOfTexts, passages: RowsOfTexts) -> list[list[list[str]]]:
    """A label for each row, each of its claims and each of its passages."""
    from ragmeter.metrics.offline.support.model import labels_of_rows  # here, so that other metrics don't wait for it

    labels = []
    for texts, (flags, against) in zip(passages, labels_of_rows(claims, passages), strict=True):
        readable = list(map(has_text, texts))
        labels.append(
            [
                [_label(*sides) for sides in zip(readable, *pair, strict=True)]
                for pair in zip(flags.tolist(), against.tolist(), strict=True)
            ]
        )
    return labels


def _label(readable: bool, supported: bool, contradicted: bool) -> str:
    if not readable:
        return NO_TEXT
    return SUPPORTED if supported else CONTRADICTED if contradicted else NOT_MENTIONED


def labels_by_text(labels: Sequence[Sequence[Sequence[str]]]) -> list[list[str]]:
    """The label that a row's texts together give each of its claims, from those of each: the best of them counts."""
    in_order = (SUPPORTED, CONTRADICTED, NOT_MENTIONED, NO_TEXT)
    return [
        [as_label(min(by_text, key=in_order.index, default=NOT_MENTIONED)) for by_text in of_row] for of_row in labels
    ]


class OfflineSupport:
    """The offline support model as what fills the columns of `judge=offline`."""

    def labels(self, claims: RowsOfTexts, passages: RowsOfTexts) -> list[list[list[str]]]:
        """A label for each row, each of its claims and each of its passages."""
        return labels_by_passage(claims, passages)

    def chances(self, claims: RowsOfTexts, texts: Sequence[str]) -> list[list[float]]:
        """For each row the probability that its text supports each of its claims."""
        from ragmeter.metrics.offline.support.model import supported_of_rows

        return [row.tolist() for row in supported_of_rows(claims, [[text] for text in texts])]


def as_nugget_label(probability: float) -> str:
    """Whether an answer that supports a fact with this probability supports it, partly, or not."""
    from ragmeter.metrics.offline.support.model import SUPPORTED as LEAST

    return SUPPORT if probability >= LEAST else PARTIAL if probability >= PARTLY else NONE
