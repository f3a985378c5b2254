"""Rows shared between the offline judge and a language model, by a cascade."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ragmeter import table
from ragmeter.definition.judge_columns import LLM, OFFLINE
from ragmeter.documents.judging import NO_MODEL, CascadeSummary
from ragmeter.io.progress import show_notice
from ragmeter.judges.asking.cascade import (
    Cascade,
    CascadePlan,
    Doubtful,
    agreement,
    all_audited_warning,
    corrected_accuracy,
    no_verdict_warning,
    offline_chances,
)
from ragmeter.judges.asking.column_judge import ColumnJudge, shown_texts
from ragmeter.judges.asking.judge import Judge
from ragmeter.judges.asking.judgement import Judgement
from ragmeter.judges.verdict import CORRECT, WRONG
from ragmeter.stats.cascade import Flags, Threshold
from ragmeter.table import SCORED, Scores

#: What the offline judge looks at.
OFFLINE_COLUMNS = ("question", "reference", "answer")
#: So many rows are put to the offline judge at once.
_AT_ONCE = 20_000


@dataclass(frozen=True)
class Row:
    """A row of the table. `doubtful` has its columns if it needs a judge, `value` its verdict if it needs none.

    `unit` is the number of what is checked as a whole, such as its conversation; without it that is the row itself.
    """

    qid: str
    doubtful: table.Row | None
    value: str | None
    unit: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The value of one row and who decided it; or, where there is no value, the outcome and its cause."""

    value: str | None = None
    by: str | None = None
    outcome: str = SCORED
    cause: str = ""
    reason: str = ""
    probability: float | None = None


def decided(judgement: Judgement | None, chance: float | None, otherwise: Decision) -> Decision:
    """What the model says of a row; where it says nothing, what the offline judge says; else `otherwise`.

    `chance` is the offline judge's probability that the answer is right, None where it is not sure.
    """
    if judgement is not None and (judgement.verdict is not None or chance is None):
        by, reason = (None, judgement.explained) if judgement.verdict is None else (LLM, judgement.reason)
        return Decision(judgement.verdict, by, judgement.outcome, judgement.cause, reason, judgement.probability)
    return otherwise if chance is None else Decision(CORRECT if chance >= 0.5 else WRONG, OFFLINE, probability=chance)


