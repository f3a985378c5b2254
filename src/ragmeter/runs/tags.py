"""Words that people attach to runs. They are kept beside the runs, so that a run that is replaced has them still."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from ragmeter.errors import UsageError
from ragmeter.io.lock import file_lock
from ragmeter.io.write import dumps, replacing
from ragmeter.runs.layout import reading, unreadable

TAGS = "tags.json"
_TAG = re.compile(r"[\w.:+-]{1,40}")
_HINT = "correct the file, or delete it: it has nothing but tags"


def read_tags(folder: Path) -> dict[str, list[str]]:
    """The tags of all runs of a folder, by run."""
    path = folder / TAGS
    if not path.is_file():
        return {}
    with reading(path, _HINT):
        tags = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(tags, dict) or not all(_are_tags(words) for words in tags.values()):
        raise unreadable(path, "it should be an object with a list of words for each run", _HINT)
    return tags


def change_tags(folder: Path, run: str, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> list[str]:
    """Add tags to a run, or remove some; returns those that it has now."""
    added, removed = list(add), set(remove)
    for tag in added:
        if not _TAG.fullmatch(tag):
            raise UsageError(
                f"{tag[:60]!r} can't be a tag", hint="a tag is a word of at most 40 letters, digits and . : + - _"
            )
    if not added and not removed:  # nothing to write, so that whoever may only read is shown the tags
        return read_tags(folder).get(run, [])
    with file_lock(folder / f".{TAGS}.lock", "the tags", "changes them"):
        tags = read_tags(folder)
        words = [tag for tag in dict.fromkeys([*tags.get(run, []), *added]) if tag not in removed]
        tags[run] = words
        with replacing(folder / TAGS) as (temporary,):
            kept_tags = {name: own for name, own in sorted(tags.items()) if own}
            temporary.write_text(dumps(kept_tags, indent=2) + "\n", encoding="utf-8", newline="\n")
    return words


def _are_tags(words: object) -> bool:
    return isinstance(words, list) and all(isinstance(word, str) and _TAG.fullmatch(word) for word in words)
