"""One column filled by a judge, batch by batch: what needs no model, what the offline judge decides, what is asked."""

from __future__ import annotations

import json
from asyncio import gather
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragmeter import table
from ragmeter.definition.judge_columns import DECLARED, EXACT, IMAGE, LLM, MISS, BoundColumn
from ragmeter.documents.judging import CascadeSummary, JudgeSummary
from ragmeter.documents.record import UNSET
from ragmeter.documents.usage import Usage
from ragmeter.effects.limits.caller import Caller
from ragmeter.effects.process.loop import for_each
from ragmeter.effects.replies.journal import Journal
from ragmeter.engine.judging.cascade_run import OFFLINE_COLUMNS, CascadeRun, Decision, Row, decided
from ragmeter.engine.judging.offline import rows_to_fill
from ragmeter.engine.row_reader import RowReader
from ragmeter.engine.scoring import watched
from ragmeter.hints import option
from ragmeter.io.columns import missing_column
from ragmeter.io.progress import Advance
from ragmeter.io.write import dumps
from ragmeter.judges.asking.cascade import Cascade
from ragmeter.judges.asking.column_judge import texts_of_calls
from ragmeter.judges.asking.judge import Judge, as_rephrased
from ragmeter.judges.asking.judgement import Judgement, joined
from ragmeter.judges.asking.pictures import PictureError
from ragmeter.judges.asking.probes import same_verdicts
from ragmeter.judges.asking.prompt import prompt_hash
from ragmeter.metrics.support import has_text
from ragmeter.naming import Signature
from ragmeter.stats.intervals import wilson_interval
from ragmeter.table import IMAGE_ERROR, QID, SCORED, STOPPED, UNPARSABLE, Batch, NewRow, outcome_column

Heard = Callable[[table.Row, Judgement], None]
#: Asks about the row at a place of the batch.
Ask = Callable[[int], Awaitable[None]]
#: What the columns that are filled hold, in the order in which a judgement names them.
_CELLS = ("value", "reason", "by", "probability")


class Tally:
    """Counts for the summary: `judged_by` and `causes` are the caller's to fill, `add` counts the rest."""

    def __init__(self) -> None:
        self.judged_by: Counter[str] = Counter()
        self.causes: Counter[str] = Counter()
        self._unreadable: dict[str, str] = {}
        self._values: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._repeated = self._flipped = self._halves = 0

    def add(self, judgement: Judgement) -> None:
        """Count what the model said of one row."""
        if judgement.verdict is not None:
            self._values[judgement.verdict] += 1
        if judgement.unread:
            self._unreadable.setdefault(f"{judgement.outcome}: {judgement.cause}", judgement.unread)
        if judgement.reason:
            self._reasons[judgement.reason] += 1
        self._halves += judgement.is_half
        if judgement.is_repeated:
            self._repeated += 1
            self._flipped += judgement.flipped

    def summary(self, usage: Usage, cascade: CascadeSummary | None = None) -> JudgeSummary:
        """What was counted, with what the calls have taken, and what came of a cascade."""
        return JudgeSummary(
            judged_by=dict(sorted(self.judged_by.items())),
            causes=dict(self.causes.most_common()),
            unreadable=self._unreadable or UNSET,
            n_judged_repeatedly=self._repeated,
            flip_rate=self._flipped / self._repeated if self._repeated else None,
            flip_rate_interval=wilson_interval(self._flipped, self._repeated),
            n_without_second_wording=self._halves or UNSET,
            warnings=list(same_verdicts(self._values, self._reasons)),
            cascade=cascade or UNSET,
            usage=usage,
        )


