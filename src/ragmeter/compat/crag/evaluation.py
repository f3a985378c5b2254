"""Turns as an ordinary evaluation, and its results in the seed's names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, compress
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from msgspec import structs, to_builtins

from ragmeter.compat.crag.turns import TURN_COLUMNS, TurnTable, failure_of
from ragmeter.definition import Metric
from ragmeter.definition.judge_columns import EXACT, MISS, OFFLINE
from ragmeter.documents.manifest import FilledColumns
from ragmeter.documents.record import UNSET
from ragmeter.effects.calls import Limits
from ragmeter.engine.evaluation import Inputs, score_in_memory
from ragmeter.engine.judging.cascade_run import OFFLINE_COLUMNS, Row
from ragmeter.engine.judging.judge_run import JudgeRun
from ragmeter.engine.judging.observers import JudgingWatch
from ragmeter.engine.judging.sessions import SessionCascade
from ragmeter.engine.judging.setup import JudgeResult, columns_of
from ragmeter.engine.results import Evaluation
from ragmeter.engine.row_reader import RowReader
from ragmeter.io.progress import Advance
from ragmeter.judges.cascade import Cascade
from ragmeter.judges.judge import Judge
from ragmeter.judges.judgement import Judgement
from ragmeter.metrics import conversation
from ragmeter.metrics.conversation import (
    CORRECT,
    WRONG,
    Turn,
    Turns,
    conversation_score,
    counted,
    ended_at,
    sessions_of,
    turn_of,
)
from ragmeter.table import ENDED, JUDGE_COLUMNS, SCORED, Batch, outcome_column

#: The metrics of turns, and of conversations, by the seed's names.
METRICS: dict[str, Metric] = {
    "accuracy": conversation.accuracy,
    "exact_match": conversation.exact_answer,
    "missing": conversation.missing,
    "hallucination_rate": conversation.hallucination_rate,
    "truthfulness_score": conversation.truthfulness_score,
    "mean_multi_turn_conversation_score": conversation.multi_turn_conversation_score,
}
#: What a run of conversations called them in ragmeter 0.1.
EARLIER_NAMES = {
    "is_correct": "accuracy", "is_exact_match": "exact_match", "is_miss": "missing",
    "is_hallucination": "hallucination_rate",
    "multi_turn_conversation_score": "mean_multi_turn_conversation_score",
}  # fmt: skip
RESULT_COLUMNS = (
    *TURN_COLUMNS, "is_exact_match", "is_correct", "is_miss", "is_semantically_correct", "api_response",
)  # fmt: skip
NO_REFERENCE = "no_reference"
#: Who decided a turn where there is no judge.
NOBODY = "nobody"
_MEANS = {NO_REFERENCE: "the turn has no ground truth"}


class Judgements(JudgingWatch):
    """Keeps what the model says of each turn, by its qid."""

    def __init__(self) -> None:
        super().__init__()
        self.by_qid: dict[str, Judgement] = {}

    def judged(self, column: str, row: Mapping[str, Any], judgement: Judgement) -> None:
        """A turn has its judgement, or none."""
        self.by_qid[row["qid"]] = judgement
        super().judged(column, row, judgement)


@dataclass(frozen=True)
class TurnJudge:
    """Who judges turns: a language model, the offline judge, both, or nobody, so that an exact match alone is right."""

    judge: Judge | None
    cascade: Cascade | None
    limits: Limits
    journal: Path | None
    is_shared: bool
    retry_failed: bool

    def metrics(self) -> list[Metric]:
        """The metrics of the run."""
        is_cascade = self.judge is not None and self.cascade is not None
        return [metric.with_settings(judge="cascade") if is_cascade else metric for metric in METRICS.values()]

    def judge_run(self, judge: Judge) -> JudgeRun:
        """The judging of turns. In a journal that many share, there is nothing to say of what is not used."""
        own = copy(judge)
        own.workers, own.budget, own.max_calls = self.limits.workers, self.limits.budget, self.limits.max_calls
        own.cascade, own.journal = self.cascade, None if self.is_shared else self.journal
        return JudgeRun(columns_of(self.metrics()), own, self.journal, self.retry_failed)

    def evaluate(self, turns: TurnTable, inputs: Mapping[str, Any], advance: Advance, watch: Judgements) -> JudgedTurns:
        """Judge and score turns. `advance` is called with the number of turns that are done."""
        batch = turns.batch()
        filled, cascade = JudgeResult(), None
        offline: dict[str, FilledColumns] = {}
        if self.judge is not None:
            filled = self.judge_run(self.judge).fill(RowReader(lambda: [batch], len(batch)), advance, watch)
        else:
            batch, cascade = _decided(batch, self.cascade)
            shared = UNSET if self.cascade is None else self.cascade.signature()
            offline = {"verdict": FilledColumns(columns=list(JUDGE_COLUMNS), cascade=shared)}
            advance(len(turns))
        about = Inputs("turns", lambda signed: structs.replace(signed, inputs=dict(inputs), offline=offline))
        evaluation = score_in_memory(filled.joined([batch]), self.metrics(), about, filled=filled)
        return JudgedTurns(turns, evaluation, watch.by_qid, cascade)


def _decided(batch: Batch, cascade: Cascade | None) -> tuple[Batch, dict[str, Any] | None]:
    """Turns with verdicts that no model gave, and the summary of a cascade in which the offline judge decides all."""
    n, references = len(batch), batch.columns["reference"]
    causes = batch.causes or [None] * n
    answers = [None if cause else answer for answer, cause in zip(batch.columns["answer"], causes, strict=True)]
    turns = list(map(turn_of, answers, references, [None] * n, [None] * n))
    values = [None if turn.correct is None else CORRECT if turn.correct else WRONG for turn in turns]
    deciders = [EXACT if turn.exact else MISS if turn.miss else None for turn in turns]
    is_open = [value is None and bool(texts) and not cause
               for value, texts, cause in zip(values, references, causes, strict=True)]  # fmt: skip
    sessions = sessions_of(batch.columns["session_id"], batch.columns["turn_idx"])
    sharing = None if cascade is None else _all_offline(cascade, batch, values, is_open, sessions)
    chances = [sharing.chance(place) if sharing and is_open[place] else None for place in range(n)]
    for place in compress(range(n), is_open):
        values[place] = CORRECT if (chances[place] or 0.0) >= 0.5 else WRONG
        deciders[place] = NOBODY if sharing is None else OFFLINE
    before = list(map(turn_of, answers, references, values, [None] * n))
    ended = [place for places in sessions for place in places[ended_at([before[at].correct for at in places]) :]]
    for place in ended:
        deciders[place] = MISS if deciders[place] == MISS else ENDED
    if sharing is not None:
        sharing.decide(sessions, ended)
    states = [cause or (SCORED if texts else NO_REFERENCE) for cause, texts in zip(causes, references, strict=True)]
    columns: dict[str, Sequence[Any]] = {**batch.columns, "verdict": values, outcome_column("verdict"): states}
    columns |= {"judged_by": deciders, "verdict_probability": chances}
    judged = replace(batch, columns=columns, numbers={"verdict_probability"})
    return judged, None if sharing is None else to_builtins(sharing.summary(None))


def _all_offline(
    cascade: Cascade,
    batch: Batch,
    values: Sequence[str | None],
    is_open: Sequence[bool],
    sessions: Sequence[Sequence[int]],
) -> SessionCascade:
    """The offline judge, who decides all turns that need a judge."""
    sharing = SessionCascade(cascade)
    unit_of = {place: unit for unit, places in enumerate(sessions) for place in places}
    rows = []
    for place, qid in enumerate(batch.columns["qid"]):
        texts = {name: batch.columns[name][place] for name in OFFLINE_COLUMNS} if is_open[place] else None
        rows.append(Row(qid, texts, values[place], unit_of[place]))
    sharing.prepare(rows, None, None)
    return sharing


def scores(conversations: Sequence[Sequence[Turn]]) -> dict[str, float | None]:
    """The seed's dictionary of scores, over the scored turns. Rates are None if there are none."""
    after = [counted(turns) for turns in conversations]
    scored = [turn for turns in after for turn in turns if turn.correct is not None]
    of_conversations = [score for turns in after if turns and (score := conversation_score(turns)) is not None]
    total, correct = len(scored), sum(turn.correct is True for turn in scored)
    exact, miss = sum(turn.exact for turn in scored), sum(turn.miss for turn in scored)
    counts = {"total": total, "correct_exact": exact, "correct": correct, "miss": miss}
    counts["hallucination"] = total - correct - miss
    rates = {
        "exact_match": exact,
        "accuracy": correct,
        "missing": miss,
        "hallucination_rate": counts["hallucination"],
        "truthfulness_score": 2 * correct + miss - total,
    }
    return {
        **{name: float(count) for name, count in counts.items()},
        **{name: count / total if total else None for name, count in rates.items()},
        "mean_multi_turn_conversation_score": fmean(of_conversations) if of_conversations else None,
    }


