"""A judge against people: how often it is right, and what people would say of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import ragmeter
from ragmeter.analysis.people.cautions import cautions
from ragmeter.analysis.people.labels import read_labels
from ragmeter.analysis.people.matching import RANDOM, UNKNOWN, WEIGHTED, Counts, Design, Matched, match
from ragmeter.analysis.people.verdicts import Answers, read_columns, verdicts
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import option, parameter
from ragmeter.io.source import Reading
from ragmeter.io.write import RUNS, dumps, replacing
from ragmeter.runs.finding import RunLike, find_run
from ragmeter.runs.temporary import TemporaryRun
from ragmeter.show.numbers import given, interval, number, percent
from ragmeter.show.sentences.calibration import corrected_sentence, unlabelled_strata
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


@dataclass(frozen=True)
class BetweenPeople:
    """How far several people agree among themselves."""

    alpha: Alpha
    agreement: float | None
    pairs: int
    kappa: Estimate | None


@dataclass(frozen=True)
class AgainstPeople:
    """The judge's verdicts beside people's, on the rows that have both."""

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
    """What labels say of a judge, and of the accuracy behind its verdicts. `n_scored` rows have a verdict."""

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
        path = folder.path / CALIBRATION
        self.write(path)
        return path

    def write(self, path: str | Path) -> None:
        """Write it to a file, as JSON."""
        with replacing(Path(path)) as (beside,):
            beside.write_text(dumps(self.as_dict(), indent=2) + "\n", encoding="utf-8")

    def estimates(self) -> dict[str, Estimate]:
        """Everything that was estimated, the accuracy first and then how far the judge can be trusted."""
        return {
            "accuracy people would find": self.corrected,
            f"{self.metric}, as it is": self.raw,
            "accuracy of the labels alone": self.labels_alone,
            "accuracy by Rogan–Gladen": self.rogan_gladen,
            "agreement with people": self.judge.agreement,
            "Cohen's kappa": self.judge.kappa,
            "sensitivity": self.judge.sensitivity,
            "specificity": self.judge.specificity,
        }

    def __repr__(self) -> str:
        lines = [f"{name}: {_short(each)}" for name, each in self.estimates().items()]
        return "\n".join([f"<Calibration of {self.run} by {self.metric}>", *lines, self.sentence])

    def _repr_html_(self) -> str:
        rows = [
            (name, each.undefined or number(each.value), interval(each.interval), f"{each.n:,}")
            for name, each in self.estimates().items()
        ]
        table = html_table(("estimate", "value", f"{percent(self.level)} interval", "n"), rows)
        return html_lines(f"{self.run}: {self.sentence}") + table + html_lines(*self.warnings)

    def _table(self, name: str) -> Any:
        return arrow_table(
            [
                {"estimate": name, "value": each.value, **ends(each.interval), "n": each.n, "method": each.method}
                for name, each in self.estimates().items()
            ]
        )


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
    metric of 0 and 1. With `threshold`, any metric is a verdict. `encoding`, `quotes` and `delimiter` say how files of
    labels are read.
    """
    if not 0 < level < 1:
        raise UsageError(f"{parameter('level')} is a share between 0 and 1, and is {given(level)}")
    folder = find_run(run, output_dir)
    name, judge = verdicts(folder, metric, threshold)
    columns = read_columns(folder, ["qid", "session_id"])
    found = match(read_labels(labels, Reading(encoding, quotes, delimiter)), columns["qid"], Answers(folder))
    if not found.counts.labelled:
        raise InputError("nothing is labelled yet", hint="fill in the column `label`: correct or wrong")
    scored = ~np.isnan(judge)
    beside = judge[found.places]
    if np.isnan(beside).all():
        raise InputError(
            f"{name} has no score on any labelled row", hint=f"choose another metric with {option('metric')}"
        )
    made = Calibration(
        run=folder.name,
        metric=name,
        threshold=threshold,
        level=level,
        n_rows=len(judge),
        n_scored=int(scored.sum()),
        n_unscored_labels=int(np.isnan(beside).sum()),
        design=found.design.kind,
        drawn_from=found.design.rows,
        empty_strata=found.design.empty,
        labels=found.counts,
        raters=found.raters,
        between_people=_between(found, level) if len(found.raters) > 1 else None,
        raw=rate(int(judge[scored].sum()), int(scored.sum()), level),
        clustered=_clustered(columns["session_id"]),
        **_estimates(found, judge, level),
    )
    return replace(
        made,
        warnings=tuple(cautions(made)),
        sentence=corrected_sentence(name, made.corrected, made.raw, level),
    )


