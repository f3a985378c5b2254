"""Declaring, finding and plugging in metrics."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from ragmeter import BaseScorer, Failed, column, evaluate, get_metric, metric, registry
from ragmeter.analysis.metric_list import MetricInfo, list_metrics
from ragmeter.definition import METRICS
from ragmeter.errors import ColumnError, RagmeterWarning, UnknownNameError, UsageError
from ragmeter.show.markdown import metric_page
from ragmeter.stats.intervals import wilson_interval
from ragmeter.table import Scores
from tests.conftest import Run


class MyNewScorer(BaseScorer):
    """Overlap of characters."""

    def calculate_score(self, reference: str, candidate: str) -> float:
        if not candidate:
            raise ValueError("nothing to score")
        return len(set(reference) & set(candidate)) / len(set(reference) | set(candidate))

    def get_score_name(self) -> str:
        return "my_new_score"


class SameLength(MyNewScorer):
    """A scorer of 0 and 1."""

    binary = True

    def calculate_score(self, reference: str, candidate: str) -> float:
        return float(len(reference) == len(candidate))

    def get_score_name(self) -> str:
        return "same_length"


def test_a_scorer_may_say_that_its_mean_is_a_rate() -> None:
    evaluation = evaluate([{"answer": "abc", "reference": "abd"}] * 3, metrics=[SameLength, MyNewScorer])
    assert evaluation["same_length"].interval == wilson_interval(3, 3)
    assert (evaluation["my_new_score"].binary, evaluation["my_new_score"].interval_method) == (
        False,
        "student_t_with_pseudo_rows",
    )


def test_a_metric_in_a_few_lines() -> None:
    @metric(direction="higher", binary=True)
    def starts_alike(reference: Sequence[str], answer: Sequence[str], *, letters: int = 1) -> Scores:
        """1 if both begin with the same letters."""
        return np.array([r[:letters] == a[:letters] for r, a in zip(reference, answer, strict=True)], float)

    assert starts_alike(["Paris", "Rome"], ["Pisa", "Paris"]).tolist() == [1, 0]
    assert get_metric("starts_alike[letters=2]").name == "starts_alike[letters=2]"
    assert get_metric("starts_alike[letters=2]")(["Paris"], ["Pisa"]).tolist() == [0]
    evaluation = evaluate([{"answer": "Pisa", "reference": ["Rome", "Paris"]}], metrics=["starts_alike", "token_f1"])
    assert evaluation["starts_alike"].mean == 1
    assert evaluation["starts_alike"].interval_method == "wilson"


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

    evaluation = evaluate([{"answer": "abc"}, {"answer": "a"}], metrics=[answer_length, doubled_length])
    assert evaluation["doubled_length"].mean == 4
    assert calls == [2]


def test_a_scorer_class_is_a_metric() -> None:
    rows = [
        {"answer": "abc", "reference": "abd"},
        {"answer": "", "reference": "x"},
        {"answer": "", "reference": ["x", "y"]},
    ]
    evaluation = evaluate(rows, metrics=[MyNewScorer, "token_f1"])
    summary = evaluation["my_new_score"]
    assert summary.mean == 0.5
    assert summary.n_not_scored == {"scorer_error: ValueError": 2}
    outcomes = evaluation.rows.column("my_new_score.outcome").to_pylist()
    assert outcomes == ["scored"] + ["scorer_error: ValueError"] * 2


@pytest.mark.parametrize("value", ["high", None, float("nan"), float("inf")])
def test_a_scorer_s_nonsense_is_a_failure_of_the_row(value: Any) -> None:
    class Odd(MyNewScorer):
        def calculate_score(self, reference: str, candidate: str) -> float:
            return value  # type: ignore[no-any-return]

        def get_score_name(self) -> str:
            return "odd"

    evaluation = evaluate([{"answer": "a", "reference": "a"}], metrics=[Odd()])
    assert evaluation["odd"].n_scored == 0
    assert evaluation["odd"].mean is None
    assert next(iter(evaluation["odd"].n_not_scored)).startswith("scorer_error: ")


def test_by_dotted_path_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mypkg").mkdir()
    (tmp_path / "mypkg" / "__init__.py").write_text("")
    (tmp_path / "mypkg" / "scorers.py").write_text(
        "class Duck:\n"
        "    def calculate_score(self, reference, candidate): return float(reference in candidate)\n"
        "    def get_score_name(self): return 'has_letter'\n"
        "class NeedsArguments(Duck):\n"
        "    def __init__(self, weight): pass\n"
    )
    monkeypatch.chdir(tmp_path)
    has_letter = get_metric("mypkg.scorers.Duck")
    assert has_letter.name == "has_letter"
    assert has_letter.source == "mypkg.scorers.Duck"
    assert get_metric("mypkg.scorers:Duck") == has_letter == get_metric("has_letter")
    assert has_letter(["a"], ["cat"]).tolist() == [1]
    with pytest.raises(UsageError, match=r"'mypkg.scorers.NeedsArguments': .*'weight'\n  .* that needs no arguments"):
        get_metric("mypkg.scorers.NeedsArguments")
    with pytest.raises(UnknownNameError, match="did you mean Duck"):
        get_metric("mypkg.scorers.Duk")


@pytest.mark.parametrize("engine", ["threads", "local:2"])
def test_a_scorer_that_prints_or_exits(ragmeter: Run, tmp_path: Path, engine: str) -> None:
    (tmp_path / "loud.py").write_text(
        "import sys\n"
        "print('imported')\n"
        "class Loud:\n"
        "    def calculate_score(self, reference, candidate):\n"
        "        print('scoring', flush=True)\n"
        "        return 1 if candidate else sys.exit(5)\n"
        "    def get_score_name(self): return 'loud'\n"
    )
    (tmp_path / "r.csv").write_text("qid,answer,reference\n1,a,a\n2,,b\n")
    command = ["evaluate", "--metrics", "loud.Loud", "--run", "r", "--json", "--engine", engine]
    for arguments in (["--results", "r.csv"], []):
        done = ragmeter(*command, *arguments)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["metrics"]["loud"]["n_not_scored"] == {"scorer_error: SystemExit": 1}


def test_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("mine", f"{__name__}:MyNewScorer", "ragmeter.metrics")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [point])
    assert get_metric("my_new_score")(["ab"], ["ab"]).tolist() == [1]
    assert "my_new_score" in [metric.name for metric in registry.known()]


class Quits(MyNewScorer):
    """A scorer that can't be made."""

    def __init__(self) -> None:
        sys.exit(5)


