"""A judge beside an engine: one process asks and holds the journal, workers score the parts whose rows are judged.

Rows are asked about in the order of the table. What was filled for a part is put aside as a file once its last row is
judged, and a worker takes it up while the judge is asked about the next ones.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Condition
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ragmeter.definition.judge_columns import BoundColumn
from ragmeter.engine.executors import Executor
from ragmeter.engine.judging.setup import JudgeResult, JudgeSetup
from ragmeter.engine.parts.counts import Counted
from ragmeter.engine.parts.driver import PartsPlan, score_in_parts
from ragmeter.engine.parts.work import ASIDE, JudgedColumns, judged_file, put_bytes
from ragmeter.engine.row_reader import RowReader
from ragmeter.errors import RagmeterError
from ragmeter.table import QID, Batch


def judged_columns(setup: JudgeSetup, columns: Sequence[BoundColumn]) -> JudgedColumns | None:
    """What workers must know of the columns that a judge fills; None if there are none."""
    if not columns:
        return None
    judge_run = setup.judge_run(columns)
    return JudgedColumns(tuple(judge_run.names), judge_run.numbers)


def judge_and_score(
    plan: PartsPlan, executor: Executor, setup: JudgeSetup, columns: Sequence[BoundColumn], rows: RowReader
) -> tuple[Counted, JudgeResult]:
    """Ask about all rows of the parts that can be read, and have each part scored once its rows are judged."""
    ready = _Ready()
    with ThreadPoolExecutor(1, thread_name_prefix="ragmeter-parts") as beside:
        scoring = beside.submit(score_in_parts, plan, executor, None, until_ready=ready.wait)
        cutting = _Cutting(plan, scoring, ready.announce)
        try:
            filled = setup.fill_columns(columns, rows, batch_done=cutting.add)
            cutting.finish()
        finally:
            ready.close()
        return scoring.result(), filled


class _Stopped(RagmeterError):
    """Raised where no further part becomes ready, because the judge was stopped or failed. Who stopped it says why."""


class _Ready:
    """The parts that can be scored: those with a number below `_end`."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._end = 0
        self._closed = False

    def wait(self, number: int) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._end > number or self._closed)
            if self._end <= number:
                raise _Stopped("not all rows were judged")

    def announce(self, number: int) -> None:
        with self._changed:
            self._end = number + 1
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class _Cutting:
    """Cuts what was filled where the parts are cut. What comes after them are the questions without a result."""

    def __init__(self, plan: PartsPlan, scoring: Future[Counted], announce: Callable[[int], None]) -> None:
        self._plan, self._scoring, self._announce = plan, scoring, announce
        self._numbers = [*sorted(plan.counts), len(plan.parts)]
        self._rows: dict[str, list[Any]] = {}
        self._next_part()

    def add(self, batch: Batch, filled: Mapping[str, list[Any]]) -> None:
        """Take the next rows. Where a worker has failed, nothing more is asked."""
        if self._scoring.done():
            self._scoring.result()
        columns = {QID: batch.columns[QID], **filled}
        begin = 0
        while begin < len(batch):
            end = min(begin + self._missing(), len(batch))
            for name, own in self._rows.items():
                own += columns[name][begin:end]
            begin = end
            self._put_whole_parts()

    def finish(self) -> None:
        """Put the last rows aside: those of questions without a result."""
        self._put_whole_parts()
        if self._is_last:
            self._put()

    @property
    def _is_last(self) -> bool:
        return len(self._numbers) == 1

    def _missing(self) -> int:
        """How many rows the part under way still lacks; the last one takes all."""
        return 1 << 62 if self._is_last else self._plan.counts[self._numbers[0]] - len(self._rows[QID])

    def _put_whole_parts(self) -> None:
        while not self._is_last and not self._missing():
            self._put()

    def _put(self) -> None:
        judged = self._plan.job.judged
        assert judged is not None  # noqa: S101 - else nobody would cut anything
        types = {name: pa.float64() if name in judged.numbers else pa.string() for name in self._rows}
        table = pa.table({name: pa.array(column, types[name]) for name, column in self._rows.items()})
        content = io.BytesIO()
        pq.write_table(table, content)
        number = self._numbers.pop(0)
        put_bytes(self._plan.job.folder / ASIDE / judged_file(number), content.getvalue())
        self._next_part()
        self._announce(number)

    def _next_part(self) -> None:
        judged = self._plan.job.judged
        self._rows = {name: [] for name in (QID, *(judged.names if judged is not None else ()))}
