"""How much a system's answers vary when it is asked the same question again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from ragmeter.errors import UsageError
from ragmeter.hints import option
from ragmeter.io.write import RUNS
from ragmeter.runs.lookup import RunLike, find_run
from ragmeter.runs.run import Run
from ragmeter.stats.agreement import Estimate
from ragmeter.stats.clusters import cluster_codes
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.repeats import Components, components, pass_rates
from ragmeter.table import QID

#: Of many repeats, pass rates for these numbers of answers and for all.
_SHOWN = (1, 2, 3, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class PassRate:
    """The chance that one of k answers is right (`any`), and that all are (`all`)."""

    k: int
    any: Estimate
    all: Estimate


@dataclass(frozen=True)
class MetricRepeats:
    """A metric's variances within and between questions; `passes` for metrics of 0 and 1 alone."""

    mean: float | None
    variances: Components
    passes: list[PassRate]


@dataclass(frozen=True)
class Repeats:
    """A run whose questions were asked several times. `same_answers`: questions that got the same answer each time."""

    run: str
    repeats: int
    n_questions: int
    same_answers: int
    level: float
    metrics: dict[str, MetricRepeats]

    def as_dict(self) -> dict[str, Any]:
        """The result as a dict for JSON."""
        document = asdict(self)
        for name, result in self.metrics.items():
            document["metrics"][name]["variances"]["share_within"] = result.variances.share_within
        return document


def repeats(run: RunLike, *, level: float = 0.95, output_dir: str | Path = RUNS) -> Repeats:
    """How much the answers of a run vary, whose questions were each asked several times (`ask(..., repeats=5)`).

    For each metric the variance within and between questions; for metrics of 0 and 1 also pass@k and pass^k: the chance
    that one of k answers is right, and that all are. Rows without a score are left out; every estimate has its n.

    Args:
        run: what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
        level: the confidence level of intervals.
        output_dir: the folder of runs.
    """
    stored = find_run(run, output_dir)
    if not stored.manifest().repeats:
        raise UsageError(
            f"{stored.name}: each question was asked once", hint=f"ask it again with {option('repeats', 5)}"
        )
    Confidence(level=level)  # refuses a level that is none
    codes = cluster_codes(stored.column(QID))
    times = int(np.bincount(np.unique(codes, return_inverse=True)[1]).max(initial=0))
    shown = [k for k in range(1, times + 1) if k in _SHOWN or k == times]
    results = {}
    for name, measure in stored.measures.items():
        scores = stored.scores(name)
        rates = [(k, *pass_rates(scores, codes, k, level)) for k in shown] if measure.binary else []
        scored = scores[~np.isnan(scores)]
        mean = float(scored.mean()) if len(scored) else None
        results[name] = MetricRepeats(mean, components(scores, codes), [PassRate(*rate) for rate in rates])
    questions = len(np.unique(codes))
    return Repeats(stored.name, times, questions, _same(stored), level, results)


def _same(run: Run) -> int:
    """How many questions got one and the same answer each time, all of them."""
    if "answer" not in run.texts:
        return 0
    table = run.rows([QID, "answer"]).group_by(QID)
    counts = table.aggregate([("answer", "count_distinct"), ("answer", "count"), (QID, "count")])
    whole = pc.equal(counts["answer_count"], counts[f"{QID}_count"])
    return int(pc.sum(pc.and_(whole, pc.equal(counts["answer_count_distinct"], 1))).as_py() or 0)
