"""Labels beside the rows that they belong to: one verdict of people for each row, and how the rows were drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ragmeter.analysis.people.labels import SKIPPED, Label, answer_hash
from ragmeter.analysis.people.verdicts import Cells
from ragmeter.errors import InputError, did_you_mean
from ragmeter.hints import by_caller
from ragmeter.show.numbers import whole
from ragmeter.table import Scores

_ONE_SAMPLE = "labels of one sample go together: two samples can't be mixed"
RANDOM, STRATIFIED, WEIGHTED, UNKNOWN = "random", "stratified", "weighted", "unknown"


@dataclass(frozen=True)
class Counts:
    """What became of the lines: rows that are listed, and why some of them count for nothing."""

    listed: int
    labelled: int
    skipped: int
    blank: int
    tied: int
    changed: int


@dataclass(frozen=True)
class Design:
    """How the labelled rows were drawn: their strata with the strata's sizes, or weights, or nothing known."""

    kind: str
    strata: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    sizes: Scores = field(default_factory=lambda: np.zeros(0))
    weights: Scores = field(default_factory=lambda: np.zeros(0))
    empty: tuple[str, ...] = ()

    @property
    def rows(self) -> int | None:
        """How many rows were drawn from, where the file says so."""
        return int(self.sizes.sum()) if len(self.sizes) else None


@dataclass(frozen=True)
class Matched:
    """Rows of the run with what most people say of each, and all that anybody says: a line for each rater."""

    places: npt.NDArray[np.intp]
    people: Scores
    raters: tuple[str, ...]
    ratings: Scores
    design: Design
    counts: Counts


def match(labels: Sequence[Label], qids: Sequence[str], answers: Cells) -> Matched:
    """Find each label's row; a label of an answer that is not the run's any more counts for nothing."""
    rows = places_of(qids)
    changed: set[str] = set()
    by_row: dict[int, list[Label]] = {}
    for label in labels:
        place = rows.get(label.qid)
        if place is None:
            raise _unknown(label, qids)
        by_row.setdefault(place, [])
        if label.label is None or label.answer_hash in (None, answer_hash(answers[place])):
            by_row[place].append(label)
        else:
            changed.add(label.qid)
    if changed and not any(label.value is not None for held in by_row.values() for label in held):
        raise InputError(
            "these are labels of other answers: not one of them is the run's",
            file=labels[0].file,
            hint="label this run: `ragmeter label RUN`",
        )
    return _settled(by_row, labels, len(changed))


def _unknown(label: Label, qids: Sequence[str]) -> InputError:
    padded = next((qid for qid in qids if label.qid and qid.lstrip("0") == label.qid), None)
    if padded is not None:
        hint = f"the run has {padded!r}: a spreadsheet has dropped the zeros; have it read the column qid as text"
        return InputError(f"the run has no row with qid {label.qid!r}", file=label.file, line=label.line, hint=hint)
    close = did_you_mean(label.qid, qids) if len(qids) < 10_000 else ""
    return InputError(
        f"the run has no row with qid {label.qid!r}{close}",
        file=label.file,
        line=label.line,
        hint="the labels may belong to another run, or a spreadsheet has rewritten the qid",
    )


def _settled(by_row: dict[int, list[Label]], labels: Sequence[Label], changed: int) -> Matched:
    said = {place: [each for each in held if each.value is not None] for place, held in by_row.items()}
    votes = {place: np.mean([each.value for each in held]) for place, held in said.items() if held}
    places = [place for place, vote in votes.items() if vote != 0.5]
    skipped = sum(not said[place] and any(each.label == SKIPPED for each in held) for place, held in by_row.items())
    counts = Counts(
        listed=len(by_row),
        labelled=len(places),
        skipped=skipped,
        blank=max(0, len(by_row) - len(votes) - skipped - changed),
        tied=len(votes) - len(places),
        changed=changed,
    )
    raters = tuple(dict.fromkeys(each.rater for held in said.values() for each in held))
    ratings = np.full((len(raters), len(votes)), np.nan)
    for unit, place in enumerate(votes):
        for each in said[place]:
            ratings[raters.index(each.rater), unit] = each.value
    people = np.asarray([float(votes[place] > 0.5) for place in places])
    design = _design([said[place][0] for place in places], labels)
    return Matched(np.asarray(places, dtype=np.intp), people, raters, ratings, design, counts)


