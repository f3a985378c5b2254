"""What documents do in a run, in words and cells."""

from __future__ import annotations

from collections.abc import Sequence

from ragmeter.documents.document_use import DocumentUse, UselessDocuments
from ragmeter.wording.numbers import MISSING, hundredths, percent

TITLES = ("document", "retrieved", "gold", "missed", "mean rank", "right when retrieved", "n")
_SHOWN = 5


def document_cells(document: DocumentUse) -> tuple[str, ...]:
    """The cells under `TITLES`."""
    counts = (f"{count:,}" for count in (document.retrieved, document.gold, document.missed))
    rank = MISSING if document.mean_rank is None else hundredths(document.mean_rank)
    right = MISSING if document.right is None else percent(document.right, decimals=0)
    return document.id, *counts, rank, right, f"{document.n_judged:,}"


def list_lines(documents: UselessDocuments) -> list[str]:
    """A line for each list: how many documents are in it, and the first few."""
    lists = {
        "gold, never retrieved": documents.gold_never_retrieved,
        "retrieved, never useful": documents.never_useful,
    }
    if documents.never_retrieved is not None:
        lists[f"never retrieved, of {documents.n_corpus:,} in the corpus"] = documents.never_retrieved
    return [f"{title}: {len(ids):,}{_first(ids)}" for title, ids in lists.items()]


def _first(ids: Sequence[str]) -> str:
    more = ", …" if len(ids) > _SHOWN else ""
    return f" ({', '.join(ids[:_SHOWN])}{more})" if ids else ""
