"""Where a file may be: on a disk (a `Path`), in an object store, or on a web server (a `StorePath`).

A `StorePath` has those methods of a `Path` that reading a file takes, and an atomic `write_bytes`. `s3://` and `gs://`
go through `pyarrow.fs`, with the credentials and settings of the environment; `https://` can only be read.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from ragmeter.errors import InputError, OutputError, UsageError
from ragmeter.io.addresses import public
from ragmeter.io.limits import read_once

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_STORES = ("s3", "gs")
_WEB = ("https", "http")
#: Where a store's credentials stand in the environment.
_KEYS = {"s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", "gs": "GOOGLE_APPLICATION_CREDENTIALS"}
_KNOWN = "s3://, gs://, https:// and file://"
#: Seconds without a byte after which a web server has failed, and in which Google's store is tried again.
_PATIENCE = 60.0


@dataclass(frozen=True)
class StorePath:
    """A file or a folder in a store: `key` is its bucket and path, without the slash at its end."""

    scheme: str
    key: str

    @property
    def address(self) -> str:
        """What it is fetched by; the query of a web address may have a signature, which is not shown."""
        return f"{self.scheme}://{self.key}"

    def __str__(self) -> str:
        return public(self.address) if self.is_web else self.address

    def __repr__(self) -> str:
        return f"StorePath({str(self)!r})"

    def __truediv__(self, name: str | os.PathLike[str]) -> StorePath:
        return StorePath(self.scheme, f"{self.key}/{os.fspath(name)}")

    @property
    def _pure(self) -> PurePosixPath:
        return PurePosixPath(urlsplit(self.address).path if self.is_web else self.key)

    @property
    def is_web(self) -> bool:
        """Whether it is on a web server, where nothing can be listed or written."""
        return self.scheme in _WEB

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self._pure.name

    @property
    def stem(self) -> str:
        """The name without its last ending."""
        return self._pure.stem

    @property
    def suffix(self) -> str:
        """The last ending of the name."""
        return self._pure.suffix

    @property
    def suffixes(self) -> list[str]:
        """The endings of the name."""
        return self._pure.suffixes

    @property
    def parent(self) -> StorePath:
        """The folder that it is in."""
        return StorePath(self.scheme, self.key.rpartition("/")[0])

    def _info(self) -> Any:
        with store_errors(self):
            return filesystem(self).get_file_info(self.key)

    def exists(self) -> bool:
        """Whether there is a file, or a folder with files in it. What a web server has is seen when it is read."""
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        """Whether there is a file of this name."""
        return self.is_web or bool(self._info().is_file)

    def is_dir(self) -> bool:
        """Whether there are files below this name."""
        return not self.is_web and self._info().type.name == "Directory"

    def open(self, mode: str = "rb") -> BinaryIO:
        """The file for reading, from any place in it."""
        if mode != "rb":
            raise ValueError(f"a file in a store is opened with 'rb', not {mode!r}")
        if self.is_web:
            return io.BytesIO(_fetched(self))
        with store_errors(self):
            return cast(BinaryIO, filesystem(self).open_input_file(self.key))

    def read_bytes(self) -> bytes:
        """All of the file."""
        with store_errors(self), self.open() as file:
            return bytes(file.read())

    def read_text(self, encoding: str = "utf-8") -> str:
        """All of the file as text."""
        return self.read_bytes().decode(encoding)

    def write_bytes(self, data: bytes) -> None:
        """Put a file in its place. It is there whole or not at all."""
        with store_errors(self, writes=True), filesystem(self).open_output_stream(self.key, compression=None) as stream:
            stream.write(data)

    def remove(self) -> None:
        """Remove the file, or the folder with all that is in it."""
        with store_errors(self, writes=True):
            store = filesystem(self)
            info = store.get_file_info(self.key)
            if info.is_file:
                store.delete_file(self.key)
            elif info.type.name == "Directory":
                with suppress(FileNotFoundError):  # in Google's store a folder is nothing once its files are gone
                    store.delete_dir(self.key)

    def resolve(self) -> StorePath:
        """Itself: an address is absolute."""
        return self


Location = Path | StorePath


def location(given: str | os.PathLike[str] | StorePath) -> Location:
    """A path, or an address such as s3://bucket/answers."""
    if isinstance(given, Path | StorePath):
        return given
    text = os.fspath(given)
    match = _ADDRESS.fullmatch(text)
    if match is None:
        return Path(text)
    scheme, rest = match[1].lower(), match[2]
    scheme = {"gcs": "gs", "s3a": "s3", "s3n": "s3"}.get(scheme, scheme)
    if scheme == "file":
        from urllib.request import url2pathname  # late: it imports much

        return Path(url2pathname(unquote(urlsplit(text).path)))
    if scheme not in (*_STORES, *_WEB):
        raise UsageError(f"{public(text)}: {scheme}:// can't be read", hint=f"there are {_KNOWN}, and paths")
    rest = rest.rstrip("/")
    host = re.split("[/?#]" if scheme in _WEB else "/", rest, maxsplit=1)[0]
    if not host:
        raise UsageError(f"{public(text)}: the address has no {'host' if scheme in _WEB else 'bucket'}")
    if "@" in host or (scheme in _STORES and ":" in host):
        raise UsageError(
            f"{public(text)}: the address has a user name or password in it",
            hint="download the file first" if scheme in _WEB else "take them from the environment: " + _KEYS[scheme],
        )
    return StorePath(scheme, rest)


