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
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.distributions import incomplete_beta, t_quantile
from ragmeter.stats.intervals import Interval, interval_of, within
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
    """Whether the mistakes show, with this confidence, that their true share is at most this: by the binomial bound.

    Rows that go together in groups are worth fewer than they are, by as much as their mistakes vary more than chance.
    That is an estimate itself, so that the bound is then taken twice as carefully: with the one that would just do,
    promises held in 93 to 97 of 100 draws.
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
    """How many labels a promise takes at the very least: so many without a single mistake."""
    return math.ceil(math.log(1 - confidence) / math.log(target))


def by_expectation(chances: Scores, target: float, total: int | None = None) -> Threshold:
    """The threshold whose mistakes are as few as promised if the chances are what they say they are.

    `total` counts all rows, those among them that need no judge: the target is of all.
    """
    ordered = np.sort(sureness(chances))[::-1]
    expected = np.cumsum(1 - ordered) / max(len(ordered), total or 0, 1)
    kept = int(np.count_nonzero(expected <= 1 - target + 1e-12))
    if kept == len(ordered):
        return Threshold(0.5)
    return Threshold(float(np.nextafter(ordered[kept], math.inf)))  # rows that are equally sure share their fate


def by_share(chances: Scores, share: float) -> Threshold:
    """The threshold that leaves no more than this share of the rows to be asked about."""
    ordered = np.sort(sureness(chances))
    asked = math.floor(len(ordered) * share + 1e-9)
    return Threshold(float(ordered[asked])) if asked < len(ordered) else ASK_ALL


def audited(sure: Flags, share: float, fewest: int, seed: int, most: int | None = None) -> tuple[Flags, float]:
    """A random sample of the decided rows to ask about as well, and each one's chance to be in it."""
    decided = np.flatnonzero(sure)
    number = min(len(decided), max(fewest, math.ceil(len(decided) * share - 1e-9)))
    number = number if most is None else min(number, most)
    chosen = np.zeros(len(sure), dtype=bool)
    chosen[np.random.default_rng(seed).choice(decided, number, replace=False)] = True
    return chosen, number / len(decided) if len(decided) else 0.0


def corrected_scores(decided: Scores, asked: Scores, sure: Flags, units: Codes | None = None) -> Scores:
    """Scores whose mean is that of the dear judge, though it was asked about few rows.

    `decided` are the cheap verdicts, `asked` the dear ones, NaN where nobody asked. A sure row counts by its cheap
    verdict; those that were asked about as well count for the others like them with the difference between the two,
    so that the mean is free of the cheap judge's mistakes whatever they are. (Horvitz and Thompson; prediction-powered
    inference by the name of 2023.) The spread of these scores is what the interval of their mean needs. `units` are
    what was drawn where that is more than a row: conversations.
    """
    codes = np.arange(len(decided)) if units is None else units
    found = np.where(sure, decided, asked)
    known = sure & ~np.isnan(asked)
    if known.any():
        weight = len(np.unique(codes[sure])) / len(np.unique(codes[known]))
        found[known] += weight * (asked[known] - decided[known])
    return found


def corrected_mean(
    decided: Scores, asked: Scores, sure: Flags, units: Codes, level: float = 0.95
) -> tuple[float | None, Interval | None]:
    """The mean of the corrected scores with its interval; none where sure rows were never asked about.

    An audit that finds no mistake, or hardly one, does not show that there are none: the interval is as wide as if it
    had found one more among two units more (Laplace).
    """
    known = sure & ~np.isnan(asked)
    scores = corrected_scores(decided, asked, sure, units)
    there = ~np.isnan(scores)
    if not there.any() or (sure[there].any() and not known.any()):
        return None, None
    codes = units[there]
    mean = float(scores[there].mean())
    if (known | ~sure)[there].all():  # everything was asked about
        alone = len(np.unique(codes)) == len(codes)
        how = Confidence(level=level)
        interval, _ = interval_of(scores[there], how, binary=True, codes=None if alone else codes)
        return mean, within(interval, (0.0, 1.0))
    held = Clustered.of(scores[there], codes)
    if len(held) < 2:
        return min(max(mean, 0.0), 1.0), None
    unseen = _unseen(asked[known] - decided[known], units[known], len(np.unique(units[sure & there])))
    error = math.sqrt(held.standard_error() ** 2 + unseen / held.n**2)
    margin = t_quantile(0.5 + level / 2, len(held) - 1) * error
    return min(max(mean, 0.0), 1.0), within((mean - margin, mean + margin), (0.0, 1.0))


def _unseen(differences: Scores, units: Codes, number: int) -> float:
    """By how much the variance of a corrected sum is larger than it looks where few mistakes were found."""
    by_unit = Clustered.of(differences, units).sums
    found = by_unit[by_unit != 0]
    size = max(1.0, float(np.mean(found**2))) if len(found) else 1.0
    rate = (len(found) + 1) / (len(by_unit) + 2)
    seen = float(by_unit.var(ddof=1)) if len(by_unit) > 1 else 0.0
    return max(0.0, rate * (1 - rate) * size - seen) / len(by_unit) * number**2 * (1 - len(by_unit) / number)
