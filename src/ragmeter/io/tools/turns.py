"""Conversations that other tools keep in one row each, as lists of messages: a row for each question and its answer.

They are those of Ragas (`user_input` of a MultiTurnSample) and DeepEval (`turns` of a ConversationalTestCase).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragmeter.io.batches import batches_of_records
from ragmeter.table import Batch, NewRow, Row

NOTE = "read as conversations: a row for each question of the user and the answer to it, with session_id and turn_idx"
#: Where the messages are, and where the gold answer to the last question; DeepEval's `expected_outcome` is none.
_MESSAGES = ("user_input", "turns")
#: DeepEval's `context` is the ideal context, not what was retrieved.
_NEW_NAMES = {"context": "ideal_context"}
_ROLES = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "tool": "tool",
    "system": "system",
}
_LOOKED_AT = 200


def has_conversations(batch: Batch) -> bool:
    """Whether the first row that has messages has a list of them."""
    columns = (batch.columns[name][:_LOOKED_AT] for name in _MESSAGES if name in batch.columns)
    first = (next((cell for cell in column if cell), None) for column in columns)
    return any(_is_conversation(cell) for cell in first)


def rows_of_conversations(batches: Iterable[Batch], name: str) -> Iterator[Batch]:
    """Each conversation as the rows of its turns; a row that is none stays as it is."""
    yield from batches_of_records(_records(batches), name)


def _records(batches: Iterable[Batch]) -> Iterator[tuple[int, int, Row]]:
    number = 0
    for batch in batches:
        for line, cells in zip(batch.lines, zip(*batch.columns.values(), strict=True), strict=True):
            number += 1
            row = dict(zip(batch.columns, cells, strict=True))
            title = next((title for title in _MESSAGES if _is_conversation(row.get(title))), None)
            for turn in [row] if title is None else _turns(row, title, number):
                yield line, sum(len(value) for value in turn.values() if isinstance(value, str)), turn


def _is_conversation(cell: Any) -> bool:
    return isinstance(cell, list) and bool(cell) and all(_role(message) is not None for message in cell)


def _role(message: Any) -> str | None:
    if not isinstance(message, Mapping) or "content" not in message:
        return None
    return _ROLES.get(str(message.get("role") or message.get("type")))


def _turns(conversation: Row, title: str, number: int) -> list[NewRow]:
    """The rows of a conversation. Its gold answer belongs to the last one, everything else to all of them.

    So do the calls of tools that are expected in all of it; that row has all that were made, then.
    """
    shared = {_NEW_NAMES.get(key, key): value for key, value in conversation.items() if key != title}
    reference, expected = shared.pop("reference", None), shared.pop("reference_tool_calls", None)
    session = str(shared.pop("session_id", None) or number)
    turns: list[NewRow] = []
    for message in conversation[title]:
        role, content = _role(message), message["content"]
        if role == "user" and (not turns or turns[-1]["answer"] is not None or _used_tools(turns[-1])):
            index = len(turns)
            ids = {"qid": f"{session}:{index}", "session_id": session, "turn_idx": index}
            turns.append({**ids, "question": content, "answer": None, **shared})
        elif role == "user":  # a second message before any answer
            turns[-1]["question"] = f"{turns[-1]['question']}\n{content}"
        elif turns and role != "system":  # a greeting before the first question answers nothing
            _add(turns[-1], role, message)
    if turns and reference is not None:  # a last word without an answer, "thanks", is not what it is about
        answered = [turn for turn in turns if turn["answer"] is not None]
        (answered or turns)[-1]["reference"] = reference
    if turns and expected is not None:
        calls = [call for turn in turns for call in turn.get("tool_calls") or ()]
        turns[-1] |= {"expected_tool_calls": expected, "tool_calls": calls}
    return turns


def _used_tools(turn: Row) -> bool:
    return bool(turn.get("tool_calls"))


def _add(turn: NewRow, role: str | None, message: Mapping[str, Any]) -> None:
    """Add a message to the answer; what was said before a tool was asked is not part of it."""
    if role == "tool":
        turn["tool_outputs"] = [*turn.get("tool_outputs", ()), message["content"]]
        turn["answer"] = None
        return
    if content := message["content"]:
        turn["answer"] = content if turn["answer"] is None else f"{turn['answer']}\n{content}"
    for title, name in (
        ("tool_calls", "tool_calls"),
        ("tools_called", "tool_calls"),
        ("retrieval_context", "contexts"),
    ):
        if message.get(title):
            turn[name] = [*turn.get(name, ()), *message[title]]
    if (latency := message.get("latency_ms")) is not None:
        turn["latency_ms"] = turn.get("latency_ms", 0) + latency
