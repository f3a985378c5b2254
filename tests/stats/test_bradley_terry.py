"""Ratings by Bradley and Terry: beside choix, at the extremes, and by simulation."""

from __future__ import annotations

from itertools import combinations

import choix
import numpy as np
import pytest

from ragmeter.stats.bradley_terry import rate, strengths
from ragmeter.table import Scores

RANDOM = np.random.default_rng(2)
PAIRS = list(combinations(range(4), 2))


def play(random: np.random.Generator, n: int, skills: Scores, pairs: list[tuple[int, int]], turns: int = 1) -> Scores:
    """Wins on n questions, or in n conversations of several, whose answers go together; some are ties."""
    own = random.normal(0, 0.5, (n, 1, len(skills))) + random.logistic(0, 0.3, (n, turns, len(skills)))
    wins = np.zeros((n, len(skills), len(skills)))
    for a, b in pairs:
        lead = skills[a] - skills[b] + own[..., a] - own[..., b] + random.logistic(0, 0.5, (n, turns))
        won = np.where(lead > 0.4, 1.0, np.where(lead < -0.4, 0.0, 0.5))
        wins[:, a, b], wins[:, b, a] = won.sum(axis=1), (1 - won).sum(axis=1)
    return wins


@pytest.mark.parametrize("pairs", [PAIRS, [(0, 1), (0, 2), (0, 3)], [(0, 1), (1, 2), (2, 3)]])
def test_as_choix_has_them(pairs: list[tuple[int, int]]) -> None:
    wins = play(RANDOM, 60, np.array([0.0, 0.4, -0.3, 0.9]), pairs).sum(axis=0)
    games = [(a, b) for a in range(4) for b in range(4) for _ in range(round(2 * wins[a, b]))]  # a tie is one for each
    assert strengths(wins) == pytest.approx(choix.opt_pairwise(4, games, tol=1e-10), abs=1e-5)
    many = np.stack([wins, 3 * wins, wins.T])
    assert strengths(many)[0] == pytest.approx(strengths(wins))
    assert strengths(many)[1] == pytest.approx(strengths(wins))
    assert strengths(many)[2] == pytest.approx(-strengths(wins))


def test_whoever_wins_always_has_an_interval_with_a_width() -> None:
    wins = np.zeros((20, 2, 2))
    wins[:, 1, 0] = 1
    rated = rate(wins, 0.95, 999, 0)
    assert np.isfinite(rated.strengths).all()
    assert (rated.half_widths > 0.2).all()
    assert rated.apart == {(0, 1)}
    assert rated.next_pair is None
    tied = np.full((20, 2, 2), 0.5)
    alike = rate(tied, 0.95, 999, 0)
    assert alike.strengths == pytest.approx([0, 0])
    assert alike.apart == frozenset()
    assert alike.next_pair == (0, 1)


def test_the_pair_to_ask_next_is_one_that_was_not_asked_and_is_not_clear() -> None:
    skills = np.array([0.0, 2.0, 2.05, -2.0])
    rated = rate(play(RANDOM, 150, skills, [(0, 1), (0, 2), (0, 3)]), 0.95, 999, 0)
    assert (1, 2) not in rated.apart
    assert rated.next_pair == (1, 2)


def test_the_same_seed_gives_the_same_ratings() -> None:
    wins = play(RANDOM, 40, np.array([0.0, 0.5, 1.0]), list(combinations(range(3), 2)))
    first, second, other = (rate(wins, 0.95, 999, seed) for seed in (1, 1, 2))
    assert (first.half_widths == second.half_widths).all()
    assert (first.half_widths != other.half_widths).any()
    assert (rate(wins, 0.8, 999, 1).half_widths < first.half_widths).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 50, 200, 800])
@pytest.mark.parametrize(("count", "star", "turns"), [(3, False, 1), (4, True, 1), (6, False, 1), (4, False, 4)])
def test_all_intervals_hold_at_once(
    n: int, count: int, star: bool, turns: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Few and many questions, all pairs or each with the baseline, and conversations of four questions."""
    pairs = [(0, other) for other in range(1, count)] if star else list(combinations(range(count), 2))
    skills, trials = np.linspace(-0.5, 0.5, count), 400
    true = strengths(play(np.random.default_rng(1), 400_000 // turns, skills, pairs, turns).mean(axis=0))
    random = np.random.default_rng(n)
    held = mistaken = 0
    for trial in range(trials):
        rated = rate(play(random, n, skills, pairs, turns), 0.95, 999, trial)
        held += bool((np.abs(rated.strengths - true) <= rated.half_widths).all())
        mistaken += any((rated.strengths[a] > rated.strengths[b]) != (true[a] > true[b]) for a, b in rated.apart)
    with capsys.disabled():
        print(f"{count} systems, star {star}, {turns} turns, n {n}: {held / trials:.3f}, wrong order {mistaken}")
    assert 0.92 <= held / trials <= 0.99
    assert mistaken / trials <= 0.05


@pytest.mark.slow
def test_equal_systems_are_seldom_told_apart() -> None:
    random, skills = np.random.default_rng(5), np.zeros(4)
    apart = sum(bool(rate(play(random, 60, skills, PAIRS), 0.95, 999, trial).apart) for trial in range(400))
    assert apart / 400 <= 0.075
