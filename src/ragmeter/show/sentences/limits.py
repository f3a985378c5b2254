"""Whether a run has all questions of its dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def limit_lines(manifest: Mapping[str, Any]) -> list[str]:
    """How many of the questions were asked, if they are not all; otherwise nothing."""
    limit = manifest.get("limit")
    if not limit:
        return []
    asked = "question was" if limit["asked"] == 1 else f"{limit['asked']:,} questions were"
    return [f"only the first {asked} asked, of {limit['of']:,}"]


def rows_shown(n_rows: int, *, limited: bool) -> str:
    """A run's number of rows; `first 5` if a limit left out the others."""
    return f"first {n_rows:,}" if limited else f"{n_rows:,}"
