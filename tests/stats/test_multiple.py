"""Corrected p-values against statsmodels'."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from ragmeter.stats.multiple import benjamini_hochberg, holm


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_equal_to_statsmodels(p: list[float]) -> None:
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-9)
    assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1], abs=1e-9)


def test_by_hand() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert benjamini_hochberg([0.04, 0.01, 0.03]) == pytest.approx([0.04, 0.03, 0.04])


def test_of_nothing() -> None:
    assert np.array_equal(holm([]), [])
    assert np.array_equal(benjamini_hochberg([]), [])
