"""Turns as an ordinary evaluation, and its results in the seed's names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from statistics import fmean
from typing import Any

from msgspec import structs, to_builtins

from ragmeter.compat.crag.llm_judge import TurnJudgement
from ragmeter.compat.crag.turns import TURN_COLUMNS, TurnTable, failure_of
from ragmeter.definition import Metric
from ragmeter.definition.judge_columns import OFFLINE
from ragmeter.documents.judging import CascadeSummary
from ragmeter.documents.manifest import FilledColumns
from ragmeter.documents.record import UNSET
from ragmeter.engine.evaluation import score_in_memory
from ragmeter.engine.judging.cascade_run import Decision
from ragmeter.engine.judging.judge_run import JudgeRun
from ragmeter.engine.judging.observers import JudgingWatch
from ragmeter.engine.judging.sessions import SessionRun
from ragmeter.engine.judging.setup import JudgeResult, columns_of, with_columns
from ragmeter.engine.results import Evaluation
from ragmeter.engine.row_reader import RowReader
from ragmeter.io.progress import Advance
from ragmeter.judges.asking.cascade import Cascade
from ragmeter.judges.asking.judge import Judge
from ragmeter.judges.asking.judgement import Judgement
from ragmeter.metrics import conversation
from ragmeter.metrics.conversation import (
    CORRECT,
    WRONG,
    Turn,
    Turns,
    conversation_score,
    counted,
    sessions_of,
    turn_of,
)
from ragmeter.table import SCORED, Batch, outcome_column

#: The metrics of turns, and of conversations, by the seed's names.
METRICS: dict[str, Metric] = {
    "accuracy": conversation.accuracy,
    "exact_match": conversation.exact_answer,
    "missing": conversation.missing,
    "hallucination_rate": conversation.hallucination_rate,
    "truthfulness_score": conversation.truthfulness_score,
    "mean_multi_turn_conversation_score": conversation.multi_turn_conversation_score,
}
#: The dictionary of scores.
COUNTS = ("total", "correct_exact", "correct", "miss", "hallucination")
RATES = (
    "exact_match", "accuracy", "missing", "hallucination_rate", "truthfulness_score",
    "mean_multi_turn_conversation_score",
)  # fmt: skip
RESULT_COLUMNS = (
    *TURN_COLUMNS, "is_exact_match", "is_correct", "is_miss", "is_semantically_correct", "api_response",
)  # fmt: skip
NO_REFERENCE = "no_reference"
#: Who decided a turn where there is no judge.
NOBODY = "nobody"
_MEANS = {NO_REFERENCE: "the turn has no ground truth"}


def metrics_of(*, is_cascade: bool) -> list[Metric]:
    """The metrics of turns that a language model judges; in a cascade, together with the offline judge."""
    return [metric.with_settings(judge="cascade") if is_cascade else metric for metric in METRICS.values()]


class Judgements(JudgingWatch):
    """Keeps what the model says of each turn, by its qid."""

    def __init__(self) -> None:
        super().__init__()
        self.by_qid: dict[str, Judgement] = {}

    def judged(self, column: str, row: Mapping[str, Any], judgement: Judgement) -> None:
        """A turn has its judgement, or none."""
        self.by_qid[row["qid"]] = judgement
        super().judged(column, row, judgement)


class OwnVerdicts(SessionRun):
    """Verdicts that no model gives: by the offline judge if there is a cascade, else only an exact match is right."""

    def __init__(self, cascade: Cascade | None) -> None:
        [column] = columns_of(list(METRICS.values()))
        super().__init__(Judge("none", "http://localhost", "none"), column)  # it is never asked
        self.cascade = None if cascade is None else self._cascade_run(cascade)

    def fill_all(self, batch: Batch) -> dict[str, list[Any]]:
        """The columns of all turns."""
        if self.cascade is not None:
            self.cascade.prepare(self._shared_rows(batch), None, None)
        states, values, rows = self.rows(batch)
        known = [None if value is None else self._known(value, row) for value, row in zip(values, rows, strict=True)]
        if self.cascade is None:
            wrong = {SCORED: Decision(WRONG, NOBODY)}
            known = [decision or wrong.get(state) for decision, state in zip(known, states, strict=True)]
        return self._cells(batch, states, known, {}, 0)


def judged(
    turns: TurnTable,
    judge_run: JudgeRun | None,
    cascade: Cascade | None,
    inputs: Mapping[str, Any],
    advance: Advance,
    watch: Judgements,
) -> JudgedTurns:
    """Judge and score turns. `advance` is called with the number of turns that are done."""
    batch = turns.batch()
    filled, summary, offline = JudgeResult(), None, {}
    if judge_run is not None:
        filled = judge_run.fill(RowReader(lambda: [batch], len(batch)), advance, watch)
    else:
        own = OwnVerdicts(cascade)
        batch = with_columns(batch, own.fill_all(batch), own.numbers)
        summary = None if own.cascade is None else own.cascade.summary(None)
        signature = UNSET if cascade is None else cascade.signature()
        offline = {own.column.name: FilledColumns(columns=own.column.columns, cascade=signature)}
        advance(len(turns))
    metrics = metrics_of(is_cascade=judge_run is not None and cascade is not None)
    evaluation = score_in_memory(
        "turns",
        filled.joined([batch]),
        metrics,
        manifest=lambda signed: filled.in_manifest(structs.replace(signed, inputs=dict(inputs), offline=offline)),
        summary=filled.in_summary,
        judging=filled.calls,
    )
    return JudgedTurns(turns, evaluation, watch.by_qid, summary)


def scores(conversations: Sequence[Sequence[Turn]]) -> dict[str, float | None]:
    """The seed's dictionary of scores, over the scored turns. Rates are None if there are none."""
    after = [counted(turns) for turns in conversations]
    scored = [turn for turns in after for turn in turns if turn.correct is not None]
    of_conversations = [score for turns in after if turns and (score := conversation_score(turns)) is not None]
    total, correct = len(scored), sum(turn.correct is True for turn in scored)
    exact, miss = sum(turn.exact for turn in scored), sum(turn.miss for turn in scored)
    wrong = total - correct - miss
    counts = (total, exact, correct, miss, wrong)
    sums = (exact, correct, miss, wrong, 2 * correct + miss - total)
    mean = fmean(of_conversations) if of_conversations else None
    rates = (*(value / total if total else None for value in sums), mean)
    return dict(zip((*COUNTS, *RATES), (*map(float, counts), *rates), strict=True))


