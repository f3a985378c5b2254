"""Rows shared between the offline judge and a language model, by a cascade. Each row is checked by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragmeter.judges.cascade import Cascade, Doubtful, Plan, agreement, corrected_accuracy, offline_chances
from ragmeter.judges.judge import ColumnJudge, Judge, shown_texts
from ragmeter.judges.verdict import CORRECT
from ragmeter.table import Scores

#: So many rows are put to the offline judge at once.
_AT_ONCE = 20_000


@dataclass(frozen=True)
class Row:
    """A row of the table. `doubtful` has its columns if it needs a judge, `value` its verdict if it needs none."""

    qid: str
    doubtful: Mapping[str, Any] | None
    value: str | None


class Sharing:
    """Who decides each row of a table. Rows go by their numbers, from 0."""

    def __init__(self, cascade: Cascade) -> None:
        self.cascade = cascade
        self._plan: Plan
        self._chances = self._model = self._costs = np.array([], dtype=np.float64)
        self._sure = self._audited = np.array([], dtype=np.bool_)

    def prepare(self, rows: Iterable[Row], asks: ColumnJudge, budget: float | None) -> None:
        """Ask the offline judge about every doubtful row, and choose which of them it decides."""
        unit_of: dict[str, int] = {}
        decided: dict[str, float] = {}
        places: list[int] = []
        qids: list[str] = []
        costs: list[float] = []
        chances: list[Scores] = []
        block: list[Mapping[str, Any]] = []
        most = 0.0
        n = 0
        for n, row in enumerate(rows, 1):
            unit_of[row.qid or str(n)] = n - 1
            if row.value is not None:
                decided[row.qid or str(n)] = float(row.value == CORRECT)
            if row.doubtful is not None:
                texts = shown_texts(asks.asked, row.doubtful)
                costs.append(asks.cost(texts) * asks.judge.repeats)
                most = max(most, asks.most(texts))
                places.append(n - 1)
                qids.append(row.qid or str(n))
                block.append(row.doubtful)
                if len(block) == _AT_ONCE:
                    chances.append(self._offline(block))
                    block = []
        every = np.concatenate([*chances, self._offline(block)])
        units = np.array(places, dtype=np.int64)
        doubtful = Doubtful(qids, every, np.array(costs, dtype=np.float64), most, units, unit_of, decided)
        self._plan = self.cascade.plan(doubtful, budget)
        self._chances, self._costs, self._model = np.full(n, np.nan), np.zeros(n), np.full(n, np.nan)
        self._chances[units], self._costs[units] = every, doubtful.costs
        self._sure = np.zeros(n, dtype=np.bool_)
        self._sure[units] = self._plan.threshold.sure(every)
        self._audited = self.cascade.audited(self._sure, self._plan)
        for qid, correct in decided.items():
            self._model[unit_of[qid]] = correct

    def _offline(self, block: list[Mapping[str, Any]]) -> Scores:
        columns = {
            "question": [row.get("question") or "" for row in block],
            "reference": [row["reference"] for row in block],
            "answer": [row["answer"] for row in block],
        }
        return offline_chances(columns, self.cascade.calibration)

    def decides(self, row: int) -> bool:
        """Whether the offline judge decides a row, and the model is not asked."""
        return bool(self._sure[row] and not self._audited[row])

    def chance(self, row: int) -> float | None:
        """The offline judge's chance that the answer is right, where it is sure."""
        return float(self._chances[row]) if self._sure[row] else None

    def record(self, row: int, correct: bool | None) -> None:
        """What the model says of a row that it was asked about."""
        self._model[row] = np.nan if correct is None else float(correct)

    def summary(self, judge: Judge) -> dict[str, Any]:
        """Where verdicts came from, what was saved, and the accuracy without the offline judge's mistakes."""
        offline = np.where(self._chances >= 0.5, 1.0, 0.0)
        cheap = np.where(self._sure, offline, self._model)
        checked = self._sure & self._audited
        pairs = [
            (bool(own), None if np.isnan(model) else bool(model))
            for own, model in zip(offline[checked].tolist(), self._model[checked].tolist(), strict=True)
        ]
        saved = self._sure & ~self._audited
        described = self._plan.as_dict(len(self.cascade.labels))
        missing = int(np.count_nonzero(~np.isnan(self._chances) & ~self._sure & np.isnan(self._model)))
        if missing:
            described["warnings"].append(
                f"{missing:,} doubtful rows have no verdict, and the others are not like them: every accuracy here is "
                "of those alone. Ask again"
            )
        return {
            **described,
            "calls_saved": int(saved.sum()) * judge.repeats,
            "saved_usd": None if judge.price is None else float(self._costs[saved].sum()),
            "audited": agreement(pairs),
            "accuracy": corrected_accuracy(cheap, self._model, self._sure, np.arange(len(cheap))),
        }
