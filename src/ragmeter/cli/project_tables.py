"""One table of the ragmeter.toml of the current folder, for a command that is called by itself."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from ragmeter.cli.commands import PROJECT
from ragmeter.cli.project_keys import as_table
from ragmeter.errors import InputError, UsageError


def read_table(name: str) -> dict[str, Any]:
    """The table of this name; an empty one where the file does not have it."""
    try:
        document = tomllib.loads(Path(PROJECT).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=PROJECT) from None
    except ValueError as error:  # not TOML, or not UTF-8
        raise InputError(f"can't be read: {error}", file=PROJECT) from None
    table = as_table(name, document.get(name, {}))
    if not isinstance(table, dict):
        raise UsageError(f"{PROJECT}: {name} should be a table", hint=f"write [{name}]")
    return table
