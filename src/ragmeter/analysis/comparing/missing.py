"""What a verdict does not rest on: a metric that one run lacks, and rows that have a score in one run alone."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ragmeter.analysis.comparing.comparison import MetricDifference
from ragmeter.analysis.comparing.row_pairs import Pairing, Rows
from ragmeter.runs.run import Run
from ragmeter.wording.causes import answers_sentence
from ragmeter.wording.metrics import headline_metric
from ragmeter.wording.verdicts import declined_besides, metric_missing, rows_unscored


def missing_metric(a: Run, b: Run, labels: tuple[str, str]) -> str:
    """Which run lacks the metric that the other one is judged by, and why; an empty text where neither does."""
    for run, other, label in ((a, b, labels[1]), (b, a, labels[0])):
        headline = headline_metric(run.metrics())
        if headline in run.measures and headline not in other.measures:
            return metric_missing(headline, label, answers_sentence(other.summary().answers, other.n_rows))
    return ""


def unscored_rows(a: Run, b: Run, pairing: Pairing, metric: str, result: MetricDifference) -> str:
    """How many pairs lack a score by this metric in one run alone; an empty text without any, and without a verdict."""
    if result.difference is None:
        return ""
    in_a, in_b = (~np.isnan(run.scores(metric)[rows]) for run, rows in ((a, pairing.a), (b, pairing.b)))
    lacking = {"baseline": result.scored_only_b, "candidate": result.scored_only_a}
    unanswered = _unanswered(a, pairing.a[in_b & ~in_a]) and _unanswered(b, pairing.b[in_a & ~in_b])
    unit = "questions" if result.n == result.n_questions else "answers"
    return rows_unscored(result.n, len(pairing), lacking, "answer" if unanswered else "score", unit)


def _unanswered(run: Run, rows: Rows) -> bool:
    """Whether none of these rows has an answer."""
    if "answer" not in run.columns:
        return not len(rows)
    answers = run.rows(["answer"])["answer"].take(pa.array(rows))
    return int(answers.null_count) == len(rows)


def declined_besides_right(a: Run, b: Run, pairing: Pairing, headline: str) -> str:
    """How many answers of each run rightly decline and are not right by the headline metric, where that has changed.

    Rows that only one run has a score for are left out: in the other they may be among the right ones.
    """
    runs = ((a, pairing.a), (b, pairing.b))
    scores = [run.scores(headline)[rows] for run, rows in runs]
    is_alike = np.isnan(scores[0]) == np.isnan(scores[1])
    before, after = (
        int((run.rightly_declined()[rows] & (of_run != 1) & is_alike).sum())
        for (run, rows), of_run in zip(runs, scores, strict=True)
    )
    return declined_besides(headline, before, after)
