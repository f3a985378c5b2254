"""Corrections of p-values for multiple tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


def holm(p: Sequence[float] | Values) -> Values:
    """Holm's adjusted p-values: the chance of any false positive among those below alpha is at most alpha."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    stepped = values[order] * np.arange(len(values), 0, -1)
    return _placed(np.minimum(np.maximum.accumulate(stepped), 1.0), order)


def benjamini_hochberg(p: Sequence[float] | Values) -> Values:
    """Benjamini and Hochberg's adjusted p-values: those below alpha have a false discovery rate of at most alpha."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    stepped = values[order] * len(values) / np.arange(1, len(values) + 1)
    return _placed(np.minimum(np.minimum.accumulate(stepped[::-1])[::-1], 1.0), order)


def _placed(values: Values, order: npt.NDArray[np.intp]) -> Values:
    back = np.empty_like(values)
    back[order] = values
    return back