class CascadeRun:
    """Decides who judges each row of a table. Rows go by their numbers, from 0; `rows_name` is for messages."""

    rows_name = "rows"

    def __init__(self, cascade: Cascade) -> None:
        self.cascade = cascade
        self._plan: CascadePlan
        self._chances = self._model = self._costs = np.array([], dtype=np.float64)
        self._sure = self._audited = np.array([], dtype=np.bool_)
        self._units = np.array([], dtype=np.int64)

    def prepare(self, rows: Iterable[Row], column_judge: ColumnJudge | None, budget: float | None) -> None:
        """Ask the offline judge about every doubtful row, and choose which of them it decides; all without a model."""
        row_of: dict[str, int] = {}
        decided: dict[str, float] = {}
        units: list[int] = []
        places: list[int] = []
        qids: list[str] = []
        costs: list[float] = []
        chances: list[Scores] = []
        block: list[table.Row] = []
        most = 0.0
        for place, row in enumerate(rows):
            qid = row.qid or str(place + 1)
            row_of[qid] = place
            units.append(place if row.unit is None else row.unit)
            if row.value is not None:
                decided[qid] = float(row.value == CORRECT)
            if row.doubtful is not None:
                texts = {} if column_judge is None else shown_texts(column_judge.declaration, row.doubtful)
                costs.append(0.0 if column_judge is None else column_judge.cost(texts))
                most = most if column_judge is None else max(most, column_judge.most(texts))
                places.append(place)
                qids.append(qid)
                block.append(row.doubtful)
                if len(block) == _AT_ONCE:
                    chances.append(self._offline(block))
                    block = []
        every = np.concatenate([*chances, self._offline(block)])
        n, self._units, doubtful = len(units), np.array(units, dtype=np.int64), np.array(places, dtype=np.int64)
        self._chances, self._costs, self._model = np.full(n, np.nan), np.zeros(n), np.full(n, np.nan)
        self._chances[doubtful], self._costs[doubtful] = every, costs
        unit_of = {qid: units[place] for qid, place in row_of.items()}
        of_doubtful = (self._costs[doubtful], most, self._units[doubtful])
        self._plan = CascadePlan(Threshold(0.5), NO_MODEL)
        if column_judge is not None:
            self._plan = self.cascade.plan(Doubtful(qids, every, *of_doubtful, unit_of, decided), budget)
        self._sure = np.zeros(n, dtype=np.bool_)
        self._sure[doubtful] = self._plan.threshold.sure(every, qids)
        self._audited = np.zeros(n, dtype=np.bool_)
        if column_judge is not None:
            self._audited = self.cascade.audited(np.bincount(self._units, self._sure) > 0, self._plan)[self._units]
            if self._sure.any() and not (self._sure & ~self._audited).any() and self.cascade.audit < 1:
                text = all_audited_warning(int(self._sure.sum()), self.rows_name)
                self._plan = replace(self._plan, warnings=(*self._plan.warnings, text))
                show_notice(text)
        for qid, correct in decided.items():
            self._model[row_of[qid]] = correct

    def _offline(self, block: list[table.Row]) -> Scores:
        columns = {name: [row[name] for row in block] for name in OFFLINE_COLUMNS}
        columns["question"] = [question or "" for question in columns["question"]]
        return offline_chances(columns, self.cascade.calibration)

    def decides(self, row: int) -> bool:
        """Whether the offline judge decides a row, and the model is not asked."""
        return bool(self._sure[row] and not self._audited[row])

    def is_audited(self, row: int) -> bool:
        """Whether the model is asked about a row even if the offline judge is sure."""
        return bool(self._audited[row])

    def chance(self, row: int) -> float | None:
        """The offline judge's chance that the answer is right, where it is sure."""
        return float(self._chances[row]) if self._sure[row] else None

    def record(self, row: int, verdict: str | None) -> None:
        """Record what the model says of a row that it was asked about."""
        self._model[row] = np.nan if verdict is None else float(verdict == CORRECT)

    def summary(self, judge: Judge | None) -> CascadeSummary:
        """Where verdicts came from, what was saved, and the accuracy without the offline judge's mistakes."""
        checked = self._sure & self._audited
        pairs = [
            (bool(own), None if np.isnan(model) else bool(model))
            for own, model in zip(self._verdicts[checked].tolist(), self._model[checked].tolist(), strict=True)
        ]
        saved = self._saved()
        warnings = list(self._plan.warnings)
        if missing := self._n_missing():  # doubtful answers are mostly wrong: without them, the others look better
            warnings.append(no_verdict_warning(missing, self.rows_name))
        return CascadeSummary(
            threshold=self._plan.least,
            tied=self._plan.tied,
            basis=self._plan.basis,
            target_agreement=self._plan.target,
            n_labels=len(self.cascade.labels),
            warnings=warnings,
            calls_saved=0 if judge is None else int(saved.sum()) * judge.calls_per_verdict,
            saved_usd=None if judge is None or judge.price is None else float(self._costs[saved].sum()),
            audited=agreement(pairs),
            accuracy=corrected_accuracy(*self._accuracies(), self._units),
        )

    @property
    def _verdicts(self) -> Scores:
        """The offline judge's: 1 where it holds an answer for right."""
        return np.where(self._chances >= 0.5, 1.0, 0.0)

    def _saved(self) -> Flags:
        """The rows that the model was not asked about, because of the offline judge."""
        return self._sure & ~self._audited

    def _n_missing(self) -> int:
        """How many doubtful rows have no score."""
        return int(np.count_nonzero(~np.isnan(self._chances) & ~self._sure & np.isnan(self._model)))

    def _accuracies(self) -> tuple[Scores, Scores, Flags]:
        """The verdicts of both judges together, those of the model alone, and which of the former rest on sure ones."""
        return np.where(self._sure, self._verdicts, self._model), self._model, self._sure
