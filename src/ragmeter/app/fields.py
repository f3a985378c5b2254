"""The fields of an address: those that a page does not know are errors, and empty ones count as not given.

And the option that a command needs to do the same as a page.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ragmeter.errors import UsageError
from ragmeter.io.decoding import JsonObject
from ragmeter.io.write import RUNS
from ragmeter.runs.run import Run


def check_fields(query: Any, single: Collection[str], several: Collection[str] = ()) -> None:
    """Refuse a field that a page does not know, and a second value of one that it takes once."""
    for name in query:
        if name not in single and name not in several:
            known = ", ".join(sorted([*single, *several])) or "none"
            raise UsageError(f"this page has no field {name[:60]!r}", hint=f"its fields: {known}")
        if name in single and len(query.getlist(name)) > 1:
            raise UsageError(f"{name} is given {len(query.getlist(name))} times, and this page takes it once")


def in_folder(run: Run) -> list[str]:
    """The option of a command about a run that is not in the usual folder."""
    return [] if run.path.parent == RUNS else ["--output-dir", str(run.path.parent)]


def page_number(query: Any) -> int:
    """The page of a list that an address asks for."""
    written = query.get("page", "") or "1"
    if not (written.isascii() and written.isdigit() and 0 < int(written[:10]) < 10**9):
        raise UsageError(f"{written[:40]!r} is no number of a page")
    return int(written)


def one_of(name: str, names: Collection[str], what: str) -> str:
    """A value of a field that must be one of these."""
    if name not in names:
        known = ", ".join(names) or "nothing: the run has no column for it"
        raise UsageError(f"{what}={name[:40]}: it must be one of {known}")
    return name


def text_of(form: JsonObject, name: str) -> str:
    """A field of a form that must be a text; empty where it is not given."""
    value = form.get(name, "")
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a text")
    return value


def switch(query: Any, name: str) -> bool:
    """A field that is 0 or 1."""
    written = query.get(name, "")
    if written not in ("", "0", "1"):
        raise UsageError(f"{name}={written[:40]}: it must be 0 or 1")
    return bool(written == "1")
