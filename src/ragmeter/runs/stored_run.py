"""A new run in an object store: there whole or not at all, as on a disk, though a store has no rename.

The files are put into a folder of their own, and the manifest, which names that folder, last. Until then readers see
the older run, or none. The older run's files are removed afterwards.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from ragmeter.documents.manifest import Manifest
from ragmeter.documents.record import Record
from ragmeter.documents.summary import Summary
from ragmeter.errors import RagmeterError
from ragmeter.io.locations import Location, StorePath, filesystem, folders_in, store_errors
from ragmeter.io.write import WRITTEN, dumps
from ragmeter.runs.layout import MANIFEST, PARTS_LOG, SUMMARY, writing
from ragmeter.runs.run import Run
from ragmeter.runs.writer import NewRun

_BLOCK = 8 << 20


class NewStoredRun:
    """A run that is written to a temporary folder of this machine, and put into the store when it is complete.

    With `inside`, the older run's log of its parts stays.
    """

    def __init__(self, path: StorePath, *, inside: bool = False) -> None:
        self.path = path
        self._inside = inside

    def __enter__(self) -> Self:
        with writing(self.path):
            self.folder = Path(tempfile.mkdtemp(prefix="ragmeter-"))
        return self

    def __exit__(self, *failure: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def finish(self, manifest: Manifest, summary: Summary) -> Run:
        """Put all files into the store, the manifest last."""
        version = f"files-{secrets.token_hex(8)}"
        for file in sorted(self.folder.iterdir()):
            upload(file, self.path / version / file.name)
        if self._inside:
            log = self.path / str(manifest.files_in) / PARTS_LOG
            if log.is_file():
                (self.path / version / PARTS_LOG).write_bytes(log.read_bytes())
        return commit(self.path, version, manifest, summary)


def new_run(path: Location, *, inside: bool = False) -> NewRun | NewStoredRun:
    """A run to be written, on a disk or in a store; with `inside`, in the place of one whose other files stay."""
    return NewStoredRun(path, inside=inside) if isinstance(path, StorePath) else NewRun(path, inside=inside)


def commit(path: StorePath, version: str, manifest: Manifest, summary: Summary) -> Run:
    """Make the files in the folder `version` the run's, by putting its manifest into place; remove older ones."""
    (path / version / SUMMARY).write_bytes(_document(summary))
    (path / MANIFEST).write_bytes(_document(replace(manifest, files_in=version)))
    WRITTEN[str(path)] = None
    for older in folders_in(path):
        if older != version and older.startswith("files-"):
            with suppress(RagmeterError):  # it is only in the way
                (path / older).remove()
    return Run(path)


def upload(file: Path, target: StorePath) -> None:
    """Put a file of this machine into the store. It is read while it is sent, and is there whole or not at all."""
    with (
        file.open("rb") as source,
        store_errors(target, writes=True),
        filesystem(target).open_output_stream(target.key, compression=None) as stream,
    ):
        while block := source.read(_BLOCK):
            stream.write(block)


def _document(content: Record) -> bytes:
    return (dumps(content, indent=2) + "\n").encode("utf-8")
