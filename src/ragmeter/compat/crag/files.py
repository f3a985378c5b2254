"""The files of the CRAG-MM evaluation: turn data in, results and scores out."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import ragmeter
from ragmeter.compat.crag.evaluation import RESULT_COLUMNS, TURN_COLUMNS, Judged
from ragmeter.documents.manifest import Manifest
from ragmeter.documents.metrics import MetricSummary
from ragmeter.documents.summary import Summary
from ragmeter.documents.usage import Effort, Usage
from ragmeter.engine.judging.setup import OWN_JOURNAL
from ragmeter.errors import ColumnError, InputError, UsageError
from ragmeter.io.cells import as_list, is_missing, whole
from ragmeter.io.source import open_source
from ragmeter.io.write import dumps, replacing, write_rows
from ragmeter.metrics.conversation import accuracy_bounds, conversation_score
from ragmeter.runs.layout import ROWS, writing
from ragmeter.runs.places import hold
from ragmeter.runs.run import Run
from ragmeter.runs.writer import NewRun, RowsWriter, Scored
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.summary import summarise
from ragmeter.table import SCORED, Batch, Measure

ALL_TURNS, EGO_TURNS = "turn_evaluation_results_all.csv", "turn_evaluation_results_ego.csv"
SCORES_FILE, JOURNAL = "scores_dictionary.json", OWN_JOURNAL
_NEEDED = ("session_id", "turn_idx", "query", "ground_truth", "agent_response")
#: The score columns of a run, and the attributes of a turn's result that they show.
_ATTRIBUTES = {
    "is_correct": "correct",
    "is_exact_match": "exact",
    "is_miss": "miss",
    "is_hallucination": "hallucination",
}
#: The measures of turns.
MEASURES = [
    Measure(name, binary=True, direction="lower" if name in ("is_miss", "is_hallucination") else "higher")
    for name in _ATTRIBUTES
]
#: The share of right answers less that of wrong ones: a score of turns that is in no column, as it follows from others.
TRUTHFULNESS = Measure("truthfulness_score", bounds=(-1.0, 1.0))
#: The measure of conversations.
CONVERSATION = Measure("multi_turn_conversation_score", bounds=(-1.0, 1.0))


def load_turns(path: str | Path) -> list[dict[str, Any]]:
    """Turn data from JSON lines, or from any other format that ragmeter reads, checked."""
    source = open_source(path)
    rows: list[dict[str, Any]] = []
    line_of: dict[tuple[str, int], int] = {}
    for line, record in source.records():
        missing = [name for name in _NEEDED if name not in record]
        if missing:
            raise ColumnError(
                f"turn data needs {', '.join(missing)}",
                file=source.name,
                line=line,
                hint="`ragmeter crag generate` writes such files",
            )
        row = checked(record, source.name, line)
        place = (row["session_id"], row["turn_idx"])
        if place in line_of:
            raise InputError(
                f"turn {place[1]} of session {place[0]!r} occurs twice, first in line {line_of[place]}",
                file=source.name,
                line=line,
            )
        line_of[place] = line
        rows.append(row)
    return rows


def checked(row: dict[str, Any], name: str = "turn data", line: int | None = None) -> dict[str, Any]:
    """A turn whose values have the right types, or an error that says what is wrong."""
    session, index = row.get("session_id"), row.get("turn_idx")
    if session is None or session == "":
        raise InputError("the turn has no session_id", file=name, line=line)
    if (isinstance(index, str) and index.strip().isdecimal()) or (isinstance(index, float) and index.is_integer()):
        index = int(index)
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise InputError(f"turn_idx must be a whole number from 0 up, got {index!r}", file=name, line=line)
    texts: dict[str, Any] = {}
    for column in ("query", "ground_truth", "agent_response"):
        value = row.get(column)
        if column == "ground_truth" and isinstance(value, list | tuple):  # several answers are accepted
            if not all(isinstance(text, str) for text in value):
                raise InputError("ground_truth must be a text or a list of texts", file=name, line=line)
            answers = list(dict.fromkeys(whole(text) for text in value if text.strip()))
            texts[column] = answers if len(answers) > 1 else answers[0] if answers else None
            continue
        if value is not None and not isinstance(value, str):
            raise InputError(f"{column} must be a text, got {type(value).__name__}", file=name, line=line)
        texts[column] = None if value is None else whole(value)
    ego = row.get("is_ego")
    if isinstance(ego, str):
        if ego.strip().lower() not in ("true", "false", "1", "0", ""):
            raise InputError(f"is_ego must be true or false, got {ego!r}", file=name, line=line)
        ego = ego.strip().lower() in ("true", "1")
    history = row.get("interaction_id_history")
    return {
        **row,
        **texts,
        "session_id": str(session),
        "turn_idx": index,
        "is_ego": bool(ego),
        "interaction_id_history": history if isinstance(history, list) else as_list(history or "", strict=False),
    }


def save_turns(path: str | Path, turns: Sequence[Mapping[str, Any]]) -> None:
    """Write turn data as JSON lines: all of it, or no file."""
    target = Path(path)
    with replacing(target) as (temporary,), temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(dumps(dict(turn)) + "\n" for turn in turns)


def save_results(
    folder: Path,
    rows: Mapping[str, Iterable[Mapping[str, Any]]],
    scores: Mapping[str, Mapping[str, float | None]],
    *,
    guard: bool = True,
) -> list[Path]:
    """Write the two files of turns and the dictionary of scores."""
    paths = [folder / ALL_TURNS, folder / EGO_TURNS, folder / SCORES_FILE]
    with hold(folder, "writes results"), replacing(*paths, private=True) as temporary:
        _write_results(temporary, rows, scores, guard=guard)
    return paths


def result_rows(part: str, rows: Any) -> list[Mapping[str, Any]]:
    """The rows of a part of the results: a list of dicts, or the DataFrame that somebody made of one."""
    if callable(getattr(rows, "to_dicts", None)):  # polars
        rows = rows.to_dicts()
    elif callable(getattr(rows, "to_dict", None)):  # pandas
        rows = rows.to_dict("records")
    if not isinstance(rows, Sequence) or not all(isinstance(row, Mapping) for row in rows):
        raise UsageError(f"turn_results[{part!r}] must be a list of dicts or a DataFrame, got {type(rows).__name__}")
    return [{name: None if is_missing(value) else value for name, value in row.items()} for row in rows]


def save_run(
    folder: Path,
    judged: Judged,
    summary: dict[str, Any],
    manifest: Manifest,
    rows: Mapping[str, Iterable[Mapping[str, Any]]],
    scores: Mapping[str, Mapping[str, float | None]],
    *,
    guard: bool = True,
) -> Run:
    """Write the same files and those of a run, all in one step, beside the folder's other files."""
    outcomes = judged.outcomes()
    with NewRun(folder, inside=True) as new:
        with RowsWriter(new.folder / ROWS, MEASURES) as writer:
            writer.write(Scored(_batch(judged), {name: (_flag(judged, name), outcomes) for name in _ATTRIBUTES}))
        with writing(folder):
            results = [new.folder / name for name in (ALL_TURNS, EGO_TURNS, SCORES_FILE)]
            _write_results(results, rows, scores, guard=guard)
        return new.finish(manifest, typed(summary))


