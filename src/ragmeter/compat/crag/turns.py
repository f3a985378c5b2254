"""Turn data: read, checked, and made a table with a row for each turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragmeter.definition.judge_columns import IMAGE
from ragmeter.errors import ColumnError, InputError, UsageError
from ragmeter.io.cells import as_list, whole
from ragmeter.io.source import open_source
from ragmeter.io.write import dumps, replacing
from ragmeter.table import QID, TARGET_ERROR, Batch

TURN_COLUMNS = (
    "session_id", "interaction_id", "turn_idx", "is_ego", "image_quality", "query_category", "domain", "dynamism",
    "query", "ground_truth", "agent_response", "total_turn_count", "interaction_id_history",
)  # fmt: skip
#: The texts of a turn, and the table's names for them.
TEXTS = {"query": "question", "ground_truth": "reference", "agent_response": "answer"}
_NEEDED = ("session_id", "turn_idx", *TEXTS)


@dataclass(frozen=True)
class TurnTable:
    """Turns, one conversation after another, in the order of their first rows."""

    rows: Sequence[Mapping[str, Any]]
    qids: Sequence[str]

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> TurnTable:
        """The table of checked rows. The qid is the interaction_id if these are unique, or else session and index."""
        rows = list(rows)
        place_of = {row["session_id"]: place for place, row in reversed([*enumerate(rows)])}
        ordered = sorted(rows, key=lambda row: (place_of[row["session_id"]], row["turn_idx"]))
        ids = [row.get("interaction_id") for row in ordered]
        unique = None not in ids and len(set(map(str, ids))) == len(ids)
        own = [f"{row['session_id']}/{row['turn_idx']}" for row in ordered]
        return cls(ordered, [str(identity) for identity in ids] if unique else own)

    def __len__(self) -> int:
        """The number of turns."""
        return len(self.rows)

    def batch(self) -> Batch:
        """The turns as rows of the table."""
        columns: dict[str, list[Any]] = {QID: list(self.qids)}
        for name in (*TURN_COLUMNS, "error"):
            values = [row.get(name) for row in self.rows]
            if name == "ground_truth":
                columns[TEXTS[name]] = [[text] if isinstance(text, str) else text or [] for text in values]
            elif name in TEXTS:
                columns[TEXTS[name]] = values
            elif name != "interaction_id_history" and any(value is not None for value in values):
                columns[name] = [value if isinstance(value, str | None) else dumps(value) for value in values]
        pictures = [row.get(IMAGE) or row.get("image_url") for row in self.rows]
        if any(pictures):
            columns[IMAGE] = pictures
        causes = [row.get("outcome") or TARGET_ERROR if failure_of(row) else None for row in self.rows]
        return Batch(columns, causes=causes if any(causes) else ())


def failure_of(row: Mapping[str, Any]) -> str:
    """Why a turn has no answer; empty if it has one."""
    return str(row.get("error") or ("no answer" if row.get("agent_response") is None else ""))


def load_turns(path: str | Path) -> list[dict[str, Any]]:
    """Turn data from JSON lines, or from any other format that ragmeter reads, checked."""
    source = open_source(path)
    return _checked_turns(source.records(), source.name)


def given_turns(rows: Any) -> list[dict[str, Any]]:
    """Turns from Python, checked."""
    if not isinstance(rows, Sequence):
        raise UsageError(f"turn data must be a list of dicts, got {type(rows).__name__}", hint="df.to_dict('records')")
    return _checked_turns((None, dict(row)) for row in rows)


def _checked_turns(records: Iterable[tuple[int | None, Any]], name: str = "turn data") -> list[dict[str, Any]]:
    """The turns of these records; those of a file have their lines."""
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    line_of: dict[tuple[str, int], int | None] = {}
    for line, record in records:
        missing = [column for column in _NEEDED if column not in record]
        if missing and line is not None:
            hint = "`ragmeter crag generate` writes such files"
            raise ColumnError(f"turn data needs {', '.join(missing)}", file=name, line=line, hint=hint)
        row = checked(record, name, line)
        session, index = place = row["session_id"], row["turn_idx"]
        if place in rows:
            first = "" if line is None else f", first in line {line_of[place]}"
            raise InputError(f"turn {index} of session {session!r} occurs twice{first}", file=name, line=line)
        rows[place], line_of[place] = row, line
    return list(rows.values())


def checked(row: dict[str, Any], name: str, line: int | None) -> dict[str, Any]:
    """A turn whose values have the right types, or an error that says what is wrong."""
    session, index = row.get("session_id"), row.get("turn_idx")
    if session is None or session == "":
        raise InputError("the turn has no session_id", file=name, line=line)
    if (isinstance(index, str) and index.strip().isdecimal()) or (isinstance(index, float) and index.is_integer()):
        index = int(index)
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise InputError(f"turn_idx must be a whole number from 0 up, got {index!r}", file=name, line=line)
    texts: dict[str, Any] = {}
    for column in TEXTS:
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
