"""How well several people agree who have labelled the same rows of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ragmeter.analysis.people.calibration import BetweenPeople, between_people
from ragmeter.analysis.people.label_matches import Matched, match
from ragmeter.analysis.people.labels import CORRECT, WRONG, Label, read_labels
from ragmeter.analysis.people.verdicts import Answers, read_columns
from ragmeter.errors import RagmeterError
from ragmeter.runs.run import Run


@dataclass(frozen=True)
class Disagreement:
    """A row that people have labelled differently: its place in the run, its qid, and each person's label."""

    place: int
    qid: str
    labels: dict[str, str]


@dataclass(frozen=True)
class PeopleAgreement:
    """Each person's number of labels, the agreement if there are several people, and the rows they differ on.

    `files` are those whose labels were used.
    """

    raters: dict[str, int]
    between: BetweenPeople | None
    disagreements: tuple[Disagreement, ...]
    files: tuple[Path, ...]


def people_agreement(run: Run, files: Sequence[Path], level: float = 0.95) -> PeopleAgreement | None:
    """The agreement in some files of labels. One that is not of this run's answers is left out; None without labels."""
    qids, answers = read_columns(run, ["qid"])["qid"], Answers(run)
    used = [file for file in files if _is_of_run(file, qids, answers)]
    labels = read_labels(used) if used else []
    if not any(label.value is not None for label in labels):
        return None
    matched = match(labels, qids, answers)
    raters = {
        rater: int((~np.isnan(ratings)).sum()) for rater, ratings in zip(matched.raters, matched.ratings, strict=True)
    }
    between = between_people(matched, level) if len(raters) > 1 else None
    return PeopleAgreement(raters, between, tuple(_disagreements(matched, labels, qids)), tuple(used))


def _is_of_run(file: Path, qids: Sequence[str], answers: Answers) -> bool:
    """Whether a file has labels of this run's answers, not of claims and not of another run."""
    try:
        labels = read_labels(file)
        match(labels, qids, answers)
    except RagmeterError:
        return False
    return all(label.claim is None for label in labels)


def _disagreements(matched: Matched, labels: Sequence[Label], qids: Sequence[str]) -> Iterator[Disagreement]:
    places = {qid: place for place, qid in enumerate(qids)}
    by_qid: dict[str, dict[str, str]] = {}
    for label in labels:
        if label.label in (CORRECT, WRONG) and label.rater in matched.raters:
            by_qid.setdefault(label.qid, {})[label.rater] = label.label
    for qid, by_rater in by_qid.items():
        if len(set(by_rater.values())) > 1:
            yield Disagreement(places[qid], qid, by_rater)