def effort_of(effort: Mapping[str, Any]) -> Effort | None:
    """The effort of a report as a run's document has it; None where no judge was asked."""
    return msgspec.convert(effort, Effort) if effort else None


def typed(summary: Mapping[str, Any]) -> Summary:
    """The summary of a report as the document of a run; without a judge, it has no usage."""
    return msgspec.convert({name: value for name, value in summary.items() if name != "usage" or value}, Summary)


def _write_results(
    paths: Sequence[Path],
    rows: Mapping[str, Iterable[Mapping[str, Any]]],
    scores: Mapping[str, Mapping[str, float | None]],
    *,
    guard: bool,
) -> None:
    all_turns, ego_turns, dictionary = paths
    for key, path in (("all", all_turns), ("ego", ego_turns)):
        cells = ([row.get(column) for column in RESULT_COLUMNS] for row in rows[key])
        write_rows(path, RESULT_COLUMNS, cells, "csv", guard=guard)
    dictionary.write_text(dumps(scores, indent=2) + "\n", encoding="utf-8")


def summarise_turns(judged: Judged, usage: Usage | None) -> dict[str, Any]:
    """The summary: intervals, counts and causes. Nothing in it depends on the time or the speed of the run."""
    failed = judged.not_scored()
    outcomes = judged.outcomes()
    lengths = [len(results) for results in judged.counted]
    codes = np.repeat(np.arange(len(lengths)), lengths) if any(length > 1 for length in lengths) else None
    metrics: dict[str, MetricSummary] = {
        measure.name: summarise(
            _flag(judged, measure.name),
            failed,
            binary=True,
            direction=measure.direction,
            bounds=measure.bounds,
            codes=codes,  # a conversation's turns are one cluster
        )
        for measure in MEASURES
    }
    metrics[TRUTHFULNESS.name] = summarise(
        _flag(judged, "is_correct") - _flag(judged, "is_hallucination"),
        failed,
        bounds=TRUTHFULNESS.bounds,
        codes=codes,
    )
    by_conversation = [conversation_score(results) for results in judged.counted]
    unknown = sum(score is None for score in by_conversation)
    metrics[CONVERSATION.name] = summarise(
        np.array([np.nan if score is None else score for score in by_conversation], dtype=np.float64),
        {"a turn was not scored": unknown} if unknown else {},
        bounds=CONVERSATION.bounds,
    )
    return {
        "ragmeter": ragmeter.__version__,
        "n_rows": len(outcomes),
        "n_conversations": len(judged.conversations),
        "statistics": Confidence(cluster=None if codes is None else "session_id").kept(),
        "metrics": metrics,
        "accuracy_bounds": accuracy_bounds(judged.results()),
        "unscored_share": 1 - outcomes.count(SCORED) / len(outcomes) if outcomes else 0.0,
        **judged.judging(),
        "usage": usage or {},
    }


