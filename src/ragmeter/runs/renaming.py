"""Another name for a run: its folder, its journal, its tags, whether it is a baseline, the comparisons kept with it."""

from __future__ import annotations

import os
from pathlib import Path

from ragmeter.errors import UsageError
from ragmeter.io.names import checked_name
from ragmeter.runs.baselines import BASELINES, replace_baseline
from ragmeter.runs.colours import COLOURS, rename_colour
from ragmeter.runs.comparisons import rename_in_comparisons
from ragmeter.runs.journals import SHARED, journals_of
from ragmeter.runs.layout import writing
from ragmeter.runs.looks import LOOKS
from ragmeter.runs.places import hold, settle
from ragmeter.runs.run import Run
from ragmeter.runs.tags import TAGS, change_tags, read_tags

#: Files of ours in a folder of runs.
_OURS = (TAGS, BASELINES, COLOURS, LOOKS, SHARED)


def rename_run(path: Path, name: str) -> Path:
    """Give a run another name, which no run has; one that is being written is a BusyError. Returns its new folder."""
    new = path.with_name(checked_name(name))
    Run.at(path)
    if new == path:
        return path
    with hold(path, "renames it", asks=True, wait=False), hold(new, "takes this name", asks=True, wait=False):
        settle(path)
        Run.at(path)  # another process may have renamed it meanwhile
        if os.path.lexists(new) or name in _OURS or journals_of(new) or f"{name}.journal.sqlite" == SHARED:
            raise UsageError(f"the name {name} is taken", hint="choose another one")
        journals = journals_of(path)
        with writing(new):
            path.rename(new)
            for file in journals:
                file.rename(new.with_name(new.name + file.name.removeprefix(path.name)))
        if tags := read_tags(path.parent).get(path.name):
            change_tags(path.parent, path.name, remove=tags)
            change_tags(path.parent, new.name, add=tags)
        replace_baseline(path.parent, path.name, new.name)
        rename_colour(path.parent, path.name, new.name)
        rename_in_comparisons(path.parent, path.name, new.name)
    return new
