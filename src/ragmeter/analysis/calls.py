"""The calls behind a row: what a system or a judge was asked and what it replied, from the journals beside the run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from ragmeter import naming
from ragmeter.definition.judge_columns import DECLARED, BoundColumn, PerCall
from ragmeter.effects.replies.journal_reader import RecordedReplies, RecordedReply
from ragmeter.effects.replies.rounds import Round
from ragmeter.engine.judging.offline import rows_to_fill
from ragmeter.engine.judging.setup import JUDGE_JOURNAL, OWN_JOURNAL
from ragmeter.errors import RagmeterError, UsageError
from ragmeter.io.names import JOURNAL
from ragmeter.judges.asking.column_judge import reply_key, texts_of_calls
from ragmeter.judges.asking.judge import as_rephrased, as_worded
from ragmeter.judges.asking.prompt import Prompt, prompt_hash
from ragmeter.models.port import ChatReply
from ragmeter.naming import Signature
from ragmeter.registry import load_builtin
from ragmeter.runs.catalogue import system_of
from ragmeter.runs.conversations import conversation
from ragmeter.runs.run import Run
from ragmeter.table import REPEAT, SCORED, Batch, Row
from ragmeter.targets.port import Answer, Question, session_of
from ragmeter.targets.replies import key_of_answer

#: Calls of one row that are looked up at most.
_MOST = 100


@dataclass(frozen=True)
class Call:
    """One call. `messages` are pairs of a role and a text; `changed`: the prompt's words are others in this version.

    Tokens, dollars and the latency are None where they are not known.
    """

    column: str
    asked: str
    messages: tuple[tuple[str, str], ...]
    reply: str
    note: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    latency_ms: float | None
    attempts: int
    at: str
    changed: bool = False


def calls_of_row(run: Run, place: int, row: Row | None = None) -> list[Call]:
    """The recorded calls behind a row: the system's answer first, then what each judged column took.

    `row` is all of it, where somebody has read it already.
    """
    if row is None:
        (row,) = run.records([place], run.columns)
    return [*_answer_calls(run, place, row), *_judge_calls(run, row)][:_MOST]


def _answer_calls(run: Run, place: int, row: Row) -> Iterator[Call]:
    """The call by which the system under test has answered. The earlier turns of its session are part of its key."""
    path = run.path.with_name(f"{run.name}{JOURNAL}")
    if run.manifest().target is None or not path.exists():
        return
    with RecordedReplies(path) as replies:
        number = replies.round_of(run.name)
        turns, time = conversation(run, row) or [place], 1
        if run.manifest().repeats and str(row.get(REPEAT)).isdigit():
            # each time that a session was repeated is a conversation of its own
            time = int(row[REPEAT])
            turns = [turn for turn in turns if run.records([turn], [REPEAT])[0][REPEAT] == row[REPEAT]]
        if number is None or place not in turns:
            return
        history: list[tuple[str, str]] = []
        conversation_id: str | None = None
        names = ["qid", "question", "session_id", "answer"]
        for turn, own in zip(turns, run.records(turns, names), strict=True):
            session = session_of(own.get("session_id"), time)
            question = Question(
                str(own["qid"]), own["question"], session, 0, tuple(history), conversation_id, repeat=time
            )
            recorded = replies.get(Round(number).key(*key_of_answer(question)))
            if turn == place and recorded is not None:
                yield _answer_call(system_of(run.manifest()), question, recorded)
            if turn == place or recorded is None:
                return
            answer = Answer.from_reply(recorded.reply)
            history.append((question.text, answer.answer))
            conversation_id = answer.conversation_id or conversation_id


def _answer_call(asked: str, question: Question, recorded: RecordedReply) -> Call:
    messages = tuple((message["role"], message["content"]) for message in question.messages())
    answer = json.loads(recorded.reply.body)
    return _call("answer", asked, messages, str(answer["answer"]), "", recorded)


def _judge_calls(run: Run, row: Row) -> Iterator[Call]:
    for question in _asked_of_judges(run, row):
        if isinstance(question.entry.get("calls"), str):
            yield from _column_calls(run, question)


@dataclass(frozen=True)
class _JudgeQuestion:
    """What a judge was asked about a row, for one column. `entry` is what the manifest says of that."""

    column: BoundColumn
    entry: Signature
    declaration: Any
    texts: Mapping[str, str]


def _asked_of_judges(run: Run, row: Row) -> Iterator[_JudgeQuestion]:
    """The columns of a row about which a judge was asked; others were filled without one."""
    manifest = run.manifest()
    load_builtin()
    entries = dict(manifest.judged_columns)
    for name, entry in entries.items():
        column = _asked_column(name)
        if column is None:
            continue
        declaration = as_worded(column.declaration, entry.get("words"))
        batch = Batch({name: [value] for name, value in row.items()})
        (state,), (value,), (own,) = rows_to_fill(column, declaration, batch)
        if state == SCORED and value is None:
            yield _JudgeQuestion(column, entry, declaration, own)
            other = as_rephrased(declaration)
            if other is not None and isinstance(entry.get("rephrased_calls"), str):
                own_entry = {**entry, "prompt": entry.get("rephrased_prompt"), "calls": entry["rephrased_calls"]}
                yield _JudgeQuestion(column, own_entry, other, own)


def _asked_column(name: str) -> BoundColumn | None:
    try:
        parsed = naming.parse(name)
    except UsageError:
        return None
    return BoundColumn.of(DECLARED[parsed.base], parsed.settings) if parsed.base in DECLARED else None


def _column_calls(run: Run, question: _JudgeQuestion) -> Iterator[Call]:
    declaration, entry = question.declaration, question.entry
    reasons = bool(entry.get("reasons"))
    per_call = PerCall(*(int(entry.get(f"{name}_per_call") or 1) for name in PerCall._fields))
    changed = prompt_hash(declaration, reasons=reasons) != entry.get("prompt")
    with ExitStack() as stack:
        journals = [stack.enter_context(RecordedReplies(path)) for path in _journals(run, entry)]
        for texts in texts_of_calls(declaration, question.texts, per_call):
            prompt = Prompt(declaration.with_texts(texts), reasons=reasons)
            for attempt, recorded in _replies(journals, entry, texts):
                sent = prompt.messages(texts, again=attempt > 0)
                messages = tuple((message["role"], message["content"]) for message in sent)
                reply = ChatReply.from_reply(recorded.reply)
                note = reply.declined or ("cut off" if reply.cut_off else "")
                model = str(entry.get("model") or "")
                yield _call(question.column.name, model, messages, reply.content or "", note, recorded, changed=changed)


def _replies(
    journals: Sequence[RecordedReplies], entry: Signature, texts: Mapping[str, str]
) -> Iterator[tuple[int, RecordedReply]]:
    """The replies of every repeat and of every try of it, with the number of the try."""
    for repeat in range(int(entry.get("repeats") or 1)):
        for attempt in count():
            key = reply_key(str(entry["calls"]), texts, repeat, attempt)
            recorded = next((reply for journal in journals if (reply := journal.get(key)) is not None), None)
            if recorded is None:
                break
            yield attempt, recorded


def _journals(run: Run, entry: Signature) -> list[Path]:
    """Where a judge's replies may be: in the file that was named, the run's own journal, or that of all runs."""
    named = [Path(entry["journal"])] if isinstance(entry.get("journal"), str) else []
    paths = [*named, run.path / OWN_JOURNAL, run.path.parent / JUDGE_JOURNAL]
    return list(dict.fromkeys(path.resolve() for path in paths if path.is_file()))


def _call(
    column: str,
    asked: str,
    messages: tuple[tuple[str, str], ...],
    text: str,
    note: str,
    recorded: RecordedReply,
    *,
    changed: bool = False,
) -> Call:
    reply = recorded.reply
    return Call(
        column, asked, messages, text, note, reply.prompt_tokens, reply.completion_tokens, reply.cost,
        reply.latency_ms or None, reply.attempts, recorded.at, changed,
    )  # fmt: skip


def calls_or_problem(run: Run, place: int, row: Row) -> tuple[list[Call], str]:
    """The calls behind a row, and why those of a judge are not among them."""
    try:
        return calls_of_row(run, place, row), _why_missing(run, row)
    except RagmeterError as error:
        return [], str(error)
    except (ValueError, KeyError, TypeError):  # of another version, or changed by somebody
        return [], "the recorded calls can't be read"


def _why_missing(run: Run, row: Row) -> str:
    entries = [question.entry for question in _asked_of_judges(run, row)]
    if not all(_journals(run, entry) for entry in entries):
        return (
            f"the journal with the judge's replies is not here: it was {JUDGE_JOURNAL} beside the run, or another file"
        )
    return ""
