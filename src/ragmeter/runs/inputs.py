"""The files that a run was made from: no command writes over them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ragmeter.errors import UsageError
from ragmeter.io.data import file_signature
from ragmeter.naming import Signature
from ragmeter.runs.run import Run

#: Formats of tables, whose first or last bytes have the names of their columns.
_TABLES = (".csv", ".tsv", ".jsonl", ".parquet", ".xlsx")
_TITLES = 65_536


def check_no_input(paths: Iterable[Path], runs: Iterable[Run], hint: str) -> None:
    """Refuse to write over a file that one of the runs was made from."""
    present = [path for path in paths if path.is_file()]
    for run in runs if present else ():
        for path in present:
            if _is_input(path, run):
                message = f"{path} is a file that the run {run.name} was made from, and is not overwritten"
                raise UsageError(message, hint=hint)


def _is_input(path: Path, run: Run) -> bool:
    """Whether a file is one of the run's inputs: it has the same bytes, or their name and none of the run's scores.

    A manifest has no paths of its inputs. A file of an input's name may have been written by an export, which goes on
    to replace it: that one has scores.
    """
    described = run.manifest().inputs.values()
    if any(_has_bytes(path, entry) for entry in described):
        return True
    is_namesake = any(path.name == entry.get("file") for entry in described)
    return is_namesake and path.suffix.lower() in _TABLES and not _has_scores(path, run)


def _has_bytes(path: Path, entry: Signature) -> bool:
    digest = entry.get("sha256")
    return digest is not None and path.stat().st_size == entry.get("bytes") and file_signature(path)["sha256"] == digest


def _has_scores(path: Path, run: Run) -> bool:
    with path.open("rb") as file:
        titles = file.read(_TITLES)
        file.seek(max(0, path.stat().st_size - _TITLES))
        titles += file.read()
    return any(name.encode() in titles for name in run.row_metrics)
