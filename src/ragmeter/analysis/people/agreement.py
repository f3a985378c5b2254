"""How well several people agree who have labelled the same rows of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ragmeter.analysis.people.calibration import BetweenPeople, between_people
from ragmeter.analysis.people.claim_items import places_of
from ragmeter.analysis.people.label_matches import match
from ragmeter.analysis.people.labels import Label, answer_hash, read_labels
from ragmeter.analysis.people.verdicts import Answers, read_columns
from ragmeter.errors import RagmeterError
from ragmeter.runs.run import Run


@dataclass(frozen=True)
class Disagreement:
    """A row that people have labelled differently: each person's label, and the one that they agreed on, if any."""

    place: int
    qid: str
    labels: tuple[Label, ...]
    agreed: Label | None = None

    @property
    def is_settled(self) -> bool:
        """Whether people have agreed on a label."""
        return self.agreed is not None and self.agreed.value is not None


@dataclass(frozen=True)
class PeopleAgreement:
    """Each person's number of labels, the agreement if there are several people, and the rows they differ on.

    `files` are those whose labels were used.
    """

    raters: dict[str, int]
    between: BetweenPeople | None
    disagreements: tuple[Disagreement, ...]
    files: tuple[Path, ...]

    @property
    def open(self) -> list[Disagreement]:
        """The rows on which people have not agreed yet."""
        return [row for row in self.disagreements if not row.is_settled]


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
    return PeopleAgreement(raters, between, tuple(_disagreements(labels, qids, answers)), tuple(used))


def _is_of_run(file: Path, qids: Sequence[str], answers: Answers) -> bool:
    """Whether a file has labels of this run's answers, not of claims and not of another run."""
    try:
        labels = read_labels(file)
        match(labels, qids, answers)
    except RagmeterError:
        return False
    return all(label.claim is None for label in labels)


def _disagreements(labels: Sequence[Label], qids: Sequence[str], answers: Answers) -> Iterator[Disagreement]:
    """The rows with different labels, in the order in which they were drawn. Labels of changed answers don't count."""
    places = places_of(qids, [label.qid for label in labels])
    by_place: dict[int, list[Label]] = {}
    for label in labels:
        place = places[label.qid]
        if (label.value is not None or label.is_agreed) and label.answer_hash in (None, answer_hash(answers[place])):
            by_place.setdefault(place, []).append(label)
    for place, given in by_place.items():
        of_people = tuple(label for label in given if not label.is_agreed)
        if len({label.value for label in of_people}) > 1:
            agreed = next((label for label in given if label.is_agreed and label.label), None)
            yield Disagreement(place, of_people[0].qid, of_people, agreed)
