"""Clustered means against statsmodels, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from ragmeter.errors import UsageError
from ragmeter.stats.clusters import Clustered
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.intervals import interval_of

RANDOM = np.random.default_rng(4)
CODES = RANDOM.integers(0, 25, 200)
VALUES = RANDOM.normal(size=25)[CODES] + RANDOM.normal(size=200)


def test_equal_to_statsmodels() -> None:
    fitted = sm.OLS(VALUES, np.ones(200)).fit(cov_type="cluster", cov_kwds={"groups": CODES}, use_t=True)
    units = Clustered.of(VALUES, CODES)
    assert units.mean == pytest.approx(fitted.params[0], abs=1e-9)
    assert units.standard_error() == pytest.approx(fitted.bse[0], abs=1e-9)
    assert units.interval(0.95) == pytest.approx(tuple(fitted.conf_int(0.05)[0]), abs=1e-9)
    assert interval_of(VALUES, Confidence(), codes=CODES) == (units.interval(0.95), "student_t_clustered")


def test_by_hand() -> None:
    """Two conversations: (1, 1) and (0, 0). The mean is 0.5; each strays by 1 in sum; 2/1 * (1 + 1) / 16 = 0.25."""
    units = Clustered.of(np.array([1.0, 1.0, 0.0, 0.0]), np.array([7, 7, 3, 3]))
    assert (units.mean, units.standard_error()) == (0.5, 0.5)


def test_rows_alone_are_students_interval() -> None:
    alone = Clustered.of(VALUES, np.arange(200))
    found, method = interval_of(VALUES, Confidence())
    assert method == "student_t"
    assert alone.interval(0.95) == pytest.approx(found, abs=1e-12)


def test_one_cluster_has_no_interval() -> None:
    assert Clustered.of(np.array([1.0, 2.0]), np.array([5, 5])).interval(0.95) is None
    assert interval_of(np.array([1.0, 2.0]), Confidence(), codes=np.array([5, 5])) == (None, "student_t_clustered")


def test_clusters_that_are_all_right_leave_room_for_doubt() -> None:
    found, method = interval_of(np.ones(60), Confidence(), binary=True, codes=np.repeat(np.arange(30), 2))
    assert method == "wilson_clustered"
    assert found == pytest.approx((1 - 0.1135, 1.0), abs=5e-5)  # as 30 of 30


@pytest.mark.parametrize(
    ("method", "binary", "name"),
    [("auto", True, "wilson"), ("auto", False, "student_t"), ("t", True, "student_t"), ("bca", True, "bca"),
     ("bootstrap", False, "bootstrap"), ("wilson", True, "wilson")],
)  # fmt: skip
def test_methods_by_name(method: str, binary: bool, name: str) -> None:
    values = np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    found, said = interval_of(values, Confidence(method), binary=binary)
    assert said == name
    assert found is not None
    assert found[0] < 0.6 < found[1]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown interval 'guess'"):
        Confidence("guess")
    with pytest.raises(UsageError, match="level must be between 0 and 1, got 95"):
        Confidence(level=95)
    with pytest.raises(UsageError, match="needs scores of 0 and 1"):
        interval_of(np.array([0.1, 0.2]), Confidence("wilson"))


def test_the_signature_has_the_seed_where_it_matters() -> None:
    assert Confidence(cluster=None).as_dict() == {"method": "auto", "cluster": None, "level": 0.95}
    assert Confidence("bca", seed=7).as_dict()["seed"] == 7
