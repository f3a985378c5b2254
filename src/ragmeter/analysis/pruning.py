"""What may be deleted: journals without a run, old replies of judges, and a cache of embeddings that nobody uses."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ragmeter.effects.journal import Journal
from ragmeter.embedders.cache import cache_file
from ragmeter.errors import BusyError, InputError, UsageError
from ragmeter.hints import parameter
from ragmeter.runs.catalogue import JOURNAL, size_of
from ragmeter.runs.layout import MANIFEST

#: Journals that many runs share: the judge's, and that of conversations.
_SHARED = ("judge.journal.sqlite", "crag_journal.sqlite")


@dataclass(frozen=True)
class Unneeded:
    """Something that may be deleted, and what is lost by it."""

    path: Path
    what: str
    size: int
    delete: Callable[[], None]


def unneeded(output_dir: Path, days: float) -> list[Unneeded]:
    """What has not been used for so many days. A journal that another process is using is left out."""
    if not days >= 0:
        raise UsageError(f"{parameter('older_than')} must be a number of days, got {days}")
    return [*_journals_without_run(output_dir, days), *_old_replies(output_dir, days), *_embeddings(days)]


def _journals_without_run(output_dir: Path, days: float) -> Iterator[Unneeded]:
    for journal in sorted(output_dir.glob(f"*{JOURNAL}")):
        run = output_dir / journal.name.removesuffix(JOURNAL)
        if journal.name in _SHARED or (run / MANIFEST).is_file() or _idle_days(journal) < days:
            continue
        yield Unneeded(journal, "answers of a run that was never finished", size_of(journal), journal.unlink)


def _old_replies(output_dir: Path, days: float) -> Iterator[Unneeded]:
    day = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
    for path in [output_dir / name for name in _SHARED] + sorted(output_dir.glob("*/journal.sqlite")):
        if not path.is_file():
            continue
        try:
            with Journal(path) as journal:
                old, total = journal.older_than(day), len(journal)
        except (BusyError, InputError):
            continue
        if old:
            what = f"replies of a judge: {old:,} of {total:,}, which would be asked for again"
            yield Unneeded(path, what, size_of(path) * old // total, lambda path=path: _forget(path, day))  # type: ignore[misc]


def _forget(path: Path, day: str) -> None:
    with Journal(path) as journal:
        journal.forget_before(day)


def _embeddings(days: float) -> Iterator[Unneeded]:
    path = cache_file()
    if path.is_file() and _idle_days(path) >= days:
        yield Unneeded(path, "the cache of embeddings, which would be computed again", size_of(path), path.unlink)


def _idle_days(path: Path) -> float:
    """How long ago a file was last written or read."""
    status = path.stat()
    return (time.time() - max(status.st_mtime, status.st_atime)) / 86_400
