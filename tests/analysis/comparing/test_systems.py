"""Several systems: the baseline, their order, who can't be told apart; and the rows that changed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ragmeter import compare
from ragmeter.analysis.comparing.ranking import ranked
from ragmeter.documents.comparison import NumberOfTests
from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.runs.layout import MANIFEST
from ragmeter.show.markdown import comparison_as_markdown
from ragmeter.show.system_tables import SystemTables
from tests.make_runs import make_run

RANDOM = np.random.default_rng(3)
RIGHT = (RANDOM.random(300) < 0.4).astype(float)
BETTER = np.where(RANDOM.random(300) < 0.5, 1.0, RIGHT)
SAME = np.where(RANDOM.random(300) < 0.01, 1 - BETTER, BETTER)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, right, created in (("old", RIGHT, 2024), ("good", BETTER, 2025), ("alike", SAME, 2026)):
        make_run(tmp_path / name, {"right": right, "score": right * 0.5 + 0.2})
        file = tmp_path / name / MANIFEST
        manifest = {**json.loads(file.read_text()), "created": f"{created}-01-01T00:00:00+00:00"}
        file.write_text(json.dumps(manifest))
    return tmp_path


def pairs_of(folder: Path, runs: list[str], **settings: object) -> list[tuple[str, str]]:
    return [(pair.a, pair.b) for pair in compare(runs, output_dir=folder, **settings)]  # type: ignore[arg-type]


def test_the_oldest_of_several_is_the_baseline(folder: Path) -> None:
    assert pairs_of(folder, ["good", "alike", "old"]) == [("old", "good"), ("old", "alike")]
    assert pairs_of(folder, ["good", "old"]) == [("good", "old")], "of two, the first"
    assert pairs_of(folder, ["good", "old"], baseline="old") == [("old", "good")]
    assert pairs_of(folder, ["good", "alike"], baseline="old") == [("old", "good"), ("old", "alike")]
    assert pairs_of(folder, ["good"], baseline=str(folder / "old")) == [("old", "good")]
    assert pairs_of(folder, ["good", "alike", "old"], all_pairs=True) == [
        ("good", "alike"), ("old", "good"), ("old", "alike")
    ]  # fmt: skip
    with pytest.raises(UnknownNameError, match="unknown run 'odl'"):
        compare(["good", "old"], baseline="odl", output_dir=folder)
    with pytest.raises(UsageError, match="two runs or more"):
        compare(["old"], baseline="old", output_dir=folder)


def test_the_order_has_ranks_and_groups(folder: Path) -> None:
    comparison = compare(["old", "good", "alike"], output_dir=folder)
    ranking = comparison.ranking
    assert ranking is not None
    assert (comparison.baseline, ranking.metric) == ("old", "right")
    assert {rank.run: (rank.first, rank.last) for rank in ranking.ranks} == {
        "good": (1, 2), "alike": (1, 2), "old": (3, 3)
    }  # fmt: skip
    assert ranking.ranks[-1].mean == pytest.approx(RIGHT.mean())
    assert [set(group) for group in ranking.groups] == [{"good", "alike"}]
    assert comparison.tests == NumberOfTests(3, 2), "the headline metric of the pair that the order needs, too"
    assert compare(["old", "good"], output_dir=folder).ranking is None
    everything = compare(["old", "good", "alike"], all_pairs=True, output_dir=folder)
    assert everything.tests == NumberOfTests(3, 3)
    assert everything.ranking is not None
    assert everything.as_dict()["ranking"]["ranks"][0]["first"] == 1


def test_n_is_shown_and_where_it_differs(folder: Path) -> None:
    make_run(folder / "part", {"right": np.where(np.arange(300) < 60, np.nan, BETTER), "score": RIGHT * 0.5 + 0.2})
    alike = SystemTables(compare(["old", "good", "alike"], baseline="old", output_dir=folder))
    assert {row[-1].text for row in (*alike.order(), *alike.metrics())} == {"300"}
    assert alike.n_differs == ""
    tables = SystemTables(compare(["old", "good", "part"], baseline="old", output_dir=folder))
    rows = {row[0].text: [cell.text for cell in row] for row in tables.order()}
    assert (rows["good"][-1], rows["part"][-1], rows["old"][-1]) == ("300", "240", "240–300")
    ends = sorted((RIGHT.mean(), RIGHT[60:].mean()))
    assert [float(end) for end in rows["old"][3].split("–")] == pytest.approx(ends, abs=0.006)
    assert rows["good"][4].startswith("+"), "the system minus the baseline"
    assert [row[-1].text for row in tables.metrics()] == ["300"]
    assert tables.n_differs.startswith("n differs: each system is compared with old")
    assert tables.n_differs in comparison_as_markdown(tables.comparison)


def test_groups_may_overlap() -> None:
    """The first and the third are apart, and neither is apart from the second."""
    means = {"a": 0.6, "b": 0.5, "c": 0.4, "d": 0.1}
    far = {(one, "d"): "better" for one in "abc"}
    ranking = ranked("m", "higher", means, {("a", "b"): "not significant", ("b", "c"): "no verdict",
                                            ("a", "c"): "significant, but small", **far})  # fmt: skip
    assert ranking is not None
    assert [(rank.run, rank.first, rank.last) for rank in ranking.ranks] == [
        ("a", 1, 2), ("b", 1, 3), ("c", 2, 3), ("d", 4, 4)
    ]  # fmt: skip
    assert ranking.groups == [["a", "b"], ["b", "c"]]
    lower = ranked("m", "lower", means, dict.fromkeys([("a", "b")], "worse"))
    assert lower is not None
    assert [rank.run for rank in lower.ranks] == ["d", "c", "b", "a"]
    assert ranked("m", "none", means, {}) is None
    assert ranked("m", "higher", {**means, "d": None}, {}) is None
    assert ranked("m", "higher", means, {("a", "b"): "judges differ"}) is None


def test_rows_get_worse_by_the_headline_and_then_by_all_others(tmp_path: Path) -> None:
    right = {"a": [1, 1, 0, 1, 0, 1], "b": [0, 0, 1, 1, 0, 1]}
    slow = {"a": [0.1, 0.1, 0.5, 0.2, 0.3, 0.3], "b": [0.1, 0.9, 0.5, 0.6, 0.3, 0.2]}
    for name in "ab":
        answers = [f"{name}{row}" for row in range(6)]
        columns = {"question": [f"q{row}" for row in range(6)], "answer": answers}
        make_run(tmp_path / name, {"right": right[name], "slow": slow[name]}, columns)
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    assert [row.qid for row in pair.worse_rows] == ["1", "0", "3"], "the last by the other metric alone"
    assert [row.qid for row in pair.better_rows] == ["2", "5"]
    assert pair.worse_rows[0].scores == {"right": (1.0, 0.0), "slow": (0.1, 0.9)}
    assert pair.worse_rows[1].scores == {"right": (1.0, 0.0)}
    assert (pair.worse_rows[0].question, pair.worse_rows[0].answer_a, pair.worse_rows[0].answer_b) == ("q1", "a1", "b1")
    (pair,) = compare(["a", "b"], worse=1, better=0, output_dir=tmp_path).pairs
    assert ([row.qid for row in pair.worse_rows], pair.better_rows) == (["1"], [])


def test_rows_without_two_scores_did_not_change(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"score": [0.5, float("nan"), 0.2, 0.2]})
    make_run(tmp_path / "b", {"score": [0.1, 0.9, float("nan"), 0.2]})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    assert ([row.qid for row in pair.worse_rows], pair.better_rows) == (["0"], [])
