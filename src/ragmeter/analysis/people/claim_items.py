"""The claims of a run, for people to label: what a metric over claims counts, claim by claim."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmeter import naming, registry
from ragmeter.analysis.people.verdicts import metric_named, read_columns
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import option
from ragmeter.metrics.support import claim_texts, is_supported
from ragmeter.runs.run import Run
from ragmeter.stats.agreement import Estimate
from ragmeter.stats.clusters import Clustered
from ragmeter.stats.corrections import Powered, ppi_clustered
from ragmeter.stats.design import InClusters
from ragmeter.table import Scores


@dataclass(frozen=True)
class Claims:
    """The claims that a metric counts, row by row, each with its row and its number there, from 1.

    `supported` has the judge's verdict on each, 1 or 0; `source` is the column of the texts that support them. Rows go
    by their number among those that have claims; `places` are their numbers in the run.
    """

    metric: str
    source: str
    places: npt.NDArray[np.intp]
    row: npt.NDArray[np.intp]
    numbers: npt.NDArray[np.intp]
    keys: list[str]
    texts: list[str]
    supported: Scores

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def of_rows(self) -> Scores:
        """The metric's score of each row."""
        return np.asarray(np.bincount(self.row, self.supported) / np.bincount(self.row), dtype=np.float64)

    def mean(self, level: float) -> Estimate:
        """The metric's mean: each row counts the same, however many claims it has."""
        scores = Clustered.of(self.of_rows, None)
        error = scores.standard_error() if len(scores) > 1 else None
        return Estimate(scores.mean, scores.interval(level), len(scores), error, "student_t")

    def order(self, rng: np.random.Generator) -> list[int]:
        """The claims in a random order: one of each row first, then a second one of each row that has two, and so on.

        As each row counts the same in the mean, so does each row's first claim; claims of one row tell less.
        """
        shuffled = rng.permutation(len(self))
        by_row = shuffled[np.argsort(self.row[shuffled], kind="stable")]
        ends = np.cumsum(np.bincount(self.row))
        turn = np.arange(len(self)) - np.concatenate([[0], ends[:-1]])[self.row[by_row]]
        rows = rng.permutation(len(self.places))
        ordered: list[int] = by_row[np.lexsort((rows[self.row[by_row]], turn))].tolist()
        return ordered

    def drawn(self, claims: npt.NDArray[np.intp]) -> InClusters:
        """Some labelled claims: each stands for its share of its row's, and those of a row belong together."""
        row = self.row[claims]
        return InClusters.of(1 / np.bincount(row)[row], row)

    def powered(self, claims: npt.NDArray[np.intp], people: Scores, level: float) -> Powered:
        """The mean that people would find, from their labels of some claims and the judge's of all."""
        return ppi_clustered(self.drawn(claims), people, self.supported[claims], self.of_rows, level)


def claim_key(qid: str, number: int) -> str:
    """The key of a claim in the file of labels: its row and its number there."""
    return f"{qid}#{number}"


def places_of(keys: Sequence[str], wanted: Collection[str]) -> dict[str, int]:
    """The places of those wanted keys that are there, which may be few of many.

    A wanted key may have a quote before it: so CSV files escape what looks like a formula.
    """
    unquoted = {key: key[1:] for key in wanted if key.startswith("'")}
    needed = {*wanted, *unquoted.values()}
    places = {key: place for place, key in enumerate(keys) if key in needed}
    quoted = {key: places[plain] for key, plain in unquoted.items() if plain in places}
    return {**quoted, **places}


def claims_of_run(run: Run, metric: str | None = None) -> Claims:
    """The claims that this metric of the run counts, or the only metric that counts any."""
    name = _only_metric(run) if metric is None else metric_named(run, metric)
    counting = _counting()
    parsed = naming.parse(name)
    if parsed.base not in counting:
        raise UsageError(
            f"{name} is no share of claims that people could label",
            hint=f"choose {', '.join(counting)} with {option('metric')}",
        )
    claims, labels, source = counting[parsed.base]
    columns = [naming.render(column, parsed.settings) for column in (claims, labels)]
    for column in columns:
        if column not in run.columns:
            raise InputError(f"the run has no column {column!r}, so its claims can't be labelled", file=str(run.path))
    cells = read_columns(run, ["qid", *columns])
    scored = np.flatnonzero(~np.isnan(run.scores(name)))
    texts = [claim_texts(_decoded(cells[columns[0]][place])) for place in scored]
    supported = [_any(_decoded(cells[columns[1]][place])) for place in scored]
    counts = [len(own) for own in texts]
    if counts != [len(flags) for flags in supported]:
        raise InputError(f"{columns[0]} and {columns[1]} don't have the same number of claims", file=str(run.path))
    numbers = [number for count in counts for number in range(1, count + 1)]
    row = np.repeat(np.arange(len(scored)), counts)
    qids = [str(cells["qid"][place]) for place in scored[row]]
    return Claims(
        name,
        source,
        scored,
        row,
        np.asarray(numbers, dtype=np.intp),
        [claim_key(qid, number) for qid, number in zip(qids, numbers, strict=True)],
        [text for own in texts for text in own],
        np.concatenate(supported) if supported else np.zeros(0),
    )


def _counting() -> dict[str, tuple[str, str, str]]:
    """The metrics that are a share of claims: the columns of claims and of labels, and that of texts that support."""
    shares = ((metric, metric.claims) for metric in registry.known())
    return {metric.base: (of[0], metric.inputs[0], of[1]) for metric, of in shares if of is not None}


def _only_metric(run: Run) -> str:
    counting = _counting()
    names = [name for name in run.row_metrics if naming.base_of(name) in counting]
    if len(names) == 1:
        return names[0]
    message = f"choose whose claims to label: {', '.join(names)}" if names else "the run has no metric over claims"
    raise UsageError(message, hint=f"{option('metric', 'NAME')}, one of {', '.join(counting)}")


def _decoded(cell: Any) -> Any:
    return json.loads(cell) if isinstance(cell, str) else cell


def _any(labels: Any) -> Scores:
    """1 for each claim that the text supports, or any passage."""
    flags = is_supported(labels)
    return np.asarray(flags.any(axis=1) if flags.ndim > 1 else flags, dtype=np.float64)
