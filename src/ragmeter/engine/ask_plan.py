"""What asking a system is going to do. It is made once, and checked before anything is asked or written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self

from ragmeter.definition import Metric
from ragmeter.definition.judge_columns import BoundColumn
from ragmeter.documents.hops import HOPS
from ragmeter.effects.limits.calls import Limits
from ragmeter.effects.replies.rounds import Reuse
from ragmeter.engine.default_metrics import RETURNED, MetricChoice
from ragmeter.engine.judging.offline import with_offline
from ragmeter.engine.judging.setup import JudgeSetup
from ragmeter.engine.metric_choice import with_models
from ragmeter.engine.questions import Dataset
from ragmeter.engine.row_reader import RowReader
from ragmeter.engine.scoring import fill_embedded, score_batch
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller, option, parameter
from ragmeter.io.columns import missing_column
from ragmeter.io.names import limited_name, plain_name
from ragmeter.io.source import Source, stem
from ragmeter.io.write import check_writable
from ragmeter.runs.run import Run
from ragmeter.runs.run_place import RunPlace
from ragmeter.runs.writer import NewRun
from ragmeter.table import NUMBER_COLUMNS, PARTIAL_ANSWER, RETRIEVED_SCORES, Batch
from ragmeter.targets.port import Target
from ragmeter.targets.replies import Replies

#: What a process is told that waits for the place of a run.
ASKS = "asks questions"
#: The columns of its own that a system may fill, and that metrics read.
MAY_RETURN = (HOPS, "tool_calls", "cost_usd")
#: The columns that a system fills.
ANSWERED = ("answer", "retrieved", "contexts", RETRIEVED_SCORES, *NUMBER_COLUMNS, PARTIAL_ANSWER)


@dataclass(frozen=True, eq=False)
class AskPlan:
    """Questions that are to be put to a system: which, to whom, within what limits, and how the answers are scored.

    `reuse` says which recorded answers count. `output` is a `results.json` to write as well. With `allow_failures` a
    run in which all questions failed is kept. A plan is carried out at a place. `choice` is what was chosen for lack of
    names; what the system returns narrows it.
    """

    dataset: Dataset
    target: Target
    metrics: Sequence[Metric]
    judging: JudgeSetup
    limits: Limits
    reuse: Reuse
    output: Path | None = None
    allow_failures: bool = False
    place: RunPlace | None = None
    choice: MetricChoice | None = None

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        target: Target,
        metrics: Sequence[Metric],
        judging: JudgeSetup,
        limits: Limits,
        reuse: Reuse,
        *,
        output: Path | None = None,
        allow_failures: bool = False,
        choice: MetricChoice | None = None,
    ) -> Self:
        """A plan without a place. A budget without a price is refused, and a dataset that lacks a column."""
        _check_budget(limits.budget, target)
        metrics = with_models(metrics)
        _check_needs(dataset.batches[0], metrics, judging.needs(metrics), dataset.source)
        return cls(dataset, target, metrics, judging, limits, reuse, output, allow_failures, choice=choice)

    def at(self, place: RunPlace) -> Self:
        """This plan for a run that is kept there."""
        return replace(self, place=place)

    def after_asking(self, replies: Replies) -> Self:
        """This plan without the metrics that nobody named and that the answers lack something for; a note says so."""
        if self.choice is None:
            return self
        choice = self.choice.with_returned(replies.returned(RETURNED))
        self.dataset.source.say(choice.sentence())
        return replace(self, metrics=choice.remaining(self.metrics, self.choice))

    @cached_property
    def rows(self) -> RowReader:
        """The dataset's rows, without answers."""
        return RowReader(lambda: self.dataset.batches)

    @cached_property
    def columns(self) -> list[BoundColumn]:
        """The columns that the judge has to fill; an error if there is none who can."""
        return self.judging.missing(self.metrics, self.rows)

    def check(self, run: Path) -> set[str]:
        """Refuse what can't be done at this path, before anybody is asked; returns what the judge is shown."""
        _check_places(self.dataset.source, run, self.output)
        first = self.dataset.batches[0]
        _rehearse(first, self.metrics)
        return self.judging.check(self.columns, [*first.columns, *ANSWERED])

    def keeps_verdicts(self, run: Run) -> bool:
        """Whether judging the answers of a run once more gives all that its judge was paid for."""
        if not self.reuse.wanted or self.judging.judge is None:
            return False
        from ragmeter.engine.judging.kept_verdicts import keeps_verdicts  # needed only where there is such a run

        return keeps_verdicts(run, self.judging, self.columns, self.rows, ANSWERED)


def default_name(source: Source, target: Target, limit: int | None = None) -> str:
    """A name that the same dataset and the same target have again, so that the same command goes on after a crash."""
    beginning = stem(source.path) if source.path else source.name
    return limited_name(f"{plain_name(beginning)}-{hashlib.sha256(target.name.encode()).hexdigest()[:8]}", limit)


def _check_budget(budget: float | None, target: Target) -> None:
    if budget is not None and target.price is None:
        raise UsageError(
            "the target's price is not known, so a budget can't be kept",
            hint=f"give it with {by_caller('--prices', 'open_target(..., prices=...)')}, or limit the calls with "
            f"{option('max_calls')}",
        )


def _check_needs(batch: Batch, metrics: Sequence[Metric], more: Mapping[str, str], source: Source) -> None:
    """What a metric needs and the target does not bring must be in the dataset: said before anything is asked.

    `more` are the columns that a judge is shown, each with the metric that it judges for.
    """
    needs = [(needed, metric.name) for metric in metrics for needed in metric.needs_of_table]
    for needed, wanted_by in [*needs, *more.items()]:
        if needed not in (*ANSWERED, *MAY_RETURN) and needed not in batch.columns:
            raise missing_column(needed, wanted_by, list(batch.columns), source.name)


def _check_places(source: Source, run: Path, output: Path | None) -> None:
    """Refuse places that can't be written to before anybody is asked, and an output that would replace the dataset."""
    check_writable(run.parent)
    with NewRun(run):
        pass  # it would refuse a folder that is no run
    if output is None:
        return
    check_writable(output.parent, option("output"))
    if output.is_dir():
        raise UsageError(f"{parameter('output')} {output} is a folder", hint="name a file, for example results.json")
    if isinstance(source.path, Path) and output.exists() and output.samefile(source.path):
        raise UsageError(
            f"{parameter('output')} is the dataset itself, which it would replace", hint="choose another name"
        )


def _rehearse(batch: Batch, metrics: Sequence[Metric]) -> None:
    """Score the first row as if it had been answered: what a metric lacks, a model for one, is better known before."""
    row = {name: column[:1] for name, column in batch.columns.items()}
    gold = (row.get("reference") or [[]])[0] or ["x"]
    answered = {"answer": [gold[0]], "retrieved": [[]], "contexts": [[]], **{name: [0.0] for name in NUMBER_COLUMNS}}
    batch = Batch({**row, **answered})
    pure = [metric for metric in metrics if not metric.judge_columns]
    [filled] = with_offline([batch], pure)
    score_batch(fill_embedded(filled, pure, None), pure)
