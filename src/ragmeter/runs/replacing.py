"""A run in the place of an older one: with paid replies in it, only if that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragmeter.errors import InputError, UsageError
from ragmeter.hints import by_caller, option
from ragmeter.io.locations import Location
from ragmeter.runs.layout import MANIFEST
from ragmeter.runs.places import hold, is_journal
from ragmeter.runs.run import Run


@contextmanager
def hold_for_new_run(path: Location, doing: str, *, asks: bool, judged: bool, replace: bool) -> Iterator[None]:
    """Hold the place of a new run. An older run with paid replies there is an error, unless `replace` is true.

    `judged`: the new run has a judge too, which uses the replies in the folder's journal again.
    """
    with hold(path, doing, asks=asks):
        paid = "" if replace or not (path / MANIFEST).is_file() else paid_replies(path, judged=judged)
        if paid:
            raise UsageError(
                f"the run {path.name} exists already, and has {paid}",
                hint=f"choose another name with {option('run')}, or replace the run with "
                f"{by_caller('--replace', 'replace=True')}: its journal stays",
            )
        yield


def paid_replies(path: Location, *, judged: bool = False) -> str:
    """What a judge was paid for in a run, and would be lost; empty if nothing is known of that."""
    files = sorted(path.iterdir()) if isinstance(path, Path) else []  # in a store there is no journal
    journal = next((file.name for file in files if is_journal(file)), "")
    if journal:
        return f"a judge's replies in {journal}"
    if judged:
        return ""
    try:
        manifest = Run(path).manifest()
    except InputError:  # a damaged run is there to be replaced
        return ""
    asked = ", ".join(manifest.get("asked") or {})
    return f"a judge's replies in it ({asked})" if asked else "a judge's verdicts" if manifest.get("judge") else ""
