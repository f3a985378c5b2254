"""Which of two runs' answers does a language model prefer, question by question?"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragmeter.analysis.comparing.difference import Difference, PairedScores, Settings, difference_of
from ragmeter.analysis.comparing.row_pairs import cluster_column, pair
from ragmeter.engine.evaluation import evaluate
from ragmeter.engine.results import Evaluation
from ragmeter.errors import UsageError
from ragmeter.io.progress import Progress
from ragmeter.io.write import RUNS
from ragmeter.runs.lookup import RunLike, find_runs, run_labels
from ragmeter.runs.run import Run
from ragmeter.stats.confidence import AUTO, RANDOMISATION, Confidence
from ragmeter.table import QID, NewRow

if TYPE_CHECKING:
    from ragmeter.judges.asking.judge import Judge


@dataclass(frozen=True, eq=False)
class Preference(Evaluation):
    """What `prefer()` returns: the evaluation of the metric `preference`, and whether its mean is one half by chance.

    `test` is made of the win rate less one half, of whole clusters where the runs have clusters: its `p` is that of a
    sign-flip test.
    """

    test: Difference = field(kw_only=True)

    @property
    def p(self) -> float | None:
        """The p-value of a win rate of one half, not corrected for other tests; None for fewer than two questions."""
        return self.test.p


def prefer(
    before: RunLike,
    after: RunLike,
    *,
    judge: Judge,
    retry_failed: bool = False,
    run: str | None = None,
    interval: str = AUTO,
    cluster: str | None = AUTO,
    level: float = 0.95,
    alpha: float = 0.05,
    seed: int = 0,
    draws: int = 9_999,
    output_dir: str | Path = RUNS,
    progress: Progress = None,
) -> Preference:
    """Ask a judge about every question that two runs share which answer is better, in both orders.

    The mean of `preference` is the win rate of `after`, with its interval; a tie counts one half. The judge's replies
    are kept in `output_dir`.

    Args:
        before: what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
        after: the run to compare it with, likewise.
        judge: the language model to ask.
        retry_failed: ask again about questions with no score.
        run: a name to keep the result under, as a run.
        interval: the method of intervals, "auto" or as for `evaluate()`.
        cluster: the column that groups dependent rows, None, or "auto": as in a comparison of the runs.
        level: the confidence level of intervals.
        alpha: the significance level of the test against one half.
        seed: the seed of random draws.
        draws: the number of random draws of the test.
        output_dir: the folder of runs.
        progress: True shows a bar; a function is called with each number of questions that are done.
    """
    rows, column = paired_answers(before, after, output_dir, cluster)
    evaluation = evaluate(
        rows,
        metrics="preference",
        judge=judge,
        retry_failed=retry_failed,
        run=run,
        interval=interval,
        cluster=column,
        level=level,
        seed=seed,
        output_dir=output_dir,
        progress=progress,
    )
    settings = Settings(Confidence(interval, column, level, seed, draws), RANDOMISATION, alpha)
    tested = _against_one_half(evaluation.run, settings)
    return Preference(evaluation.run, evaluation.embeddings, evaluation.judging, test=tested)


def paired_answers(
    before: RunLike, after: RunLike, output_dir: str | Path = RUNS, cluster: str | None = AUTO
) -> tuple[list[NewRow], str | None]:
    """The rows that two runs share, with the answer of the later one and, as `other_answer`, that of the earlier.

    Also the column that clusters them, which is among theirs; None for independent rows.
    """
    runs = earlier, later = find_runs([before, after], output_dir)
    pairing = pair(earlier, later)
    if not len(pairing):
        raise UsageError(f"{earlier.name} and {later.name} have no question in common", hint="rows are paired by qid")
    column, _ = cluster_column(runs, run_labels(runs), Confidence(cluster=cluster))
    names = [name for name in (QID, "question", "reference", "answer") if name in later.columns]
    rows = later.records(pairing.b.tolist(), names)
    others = earlier.records(pairing.a.tolist(), ["answer"])
    paired = [{**row, "other_answer": other["answer"]} for row, other in zip(rows, others, strict=True)]
    if column is None or column == QID:
        return paired, column
    run, places = (earlier, pairing.a) if column in earlier.texts else (later, pairing.b)
    values = run.column(column).take(places).to_pylist()
    return [{**row, column: value} for row, value in zip(paired, values, strict=True)], column


def _against_one_half(run: Run, settings: Settings) -> Difference:
    """The difference of the win rate from one half."""
    preferred = run.scores("preference")
    scores = PairedScores(
        measure=run.measure("preference"),
        a=np.full(len(preferred), 0.5),
        b=preferred,
        codes=run.clusters(settings.confidence)[1],
        limits=(-0.5, 0.5),
        margin=None,
    )
    return difference_of(scores.part(scores.scored), settings)
