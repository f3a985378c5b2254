"""Which runs' answers does a language model prefer, question by question? Of several, their ratings by all pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragmeter.analysis.comparing.difference import Difference, PairedScores, Settings, difference_of
from ragmeter.analysis.comparing.ranking import Ranking, ranked
from ragmeter.analysis.comparing.row_pairs import cluster_column, pair
from ragmeter.analysis.comparing.systems import Systems, open_systems
from ragmeter.documents.comparison import DIFFERENT
from ragmeter.documents.record import Interval
from ragmeter.engine.evaluation import evaluate
from ragmeter.engine.results import Evaluation
from ragmeter.errors import UsageError
from ragmeter.io.progress import Progress
from ragmeter.io.write import RUNS
from ragmeter.runs.lookup import RunLike
from ragmeter.runs.run import Run
from ragmeter.stats.bradley_terry import rate
from ragmeter.stats.clusters import cluster_codes
from ragmeter.stats.confidence import AUTO, RANDOMISATION, Confidence
from ragmeter.table import QID, NewRow

if TYPE_CHECKING:
    from ragmeter.judges.asking.judge import Judge

#: Of several runs: the columns that say which two a row is of, and which question or cluster of questions.
_BEFORE, _AFTER, _UNIT = "before", "after", "unit"
#: Elo's scale, which people know: 400 points are odds of ten to one, and the average is 1,000.
_POINTS, _AVERAGE = 400 / np.log(10), 1_000


@dataclass(frozen=True)
class Order:
    """Several runs in the order of their ratings, with intervals that hold all at once, as the ranking's groups do.

    `next_pair` are the two about which more questions would make the order clearest; None if it is clear.
    """

    ranking: Ranking
    intervals: dict[str, Interval]
    next_pair: tuple[str, str] | None
    pairs_asked: list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Preference(Evaluation):
    """What `prefer()` returns: the evaluation of the metric `preference`, and whether its mean is one half by chance.

    `test` is made of the win rate less one half, of whole clusters where the runs have clusters: its `p` is that of a
    sign-flip test. More than two runs have an order in its place.
    """

    test: Difference | None = field(kw_only=True)
    order: Order | None = field(kw_only=True, default=None)

    @property
    def p(self) -> float | None:
        """The p-value of a win rate of one half, not corrected for other tests; None for fewer than two questions."""
        return None if self.test is None else self.test.p


def prefer(
    before: RunLike,
    after: RunLike,
    *others: RunLike,
    judge: Judge,
    baseline: RunLike | None = None,
    all_pairs: bool = False,
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
    are kept in `output_dir`. More runs are rated by their wins, each beside the baseline or each beside each other.

    Args:
        before: what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
        after: the run to compare it with, likewise.
        others: more runs, for an order of all.
        judge: the language model to ask.
        baseline: of more than two runs, the one that is beside each other; by default the oldest.
        all_pairs: of more than two runs, ask about each pair.
        retry_failed: ask again about questions with no score.
        run: a name to keep the result under, as a run.
        interval: the method of intervals, "auto" or as for `evaluate()`.
        cluster: the column that groups dependent rows, None, or "auto": as in a comparison of the runs.
        level: the confidence level of intervals.
        alpha: the significance level of the test against one half.
        seed: the seed of random draws.
        draws: the number of random draws of the test, or of the bootstrap.
        output_dir: the folder of runs.
        progress: True shows a bar; a function is called with each number of questions that are done.
    """
    systems = open_systems([before, after, *others], baseline, output_dir)
    rows, column = paired_answers(systems, cluster, all_pairs=all_pairs)
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
    confidence = Confidence(interval, column, level, seed, draws)
    test = order = None
    if len(systems.runs) == 2:
        test = _against_one_half(evaluation.run, Settings(confidence, RANDOMISATION, alpha))
    else:
        order = _order(evaluation.run, systems.labels, confidence)
    return Preference(evaluation.run, evaluation.embeddings, evaluation.judging, test=test, order=order)


