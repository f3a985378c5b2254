"""Which rows people should label.

Every sample is a simple random sample within strata: all rows, the values of columns, or how far metrics disagree. A
stratum that is sampled more than its share gets a smaller weight, so the choice biases no estimate. The rows come in
random order, so neither does stopping half-way. A seed orders the rows of each stratum, whatever n is: of two people
with one seed, the one who labels fewer rows labels some of the other's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ragmeter.analysis.people.claim_items import Claims, claims_of_run
from ragmeter.analysis.people.jury import jury_votes
from ragmeter.analysis.people.verdicts import Answers, binary_metrics, is_binary, metric_named, read_columns
from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.hints import by_caller, option, parameter
from ragmeter.io.tabular import Tabular, arrow_table, html_lines, html_table
from ragmeter.io.write import RUNS
from ragmeter.naming import chosen_names, several
from ragmeter.runs.lookup import RunLike, find_run
from ragmeter.runs.run import Run
from ragmeter.stats.confidence import check_seed
from ragmeter.table import LIST_COLUMNS, Scores
from ragmeter.wording.numbers import significant

WAYS = ("random", "stratified", "disagreement")
#: Rows in each stratum: a variance needs two.
_LEAST = 2
#: The least share of the labels for rows on which metrics disagree.
_FOR_DISAGREEMENT = 0.5
#: For metrics that are not 0 or 1: the share of rows, those with ranks furthest apart, that counts as disagreement.
_FURTHEST = 0.25
_ALL = "all"


@dataclass(frozen=True)
class SampledRow:
    """A row to label, or a claim of it: its place in the run, and the stratum it was drawn from."""

    index: int
    qid: str
    stratum: str
    stratum_rows: int
    weight: float
    claim: int | None = None


@dataclass(frozen=True)
class Sample(Tabular):
    """Rows or claims to label, in the order of labelling, and how they were drawn from `population` of them."""

    TABLES: ClassVar[tuple[str, ...]] = ("rows",)

    run: Run
    by: str
    seed: int
    population: int
    rows: tuple[SampledRow, ...]
    claims: Claims | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SampledRow]:
        return iter(self.rows)

    def _repr_html_(self) -> str:
        drawn = Counter((row.stratum, row.stratum_rows) for row in self.rows)
        strata = [(stratum, f"{rows:,}", f"{count:,}") for (stratum, rows), count in sorted(drawn.items())]
        units = "rows" if self.claims is None else "claims"
        heading = f"{self.run.name}: {len(self.rows):,} of {self.population:,} {units} to label, chosen by {self.by}"
        return html_lines(heading) + html_table(("stratum", "rows", "chosen"), strata)

    def _table(self, name: str) -> Any:
        named = [vars(row) for row in self.rows]
        if self.claims is None:
            named = [{name: value for name, value in row.items() if name != "claim"} for row in named]
        return arrow_table(named)


def choose_sample(
    run: RunLike,
    n: int = 100,
    *,
    by: str = "random",
    strata: str | Sequence[str] = (),
    metrics: str | Sequence[str] = (),
    claims: bool = False,
    seed: int = 0,
    leave_out: Sequence[int] = (),
    output_dir: str | Path = RUNS,
) -> Sample:
    """Choose n of a run's rows for people to label, or with `claims` n of its claims.

    Rows without an answer, or without a score of one of `metrics`, are not drawn from.

    Args:
        run: what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
        n: the number of rows, or of claims.
        by: "random", "stratified" or "disagreement" (between `metrics`).
        strata: the columns to stratify by.
        metrics: the metrics that may disagree; by default a jury's jurors, or the metrics of 0 and 1. With `claims`,
            the metric whose claims are drawn, such as `faithfulness`, if the run has several.
        claims: draw claims, at random, in place of rows.
        seed: the seed of the draw.
        leave_out: the places of rows that are not drawn, such as those that have a label.
        output_dir: the folder of runs.
    """
    run = find_run(run, output_dir)
    if by not in WAYS:
        raise UsageError(f"unknown way to choose rows {by!r}", hint=f"there are {', '.join(WAYS)}")
    if (by == "stratified") != bool(strata):
        raise UsageError(
            f"strata and {option('by', 'stratified')} need each other",
            hint=f"for example {option('by', 'stratified')}{by_caller(' ', ', ')}{option('strata', 'domain')}",
        )
    if n < 1:
        raise UsageError(f"{parameter('n')} must be at least 1, got {n}")
    check_seed(seed)
    if claims:
        return _sample_of_claims(run, n, by, chosen_names(metrics), seed)
    strata = several(strata)
    scores, is_scored = _scores(run, [metric_named(run, name) for name in chosen_names(metrics)], by)
    qids = read_columns(run, ["qid"])["qid"]
    eligible = Answers(run).present() & is_scored
    eligible[list(leave_out)] = False
    places = np.flatnonzero(eligible)
    if not len(places) and len(leave_out):
        return Sample(run, by, seed, 0, ())
    if not len(places):
        raise UsageError("no row of the run can be labelled: none has an answer and a score of every metric")
    if by == "disagreement":
        groups = _disagreement([values[places] for values in scores])
        shares = [_FOR_DISAGREEMENT if kind == "disagree" else None for kind in groups]
    else:
        groups = _strata(run, strata, places) if by == "stratified" else {_ALL: np.arange(len(places))}
        shares = [None] * len(groups)
    sizes = [len(group) for group in groups.values()]
    drawn = allocate(sizes, min(n, len(places)), shares)
    rng = np.random.default_rng(seed)
    strata_in_order = [
        iter([SampledRow(int(i), qids[i], stratum, len(group), len(group) / count) for i in places[order[:count]]])
        for (stratum, group), order, count in zip(
            groups.items(), map(rng.permutation, [*groups.values()]), drawn, strict=True
        )
    ]
    rows = [next(strata_in_order[at]) for at in rng.permutation(np.repeat(np.arange(len(drawn)), drawn))]
    return Sample(run, by, seed, len(places), tuple(rows))


def _scores(run: Run, names: Sequence[str], by: str) -> tuple[list[Scores], npt.NDArray[np.bool_]]:
    """The scores that may disagree, and which rows have them: all, or of a jury's votes two."""
    if by == "disagreement" and not names:
        if votes := [*jury_votes(run).values()]:
            return votes, np.sum(~np.isnan(votes), axis=0) > 1
        names = binary_metrics(run)
    if by == "disagreement" and len(names) < 2:
        example = by_caller("--metric ONE --metric OTHER", 'metrics=["ONE", "OTHER"]')
        raise UsageError("disagreement needs two metrics", hint=f"{example}; the run has {', '.join(run.row_metrics)}")
    scores = [run.scores(name) for name in names]
    return scores, np.all(~np.isnan(scores), axis=0) if scores else np.ones(run.n_rows, dtype=np.bool_)


