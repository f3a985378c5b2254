"""The summary of a column that is too long for memory, from pieces of it: the same numbers, to the bit.

Sums are added up in the order in which numpy adds up one long array: halves of halves. The median and percentiles are
exact: values are counted by their leading bits until few are left that could be the one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ragmeter.stats.confidence import Confidence
from ragmeter.stats.intervals import limits_of, unclustered_interval, within
from ragmeter.stats.pseudo_rows import Moments, is_known, n_at_ends, n_near
from ragmeter.stats.summary import MetricSummary, finite
from ragmeter.table import Scores

#: Reads the column from its beginning, in pieces of any size.
Pieces = Callable[[], Iterator[Scores]]
Keys = npt.NDArray[np.uint64]

#: Values that are added up, or sorted, at once.
_AT_ONCE = 1 << 20
_BITS = 16


def can_be_streamed(confidence: Confidence, cluster: str | None) -> bool:
    """Whether the interval needs no more than sums. A bootstrap, and clusters, need the values."""
    return cluster is None and confidence.method not in ("bootstrap", "bca")


def summarise_pieces(
    pieces: Pieces,
    n_total: int,
    not_scored: Mapping[str, int],
    *,
    binary: bool = False,
    direction: str = "higher",
    bounds: tuple[float, float] = (0.0, 1.0),
    confidence: Confidence = Confidence(),  # noqa: B008 - it is immutable
) -> MetricSummary:
    """`summarise` for independent rows. `pieces` are the scores of the rows that have one."""
    n, ends = _ends(pieces)
    total = _sum(pieces, n)
    mean = total / n if n else None
    sd = None if n < 2 or mean is None else _sd(pieces, n, mean)
    limits = limits_of(bounds, np.array(ends))
    median = _median(pieces, n) if n else None
    possible = (0.0, 1.0) if binary else limits
    at_ends = near = 0
    if median is not None and is_known(possible):
        at_ends = sum(n_at_ends(piece, possible) for piece in pieces())
        near = sum(n_near(piece, median, possible) for piece in pieces())
    moments = Moments(n, total, mean, sd, at_ends, near, possible)
    interval, method = unclustered_interval(moments, confidence, binary=binary)
    return MetricSummary(
        mean=mean,
        sd=sd,
        min=ends[0] if n else None,
        max=ends[1] if n else None,
        median=median,
        interval=within(interval, limits),
        interval_method=method,
        direction=direction,
        range=finite(limits),
        n_total=n_total,
        n_scored=n,
        n_not_scored=dict(sorted(not_scored.items())),
        level=confidence.level,
        n_clusters=None,
        binary=binary,
    )


def percentiles_of_pieces(pieces: Pieces) -> dict[str, float] | None:
    """`percentiles`, from pieces; None if there are no values."""
    n, ends = _ends(pieces)
    if not n:
        return None
    wanted = [(n - 1) * np.float64(percent / 100) for percent in (50, 95, 99)]
    places = sorted({place for index in wanted for place in (int(index), min(int(index) + 1, n - 1))})
    values = dict(zip(places, order_statistics(pieces, places), strict=True))
    p50, p95, p99 = (_between(values[int(i)], values[min(int(i) + 1, n - 1)], float(i - int(i))) for i in wanted)
    return {"n": n, "mean": _sum(pieces, n) / n, "p50": p50, "p95": p95, "p99": p99, "max": ends[1]}


def _between(low: float, high: float, share: float) -> float:
    """The value between two neighbours, interpolated as numpy does."""
    apart = high - low
    return high - apart * (1 - share) if share >= 0.5 else low + apart * share


def _ends(pieces: Pieces) -> tuple[int, list[float]]:
    """How many values there are, the least and the greatest."""
    n = 0
    ends: list[float] = []
    for piece in pieces():
        if len(piece):
            n += len(piece)
            ends = [float(min([piece.min(), *ends[:1]])), float(max([piece.max(), *ends[1:]]))]
    return n, ends


def _sum(pieces: Pieces, n: int) -> float:
    return float(_pairwise(_Reader(pieces()), n)) if n else 0.0


def _sd(pieces: Pieces, n: int, mean: float) -> float:
    squares = (np.multiply(piece - mean, piece - mean) for piece in pieces())
    return float(np.sqrt(_pairwise(_Reader(squares), n) / max(n - 1, 0)))


def _median(pieces: Pieces, n: int) -> float:
    low, high = order_statistics(pieces, [(n - 1) // 2, n // 2])
    return low if n % 2 else (low + high) / 2


class _Reader:
    """Reads a given number of values at a time, whatever the pieces are."""

    def __init__(self, pieces: Iterator[Scores]) -> None:
        self._pieces = pieces
        self._rest = np.empty(0)

    def read(self, n: int) -> Scores:
        taken, missing = [], n
        while missing:
            if not len(self._rest):
                self._rest = next(self._pieces)
            taken.append(self._rest[:missing])
            self._rest = self._rest[missing:]
            missing -= len(taken[-1])
        return taken[0] if len(taken) == 1 else np.concatenate(taken)


def _pairwise(reader: _Reader, n: int) -> np.float64:
    """The sum of the next n values, as numpy adds up one array of them."""
    if n <= _AT_ONCE:
        return np.float64(np.add.reduce(np.ascontiguousarray(reader.read(n))))
    half = n // 2
    half -= half % 8
    first = _pairwise(reader, half)
    return np.float64(first + _pairwise(reader, n - half))


def order_statistics(pieces: Pieces, places: Sequence[int]) -> list[float]:
    """The values at these places of the sorted column, counted from 0."""
    counted: dict[tuple[int, int], npt.NDArray[np.int64]] = {}
    return [_at(pieces, place, counted) for place in places]


def _at(pieces: Pieces, place: int, counted: dict[tuple[int, int], npt.NDArray[np.int64]]) -> float:
    prefix = 0
    for known in range(0, 64, _BITS):
        if (known, prefix) not in counted:
            counted[known, prefix] = _counts(pieces, known, prefix)
        counts = counted[known, prefix]
        ends = np.cumsum(counts)
        bucket = int(np.searchsorted(ends, place, side="right"))
        place -= int(ends[bucket] - counts[bucket])
        prefix = prefix << _BITS | bucket
        if counts[bucket] <= _AT_ONCE and known + _BITS < 64:
            return _sorted_at(pieces, known + _BITS, prefix, place)
    return float(_value(np.array([prefix], np.uint64))[0])


def _counts(pieces: Pieces, known: int, prefix: int) -> npt.NDArray[np.int64]:
    """How many keys begin with this prefix of so many bits, by their next bits."""
    counts = np.zeros(1 << _BITS, np.int64)
    shift = np.uint64(64 - known - _BITS)
    for piece in pieces():
        keys = _with_prefix(_key(piece), known, prefix)
        next_bits = (keys >> shift) & np.uint64((1 << _BITS) - 1)
        counts += np.bincount(next_bits.astype(np.int64), minlength=1 << _BITS)
    return counts


def _sorted_at(pieces: Pieces, known: int, prefix: int, place: int) -> float:
    keys = np.concatenate([_with_prefix(_key(piece), known, prefix) for piece in pieces()])
    return float(_value(np.sort(keys)[place : place + 1])[0])


def _with_prefix(keys: Keys, known: int, prefix: int) -> Keys:
    return keys if not known else keys[keys >> np.uint64(64 - known) == np.uint64(prefix)]


_SIGN = np.uint64(1 << 63)


def _key(values: Scores) -> Keys:
    """Whole numbers in the order of the values."""
    bits = np.ascontiguousarray(values, np.float64).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _value(keys: Keys) -> Scores:
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)
