"""Match labels with a run's rows: people's verdict on each row, and how the rows were sampled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ragmeter.analysis.people.claim_items import Claims, claims_of_run, places_of
from ragmeter.analysis.people.labels import SKIPPED, Label, answer_hash
from ragmeter.analysis.people.verdicts import Cells
from ragmeter.errors import InputError, did_you_mean
from ragmeter.hints import by_caller
from ragmeter.runs.run import Run
from ragmeter.table import Scores
from ragmeter.wording.numbers import whole
from ragmeter.wording.texts import shortened

_SHOWN = 120  # characters of the names of strata
_ONE_SAMPLE = "use labels of one sample: two samples can't be mixed"
RANDOM, STRATIFIED, WEIGHTED, UNKNOWN = "random", "stratified", "weighted", "unknown"


@dataclass(frozen=True)
class Counts:
    """How many rows are listed and labelled, and why the others are not used."""

    listed: int
    labelled: int
    skipped: int
    blank: int
    tied: int
    changed: int


@dataclass(frozen=True)
class Design:
    """How the labelled rows were sampled: their strata with the strata's sizes, or weights, or unknown."""

    kind: str
    strata: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    sizes: Scores = field(default_factory=lambda: np.zeros(0))
    weights: Scores = field(default_factory=lambda: np.zeros(0))
    empty: tuple[str, ...] = ()

    @property
    def rows(self) -> int | None:
        """How many rows the sample was drawn from, if the file says so."""
        return int(self.sizes.sum()) if len(self.sizes) else None


@dataclass(frozen=True)
class Matched:
    """Rows of the run with the majority's label of each, and all ratings: a line for each rater."""

    places: npt.NDArray[np.intp]
    people: Scores
    raters: tuple[str, ...]
    ratings: Scores
    design: Design
    counts: Counts


def match(labels: Sequence[Label], keys: Sequence[str], answers: Cells) -> Matched:
    """Find each label's row or claim by its key; a label whose text has changed in the run is not used."""
    rows = places_of(keys, [label.key for label in labels])
    changed: set[str] = set()
    by_row: dict[int, list[Label]] = {}
    for label in labels:
        place = rows.get(label.key)
        if place is None:
            raise _unknown(label, [key for key in keys if key is not None])  # a damaged table may lack some
        by_row.setdefault(place, [])
        if label.label is None or label.answer_hash in (None, answer_hash(answers[place])):
            by_row[place].append(label)
        else:
            changed.add(label.key)
    if changed and not any(label.value is not None for row_labels in by_row.values() for label in row_labels):
        raise InputError(
            "these labels are of other answers: none is of an answer in this run",
            file=labels[0].file,
            hint="label this run: `ragmeter label RUN`",
        )
    return _majority(by_row, labels, len(changed), len(keys))


def labelled_claims(run: Run, labels: Sequence[Label], metric: str | None) -> Claims | None:
    """The run's claims, if the labels are of claims: those of this metric, or of the one that the file names."""
    of_claims = [label for label in labels if label.claim is not None]
    if not of_claims:
        return None
    if len(of_claims) < len(labels):
        other = next(label for label in labels if label.claim is None)
        raise other.error("this line is of no claim, and others are", "labels of claims and of answers can't be mixed")
    return claims_of_run(run, metric or of_claims[0].metric)


def match_claims(labels: Sequence[Label], claims: Claims) -> Matched:
    """Find each label's claim. Only labels of a random sample can be used."""
    matched = match(labels, claims.keys, claims.texts)
    if matched.design.kind not in (RANDOM, UNKNOWN):
        raise InputError(f"labels of claims must be a random sample, and this sample is {matched.design.kind}")
    return matched


def _unknown(label: Label, qids: Sequence[str]) -> InputError:
    if label.claim is not None:
        hint = "the labels may belong to another run, or to another metric"
        return label.error(f"the run has no claim {label.claim} of qid {label.qid!r} to compare with", hint)
    padded = next((qid for qid in qids if label.qid and qid.lstrip("0") == label.qid), None)
    if padded is not None:
        hint = f"the run has {padded!r}: a spreadsheet has dropped the zeros; have it read the column qid as text"
        return label.error(f"the run has no row with qid {label.qid!r}", hint)
    close = did_you_mean(label.qid, qids) if len(qids) < 10_000 else ""
    hint = "the labels may belong to another run, or a spreadsheet has rewritten the qid"
    return label.error(f"the run has no row with qid {label.qid!r}{close}", hint)


