"""Words that people attach to runs. They are kept beside the runs, so that a run that is replaced has them still."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ragmeter.errors import UsageError
from ragmeter.runs.folder_documents import changing, read_document

TAGS = "tags.json"
_TAG = re.compile(r"[\w.:+-]{1,40}")
_HINT = "correct the file, or delete it: it has nothing but tags"


def read_tags(folder: Path) -> dict[str, list[str]]:
    """The tags of all runs of a folder, by run."""
    return _read(folder / TAGS)


def _read(path: Path) -> dict[str, list[str]]:
    return read_document(path, _are_tags, "an object with a list of words for each run", _HINT)


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
    with changing(folder / TAGS, "the tags", _read) as tags:
        words = [tag for tag in dict.fromkeys([*tags.get(run, []), *added]) if tag not in removed]
        tags[run] = words
    return words


def _are_tags(words: object) -> bool:
    return isinstance(words, list) and all(isinstance(word, str) and _TAG.fullmatch(word) for word in words)