def _sample_of_claims(run: Run, n: int, by: str, metrics: Sequence[str], seed: int) -> Sample:
    if by != "random" or len(metrics) > 1:
        raise UsageError("claims are drawn at random, of one metric", hint=f"leave out {option('by')}, name one metric")
    claims = claims_of_run(run, *metrics)
    if not len(claims):
        raise UsageError("no row of the run has claims")
    qids = read_columns(run, ["qid"])["qid"]
    rows = []
    for claim in claims.order(np.random.default_rng(seed))[:n]:
        index = int(claims.places[claims.row[claim]])
        weight = len(claims) / min(n, len(claims))
        rows.append(SampledRow(index, qids[index], _ALL, len(claims), weight, int(claims.numbers[claim])))
    return Sample(run, by, seed, len(claims), tuple(rows), claims)


def allocate(sizes: Sequence[int], n: int, shares: Sequence[float | None]) -> list[int]:
    """How many rows to draw from strata of these sizes: in proportion, but at least two of each, and at most its size.

    A stratum with a share gets at least that share of n.
    """
    least = [min(_LEAST, size) for size in sizes]
    if n < sum(least):
        raise UsageError(
            f"{n} labels are too few for {len(sizes)} strata: {sum(least)} are needed, two of each",
            hint=f"ask for more with {option('n')}, or stratify by a column with fewer values",
        )
    total = sum(sizes)
    targets = [max(size / total, share or 0.0) for size, share in zip(sizes, shares, strict=True)]
    fixed = sum(target for target, share in zip(targets, shares, strict=True) if share is not None)
    free = sum(target for target, share in zip(targets, shares, strict=True) if share is None)
    ideal = [
        n * (target if share is not None else target / free * (1 - fixed))
        for target, share in zip(targets, shares, strict=True)
    ]
    counts = list(least)
    for _ in range(n - sum(least)):  # one row at a time to the stratum that lacks most
        lacking = [
            aim - count if count < size else -np.inf for aim, count, size in zip(ideal, counts, sizes, strict=True)
        ]
        counts[int(np.argmax(lacking))] += 1
    return counts


def _strata(run: Run, strata: Sequence[str], places: npt.NDArray[np.intp]) -> dict[str, npt.NDArray[np.intp]]:
    """The rows by their values in some columns."""
    for name in strata:
        if name not in run.columns:
            raise UnknownNameError("column", name, run.columns, hint=f"the run has {', '.join(run.columns)}")
        if name in LIST_COLUMNS:
            raise UsageError(f"rows can't be grouped by {name!r}: its values are lists", hint="choose another column")
    table = run.rows(strata)
    cells = [[_shown(value) for value in table[name].to_pylist()] for name in strata]
    groups: dict[str, list[int]] = {}
    for number, place in enumerate(places):
        groups.setdefault(" / ".join(column[place] for column in cells), []).append(number)
    return {name: np.asarray(groups[name], dtype=np.intp) for name in sorted(groups)}


def _shown(value: Any) -> str:
    if value is None or value != value:
        return "(none)"
    return significant(value, 6) if isinstance(value, float) else str(value)


def _disagreement(scores: Sequence[Scores]) -> dict[str, npt.NDArray[np.intp]]:
    """Rows on which metrics disagree, and the others.

    Metrics of 0 and 1 disagree if they are not all equal. Other metrics are compared by the row's rank in each, and the
    rows with ranks furthest apart count as disagreement.
    """
    if all(map(is_binary, scores)):
        least, most = np.nanmin(scores, axis=0), np.nanmax(scores, axis=0)
        kinds = {"disagree": least < most, "all 0": most == 0, "all 1": least == 1}
    else:
        ranks = np.stack([_ranks(values) for values in scores])
        order = np.argsort(-np.ptp(ranks, axis=0), kind="stable")
        furthest = np.zeros(len(order), dtype=np.bool_)
        furthest[order[: max(1, round(_FURTHEST * len(order)))]] = True
        middle = ranks.mean(axis=0) >= 0.5
        kinds = {"disagree": furthest, "rather low": ~furthest & ~middle, "rather high": ~furthest & middle}
    return {name: np.flatnonzero(chosen) for name, chosen in kinds.items() if chosen.any()}


def _ranks(values: Scores) -> Scores:
    """Each value's rank between 0 and 1; equal values share their middle rank."""
    ordered = np.sort(values)
    below, up_to = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    return np.asarray((below + up_to) / (2 * len(values)), dtype=np.float64)
