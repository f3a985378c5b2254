"""Declaring, finding and plugging in metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter import BaseScorer, column, evaluate, get_metric, metric, registry
from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.table import Scores


class MyNewScorer(BaseScorer):
    """Overlap of characters."""

    def calculate_score(self, reference: str, candidate: str) -> float:
        if not candidate:
            raise ValueError("nothing to score")
        return len(set(reference) & set(candidate)) / len(set(reference) | set(candidate))

    def get_score_name(self) -> str:
        return "my_new_score"


@pytest.fixture(autouse=True)
def _registry_as_it_was() -> Iterator[None]:
    registry.known()
    metrics, columns = dict(registry._metrics), dict(registry._columns)
    yield
    for held, before in ((registry._metrics, metrics), (registry._columns, columns)):
        held.clear()
        held.update(before)  # type: ignore[arg-type]


def test_a_metric_in_a_few_lines() -> None:
    @metric(direction="higher", binary=True)
    def starts_alike(reference: Sequence[str], answer: Sequence[str], *, letters: int = 1) -> Scores:
        """1 if both begin with the same letters."""
        return np.array([r[:letters] == a[:letters] for r, a in zip(reference, answer, strict=True)], float)

    assert starts_alike(["Paris", "Rome"], ["Pisa", "Paris"]).tolist() == [1, 0]
    assert get_metric("starts_alike[letters=2]").name == "starts_alike[letters=2]"
    assert get_metric("starts_alike[letters=2]")(["Paris"], ["Pisa"]).tolist() == [0]
    found = evaluate([{"answer": "Pisa", "reference": ["Rome", "Paris"]}], metrics=["starts_alike", "token_f1"])
    assert found["starts_alike"].mean == 1
    assert found["starts_alike"].interval_method == "wilson"


def test_a_column_that_two_metrics_share() -> None:
    calls = []

    @column
    def lengths(answer: Sequence[str]) -> list[int]:
        calls.append(len(answer))
        return [len(text) for text in answer]

    @metric(direction="none", bounds=(0, 1e9))
    def answer_length(lengths: list[int]) -> list[float]:
        return [float(length) for length in lengths]

    @metric(direction="lower", bounds=(0, 1e9))
    def doubled_length(answer_length: Scores) -> Scores:
        return answer_length * 2

    found = evaluate([{"answer": "abc"}, {"answer": "a"}], metrics=[answer_length, doubled_length])
    assert found["doubled_length"].mean == 4
    assert calls == [2]


def test_a_scorer_class_is_a_metric() -> None:
    rows = [
        {"answer": "abc", "reference": "abd"},
        {"answer": "", "reference": "x"},
        {"answer": "", "reference": ["x", "y"]},
    ]
    found = evaluate(rows, metrics=[MyNewScorer, "token_f1"])
    summary = found["my_new_score"]
    assert summary.mean == 0.5
    assert summary.n_not_scored == {"scorer_error: ValueError": 2}
    outcomes = found.rows.column("my_new_score.outcome").to_pylist()
    assert outcomes == ["scored"] + ["scorer_error: ValueError"] * 2


@pytest.mark.parametrize("value", ["high", None, float("nan"), float("inf")])
def test_a_scorer_s_nonsense_is_a_failure_of_the_row(value: Any) -> None:
    class Odd(MyNewScorer):
        def calculate_score(self, reference: str, candidate: str) -> float:
            return value  # type: ignore[no-any-return]

        def get_score_name(self) -> str:
            return "odd"

    found = evaluate([{"answer": "a", "reference": "a"}], metrics=[Odd()])
    assert found["odd"].n_scored == 0
    assert found["odd"].mean is None
    assert next(iter(found["odd"].n_not_scored)).startswith("scorer_error: ")


def test_by_dotted_path_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mypkg").mkdir()
    (tmp_path / "mypkg" / "__init__.py").write_text("")
    (tmp_path / "mypkg" / "scorers.py").write_text(
        "class Duck:\n"
        "    def calculate_score(self, reference, candidate): return float(reference in candidate)\n"
        "    def get_score_name(self): return 'contains'\n"
        "class NeedsArguments(Duck):\n"
        "    def __init__(self, weight): pass\n"
    )
    monkeypatch.chdir(tmp_path)
    contains = get_metric("mypkg.scorers.Duck")
    assert contains.name == "contains"
    assert contains.source == "mypkg.scorers.Duck"
    assert get_metric("mypkg.scorers:Duck") == contains == get_metric("contains")
    assert contains(["a"], ["cat"]).tolist() == [1]
    with pytest.raises(UsageError, match="missing 1 required positional argument"):
        get_metric("mypkg.scorers.NeedsArguments")
    with pytest.raises(UnknownNameError, match="did you mean Duck"):
        get_metric("mypkg.scorers.Duk")


def test_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("mine", f"{__name__}:MyNewScorer", "ragmeter.metrics")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [point])
    assert get_metric("my_new_score")(["ab"], ["ab"]).tolist() == [1]
    assert "my_new_score" in [each.name for each in registry.known()]
    broken = EntryPoint("broken", "no_such_module:X", "ragmeter.metrics")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [broken])
    with pytest.raises(UsageError, match="the plugin 'broken'"):
        registry.known()


def test_two_metrics_of_one_name() -> None:
    class Impostor(MyNewScorer):
        def get_score_name(self) -> str:
            return "token_f1"

    with pytest.raises(UsageError, match="two metrics are called 'token_f1'"):
        get_metric(Impostor)


def test_settings_go_to_those_that_have_them_and_say_nothing_else() -> None:
    names = [m.name for m in registry.get_all("token_f1,meteor_score,rouge_l_score[language=fr]", language="es")]
    assert names == ["token_f1", "meteor_score[language=es]", "rouge_l_score[language=fr]"]
    assert [m.name for m in registry.get_all(["token_f1,map", "map"])] == ["token_f1", "map"]
    with pytest.raises(UsageError, match="no metric was named"):
        registry.get_all(" , ")
