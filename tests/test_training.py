"""The training of the offline judge: its data, its made-up answers, and (slowly) its figures."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from ragmeter.metrics.offline.features import NAMES
from ragmeter.metrics.offline.trees import MODEL, read_model
from ragmeter.stats.cascade import by_share
from tests.metrics import test_offline

TRAINING = Path(__file__).parent.parent / "training"


@pytest.fixture(autouse=True)
def _training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TRAINING))


def test_the_data_and_its_splits() -> None:
    from judged import fold, is_held_out, judged, made_up

    rows = judged()
    assert len(rows) == 15_098
    assert {row.system for row in rows} == {"fid", "gpt35", "chatgpt", "gpt4", "newbing"}
    questions = {row.question for row in rows}
    assert 0.08 < np.mean([is_held_out(question) for question in questions]) < 0.12
    assert all(is_held_out(question) == test_offline.is_held_out(question) for question in questions)
    assert {fold(question) for question in questions} == set(range(5))
    some = [row for row in rows if row.number < 50]
    assert made_up(some) == made_up(some)
    assert all(row.weight < 1 for row in made_up(some))
    assert {row.right for row in made_up(some)} == {True, False}


def test_the_figures_are_what_scikit_learn_says() -> None:
    from learning import agreement, calibration, kappa
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import cohen_kappa_score

    chance = np.random.default_rng(1)
    scores = chance.normal(size=500)
    right = chance.random(500) < 1 / (1 + np.exp(-2 * scores + 0.3))
    said = scores > 0
    assert kappa(said, right) == pytest.approx(cohen_kappa_score(said, right))
    assert agreement(said, right) == (said == right).mean()
    fitted = LogisticRegression(C=1e9, tol=1e-10).fit(scores[:, None], right)
    slope, intercept = calibration(scores, right)
    assert slope == pytest.approx(fitted.coef_[0, 0], abs=1e-3)
    assert intercept == pytest.approx(fitted.intercept_[0], abs=1e-3)


def test_the_packaged_trees_were_learnt_from_the_features_of_today() -> None:
    """Where this fails, features have changed since the last training: run `make train`."""
    from judged import judged, made_up
    from learning import fingerprint

    model, rows = read_model(MODEL), judged()
    assert model["features"] == list(NAMES)
    assert model["fingerprint"] == fingerprint([*rows, *made_up(rows)])


def test_the_card_has_the_guards_of_today() -> None:
    """Where this fails, a guard has changed since the card was written: run `make train`."""
    from ragmeter.metrics.offline.guards import GUARDS

    card = (TRAINING.parent / "docs" / "offline-judge.md").read_text(encoding="utf-8")
    _, table = card.split("| where | limit |", 1)
    listed = [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()[2:]]
    assert listed[: len(GUARDS)] == [guard.because for guard in GUARDS.values()]
    assert not listed[len(GUARDS)]


@pytest.mark.slow
def test_cross_validation_by_question() -> None:
    pytest.importorskip("catboost", reason="pip install --group train")
    from judged import fold, judged, made_up
    from learning import Rows, agreement, calibration, calibration_error, cross_validated, kappa, promised

    real = judged()
    every = [*real, *made_up(real)]
    rows = Rows.of(every)
    is_real = np.arange(len(every)) < len(real)
    folds = np.array([fold(row.question) for row in every])
    pairs, scores = rows.some(is_real), cross_validated(rows, folds, is_real)[is_real[rows.row]]
    right = pairs.right
    probability = pairs.chances(scores, *calibration(pairs.best(scores), right))
    assert agreement(probability >= 0.5, right) >= 0.929
    assert kappa(probability >= 0.5, right) >= 0.82
    assert calibration_error(probability, right) <= 0.02
    # A cascade that asks people about the least sure quarter, and one that promises 0.98 by labels of all questions.
    same = (probability >= 0.5) == right
    unsure = ~by_share(probability, 0.25).sure(probability)
    assert unsure.mean() <= 0.25
    assert (unsure | same).mean() >= 0.98
    number = np.array([row.number for row in real])
    kept, asked = promised(probability, right, number, 0.98, np.random.default_rng(5))
    assert np.mean(asked) <= 0.25
    assert np.mean(np.array(kept) >= 0.98) >= 0.95


@pytest.mark.slow
def test_training_gives_the_packaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("catboost", reason="pip install --group train")
    import train_offline_judge

    target = tmp_path / "model.json.gz"
    monkeypatch.setattr(sys, "argv", ["train", "--no-card", "--model", str(target)])
    train_offline_judge.main()
    assert target.read_bytes() == train_offline_judge.MODEL.read_bytes()