@dataclass(frozen=True)
class JudgedTurns:
    """The results of turns, in the seed's names."""

    turns: TurnTable
    evaluation: Evaluation
    judgements: Mapping[str, Judgement]
    cascade: Mapping[str, Any] | None

    @cached_property
    def _columns(self) -> dict[str, list[Any]]:
        """The run's columns; those of a cascade have its setting in their names."""
        table = self.evaluation.rows
        settled = {name.replace("[judge=cascade]", ""): name for name in table.column_names}
        return {short: table[name].to_pylist() for short, name in settled.items()}

    def _flags(self, name: str) -> list[bool | None]:
        column = self._columns[METRICS[name].base]
        return [None if score is None or np.isnan(score) else bool(score) for score in column]

    def not_scored(self) -> dict[str, int]:
        """How many turns have no score, by outcome."""
        outcomes = self._columns[outcome_column("accuracy")]
        return dict(sorted(Counter(outcome for outcome in outcomes if outcome != SCORED).items()))

    def rows(self, *, ego: bool = False) -> list[dict[str, Any]]:
        """The rows of the results file, by session and turn; with `ego`, of ego-centric conversations alone."""
        flags = {name: self._flags(name) for name in ("exact_match", "accuracy", "missing")}
        places = sorted(chain(*self._sessions(ego=ego)), key=lambda place: str(self.turns.rows[place]["session_id"]))
        return [
            {
                **{column: self.turns.rows[place].get(column) for column in TURN_COLUMNS},
                "is_exact_match": flags["exact_match"][place],
                "is_correct": flags["accuracy"][place],
                "is_miss": flags["missing"][place],
                "is_semantically_correct": flags["accuracy"][place],
                "api_response": self._response(place),
            }
            for place in places
        ]

    def scores(self, *, ego: bool = False) -> dict[str, float | None]:
        """The dictionary of scores; with `ego`, over ego-centric conversations alone."""
        columns = zip(*(self._flags(name) for name in ("accuracy", "missing", "exact_match")), strict=True)
        turns = [Turn(correct, bool(miss), bool(exact)) for correct, miss, exact in columns]
        return scores([[turns[place] for place in places] for places in self._sessions(ego=ego)])

    def summary(self) -> dict[str, Any]:
        """The run's summary, with what is said of its judge and the metrics' plain names."""
        summary = to_builtins(self.evaluation.summary)
        judging = dict(next(iter((summary.get("judges") or {}).values()), {}))
        judged_by = Counter(by for by in self._columns.get("judged_by", ()) if by)
        causes = Counter(cause for place in range(len(self.turns)) if (cause := self._cause(place)))
        failed = self.not_scored()
        usage = summary.get("judge_usage") or {}
        return {
            **summary,
            "n_conversations": len(self._before.sessions),
            "metrics": {name.partition("[")[0]: metric for name, metric in summary["metrics"].items()},
            "accuracy_bounds": conversation.accuracy_bounds(
                [[self._before.before[place] for place in places] for places in self._before.sessions]
            ),
            "unscored_share": sum(failed.values()) / len(self.turns),
            **({"cascade": self.cascade} if self.cascade is not None else {}),
            "n_judged_repeatedly": 0,
            "flip_rate": None,
            "flip_rate_interval": None,
            **judging,
            "judged_by": dict(sorted(judged_by.items())),
            "causes": dict(causes.most_common()),
            "judge_warnings": judging.get("warnings", []),
            "usage": usage,
        }

    @cached_property
    def _before(self) -> Turns:
        columns = self._columns
        errors = [failure_of(row) for row in self.turns.rows]
        before: list[Turn] = list(map(turn_of, columns["answer"], columns["reference"], columns["verdict"], errors))
        return Turns(before, sessions_of(columns["session_id"], columns["turn_idx"]))

    def _sessions(self, *, ego: bool) -> list[Sequence[int]]:
        """The places of each conversation's turns; with `ego`, of conversations whose first turn is ego-centric."""
        sessions = self._before.sessions
        return [places for places in sessions if not ego or self.turns.rows[places[0]].get("is_ego")]

    def _cause(self, place: int) -> str:
        """Why a turn has no score, with its outcome; empty if it has one."""
        outcome = self._columns[outcome_column("accuracy")][place]
        if outcome == SCORED:
            return ""
        return f"{outcome}: {self._reason(place, outcome)}"

    def _reason(self, place: int, outcome: str) -> str:
        judgement = self.judgements.get(self.turns.qids[place])
        said = "" if judgement is None else judgement.cause
        return said or failure_of(self.turns.rows[place]) or _MEANS.get(outcome, "")

    def _response(self, place: int) -> dict[str, Any] | None:
        """What the judge has said of a turn."""
        judgement = self.judgements.get(self.turns.qids[place])
        if judgement is not None:
            return judgement.as_dict()
        if self._columns["judged_by"][place] == OFFLINE:
            return {
                "accuracy": self._columns["verdict"][place] == CORRECT, "eval_result": "", "outcome": SCORED,
                "judged_by": OFFLINE, "probability": self._columns["verdict_probability"][place],
            }  # fmt: skip
        outcome = self._columns[outcome_column("accuracy")][place]
        if outcome == SCORED:
            return None
        return {"accuracy": None, "eval_result": "", "outcome": outcome, "cause": self._reason(place, outcome)}
