"""What may be deleted: deleted runs, journals without a run, old replies of judges, an unused cache of embeddings.

What another process is using is left alone, when it is listed and again when it is deleted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from ragmeter.effects.replies.journal import Journal
from ragmeter.embedders.cache import cache_file, remove_cache
from ragmeter.errors import BusyError, InputError, UsageError
from ragmeter.hints import parameter
from ragmeter.io.names import JOURNAL
from ragmeter.runs.journals import SHARED, files_of_journal, size_of
from ragmeter.runs.layout import MANIFEST
from ragmeter.runs.places import hold, is_held
from ragmeter.runs.trash import deleted_runs, empty

#: After any time that is recorded.
_EVER = "9"


@dataclass(frozen=True)
class Unneeded:
    """Something that may be deleted, and what is lost by it. `delete` raises BusyError if it is in use by then."""

    path: Path
    what: str
    size: int
    delete: Callable[[], None]


def unneeded(output_dir: Path, days: float) -> list[Unneeded]:
    """The files that have not been used for so many days. A journal that another process is using is left out."""
    if not days >= 0:
        raise UsageError(f"{parameter('older_than')} must be a number of days, got {days}")
    return [
        *_deleted_runs(output_dir, days),
        *_journals_without_run(output_dir, days),
        *_old_replies(output_dir, days),
        *_embeddings(days),
    ]


def _deleted_runs(output_dir: Path, days: float) -> Iterator[Unneeded]:
    for run in deleted_runs(output_dir):
        if run.days >= days:
            what = f"the run {run.name}, which was deleted and could be restored"
            yield Unneeded(run.path, what, size_of(run.path), partial(empty, run.path))


def _journals_without_run(output_dir: Path, days: float) -> Iterator[Unneeded]:
    for journal in _journals_of_nobody(output_dir):
        run = _run_of(journal)
        if _idle_days(journal) >= days and not is_held(run) and _replies_of_judge(journal) == 0:
            size = sum(map(size_of, files_of_journal(journal)))
            yield Unneeded(journal, "answers of a run that was never finished", size, partial(_forget_run, journal))


def _journals_of_nobody(output_dir: Path) -> list[Path]:
    """The journals that are beside no run: of one that was never finished, or a judge's under a name of its own."""
    journals = sorted(path for path in output_dir.glob(f"*{JOURNAL}") if path.name != SHARED)
    return [path for path in journals if not (_run_of(path) / MANIFEST).is_file() and not _run_of(path).is_file()]


def _run_of(journal: Path) -> Path:
    return journal.with_name(journal.name.removesuffix(JOURNAL))


def _forget_run(journal: Path) -> None:
    run = _run_of(journal)
    with hold(run, "deletes its journal", asks=True, wait=False):
        if _replies_of_judge(journal) != 0 or (run / MANIFEST).is_file():
            raise BusyError(f"{journal} is used again")
        for file in files_of_journal(journal):
            file.unlink(missing_ok=True)


def _replies_of_judge(journal: Path) -> int | None:
    """How many of a journal's replies are a judge's; None where it can't be opened, or is in use."""
    counts = _counts(journal, _EVER)
    return None if counts is None else counts[0]


def _counts(journal: Path, day: str) -> tuple[int, int] | None:
    """How many of a journal's replies are a judge's and from before that day, and how many it has; or None, as above.

    To look into it is not to use it, so its times stay.
    """
    status = journal.stat()
    try:
        with Journal(journal) as opened:
            return opened.older_than(day), len(opened)
    except (BusyError, InputError):
        return None
    finally:
        os.utime(journal, ns=(status.st_atime_ns, status.st_mtime_ns))


def _old_replies(output_dir: Path, days: float) -> Iterator[Unneeded]:
    day = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
    named = [path for path in sorted(output_dir.glob("*journal.sqlite")) if not path.name.endswith(JOURNAL)]
    for path in [
        output_dir / SHARED,
        *named,
        *_journals_of_nobody(output_dir),
        *sorted(output_dir.glob("*/journal.sqlite")),
    ]:
        counts = _counts(path, day) if path.is_file() else None
        if counts is not None and counts[0]:
            old, total = counts
            what = f"replies of a judge: {old:,} of {total:,}, which would be asked for again"
            yield Unneeded(path, what, size_of(path) * old // total, partial(_forget, path, day))


def _forget(path: Path, day: str) -> None:
    with Journal(path) as journal:
        journal.forget_before(day)


def _embeddings(days: float) -> Iterator[Unneeded]:
    path = cache_file()
    if path.is_file() and _idle_days(path) >= days:
        what = "the cache of embeddings, which all your folders share: texts would be embedded again"
        yield Unneeded(path, what, size_of(path), remove_cache)


def _idle_days(path: Path) -> float:
    """How long ago a file was last written or read; SQLite writes to the log beside it first."""
    states = [file.stat() for file in files_of_journal(path)]
    return (time.time() - max(max(status.st_mtime, status.st_atime) for status in states)) / 86_400
