"""The texts of large runs for searches: written once, in the background, when a run is first looked at.

A run's table is compressed well and has its passages in it: to read the texts of a million rows takes longer than
a person waits. These files have nothing but the texts that a search looks into, and are gone when the app ends.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from itertools import count
from pathlib import Path
from threading import Lock, Thread

from ragmeter.errors import RagmeterError

#: Smaller runs are searched quickly enough as they are.
_FEWEST_ROWS = 100_000
#: Bytes of files that are kept: those of about ten million rows.
_MOST = 4_000_000_000


class SearchTexts:
    """Files of texts by version of a run. The ones that were not used for longest are deleted."""

    def __init__(self, folder: Path, *, fewest_rows: int = _FEWEST_ROWS, most: int = _MOST) -> None:
        self.fewest_rows = fewest_rows
        self._folder = folder
        self._most = most
        self._numbers = count()
        self._files: OrderedDict[Hashable, Path | None] = OrderedDict()
        self._writers: list[Thread] = []
        self._lock = Lock()

    def file_of(self, version: Hashable, write: Callable[[Path], None]) -> Path | None:
        """The complete file. Without one, None; unless it is being written already, `write` begins with it."""
        with self._lock:
            if version not in self._files:
                self._files[version] = None
                writer = Thread(target=self._write, args=(version, write), daemon=True)
                self._writers = [*(thread for thread in self._writers if thread.is_alive()), writer]
                writer.start()
            self._files.move_to_end(version)
            return self._files[version]

    def wait(self) -> None:
        """Wait until all files that were begun are complete."""
        for writer in self._writers:
            writer.join()

    def _write(self, version: Hashable, write: Callable[[Path], None]) -> None:
        path = self._folder / f"texts-{next(self._numbers)}.parquet"
        try:
            write(path)
        except RagmeterError:  # the disk is full, or the run is damaged: it is searched as it is
            path.unlink(missing_ok=True)
            return
        with self._lock:
            self._files[version] = path
            self._delete_old()

    def _delete_old(self) -> None:
        sizes = {version: file.stat().st_size for version, file in self._files.items() if file is not None}
        for version in list(sizes)[:-1]:
            if sum(sizes.values()) <= self._most:
                return
            file = self._files.pop(version)
            if file is not None and sizes.pop(version):
                file.unlink(missing_ok=True)
