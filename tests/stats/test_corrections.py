"""Corrected estimates against ppi_py, by hand, and where there is none."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from ppi_py import classical_mean_ci, ppi_mean_ci, ppi_mean_pointestimate
from statsmodels.stats.inter_rater import cohens_kappa as oracle_kappa
from statsmodels.stats.proportion import proportion_confint

from ragmeter.stats.agreement import Estimate, confusion, rate
from ragmeter.stats.corrections import labels_alone, ppi_clustered, ppi_mean, ppi_weighted, rogan_gladen
from ragmeter.stats.design import Drawn, InClusters
from ragmeter.table import Scores


def judged(seed: int, n: int, right: float = 0.85) -> tuple[Scores, Scores]:
    """People's verdicts, and those of a judge who is right that often."""
    rng = np.random.default_rng(seed)
    people = (rng.random(n) < 0.65).astype(float)
    return people, np.where(rng.random(n) < right, people, 1 - people)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n", "rest", "right"), [(30, 120, 0.9), (100, 900, 0.85), (300, 50, 0.7), (60, 600, 0.3)])
def test_ppi_is_the_package_s(seed: int, n: int, rest: int, right: float) -> None:
    people, judge = judged(seed, n + rest, right)
    assert (people != judge)[:n].any()
    sides = people[:n], judge[:n], judge[n:]
    for level in (0.9, 0.95):
        estimate = ppi_mean(*sides, level).estimate
        assert normal(estimate, level) == pytest.approx(ends(ppi_mean_ci(*sides, alpha=1 - level)), abs=1e-9)
        assert estimate.value == pytest.approx(ppi_mean_pointestimate(*sides).item(), abs=1e-9)
    for weight in (0.0, 0.4, 1.0):
        interval = ends(ppi_mean_ci(*sides, alpha=0.05, lam=weight))
        assert normal(ppi_mean(*sides, weight=weight).estimate) == pytest.approx(interval, abs=1e-9)
    low, high = classical_mean_ci(people[:n], alpha=0.05)
    assert ppi_mean(*sides).labels_error == pytest.approx((high - low) / 2 / 1.959963984540054, abs=1e-9)


def normal(estimate: Estimate, level: float = 0.95) -> tuple[float, float]:
    """The paper's interval."""
    assert estimate.value is not None
    assert estimate.standard_error is not None
    margin = NormalDist().inv_cdf(0.5 + level / 2) * estimate.standard_error
    return estimate.value - margin, estimate.value + margin


def ends(interval: tuple[Any, Any]) -> tuple[float, float]:
    return interval[0].item(), interval[1].item()


def test_the_interval_is_wilson_s_at_the_effective_number_of_labels() -> None:
    people, judge = judged(3, 1000, 0.9)
    estimate = ppi_mean(people[:100], judge[:100], judge[100:]).estimate
    assert estimate.value is not None
    assert estimate.standard_error is not None
    worth = estimate.value * (1 - estimate.value) / estimate.standard_error**2
    worth *= (1.959963984540054 / 1.9842169515086827) ** 2  # Student's, with 99 degrees of freedom
    assert estimate.interval == pytest.approx(
        proportion_confint(estimate.value * worth, worth, method="wilson"), abs=1e-9
    )


def test_a_judge_who_agrees_on_all_labels_is_not_taken_for_perfect() -> None:
    """The variance of one more mistake in two more labels is added, as in the audit of a cascade."""
    people, judge = judged(4, 100_000, 1.0)
    estimate = ppi_mean(people[:100], judge[:100], judge[100:]).estimate
    plain = ppi_mean_ci(people[:100], judge[:100], judge[100:], alpha=0.05)
    before = (plain[1] - plain[0]).item() / 2 / 1.959963984540054
    added = 1 / 102 * 101 / 102 / 100 * (1 - 100 / 100_000)
    assert estimate.standard_error == pytest.approx((before**2 + added) ** 0.5)


