"""Compare a judge with people's labels, and estimate the accuracy that people would find on all rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import ragmeter
from ragmeter.analysis.people.claim_items import Claims
from ragmeter.analysis.people.estimates import AgainstPeople, estimates_of, of_wrong
from ragmeter.analysis.people.label_matches import (
    UNKNOWN,
    Counts,
    Matched,
    labelled_claims,
    match,
    match_claims,
)
from ragmeter.analysis.people.labels import SUPPORTED, UNSUPPORTED, Label, read_labels
from ragmeter.analysis.people.verdicts import Answers, counts_wrong, read_columns, verdicts
from ragmeter.documents.metrics import FEW_ROWS
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import option, parameter
from ragmeter.io.locations import on_disk
from ragmeter.io.reading import Reading
from ragmeter.io.tabular import Tabular, arrow_table, ends, html_lines, html_table
from ragmeter.io.write import RUNS, dumps, replacing
from ragmeter.runs.lookup import RunLike, find_run
from ragmeter.runs.places import hold_for
from ragmeter.runs.run import Run
from ragmeter.runs.temporary_run import TemporaryRun
from ragmeter.stats.agreement import (
    Alpha,
    Estimate,
    cohens_kappa,
    confusion,
    krippendorff_alpha,
    pairwise_agreement,
)
from ragmeter.table import Scores
from ragmeter.wording import calibration as words
from ragmeter.wording.metrics import bracketed
from ragmeter.wording.numbers import given, interval, number, percent

CALIBRATION = "calibration.json"
_FEW, _FEW_OF_A_KIND = 100, 10
_MANY_SKIPPED = 0.1
#: The judge has made an interval narrower if the interval loses at least this share of its width.
_NARROWER = 0.02


@dataclass(frozen=True)
class BetweenPeople:
    """How well several people agree with each other."""

    alpha: Alpha
    agreement: float | None
    pairs: int
    kappa: Estimate | None


@dataclass(frozen=True)
class Calibration(Tabular):
    """How well a judge agrees with labels, and its corrected accuracy. `n_scored` rows have a verdict.

    Of a metric that `counts_wrong`, such as `offline_hallucinated`, the shares are those of what is wrong.
    Where claims were labelled, `unit` is "claim", and `n_rows` and `n_scored` are numbers of claims.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("estimates",)

    run: str
    metric: str
    threshold: float | None
    level: float
    n_rows: int
    n_scored: int
    n_unscored_labels: int
    design: str
    drawn_from: int | None
    empty_strata: tuple[str, ...]
    labels: Counts
    raters: tuple[str, ...]
    between_people: BetweenPeople | None
    judge: AgainstPeople
    raw: Estimate
    labels_alone: Estimate
    corrected: Estimate
    judge_weight: float | None
    effective_labels: float | None
    rogan_gladen: Estimate
    clustered: bool
    warnings: tuple[str, ...] = field(default=())
    sentence: str = ""
    unit: str = "answer"
    n_clusters: int | None = None
    counts_wrong: bool = False

    @property
    def share(self) -> str:
        """What the corrected value is a share of."""
        if self.unit == "claim":
            return self.metric
        return "share wrong" if self.counts_wrong else "accuracy"

    @property
    def kinds(self) -> tuple[str, str]:
        """The two labels that people give: for a good row or claim, and for a bad one."""
        return ("correct", "wrong") if self.unit == "answer" else (SUPPORTED, UNSUPPORTED)

    def as_dict(self) -> dict[str, Any]:
        """The calibration as a dict for JSON."""
        return {"ragmeter": ragmeter.__version__, **asdict(self)}

    def keep(self, run: RunLike, output_dir: str | Path = RUNS) -> Path:
        """Write it into the run's folder."""
        folder = find_run(run, output_dir)
        if isinstance(folder, TemporaryRun):
            raise UsageError(
                "this run was not kept, so it has no folder",
                hint=f"evaluate it with {option('run')}, or use write(path)",
            )
        path = on_disk(folder.location, "keeping a calibration") / CALIBRATION
        self.write(path)
        return path

    def write(self, path: str | Path) -> None:
        """Write it to a file, as JSON."""
        with hold_for(Path(path), "keeps a calibration"), replacing(Path(path)) as (temporary,):
            temporary.write_text(dumps(self.as_dict(), indent=2) + "\n", encoding="utf-8")

    def estimates(self) -> dict[str, Estimate]:
        """All estimates: first of the accuracy, then of the judge's agreement with people."""
        return {
            f"{self.share} people would find": self.corrected,
            f"{self.metric}, as it is": self.raw,
            f"{self.share} of the labels alone": self.labels_alone,
            f"{self.share} by Rogan–Gladen": self.rogan_gladen,
            "agreement with people": self.judge.agreement,
            "Cohen's kappa": self.judge.kappa,
            "sensitivity": self.judge.sensitivity,
            "specificity": self.judge.specificity,
            "precision": self.judge.precision,
        }

    def __repr__(self) -> str:
        lines = [f"{name}: {_short(estimate)}" for name, estimate in self.estimates().items()]
        return "\n".join([f"<Calibration of {self.run} by {self.metric}>", *lines, self.sentence])

    def _repr_html_(self) -> str:
        rows = [
            (name, estimate.undefined or number(estimate.value), interval(estimate.interval), f"{estimate.n:,}")
            for name, estimate in self.estimates().items()
        ]
        table = html_table(("estimate", "value", f"{percent(self.level)} interval", "n"), rows)
        return html_lines(f"{self.run}: {self.sentence}") + table + html_lines(*self.warnings)

    def _table(self, name: str) -> Any:
        records = []
        for title, estimate in self.estimates().items():
            details = {"n": estimate.n, "method": estimate.method}
            records.append({"estimate": title, "value": estimate.value, **ends(estimate.interval), **details})
        return arrow_table(records)


