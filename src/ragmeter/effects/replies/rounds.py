"""Rounds: the answers of the system under test belong to one run, and are used again only to resume that run.

A judge and an embedding model are functions of their input, so that their replies can be cached for ever. The system
under test is what changes. One pass of a target over a dataset is a round: until it is finished, the same command
resumes it; once the run is complete the round is finished, and the next run asks everything again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from ragmeter.effects.replies.journal import Journal, RoundRecord, round_key
from ragmeter.errors import UsageError
from ragmeter.hints import parameter
from ragmeter.naming import Signature


@dataclass(frozen=True)
class Identity:
    """What a target is: `name` has everything that its answers depend on, `signature` is what may be written to a file.

    `certain`: the name changes whenever the target does. That can't be known of a service behind an address.
    """

    name: str
    signature: Signature
    certain: bool

    def as_json(self) -> str:
        """The journal's record: a digest of the name, which may be secret, and the signature."""
        digest = hashlib.sha256(self.name.encode("utf-8", "replace")).hexdigest()
        return json.dumps({"digest": digest, "signature": dict(self.signature)}, sort_keys=True, default=str)

    def changes(self, recorded: str) -> list[str]:
        """The parts of the target that differ from the recorded ones; empty if it is the same target."""
        before, now = json.loads(recorded), json.loads(self.as_json())
        if before["digest"] == now["digest"]:
            return []
        parts = {**before["signature"], **now["signature"]}
        return [p for p in parts if before["signature"].get(p) != now["signature"].get(p)] or ["target"]


@dataclass(frozen=True)
class Reuse:
    """Which recorded answers to use: `resume` also uses those of a finished run.

    `retry_failed` uses those of a finished run, and asks only the questions that have none.
    """

    resume: bool = False
    retry_failed: bool = False

    @property
    def wanted(self) -> bool:
        """Whether to use answers of a finished run."""
        return self.resume or self.retry_failed


@dataclass(frozen=True)
class Round:
    """One pass over a dataset. `notice` is set where the answers of an interrupted round are not used, and why."""

    number: int
    certain: bool = True
    notice: str | None = None

    def key(self, *parts: Any) -> str:
        """The key of an answer in the journal."""
        return round_key(self.number, hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest())

    def reused(self, journal: Journal, count: int, total: int, what: str) -> str | None:
        """One line for the user: how many answers are from the journal, and from when."""
        if not count:
            return self.notice
        first, last = journal.round_times(self.number)
        when = _moment(first) if _moment(first) == _moment(last) else f"{_moment(first)} to {_moment(last)}"
        doubt = "" if self.certain else f"; whether {what} has changed since then can't be known"
        return f"{count} of {total} answers are from {when}, when this run was begun{doubt}"


def begin_round(journal: Journal, run: str, identity: Identity, reuse: Reuse, questions: str | None = None) -> Round:
    """Resume the run's last round if it was interrupted or `reuse` asks for it; otherwise begin a new one.

    `questions` is a digest of the dataset, where it is known beforehand.
    """
    rounds = journal.rounds(run)
    if not rounds:
        if reuse.retry_failed:
            raise UsageError(
                f"there is no run {run!r} to retry", hint=f"leave out {parameter('retry_failed')} to ask everything"
            )
        return Round(journal.begin_round(run, identity.as_json(), questions), identity.certain)
    # Of several interrupted rounds, the last one of this target: another target may have been tried in between.
    interrupted = [record for record in rounds if record.finished is None]
    last = next((record for record in interrupted if not _changes(identity, record)), rounds[0])
    changes = _changes(identity, last)
    if reuse.wanted:
        _check_reusable(run, last, changes, reuse, questions)
    elif last.finished is not None or changes:
        number = journal.begin_round(run, identity.as_json(), questions)
        return Round(number, identity.certain, _not_used(journal, last, changes))
    journal.reopen_round(last.number, questions)
    return Round(last.number, identity.certain)


def _changes(identity: Identity, record: RoundRecord) -> list[str]:
    """What has changed about the target. Its state may have changed while it was asked, so both records count."""
    if record.target_after is not None and not identity.changes(record.target_after):
        return []
    return identity.changes(record.target)


def _check_reusable(run: str, last: RoundRecord, changes: list[str], reuse: Reuse, questions: str | None) -> None:
    if changes:
        raise UsageError(
            f"the answers of {run!r} from {_moment(last.begun)} can't be used: the target has changed since then "
            f"({', '.join(changes)})",
            hint=f"leave out {parameter('resume')} and {parameter('retry_failed')} to ask everything again",
        )
    if reuse.retry_failed and last.finished is not None and last.questions != questions:
        raise UsageError(
            f"the questions have changed since {_moment(last.begun)}, when {run!r} was begun",
            hint=f"{parameter('resume')} asks what is new as well as what failed",
        )


def _not_used(journal: Journal, last: RoundRecord, changes: list[str]) -> str | None:
    """The notice for an interrupted round whose target has changed."""
    if last.finished is not None:
        return None
    count = journal.round_size(last.number)
    answers = "answer" if count == 1 else "answers"
    changed = f"the target has changed since then ({', '.join(changes)})"
    return f"{count} {answers} of an interrupted run of {_moment(last.begun)} not used: {changed}" if count else None


def _moment(recorded: str) -> str:
    return f"{recorded[:16].replace('T', ' ')} UTC"