def _estimates(found: Matched, judge: Scores, level: float) -> dict[str, Any]:
    """Everything that depends on how the labels were drawn."""
    beside = judge[found.places]
    known = ~np.isnan(beside)
    people, both = found.people[known], beside[known]
    if found.design.empty:
        return _undefined(people, both, unlabelled_strata(found.design.empty))
    if found.design.kind in (RANDOM, UNKNOWN):
        right, wrong = sensitivity_specificity(both, people, level)
        against = _against(
            people,
            both,
            rate(int((people == both).sum()), len(people), level),
            cohens_kappa(confusion(both, people), level),
            (right, wrong),
        )
        alone = labels_alone(None, people, level)
        powered, worth = _from_random(found, judge, level), (right.n, wrong.n)
    else:
        drawn = _drawn(found.design, len(judge))
        powered = ppi_weighted(drawn, found.people, beside, judge[~np.isnan(judge)], level) if np.ptp(people) else None
        part = drawn.part(known)
        right, wrong = (
            part.share(both == verdict, people == verdict, level, of=f"answers that people call {word}")
            for verdict, word in ((1, "correct"), (0, "wrong"))
        )
        agreed = part.share(both == people, np.ones(len(people), dtype=np.bool_), level, of="labels")
        against = _against(people, both, agreed, part.kappa(both, people, level), (right, wrong))
        alone = labels_alone(part, people, level)
        worth = part.worth_of(right, people == 1), part.worth_of(wrong, people == 0)
    verdict = judge[~np.isnan(judge)]
    return {
        "judge": against,
        "labels_alone": alone,
        "corrected": alone if powered is None else _within(powered.estimate),
        "judge_weight": None if powered is None else powered.weight,
        "effective_labels": None if powered is None else powered.effective_labels,
        "rogan_gladen": rogan_gladen(float(verdict.mean()), len(verdict), right, wrong, level, worth=worth),
    }


def _from_random(found: Matched, judge: Scores, level: float) -> Powered | None:
    """The tuned estimate from the labelled rows and the rest; none if there is no rest, or the labels all agree."""
    beside = judge[found.places]
    known = ~np.isnan(beside)
    rest = judge.copy()
    rest[found.places] = np.nan
    rest = rest[~np.isnan(rest)]
    people = found.people[known]  # if they all say the same, what a judge adds can't be told, nor how sure that is
    return ppi_mean(people, beside[known], rest, level) if len(rest) and np.ptp(people) else None


def _drawn(design: Design, rows: int) -> Drawn:
    if design.kind == WEIGHTED:
        return Drawn.weighted(design.weights, rows)
    return Drawn.stratified(design.strata, design.sizes)


def _undefined(people: Scores, judge: Scores, reason: str) -> dict[str, Any]:
    none = Estimate.none(reason, len(people))
    return {
        "judge": _against(people, judge, none, none, (none, none)),
        "labels_alone": none,
        "corrected": none,
        "judge_weight": None,
        "effective_labels": None,
        "rogan_gladen": none,
    }


def _against(
    people: Scores, judge: Scores, agreement: Estimate, kappa: Estimate, rates: tuple[Estimate, Estimate]
) -> AgainstPeople:
    return AgainstPeople(
        both_correct=int(((judge == 1) & (people == 1)).sum()),
        judge_alone_correct=int(((judge == 1) & (people == 0)).sum()),
        people_alone_correct=int(((judge == 0) & (people == 1)).sum()),
        both_wrong=int(((judge == 0) & (people == 0)).sum()),
        agreement=agreement,
        kappa=kappa,
        sensitivity=rates[0],
        specificity=rates[1],
    )


def _between(found: Matched, level: float) -> BetweenPeople:
    agreement, pairs = pairwise_agreement(found.ratings)
    kappa = None
    if len(found.raters) == 2:
        both = ~np.isnan(found.ratings).any(axis=0)
        kappa = cohens_kappa(confusion(found.ratings[0, both], found.ratings[1, both]), level)
    return BetweenPeople(krippendorff_alpha(found.ratings), agreement, pairs, kappa)


def _within(estimate: Estimate) -> Estimate:
    """The same, as far as a share can go."""
    assert estimate.value is not None  # noqa: S101 - PPI always has one
    return replace(estimate, value=min(1.0, max(0.0, estimate.value)), interval=within(estimate.interval, (0.0, 1.0)))


def _clustered(sessions: Sequence[str | None]) -> bool:
    """Whether several rows belong to one conversation."""
    named = [session for session in sessions if session is not None]
    return len(set(named)) < len(named)
