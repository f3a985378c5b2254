"""The training of the offline judge of long answers: its data, its figures, and that it gives the packaged weights."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

TRAINING = Path(__file__).parent.parent / "training"
#: What RAGChecker with a 70B model comes to, and for `overall` what is asked for: Pearson and Spearman.
LINES = {"correctness": (49.7, 46.9), "completeness": (60.7, 58.1), "overall": (58.0, 57.0)}


@pytest.fixture(autouse=True)
def _training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TRAINING))


def test_correlations_are_taken_as_ragchecker_takes_them() -> None:
    """Its figures for people among themselves, and those of token F1, which has no part in the training."""
    from preferring import correlations, read
    from quality_card import between_people, difference_of

    rows = read(TRAINING / "preferences.jsonl.gz")
    assert len(rows) == 280
    assert between_people(rows, "overall") == pytest.approx((70.1, 68.9), abs=0.05)
    assert correlations(difference_of("token_f1", rows), rows, "overall") == pytest.approx((50.8, 51.3), abs=0.05)
    judged = difference_of("offline_correct_probability", rows)
    assert correlations(judged, rows, "overall") == pytest.approx((39.0, 33.9), abs=0.05)


@pytest.mark.parametrize("aspect", LINES)
def test_it_reaches_the_lines_on_questions_that_it_has_not_seen(aspect: str) -> None:
    from preferring import cross_validated, fit, read

    rows = read(TRAINING / "preferences.jsonl.gz")
    pearson, spearman = np.mean(list(cross_validated(rows, aspect, fit, seeds=range(3))), axis=0)
    assert pearson >= LINES[aspect][0]
    assert spearman >= LINES[aspect][1]


def test_the_weights_are_the_least_squares_that_are_not_negative() -> None:
    from preferring import fit
    from scipy.optimize import nnls

    chance = np.random.default_rng(2)
    differences = chance.normal(size=(60, 4)) * [1, 2, 0.5, 1]
    preference = differences @ [1, 0.2, -1, 0.5] + chance.normal(size=60)
    size = np.sqrt((differences**2).mean(axis=0))
    stacked = np.vstack([differences / size, np.sqrt(0.3 * 60) * np.eye(4)])
    expected = nnls(stacked, np.concatenate([preference, np.zeros(4)]))[0] / size
    np.testing.assert_allclose(fit(differences, preference, 0.3), expected / expected.sum(), atol=1e-8)
    assert expected[2] == 0  # so that the case is one


def test_training_gives_the_packaged_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import train_offline_quality

    target = tmp_path / "quality.json"
    monkeypatch.setattr(sys, "argv", ["train", "--no-card", "--weights", str(target)])
    train_offline_quality.main()
    assert target.read_bytes() == train_offline_quality.WEIGHTS.read_bytes()
