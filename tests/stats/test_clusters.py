"""Clustered means against statsmodels, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import linalg, stats

from ragmeter.errors import UsageError
from ragmeter.stats.clusters import Clustered, Codes, joined
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.intervals import interval_of, wilson_interval
from ragmeter.table import Scores

RANDOM = np.random.default_rng(4)
CODES = RANDOM.integers(0, 25, 200)
VALUES = RANDOM.normal(size=25)[CODES] + RANDOM.normal(size=200)


def by_matrices(values: Scores, codes: Codes) -> tuple[float, float]:
    """CR2 and Satterthwaite's degrees of freedom as Bell and McCaffrey (2002) and Pustejovsky and Tipton (2018) write
    them, for a regression on a constant alone.
    """
    n = len(values)
    residual = np.eye(n) - np.ones((n, n)) / n
    strays = residual @ values
    pieces, total = [], 0.0
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        own = residual[np.ix_(rows, rows)]
        inverse_root = np.real(linalg.fractional_matrix_power(own, -0.5))
        total += float(inverse_root.sum(axis=0) @ strays[rows]) ** 2
        pieces.append(residual[:, rows] @ inverse_root @ np.ones(len(rows)) / n)
    products = np.array(pieces) @ np.array(pieces).T
    return np.sqrt(total) / n, np.trace(products) ** 2 / float((products**2).sum())


@pytest.mark.parametrize("sizes", [[4] * 12, [1, 2, 3, 4, 30], [40, *[1] * 40]])
def test_unequal_clusters_by_matrices(sizes: list[int]) -> None:
    codes = np.repeat(np.arange(len(sizes)), sizes)
    values = RANDOM.normal(size=len(codes)) + codes % 3
    units = Clustered.of(values, codes)
    error, df = by_matrices(values, codes)
    assert units.standard_error() == pytest.approx(error, rel=1e-9)
    assert units.df == pytest.approx(df, rel=1e-9)
    expected = stats.t.interval(0.95, df, values.mean(), error)
    interval, method = interval_of(values, Confidence(), codes=codes)
    assert method == "student_t_clustered"
    assert interval == pytest.approx(expected)


def test_equal_clusters_are_statsmodels() -> None:
    codes = np.repeat(np.arange(25), 8)
    values = RANDOM.normal(size=25)[codes] + RANDOM.normal(size=200)
    fitted = sm.OLS(values, np.ones(200)).fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
    # Its usual correction has the factor (n - 1) / (n - k) besides, which is 1 for a constant alone.
    units = Clustered.of(values, codes)
    assert units.mean == pytest.approx(fitted.params[0], abs=1e-9)
    assert units.standard_error() == pytest.approx(fitted.bse[0], abs=1e-9)
    assert units.df == pytest.approx(24)
    assert units.interval(0.95) == pytest.approx(tuple(fitted.conf_int(0.05)[0]), abs=1e-9)


def test_a_cluster_of_half_the_rows_has_few_degrees_of_freedom() -> None:
    """With C - 1 of them, the interval held the truth 65 times of 100."""
    assert Clustered.of(RANDOM.random(198), np.repeat(np.arange(100), [99, *[1] * 99])).df < 4


def test_by_hand() -> None:
    """Two conversations: (1, 1) and (0, 0). The mean is 0.5; each strays by 1 in sum; 2/1 * (1 + 1) / 16 = 0.25."""
    units = Clustered.of(np.array([1.0, 1.0, 0.0, 0.0]), np.array([7, 7, 3, 3]))
    assert units.mean == 0.5
    assert units.standard_error() == pytest.approx(0.5)


def test_rows_alone_are_students_interval() -> None:
    alone = Clustered.of(VALUES, np.arange(200))
    interval, method = interval_of(VALUES, Confidence())
    assert method == "student_t"
    assert alone.interval(0.95) == pytest.approx(interval, abs=1e-12)


def test_one_cluster_has_no_interval() -> None:
    assert Clustered.of(np.array([1.0, 2.0]), np.array([5, 5])).interval(0.95) is None
    assert interval_of(np.array([1.0, 2.0]), Confidence(), codes=np.array([5, 5])) == (None, "student_t_clustered")


def test_clusters_that_are_all_right_leave_room_for_doubt() -> None:
    interval, method = interval_of(np.ones(60), Confidence(), binary=True, codes=np.repeat(np.arange(30), 2))
    assert method == "wilson_clustered"
    assert interval == pytest.approx((1 - 0.1135, 1.0), abs=2e-3)  # as 30 of 30


def test_a_rate_in_clusters_is_wilson_s_at_the_effective_n() -> None:
    """Pairs of equal turns are worth half as many; turns that have nothing in common are worth as many as they are."""
    right = (RANDOM.random(400) < 0.8).astype(float)
    for turns in (2, 1):
        codes = np.repeat(np.arange(400), turns)
        interval, method = interval_of(np.repeat(right, turns), Confidence(), binary=True, codes=codes)
        assert method == "wilson_clustered"
        assert interval == pytest.approx(wilson_interval(right.sum(), 400), abs=0.002)


@pytest.mark.parametrize("method", ["auto", "wilson"])
def test_wilson_heeds_clusters(method: str) -> None:
    """Ten conversations of eight turns, each right in all or in none: no more is known than of ten questions."""
    right = np.repeat([1.0, 1, 1, 1, 1, 1, 1, 1, 0, 0], 8)
    interval, name = interval_of(right, Confidence(method), binary=True, codes=np.repeat(np.arange(10), 8))
    alone = wilson_interval(8, 10)
    assert name == "wilson_clustered"
    assert interval is not None
    assert alone is not None
    assert interval[1] - interval[0] >= alone[1] - alone[0]


@pytest.mark.parametrize(
    ("method", "binary", "name"),
    [("auto", True, "wilson"), ("auto", False, "student_t"), ("t", True, "student_t_with_pseudo_rows"),
     ("bca", True, "bca_with_pseudo_rows"), ("bootstrap", False, "bootstrap"), ("wilson", True, "wilson")],
)  # fmt: skip
def test_methods_by_name(method: str, binary: bool, name: str) -> None:
    values = np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    interval, said = interval_of(values, Confidence(method), binary=binary)
    assert said == name
    assert interval is not None
    assert interval[0] < 0.6 < interval[1]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown interval 'guess'"):
        Confidence("guess")
    with pytest.raises(UsageError, match="level must be between 0 and 1, got 95"):
        Confidence(level=95)
    with pytest.raises(UsageError, match="needs scores of 0 and 1"):
        interval_of(np.array([0.1, 0.2]), Confidence("wilson"))


def test_the_signature_has_the_seed_where_it_matters() -> None:
    assert Confidence(cluster=None).kept().as_dict() == {"method": "auto", "cluster": None, "level": 0.95}
    assert Confidence("bca", seed=7).kept().seed == 7


def test_means_that_are_close_by_chance_are_no_heap() -> None:
    """Pseudo-clusters would make the interval some ten times as wide, though all rows vary."""
    strays = np.linspace(-0.3, 0.3, 60)
    values = np.concatenate([strays + mean for mean in (0.110, 0.115, 0.120, 0.135)])
    codes = np.repeat(np.arange(4), 60)
    interval, method = interval_of(values, Confidence(), codes=codes, limits=(-1.0, 1.0))
    assert method == "student_t_clustered"
    assert interval == pytest.approx(Clustered.of(values, codes).interval(0.95))
    heap, method = interval_of(np.full(240, 0.12), Confidence(), codes=codes, limits=(-1.0, 1.0))
    assert method == "student_t_clustered_with_pseudo_rows"
    assert heap is not None
    assert heap[1] - heap[0] > 1


def test_groups_that_are_joined_by_either_grouping() -> None:
    def together(*groupings: list[int]) -> list[int]:
        codes = joined(*map(np.array, groupings))
        return [int(np.flatnonzero(codes == code)[0]) for code in codes]  # the first row of each row's group

    assert together([5, 5, 7, 7], [1, 1, 0, 0]) == [0, 0, 2, 2]
    assert together([0, 0, 1, 1], [0, 1, 2, 3]) == [0, 0, 2, 2]
    assert together([0, 1, 2, 3], [0, 0, 1, 1]) == [0, 0, 2, 2]
    assert together([0, 0, 1, 1, 2], [0, 1, 1, 2, 3]) == [0, 0, 0, 0, 4]
    assert together([], []) == []
    chain = np.arange(20_000)
    assert not joined(chain // 2, (chain + 1) // 2).any()
