"""The card of the offline judge of long answers: docs/offline-quality.md, with every figure computed here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from preferring import (
    GROUPS,
    NAMES,
    SEEDS,
    STRENGTHS,
    Floats,
    Learner,
    Preference,
    both,
    correlations,
    cross_validated,
    fit,
    fit_chosen,
    fit_some,
    held_out,
    mean_preference,
    without,
)

from ragmeter import get_metric
from ragmeter.metrics.offline.shares import SHARES, shares
from ragmeter.metrics.sentences import sentences

TEXT = Path(__file__).with_name("quality_card.md")
ASPECTS = ("correctness", "completeness", "overall")
#: RAGChecker with Llama 3 70B, from the scores in its own files; not computed here.
RAGCHECKER = {"correctness": (49.7, 46.9), "completeness": (60.7, 58.1), "overall": (61.9, 60.9)}
Weights = Mapping[str, Mapping[str, float]]


def write_card(rows: Sequence[Preference], other: Sequence[Preference], weights: Weights) -> str:
    """The text of the card with its tables."""
    card = TEXT.read_text(encoding="utf-8")
    for name, content in _places(rows, other, weights):
        print(f"card: {name} ...", flush=True)
        card = card.replace("{{" + name + "}}", content())
    return card


def _places(
    rows: Sequence[Preference], other: Sequence[Preference], weights: Weights
) -> Iterable[tuple[str, Callable[[], str]]]:
    yield "questions", lambda: str(len(rows))
    yield "seeds", lambda: str(len(SEEDS))
    yield "weights", lambda: _weights(weights)
    yield "main", lambda: _main(rows)
    yield "choices", lambda: _choices(rows)
    yield "scores", lambda: _scores(rows, weights)
    yield "other", lambda: _other(other, weights)
    yield "others", lambda: str(len(other))


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = "| --- |" + " ---: |" * (len(head) - 1)
    return "\n".join(["| " + " | ".join(head) + " |", rule, *("| " + " | ".join(line) + " |" for line in lines)])


def _pair(values: tuple[float, float]) -> str:
    return f"{values[0]:.1f} / {values[1]:.1f}"


def _mean(values: Iterable[tuple[float, float]]) -> str:
    pearson, spearman = np.mean(list(values), axis=0).tolist()
    return _pair((pearson, spearman))


def _weights(weights: Weights) -> str:
    lines = [[meaning, *(f"{weights[aspect][name]:.3f}" for aspect in ASPECTS)] for name, meaning in SHARES.items()]
    return _table(["share", *ASPECTS], lines)


def _main(rows: Sequence[Preference]) -> str:
    """What it comes to, beside others."""
    results = {aspect: list(cross_validated(rows, aspect, fit)) for aspect in ASPECTS}
    lines = [
        ["**offline_quality**, ten folds", *(f"**{_mean(results[aspect])}**" for aspect in ASPECTS)],
        ["the worst of the seeds", *(_pair(_worst(results[aspect])) for aspect in ASPECTS)],
        ["shares and penalty chosen anew in each training part",
         *(_mean(cross_validated(rows, aspect, fit_chosen, seeds=SEEDS[:5])) for aspect in ASPECTS)],
        ["a domain held out", *(_pair(_by_domain(rows, aspect)) for aspect in ASPECTS)],
        ["no question given", *(_mean(_without_question(rows, aspect)) for aspect in ASPECTS)],
    ]  # fmt: skip
    for name in ("token_f1", "rouge_l_score[language=en]", "offline_correct_probability"):
        difference = difference_of(name, rows)
        lines.append([f"`{name}`", *(_pair(correlations(difference, rows, aspect)) for aspect in ASPECTS)])
    lines.append(["RAGChecker, 70B model", *(_pair(RAGCHECKER[aspect]) for aspect in ASPECTS)])
    lines.append(["the other person", *(_pair(between_people(rows, aspect)) for aspect in ASPECTS)])
    return _table(["Pearson / Spearman", *ASPECTS], lines)


def _worst(values: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return min(value[0] for value in values), min(value[1] for value in values)


def difference_of(name: str, rows: Sequence[Preference]) -> Floats:
    """How much higher a metric scores the second answer."""
    metric = get_metric(name)
    columns: dict[str, list[Any]] = {
        "question": [row.question for row in rows],
        "reference": [[row.reference] for row in rows],
    }
    scores = [
        metric(*({**columns, "answer": [row.answers[place] for row in rows]}[need] for need in metric.needs))
        for place in (0, 1)
    ]
    return np.asarray(scores[1] - scores[0])


def _by_domain(rows: Sequence[Preference], aspect: str) -> tuple[float, float]:
    shares_of_both = both(rows)
    domains = np.unique([row.domain for row in rows], return_inverse=True)[1]
    differences = shares_of_both[:, 1] - shares_of_both[:, 0]
    return correlations(held_out(differences, mean_preference(rows, aspect), domains, fit), rows, aspect)


def _without_question(rows: Sequence[Preference], aspect: str) -> Iterable[tuple[float, float]]:
    shares_of_both = both(rows, with_question=False)
    return cross_validated(rows, aspect, fit, judged=shares_of_both[:, 1] - shares_of_both[:, 0])


def between_people(rows: Sequence[Preference], aspect: str) -> tuple[float, float]:
    """The correlation of the two people's preferences."""
    first, second = np.array([row.preferences[aspect] for row in rows]).T
    alone = [Preference(row.question, row.reference, row.answers, {aspect: [label]})
             for row, label in zip(rows, second.tolist(), strict=True)]  # fmt: skip
    return correlations(first, alone, aspect)


