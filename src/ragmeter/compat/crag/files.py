"""The files of the CRAG-MM evaluation: turn data in, results and scores out."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

import ragmeter
from ragmeter.compat.crag.evaluation import RESULT_COLUMNS, TURN_COLUMNS, Judged
from ragmeter.errors import ColumnError, InputError
from ragmeter.io.cells import as_list, whole
from ragmeter.io.source import open_source
from ragmeter.io.write import dumps, replacing, write_rows
from ragmeter.metrics.conversation import accuracy_bounds, conversation_score
from ragmeter.runs.files import ROWS
from ragmeter.runs.run import Run
from ragmeter.runs.writer import NewRun, RowsWriter, Scored
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.summary import MetricSummary, summarise
from ragmeter.table import SCORED, Batch, Measure

ALL_TURNS, EGO_TURNS = "turn_evaluation_results_all.csv", "turn_evaluation_results_ego.csv"
SCORES_FILE, JOURNAL = "scores_dictionary.json", "journal.sqlite"
_NEEDED = ("session_id", "turn_idx", "query", "ground_truth", "agent_response")
#: The score columns of a run, and where a turn has them.
_ATTRIBUTES = {
    "is_correct": "correct",
    "is_exact_match": "exact",
    "is_miss": "miss",
    "is_hallucination": "hallucination",
}
#: What a run is summarised by, turn by turn.
MEASURES = [
    Measure(name, binary=True, direction="lower" if name in ("is_miss", "is_hallucination") else "higher")
    for name in _ATTRIBUTES
]
#: What it is summarised by, conversation by conversation.
CONVERSATION = Measure("multi_turn_conversation_score", bounds=(-1.0, 1.0))


def load_turns(path: str | Path) -> list[dict[str, Any]]:
    """Turn data from JSON lines, or from any other format that ragmeter reads."""
    source = open_source(path)
    rows: list[dict[str, Any]] = []
    seen: dict[tuple[str, int], int] = {}
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
        if place in seen:
            raise InputError(
                f"turn {place[1]} of session {place[0]!r} is there twice, first in line {seen[place]}",
                file=source.name,
                line=line,
            )
        seen[place] = line
        rows.append(row)
    return rows


def checked(row: dict[str, Any], name: str = "turn data", line: int | None = None) -> dict[str, Any]:
    """A turn with its values in their types, or an error that says what is wrong with it."""
    session, index = row.get("session_id"), row.get("turn_idx")
    if session is None or session == "":
        raise InputError("the turn has no session_id", file=name, line=line)
    if (isinstance(index, str) and index.strip().isdecimal()) or (isinstance(index, float) and index.is_integer()):
        index = int(index)
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise InputError(f"turn_idx is {index!r}, and should be a whole number from 0 up", file=name, line=line)
    for column in ("query", "ground_truth", "agent_response"):
        value = row.get(column)
        if column == "ground_truth" and isinstance(value, list | tuple):  # several answers are accepted
            if not all(isinstance(each, str) for each in value):
                raise InputError("ground_truth is a list, and should have nothing but texts", file=name, line=line)
            texts = list(dict.fromkeys(whole(each) for each in value if each.strip()))
            row = {**row, column: texts if len(texts) > 1 else texts[0] if texts else None}
            continue
        if value is not None and not isinstance(value, str):
            raise InputError(f"{column} is {type(value).__name__}, and should be a text", file=name, line=line)
        row = {**row, column: None if value is None else whole(value)}
    ego = row.get("is_ego")
    if isinstance(ego, str):
        if ego.strip().lower() not in ("true", "false", "1", "0", ""):
            raise InputError(f"is_ego is {ego!r}, and should be true or false", file=name, line=line)
        ego = ego.strip().lower() in ("true", "1")
    history = row.get("interaction_id_history")
    return {
        **row,
        "session_id": str(session),
        "turn_idx": index,
        "is_ego": bool(ego),
        "interaction_id_history": history if isinstance(history, list) else as_list(history or "", strict=False),
    }


def save_turns(path: str | Path, turns: Sequence[Mapping[str, Any]]) -> None:
    """Turn data as JSON lines, whole or not at all."""
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
    """The two files of turns and the dictionary of scores."""
    paths = [folder / ALL_TURNS, folder / EGO_TURNS, folder / SCORES_FILE]
    with replacing(*paths) as (every, ego, dictionary):
        for part, path in (("all", every), ("ego", ego)):
            cells = ([row.get(column) for column in RESULT_COLUMNS] for row in rows[part])
            write_rows(path, RESULT_COLUMNS, cells, "csv", guard=guard)
        dictionary.write_text(dumps(scores, indent=2) + "\n", encoding="utf-8")
    return paths


def save_run(folder: Path, judged: Judged, summary: dict[str, Any], manifest: dict[str, Any]) -> Run:
    """Write every turn with its flags, what they come to and how it was run, beside the folder's other files."""
    outcomes = judged.outcomes()
    with NewRun(folder, inside=True) as new:
        with RowsWriter(new.folder / ROWS, MEASURES) as writer:
            writer.write(Scored(_batch(judged), {name: (_flag(judged, name), outcomes) for name in _ATTRIBUTES}))
        return new.finish(manifest, summary)


