"""What documents do in a run: how often each was retrieved, and which are of no use."""

from __future__ import annotations

from typing import Literal

from ragmeter.documents.record import Count, Record


class DocumentUse(Record, frozen=True):
    """What one document does in a run.

    `retrieved`, `gold` and `missed` count questions: those that it was retrieved for, those that it is a gold document
    of, and those of the latter that it was not retrieved for. `useful` counts those that it was retrieved for and is a
    gold document of; in a run without gold documents, those with a right answer; it is None where nobody knows.
    `right` is the share of right answers among the `n_judged` answers to questions that it was retrieved for.
    """

    id: str
    retrieved: Count
    gold: Count
    missed: Count
    useful: Count | None
    mean_rank: float | None
    right: float | None
    n_judged: Count


class UselessDocuments(Record, frozen=True):
    """Ids of documents that a run has no use of; `never_retrieved` are those of a corpus, where there is one.

    `useful_by` says what makes a document useful: to be "gold" of a question that it was retrieved for or, in a run
    without gold documents, a "right" answer.
    """

    gold_never_retrieved: list[str]
    never_useful: list[str]
    useful_by: Literal["gold", "right"]
    never_retrieved: list[str] | None = None
    n_corpus: Count | None = None
