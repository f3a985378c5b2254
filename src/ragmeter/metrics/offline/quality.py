"""The offline judge of long answers: a weighted mean of shares. `quality.json` has the weights, by aspect."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

import numpy as np

from ragmeter.metrics.offline import Aspect
from ragmeter.metrics.offline.reading.vocabulary import Floats
from ragmeter.metrics.offline.shares import SHARES

WEIGHTS = "quality.json"


@cache
def weights(aspect: Aspect) -> Floats:
    """The weight of each of SHARES; they add up to 1."""
    content = json.loads(files("ragmeter.metrics.offline").joinpath(WEIGHTS).read_text(encoding="utf-8"))
    return np.array([content["weights"][aspect][name] for name in SHARES])


def weighed(shares: Floats, weights: Floats) -> Floats:
    """The weighted mean of each line, summed in the same order however many lines there are."""
    return np.asarray((shares * weights).sum(axis=1) / weights.sum())
