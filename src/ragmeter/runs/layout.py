"""The files of a run's folder: `manifest.json` (what was run), `rows.parquet` (the table), `summary.json` (results)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from ragmeter.errors import InputError, OutputError, RagmeterError, UnknownNameError
from ragmeter.hints import option
from ragmeter.io.locations import Location, folders_in
from ragmeter.io.write import remedy

MANIFEST, ROWS, SUMMARY = "manifest.json", "rows.parquet", "summary.json"
#: The folder of the rows of a run that was written in parts.
PARTS = "rows"
FILES = (MANIFEST, ROWS, SUMMARY)
#: The file that says who has done which part.
PARTS_LOG = "parts.jsonl"
#: The folder of kept comparisons, in that of the last of the runs.
COMPARISONS = "comparisons"
INCOMPLETE = "the run is damaged, or was not copied completely: evaluate again"
#: An error about a run that is not found lists at most this many others.
_LISTED_RUNS = 20

Stamp = tuple[int, int, int] | None


def stamp_of(path: str | Path) -> Stamp:
    """Changes whenever the file is replaced or written to; None where there is no file."""
    try:
        status = os.stat(path)  # noqa: PTH116 - thousands of them, most as plain texts
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def stamps_of(folder: str | Path) -> tuple[Stamp, ...]:
    """Changes whenever a file of a run does."""
    return tuple(stamp_of(os.path.join(folder, name)) for name in FILES)  # noqa: PTH118 - of thousands of runs


def unreadable(path: Location, reason: object, hint: str = INCOMPLETE) -> InputError:
    """The error for a file of a run that is missing, damaged or of another shape."""
    return InputError(f"can't be read: {reason}", file=str(path), hint=hint)


@contextmanager
def reading(path: Location, hint: str = INCOMPLETE) -> Iterator[None]:
    """Turn errors of reading a run's file into InputError: missing, no permission, damaged."""
    try:
        yield
    except RagmeterError:
        raise
    except RecursionError:
        raise unreadable(path, "it is nested too deeply", hint) from None
    except (OSError, ValueError, LookupError, ArithmeticError, MemoryError, pa.ArrowException) as error:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number else error
        raise unreadable(path, reason, hint) from None


@contextmanager
def writing(path: Location) -> Iterator[None]:
    """Turn errors of writing a run into OutputError: disk full, no permission, name too long."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or error
        hint = remedy(error, f"choose another folder with {option('output_dir')}")
        raise OutputError(f"can't write {path}: {reason}", hint=hint) from error


def unknown_run(name: str, folder: Location) -> UnknownNameError:
    """The error for a run that is not in a folder; its hint lists the runs that are."""
    names = sorted(
        name for name in folders_in(folder) if not name.startswith(".") and (folder / name / MANIFEST).is_file()
    )
    more = f" and {len(names) - _LISTED_RUNS:,} more" if len(names) > _LISTED_RUNS else ""
    listed = f"in {folder}/ there are {', '.join(names[:_LISTED_RUNS])}{more}"
    return UnknownNameError("run", name, names, hint=listed if names else f"there are no runs in {folder}/")