class ColumnRun:
    """Fills one asked column, and counts what came of it.

    `retry_failed` asks anew about rows whose recorded replies are no verdicts; `reuse` keeps the verdicts that are in
    the table already.
    """

    def __init__(self, judge: Judge, column: BoundColumn, *, retry_failed: bool = False, reuse: bool = False) -> None:
        self.judge, self.column = judge, column
        self.retry_failed, self.reuse = retry_failed, reuse
        self.column_judge = judge.on(column.declaration)
        self.declaration = self.column_judge.declaration
        is_cascade = column.settings.get("judge") == "cascade"
        self.cascade = self._cascade_run(judge.cascade or Cascade()) if is_cascade else None
        self._tally = Tally()
        self._uncounted: dict[int, tuple[Decision, Judgement | None]] = {}
        self.is_stopped = False  # by Ctrl-C, with rows left that were to be asked about

    def _cascade_run(self, cascade: Cascade) -> CascadeRun:
        return CascadeRun(cascade)

    def prepare(self, rows: RowReader) -> None:
        """See that the table has what is shown to the model; in a cascade, choose whom to ask about."""
        if rows.columns:
            self.check(rows.columns)
        if self.cascade is not None:
            shared = (row for batch in rows() for row in self._shared_rows(batch))
            self.cascade.prepare(shared, self.column_judge, self.judge.budget)

    @property
    def numbers(self) -> list[str]:
        """The filled columns that are no texts."""
        return [name for name, cell in zip(self.column.columns, _CELLS, strict=False) if cell == "probability"]

    def check(self, names: Sequence[str]) -> None:
        """Refuse a table that lacks a column which is shown to the model, and a cascade that can't be."""
        for needed in self.declaration.required:
            if needed not in names and needed not in DECLARED and self.judge.words is None:
                raise missing_column(needed, self.column.name, names, "the table")
        if self.declaration.shows_image and IMAGE not in names:
            raise missing_column(IMAGE, self.column.name, names, "the table")
        self.judge.check_columns(names)
        if self.cascade is not None:
            self.cascade.cascade.check()

    def rows(self, batch: Batch) -> tuple[list[str], list[str | None], list[NewRow]]:
        """Each row's outcome (`scored`, or why it has no value), its value if it needs no judge, and its columns."""
        also = OFFLINE_COLUMNS if self.cascade else ()
        states, values, rows = rows_to_fill(self.column, self.declaration, batch, also)
        if self.judge.pictures is not None and self.declaration.shows_image:
            for place, row in enumerate(rows):
                if states[place] == SCORED and values[place] is None and self._picture(row)[1]:
                    states[place] = IMAGE_ERROR
        return states, values, rows

    def _shared_rows(self, batch: Batch) -> Iterable[Row]:
        states, values, rows = self.rows(batch)
        qids = batch.columns.get(QID) or [""] * len(batch)
        for qid, state, value, row, unit in zip(qids, states, values, rows, self._units(batch), strict=True):
            yield Row(qid, row if state == SCORED and value is None else None, value, unit)

    def _units(self, batch: Batch) -> Sequence[int | None]:
        """The number of what each row is checked with, in a cascade: here each row is checked by itself."""
        return [None] * len(batch)

    async def fill(
        self, batch: Batch, start: int, caller: Caller, client: Any, advance: Advance, heard: Heard
    ) -> dict[str, list[Any]]:
        """The filled columns of one batch, by their names in the table. `start` is the number of its first row.

        `heard` is called with each row that was asked about and its judgement.
        """
        states, values, rows = self.rows(batch)
        before = self._before(batch)
        judgements = dict(before)
        waiting = [
            place
            for place, value in enumerate(values)
            if value is None and states[place] == SCORED and self._is_asked(start + place)
        ]

        async def ask(place: int) -> None:
            calls = self._calls(rows[place])
            if place not in before:
                judgements[place] = await self._ask(rows[place], calls, caller, client, retry=self.retry_failed)
            elif all(
                self.column_judge.n_recorded_repeats(caller.journal, texts) == self.judge.repeats for texts in calls
            ):
                judgement = await self._ask(rows[place], calls, caller, client)  # for the flip rate and the costs
                if judgement.verdict == before[place].verdict:
                    judgements[place] = judgement
            if judgements[place].outcome == STOPPED:
                self.is_stopped = True
                return
            heard(rows[place], judgements[place])
            advance(1)

        def verdict(place: int) -> str | None:
            return values[place] or self._decided(start + place, judgements.get(place)).value

        await self._ask_waiting(batch, start, waiting, verdict, ask)
        if not self.is_stopped:
            advance(len(batch) - len(judgements.keys() & set(waiting)))
        known = [
            Decision(outcome=state, cause=self._picture(row)[1])
            if state == IMAGE_ERROR
            else None
            if value is None
            else self._known(value, row)
            for state, value, row in zip(states, values, rows, strict=True)
        ]
        return self._cells(batch, states, known, judgements, start)

    def _known(self, value: str, row: Mapping[str, Any]) -> Decision:
        """The judgement on a row that needs no judge."""
        return Decision(value, EXACT if has_text(row.get("answer") or "") else MISS)

    async def _ask_waiting(
        self, batch: Batch, start: int, waiting: Sequence[int], verdict: Callable[[int], str | None], ask: Ask
    ) -> None:
        """Ask about the rows that wait for the model: here about all of them, in any order.

        `verdict` is that of a row as far as it is known.
        """
        await for_each(waiting, ask, 2 * self.judge.workers)

    def _decided(self, row: int, judgement: Judgement | None, outcome: str = SCORED) -> Decision:
        """What the model or the offline judge says of a row; without either, its outcome."""
        chance = None if self.cascade is None else self.cascade.chance(row)
        return decided(judgement, chance, Decision(outcome=outcome))

    def _calls(self, row: table.Row) -> list[dict[str, str]]:
        calls = texts_of_calls(self.declaration, row, self.judge.per_call)
        return [{**texts, IMAGE: self._picture(row)[0]} for texts in calls] if self.declaration.shows_image else calls

    def _picture(self, row: table.Row) -> tuple[str, str]:
        """The row's picture as it is asked about, empty for none, and why it can't be shown."""
        assert self.judge.pictures is not None  # noqa: S101 - else the column shows none
        try:
            return self.judge.pictures.text(row.get(IMAGE)), ""
        except PictureError as error:
            return "", str(error)

    async def _ask(
        self, row: table.Row, calls: Sequence[dict[str, str]], caller: Caller, client: Any, retry: bool = False
    ) -> Judgement:
        """Ask about a row. Where it takes several calls, all must succeed: nothing that was sent may be left out."""
        if len(calls) == 1:  # without a task of its own: that is quicker
            return self._joined(row, [await self.column_judge.ask(caller, client, calls[0], retry=retry)])
        return self._joined(
            row, await gather(*(self.column_judge.ask(caller, client, texts, retry=retry) for texts in calls))
        )

    def _joined(self, row: table.Row, judgements: Sequence[Judgement]) -> Judgement:
        """The judgement of a row from those of its calls."""
        parts = self.declaration.parts
        if parts is None:
            return judgements[0]
        return joined(judgements, lambda values: dumps(parts.join(row, [json.loads(value) for value in values])))

    def _before(self, batch: Batch) -> dict[int, Judgement]:
        """The verdicts of the model that the table has already, if they are to be used."""
        if not self.reuse:
            return {}
        cells = [batch.columns.get(name) or [None] * len(batch) for name in self.column.columns]
        cells += [[None] * len(batch)] * (4 - len(cells))
        return {
            place: Judgement(
                SCORED, value, reason or "", (value,), probability=None if chance is None else float(chance)
            )
            for place, (value, reason, by, chance) in enumerate(zip(*cells, strict=True))
            if value is not None and by in (None, LLM)
        }

    def _is_asked(self, row: int) -> bool:
        return self.cascade is None or not self.cascade.decides(row)

    def _cells(
        self,
        batch: Batch,
        states: Sequence[str],
        known: Sequence[Decision | None],
        judgements: Mapping[int, Judgement],
        start: int,
    ) -> dict[str, list[Any]]:
        """The cells under their names in the table: the value, its outcome, and what else the column fills."""
        decisions: list[Decision] = []
        for place, (state, decision) in enumerate(zip(states, known, strict=True)):
            judgement = judgements.get(place)
            if judgement is not None and self.cascade is not None:
                self.cascade.record(start + place, judgement.verdict)
            decisions.append(decision or self._decided(start + place, judgement, state))
        decisions = self._settled(batch, decisions, judgements, start)
        for place, decision in enumerate(decisions):
            self._uncounted[start + place] = decision, judgements.get(place)
        name = self.column.name
        cells: list[list[Any]] = [
            [decision.value for decision in decisions],
            [decision.reason or decision.cause or None for decision in decisions],
            [decision.by for decision in decisions],
            [decision.probability for decision in decisions],
        ]
        outcomes = [decision.outcome for decision in decisions]
        return {name: cells[0], outcome_column(name): outcomes, **dict(zip(self.column.columns, cells, strict=False))}

    def _settled(
        self, batch: Batch, decisions: list[Decision], judgements: Mapping[int, Judgement], start: int
    ) -> list[Decision]:
        """The decisions as they are written down: here as they were made."""
        return decisions

    def count(self) -> None:
        """Count what was filled since the last time, in the order of the rows, whichever of them was judged first."""
        for _, (decision, judgement) in sorted(self._uncounted.items(), key=lambda entry: entry[0]):
            if judgement is not None:
                self._tally.add(judgement)
                if judgement.outcome != SCORED:
                    self._tally.causes[f"{judgement.outcome}: {judgement.cause}"] += 1
            if decision.by:
                self._tally.judged_by[decision.by] += 1
        self._uncounted.clear()

    def asks_anything(self, batches: Iterable[Batch]) -> bool:
        """Whether there is a row that is the model's to judge."""
        start = 0
        for batch in batches:
            states, values, _ = self.rows(batch)
            for place, (state, value) in enumerate(zip(states, values, strict=True), start):
                if state == SCORED and value is None and self._is_asked(place):
                    return True
            start += len(batch)
        return False

    def _texts_to_ask(self, batches: Iterable[Batch], start: int = 0) -> Iterator[dict[str, str]]:
        """What the model is shown of each row that it is asked about; `start` is the number of the first row."""
        for batch in batches:
            states, values, rows = self.rows(batch)
            before = self._before(batch)
            for place, (state, value) in enumerate(zip(states, values, strict=True)):
                if state == SCORED and value is None and place not in before and self._is_asked(start + place):
                    yield from self._calls(rows[place])
            start += len(batch)

    def guessed(self, batches: Callable[[], Iterable[Batch]], journal: Journal) -> Iterator[Batch]:
        """The batches with this column as recorded replies have it, or about as they will."""
        for batch in batches():
            states, _, rows = self.rows(batch)
            cells = [
                self._guess(row, journal) if state == SCORED else None for row, state in zip(rows, states, strict=True)
            ]
            filled: dict[str, list[Any]] = {self.column.name: cells, outcome_column(self.column.name): states}
            yield replace(batch, columns={**batch.columns, **filled})

    def _guess(self, row: table.Row, journal: Journal) -> str:
        assert self.declaration.guess is not None  # noqa: S101 - only such columns are guessed
        recorded = [
            self.column_judge.recorded_judgement(journal, texts) or Judgement(UNPARSABLE) for texts in self._calls(row)
        ]
        return self._joined(row, recorded).verdict or dumps(self.declaration.guess(row))

    def keys(self, batches: Callable[[], Iterable[Batch]]) -> Iterator[str]:
        """The journal's keys of the first reply about each row."""
        return (self.column_judge.key(texts, 0, 0) for texts in self._texts_to_ask(batches()))

    def estimate(
        self, batches: Callable[[], Iterable[Batch]], journal: Journal, seen: set[str], start: int = 0
    ) -> dict[str, int]:
        """Rows, calls and tokens. `seen` has the keys of what other columns ask about, and gets those of this one."""
        lengths: list[int] = []
        texts = self._texts_to_ask(watched(batches(), lengths.append), start)
        estimate = self.column_judge.estimate_all(texts, journal, retry=self.retry_failed, seen=seen)
        return {"rows": sum(lengths), **estimate}

    def as_before(self, before: Mapping[str, Any], changed: Collection[str]) -> str:
        """How to go on with a run that had more repeats, or differs in its wordings alone."""
        if changed == ["repeats"]:
            return f"ask as it was asked, with {option('repeats', before['repeats'], of='judge')}, or "
        number, other = before.get("wordings", 1), as_rephrased(self.column.declaration)
        if not {"wordings", "rephrased_prompt", "sure_from"}.issuperset(changed) or other is None:
            return ""
        if number != 1 and before.get("rephrased_prompt") != prompt_hash(other, reasons=self.judge.reasons):
            return ""  # the second wording was another then
        wordings = option("wordings", number, of="judge") if number in (1, 2) else option("wordings", of="judge")
        return f"ask as it was asked, {'with' if number in (1, 2) else 'without'} {wordings}, or "

    def signature(self) -> Signature:
        """The settings that the column depends on besides the texts, for the manifest."""
        judge = self.judge
        own = {
            **judge.signature(self.column.declaration),
            **judge.cutting(self.column.declaration),
            "repeats": judge.repeats,
            **judge.wordings_of(self.column.declaration),
        }
        shared = {} if self.cascade is None else {"cascade": self.cascade.cascade.signature()}
        return {**own, **shared, "tries": judge.tries, "columns": self.column.columns}

    def journal_keys(self) -> dict[str, str]:
        """The keys by which the replies are looked up in their journal, for the manifest."""
        return self.judge.journal_keys(self.column.declaration)

    def summary(self, usage: Usage) -> JudgeSummary:
        """The column's part of the summary; `usage` is what its calls have taken."""
        return self._tally.summary(usage, None if self.cascade is None else self.cascade.summary(self.judge))
