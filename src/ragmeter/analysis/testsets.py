"""What a test set is worth: does it rank systems as real questions do, and do people accept its questions?"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import structs

from ragmeter.documents.record import UNSET, Interval
from ragmeter.documents.summary import Summary
from ragmeter.documents.testset import Acceptance, RankCheck, TestSetCard
from ragmeter.errors import UsageError
from ragmeter.hints import option
from ragmeter.io.locations import on_disk
from ragmeter.runs.run import Run
from ragmeter.runs.writer import NewRun
from ragmeter.stats.intervals import wilson_interval
from ragmeter.table import QID

Table = npt.NDArray[np.float64]
_DRAWS, _HALVES = 1_000, 200
#: Two systems have one order, so that any two sets rank them alike, or not at all.
_FEWEST = 3
_FAMILY = re.compile(r"[a-z]+")


def add_check(run: Run, others: Sequence[Run], metric: str | None, seed: int) -> Summary:
    """Add to the card how far the set ranks systems as real questions do: half of the runs are over its questions, and
    half, of the same systems, over real ones.
    """
    own_qids = set(run.column(QID).to_pylist())
    written = [other for other in others if set(other.column(QID).to_pylist()) <= own_qids]
    real = [other for other in others if other not in written]
    if len(written) != len(real) or len(written) < _FEWEST:
        raise UsageError(
            f"{len(written)} runs over the questions of {run.name}, and {len(real)} over others",
            hint=f"{option('check')} takes a run of both for each system, and {_FEWEST} systems or more",
        )
    real = _of_same_systems(written, real)
    shared = [name for name in written[0].metrics() if all(name in other.metrics() for other in others)]
    if (metric is None and not shared) or (metric is not None and metric not in shared):
        raise UsageError(f"not all of the runs have {metric or 'a metric in common'}",
                         hint=f"they share {', '.join(shared) or 'none'}")  # fmt: skip
    name = metric or shared[0]
    ours, theirs = _scores(written, name), _scores(real, name)
    rng = np.random.default_rng(seed)
    taus = [tau(_mean(_resampled(ours, rng)), _mean(_resampled(theirs, rng))) for _ in range(_DRAWS)]
    card = _card(run)
    check = RankCheck(
        metric=name,
        systems=len(written),
        tau=_finite(tau(_mean(ours), _mean(theirs))),
        interval=_interval(taus),
        split_half=_finite(float(np.nanmean([_halves(theirs, rng) for _ in range(_HALVES)]))),
        like=[other.name for other in real],
        family=_of_family(card.writer, others) or UNSET,
    )
    return keep_card(run, structs.replace(card, check=check))


def _of_same_systems(written: Sequence[Run], real: Sequence[Run]) -> list[Run]:
    """The runs over real questions in the order of the others: by their systems, or as they are if a system is unknown.

    What a system keeps in memory may have changed between two runs, and counts only where two have the same code.
    """
    systems = {run.name: run.manifest().target for run in (*written, *real)}
    if not all(systems.values()):
        return list(real)
    for without in ((), ("state",)):
        names = {
            run: repr(sorted((key, value) for key, value in (target or {}).items() if key not in without))
            for run, target in systems.items()
        }
        by_system = {names[run.name]: run for run in real}
        if len(by_system) == len(real) and by_system.keys() == {names[run.name] for run in written}:
            return [by_system[names[run.name]] for run in written]
    raise UsageError(
        f"the runs over the test set and those over other questions are not of the same {len(written)} systems",
        hint="ask each system, with the same code and settings, both kinds of questions",
    )


def _card(run: Run) -> TestSetCard:
    card = run.summary().test_set
    if card is None:
        raise UsageError(f"{run.name} is no test set that ragmeter has made")
    return card


def keep_card(run: Run, card: TestSetCard) -> Summary:
    """Write another card into a test set's summary."""
    with NewRun(on_disk(run.location, "the card of a test set"), inside=True) as new:
        return new.finish(run.manifest(), structs.replace(run.summary(), test_set=card)).summary()


def accepted(answers: Sequence[tuple[bool, bool, bool]]) -> Acceptance:
    """What people say of questions: would a user ask it, is the answer right, is it in the passage?"""
    good = sum(map(all, answers))
    no_user, wrong, not_there = (sum(not row[place] for row in answers) for place in range(3))
    rate = good / len(answers)
    return Acceptance(len(answers), good, rate, wilson_interval(good, len(answers)), no_user, wrong, not_there)


def _scores(runs: Sequence[Run], metric: str) -> Table:
    """The scores of all systems on the questions that each of them has: a row for each system."""
    by_qid = [dict(zip(run.column(QID).to_pylist(), run.scores(metric), strict=True)) for run in runs]
    qids = [qid for qid in by_qid[0] if all(qid in scores for scores in by_qid)]
    if not qids:
        raise UsageError(f"{', '.join(run.name for run in runs)} have no question in common")
    return np.array([[scores[qid] for qid in qids] for scores in by_qid])


def _mean(scores: Table) -> Table:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a system without any score in a resample has no mean
        means: Table = np.nanmean(scores, axis=1)
    return means


def _resampled(scores: Table, rng: np.random.Generator) -> Table:
    return scores[:, rng.integers(scores.shape[1], size=scores.shape[1])]


def _halves(scores: Table, rng: np.random.Generator) -> float:
    """Tau of two halves of the questions."""
    order, half = rng.permutation(scores.shape[1]), scores.shape[1] // 2
    return tau(_mean(scores[:, order[:half]]), _mean(scores[:, order[half : 2 * half]])) if half else float("nan")


def tau(a: Table, b: Table) -> float:
    """Kendall's tau-b of two lists of figures; NaN where one of them has a single value."""
    first, second = np.triu_indices(len(a), 1)
    signs_a, signs_b = np.sign(a[first] - a[second]), np.sign(b[first] - b[second])
    pairs = np.sqrt(np.sum(signs_a**2) * np.sum(signs_b**2))
    return float(np.sum(signs_a * signs_b) / pairs) if pairs > 0 else float("nan")


def _interval(values: Sequence[float]) -> Interval | None:
    finite = np.array(values)[np.isfinite(values)]
    return (float(np.quantile(finite, 0.025)), float(np.quantile(finite, 0.975))) if len(finite) else None


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _of_family(writer: str | None, runs: Sequence[Run]) -> list[str]:
    """The runs whose system or judge is of the model family that has written the questions."""
    own = _family(writer)
    names = []
    for run in runs:
        manifest = run.manifest()
        models = [manifest.judge_model, str((manifest.target or {}).get("model") or "")]
        if own and own in map(_family, models):
            names.append(run.name)
    return names


def _family(model: str | None) -> str:
    """The family of a model: `gpt` of `openai:gpt-4o`, `qwen` of `Qwen/Qwen2.5-7B`."""
    name = re.split(r"[/:]", (model or "").casefold())[-1]
    match = _FAMILY.search(name)
    return match[0] if match else ""
