"""The passages of a row in rank order: each with its id and whether it is of a gold document."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ragmeter.metrics.chunks import documents
from ragmeter.runs.run import Run
from ragmeter.table import CONTEXT_DETAILS, IDS_AS_WRITTEN, Row

#: The columns of a row that say what its passages are.
COLUMNS = ("contexts", "retrieved", "relevant", CONTEXT_DETAILS, IDS_AS_WRITTEN)


@dataclass(frozen=True)
class Passage:
    """A passage that was given to the system; `is_gold` is None where nobody knows."""

    text: str
    id: str | None = None
    is_gold: bool | None = None


def passages_of(run: Run, row: Row) -> list[Passage]:
    """The passages of a row that has `COLUMNS`. Their ids are their own, or else those of what was retrieved."""
    contexts = row.get("contexts") or []
    texts = [contexts] if isinstance(contexts, str) else list(contexts)
    ids = _own_ids(row.get(CONTEXT_DETAILS), len(texts))
    if not any(ids):
        retrieved = row.get("retrieved") or []
        ids = list(retrieved) if len(retrieved) == len(texts) else ids
    gold = list(row.get("relevant") or [])
    if not gold or not any(ids):
        return [Passage(text, name) for text, name in zip(texts, ids, strict=True)]
    named = [name for name in ids if name]
    numbers = documents(
        pa.array([*gold, *named], pa.large_string()), doc_id_pattern(run), as_written=bool(row.get(IDS_AS_WRITTEN))
    )
    of_gold = set(numbers[: len(gold)].tolist())
    of_named = dict(zip(named, numbers[len(gold) :].tolist(), strict=True))
    return [
        Passage(text, name, of_named[name] in of_gold if name else None) for text, name in zip(texts, ids, strict=True)
    ]


def doc_id_pattern(run: Run) -> str | None:
    """The pattern for the document's id in a chunk's id, of the run's metrics."""
    return next((str(known) for entry in run.manifest().metrics if (known := entry.settings.get("doc_id"))), None)


def _own_ids(details: str | None, count: int) -> list[str | None]:
    """The ids in the column of details, one for each passage; None for one without an id."""
    try:
        entries: Any = json.loads(details or "[]")
    except (ValueError, RecursionError):
        entries = []
    if not isinstance(entries, list) or len(entries) != count:
        return [None] * count
    names = [entry.get("id") if isinstance(entry, dict) else None for entry in entries]
    return [None if name is None else str(name) for name in names]