def _choices(rows: Sequence[Preference]) -> str:
    """How much depends on what was chosen."""
    learners: dict[str, Learner] = {f"without {group}": partial(fit_some, names=without(group)) for group in GROUPS}
    learners |= {f"penalty {strength:g}": partial(fit, strength=strength) for strength in STRENGTHS}
    lines = [
        [title, *(_mean(cross_validated(rows, aspect, learner)) for aspect in ASPECTS)]
        for title, learner in learners.items()
    ]
    return _table(["Pearson / Spearman", *ASPECTS], lines)


def _scores(rows: Sequence[Preference], weights: Weights) -> str:
    """What the numbers look like, for answers whose worth is plain."""
    halves = [" ".join(sentences(row.reference)[::2]) for row in rows]
    kinds = {
        "the reference itself": [row.reference for row in rows],
        "every second sentence of the reference": halves,
        "the systems' answers": [row.answers[1] for row in rows],
        "a system's answer to another question": [row.answers[1] for row in (*rows[7:], *rows[:7])],
        "the question": [row.question for row in rows],
        "“I don't know.”": ["I don't know."] * len(rows),
    }
    lines = []
    for kind, answers in kinds.items():
        of_kind = shares([row.question for row in rows], [row.reference for row in rows], answers)
        scores = [of_kind @ np.array([weights[aspect][name] for name in NAMES]) for aspect in ASPECTS]
        quantiles = (np.quantile(score, (0.1, 0.5, 0.9)) for score in scores)
        lines.append([kind, *(" / ".join(f"{value:.2f}" for value in triple) for triple in quantiles)])
    return _table(["10% / median / 90%", *ASPECTS], lines)


def _other(rows: Sequence[Preference], weights: Weights) -> str:
    """Preferences of another data set, which had no part in anything."""
    shares_of_both = both(rows)
    differences = shares_of_both[:, 1] - shares_of_both[:, 0]
    marks = list(rows[0].preferences)
    lines = [
        [f"`offline_quality[aspect={aspect}]`", *(_pair(correlations(
            differences @ np.array([weights[aspect][name] for name in NAMES]), rows, mark
        )) for mark in marks)]
        for aspect in ASPECTS
    ]  # fmt: skip
    lines += [
        [f"`{name}`", *(_pair(correlations(difference_of(name, rows), rows, mark)) for mark in marks)]
        for name in ("token_f1", "offline_correct_probability")
    ]
    return _table(["Pearson / Spearman", *marks], lines)
