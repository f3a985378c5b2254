"""At which hop an agent's answer failed: which retrieval found what the answer lacks, or which hop had an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragmeter.documents.hops import RETRIEVAL, read_hops
from ragmeter.metrics.causes import FAILED, NOT_RETRIEVED, OF_GENERATOR
from ragmeter.metrics.hops import hop_finds

#: Causes of which a hop can be told.
AT_A_HOP = frozenset({FAILED, NOT_RETRIEVED, *OF_GENERATOR})


@dataclass(frozen=True)
class FailedAt:
    """A hop, counted from 1, of so many.

    Of an answer that failed it is the hop with the error, of all hops; of one whose documents were not retrieved the
    last retrieval, of all retrievals; of other wrong answers the first retrieval that found a gold document.
    """

    cause: str
    hop: int
    of: int
    tool: str | None = None
    error: str | None = None


def failed_at(cause: str, hops: str | None, relevant: Sequence[str] | None) -> FailedAt | None:
    """The hop at which a row with this cause failed; None where nobody can tell."""
    steps = None if hops is None or cause not in AT_A_HOP else read_hops(hops)
    if not steps or hops is None:
        return None
    if cause == FAILED:
        failed = next(((place, hop) for place, hop in enumerate(steps, 1) if hop.error), None)
        return None if failed is None else FailedAt(cause, failed[0], len(steps), failed[1].tool, failed[1].error)
    retrievals = [hop for hop in steps if hop.kind == RETRIEVAL]
    if not retrievals:
        return None
    if cause == NOT_RETRIEVED:
        return FailedAt(cause, len(retrievals), len(retrievals), retrievals[-1].tool)
    if not relevant:
        return None
    (finds,) = hop_finds.function([steps], [relevant], [None], doc_id=None)
    hop = next((place for place, found in enumerate(finds.by_hop(), 1) if found), None)
    return None if hop is None else FailedAt(cause, hop, len(retrievals), retrievals[hop - 1].tool)
