"""Rows to be judged, and a judge without a network that goes by a rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragmeter import Judge
from ragmeter.engine.added_metrics import Addition
from ragmeter.engine.executors import Threads
from ragmeter.engine.judging.setup import JudgeSetup
from ragmeter.engine.plan import Plan
from ragmeter.io.data import Data
from ragmeter.models.fake import FakeProvider, FakeReply, fenced_texts
from ragmeter.registry import get_all
from ragmeter.runs.lookup import RunLike, find_run

ROWS: list[dict[str, Any]] = [
    {"qid": "1", "question": "Which city?", "answer": "It is Paris.", "reference": "Paris"},
    {"qid": "2", "question": "Which city?", "answer": "paris", "reference": ["Lyon", "Paris."]},
    {"qid": "3", "question": "Which city?", "answer": "It is Rome.", "reference": "Paris"},
]


def by_rule(reference: str, answer: str) -> str:
    """Yes if one of the references is part of the answer."""
    accepted = (text.removeprefix("or: ").casefold() for text in reference.splitlines())
    return "Yes" if any(text in answer.casefold() for text in accepted) else "No"


def fake(replies: Any = by_rule, **settings: Any) -> FakeProvider:
    """A provider that goes by the rule unless told otherwise."""
    return FakeProvider(replies, **settings)


def judge(provider: FakeProvider, **settings: Any) -> Judge:
    """A judge that is not tried first, and does not wait before it asks again."""
    return Judge(provider=provider, **({"check": False, "retries": 0} | settings))


def planned(table: Any, metrics: Any, judge: Judge, folder: Path, *, retry_failed: bool = False) -> dict[str, Any]:
    """What the judging of a table is estimated to take."""
    return Plan.of(Data.open(table), get_all(metrics), JudgeSetup(judge, folder, retry_failed)).estimate()


def planned_addition(
    run: RunLike, metrics: Any, judge: Judge, folder: Path, *, retry_failed: bool = False
) -> dict[str, Any]:
    """What the judging of metrics is estimated to take that are added to a run."""
    setup = JudgeSetup(judge, None, retry_failed)
    return Addition.of(find_run(run, folder), get_all(metrics), setup, Threads(), folder).estimate()


def asked(provider: FakeProvider) -> list[str]:
    """The answers that a provider was asked about, in order."""
    return sorted(fenced_texts(prompt)["answer"] for prompt in provider.prompts)


def scripted(**replies: Any) -> FakeProvider:
    """Replies by answer: one, or one for each time that it is asked about, the last of them from then on."""
    left: dict[str, list[FakeReply]] = {
        answer: list(reply) if isinstance(reply, list) else [reply] for answer, reply in replies.items()
    }

    def reply(prompt: str) -> FakeReply:
        waiting = left[fenced_texts(prompt)["answer"]]
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    return FakeProvider(reply)


def rows(*answers: str | None, reference: str = "expected") -> list[dict[str, Any]]:
    """A row for each answer."""
    return [
        {"qid": str(number), "question": "q", "answer": answer, "reference": reference}
        for number, answer in enumerate(answers, 1)
    ]


def files(folder: Path) -> list[str]:
    """What a folder holds, journals' side files left out."""
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if not path.name.endswith(("-wal", "-shm"))
    )