@pytest.mark.parametrize("path", ["no_such_module:X", "json:dumps", f"{__name__}:Quits"])
def test_a_broken_plugin_is_an_error_for_who_names_it(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    broken = EntryPoint("broken", path, "ragmeter.metrics")
    good = EntryPoint("mine", f"{__name__}:MyNewScorer", "ragmeter.metrics")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [broken, good])
    monkeypatch.delitem(METRICS, "my_new_score", raising=False)
    assert get_metric("my_new_score").name == "my_new_score"
    assert get_metric(f"{__name__}.MyNewScorer").name == "my_new_score"
    assert "my_new_score" in [metric.name for metric in registry.known()]
    with pytest.raises(UsageError, match=r"the plugin 'broken' .* does not load"):
        get_metric("broken")
    with pytest.raises(UnknownNameError, match="did you mean token_f1") as caught:
        get_metric("token_f2")
    assert "the plugin 'broken'" in caught.value.hint
    with pytest.warns(RagmeterWarning, match="the plugin 'broken'"):
        assert "token_f1" in [metric.name for metric in list_metrics()]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ([1.0], "metric odd returned 1 scores for 2 rows"),
        (np.zeros(3), "metric odd returned 3 scores for 2 rows"),
        (1.0, "metric odd failed with TypeError"),
        (["high", "low"], "metric odd failed with ValueError"),
    ],
)
def test_a_metric_that_returns_nonsense_is_named(result: Any, message: str) -> None:
    @metric
    def odd(answer: Sequence[str]) -> Any:
        return result

    with pytest.raises(UsageError, match=message):
        evaluate([{"answer": "a"}, {"answer": "b"}], metrics=[odd])


