"""What the two sides of many pairs have in common, in C. Ids and starts are those of `metrics.bags.Sides`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ragmeter import kernel
from ragmeter.kernel.words import utf8

Ids = npt.NDArray[np.int64]

#: A table with a place for each id must not be many times as large as what is looked up in it.
_PLACES, _PLACES_PER_ITEM = 1 << 22, 4


def overlaps(ids: Ids, starts: Ids) -> Ids:
    """How many items the two sides of each pair share, duplicates counted."""
    return _counted("pair_overlaps", ids, starts)


def subsequences(ids: Ids, starts: Ids) -> Ids:
    """The length of the longest common subsequence of each pair, -1 where both sides have too many items."""
    return _counted("pair_subsequences", ids, starts)


def terms(ids: Ids, starts: Ids) -> Ids:
    """Five sums over each pair's distinct items, with `r` and `a` of it on the two sides, as columns.

    Of `r a`, `r r`, `a a`, and of the last two over the items that both sides have.
    """
    return _counted("pair_terms", ids, starts, columns=5)


def alignments(words: Ids, stems: Ids, starts: Ids) -> tuple[Ids, Ids]:
    """METEOR's matches of each pair, and their runs."""
    same = stems is words
    words, n_words = _dense(words)
    stems, n_stems = (words, n_words) if same else _dense(stems)
    matches, runs = np.empty(len(starts) // 2, np.int64), np.empty(len(starts) // 2, np.int64)
    inputs = [array.ctypes.data for array in (words, stems, starts)]
    outputs = (matches.ctypes.data, runs.ctypes.data)
    _check(kernel.library().pair_alignments(*inputs, len(matches), n_words, n_stems, *outputs))
    return matches, runs


def distances(first: Any, second: Any) -> Ids:
    """The Levenshtein distance of each pair of two Arrow arrays of texts.

    -1 where both are too long, or have too many different characters.
    """
    edits = np.empty(len(first), np.int64)
    (data, offsets), (other_data, other_offsets) = utf8(first), utf8(second)
    _check(
        kernel.library().pair_distances(
            data, offsets.ctypes.data, other_data, other_offsets.ctypes.data, len(first), edits.ctypes.data
        )
    )
    return edits


def _counted(function: str, ids: Ids, starts: Ids, columns: int = 1) -> Ids:
    ids, n_ids = _dense(ids)
    pairs = len(starts) // 2
    counts = np.empty((pairs, columns) if columns > 1 else pairs, np.int64)
    arrays = ids.ctypes.data, starts.ctypes.data
    _check(getattr(kernel.library(), function)(*arrays, pairs, n_ids, counts.ctypes.data))
    return counts


def _dense(ids: Ids) -> tuple[Ids, int]:
    """The ids in one piece, numbered anew if a table of them would be large, and one more than the greatest."""
    n_ids = int(ids.max(initial=-1)) + 1
    if n_ids > max(_PLACES, _PLACES_PER_ITEM * len(ids)) or ids.min(initial=0) < 0:
        distinct, ids = np.unique(ids, return_inverse=True)
        n_ids = len(distinct)
    return np.ascontiguousarray(ids, np.int64), n_ids


def _check(status: int) -> None:
    if status < 0:
        raise MemoryError
