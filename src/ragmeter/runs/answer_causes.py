"""What a summary says of a run's causes: the share of each, with its interval, and what said so."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.documents.hops import HOPS
from ragmeter.documents.record import UNSET, UnsetType
from ragmeter.documents.summary import AnswerCauses
from ragmeter.metrics.causes import CAUSE, CAUSE_EVIDENCE, CAUSES, direction_of
from ragmeter.metrics.causes.hops import failed_at
from ragmeter.runs.rows import StoredRows
from ragmeter.stats.clusters import Codes
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.summary import summarise

#: Rows whose hops are looked at together: those of a row may be long.
_AT_ONCE = 4_096


def causes_of(rows: StoredRows, confidence: Confidence, codes: Codes | None) -> AnswerCauses | None:
    """Where the answers of a table failed; None for a table without causes. `codes` has the cluster of each row."""
    if not {CAUSE, CAUSE_EVIDENCE} <= set(rows.schema.names):
        return None
    table = rows.read([CAUSE, CAUSE_EVIDENCE])
    counts = table.group_by([CAUSE, CAUSE_EVIDENCE]).aggregate([([], "count_all")]).to_pylist()
    present = {row[CAUSE] for row in counts} - {None}
    if not present or not present <= set(CAUSES):  # columns of the user's own
        return None
    shares = {
        cause: summarise(
            np.asarray(pc.equal(table[CAUSE], cause).cast(pa.float64()).to_numpy()),  # NaN where a row has none
            {},
            binary=True,
            direction=direction_of(cause),
            confidence=confidence,
            codes=codes,
        )
        for cause in CAUSES
    }
    evidence = {
        cause: {
            str(row[CAUSE_EVIDENCE]): row["count_all"]
            for row in sorted(counts, key=lambda row: str(row[CAUSE_EVIDENCE]))
            if row[CAUSE] == cause
        }
        for cause in CAUSES
        if cause in present
    }
    return AnswerCauses(shares, evidence, _hops(rows) if HOPS in rows.schema.names else UNSET)


def _hops(rows: StoredRows) -> dict[str, dict[str, int]] | UnsetType:
    """How many answers failed at which hop, by their causes."""
    names = [name for name in (CAUSE, HOPS, "relevant") if name in rows.schema.names]
    counts: Counter[tuple[str, int]] = Counter()
    for batch in rows.read(names).to_batches(max_chunksize=_AT_ONCE):
        for row in batch.to_pylist():
            place = failed_at(row[CAUSE] or "", row[HOPS], row.get("relevant"))
            if place is not None:
                counts[place.cause, place.hop] += 1
    by_cause: dict[str, dict[str, int]] = {}
    for (cause, hop), count in sorted(counts.items()):
        by_cause.setdefault(cause, {})[str(hop)] = count
    return by_cause or UNSET
