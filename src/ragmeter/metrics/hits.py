"""Gold documents among the retrieved ones, row by row with sets: the quick way for ids that are documents' own.

Most lists are short, and a set looks at each id once. `ranking.py` has the way for all ids, the oracle of this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from ragmeter.metrics.bags import Ids

IdLists = Sequence[Sequence[str]]


def hits_by_sets(relevant: IdLists, retrieved: IdLists, chunk_mark: str | None) -> tuple[Ids, Ids, Ids, Ids] | None:
    """The fields of `Ranked`; None if a list has an id twice, or an id has the mark of a chunk or is no plain text."""
    first_ids = list(chain(*relevant[:1], *retrieved[:1]))
    if not set(map(type, first_ids)) <= {str}:  # another kind of text may have a hash of its own
        return None
    try:
        if chunk_mark is not None and chunk_mark in "\n".join(first_ids):
            return None
        hits = _hits(relevant, retrieved, chunk_mark)
    except (TypeError, UnicodeEncodeError):  # an id that is no text, or that has half of a character
        return None
    if hits is None:
        return None
    places = np.sort(np.array(hits[0], np.int64))  # in the order of rows, and of ranks
    counts = np.fromiter(map(len, retrieved), np.int64, len(retrieved))
    ends = np.cumsum(counts)
    rows = np.searchsorted(ends, places, side="right")
    return rows, places - (ends - counts)[rows] + 1, np.array(hits[1], np.int64), counts


def _hits(relevant: IdLists, retrieved: IdLists, chunk_mark: str | None) -> tuple[list[int], list[int]] | None:
    """The place of each hit among all retrieved ids, and the number of each row's gold documents."""
    places: list[int] = []
    gold: list[int] = []
    texts: list[str] = []
    join, start = "\n".join, 0
    for gold_ids, ids in zip(relevant, retrieved, strict=True):
        texts.append(join([*gold_ids, *ids]))
        documents = set(ids)
        if len(documents) != len(ids):
            return None
        if not documents.isdisjoint(gold_ids):
            for hit in documents.intersection(gold_ids):
                places.append(start + ids.index(hit))  # noqa: PERF401 - making a list of one or two takes longer
        gold.append(len(set(gold_ids)) if len(gold_ids) > 1 else len(gold_ids))
        start += len(ids)
    text = join(texts)
    if not text.isascii():
        text.encode()
    return None if chunk_mark is not None and chunk_mark in text else (places, gold)
