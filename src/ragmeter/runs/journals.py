"""The journals of systems' answers, which stand beside the runs: which belong to a run, and how large files are."""

from __future__ import annotations

import glob
from pathlib import Path

from ragmeter.io.names import JOURNAL

#: The judge's journal, which many runs share.
SHARED = f"judge{JOURNAL}"


def files_of_journal(journal: Path) -> list[Path]:
    """The journal, and what SQLite and the budget keep beside it; never a folder, which would be a run."""
    beside = journal.parent.glob(f"{glob.escape(journal.name)}*")
    return [path for path in beside if _belongs(path.name, journal.name) and not path.is_dir()]


def journals_of(run: Path) -> list[Path]:
    """The journal of a run's answers with the files beside it; the judge's journal belongs to no run."""
    journal = run.with_name(f"{run.name}{JOURNAL}")
    return [] if journal.name == SHARED else files_of_journal(journal)


def size_of(path: Path) -> int:
    """The bytes of a file, or of all files of a folder."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file() and not file.is_symlink()]
    return sum(file.stat().st_size for file in files)


def _belongs(name: str, journal: str) -> bool:
    return name == journal or name.startswith(f"{journal}-")
