"""The training of the model of answers that decline: its data, unseen answers, the packaged weights."""

from __future__ import annotations

from pathlib import Path

import pytest

TRAINING = Path(__file__).parent.parent / "training"


@pytest.fixture(autouse=True)
def _training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TRAINING))


def test_half_of_the_written_answers_decline() -> None:
    from train_refusals import written

    parts = [answer for answer in written() if answer.writer.startswith("parts")]
    assert len(parts) == 900
    assert sum(answer.declines for answer in parts) == 450
    assert {answer.language for answer in parts} == {"en", "es", "fr", "de", "it", "pt"}


def test_an_answer_after_a_refusal_is_an_answer() -> None:
    from train_refusals import Answer, joined

    refusal, fact = Answer("I don't know.", True, "me"), Answer("It is red.", False, "me")
    assert all(pair.declines for pair in joined([refusal]))
    assert not any(pair.declines for pair in joined([fact]))
    labels = {pair.text: pair.declines for pair in joined([refusal, fact] * 10)}
    assert labels["I don't know. It is red."] is False
    assert labels["I don't know. I don't know."] is True


def test_it_knows_refusals_of_a_sitting_that_it_has_not_seen() -> None:
    from train_refusals import Model, names_of, written

    from ragmeter.metrics.refusals.detector import is_read_as_refusal, model_threshold

    seen = [answer for answer in written() if answer.writer != "parts4"]
    unseen = [answer for answer in written() if answer.writer == "parts4"]
    likely = Model(seen, names_of(seen)).probabilities(names_of(unseen))
    tables = [is_read_as_refusal(answer.text) for answer in unseen]
    thresholds = [model_threshold(answer.text) for answer in unseen]
    both = [is_read or p > least for is_read, p, least in zip(tables, likely, thresholds, strict=True)]
    right_by_tables = sum(answer.declines == is_read for answer, is_read in zip(unseen, tables, strict=True))
    right = sum(answer.declines == verdict for answer, verdict in zip(unseen, both, strict=True))
    assert right >= right_by_tables + 20
    assert right >= 0.75 * len(unseen)


@pytest.mark.slow
def test_training_gives_the_packaged_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import train_refusals

    packaged = train_refusals.WEIGHTS.read_bytes()
    assert len(packaged) < 300_000
    monkeypatch.setattr(train_refusals, "WEIGHTS", tmp_path / "weights.json")
    monkeypatch.setattr("sys.argv", ["train_refusals.py"])
    train_refusals.main()
    assert (tmp_path / "weights.json").read_bytes() == packaged
