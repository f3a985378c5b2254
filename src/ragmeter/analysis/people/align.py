"""Examples from people's labels in a judge's prompt, kept only where they help on other rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ragmeter.analysis.people.label_matches import match
from ragmeter.analysis.people.labels import read_labels
from ragmeter.analysis.people.verdicts import Answers, read_columns
from ragmeter.definition.judge_columns import BoundColumn, Example
from ragmeter.engine.added_metrics import journal_folder, run_batches
from ragmeter.engine.judging.setup import JudgeSetup
from ragmeter.engine.row_reader import RowReader
from ragmeter.errors import InputError
from ragmeter.hints import option
from ragmeter.io.reading import Reading
from ragmeter.io.write import dumps, replacing
from ragmeter.judges.asking.examples import choose_examples, example_of
from ragmeter.judges.asking.judge import Judge
from ragmeter.judges.verdict import CORRECT, WRONG, verdict
from ragmeter.runs.run import Run
from ragmeter.stats.agreement import cohens_kappa, confusion
from ragmeter.stats.clusters import Codes
from ragmeter.stats.jury import folds_of
from ragmeter.table import Batch, Scores

#: With fewer labels of a verdict, whether examples help can't be told from chance.
_FEWEST_OF_A_KIND, _FOLDS = 10, 5


@dataclass(frozen=True)
class Alignment:
    """Cohen's kappa of judge and people without examples and with them, on rows that these were not chosen from."""

    model: str
    n: int
    kappa_before: float
    kappa_after: float
    standard_error: float
    examples: tuple[Example, ...]
    n_unread: int = 0  # labelled rows without a verdict, with examples or without

    @property
    def gain(self) -> float:
        """How much kappa rises."""
        return self.kappa_after - self.kappa_before

    @property
    def helps(self) -> bool:
        """Whether it rises by more than the standard error of that."""
        return self.gain > self.standard_error

    def write(self, path: Path) -> None:
        """Write the examples for `--judge-examples`."""
        with replacing(path) as (temporary,):
            temporary.write_text(dumps({"examples": self.examples}, indent=2) + "\n", encoding="utf-8")


def align(run: Run, labels: Any, judge: Judge, *, output_dir: Path, reading: Reading = Reading()) -> Alignment:  # noqa: B008 - frozen
    """Ask the judge about the labelled rows without examples, and with some from other rows: five parts, in turn.

    Its replies are in the journal of the run's folder.
    """
    matched = match(read_labels(labels, reading), read_columns(run, ["qid"])["qid"], Answers(run))
    table = _rows(run, matched.places.tolist())
    people = matched.people
    if min(people.sum(), (1 - people).sum()) < _FEWEST_OF_A_KIND:
        raise InputError(f"examples need at least {_FEWEST_OF_A_KIND} labels of right and of wrong answers")
    clusters = run.clusters(run.confidence)[1]
    groups = np.arange(len(people)) if clusters is None else clusters[matched.places]
    rows = [dict(zip(table.columns, cells, strict=True)) for cells in zip(*table.columns.values(), strict=True)]
    labelled = [example_of(row, CORRECT if right else WRONG) for row, right in zip(rows, people, strict=True)]
    setup = JudgeSetup(judge, journal_folder(run, output_dir), progress=True)
    before = _asked(setup, table, ())
    is_missed = before != people

    def chosen_from(places: Sequence[int]) -> list[Example]:
        return choose_examples([labelled[place] for place in places], [bool(is_missed[place]) for place in places])

    after = np.full(len(people), np.nan)
    folds = folds_of(groups, _FOLDS)
    for fold in range(_FOLDS):
        inside = np.flatnonzero(folds == fold)
        examples = chosen_from(np.flatnonzero(folds != fold).tolist())
        if len(inside):
            after[inside] = _asked(setup, _part(table, inside.tolist()), examples)
    both = ~np.isnan(before) & ~np.isnan(after)
    if both.sum() < max(2 * _FEWEST_OF_A_KIND, len(people) / 2):
        raise InputError(
            f"{judge.name} gave a verdict that can be read on {int(both.sum()):,} of {len(people):,} labelled rows, "
            "which are too few to say whether examples help",
            hint=f"try another model, or a longer {option('max_tokens', of='judge')}",
        )
    gains = people[both], before[both], after[both], groups[both]
    examples = chosen_from(range(len(people)))
    kappas = _kappa(before[both], people[both]), _kappa(after[both], people[both])
    return Alignment(judge.name, int(both.sum()), *kappas, _error_of_gain(*gains), tuple(examples), int((~both).sum()))


def _rows(run: Run, places: Sequence[int]) -> Batch:
    """The labelled rows, in the order of the labels."""
    columns: dict[str, list[Any]] = {name: [] for name in ("qid", *verdict.needs)}
    for batch in run_batches(run):
        for name, cells in columns.items():
            cells += batch.columns.get(name) or [None] * len(batch)
    return _part(Batch(columns), places)


def _part(table: Batch, places: Sequence[int]) -> Batch:
    return Batch({name: [cells[place] for place in places] for name, cells in table.columns.items()})


def _asked(setup: JudgeSetup, table: Batch, examples: Sequence[Example]) -> Scores:
    """What the judge says of these rows, shown these examples: 1, 0 or NaN."""
    assert setup.judge is not None  # noqa: S101 - the caller has one
    setup = replace(setup, judge=setup.judge.with_examples(examples))
    column = BoundColumn.of(verdict, {})
    filled = setup.fill_columns([column], RowReader(lambda: [table], len(table)))
    scores = {CORRECT: 1.0, WRONG: 0.0}
    return np.array([scores.get(value, np.nan) for batch in filled.batches or [] for value in batch[column.name]])


def _kappa(judge: Scores, people: Scores) -> float:
    return cohens_kappa(confusion(judge, people)).value or 0.0


def _error_of_gain(people: Scores, before: Scores, after: Scores, groups: Codes) -> float:
    """The standard error of the difference of two kappas on the same rows: a jackknife over groups of rows."""
    gains = []
    for group in np.unique(groups):
        rest = groups != group
        gains.append(_kappa(after[rest], people[rest]) - _kappa(before[rest], people[rest]))
    n = len(gains)
    return float(np.sqrt((n - 1) * np.var(gains)))