def manifest_of(
    run: str,
    inputs: Mapping[str, Any],
    judge: dict[str, Any] | None,
    effort: Mapping[str, Any],
    cascade: dict[str, Any] | None = None,
) -> Manifest:
    """The manifest: what the results depend on, and when and how the run was made."""
    return Manifest(
        run=run,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        ragmeter=ragmeter.__version__,
        evaluator="CRAGEvaluator",
        inputs=dict(inputs),
        judge=judge,
        cascade=cascade,
        effort=effort_of(effort),
        versions={"python": platform.python_version(), "numpy": np.__version__},
    )


def _flag(judged: Judged, name: str) -> Any:
    """One flag of every turn as a column of scores, NaN where it is not known."""
    value = attrgetter(_ATTRIBUTES[name])
    results = (result for conversation in judged.counted for result in conversation)
    return np.array(
        [np.nan if result.correct is None else float(value(result)) for result in results], dtype=np.float64
    )


def _batch(judged: Judged) -> Batch:
    """The turns as rows of the table."""
    turns = list(judged.all_turns)
    renamed = {"query": "question", "agent_response": "answer", "ground_truth": "reference"}
    columns: dict[str, list[Any]] = {"qid": [turn.qid for turn in turns]}
    for name in (*TURN_COLUMNS, "error"):
        values = [turn.row.get(name) for turn in turns]
        if name == "ground_truth":
            columns["reference"] = [[value] if isinstance(value, str) else value or [] for value in values]
        elif name != "interaction_id_history" and any(value is not None for value in values):
            columns[renamed.get(name, name)] = [None if value is None else _text(value) for value in values]
    columns["judged_by"] = [turn.decision.by for turn in turns]
    if any(turn.judgement for turn in turns):
        columns["verdict"] = [turn.judgement.verdict if turn.judgement else None for turn in turns]
        columns["reason"] = [
            whole(turn.decision.reason or turn.decision.cause) if turn.judgement else None for turn in turns
        ]
    return Batch(columns)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)
