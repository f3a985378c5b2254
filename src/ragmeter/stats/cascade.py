"""Which rows a cheap judge may decide, so that together with the expensive judge's verdicts a target agreement holds.

A row's sureness is max(p, 1 - p), where p is the probability that its answer is right. Rows that are sure enough are
decided by p, the expensive judge is asked about the others. The target is for all rows: verdicts of the expensive judge
count as right, decided ones may be wrong.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragmeter.documents.record import Interval
from ragmeter.stats.clusters import Clustered, Codes
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.distributions import incomplete_beta, t_quantile
from ragmeter.stats.intervals import interval_of, within
from ragmeter.table import Scores

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Threshold:
    """Rows with at least this sureness are decided; with a threshold above 1, no row is.

    Where many rows are equally sure, a share may end among them: of the `n_tied` that are exactly so sure,
    `n_tied_asked` are not decided.
    """

    least: float
    n_tied: int = 0
    n_tied_asked: int = 0

    def sure(self, chances: Scores, names: Sequence[str] | None = None) -> Flags:
        """Flags of the rows that are decided. Of tied ones the hashes of their names choose, else their order."""
        sure = np.asarray(sureness(chances) >= self.least)
        if self.n_tied_asked:
            tied = np.flatnonzero(sureness(chances) == self.least).tolist()
            if names is not None:  # so that neither the order of the rows nor what stands beside them matters
                tied.sort(key=lambda place: hashlib.sha256(names[place].encode("utf-8", "replace")).digest())
            sure[tied[: self.n_tied_asked]] = False
        return sure


def sureness(chances: Scores) -> Scores:
    """max(p, 1 - p): from 0.5 to 1."""
    return np.maximum(chances, 1 - chances)


#: The most thresholds that are tried.
_TRIES = 400
#: No row is decided; the expensive judge is asked about all.
ASK_ALL = Threshold(math.inf)


def by_labels(
    chances: Scores, right: Scores, target: float, confidence: float = 0.95, groups: Codes | None = None
) -> Threshold:
    """The lowest threshold that reaches the target agreement with this confidence, from labels of random rows.

    Thresholds are tested from the highest down, and the first that fails ends the search: in this fixed order the tests
    need no correction. Rows of one group, for example a conversation, are not treated as independent.
    """
    sure = sureness(chances)
    wrong = (chances >= 0.5) != (right >= 0.5)
    threshold = ASK_ALL
    distinct = np.unique(sure)[::-1]
    places = np.unique(np.linspace(0, max(len(distinct) - 1, 0), _TRIES).astype(np.int64))
    for least in distinct[places[: len(distinct)]]:
        if not _is_at_most(wrong & (sure >= least), 1 - target, confidence, groups):
            break
        threshold = Threshold(float(least))
    return threshold


def _is_at_most(wrong: Flags, share: float, confidence: float, groups: Codes | None) -> bool:
    """Whether the true share of mistakes is at most `share` with this confidence, by the exact binomial bound.

    With groups, the effective n is smaller by the design effect of the mistakes. That is estimated, so the risk is
    halved: without that, the target was reached in 93 to 97 of 100 draws.
    """
    mistakes, n, worth, risk = int(wrong.sum()), len(wrong), 1.0, 1 - confidence
    if groups is not None:
        units = Clustered.of(wrong.astype(np.float64), groups)
        if len(units) < 2:
            return False
        risk /= 2
        alone = mistakes / n * (1 - mistakes / n) / n
        worth = max(1.0, units.standard_error() ** 2 / alone) if alone else n / len(units)
    return incomplete_beta((n - mistakes) / worth, mistakes / worth + 1, 1 - share) <= risk


def labels_needed(target: float, confidence: float = 0.95) -> int:
    """The fewest labels that can show a target: this many without a mistake."""
    return math.ceil(math.log(1 - confidence) / math.log(target))


def by_expectation(chances: Scores, target: float, total: int | None = None) -> Threshold:
    """The lowest threshold with few enough expected mistakes, if the probabilities are calibrated.

    `total` is the number of all rows, including those that need no judge: the target is for all rows.
    """
    ordered = np.sort(sureness(chances))[::-1]
    expected = np.cumsum(1 - ordered) / max(len(ordered), total or 0, 1)
    n_decided = int(np.count_nonzero(expected <= 1 - target + 1e-12))
    if n_decided == len(ordered):
        return Threshold(0.5)
    decided = ordered[ordered > ordered[n_decided]]  # ties are not split
    return Threshold(float(decided[-1])) if len(decided) else ASK_ALL


def by_share(chances: Scores, share: float) -> Threshold:
    """The threshold at which the expensive judge is asked about this share of the rows; ties are split."""
    ordered = np.sort(sureness(chances))
    asked = math.floor(len(ordered) * share + 1e-9)
    if asked >= len(ordered):
        return ASK_ALL
    below, up_to = (int(np.searchsorted(ordered, ordered[asked], side)) for side in ("left", "right"))
    return Threshold(float(ordered[asked]), up_to - below, asked - below)


def audited(sure: Flags, share: float, fewest: int, seed: int, most: int | None = None) -> tuple[Flags, float]:
    """A random sample of the decided rows to ask about as well, and the probability of a row to be drawn."""
    decided = np.flatnonzero(sure)
    number = min(len(decided), max(fewest, math.ceil(len(decided) * share - 1e-9)))
    number = number if most is None else min(number, most)
    chosen = np.zeros(len(sure), dtype=bool)
    chosen[np.random.default_rng(seed).choice(decided, number, replace=False)] = True
    return chosen, number / len(decided) if len(decided) else 0.0


def corrected_scores(decided: Scores, asked: Scores, sure: Flags, units: Codes | None = None) -> Scores:
    """Scores whose mean is an unbiased estimate of the expensive judge's mean, although it was asked about few rows.

    `decided` has the cheap verdicts, `asked` the expensive ones, NaN where it was not asked. A sure row counts with its
    cheap verdict; an audited one also adds the difference between the two verdicts, weighted for the rows that it
    stands for, which removes the bias of the cheap judge's mistakes (Horvitz and Thompson; prediction-powered
    inference). The interval of the mean follows from the spread of these scores. `units` are what was drawn for the
    audit, if not single rows: conversations.
    """
    codes = np.arange(len(decided)) if units is None else units
    scores = np.where(sure, decided, asked)
    audited = sure & ~np.isnan(asked)
    if audited.any():
        weight = len(np.unique(codes[sure])) / len(np.unique(codes[audited]))
        scores[audited] += weight * (asked[audited] - decided[audited])
    return scores


def corrected_mean(
    decided: Scores, asked: Scores, sure: Flags, units: Codes, level: float = 0.95
) -> tuple[float | None, Interval | None]:
    """The mean of the corrected scores with its interval; None if there are sure rows and none was audited.

    An audit that finds no mistake does not show that there are none: the interval is as wide as if it had found one
    more mistake in two more units (Laplace).
    """
    audited_rows = sure & ~np.isnan(asked)
    scores = corrected_scores(decided, asked, sure, units)
    has_score = ~np.isnan(scores)
    if not has_score.any() or (sure[has_score].any() and not audited_rows.any()):
        return None, None
    codes = units[has_score]
    mean = float(scores[has_score].mean())
    if (audited_rows | ~sure)[has_score].all():  # the expensive judge was asked about all rows
        alone = len(np.unique(codes)) == len(codes)
        confidence = Confidence(level=level)
        interval, _ = interval_of(scores[has_score], confidence, binary=True, codes=None if alone else codes)
        return mean, within(interval, (0.0, 1.0))
    clusters = Clustered.of(scores[has_score], codes)
    if len(clusters) < 2:
        return min(max(mean, 0.0), 1.0), None
    unseen = _unseen(
        asked[audited_rows] - decided[audited_rows], units[audited_rows], len(np.unique(units[sure & has_score]))
    )
    error = math.sqrt(clusters.standard_error() ** 2 + unseen / clusters.n**2)
    margin = t_quantile(0.5 + level / 2, len(clusters) - 1) * error
    return min(max(mean, 0.0), 1.0), within((mean - margin, mean + margin), (0.0, 1.0))


def _unseen(differences: Scores, units: Codes, number: int) -> float:
    """The variance to add to that of a corrected sum where the audit found few mistakes."""
    by_unit = Clustered.of(differences, units).sums
    mistakes = by_unit[by_unit != 0]
    size = max(1.0, float(np.mean(mistakes**2))) if len(mistakes) else 1.0
    rate = (len(mistakes) + 1) / (len(by_unit) + 2)
    observed = float(by_unit.var(ddof=1)) if len(by_unit) > 1 else 0.0
    return max(0.0, rate * (1 - rate) * size - observed) / len(by_unit) * number**2 * (1 - len(by_unit) / number)
