"""What a summary says of a run's causes: the share of each, with its interval, and what said so."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa

from ragmeter.documents.summary import AnswerCauses
from ragmeter.metrics.causes import CAUSE, CAUSE_EVIDENCE, CAUSES, direction_of
from ragmeter.runs.rows import CachedColumns, clusters_of
from ragmeter.runs.run import TEXTS
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.summary import summarise


def causes_of(rows: CachedColumns, confidence: Confidence) -> AnswerCauses | None:
    """Where the answers of a table failed; None for a table without causes."""
    if not {CAUSE, CAUSE_EVIDENCE} <= set(rows.schema.names):
        return None
    table = rows.read([CAUSE, CAUSE_EVIDENCE])
    causes = np.array(table[CAUSE].to_pylist(), dtype=object)
    present = set(causes.tolist()) - {None}
    if not present or not present <= set(CAUSES):  # columns of the user's own
        return None
    texts = [field.name for field in rows.schema if field.type in TEXTS]

    def column(name: str) -> pa.Array:
        return rows.read([name])[name].combine_chunks()

    codes = clusters_of(confidence.cluster, texts, column, is_own=True)[1]
    is_known = np.array([cause is not None for cause in causes.tolist()])
    shares = {
        cause: summarise(
            np.where(is_known, (causes == cause).astype(np.float64), np.nan),
            {},
            binary=True,
            direction=direction_of(cause),
            confidence=confidence,
            codes=codes,
        )
        for cause in CAUSES
    }
    counts = Counter(zip(causes.tolist(), table[CAUSE_EVIDENCE].to_pylist(), strict=True))
    evidence = {
        cause: {str(by): count for (name, by), count in sorted(counts.items(), key=str) if name == cause}
        for cause in CAUSES
        if cause in present
    }
    return AnswerCauses(shares, evidence)
