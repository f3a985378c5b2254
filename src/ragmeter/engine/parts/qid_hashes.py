"""Hashes of qids: a file of them for each part tells which qids may occur twice, without reading any texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ragmeter.io.locations import Location
from ragmeter.runs.layout import reading

Hashes = npt.NDArray[np.uint64]
#: Equal hashes prove nothing: so many are looked at.
_FEW = 10


def qids_file(number: int) -> str:
    """The name of the file with the hashes of a part's qids."""
    return f"qids-{number:05}.bin"


def indexed(hashes: Sequence[Hashes]) -> bytes:
    """Sorted hashes behind an index: where those begin whose first byte is 0, 1, 2 …, and where all end."""
    ordered = np.sort(np.concatenate([np.empty(0, np.uint64), *hashes]))
    firsts = np.searchsorted(ordered, np.arange(256, dtype=np.uint64) << np.uint64(56))
    return np.append(firsts, len(ordered)).astype("<u8").tobytes() + ordered.astype("<u8").tobytes()


def hashes_between(place: Location, low: int, high: int) -> Hashes:
    """The hashes in a file whose first byte is at least `low` and below `high`; only these are read."""
    with reading(place), place.open("rb") as file:
        index = np.frombuffer(file.read(257 * 8), "<u8").astype(np.int64)
        file.seek((257 + int(index[low])) * 8)
        return np.frombuffer(file.read(int(index[high] - index[low]) * 8), "<u8").astype(np.uint64)


def repeated_hashes(folder: Location, numbers: Sequence[int], low: int, high: int) -> list[tuple[int, int, int]]:
    """The first hashes of this range that occur twice, each with the numbers of the two parts."""
    hashes = [hashes_between(folder / qids_file(number), low, high) for number in numbers]
    together = np.concatenate(hashes)
    parts = np.repeat(np.array(numbers), [len(own) for own in hashes])
    order = np.argsort(together, kind="stable")
    together, parts = together[order], parts[order]
    twice = np.flatnonzero(together[1:] == together[:-1])[:_FEW]
    return [(int(together[place]), int(parts[place]), int(parts[place + 1])) for place in twice]


def hashes_of(qids: Iterable[str]) -> Hashes:
    """A hash of each qid that is the same in every process."""
    digests = b"".join(hashlib.blake2b(qid.encode("utf-8", "surrogatepass"), digest_size=8).digest() for qid in qids)
    return np.frombuffer(digests, np.uint64)
