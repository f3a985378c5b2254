"""Which rows a cheap judge may decide, so that its verdicts with the dear judge's for the rest agree with people.

A row's sureness is max(p, 1 - p) of the chance p that its answer is right. The rows that are sure enough are decided by
p, the others are asked about. A promise is about all rows: what was asked agrees, what was decided may be wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragmeter.stats.clusters import Clustered, Codes
from ragmeter.stats.distributions import binomial_cdf, t_quantile
from ragmeter.table import Scores

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Threshold:
    """Rows at least this sure are decided; above 1 no row is."""

    least: float

    def sure(self, chances: Scores) -> Flags:
        """Which rows are decided."""
        return np.asarray(sureness(chances) >= self.least)


def sureness(chances: Scores) -> Scores:
    """How far from even a chance is: 0.5 to 1."""
    return np.maximum(chances, 1 - chances)


#: So many thresholds are tried at the most.
_TRIES = 400
#: Nothing is decided: everything is asked.
ASK_ALL = Threshold(math.inf)


def by_labels(
    chances: Scores, right: Scores, target: float, confidence: float = 0.95, groups: Codes | None = None
) -> Threshold:
    """The threshold that keeps the promised agreement with this confidence, from rows drawn at random with labels.

    It falls from the surest rows on, and stops before the first one whose mistakes can't be shown to be few enough: in
    this order no try takes from the confidence of another. Rows of one group, one conversation for example, are not
    taken for independent.
    """
    sure = sureness(chances)
    wrong = (chances >= 0.5) != (right >= 0.5)
    found = ASK_ALL
    distinct = np.unique(sure)[::-1]
    places = np.unique(np.linspace(0, max(len(distinct) - 1, 0), _TRIES).astype(np.int64))
    for least in distinct[places[: len(distinct)]]:
        if not _shown(wrong & (sure >= least), 1 - target, confidence, groups):
            break
        found = Threshold(float(least))
    return found


def _shown(wrong: Flags, share: float, confidence: float, groups: Codes | None) -> bool:
    """Whether the mistakes show, with this confidence, that their true share is at most this."""
    mistakes, n = int(wrong.sum()), len(wrong)
    if binomial_cdf(mistakes, n, share) > 1 - confidence:
        return False
    if groups is None:
        return True
    units = Clustered.of(wrong.astype(np.float64), groups)
    if len(units) < 2:
        return False
    return mistakes / n + t_quantile(confidence, len(units) - 1) * units.standard_error() <= share


def labels_needed(target: float, confidence: float = 0.95) -> int:
    """How many labels a promise takes at the very least: so many without a single mistake."""
    return math.ceil(math.log(1 - confidence) / math.log(target))


def by_expectation(chances: Scores, target: float) -> Threshold:
    """The threshold whose mistakes are as few as promised if the chances are what they say they are."""
    ordered = np.sort(sureness(chances))[::-1]
    expected = np.cumsum(1 - ordered) / max(len(ordered), 1)
    kept = int(np.count_nonzero(expected <= 1 - target + 1e-12))
    if kept == len(ordered):
        return Threshold(0.5)
    return Threshold(float(np.nextafter(ordered[kept], math.inf)))  # rows that are equally sure share their fate


def by_share(chances: Scores, share: float) -> Threshold:
    """The threshold that leaves no more than this share of the rows to be asked about."""
    ordered = np.sort(sureness(chances))
    asked = math.floor(len(ordered) * share + 1e-9)
    return Threshold(float(ordered[asked])) if asked < len(ordered) else ASK_ALL


def audited(sure: Flags, share: float, fewest: int, seed: int) -> tuple[Flags, float]:
    """A random sample of the decided rows to ask about as well, and each one's chance to be in it."""
    decided = np.flatnonzero(sure)
    number = min(len(decided), max(fewest, math.ceil(len(decided) * share)))
    chosen = np.zeros(len(sure), dtype=bool)
    chosen[np.random.default_rng(seed).choice(decided, number, replace=False)] = True
    return chosen, number / len(decided) if len(decided) else 0.0


def corrected_scores(decided: Scores, asked: Scores, sure: Flags) -> Scores:
    """Scores whose mean is that of the dear judge, though it was asked about few rows.

    `decided` are the cheap verdicts, `asked` the dear ones, NaN where nobody asked. A sure row counts by its cheap
    verdict; those that were asked about as well count for the others like them with the difference between the two,
    so that the mean is free of the cheap judge's mistakes whatever they are. (Horvitz and Thompson; prediction-powered
    inference by the name of 2023.) The spread of these scores is what the interval of their mean needs.
    """
    found = np.where(sure, decided, asked)
    known = sure & ~np.isnan(asked)
    if known.any():
        weight = np.count_nonzero(sure) / np.count_nonzero(known)
        found[known] += weight * (asked[known] - decided[known])
    return found
