"""Answers belong to one run: when a round goes on, when another begins, and what is said about it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ragmeter.effects.replies.journal import Journal, Reply
from ragmeter.effects.replies.rounds import Identity, Reuse, Round, begin_round
from ragmeter.errors import UsageError

ONE = Identity("one", {"kind": "python", "source": "a"}, certain=True)
OTHER = Identity("other", {"kind": "python", "source": "b"}, certain=True)
RESUME, RETRY = Reuse(resume=True), Reuse(retry_failed=True)


def begin(journal: Journal, identity: Identity = ONE, reuse: Reuse = Reuse(), questions: str = "q") -> Round:  # noqa: B008
    return begin_round(journal, "r", identity, reuse, questions)


def answer(journal: Journal, current: Round, *questions: str) -> None:
    for question in questions:
        asyncio.run(journal.record(current.key(question), Reply(question)))


@pytest.mark.parametrize(
    ("finished", "identity", "reuse", "goes_on"),
    [
        (False, ONE, Reuse(), True),
        (False, ONE, RESUME, True),
        (False, ONE, RETRY, True),
        (False, OTHER, Reuse(), False),
        (True, ONE, Reuse(), False),
        (True, ONE, RESUME, True),
        (True, ONE, RETRY, True),
        (True, OTHER, Reuse(), False),
    ],
)
def test_when_a_round_goes_on(tmp_path: Path, finished: bool, identity: Identity, reuse: Reuse, goes_on: bool) -> None:
    with Journal(tmp_path / "j.sqlite") as journal:
        first = begin(journal)
        answer(journal, first, "x")
        if finished:
            journal.finish_round(first.number)
    with Journal(tmp_path / "j.sqlite") as journal:
        second = begin(journal, identity, reuse)
        assert (second.number == first.number) is goes_on
        assert (journal.get(second.key("x")) is not None) is goes_on


@pytest.mark.parametrize("reuse", [RESUME, RETRY])
@pytest.mark.parametrize("finished", [False, True])
def test_answers_of_another_target_are_refused(reuse: Reuse, finished: bool) -> None:
    with Journal(None) as journal:
        first = begin(journal)
        if finished:
            journal.finish_round(first.number)
        with pytest.raises(UsageError, match=r"can't be used: the target has changed since then \(source\)"):
            begin(journal, OTHER, reuse)


def test_what_is_retried_must_have_been_asked() -> None:
    with Journal(None) as journal:
        with pytest.raises(UsageError, match="no run 'r' to retry"):
            begin(journal, reuse=RETRY)
        journal.finish_round(begin(journal).number)
        with pytest.raises(UsageError, match="the questions have changed"):
            begin(journal, reuse=RETRY, questions="others")
        assert begin(journal, reuse=RESUME, questions="others").number == 1


def test_what_is_said() -> None:
    with Journal(None) as journal:
        first = begin(journal)
        assert first.reused(journal, 0, 2, "the target") is None
        answer(journal, first, "x", "y")
        line = begin(journal).reused(journal, 2, 3, "the target")
        assert line is not None
        assert line.startswith("2 of 3 answers are from 20")
        assert "can't be known" not in line
        changed = begin(journal, OTHER)
        notice = changed.reused(journal, 0, 3, "the target")
        assert notice is not None
        assert notice.startswith("2 answers of an interrupted run of 20")
        assert notice.endswith("not used: the target has changed since then (source)")
        unknown = Identity("http://x", {"url": "http://x"}, certain=False)
        service = begin_round(journal, "service", unknown, Reuse())
        answer(journal, service, "x")
        line = begin_round(journal, "service", unknown, Reuse()).reused(journal, 1, 1, "the target")
        assert line is not None
        assert line.endswith("; whether the target has changed since then can't be known")


def test_the_journal_forgets_rounds_that_were_replaced(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.sqlite") as journal:
        asyncio.run(journal.record("a judge's verdict", Reply("CORRECT")))
        other = begin_round(journal, "another run", ONE, Reuse())
        answer(journal, other, "kept")
        for number in range(1, 4):
            current = begin(journal)
            answer(journal, current, *(f"{number}.{i}" for i in range(5)))
            assert len(journal) == 2 + 5 * min(number, 2)  # the last run stays until the new one is complete
            journal.finish_round(current.number)
            assert len(journal) == 2 + 5
        assert journal.get("a judge's verdict") is not None
        assert journal.get(other.key("kept")) is not None


def test_a_target_that_asking_has_changed_goes_on() -> None:
    with Journal(None) as journal:
        first = begin(journal)
        journal.let_go(first.number, OTHER.as_json())
        assert begin(journal, OTHER).number == first.number
        assert begin(journal, ONE).number == first.number


def test_another_target_that_was_tried_in_between_costs_nothing() -> None:
    with Journal(None) as journal:
        first = begin(journal)
        answer(journal, first, "x")
        assert begin(journal, OTHER).number != first.number
        assert begin(journal, ONE).number == first.number


def test_no_secret_of_a_target_is_written_down(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.sqlite") as journal:
        begin(journal, Identity("http://x/?key=canary-0123", {"url": "http://x/"}, certain=False))
    assert not any(b"canary" in path.read_bytes() for path in tmp_path.iterdir())


def test_a_journal_from_before_rounds_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    with Journal(path) as journal:
        asyncio.run(journal.record("key", Reply("verdict")))
        journal._database.execute("DROP TABLE rounds")
    with Journal(path) as journal:
        assert journal.get("key") == Reply("verdict")
        assert begin(journal).number == 1
