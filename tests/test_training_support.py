"""The training of the support model: its data, its splits, and (slowly) its figures."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

TRAINING = Path(__file__).parent.parent / "training"
MODEL = Path(__file__).parent.parent / "src" / "ragmeter" / "metrics" / "offline" / "support.json.gz"


@pytest.fixture(autouse=True)
def _training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TRAINING))


def test_the_data_and_its_splits() -> None:
    from claimed import KINDS, answers, claims, controlled, made_up, weights

    rows = claims()
    assert {row.source for row in rows} == set(KINDS)
    assert sum(row.kind == "cut" for row in rows) == 374
    folds: dict[str, set[int]] = {}
    for row in rows:
        folds.setdefault(row.document, set()).add(row.fold)
    assert all(len(of_document) == 1 for of_document in folds.values())
    some = rows[:40]
    assert made_up(some) == made_up(some)
    assert all(row.is_made_up for row in made_up(some))
    weight, supported = weights(rows), np.array([row.supported for row in rows])
    assert weight[supported].sum() == pytest.approx(weight[~supported].sum())
    assert len(answers()) == 450
    assert {row.source for row in controlled()} == {"ar", "de", "en", "es", "ru", "th", "tr", "zh"}


def test_figures() -> None:
    from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score
    from support_card import area, balanced, f1

    chance = np.random.default_rng(1)
    scores = chance.integers(0, 9, 300).astype(float)
    right = chance.random(300) < scores / 9
    assert area(scores, right) == pytest.approx(roc_auc_score(right, scores))
    assert balanced(scores > 4, right) == pytest.approx(balanced_accuracy_score(right, scores > 4))
    assert f1(scores > 4, right) == pytest.approx(f1_score(right, scores > 4))


@pytest.mark.slow
def test_training_gives_the_packaged_model_and_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("catboost", reason="pip install --group train")
    import train_support
    from claimed import KINDS
    from support_card import area, balanced

    monkeypatch.setattr(sys, "argv", ["train_support.py", "--no-card", "--model", str(tmp_path / "model.json.gz")])
    train_support.main()
    made, packaged = (json.loads(gzip.decompress(path.read_bytes())) for path in (tmp_path / "model.json.gz", MODEL))
    assert made.keys() == packaged.keys()
    np.testing.assert_allclose(made["value"], packaged["value"], atol=1e-4)
    rows = train_support.with_made_up()
    odds = train_support.Parts.of(rows, train_support.Lines.of(rows), [KINDS[row.source] for row in rows]).odds
    for source, least in (("wice_claims", 0.7), ("factcheck", 0.68)):
        some = np.array([row.source == source and not row.is_made_up for row in rows])
        right = np.array([row.supported for row in rows])[some]
        assert balanced(odds[some] >= 0, right) > least
        assert area(odds[some], right) > 0.75
