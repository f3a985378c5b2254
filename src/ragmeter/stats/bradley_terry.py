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
    asked = [(a, b) for a, b in combinations(range(count), 2) if wins[:, a, b].any() or wins[:, b, a].any()]
    units = np.concatenate([wins, np.zeros((2 * len(asked), count, count))])
    for place, (a, b) in enumerate(asked):
        units[number + 2 * place, a, b] = units[number + 2 * place + 1, b, a] = _PSEUDO_WINS
    least = np.zeros((count, count))  # what each draw has, whichever units it is of
    for a, b in asked:
        least[a, b] = least[b, a] = _LEAST
    estimate = strengths(units.sum(axis=0) + least)
    drawn = _drawn(units, least, draws, seed)
    pairs = list(combinations(range(count), 2))
    first, second = (np.array(places) for places in zip(*pairs, strict=True))
    small = t_quantile(0.5 + level / 2, max(1, number - 1)) / z_quantile(0.5 + level / 2)

    def half_widths(values: Scores, of_draws: Scores) -> Scores:
        errors = of_draws.std(axis=0)
        farthest = (np.abs(of_draws - values) / np.maximum(errors, 1e-12)).max(axis=1)
        widths: Scores = small * float(np.quantile(farthest, level)) * errors
        return widths

    differences = estimate[first] - estimate[second]
    widths = half_widths(differences, drawn[:, first] - drawn[:, second])
    apart = frozenset(pair for pair, far in zip(pairs, np.abs(differences) > widths, strict=True) if far)
    unclear = [pair for pair in pairs if pair not in apart]
    return Ratings(
        estimate, half_widths(estimate, drawn), apart, _next_pair(estimate, np.cov(drawn.T), unclear, number)
    )


def _drawn(units: Scores, least: Scores, draws: int, seed: int) -> Scores:
    """The strengths of resamples of the units."""
    generator, number = np.random.default_rng(seed), len(units)
    flat, parts = units.reshape(number, -1), []
    for begin in range(0, draws, at_once := max(1, _AT_ONCE // number)):
        size = min(at_once, draws - begin)
        times = generator.multinomial(number, np.full(number, 1 / number), size).astype(np.float64)
        parts.append(strengths((times @ flat).reshape(size, *least.shape) + least))
    return np.concatenate(parts)


def _next_pair(
    values: Scores, covariance: Scores, unclear: list[tuple[int, int]], number: int
) -> tuple[int, int] | None:
    """The pair whose questions would narrow the unclear differences most, by the information that they bring."""
    contrasts = np.zeros((len(unclear), len(values)))
    for place, (a, b) in enumerate(unclear):
        contrasts[place, [a, b]] = 1, -1
    variances = np.einsum("pi,ij,pj->p", contrasts, covariance, contrasts)

    def narrowing(pair: tuple[int, int]) -> float:
        toward = covariance[:, pair[0]] - covariance[:, pair[1]]
        chance = 1 / (1 + np.exp(values[pair[1]] - values[pair[0]]))
        weight = number * chance * (1 - chance)
        gone = weight * (contrasts @ toward) ** 2 / (1 + weight * (toward[pair[0]] - toward[pair[1]]))
        return float((np.sqrt(variances) - np.sqrt(np.maximum(variances - gone, 0))).sum())

    return max(combinations(range(len(values)), 2), key=narrowing) if unclear else None
