"""One column filled by a judge, batch by batch: what needs no model, what the offline judge decides, what is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ragmeter.asked import AskedColumn
from ragmeter.effects.caller import Caller
from ragmeter.effects.journal import Journal
from ragmeter.effects.loop import for_each
from ragmeter.engine.sharing import Row, Sharing
from ragmeter.io.columns import missing_column
from ragmeter.judges.cascade import Cascade
from ragmeter.judges.judge import Judge, Judgement, shown_texts
from ragmeter.judges.verdict import CORRECT, EXACT, LLM, OFFLINE, WRONG
from ragmeter.show.progress import Advance
from ragmeter.table import QID, SCORED, Batch, outcome_column, outcomes, row_causes

#: Below so many verdicts nothing is said about their all being the same.
_FEW = 20
_NEARLY_ALL = 0.95


class ColumnFiller:
    """Fills one asked column, and counts what came of it.

    `retry_failed` asks anew about rows whose recorded replies are no verdicts; `reuse` keeps the verdicts that are in
    the table already.
    """

    def __init__(self, judge: Judge, column: AskedColumn, *, retry_failed: bool = False, reuse: bool = False) -> None:
        self.judge, self.column = judge, column
        self.retry_failed, self.reuse = retry_failed, reuse
        self.asks = judge.on(column.asked)
        self.asked = self.asks.asked
        is_cascade = column.settings.get("judge") == "cascade"
        self.sharing = Sharing(judge.cascade or Cascade()) if is_cascade else None
        self._decided_by: Counter[str] = Counter()
        self._causes: Counter[str] = Counter()
        self._values: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._repeated = self._flipped = 0

    def prepare(self, batches: Callable[[], Iterable[Batch]]) -> None:
        """See that the table has what is shown to the model; in a cascade, choose whom to ask about."""
        first = next(iter(batches()), None)
        if first is not None:
            names = list(first.columns)
            for needed in self.asked.required:
                if needed not in names and self.judge.words is None:
                    raise missing_column(needed, self.column.name, names, "the table")
            self.judge.check_columns(names)
        if self.sharing is not None:
            rows = (row for batch in batches() for row in self._shared_rows(batch))
            budget = None if self.judge.price is None else self.judge.budget
            self.sharing.prepare(rows, self.asks, budget)

    def rows(self, batch: Batch) -> tuple[list[str], list[str | None], list[dict[str, Any]]]:
        """For each row why it can't be judged, or `scored`; the value that needs no judge; and the row's columns."""
        names = self.asked.needs
        states = outcomes(batch.columns, self.asked.required, len(batch))
        if causes := row_causes(batch):
            states = [cause or state for cause, state in zip(causes, states, strict=True)]
        columns = {name: batch.columns.get(name) or [None] * len(batch) for name in names}
        rows = [{name: column[place] for name, column in columns.items()} for place in range(len(batch))]
        values: list[str | None] = [None] * len(batch)
        if (known := self.asked.known) is not None:
            values = [known(row) if state == SCORED else None for row, state in zip(rows, states, strict=True)]
        return states, values, rows

    def _shared_rows(self, batch: Batch) -> Iterable[Row]:
        states, values, rows = self.rows(batch)
        qids = batch.columns.get(QID) or [""] * len(batch)
        for qid, state, value, row in zip(qids, states, values, rows, strict=True):
            yield Row(qid, row if state == SCORED and value is None else None, value)

    async def fill(
        self, batch: Batch, start: int, caller: Caller, client: Any, advance: Advance
    ) -> dict[str, list[Any]]:
        """The filled columns of one batch, by their names in the table. `start` is the number of its first row."""
        states, values, rows = self.rows(batch)
        judgements: dict[int, Judgement] = {}
        before = self._before(batch)
        waiting = [
            place
            for place, value in enumerate(values)
            if value is None and states[place] == SCORED and place not in before and self._is_asked(start + place)
        ]

        async def ask(place: int) -> None:
            texts = shown_texts(self.asked, rows[place])
            judgements[place] = await self.asks.ask(caller, client, texts, retry=self.retry_failed)
            advance(1)

        await for_each(waiting, ask, 2 * self.judge.workers)
        advance(len(batch) - len(judgements))
        return self._cells(states, values, judgements | before, start)

    def _before(self, batch: Batch) -> dict[int, Judgement]:
        """The verdicts of the model that the table has already, if they are to be used."""
        if not self.reuse:
            return {}
        names = [self.column.name, *(self.column.column(title) for title in self.asked.fills[1:])]
        cells = [batch.columns.get(name) or [None] * len(batch) for name in names]
        cells += [[None] * len(batch)] * (4 - len(cells))
        return {
            place: Judgement(
                SCORED, value, reason or "", (value,), probability=None if chance is None else float(chance)
            )
            for place, (value, reason, by, chance) in enumerate(zip(*cells, strict=True))
            if value is not None and by in (None, LLM)
        }

    def _is_asked(self, row: int) -> bool:
        return self.sharing is None or not self.sharing.decides(row)

    def _cells(
        self, states: Sequence[str], values: Sequence[str | None], judgements: Mapping[int, Judgement], start: int
    ) -> dict[str, list[Any]]:
        cells: dict[str, list[Any]] = {name: [] for name in ("value", "outcome", "reason", "by", "probability")}
        for place, (state, value) in enumerate(zip(states, values, strict=True)):
            judgement = judgements.get(place)
            chance = None if self.sharing is None else self.sharing.chance(start + place)
            row: tuple[str | None, str, str | None, str | None, float | None] = (None, state, None, None, None)
            if judgement is not None:
                self._count(judgement)
                if self.sharing is not None:
                    self.sharing.record(start + place, judgement.accuracy)
            if value is not None:
                row = (value, SCORED, None, EXACT, None)
            elif judgement is not None and (judgement.verdict is not None or chance is None):
                by = None if judgement.verdict is None else LLM
                reason = judgement.reason or judgement.cause or None
                row = (judgement.verdict, judgement.outcome, reason, by, judgement.probability)
            elif chance is not None:  # decided offline, or asked to check it and the model said nothing
                row = (CORRECT if chance >= 0.5 else WRONG, SCORED, None, OFFLINE, chance)
            for cell, filled in zip(row, cells.values(), strict=True):
                filled.append(cell)
        self._decided_by.update(by for by in cells["by"] if by)
        return self._named(cells)

    def _named(self, cells: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """The cells under their names in the table: the value, its outcome, and what else the column fills."""
        name = self.column.name
        filled = {name: cells["value"], outcome_column(name): cells["outcome"]}
        for title, cell in zip(self.asked.fills[1:], ("reason", "by", "probability"), strict=False):
            shown = cells[cell]
            if cell == "probability":
                shown = [None if chance is None else repr(chance) for chance in shown]
            filled[self.column.column(title)] = shown
        return filled

    def _count(self, judgement: Judgement) -> None:
        if judgement.outcome != SCORED:
            self._causes[f"{judgement.outcome}: {judgement.cause}"] += 1
        if judgement.verdict is not None:
            self._values[judgement.verdict] += 1
        if judgement.reason:
            self._reasons[judgement.reason] += 1
        if sum(verdict is not None for verdict in judgement.verdicts) > 1:
            self._repeated += 1
            self._flipped += judgement.flipped

    def estimate(self, batches: Callable[[], Iterable[Batch]], journal: Journal) -> dict[str, int]:
        """Rows, calls, tokens; each text is asked about once."""
        total: Counter[str] = Counter(rows=0, calls=0, recorded=0, prompt_tokens=0, completion_tokens=0)
        seen: set[str] = set()
        for batch in batches():
            states, values, rows = self.rows(batch)
            for place, (state, value) in enumerate(zip(states, values, strict=True), total["rows"]):
                if state != SCORED or value is not None or not self._is_asked(place):
                    continue
                texts = shown_texts(self.asked, rows[place - total["rows"]])
                key = self.asks.key(texts, 0, 0)
                if key not in seen:
                    seen.add(key)
                    recorded = self.asks.recorded(journal, texts)
                    calls = self.judge.repeats - recorded
                    prompt, completion = self.asks.estimate(texts)
                    tokens = {"prompt_tokens": calls * prompt, "completion_tokens": calls * completion}
                    total.update(calls=calls, recorded=recorded, **tokens)
            total["rows"] += len(batch)
        return dict(total)

    def signature(self) -> dict[str, Any]:
        """For the manifest: everything that the column depends on besides the texts."""
        judge = self.judge
        own = {**judge.signature(self.column.asked), "repeats": judge.repeats, "tries": judge.tries}
        return own if self.sharing is None else {**own, "cascade": self.sharing.cascade.signature()}

    def summary(self) -> dict[str, Any]:
        """For the summary: who decided, what failed, how often repeats disagree, and what looks wrong."""
        return {
            "judged_by": dict(sorted(self._decided_by.items())),
            "causes": dict(self._causes.most_common()),
            "n_judged_repeatedly": self._repeated,
            "flip_rate": self._flipped / self._repeated if self._repeated else None,
            "warnings": list(self._warnings()),
            **({} if self.sharing is None else {"cascade": self.sharing.summary(self.judge)}),
        }

    def _warnings(self) -> Iterable[str]:
        """A judge that always says the same is no judge."""
        for what, counter in (("verdicts", self._values), ("reasons", self._reasons)):
            n = counter.total()
            if n >= _FEW and counter.most_common(1)[0][1] >= _NEARLY_ALL * n:
                value, same = counter.most_common(1)[0]
                yield f"{same:,} of the judge's {n:,} {what} are the same: {value[:80]!r}"
