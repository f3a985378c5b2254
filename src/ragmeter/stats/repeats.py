"""Scores of questions that were asked several times: how much they vary, and how often k answers contain a right one.

Variances are the unbiased ones of a one-way analysis of variance (Searle, Casella and McCulloch, "Variance Components",
1992). pass@k is the chance that at least one of k answers is right (Chen et al., arXiv 2107.03374), pass^k that all are
(Yao et al., arXiv 2406.12045), each estimated without bias from the answers that there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from ragmeter.stats.agreement import Estimate
from ragmeter.stats.clusters import Codes
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.intervals import interval_of, within
from ragmeter.table import Scores


@dataclass(frozen=True)
class Components:
    """The variance of one question's repeated scores, and that of the questions' expected scores.

    None where it can't be estimated: `within` needs a question with two scores, `between` two questions.
    """

    within: float | None
    between: float | None
    questions: int
    repeated: int

    @property
    def share_within(self) -> float | None:
        """The share of a score's variance that is due to chance, not to the question."""
        if self.within is None or self.between is None or self.within + self.between == 0:
            return None
        return self.within / (self.within + self.between)


def components(scores: Scores, codes: Codes) -> Components:
    """The components of variance of scores by their questions; rows without a score are left out."""
    scored = ~np.isnan(scores)
    values = scores[scored]
    _, places = np.unique(codes[scored], return_inverse=True)
    counts = np.bincount(places).astype(np.float64)
    questions, rows = len(counts), float(len(values))
    repeated = int((counts > 1).sum())
    if not questions:
        return Components(None, None, 0, 0)
    means = np.bincount(places, values) / counts
    strays = values - means[places]
    spare = rows - questions
    inside = float(strays @ strays) / spare if spare else None
    if inside is None or questions < 2:
        return Components(inside, None, questions, repeated)
    mean_square = float(counts @ (means - values.mean()) ** 2) / (questions - 1)
    usual = (rows - float(counts @ counts) / rows) / (questions - 1)  # repeats of a question, where they differ
    return Components(inside, max(0.0, (mean_square - inside) / usual), questions, repeated)


def pass_rates(scores: Scores, codes: Codes, k: int, level: float = 0.95) -> tuple[Estimate, Estimate]:
    """pass@k and pass^k of scores of 0 and 1, with intervals over questions; those with fewer scores are left out."""
    scored = ~np.isnan(scores)
    _, places = np.unique(codes[scored], return_inverse=True)
    counts = np.bincount(places).tolist()
    right = np.bincount(places, scores[scored]).round().astype(int).tolist()
    answered = [(n, c) for n, c in zip(counts, right, strict=True) if n >= k]
    if not answered:
        none = Estimate.none(f"no question has {k} scores")
        return none, none
    any_right = np.array([1 - comb(n - c, k) / comb(n, k) for n, c in answered])
    all_right = np.array([comb(c, k) / comb(n, k) for n, c in answered])
    return _mean(any_right, level), _mean(all_right, level)


def _mean(rates: Scores, level: float) -> Estimate:
    """The mean over questions. Where all rates are 0 or 1 it is a share, with Wilson's interval."""
    interval, method = interval_of(rates, Confidence(level=level), limits=(0.0, 1.0))
    return Estimate(float(rates.mean()), within(interval, (0.0, 1.0)), len(rates), method=method)