def test_strata_without_a_mistake_are_not_taken_for_certain() -> None:
    """Two strata of 900 and 100 rows, in each ten labels; people and judge agree in the large one."""
    strata = np.repeat(np.array([0, 1], dtype=np.intp), 10)
    drawn = Drawn.stratified(strata, np.array([900.0, 100.0]))
    people = np.array([1.0] * 10 + [1, 0] * 5)
    judge = np.array([1.0] * 10 + [1, 1, 0, 0, 1, 0, 1, 0, 0, 1])
    estimate = ppi_weighted(drawn, people, judge, np.repeat([1.0, 0.0], [950, 50])).estimate
    assert estimate.interval is not None
    assert estimate.interval[0] < 0.85
    added = 1 / 12 * 11 / 12 * 0.9**2 / 10 * (1 - 10 / 900)
    assert drawn.unseen(people != judge, people == 0) == pytest.approx(added)
    share = drawn.share(people == judge, np.ones(20, dtype=np.bool_), 0.95, of="labels")
    assert share.interval is not None
    assert share.interval[0] < 0.85


def test_turns_of_conversations_count_as_conversations() -> None:
    """Each answer is there four times in one conversation: that is worth as much as once each."""
    people, judge = judged(5, 400, 0.85)
    once = InClusters.of(np.ones(100), np.arange(100))
    four = InClusters.of(np.ones(400), np.repeat(np.arange(100), 4))
    single = ppi_clustered(once, people[:100], judge[:100], judge).estimate
    repeated = ppi_clustered(
        four,
        np.repeat(people[:100], 4),
        np.repeat(judge[:100], 4),
        np.repeat(judge, 4),
        clusters=np.repeat(np.arange(400), 4),
    ).estimate
    assert repeated.value == pytest.approx(single.value)
    assert repeated.interval == pytest.approx(single.interval)
    assert repeated.standard_error == pytest.approx(single.standard_error)
    everything = np.ones(400, dtype=np.bool_)
    assert four.share(np.ones(400, dtype=np.bool_), everything, 0.95, of="rows").interval == pytest.approx(
        once.share(np.ones(100, dtype=np.bool_), everything[:100], 0.95, of="rows").interval
    )


def test_a_judge_who_says_the_same_of_all_gets_no_weight() -> None:
    people, _ = judged(1, 50)
    estimate = ppi_mean(people, np.ones(50), np.ones(200))
    assert estimate.weight == 0
    assert estimate.estimate.value == pytest.approx(people.mean())
    assert estimate.effective_labels == pytest.approx(50)


def test_a_good_judge_is_worth_labels() -> None:
    people, judge = judged(2, 1000, 0.95)
    estimate = ppi_mean(people[:100], judge[:100], judge[100:])
    assert estimate.effective_labels is not None
    assert estimate.effective_labels > 200
    perfect = ppi_mean(people[:100], people[:100], people[100:])
    assert perfect.weight == pytest.approx(0.9, abs=0.1)  # the rest's share of all rows


def test_over_the_rest_and_over_all_rows_is_one_estimator() -> None:
    """The tuned weight over the rest is that over all rows times the rest's share, and then all else is equal."""
    people, judge = judged(3, 4000)
    n = 1000
    of_rest = ppi_mean(people[:n], judge[:n], judge[n:])
    drawn = Drawn.stratified(np.zeros(n, dtype=np.intp), np.array([4000.0]))
    of_all = ppi_weighted(drawn, people[:n], judge[:n], judge)
    slope = np.cov(people[:n], judge[:n])[0, 1] / judge[:n].var(ddof=1)
    assert of_all.weight == pytest.approx(slope, abs=1e-9)
    same = ppi_mean(people[:n], judge[:n], judge[n:], weight=slope * 0.75).estimate
    assert of_all.estimate.value == pytest.approx(same.value, abs=1e-9)
    assert of_all.estimate.standard_error == pytest.approx(same.standard_error, rel=2e-3)
    assert of_rest.estimate.value == pytest.approx(of_all.estimate.value, abs=2e-3)


