"""Whether a run has all questions of its dataset."""

from __future__ import annotations

from ragmeter.documents.manifest import Manifest
from ragmeter.documents.summary import Summary


def limit_lines(document: Manifest | Summary) -> list[str]:
    """What a run's manifest or summary says of a limit: how many of the questions were asked, if they are not all."""
    limit = document.limit
    if limit is None:
        return []
    asked = "question was" if limit.asked == 1 else f"{limit.asked:,} questions were"
    return [f"only the first {asked} asked, of {limit.of:,}"]


def rows_shown(n_rows: int, *, limited: bool) -> str:
    """A run's number of rows; `first 5` if a limit left out the others."""
    return f"first {n_rows:,}" if limited else f"{n_rows:,}"
