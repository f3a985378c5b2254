"""What labels and a judge's verdicts say together: the judge's agreement with people, and the share that is correct."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from ragmeter.analysis.people.claim_items import Claims
from ragmeter.analysis.people.label_matches import RANDOM, UNKNOWN, WEIGHTED, Design, Matched
from ragmeter.stats.agreement import Estimate, cohens_kappa, confusion, rate, sensitivity_specificity
from ragmeter.stats.clusters import Codes
from ragmeter.stats.corrections import Powered, labels_alone, ppi_clustered, ppi_mean, ppi_weighted, rogan_gladen
from ragmeter.stats.design import Drawn, InClusters
from ragmeter.stats.intervals import within
from ragmeter.table import Scores
from ragmeter.wording import calibration as words

_CALLED_CORRECT = "answers that the judge calls correct"


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
    precision: Estimate


class _ByLabels(TypedDict):
    """The fields of a `Calibration` that labels are needed for."""

    judge: AgainstPeople
    labels_alone: Estimate
    corrected: Estimate
    judge_weight: float | None
    effective_labels: float | None
    rogan_gladen: Estimate


class Estimates(_ByLabels):
    """The fields of a `Calibration` that are estimates."""

    raw: Estimate


def estimates_of(
    matched: Matched, judge: Scores, level: float, claims: Claims | None, clusters: Codes | None
) -> Estimates:
    """The estimates of a calibration, by their names there. `clusters` are those of the run's rows, if it has any.

    They depend on how the labelled rows were drawn, and on which of them belong together.
    """
    raw, n_raw = _of_all_rows(judge, claims, clusters, level)
    labelled, scored = judge[matched.places], judge[~np.isnan(judge)]
    judged = ~np.isnan(labelled)
    people, by_judge = matched.people[judged], labelled[judged]
    if matched.design.empty:
        return {"raw": raw, **_undefined(people, by_judge, words.unlabelled_strata(matched.design.empty))}
    if claims is None and clusters is None and matched.design.kind in (RANDOM, UNKNOWN):
        agreement = rate(int((people == by_judge).sum()), len(people), level)
        kappa = cohens_kappa(confusion(by_judge, people), level)
        sensitivity, specificity = sensitivity_specificity(by_judge, people, level)
        called = by_judge == 1
        precision = rate(int(people[called].sum()), int(called.sum()), level, of=_CALLED_CORRECT)
        by_labels = labels_alone(None, people, level)
        powered, worth = _from_random(matched, judge, level), (sensitivity.n, specificity.n)
    else:
        part: Drawn
        if claims is not None:
            part = claims.drawn(matched.places)
            powered = claims.powered(matched.places, people, level) if np.ptp(people) else None
        elif clusters is not None:
            part = _in_clusters(matched, len(judge), clusters, judged)
            of_rows = clusters[~np.isnan(judge)]
            powered = ppi_clustered(part, people, by_judge, scored, level, of_rows) if np.ptp(people) else None
        else:
            drawn = _drawn(matched.design, len(judge))
            powered = ppi_weighted(drawn, matched.people, labelled, scored, level) if np.ptp(people) else None
            part = drawn.part(judged)
        agreement = part.share(by_judge == people, np.ones(len(people), dtype=np.bool_), level, of="labels")
        kappa = part.kappa(by_judge, people, level)
        sensitivity, specificity = (
            part.share(by_judge == verdict, people == verdict, level, of=f"answers that people call {word}")
            for verdict, word in ((1, "correct"), (0, "wrong"))
        )
        precision = part.share(people == 1, by_judge == 1, level, of=_CALLED_CORRECT)
        by_labels = labels_alone(part, people, level)
        worth = part.worth_of(sensitivity, people == 1), part.worth_of(specificity, people == 0)
    mean = float(scored.mean() if claims is None else claims.of_rows.mean())
    return {
        "raw": raw,
        "judge": _against(people, by_judge, agreement, kappa, sensitivity, specificity, precision),
        "labels_alone": by_labels,
        "corrected": by_labels if powered is None else _within(powered.estimate),
        "judge_weight": None if powered is None else powered.weight,
        "effective_labels": None if powered is None else powered.effective_labels,
        "rogan_gladen": rogan_gladen(mean, n_raw, sensitivity, specificity, level, worth=worth),
    }


def of_wrong(estimates: Estimates) -> Estimates:
    """The estimates with the shares of wrong answers, in place of those of right ones."""
    return {
        **estimates,
        "raw": estimates["raw"].complement(),
        "labels_alone": estimates["labels_alone"].complement(),
        "corrected": estimates["corrected"].complement(),
        "rogan_gladen": estimates["rogan_gladen"].complement(),
    }


def _of_all_rows(judge: Scores, claims: Claims | None, clusters: Codes | None, level: float) -> tuple[Estimate, int]:
    """The judge's mean as it is, and how many independent rows it is worth."""
    if claims is not None:
        return claims.mean(level), len(claims.of_rows)
    scored = ~np.isnan(judge)
    n = int(scored.sum())
    if clusters is None:
        return rate(int(judge[scored].sum()), n, level), n
    rows, everything = InClusters.of(np.ones(n), clusters[scored]), np.ones(n, dtype=np.bool_)
    raw = rows.share(judge[scored] == 1, everything, level, of="rows")
    return raw, rows.worth_of(raw, everything)


def _in_clusters(matched: Matched, rows: int, clusters: Codes, judged: npt.NDArray[np.bool_]) -> InClusters:
    """The labelled rows with a verdict in their clusters, by the weights that they were drawn with."""
    return InClusters.of(row_weights(matched, rows)[judged], clusters[matched.places][judged])


def row_weights(matched: Matched, rows: int) -> Scores:
    """The weights that the labelled rows were drawn with, out of so many."""
    if matched.design.kind in (RANDOM, UNKNOWN):
        return np.ones(len(matched.places))
    return _drawn(matched.design, rows).weights


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


def _undefined(people: Scores, judge: Scores, reason: str) -> _ByLabels:
    undefined = Estimate.none(reason, len(people))
    return {
        "judge": _against(people, judge, *[undefined] * 5),
        "labels_alone": undefined,
        "corrected": undefined,
        "judge_weight": None,
        "effective_labels": None,
        "rogan_gladen": undefined,
    }


def _against(people: Scores, judge: Scores, *estimates: Estimate) -> AgainstPeople:
    """The counts, with the estimates in the order of their fields."""
    both_correct, judge_alone, people_alone, both_wrong = (
        int(((judge == by_judge) & (people == by_people)).sum())
        for by_judge, by_people in ((1, 1), (1, 0), (0, 1), (0, 0))
    )
    counts = (both_correct, judge_alone, people_alone, both_wrong)
    return AgainstPeople(*counts, *estimates)


def _within(estimate: Estimate) -> Estimate:
    """The estimate clipped to the range from 0 to 1."""
    assert estimate.value is not None  # noqa: S101 - PPI always has one
    return replace(estimate, value=min(1.0, max(0.0, estimate.value)), interval=within(estimate.interval, (0.0, 1.0)))