def test_a_metric_on_a_column_of_the_user_s() -> None:
    @metric(direction="lower", bounds=(0, 1e9))
    def seconds(latency_ms: Sequence[str], *, unit=1000) -> list[float]:  # type: ignore[no-untyped-def]
        return [float(value) / unit for value in latency_ms]

    rows = [{"latency_ms": 1500, "answer": "a"}, {"latency_ms": None, "answer": "a"}]
    evaluation = evaluate(rows, metrics=["seconds", "seconds[unit=500]"])
    assert (evaluation["seconds"].mean, evaluation["seconds[unit=500]"].mean) == (1.5, 3.0)
    assert evaluation["seconds"].n_not_scored == {"no_latency_ms": 1}
    with pytest.raises(ColumnError, match="seconds needs the column 'latency_ms'"):
        evaluate([{"latency": 1}], metrics=["seconds"])


def test_a_metric_without_bounds_is_written_as_json(tmp_path: Path) -> None:
    @metric(direction="none", bounds=(-np.inf, np.inf))
    def difference(reference: Sequence[str], answer: Sequence[str]) -> Scores:
        """Whatever.

        **Formula.** None.
        """
        return np.array([float(r) - float(a) for r, a in zip(reference, answer, strict=True)])

    evaluation = evaluate([{"answer": "5", "reference": "3"}], metrics=[difference], run="r", output_dir=tmp_path)
    assert evaluation["difference"].mean == -2
    assert evaluation["difference"].range == (None, None)
    assert MetricInfo.of(difference).as_dict()["range"] == (None, None)
    assert "−∞ to ∞" in metric_page(difference)


def test_a_direction_is_one_of_three() -> None:
    with pytest.raises(UsageError, match="direction must be higher or lower or none, got 'up'"):
        metric(direction="up")  # type: ignore[call-overload]


def test_many_kinds_of_failure() -> None:
    @metric
    def picky(answer: Sequence[str]) -> list[Failed]:
        return [Failed(f"bad {place}") for place, _ in enumerate(answer)]

    evaluation = evaluate([{"answer": str(n)} for n in range(300)], metrics=[picky])
    assert len(evaluation["picky"].n_not_scored) == 300


def test_two_scorers_of_one_name() -> None:
    class Weighted(MyNewScorer):
        def __init__(self, weight: float) -> None:
            self.weight = weight

        def get_score_name(self) -> str:
            return "weighted"

    with pytest.raises(UsageError, match="two metrics are called 'weighted'"):
        registry.get_all([Weighted(1), Weighted(2)])
    one = Weighted(1)
    assert len(registry.get_all([one, one, "token_f1"])) == 2
    assert len(registry.get_all([MyNewScorer, MyNewScorer])) == 1


def test_a_score_s_name_must_be_one() -> None:
    class Spaced(MyNewScorer):
        def get_score_name(self) -> str:
            return "my score!"

    with pytest.raises(UsageError, match="my score!"):
        get_metric(Spaced)


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


def test_a_scorer_that_cannot_be_made_or_named() -> None:
    class Raising(MyNewScorer):
        def __init__(self) -> None:
            raise RuntimeError("no model")

    class Nameless(MyNewScorer):
        def get_score_name(self) -> str:
            return "answer"

    with pytest.raises(UsageError, match="failed with RuntimeError: no model"):
        get_metric(Raising)
    with pytest.raises(UsageError, match="'answer' can't be a score's name"):
        get_metric(Nameless)


def test_a_binary_metric_is_0_or_1() -> None:
    @metric(binary=True)
    def twice(answer: Sequence[str]) -> list[float]:
        return [2.0 for _ in answer]

    with pytest.raises(UsageError, match="declared as binary"):
        evaluate([{"answer": "a"}], metrics=[twice])


def test_a_setting_of_a_few_choices() -> None:
    @metric
    def choosy(answer: Sequence[str], *, level: Literal["low", "high"] = "low") -> list[float]:
        return [float(level == "high") for _ in answer]

    assert get_metric("choosy[level=high]")(["a"]).tolist() == [1]
    with pytest.raises(UsageError, match="level must be one of low, high, got 'middle'"):
        get_metric("choosy[level=middle]")