def summarise_turns(judged: Judged, usage: Mapping[str, Any]) -> dict[str, Any]:
    """What came out, with intervals, counts and causes. Nothing in it depends on when or how fast it was run."""
    failed = judged.not_scored()
    outcomes = judged.outcomes()
    lengths = [len(turns) for turns in judged.counted]
    codes = np.repeat(np.arange(len(lengths)), lengths) if any(length > 1 for length in lengths) else None
    metrics: dict[str, MetricSummary] = {
        measure.name: summarise(
            _flag(judged, measure.name),
            failed,
            binary=True,
            direction=measure.direction,
            bounds=measure.bounds,
            codes=codes,  # turns of a conversation belong together
        )
        for measure in MEASURES
    }
    by_conversation = [conversation_score(turns) for turns in judged.counted]
    unknown = sum(score is None for score in by_conversation)
    metrics[CONVERSATION.name] = summarise(
        np.array([np.nan if score is None else score for score in by_conversation], dtype=np.float64),
        {"a turn was not scored": unknown} if unknown else {},
        bounds=CONVERSATION.bounds,
    )
    flipped, repeated = judged.flips()
    return {
        "ragmeter": ragmeter.__version__,
        "n_rows": len(outcomes),
        "n_conversations": len(judged.conversations),
        "statistics": Confidence(cluster=None if codes is None else "session_id").as_dict(),
        "metrics": {name: each.as_dict() for name, each in metrics.items()},
        "accuracy_bounds": accuracy_bounds(judged.turns()),
        "unscored_share": 1 - outcomes.count(SCORED) / len(outcomes) if outcomes else 0.0,
        "causes": judged.causes(),
        "judged_by": judged.judged_by(),
        "n_judged_repeatedly": repeated,
        "flip_rate": flipped / repeated if repeated else None,
        "usage": dict(usage),
    }


def manifest_of(
    run: str,
    inputs: Mapping[str, Any],
    judge: Mapping[str, Any] | None,
    effort: Mapping[str, Any],
    cascade: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """How it was run: the signature, and what differs from one run to the next."""
    return {
        "run": run,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "ragmeter": ragmeter.__version__,
        "evaluator": "CRAGEvaluator",
        "inputs": dict(inputs),
        "judge": judge,
        **({} if cascade is None else {"cascade": dict(cascade)}),
        "effort": dict(effort),
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
    }


def _flag(judged: Judged, name: str) -> Any:
    """One flag of every turn as a column of scores, NaN where it is not known."""
    value = attrgetter(_ATTRIBUTES[name])
    values = [np.nan if turn.correct is None else float(value(turn)) for turns in judged.counted for turn in turns]
    return np.array(values, dtype=np.float64)


def _batch(judged: Judged) -> Batch:
    """The turns as rows of the table."""
    turns = [each for conversation in judged.conversations for each in conversation]
    rows = [each.row for each in turns]
    renamed = {"query": "question", "agent_response": "answer", "ground_truth": "reference"}
    columns: dict[str, list[Any]] = {"qid": [each.qid for each in turns]}
    for name in (*TURN_COLUMNS, "error"):
        values = [row.get(name) for row in rows]
        if name == "ground_truth":
            columns["reference"] = [[value] if isinstance(value, str) else value or [] for value in values]
        elif name != "interaction_id_history" and any(value is not None for value in values):
            columns[renamed.get(name, name)] = [None if value is None else _text(value) for value in values]
    columns["judged_by"] = [each.judged_by or None for each in turns]
    if any(each.judgement for each in turns):
        columns["verdict"] = [each.judgement.verdict if each.judgement else None for each in turns]
        columns["reason"] = [whole(each.judgement.reason or each.cause) if each.judgement else None for each in turns]
    return Batch(columns)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)
