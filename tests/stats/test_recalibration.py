"""Chances bent by labels: against scikit-learn, and whether they help or are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from ragmeter.errors import InputError
from ragmeter.metrics.offline.curves import Isotonic, Platt, curve_from, fit, log_odds
from ragmeter.stats.recalibration import calibration_error, cross_validated


def overconfident(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The true odds are the square root of what is said."""
    random = np.random.default_rng(seed)
    truth = random.beta(0.8, 0.6, n)
    said = 1 / (1 + np.exp(-2 * log_odds(truth) - 1))
    return said, (random.random(n) < truth).astype(float)


def test_platt_against_scikit_learn() -> None:
    """With many labels Platt's smoothing hardly matters, and it is a logistic regression."""
    said, right = overconfident(50_000)
    curve = Platt.fit(said, right, np.ones(len(said)))
    oracle = LogisticRegression(C=1e9, tol=1e-10).fit(log_odds(said)[:, None], right)
    assert (curve.slope, curve.shift) == pytest.approx((oracle.coef_[0, 0], oracle.intercept_[0]), abs=2e-3)
    assert curve.slope == pytest.approx(0.5, abs=0.03)


def test_isotonic_against_scikit_learn() -> None:
    said, right = overconfident(2_000)
    curve = Isotonic.fit(said, right, np.ones(len(said)))(said)
    oracle = IsotonicRegression(out_of_bounds="clip").fit(said, right).predict(said)
    inside = (oracle > 0) & (oracle < 1)
    assert curve[inside] == pytest.approx(oracle[inside], abs=1e-9)
    assert (np.diff(curve[np.argsort(said)]) >= 0).all()
    assert 0 < curve.min() < curve.max() < 1


def test_few_labels_get_a_curve_and_many_get_steps() -> None:
    assert isinstance(fit(*overconfident(999)), Platt)
    assert isinstance(fit(*overconfident(1_000)), Isotonic)


@pytest.mark.parametrize("n", [100, 200, 3_000])
def test_what_is_overconfident_is_helped(n: int) -> None:
    said, right = overconfident(n)
    gain = cross_validated(said, right, np.arange(n))
    assert gain.helps
    assert gain.log_loss_after < gain.log_loss_before
    others, truth = overconfident(20_000, seed=1)
    assert calibration_error(fit(said, right)(others), truth) < calibration_error(others, truth)


def test_fifty_labels_are_enough_where_much_is_to_gain() -> None:
    """People who are far stricter than the judge thinks: a judge that says 0.95 is right half of the time."""
    passed = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        said = np.where(random.random(50) < 0.7, 0.95, 0.1)
        right = (random.random(50) < np.where(said > 0.5, 0.5, 0.05)).astype(float)
        passed += cross_validated(said, right, np.arange(50), seed).helps
    assert passed >= 36


def test_what_is_right_already_is_left_alone() -> None:
    """Of 100 honest sets of 60 labels, bending passes for a help in few: it would be luck, and do harm."""
    helped = []
    for seed in range(100):
        random = np.random.default_rng(seed)
        said = random.beta(0.8, 0.6, 60)
        right = (random.random(60) < said).astype(float)
        gain = cross_validated(said, right, np.arange(60), seed)
        helped.append(gain.gain if gain.helps else 0.0)
    assert np.mean(np.array(helped) > 0) < 0.1
    assert max(helped) < 0.15


def test_rows_of_a_question_stay_together() -> None:
    said, right = overconfident(100)
    gain = cross_validated(np.repeat(said, 5), np.repeat(right, 5), np.repeat(np.arange(100), 5))
    assert (gain.n, gain.n_groups) == (500, 100)


@pytest.mark.parametrize("n", [300, 1_200])
def test_a_label_of_weight_two_is_two_labels(n: int) -> None:
    said, right = overconfident(n)
    weights = np.where(np.arange(n) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(n), weights.astype(int))
    kind = Platt if n < 1_000 else Isotonic
    weighed, repeated = kind.fit(said, right, weights), kind.fit(said[twice], right[twice], np.ones(len(twice)))
    assert weighed(said) == pytest.approx(repeated(said), abs=1e-9)
    assert np.abs(fit(said, right, weights)(said) - fit(said, right)(said)).max() > 1e-4
    gain = cross_validated(said, right, np.arange(n), weights=weights)
    of_twice = cross_validated(said[twice], right[twice], twice)
    assert gain.log_loss_before == pytest.approx(of_twice.log_loss_before)
    assert gain.standard_error == pytest.approx(of_twice.standard_error, rel=0.05)


@pytest.mark.parametrize("curve", [Platt(0.5, -0.2), Isotonic((0.1, 0.6), (0.2, 0.7))])
def test_there_and_back(curve: Platt | Isotonic) -> None:
    assert curve_from(json.loads(json.dumps(curve.as_dict()))) == curve
    assert curve(np.array([0.0, 0.5, 1.0])).tolist() == sorted(curve(np.array([0.0, 0.5, 1.0])).tolist())


@pytest.mark.parametrize(
    "result",
    [
        {}, {"kind": "platt"}, {"kind": "isotonic", "begins": [1], "values": []}, [1], None,
        {"kind": "platt", "slope": float("nan"), "shift": 0}, {"kind": "platt", "slope": 1e300, "shift": 0},
        {"kind": "platt", "slope": -1, "shift": 0}, {"kind": "platt", "slope": 1, "shift": float("inf")},
        {"kind": "isotonic", "begins": [0.1, 0.2], "values": [0.9, 0.1]},
        {"kind": "isotonic", "begins": [0.1, 0.2], "values": [0.1, 1.7]},
        {"kind": "isotonic", "begins": [0.1], "values": [float("nan")]},
    ],
)  # fmt: skip
def test_what_is_no_curve(result: object) -> None:
    with pytest.raises(InputError, match="not a calibration"):
        curve_from(result)


def test_all_right_and_all_wrong() -> None:
    for right in (np.ones(60), np.zeros(60)):
        curve = Platt.fit(np.linspace(0.1, 0.9, 60), right, np.ones(60))
        assert np.isfinite([curve.slope, curve.shift]).all()
        assert cross_validated(np.linspace(0.1, 0.9, 60), right, np.arange(60)).gain == 0.0
