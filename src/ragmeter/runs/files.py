"""The files of a run's folder: `manifest.json` (what was run), `rows.parquet` (the table), `summary.json` (results)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from ragmeter.errors import InputError, OutputError, UnknownNameError
from ragmeter.hints import option
from ragmeter.stats.intervals import within

MANIFEST, ROWS, SUMMARY = "manifest.json", "rows.parquet", "summary.json"
FILES = (MANIFEST, ROWS, SUMMARY)
NOT_WHOLE = "the run is damaged, or was not copied whole: evaluate again"
#: An error about a run that is not found lists at most this many others.
_LISTED_RUNS = 20

Stamp = tuple[int, int, int] | None


def stamp_of(path: Path) -> Stamp:
    """Changes whenever the file is replaced or written to; None where there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns the errors of reading a file of a run into ours: not there, no permission, damaged."""
    try:
        yield
    except (OSError, ValueError, pa.ArrowException) as error:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number else error
        raise InputError(f"can't be read: {reason}", file=str(path), hint=NOT_WHOLE) from None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns the errors of writing a run into ours: no room, no permission, a name that is too long."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or error
        hint = f"choose another folder with {option('output_dir')}, or make room"
        raise OutputError(f"can't write {path}: {reason}", hint=hint) from error


def read_text(path: Path) -> str:
    """The text of a manifest or a summary, which is one JSON object."""
    with reading(path):
        text = path.read_text(encoding="utf-8")
        if not isinstance(json.loads(text), dict):
            raise ValueError("it is no JSON object")
    return text


def clip_intervals(metrics: Any) -> None:
    """Clip intervals that an earlier version has written, where they go beyond their metric's range."""
    for summary in metrics.values() if isinstance(metrics, dict) else ():
        with suppress(TypeError, ValueError, KeyError, IndexError):  # whoever needs what is missing says so
            clipped = within(summary["interval"], summary["range"])
            if clipped is not None and clipped[0] <= summary["mean"] <= clipped[1]:
                summary["interval"] = clipped


def unknown_run(name: str, folder: Path) -> UnknownNameError:
    """The error for a run that is not in a folder, with those that are."""
    known = sorted(path.parent.name for path in folder.glob(f"*/{MANIFEST}"))
    more = f" and {len(known) - _LISTED_RUNS:,} more" if len(known) > _LISTED_RUNS else ""
    listed = f"in {folder}/ there are {', '.join(known[:_LISTED_RUNS])}{more}"
    return UnknownNameError("run", name, known, hint=listed if known else f"there are no runs in {folder}/")