def _order(run: Run, labels: list[str], confidence: Confidence) -> Order:
    """The order of several runs by the wins of each, a tie as half a win."""
    table, scores = run.rows([_BEFORE, _AFTER, _UNIT]), run.scores("preference")
    scored = np.flatnonzero(~np.isnan(scores))
    places = {name: place for place, name in enumerate(labels)}
    before, after = (
        np.array([places[name] for name in table[column].to_pylist()])[scored] for column in (_BEFORE, _AFTER)
    )
    played = np.eye(len(labels))
    np.add.at(played, (np.concatenate([before, after]), np.concatenate([after, before])), 1)
    if not np.linalg.matrix_power(played, len(labels)).all():  # some are not linked, by however many others
        raise UsageError("the judge gave no verdict on the answers of some run", hint="ask again, or leave it out")
    units = np.unique(cluster_codes(table[_UNIT].combine_chunks())[scored], return_inverse=True)[1]
    wins = np.zeros((int(units.max()) + 1, len(labels), len(labels)))
    np.add.at(wins, (units, after, before), scores[scored])
    np.add.at(wins, (units, before, after), 1 - scores[scored])
    rated = rate(wins, confidence.level, confidence.draws, confidence.seed)
    ratings = dict(zip(labels, (_AVERAGE + _POINTS * rated.strengths).tolist(), strict=True))
    widths = dict(zip(labels, (_POINTS * rated.half_widths).tolist(), strict=True))
    ranking = ranked("preference", "higher", ratings, {(labels[a], labels[b]): DIFFERENT for a, b in rated.apart})
    assert ranking is not None  # noqa: S101 - every run has a rating
    return Order(
        ranking,
        {name: (rating - widths[name], rating + widths[name]) for name, rating in ratings.items()},
        None if rated.next_pair is None else (labels[rated.next_pair[0]], labels[rated.next_pair[1]]),
        list(dict.fromkeys((labels[a], labels[b]) for a, b in zip(before.tolist(), after.tolist(), strict=True))),
    )


def paired_answers(
    systems: Systems, cluster: str | None = AUTO, *, all_pairs: bool = False
) -> tuple[list[NewRow], str | None]:
    """The rows that two runs share, with the answer of the later one and, as `other_answer`, that of the earlier.

    Also the column that clusters them, which is among theirs; None for independent rows. Of more than two runs, the
    rows of each pair follow those of the one before, with qids of their own, and are clustered by question at least.
    """
    column, _ = cluster_column(systems.runs, systems.labels, Confidence(cluster=cluster))
    if len(systems.runs) == 2:
        return _of_two(systems.runs[0], systems.runs[1], column), column
    rows = []
    for earlier, later in systems.all_pairs if all_pairs else systems.with_baseline:
        before, after = systems.labels[earlier], systems.labels[later]
        for row in _of_two(systems.runs[earlier], systems.runs[later], column):
            unit = row.get(column or QID) or row[QID]
            rows.append({**row, QID: f"{before} / {after} / {row[QID]}", _BEFORE: before, _AFTER: after, _UNIT: unit})
    return rows, _UNIT


def _of_two(earlier: Run, later: Run, column: str | None) -> list[NewRow]:
    """The rows of two runs, with the column that clusters them."""
    pairing = pair(earlier, later)
    if not len(pairing):
        raise UsageError(f"{earlier.name} and {later.name} have no question in common", hint="rows are paired by qid")
    names = [name for name in (QID, "question", "reference", "answer") if name in later.columns]
    rows = later.records(pairing.b.tolist(), names)
    others = earlier.records(pairing.a.tolist(), ["answer"])
    paired = [{**row, "other_answer": other["answer"]} for row, other in zip(rows, others, strict=True)]
    if column is None or column == QID:
        return paired
    run, places = (earlier, pairing.a) if column in earlier.texts else (later, pairing.b)
    values = run.column(column).take(places).to_pylist()
    return [{**row, column: value} for row, value in zip(paired, values, strict=True)]


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
