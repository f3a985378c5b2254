"""Data sets of many files: a folder, a glob, or a tree whose folders are named `column=value` (hive)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from ragmeter.errors import InputError
from ragmeter.io.locations import Location, StorePath, filesystem, store_errors
from ragmeter.naming import Signature

_WILD = re.compile(r"[*?\[]")
#: How hive spells a missing value in the name of a folder.
_NOTHING = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class DataFile:
    """A file of a data set. `partition` has the columns that the names of its folders give: `day=1` is ("day", "1")."""

    location: Location
    size: int
    modified_ns: int
    partition: tuple[tuple[str, str | None], ...] = ()

    @property
    def name(self) -> str:
        """The data set's path or address."""
        return str(self.location)


def is_glob(given: Location) -> bool:
    """Whether this is a pattern, and no file that is called so. The query of a web address is no pattern."""
    if isinstance(given, StorePath):
        return not given.is_web and _WILD.search(given.key) is not None
    return _WILD.search(str(given)) is not None and not given.exists()


def files_of(given: Location) -> list[DataFile]:
    """The files of a folder or of a pattern, in the order of their names. Hidden files and `_SUCCESS` are not data."""
    base, pattern = _fixed(given) if is_glob(given) else (given, None)
    listed = sorted(_listed(base), key=lambda entry: entry[0])
    files = []
    for relative, path, size, modified in listed:
        folders = relative.split("/")
        if pattern is None and any(part.startswith((".", "_")) for part in folders):
            continue
        if pattern is None or pattern.fullmatch(relative):
            files.append(DataFile(path, size, modified, _partition(folders[:-1])))
    if not files:
        reason = "this is a folder without files" if pattern is None else "no file has such a name"
        raise InputError(reason, file=str(given))
    return files


def single(path: Location) -> DataFile:
    """A file that was named by itself: the names of its folders say nothing."""
    if isinstance(path, StorePath):
        with store_errors(path):
            info = filesystem(path).get_file_info(path.key)
        return DataFile(path, info.size or 0, info.mtime_ns or 0)
    status = path.stat()
    return DataFile(path, status.st_size, status.st_mtime_ns)


def listing_signature(name: str, files: Sequence[DataFile], base: Location) -> Signature:
    """What identifies a data set: how many files and bytes it has, and a hash of their names and sizes.

    The contents are not read for it: of many files, that would take as long as the evaluation.
    """
    root = str(_fixed(base)[0] if is_glob(base) else base)
    lines = "".join(f"{file.name.removeprefix(root)}\t{file.size}\n" for file in files)
    digest = hashlib.sha256(lines.encode()).hexdigest()
    return {"file": name, "files": len(files), "bytes": sum(file.size for file in files), "listing_sha256": digest}


def _fixed(given: Location) -> tuple[Location, re.Pattern[str]]:
    """The folder before the first wildcard, and the pattern of the paths below it."""
    text = given.key if isinstance(given, StorePath) else given.as_posix()
    parts = text.split("/")
    first = next(place for place, part in enumerate(parts) if _WILD.search(part))
    base = "/".join(parts[:first])
    pattern = re.compile(_regex("/".join(parts[first:])), re.DOTALL)
    if isinstance(given, StorePath):
        return StorePath(given.scheme, base), pattern
    return Path(base or ("/" if text.startswith("/") else ".")), pattern


def _regex(glob: str) -> str:
    """A glob as a regular expression: `**/` is any number of folders, `*` stays within a name."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[!?[^\]]+\])", glob)
    wild = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(
        wild.get(part) or (f"[{part[1:-1].replace('!', '^', 1)}]" if part.startswith("[") else re.escape(part))
        for part in parts
    )


def _listed(base: Location) -> list[tuple[str, Location, int, int]]:
    """Every file below a folder: its path from there, its location, its size and when it was written."""
    if isinstance(base, StorePath):
        from pyarrow import fs

        with store_errors(base):
            infos = filesystem(base).get_file_info(fs.FileSelector(base.key, recursive=True, allow_not_found=True))
        return [
            (info.path.removeprefix(f"{base.key}/"), StorePath(base.scheme, info.path), info.size, info.mtime_ns or 0)
            for info in infos
            if info.is_file
        ]
    entries: list[tuple[str, Location, int, int]] = []
    for path in base.rglob("*"):
        if path.is_file():
            status = path.stat()
            entries.append((path.relative_to(base).as_posix(), path, status.st_size, status.st_mtime_ns))
    return entries


def _partition(folders: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
    pairs = [folder.split("=", 1) for folder in folders if "=" in folder]
    return tuple((unquote(name), None if value == _NOTHING else unquote(value)) for name, value in pairs if name)