def _short(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"unknown, {estimate.undefined}"
    return bracketed(estimate.value, estimate.interval, f"{estimate.n:,}")


def calibrate(
    run: RunLike,
    labels: Any,
    *,
    metric: str | None = None,
    threshold: float | None = None,
    level: float = 0.95,
    output_dir: str | Path = RUNS,
    encoding: str | None = None,
    quotes: bool = True,
    delimiter: str | None = None,
) -> Calibration:
    """Compare a run's metric of 0 and 1 with people's labels, and correct its mean by them.

    Args:
        run: what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
        labels: a file as `ragmeter label` writes it, a list of such files, a list of dicts, or a frame.
        metric: the metric; may be left out if the run has one metric of 0 and 1.
        threshold: the score from which on any other metric says "correct".
        level: the confidence level of intervals.
        output_dir: the folder of runs.
        encoding: the encoding of the files of labels; by default UTF-8.
        quotes: whether quotation marks in these files quote.
        delimiter: the character between cells; by default the file's ending says which.
    """
    if not 0 < level < 1:
        raise UsageError(f"{parameter('level')} must be between 0 and 1, got {given(level)}")
    run = find_run(run, output_dir)
    lines = read_labels(labels, Reading(encoding, quotes, delimiter))
    claims = labelled_claims(run, lines, metric)
    name, judge, matched = _judged_and_labelled(run, lines, claims, metric, threshold)
    scored = ~np.isnan(judge)
    labelled = judge[matched.places]
    if np.isnan(labelled).all():
        raise InputError(
            f"{name} has no score on any labelled row", hint=f"choose another metric with {option('metric')}"
        )
    clusters = run.clusters(run.confidence)[1] if claims is None else None  # of claims, the rows are the clusters
    is_wrong = claims is None and counts_wrong(run, name, threshold)
    estimates = estimates_of(matched, judge, level, claims, clusters)
    if is_wrong:
        estimates = of_wrong(estimates)
    calibration = Calibration(
        run=run.name,
        metric=name,
        threshold=threshold,
        level=level,
        n_rows=len(judge),
        n_scored=int(scored.sum()),
        n_unscored_labels=int(np.isnan(labelled).sum()),
        design=matched.design.kind,
        drawn_from=matched.design.rows,
        empty_strata=matched.design.empty,
        labels=matched.counts,
        raters=matched.raters,
        between_people=between_people(matched, level) if len(matched.raters) > 1 else None,
        clustered=clusters is not None,
        n_clusters=None if clusters is None else len(np.unique(clusters[matched.places])),
        unit="answer" if claims is None else "claim",
        counts_wrong=is_wrong,
        **estimates,
    )
    return replace(
        calibration,
        warnings=tuple(_warnings(calibration)),
        sentence=words.corrected_sentence(
            name,
            calibration.corrected,
            calibration.raw,
            level,
            calibration.unit,
            counts_wrong=is_wrong,
            doubt=_doubt(calibration),
        ),
    )


def _judged_and_labelled(
    run: Run, lines: Sequence[Label], claims: Claims | None, metric: str | None, threshold: float | None
) -> tuple[str, Scores, Matched]:
    """The metric, its verdicts on the run's rows or claims, and the labels matched with these."""
    if claims is None:
        name, judge = verdicts(run, metric, threshold)
        matched = match(lines, read_columns(run, ["qid"])["qid"], Answers(run))
    else:
        if threshold is not None:
            raise UsageError(f"{parameter('threshold')} has no effect on labels of claims", hint="leave it out")
        name, judge = claims.metric, claims.supported
        matched = match_claims(lines, claims)
    if not matched.counts.labelled:
        raise InputError("nothing is labelled yet", hint="fill in the column `label`: correct or wrong")
    return name, judge, matched


def between_people(matched: Matched, level: float) -> BetweenPeople:
    """How well the people agree whose labels were matched; of exactly two also Cohen's kappa."""
    agreement, pairs = pairwise_agreement(matched.ratings)
    kappa = None
    if len(matched.raters) == 2:
        first, second = matched.ratings[:, ~np.isnan(matched.ratings).any(axis=0)]
        kappa = cohens_kappa(confusion(first, second), level)
    return BetweenPeople(krippendorff_alpha(matched.ratings), agreement, pairs, kappa)


def _warnings(result: Calibration) -> Iterator[str]:
    """The warnings about the labels, the rows they were sampled from, and the judge."""
    labels, n = result.labels, result.corrected.n or result.labels.labelled
    if n < _FEW:
        yield words.FEW_LABELS.format(n=n)
    if result.design == UNKNOWN:
        yield words.UNKNOWN_DESIGN
    if labels.changed:
        yield words.CHANGED_ANSWERS.format(n=labels.changed)
    if labels.skipped > _MANY_SKIPPED * (labels.labelled + labels.skipped):
        yield words.MANY_SKIPPED.format(n=labels.skipped)
    if labels.tied:
        yield words.TIED.format(n=labels.tied)
    if result.n_unscored_labels:
        yield words.UNSCORED_LABELS.format(n=result.n_unscored_labels, metric=result.metric)
    yield from _row_warnings(result)
    yield from _judge_warnings(result)


def _row_warnings(result: Calibration) -> Iterator[str]:
    total, scored, drawn = result.n_rows, result.n_scored, result.drawn_from
    if drawn in (None, scored) and scored < total:
        yield words.UNSCORED_ROWS.format(n=total - scored, total=total, metric=result.metric)
    if drawn is not None and drawn not in (total, scored):
        yield words.DRAWN_FROM_OTHERS.format(drawn=drawn, total=total, scored=scored)
    if result.n_clusters is not None and result.n_clusters < FEW_ROWS:
        yield words.FEW_CLUSTERS.format(n=result.n_clusters)


def _judge_warnings(result: Calibration) -> Iterator[str]:
    judge = result.judge
    for share, kind in zip((judge.sensitivity, judge.specificity), result.kinds, strict=True):
        if share.n == 0:
            yield words.NONE_OF_A_KIND.format(kind=kind, unit=result.unit)
        elif share.value is not None and share.n < _FEW_OF_A_KIND:
            yield words.FEW_OF_A_KIND.format(n=share.n, kind=kind, unit=result.unit)
    wrong = judge.judge_alone_correct + judge.people_alone_correct
    n = wrong + judge.both_correct + judge.both_wrong
    if wrong == 0 and result.judge_weight is not None:
        yield words.always_agrees(n)
    elif result.effective_labels is not None and result.effective_labels < n / (1 - _NARROWER) ** 2:
        yield words.NOT_NARROWER


def _doubt(result: Calibration) -> str:
    """Why nothing can be told from the judge's verdicts; an empty text where they agree with people beyond chance."""
    kappa = result.judge.kappa.interval or (result.judge.kappa.value,)
    if kappa[0] is None or kappa[0] > 0:
        return ""
    return words.NO_BETTER_THAN_CHANCE if kappa[-1] is None or kappa[-1] >= 0 else words.WORSE_THAN_CHANCE