def random_labels(labels: Sequence[Label], qids: Sequence[str], answers: Cells) -> dict[str, float]:
    """People's verdicts by qid, on rows drawn at random; other samples say nothing of all rows by their count alone."""
    found = match(labels, qids, answers)
    if found.design.kind not in (RANDOM, UNKNOWN):
        raise InputError(
            f"a promise needs labels drawn at random, and these were drawn otherwise: {found.design.kind}",
            hint="draw others: " + by_caller("ragmeter label RUN --by random", 'choose_sample(run, by="random")'),
        )
    return {qids[int(place)]: float(label) for place, label in zip(found.places, found.people, strict=True)}


def places_of(qids: Sequence[str]) -> dict[str, int]:
    """Where each qid is, also by how a CSV file holds it where it looks like a formula: with a quote before it."""
    found = {f"'{qid}": place for place, qid in enumerate(qids)}
    found.update({qid: place for place, qid in enumerate(qids)})
    return found


def _design(used: Sequence[Label], listed: Sequence[Label]) -> Design:
    """How the rows that count were drawn, by what the whole file says."""
    _check_agreement(listed)
    if used and all(each.stratum_rows is not None for each in used):
        sizes = _sizes(listed)
        present = list(dict.fromkeys(each.stratum or "" for each in used))
        empty = tuple(name for name in sizes if name not in present)
        strata = np.asarray([present.index(each.stratum or "") for each in used], dtype=np.intp)
        held = np.asarray([sizes[name] for name in present], dtype=np.float64)
        drawn = np.bincount(strata, minlength=len(present))
        for name, size, count in zip(present, held, drawn, strict=True):
            if count > size:
                raise InputError(f"stratum {name!r} has {whole(size)} rows, and {count:,} labels", file=used[0].file)
        return Design(RANDOM if len(sizes) == 1 else STRATIFIED, strata, held, empty=empty)
    weights = [each.weight for each in used]
    if used and None not in weights:
        values = np.asarray(weights, dtype=np.float64)
        return Design(RANDOM if np.ptp(values) < 1e-9 * values.max() else WEIGHTED, weights=values)
    mixed = next((each for each in used if (each.weight is None) == (each.stratum_rows is None)), None)
    if mixed is not None and any(each.weight is not None or each.stratum_rows is not None for each in used):
        raise InputError(
            "this row has no weight, and others have one", file=mixed.file, line=mixed.line, hint="give all of them one"
        )
    return Design(UNKNOWN)


def _sizes(listed: Iterable[Label]) -> dict[str, int]:
    """The rows of each stratum."""
    sizes: dict[str, int] = {}
    for each in listed:
        if each.stratum_rows is None:
            continue
        before = sizes.setdefault(each.stratum or "", each.stratum_rows)
        if before != each.stratum_rows:
            raise InputError(
                f"stratum {each.stratum!r} has {each.stratum_rows:,} rows here and {before:,} before",
                file=each.file,
                line=each.line,
                hint=_ONE_SAMPLE,
            )
    return sizes


def _check_agreement(listed: Iterable[Label]) -> None:
    """Two people's lines for one row say the same about how it was drawn."""
    seen: dict[str, Label] = {}
    for each in listed:
        first = seen.setdefault(each.qid, each)
        if (first.stratum, first.stratum_rows, first.weight) != (each.stratum, each.stratum_rows, each.weight):
            raise InputError(
                f"qid {each.qid!r} was drawn otherwise here than in {first.file}, line {first.line}",
                file=each.file,
                line=each.line,
                hint=_ONE_SAMPLE,
            )
