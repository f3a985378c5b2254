"""Compare a judge with people's labels, and estimate the accuracy that people would find on all rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import ragmeter
from ragmeter.analysis.people.claims import Claims
from ragmeter.analysis.people.label_matching import (
    RANDOM,
    UNKNOWN,
    WEIGHTED,
    Counts,
    Design,
    Matched,
    labelled_claims,
    match,
    match_claims,
)
from ragmeter.analysis.people.labels import SUPPORTED, UNSUPPORTED, read_labels
from ragmeter.analysis.people.verdicts import Answers, read_columns, verdicts
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import option, parameter
from ragmeter.io.locations import on_disk
from ragmeter.io.source import Reading
from ragmeter.io.write import RUNS, dumps, replacing
from ragmeter.runs.finding import RunLike, find_run
from ragmeter.runs.places import hold_for
from ragmeter.runs.temporary import TemporaryRun
from ragmeter.show.numbers import given, interval, number, percent
from ragmeter.show.sentences import calibration as words
from ragmeter.show.sentences.metrics import bracketed
from ragmeter.show.tabular import Tabular, arrow_table, ends, html_lines, html_table
from ragmeter.stats.agreement import (
    Alpha,
    Estimate,
    cohens_kappa,
    confusion,
    krippendorff_alpha,
    pairwise_agreement,
    rate,
    sensitivity_specificity,
)
from ragmeter.stats.corrected import Powered, labels_alone, ppi_mean, ppi_weighted, rogan_gladen
from ragmeter.stats.design import Drawn
from ragmeter.stats.intervals import within
from ragmeter.table import Scores

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
class AgainstPeople:
    """The judge's verdicts compared with people's, on the rows that have both."""

    both_correct: int
    judge_alone_correct: int
    people_alone_correct: int
    both_wrong: int
    agreement: Estimate
    kappa: Estimate
    sensitivity: Estimate
    specificity: Estimate


@dataclass(frozen=True)
class Calibration(Tabular):
    """How well a judge agrees with labels, and its corrected accuracy. `n_scored` rows have a verdict.

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

    @property
    def kinds(self) -> tuple[str, str]:
        """What people call what they label: a good one, and a bad one."""
        return ("correct", "wrong") if self.unit == "answer" else (SUPPORTED, UNSUPPORTED)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"ragmeter": ragmeter.__version__, **asdict(self)}

    def keep(self, run: RunLike, output_dir: str | Path = RUNS) -> Path:
        """Write it into the run's folder."""
        folder = find_run(run, output_dir)
        if isinstance(folder, TemporaryRun):
            raise UsageError(
                "this run was not kept, so it has no folder",
                hint=f"evaluate it with {option('run')}, or use write(path)",
            )
        path = on_disk(folder.place, "keeping a calibration") / CALIBRATION
        self.write(path)
        return path

    def write(self, path: str | Path) -> None:
        """Write it to a file, as JSON."""
        with hold_for(Path(path), "keeps a calibration"), replacing(Path(path)) as (temporary,):
            temporary.write_text(dumps(self.as_dict(), indent=2) + "\n", encoding="utf-8")

    def estimates(self) -> dict[str, Estimate]:
        """All estimates: first of the accuracy, then of the judge's agreement with people."""
        accuracy = "accuracy" if self.unit == "answer" else self.metric
        return {
            f"{accuracy} people would find": self.corrected,
            f"{self.metric}, as it is": self.raw,
            f"{accuracy} of the labels alone": self.labels_alone,
            f"{accuracy} by Rogan–Gladen": self.rogan_gladen,
            "agreement with people": self.judge.agreement,
            "Cohen's kappa": self.judge.kappa,
            "sensitivity": self.judge.sensitivity,
            "specificity": self.judge.specificity,
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

    `run` is what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`. `labels` is a file as `ragmeter
    label` writes it, a list of such files, a list of dicts, or a frame; `metric` may be left out if the run has one
    metric of 0 and 1. With `threshold`, any metric is a verdict. `encoding`, `quotes` and `delimiter` are for reading
    the files of labels.
    """
    if not 0 < level < 1:
        raise UsageError(f"{parameter('level')} must be between 0 and 1, got {given(level)}")
    run = find_run(run, output_dir)
    lines = read_labels(labels, Reading(encoding, quotes, delimiter))
    columns = read_columns(run, ["qid", "session_id"])
    claims = labelled_claims(run, lines, metric)
    if claims is None:
        name, judge = verdicts(run, metric, threshold)
        matched = match(lines, columns["qid"], Answers(run))
    else:
        if threshold is not None:
            raise UsageError(f"{parameter('threshold')} has no effect on labels of claims", hint="leave it out")
        name, judge = claims.metric, claims.supported
        matched = match_claims(lines, claims)
    if not matched.counts.labelled:
        raise InputError("nothing is labelled yet", hint="fill in the column `label`: correct or wrong")
    scored = ~np.isnan(judge)
    labelled = judge[matched.places]
    if np.isnan(labelled).all():
        raise InputError(
            f"{name} has no score on any labelled row", hint=f"choose another metric with {option('metric')}"
        )
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
        raw=rate(int(judge[scored].sum()), int(scored.sum()), level) if claims is None else claims.mean(level),
        clustered=_clustered(columns["session_id"]),
        unit="answer" if claims is None else "claim",
        **_estimates(matched, judge, level, claims),
    )
    return replace(
        calibration,
        warnings=tuple(_warnings(calibration)),
        sentence=words.corrected_sentence(name, calibration.corrected, calibration.raw, level, calibration.unit),
    )


def _estimates(matched: Matched, judge: Scores, level: float, claims: Claims | None) -> dict[str, Any]:
    """The estimates that depend on how the labelled rows were sampled."""
    labelled, scored = judge[matched.places], judge[~np.isnan(judge)]
    judged = ~np.isnan(labelled)
    people, by_judge = matched.people[judged], labelled[judged]
    if matched.design.empty:
        return _undefined(people, by_judge, words.unlabelled_strata(matched.design.empty))
    mean, rows = float(scored.mean()), len(scored)
    if claims is None and matched.design.kind in (RANDOM, UNKNOWN):
        agreement = rate(int((people == by_judge).sum()), len(people), level)
        kappa = cohens_kappa(confusion(by_judge, people), level)
        sensitivity, specificity = sensitivity_specificity(by_judge, people, level)
        by_labels = labels_alone(None, people, level)
        powered, worth = _from_random(matched, judge, level), (sensitivity.n, specificity.n)
    else:
        if claims is None:
            drawn = _drawn(matched.design, len(judge))
            powered = ppi_weighted(drawn, matched.people, labelled, scored, level) if np.ptp(people) else None
            part = drawn.part(judged)
        else:
            mean, rows = float(claims.of_rows.mean()), len(claims.of_rows)
            part = claims.drawn(matched.places)
            powered = claims.powered(matched.places, people, level) if np.ptp(people) else None
        agreement = part.share(by_judge == people, np.ones(len(people), dtype=np.bool_), level, of="labels")
        kappa = part.kappa(by_judge, people, level)
        sensitivity, specificity = (
            part.share(by_judge == verdict, people == verdict, level, of=f"answers that people call {word}")
            for verdict, word in ((1, "correct"), (0, "wrong"))
        )
        by_labels = labels_alone(part, people, level)
        worth = part.worth_of(sensitivity, people == 1), part.worth_of(specificity, people == 0)
    return {
        "judge": _against(people, by_judge, agreement, kappa, sensitivity, specificity),
        "labels_alone": by_labels,
        "corrected": by_labels if powered is None else _within(powered.estimate),
        "judge_weight": None if powered is None else powered.weight,
        "effective_labels": None if powered is None else powered.effective_labels,
        "rogan_gladen": rogan_gladen(mean, rows, sensitivity, specificity, level, worth=worth),
    }


def _from_random(matched: Matched, judge: Scores, level: float) -> Powered | None:
    """The tuned estimate from labelled and unlabelled rows; None if all rows are labelled or all labels are equal."""
    labelled = judge[matched.places]
    judged = ~np.isnan(labelled)
    unlabelled = judge.copy()
    unlabelled[matched.places] = np.nan
    unlabelled = unlabelled[~np.isnan(unlabelled)]
    people = matched.people[judged]  # if they are all equal, the judge's error can't be estimated
    return ppi_mean(people, labelled[judged], unlabelled, level) if len(unlabelled) and np.ptp(people) else None


def _drawn(design: Design, rows: int) -> Drawn:
    if design.kind == WEIGHTED:
        return Drawn.weighted(design.weights, rows)
    return Drawn.stratified(design.strata, design.sizes)


def _undefined(people: Scores, judge: Scores, reason: str) -> dict[str, Any]:
    undefined = Estimate.none(reason, len(people))
    return {
        "judge": _against(people, judge, *[undefined] * 4),
        "labels_alone": undefined,
        "corrected": undefined,
        "judge_weight": None,
        "effective_labels": None,
        "rogan_gladen": undefined,
    }


def _against(
    people: Scores, judge: Scores, agreement: Estimate, kappa: Estimate, sensitivity: Estimate, specificity: Estimate
) -> AgainstPeople:
    both_correct, judge_alone, people_alone, both_wrong = (
        int(((judge == by_judge) & (people == by_people)).sum())
        for by_judge, by_people in ((1, 1), (1, 0), (0, 1), (0, 0))
    )
    counts = (both_correct, judge_alone, people_alone, both_wrong)
    return AgainstPeople(*counts, agreement, kappa, sensitivity, specificity)


def between_people(matched: Matched, level: float) -> BetweenPeople:
    """How well the people agree whose labels were matched; of exactly two also Cohen's kappa."""
    agreement, pairs = pairwise_agreement(matched.ratings)
    kappa = None
    if len(matched.raters) == 2:
        first, second = matched.ratings[:, ~np.isnan(matched.ratings).any(axis=0)]
        kappa = cohens_kappa(confusion(first, second), level)
    return BetweenPeople(krippendorff_alpha(matched.ratings), agreement, pairs, kappa)


def _within(estimate: Estimate) -> Estimate:
    """The estimate clipped to the range from 0 to 1."""
    assert estimate.value is not None  # noqa: S101 - PPI always has one
    return replace(estimate, value=min(1.0, max(0.0, estimate.value)), interval=within(estimate.interval, (0.0, 1.0)))


def _clustered(sessions: Sequence[str | None]) -> bool:
    """Whether a conversation has several rows."""
    ids = [session for session in sessions if session is not None]
    return len(set(ids)) < len(ids)


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
    if result.clustered:
        yield words.CLUSTERED


def _judge_warnings(result: Calibration) -> Iterator[str]:
    judge = result.judge
    for share, kind in zip((judge.sensitivity, judge.specificity), result.kinds, strict=True):
        if share.n == 0:
            yield words.NONE_OF_A_KIND.format(kind=kind, unit=result.unit)
        elif share.value is not None and share.n < _FEW_OF_A_KIND:
            yield words.FEW_OF_A_KIND.format(n=share.n, kind=kind, unit=result.unit)
    kappa = judge.kappa.interval or (judge.kappa.value,)
    if kappa[0] is not None and kappa[0] <= 0:
        yield words.NO_BETTER_THAN_CHANCE
    wrong = judge.judge_alone_correct + judge.people_alone_correct
    n = wrong + judge.both_correct + judge.both_wrong
    if wrong == 0 and result.judge_weight is not None:
        yield words.always_agrees(n)
    elif result.effective_labels is not None and result.effective_labels < n / (1 - _NARROWER) ** 2:
        yield words.NOT_NARROWER
