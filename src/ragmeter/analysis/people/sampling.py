"""Which rows people should look at.

Every way of choosing is a simple random sample within strata: of all rows, of the values of columns, or of how far
metrics disagree. What is drawn more often than its share weighs less in return, so no estimate is biased by the choice,
and since the rows come in random order, neither by stopping half-way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ragmeter.analysis.people.verdicts import Answers, binary_metrics, is_binary, metric_named, read_columns
from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.hints import by_caller, option, parameter
from ragmeter.io.write import RUNS
from ragmeter.naming import chosen_names, several
from ragmeter.runs.finding import RunLike, find_run
from ragmeter.runs.run import Run
from ragmeter.show.numbers import significant
from ragmeter.show.tabular import Tabular, arrow_table, html_lines, html_table
from ragmeter.stats.confidence import check_seed
from ragmeter.table import LIST_COLUMNS, Scores

WAYS = ("random", "stratified", "disagreement")
#: In each stratum, so that its spread can be told.
_LEAST = 2
#: The share of the labels that goes to where metrics disagree, unless such rows are even more frequent.
_FOR_DISAGREEMENT = 0.5
#: Of metrics with values in between: the share of the rows, those furthest apart, that counts as disagreement.
_FURTHEST = 0.25
_ALL = "all"


@dataclass(frozen=True)
class SampledRow:
    """A row to be labelled: its place in the run, and what it was drawn from."""

    index: int
    qid: str
    stratum: str
    stratum_rows: int
    weight: float


@dataclass(frozen=True)
class Sample(Tabular):
    """Rows to be labelled, in the order in which to do it, and how they were chosen from `population` rows."""

    TABLES: ClassVar[tuple[str, ...]] = ("rows",)

    run: Run
    by: str
    seed: int
    population: int
    rows: tuple[SampledRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SampledRow]:
        return iter(self.rows)

    def _repr_html_(self) -> str:
        drawn = Counter((row.stratum, row.stratum_rows) for row in self.rows)
        strata = [(stratum, f"{rows:,}", f"{count:,}") for (stratum, rows), count in sorted(drawn.items())]
        heading = f"{self.run.name}: {len(self.rows):,} of {self.population:,} rows to label, chosen by {self.by}"
        return html_lines(heading) + html_table(("stratum", "rows", "chosen"), strata)

    def _table(self, name: str) -> Any:
        return arrow_table([vars(row) for row in self.rows])


def choose_sample(
    run: RunLike,
    n: int = 100,
    *,
    by: str = "random",
    strata: str | Sequence[str] = (),
    metrics: str | Sequence[str] = (),
    seed: int = 0,
    output_dir: str | Path = RUNS,
) -> Sample:
    """Choose n of a run's rows for people to label.

    `run` is what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
    `by` is `random`, `stratified` (by the columns in `strata`) or `disagreement` (between `metrics`; unless named,
    those of 0 and 1). Rows without an answer, or without a score of one of `metrics`, are not drawn from.
    """
    folder = find_run(run, output_dir)
    if by not in WAYS:
        raise UsageError(f"there is no way {by!r} to choose rows", hint=f"there are {', '.join(WAYS)}")
    if (by == "stratified") != bool(strata):
        raise UsageError(
            f"strata go with {option('by', 'stratified')}, and the other way round",
            hint=f"for example {option('by', 'stratified')}{by_caller(' ', ', ')}{option('strata', 'domain')}",
        )
    if n < 1:
        raise UsageError(f"{parameter('n')} must be at least 1, and is {n}")
    check_seed(seed)
    strata = several(strata)
    named = [metric_named(folder, name) for name in chosen_names(metrics)]
    if by == "disagreement":
        named = named or binary_metrics(folder)
        if len(named) < 2:
            named_two = by_caller("--metric ONE --metric OTHER", 'metrics=["ONE", "OTHER"]')
            raise UsageError(
                "it takes two metrics to disagree", hint=f"{named_two}; the run has {', '.join(folder.row_metrics)}"
            )
    qids = read_columns(folder, ["qid"])["qid"]
    eligible = Answers(folder).given()
    scores = {name: folder.scores(name) for name in named}
    for values in scores.values():
        eligible &= ~np.isnan(values)
    places = np.flatnonzero(eligible)
    if not len(places):
        raise UsageError("no row of the run can be labelled: none has an answer, and a score of every metric")
    if by == "disagreement":
        groups = _disagreement([values[places] for values in scores.values()])
        shares = [_FOR_DISAGREEMENT if kind == "disagree" else None for kind in groups]
    else:
        groups = _values(folder, strata, places) if by == "stratified" else {_ALL: np.arange(len(places))}
        shares = [None] * len(groups)
    sizes = [len(held) for held in groups.values()]
    drawn = allocate(sizes, min(n, len(places)), shares)
    rng = np.random.default_rng(seed)
    rows = []
    for (stratum, group), count in zip(groups.items(), drawn, strict=True):
        for place in rng.choice(group, count, replace=False):
            index = int(places[place])
            rows.append(SampledRow(index, qids[index], stratum, len(group), len(group) / count))
    order = rng.permutation(len(rows))
    return Sample(folder, by, seed, len(places), tuple(rows[place] for place in order))


def allocate(sizes: Sequence[int], n: int, shares: Sequence[float | None]) -> list[int]:
    """How many to draw from strata of these sizes: in proportion, but at least two of each, and no more than there are.

    A stratum with a share of its own gets that share of n at least.
    """
    least = [min(_LEAST, size) for size in sizes]
    if n < sum(least):
        raise UsageError(
            f"{n} labels are too few for {len(sizes)} strata: it takes {sum(least)}, two of each",
            hint=f"ask for more with {option('n')}, or stratify by a column with fewer values",
        )
    total = sum(sizes)
    wanted = [max(size / total, share or 0.0) for size, share in zip(sizes, shares, strict=True)]
    fixed = sum(want for want, share in zip(wanted, shares, strict=True) if share is not None)
    free = sum(want for want, share in zip(wanted, shares, strict=True) if share is None)
    ideal = [
        n * (want if share is not None else want / free * (1 - fixed))
        for want, share in zip(wanted, shares, strict=True)
    ]
    given = list(least)
    for _ in range(n - sum(least)):  # one after the other to whoever lacks most
        lacking = [aim - held if held < size else -np.inf for aim, held, size in zip(ideal, given, sizes, strict=True)]
        given[int(np.argmax(lacking))] += 1
    return given


def _values(run: Run, strata: Sequence[str], places: npt.NDArray[np.intp]) -> dict[str, npt.NDArray[np.intp]]:
    """The rows by their values in some columns."""
    for name in strata:
        if name not in run.columns:
            raise UnknownNameError("column", name, run.columns, hint=f"the run has {', '.join(run.columns)}")
        if name in LIST_COLUMNS:
            raise UsageError(f"rows can't be grouped by {name!r}: it holds lists", hint="choose another column")
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

    Metrics of 0 and 1 disagree where not all say the same. With values in between, rows are compared by their rank
    in each metric, and those furthest apart count as disagreement.
    """
    if all(map(is_binary, scores)):
        total = np.sum(scores, axis=0)
        kinds = {"disagree": (total > 0) & (total < len(scores)), "all 0": total == 0, "all 1": total == len(scores)}
    else:
        ranks = np.stack([_ranks(values) for values in scores])
        order = np.argsort(-np.ptp(ranks, axis=0), kind="stable")
        furthest = np.zeros(len(order), dtype=np.bool_)
        furthest[order[: max(1, round(_FURTHEST * len(order)))]] = True
        middle = ranks.mean(axis=0) >= 0.5
        kinds = {"disagree": furthest, "rather low": ~furthest & ~middle, "rather high": ~furthest & middle}
    return {name: np.flatnonzero(chosen) for name, chosen in kinds.items() if chosen.any()}


def _ranks(values: Scores) -> Scores:
    """Each value's rank between 0 and 1; equal ones share the middle of theirs."""
    ordered = np.sort(values)
    below, up_to = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    return np.asarray((below + up_to) / (2 * len(values)), dtype=np.float64)