@dataclass(frozen=True)
class JudgedTurns:
    """The results of turns, in the seed's names."""

    turns: TurnTable
    evaluation: Evaluation
    judgements: Mapping[str, Judgement]
    cascade: CascadeSummary | None

    @cached_property
    def _columns(self) -> dict[str, list[Any]]:
        """The run's columns; those of a cascade have its setting in their names."""
        table = self.evaluation.rows
        return {name.replace("[judge=cascade]", ""): table[name].to_pylist() for name in table.column_names}

    @cached_property
    def _results(self) -> Turns:
        """The result of each turn, and the places of each conversation's turns."""
        columns = [self._columns[name] for name in ("answer", "reference", "verdict")]
        before = list(map(turn_of, *columns, map(failure_of, self.turns.rows)))
        return Turns(before, sessions_of(self._columns["session_id"], self._columns["turn_idx"]))

    def _sessions(self, *, ego: bool) -> list[Sequence[int]]:
        """The places of each conversation's turns; with `ego`, of conversations whose first turn is ego-centric."""
        return [places for places in self._results.sessions if not ego or self.turns.rows[places[0]].get("is_ego")]

    def _conversations(self, *, ego: bool = False) -> list[list[Turn]]:
        return [[self._results.before[place] for place in places] for places in self._sessions(ego=ego)]

    def not_scored(self) -> dict[str, int]:
        """How many turns have no score, by outcome."""
        return dict(sorted(Counter(outcome for outcome in self._outcomes if outcome != SCORED).items()))

    @property
    def _outcomes(self) -> list[str]:
        return self._columns[outcome_column("accuracy")]

    def rows(self, *, ego: bool = False) -> list[dict[str, Any]]:
        """The rows of the results file, by session and turn; with `ego`, of ego-centric conversations alone."""
        turns = self.turns.rows
        places = sorted(chain(*self._sessions(ego=ego)), key=lambda place: str(turns[place]["session_id"]))
        after = self._results.after()
        rows = []
        for place in places:
            correct, is_known = after[place].correct, after[place].correct is not None
            exact, miss = (flag if is_known else None for flag in (after[place].exact, after[place].miss))
            values = (*map(turns[place].get, TURN_COLUMNS), exact, correct, miss, correct, self._response(place))
            rows.append(dict(zip(RESULT_COLUMNS, values, strict=True)))
        return rows

    def scores(self, *, ego: bool = False) -> dict[str, float | None]:
        """The dictionary of scores; with `ego`, over ego-centric conversations alone."""
        return scores(self._conversations(ego=ego))

    def summary(self) -> dict[str, Any]:
        """The run's summary, with what is said of its judge and the metrics' plain names."""
        summary = to_builtins(self.evaluation.summary)
        judging = dict(next(iter((summary.get("judges") or {}).values()), {}))
        judged_by = Counter(by for by in self._columns.get("judged_by", ()) if by)
        unscored = [place for place, outcome in enumerate(self._outcomes) if outcome != SCORED]
        causes = Counter(f"{self._outcomes[place]}: {self._reason(place)}" for place in unscored)
        return {
            **summary,
            "n_conversations": len(self._results.sessions),
            "metrics": {name.partition("[")[0]: metric for name, metric in summary["metrics"].items()},
            "accuracy_bounds": conversation.accuracy_bounds(self._conversations()),
            "unscored_share": len(unscored) / len(self.turns),
            **({} if self.cascade is None else {"cascade": to_builtins(self.cascade)}),
            "n_judged_repeatedly": 0,
            "flip_rate": None,
            "flip_rate_interval": None,
            **judging,
            "judged_by": dict(sorted(judged_by.items())),
            "causes": dict(causes.most_common()),
            "judge_warnings": judging.get("warnings", []),
            "usage": summary.get("judge_usage") or {},
        }

    def _reason(self, place: int) -> str:
        """Why a turn has no score."""
        judgement = self.judgements.get(self.turns.qids[place])
        said = "" if judgement is None else judgement.cause
        return said or failure_of(self.turns.rows[place]) or _MEANS.get(self._outcomes[place], "")

    def _response(self, place: int) -> dict[str, Any] | None:
        """What the judge has said of a turn."""
        judgement = self.judgements.get(self.turns.qids[place])
        if judgement is not None:
            return TurnJudgement.of(judgement).as_dict()
        if self._columns["judged_by"][place] == OFFLINE:
            return {
                "accuracy": self._columns["verdict"][place] == CORRECT, "eval_result": "", "outcome": SCORED,
                "judged_by": OFFLINE, "probability": self._columns["verdict_probability"][place],
            }  # fmt: skip
        outcome = self._outcomes[place]
        cause = {"accuracy": None, "eval_result": "", "outcome": outcome, "cause": self._reason(place)}
        return None if outcome == SCORED else cause
