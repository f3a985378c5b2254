"""What those who look on are told while a judge is asked: rows done, dollars, failures by cause, latest judgements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ragmeter.effects.limits.caller import Caller
from ragmeter.io.locations import Location
from ragmeter.judges.asking.judgement import Judgement
from ragmeter.metrics.conversation import CORRECT
from ragmeter.runs.status import Status
from ragmeter.table import SCORED, Row
from ragmeter.wording.numbers import money


class JudgingWatch:
    """Passes the progress of judging on to the run's status, if it has one."""

    def __init__(self) -> None:
        self._status: Status | None = None
        self._caller: Caller | None = None
        self._cases = ""
        self._failures = 0

    def begin(self, caller: Caller) -> None:
        """The calls are made by this caller, which knows what they cost."""
        self._caller = caller

    def title(self) -> str:
        """What is being done, for a progress bar, with what it has cost and how many judgements failed so far."""
        cost = None if self._caller is None else self._caller.usage.total().cost_usd
        failures = f", {self._failures:,} failed" if self._failures else ""
        return self._cases or f"judging{failures}{'' if not cost else f', {money(cost)}'}"

    @contextmanager
    def trying(self) -> Iterator[Callable[[int, int], None]]:
        """While the judge is tried on built-in cases: to be called with how many are done, and of how many."""

        def tried(done: int, cases: int) -> None:
            self._cases = f"trying the judge, {done} of {cases} built-in cases"

        try:
            yield tried
        finally:
            self._cases = ""

    def spent(self) -> float:
        """Dollars so far, replies from the journal included, as the summary counts them."""
        return 0.0 if self._caller is None else self._caller.usage.total().cost_usd or 0.0

    def advance(self, rows: int) -> None:
        """Count rows that are done."""
        if self._status is not None:
            self._status.advance(rows)

    def judged(self, column: str, row: Row, judgement: Judgement) -> None:
        """A row has its judgement, or none."""
        self._failures += judgement.outcome != SCORED
        if self._status is None:
            return
        if judgement.outcome != SCORED:
            self._status.failed(judgement.outcome)
            return
        if column == "verdict":
            self._status.judged(is_right=judgement.verdict == CORRECT)
        reason = f" ({judgement.reason})" if judgement.reason else ""
        self._status.answered(
            str(row.get("question") or row.get("answer") or ""), f"{column}: {judgement.verdict}{reason}"
        )

    @contextmanager
    def over(self, run: Location | None, total: int | None) -> Iterator[None]:
        """Write the status of this run meanwhile. One in a store, or one that is not kept, has none."""
        if not isinstance(run, Path):
            yield
            return
        with Status(run, "judging", total, self.spent) as self._status:
            try:
                yield
            finally:
                self._status = None
