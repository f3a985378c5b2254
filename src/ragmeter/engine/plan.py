"""What an evaluation is going to do. It is made once, checked once, and then carried out, or only estimated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from ragmeter.definition import Metric
from ragmeter.definition.judge_columns import BoundColumn
from ragmeter.engine.executors import Executor, Threads
from ragmeter.engine.judging.setup import JudgeSetup
from ragmeter.engine.metric_choice import columns_to_keep, with_models
from ragmeter.engine.parts.sources import without_bad_files
from ragmeter.engine.row_reader import RowReader
from ragmeter.engine.scoring import whole_sessions
from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.hints import option
from ragmeter.io.data import Data
from ragmeter.io.reading import checked
from ragmeter.runs.run import Run
from ragmeter.runs.run_place import RunPlace
from ragmeter.stats.confidence import Confidence


@dataclass(frozen=True)
class Workers:
    """Who computes. With `skip_bad_parts`, parts of the results that can't be read are left out."""

    executor: Executor = field(default_factory=Threads)
    skip_bad_parts: bool = False

    @property
    def needs_parts(self) -> bool:
        """Whether the results have to be scored in parts, however few."""
        return self.skip_bad_parts or self.executor.reads_files


@dataclass(frozen=True, eq=False)
class Plan:
    """An evaluation before it begins: what is read and computed, who judges, how sure, by whom, and where it goes.

    Without a `place` the run is not kept.
    """

    data: Data
    metrics: Sequence[Metric]
    judging: JudgeSetup
    confidence: Confidence
    workers: Workers
    place: RunPlace | None = None

    @classmethod
    def of(
        cls,
        data: Data,
        metrics: Sequence[Metric],
        judging: JudgeSetup,
        confidence: Confidence = Confidence(),  # noqa: B008 - frozen
        workers: Workers = Workers(),  # noqa: B008 - frozen
        *,
        keep_columns: str | Iterable[str] = (),
    ) -> Self:
        """A plan without a place. Of a data set, the columns in `keep_columns` are read besides those in use."""
        if workers.needs_parts and (whole := [metric.name for metric in metrics if metric.by_session]):
            by = option("skip_bad_parts") if workers.skip_bad_parts else "a cluster"
            raise UsageError(
                f"{whole[0]} is scored over whole conversations, and {by} scores a table in parts",
                hint="leave one of the two out",
            )
        is_judged = judging.judge is not None
        keep = None if is_judged else columns_to_keep(keep_columns, confidence)
        return cls(replace(data, keep=keep, rereads=is_judged), with_models(metrics), judging, confidence, workers)

    def at(self, place: RunPlace) -> Self:
        """This plan for a run that is kept there."""
        return replace(self, place=place, judging=self.judging.of(place.path))

    @cached_property
    def readable(self) -> Data:
        """The data, without files that can't be read at its beginning if those may be left out."""
        skips = self.workers.skip_bad_parts
        return without_bad_files(self.data, checked(self.data.reading)) if skips else self.data

    @cached_property
    def rows(self) -> RowReader:
        """The joined rows."""
        needs = self.judging.needs(self.metrics)
        return RowReader(
            lambda: whole_sessions(self.readable.batches(self.metrics, needs), self.metrics),
            self.readable.results.n_rows,
        )

    @cached_property
    def columns(self) -> list[BoundColumn]:
        """The columns that the judge has to fill; an error if there is none who can."""
        return self.judging.missing(self.metrics, self.rows)

    def keeps_verdicts(self, run: Run) -> bool:
        """Whether judging gives all that a judge was paid for in an older run."""
        from ragmeter.engine.judging.kept_verdicts import keeps_verdicts  # needed only where there is such a run

        return self.judging.judge is not None and keeps_verdicts(run, self.judging, self.columns, self.rows)

    def estimate(self) -> dict[str, Any]:
        """About how many calls, tokens and dollars the judge takes. Asks nothing."""
        return self.judging.with_judge().judge_run(self.columns).estimate(self.rows)


def read_missing(missing: str | None, reference: Any) -> bool:
    """Whether questions without a result count as 0."""
    if missing is None:
        return False
    if missing != "zero":
        raise UnknownNameError("value of missing", str(missing), ["zero"])
    if reference is None:
        raise UsageError(f"{option('missing', missing)} has no effect without a reference", hint="leave it out")
    return True