def on_disk(given: Location, doing: str) -> Path:
    """The path, or an error for what can only be done on a disk."""
    if isinstance(given, StorePath):
        raise UsageError(
            f"{given} is in a store, and {doing} needs a folder on a disk",
            hint="copy the run to a disk first, and name that folder",
        )
    return given


def same_place(a: Location, b: Location) -> bool:
    """Whether two paths or addresses lead to the same file or folder."""
    if isinstance(a, StorePath) or isinstance(b, StorePath):
        return a == b
    return a == b or (a.exists() and b.exists() and a.samefile(b))


def folders_in(given: Location) -> list[str]:
    """The names of the folders in a folder; none if it does not exist."""
    if isinstance(given, Path):
        return [path.name for path in given.iterdir() if path.is_dir()] if given.is_dir() else []
    from pyarrow import fs

    every = given.scheme == "gs"  # Arrow names no folders of Google's store, so they are read off the files in them
    with store_errors(given):
        infos = filesystem(given).get_file_info(fs.FileSelector(given.key, recursive=every, allow_not_found=True))
    paths = [f"{info.path}/" if info.type.name == "Directory" else info.path for info in infos]
    names = (path.removeprefix(f"{given.key}/").partition("/") for path in paths)
    return list(dict.fromkeys(name for name, slash, _ in names if slash))


def filesystem(path: StorePath) -> Any:
    """Arrow's file system for a store, as the environment describes it."""
    if path.is_web:
        raise UsageError(f"{path}: on a web server a single file can be read, and nothing listed or written")
    settings = {name: os.environ.get(name) for name in (*_ENDPOINTS, *_REGIONS, _EMULATOR)}
    return _filesystem(path.scheme, path.key.partition("/")[0], tuple(settings.items()))


_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
#: Where Google's libraries find a store of the user's own.
_EMULATOR = "STORAGE_EMULATOR_HOST"


@lru_cache(maxsize=16)
def _filesystem(scheme: str, bucket: str, settings: tuple[tuple[str, str | None], ...]) -> Any:
    from pyarrow import fs

    given = dict(settings)
    if scheme == "gs":
        patience = timedelta(seconds=_PATIENCE)
        if not (emulator := given[_EMULATOR]):
            return fs.GcsFileSystem(retry_time_limit=patience)
        parts = urlsplit(emulator if "://" in emulator else f"http://{emulator}")
        return fs.GcsFileSystem(
            anonymous=True, endpoint_override=parts.netloc, scheme=parts.scheme, retry_time_limit=patience
        )
    endpoint = next((given[name] for name in _ENDPOINTS if given[name]), None)
    region = next((given[name] for name in _REGIONS if given[name]), None)
    if endpoint is not None:
        parts = urlsplit(endpoint)
        return fs.S3FileSystem(endpoint_override=parts.netloc, scheme=parts.scheme, region=region or "us-east-1")
    with store_errors(StorePath(scheme, bucket)):
        return fs.S3FileSystem(region=region or fs.resolve_s3_region(bucket))


@contextmanager
def store_errors(path: StorePath, *, writes: bool = False) -> Iterator[None]:
    """Turn a store's errors into InputError, or into OutputError while something is written."""
    try:
        yield
    except (FileNotFoundError, OSError) as error:
        reason = " ".join(str(error).split())
        if writes:
            raise OutputError(f"can't write {path}: {reason}") from error
        raise InputError(f"can't be read: {reason}", file=str(path)) from error


def _fetched(path: StorePath) -> bytes:
    """What a web server has at an address."""
    import urllib.request
    from http.client import HTTPException

    try:
        with urllib.request.urlopen(path.address, timeout=_PATIENCE) as reply:  # noqa: S310 - http or https
            content = read_once(reply, str(path))
            stated = reply.headers.get("Content-Length")
        if stated is not None and len(content) != int(stated):
            raise OSError(f"the server sent {len(content):,} of {int(stated):,} bytes")
    except HTTPException as error:  # its message may have the address
        raise InputError(f"can't be read: {type(error).__name__}", file=str(path)) from None
    except (OSError, ValueError) as error:
        raise InputError(f"can't be read: {error}", file=str(path)) from None
    return content