def _majority(by_row: dict[int, list[Label]], labels: Sequence[Label], changed: int, n_rows: int) -> Matched:
    """Each row's verdict: what people agreed on, else what most of them say. An agreed label is nobody's rating."""
    given = {place: [label for label in listed if label.value is not None] for place, listed in by_row.items()}
    voters = {place: [label for label in cast if not label.is_agreed] for place, cast in given.items()}
    deciding = {place: [label for label in cast if label.is_agreed] or cast for place, cast in given.items()}
    votes = {place: np.mean([label.value for label in cast]) for place, cast in deciding.items() if cast}
    places = [place for place, vote in votes.items() if vote != 0.5]
    skipped = sum(
        not given[place] and any(label.label == SKIPPED for label in listed) for place, listed in by_row.items()
    )
    counts = Counts(
        listed=len(by_row),
        labelled=len(places),
        skipped=skipped,
        blank=max(0, len(by_row) - len(votes) - skipped - changed),
        tied=len(votes) - len(places),
        changed=changed,
    )
    raters = tuple(dict.fromkeys(label.rater for cast in voters.values() for label in cast))
    ratings = np.full((len(raters), len(votes)), np.nan)
    for unit, place in enumerate(votes):
        for label in voters[place]:
            ratings[raters.index(label.rater), unit] = label.value
    people = np.asarray([float(votes[place] > 0.5) for place in places])
    design = _design([given[place][0] for place in places], labels, n_rows)
    return Matched(np.asarray(places, dtype=np.intp), people, raters, ratings, design, counts)


def random_labels(labels: Sequence[Label], qids: Sequence[str], answers: Cells) -> dict[str, float]:
    """People's verdicts by qid, on randomly sampled rows; other samples don't represent all rows without weights."""
    matched = match(labels, qids, answers)
    if matched.design.kind not in (RANDOM, UNKNOWN):
        raise InputError(
            f"a guarantee needs labels of a random sample, and this sample is {matched.design.kind}",
            hint="draw others: " + by_caller("ragmeter label RUN --by random", 'choose_sample(run, by="random")'),
        )
    return {qids[int(place)]: float(label) for place, label in zip(matched.places, matched.people, strict=True)}


def _design(used: Sequence[Label], listed: Sequence[Label], n_rows: int) -> Design:
    """How the used rows were sampled, according to the whole file; the run has `n_rows` rows."""
    _check_agreement(listed)
    if used and all(label.stratum_rows is not None for label in used):
        rows_by_stratum = _stratum_rows(listed)
        if (total := sum(rows_by_stratum.values())) > n_rows:
            listing = shortened(", ".join(map(repr, rows_by_stratum)), _SHOWN)
            raise InputError(
                f"the strata {listing} have {total:,} rows, and the run has {n_rows:,}",
                file=listed[0].file,
                hint="is the name of a stratum changed in a line? Else the sheet may be of another run",
            )
        names = list(dict.fromkeys(label.stratum or "" for label in used))
        empty = tuple(name for name in rows_by_stratum if name not in names)
        strata = np.asarray([names.index(label.stratum or "") for label in used], dtype=np.intp)
        sizes = np.asarray([rows_by_stratum[name] for name in names], dtype=np.float64)
        drawn = np.bincount(strata, minlength=len(names))
        for name, size, count in zip(names, sizes, drawn, strict=True):
            if count > size:
                raise InputError(f"stratum {name!r} has {whole(size)} rows, and {count:,} labels", file=used[0].file)
        return Design(RANDOM if len(rows_by_stratum) == 1 else STRATIFIED, strata, sizes, empty=empty)
    weights = [label.weight for label in used]
    if used and None not in weights:
        values = np.asarray(weights, dtype=np.float64)
        return Design(RANDOM if np.ptp(values) < 1e-9 * values.max() else WEIGHTED, weights=values)
    mixed = next((label for label in used if (label.weight is None) == (label.stratum_rows is None)), None)
    if mixed is not None and any(label.weight is not None or label.stratum_rows is not None for label in used):
        raise mixed.error("this row has no weight, and others have one", "give all of them one")
    return Design(UNKNOWN)


def _stratum_rows(listed: Iterable[Label]) -> dict[str, int]:
    """How many rows of the run are in each stratum."""
    sizes: dict[str, int] = {}
    for label in listed:
        if label.stratum_rows is None:
            continue
        before = sizes.setdefault(label.stratum or "", label.stratum_rows)
        if before != label.stratum_rows:
            counts = f"{label.stratum_rows:,} rows here and {before:,} before"
            raise label.error(f"stratum {label.stratum!r} has {counts}", _ONE_SAMPLE)
    return sizes


def _check_agreement(listed: Iterable[Label]) -> None:
    """Raise an error if two people's lines for a row differ in how it was sampled."""
    first_lines: dict[str, Label] = {}
    for label in listed:
        first = first_lines.setdefault(label.key, label)
        if (first.stratum, first.stratum_rows, first.weight) != (label.stratum, label.stratum_rows, label.weight):
            place = f"{first.file}, line {first.line}"
            raise label.error(f"qid {label.qid!r} has another stratum or weight here than in {place}", _ONE_SAMPLE)
