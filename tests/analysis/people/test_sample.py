"""Which rows are drawn, and for how many each one stands."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import choose_sample, evaluate
from ragmeter.analysis.people.sample import allocate
from ragmeter.errors import UnknownNameError, UsageError
from tests.analysis.people.helpers import make_run


@pytest.mark.parametrize(
    ("sizes", "n", "shares", "expected"),
    [
        ([100], 10, [None], [10]),
        ([50, 50], 10, [None, None], [5, 5]),
        ([90, 10], 10, [None, None], [8, 2]),  # two of each at least
        ([90, 1], 10, [None, None], [9, 1]),  # there is no second one
        ([20, 90, 90], 20, [0.5, None, None], [10, 5, 5]),
        ([6, 97, 97], 20, [0.5, None, None], [6, 7, 7]),  # all that there are
        ([160, 20, 20], 20, [0.5, None, None], [16, 2, 2]),  # more frequent than its share anyway
        ([3, 3], 6, [None, None], [3, 3]),
    ],
)
def test_how_many_of_each(sizes: list[int], n: int, shares: list[float | None], expected: list[int]) -> None:
    assert allocate(sizes, n, shares) == expected


@given(st.lists(st.integers(1, 300), min_size=1, max_size=8), st.data())
def test_every_stratum_gets_its_due(sizes: list[int], data: st.DataObject) -> None:
    least = sum(min(2, size) for size in sizes)
    n = data.draw(st.integers(least, sum(sizes)))
    shares: list[float | None] = [0.5, *[None] * (len(sizes) - 1)] if len(sizes) > 1 else [None]
    given = allocate(sizes, n, shares)
    assert sum(given) == n
    assert all(min(2, size) <= count <= size for size, count in zip(sizes, given, strict=True))


def test_a_random_sample(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    sample = choose_sample("demo", 50, output_dir=tmp_path / "runs")
    assert len({row.qid for row in sample.rows}) == 50
    assert {(row.stratum, row.stratum_rows, row.weight) for row in sample.rows} == {("all", 200, 4.0)}
    assert sample.rows == choose_sample(run, 50).rows
    assert sample.rows != choose_sample(run.path, 50, seed=1).rows
    assert len(choose_sample(run, 5_000).rows) == 200  # all of them
    assert [row.qid for row in sample.rows] != sorted(row.qid for row in sample.rows)


def test_who_labels_fewer_rows_labels_some_of_the_others(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    assert choose_sample(run, 20).rows != choose_sample(run, 20, seed=3).rows
    few, many = ([row.qid for row in choose_sample(run, n, seed=3)] for n in (20, 100))
    assert many[:20] == few
    strata = {"by": "stratified", "strata": ["domain"], "seed": 3}
    fewer, more = ({row.qid for row in choose_sample(run, n, **strata)} for n in (20, 100))  # type: ignore[arg-type]
    assert fewer < more


@pytest.mark.parametrize(
    ("by", "more"),
    [
        ("stratified", {"strata": ["domain"]}),
        ("stratified", {"strata": ["domain", "exact_match"]}),
        ("disagreement", {"metrics": ["exact_match", "token_f1"]}),
    ],
)
def test_weights_add_up_to_all_rows(tmp_path: Path, by: str, more: dict[str, list[str]]) -> None:
    sample = choose_sample(make_run(tmp_path), 60, by=by, **more)  # type: ignore[arg-type]
    assert sum(row.weight for row in sample.rows) == pytest.approx(200)
    sizes = {row.stratum: row.stratum_rows for row in sample.rows}
    assert sum(sizes.values()) == 200 == sample.population
    counts = Counter(row.stratum for row in sample.rows)
    assert all(row.weight == pytest.approx(sizes[row.stratum] / counts[row.stratum]) for row in sample.rows)
    if by == "stratified":
        assert len(sizes) == 3 * len(more["strata"])


def test_every_row_has_its_chance(tmp_path: Path) -> None:
    """Over many draws each row comes up as often as its weight says."""
    run = make_run(tmp_path, 60)
    drawn: Counter[str] = Counter()
    weights = {}
    for seed in range(300):
        for row in choose_sample(run, 20, by="disagreement", metrics=["exact_match", "token_f1"], seed=seed).rows:
            drawn[row.qid] += 1
            weights[row.qid] = row.weight
    assert len(drawn) == 60
    for qid, count in drawn.items():
        chance = 1 / weights[qid]
        assert abs(count / 300 - chance) < 5 * (chance * (1 - chance) / 300) ** 0.5 + 1e-9


def test_disagreement_of_verdicts_and_of_ranks(tmp_path: Path) -> None:
    rows = [
        {"qid": str(i), "answer": "a b" if i % 4 else "c", "reference": "a b", "relevant": ["d"], "retrieved": ["d"]}
        for i in range(40)
    ]
    evaluate(rows, metrics="exact_match,hit@1,token_f1", run="two", output_dir=tmp_path)
    sample = choose_sample("two", 20, by="disagreement", output_dir=tmp_path)  # exact_match and hit@1, both 0 or 1
    sizes = {row.stratum: row.stratum_rows for row in sample.rows}
    assert sizes == {"disagree": 10, "all 1": 30}
    assert Counter(row.stratum for row in sample.rows)["disagree"] == 10
    ranked = choose_sample("two", 20, by="disagreement", metrics=["hit@1", "token_f1"], output_dir=tmp_path)
    disagreeing = {row.qid for row in ranked.rows if row.stratum == "disagree"}
    assert {row.stratum_rows for row in ranked.rows if row.stratum == "disagree"} == {10}
    assert disagreeing == {str(i) for i in range(0, 40, 4)}  # hit, but nothing in common


def test_rows_without_an_answer_or_a_score_are_not_drawn(tmp_path: Path) -> None:
    rows = [{"qid": str(i), "answer": None if i < 5 else "x", "reference": None if i > 15 else "x"} for i in range(20)]
    evaluate(rows, metrics="exact_match", run="holes", output_dir=tmp_path)
    assert choose_sample("holes", 20, output_dir=tmp_path).population == 15
    assert choose_sample("holes", 20, metrics=["exact_match"], output_dir=tmp_path).population == 11


def test_what_makes_no_sense(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    with pytest.raises(UsageError, match="strata and"):
        choose_sample(run, by="stratified")
    with pytest.raises(UsageError, match="strata and"):
        choose_sample(run, strata=["domain"])
    with pytest.raises(UsageError, match="two metrics"):
        choose_sample(run, by="disagreement")
    with pytest.raises(UsageError, match="unknown way to choose rows 'luck'"):
        choose_sample(run, by="luck")
    with pytest.raises(UsageError, match="at least 1"):
        choose_sample(run, 0)
    with pytest.raises(UsageError, match="too few for 200 strata"):
        choose_sample(run, 20, by="stratified", strata=["question"])
    with pytest.raises(UsageError, match="lists"):
        choose_sample(run, 20, by="stratified", strata=["contexts"])
    with pytest.raises(UnknownNameError, match="domain"):
        choose_sample(run, 20, by="stratified", strata=["domian"])
    with pytest.raises(UnknownNameError, match="exact_match"):
        choose_sample(run, 20, metrics=["exact_mach"])
    with pytest.raises(UnknownNameError, match="unknown run 'nowhere'"):
        choose_sample("nowhere", output_dir=tmp_path / "runs")