def test_a_stratified_estimate_by_hand() -> None:
    """Strata of 60 and 40 rows, four labels each; without the judge the weighted mean of the strata's means."""
    strata = np.repeat(np.array([0, 1], dtype=np.intp), 4)
    people = np.array([1, 1, 1, 0, 0, 0, 1, 0.0])
    drawn = Drawn.stratified(strata, np.array([60.0, 40.0]))
    estimate = ppi_weighted(drawn, people, np.ones(8), np.ones(100))
    assert estimate.weight == 0
    assert estimate.estimate.value == pytest.approx(0.6 * 0.75 + 0.4 * 0.25)
    spread = 0.25  # the variance of 1 1 1 0
    sampled = 0.6**2 * (1 - 4 / 60) * spread / 4 + 0.4**2 * (1 - 4 / 40) * spread / 4
    questions = 0.55 * 0.45 * 8 / 7 / 100
    assert estimate.estimate.standard_error == pytest.approx((sampled + questions) ** 0.5)


def test_a_stratum_with_one_label_still_has_a_spread() -> None:
    strata = np.array([0, 0, 0, 1], dtype=np.intp)
    drawn = Drawn.stratified(strata, np.array([30.0, 10.0]))
    estimate = ppi_weighted(drawn, np.array([1, 1, 1, 0.0]), np.ones(4), np.ones(40))
    assert estimate.estimate.standard_error is not None
    assert estimate.estimate.standard_error > 0.1


def test_rows_that_the_judge_did_not_score_are_left_out() -> None:
    people, judge = judged(4, 40)
    drawn = Drawn.stratified(np.zeros(40, dtype=np.intp), np.array([400.0]))
    judge[:10] = np.nan
    estimate = ppi_weighted(drawn, people, judge, judge[10:])
    fewer = Drawn.stratified(np.zeros(30, dtype=np.intp), np.array([300.0]))
    alike = ppi_weighted(fewer, people[10:], judge[10:], judge[10:])
    assert estimate.estimate.n == 30
    assert estimate.estimate.value == pytest.approx(alike.estimate.value)
    assert estimate.estimate.standard_error == pytest.approx(alike.estimate.standard_error, rel=0.02)


def test_equal_weights_are_a_random_sample() -> None:
    people, judge = judged(5, 500)
    weighted = ppi_weighted(Drawn.weighted(np.full(100, 3.0), 500), people[:100], judge[:100], judge)
    stratified = Drawn.stratified(np.zeros(100, dtype=np.intp), np.array([500.0]))
    assert weighted == ppi_weighted(stratified, people[:100], judge[:100], judge)
    share = stratified.share(judge[:100] == 1, np.ones(100, dtype=np.bool_), 0.95, of="rows")
    assert share.value == pytest.approx(judge[:100].mean())
    assert share.interval == pytest.approx(rate(int(judge[:100].sum()), 100).interval, abs=0.01)
    kappa = stratified.kappa(judge[:100], people[:100], 0.95)
    expected = oracle_kappa(confusion(judge[:100], people[:100]))
    assert kappa.value == pytest.approx(expected.kappa, abs=1e-9)
    assert kappa.standard_error == pytest.approx(expected.std_kappa, rel=0.01)


def test_rogan_gladen_by_hand() -> None:
    """Lang and Reiczigel's equations, written out for a judge's 0.6 of 1,000, 45/50 and 40/50."""
    sensitivity, specificity = rate(45, 50), rate(40, 50)
    estimate = rogan_gladen(0.6, 1000, sensitivity, specificity, worth=(50, 50))
    assert estimate.value == pytest.approx(0.4 / 0.7)
    z = 1.959963984540054
    p, se, sp = (600 + z * z / 2) / (1000 + z * z), 46 / 52, 41 / 52
    centre = (p + sp - 1) / (se + sp - 1)
    shift = 2 * z * z * (centre * se * (1 - se) / 52 - (1 - centre) * sp * (1 - sp) / 52)
    variance = p * (1 - p) / (1000 + z * z) + centre**2 * se * (1 - se) / 52 + (1 - centre) ** 2 * sp * (1 - sp) / 52
    margin = z * variance**0.5 / (se + sp - 1)
    assert estimate.interval == pytest.approx((centre + shift - margin, centre + shift + margin), abs=1e-9)


def test_rogan_gladen_with_a_sure_judge_is_the_judge_s_rate() -> None:
    sure = Estimate(1.0, (1.0, 1.0), 10**9)
    estimate = rogan_gladen(0.3, 10**6, sure, sure, worth=(10**9, 10**9))
    assert estimate.value == pytest.approx(0.3)
    assert estimate.interval == pytest.approx((0.3 - 0.0009, 0.3 + 0.0009), abs=1e-5)


