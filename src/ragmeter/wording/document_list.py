"""What documents do in a run, in words and cells."""

from __future__ import annotations

from collections.abc import Sequence

from ragmeter.documents.document_use import DocumentUse, UselessDocuments
from ragmeter.wording.numbers import MISSING, hundredths, percent

TITLES = ("document", "retrieved", "gold", "missed", "useful", "mean rank", "right when retrieved", "n")
_SHOWN = 5
#: What the column `useful` counts.
_USEFUL = {
    "gold": "useful: for so many questions it was retrieved and is a gold document",
    "right": "useful: for so many questions it was retrieved and the answer is right",
}


def document_cells(document: DocumentUse) -> tuple[str, ...]:
    """The cells under `TITLES`."""
    counts = (f"{count:,}" for count in (document.retrieved, document.gold, document.missed))
    rank = MISSING if document.mean_rank is None else hundredths(document.mean_rank)
    right = MISSING if document.right is None else percent(document.right, decimals=0)
    useful = MISSING if document.useful is None else f"{document.useful:,}"
    return document.id, *counts, useful, rank, right, f"{document.n_judged:,}"


def list_lines(documents: UselessDocuments, shown: int = _SHOWN, more: str = "") -> list[str]:
    """What makes a document useful, and a line for each list: how many documents are in it, and the first of them.

    `more` says where the others are.
    """
    lists = {
        "gold, never retrieved": documents.gold_never_retrieved,
        "retrieved, never useful": documents.never_useful,
    }
    if documents.never_retrieved is not None:
        lists[f"never retrieved, of {documents.n_corpus:,} in the corpus"] = documents.never_retrieved
    return [_USEFUL[documents.useful_by], *(f"{title}: {_first(ids, shown, more)}" for title, ids in lists.items())]


def _first(ids: Sequence[str], shown: int, more: str) -> str:
    first = ", ".join(ids[:shown])
    left = len(ids) - shown
    rest = f"{first and ', '}… {left:,} more{more}" if left > 0 else ""
    return f"{len(ids):,} ({first}{rest})" if ids else "0"
