"""Bradley and Terry's ratings of systems from questions on which one of two won, with intervals that hold for all.

A tie is half a win for each. The draws of the bootstrap are of questions, or whole clusters of them, with all pairs of
systems that were compared on them; the intervals' common quantile is that of the largest deviation (max-t). A
pseudo-question for each pair in each direction, of half a win, keeps ratings finite and intervals from having no width.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ragmeter.stats.distributions import t_quantile, z_quantile
from ragmeter.table import Scores

_PSEUDO_WINS = 0.5
_LEAST = 0.25
_STEPS, _LONGEST_STEP = 50, 2.0
_AT_ONCE = 2_000_000


def strengths(wins: Scores) -> Scores:
    """The most likely strengths, of mean 0, by wins of row over column; of several tables at once, by Newton's method.

    The chance that one system beats another is the logistic function of the difference of their strengths.
    """
    played, count = wins + np.swapaxes(wins, -1, -2), wins.shape[-1]
    values = np.zeros(wins.shape[:-1])
    diagonal = np.arange(count)
    for _ in range(_STEPS):
        chances = 1 / (1 + np.exp(values[..., None, :] - values[..., :, None]))
        slope = (wins - played * chances).sum(axis=-1)
        curvature = -played * chances * (1 - chances)
        curvature[..., diagonal, diagonal] -= curvature.sum(axis=-1)
        step = np.linalg.solve(curvature + 1 / count, slope[..., None])[..., 0]
        values = values + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        if np.abs(step).max() < 1e-10:
            break
    centred: Scores = values - values.mean(axis=-1, keepdims=True)
    return centred


@dataclass(frozen=True)
class Ratings:
    """The systems' strengths, half the widths of their intervals, which all hold at once, and which pairs are apart.

    `next_pair` are two systems, by number: so many questions again about these two are expected to narrow most the
    intervals of the pairs that are not apart. It is None where all pairs are.
    """

    strengths: Scores
    half_widths: Scores
    apart: frozenset[tuple[int, int]]
    next_pair: tuple[int, int] | None


def rate(wins: Scores, level: float, draws: int, seed: int) -> Ratings:
    """Rate systems by their wins: a table of row over column for each question or cluster of questions."""
    number, count, _ = wins.shape
    least, pseudo = np.zeros((count, count)), []  # `least` is what each draw has, whichever units it is of
    for a, b in np.argwhere(wins.any(axis=0) | wins.any(axis=0).T):
        least[a, b] = _LEAST
        pseudo.append(np.zeros((1, count, count)))
        pseudo[-1][0, a, b] = _PSEUDO_WINS
    units = np.concatenate([wins, *pseudo])
    estimate, drawn = strengths(units.sum(axis=0) + least), _drawn(units, least, draws, seed)
    small = t_quantile(0.5 + level / 2, max(1, number - 1)) / z_quantile(0.5 + level / 2)

    def half_widths(values: Scores, of_draws: Scores) -> Scores:
        errors = np.maximum(of_draws.std(axis=0), 1e-12)
        widths: Scores = small * float(np.quantile((np.abs(of_draws - values) / errors).max(axis=1), level)) * errors
        return widths

    pairs = list(combinations(range(count), 2))
    contrasts = np.array([np.eye(count)[a] - np.eye(count)[b] for a, b in pairs])
    differences = contrasts @ estimate
    is_apart = np.abs(differences) > half_widths(differences, drawn @ contrasts.T)
    best = np.argmax(_narrowing(differences, contrasts @ np.cov(drawn.T) @ contrasts.T, number)[~is_apart].sum(axis=0))
    apart = frozenset(pair for pair, is_clear in zip(pairs, is_apart, strict=True) if is_clear)
    return Ratings(estimate, half_widths(estimate, drawn), apart, None if is_apart.all() else pairs[int(best)])


def _drawn(units: Scores, least: Scores, draws: int, seed: int) -> Scores:
    """The strengths of resamples of the units."""
    generator, number, parts = np.random.default_rng(seed), len(units), []
    for begin in range(0, draws, at_once := max(1, _AT_ONCE // number)):
        times = generator.multinomial(number, np.full(number, 1 / number), min(at_once, draws - begin))
        parts.append(strengths(np.tensordot(times.astype(np.float64), units, axes=1) + least))
    return np.concatenate(parts)


def _narrowing(differences: Scores, covariance: Scores, number: int) -> Scores:
    """By how much each difference's error is expected to fall, if so many questions again are about each pair.

    Rows are differences, columns are the pairs that are asked about: a question has the information p (1 - p).
    """
    chances, variances = 1 / (1 + np.exp(-differences)), np.diag(covariance)
    information = number * chances * (1 - chances)
    gone = information * covariance**2 / (1 + information * variances)
    narrowed: Scores = np.sqrt(variances)[:, None] - np.sqrt(np.maximum(variances[:, None] - gone, 0))
    return narrowed