def test_where_rogan_gladen_says_nothing() -> None:
    chance = rogan_gladen(0.5, 100, rate(5, 10), rate(5, 10), worth=(10, 10))
    assert (chance.value, chance.interval) == (None, None)
    assert "no better than chance" in str(chance.undefined)
    nothing = rogan_gladen(0.5, 100, Estimate.none("none"), rate(5, 10), worth=(0, 10))
    assert "no labelled answer is correct" in str(nothing.undefined)
    few = rogan_gladen(0.5, 100, rate(1, 1), rate(1, 9), worth=(1, 9))
    assert few.undefined is None or "few" in few.undefined
    cut = rogan_gladen(0.05, 100, rate(18, 20), rate(16, 20), worth=(20, 20))
    assert cut.value == 0
    assert cut.interval is not None
    assert cut.interval[0] == 0


def test_labels_alone() -> None:
    people, _ = judged(6, 40)
    estimate = labels_alone(None, people)
    assert estimate.interval == rate(int(people.sum()), 40).interval
    assert estimate.n == 40
    drawn = Drawn.stratified(np.repeat(np.array([0, 1], dtype=np.intp), 20), np.array([900.0, 100.0]))
    assert labels_alone(drawn, people).value == pytest.approx(0.9 * people[:20].mean() + 0.1 * people[20:].mean())


@pytest.mark.parametrize("kind", ["stratified", "weighted"])
def test_unequal_chances_don_t_bias(kind: str) -> None:
    """The rows where a strict judge and people differ are drawn some seven times as often as the others."""
    people, judge = judged(7, 2000)
    judge = np.minimum(judge, people)
    hard = judge != people
    rng = np.random.default_rng(8)
    groups = [np.flatnonzero(hard), np.flatnonzero(~hard)]
    truth, results, naive = people.mean(), [], []
    for _ in range(400):
        if kind == "stratified":
            drawn = np.concatenate([rng.choice(group, 50, replace=False) for group in groups])
            design = Drawn.stratified(np.repeat(np.array([0, 1]), 50), np.array([len(g) for g in groups], dtype=float))
        else:
            drawn = np.flatnonzero(rng.random(2000) < np.where(hard, 0.2, 0.03))
            design = Drawn.weighted(np.where(hard[drawn], 5.0, 1 / 0.03), 2000)
        value = ppi_weighted(design, people[drawn], judge[drawn], judge).estimate.value
        assert value is not None
        results.append(value)
        naive.append(people[drawn].mean())
    error = np.std(results) / len(results) ** 0.5
    assert abs(np.mean(results) - truth) < 4 * error
    assert abs(np.mean(naive) - truth) > 4 * error


def test_labels_of_parts_of_rows_have_the_error_that_a_jackknife_over_rows_finds() -> None:
    rng = np.random.default_rng(4)
    counts = rng.integers(1, 6, 80)
    row = np.repeat(np.arange(80), counts)
    people = (rng.random(len(row)) < rng.beta(2, 1, 80)[row]).astype(float)
    judge = np.where(rng.random(len(row)) < 0.8, people, 1 - people)
    of_rows = np.bincount(row, judge) / counts
    chosen = np.sort(rng.permutation(len(row))[:120])
    powered = ppi_clustered(InClusters.of(1 / counts[row[chosen]], row[chosen]), people[chosen], judge[chosen], of_rows)
    weights = 1 / counts[row[chosen]]

    def estimate(without: int) -> float:
        kept, rest = row[chosen] != without, np.arange(80) != without
        error = people[chosen] - powered.weight * judge[chosen]
        return float(np.average(error[kept], weights=weights[kept]) + powered.weight * of_rows[rest].mean())

    assert powered.estimate.value == pytest.approx(estimate(-1))
    left_out = np.array([estimate(place) for place in range(80)])
    jackknife = np.sqrt(79 / 80 * np.sum((left_out - left_out.mean()) ** 2))
    assert powered.estimate.standard_error == pytest.approx(jackknife, rel=0.03)
