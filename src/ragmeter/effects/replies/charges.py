"""What a run has spent, calls under way included, in a small file beside its journal that outlives a killed process.

Every call is charged there before it is sent, which takes microseconds: waiting for the journal's commits would take
longer. A power failure may lose the last charges, since nothing waits for the disk. When the journal is closed it has
all of them, and the file is removed.
"""

from __future__ import annotations

import warnings
import zlib
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from ragmeter.errors import OutputError, RagmeterWarning

#: The bytes of a record; a run's scope has fewer than half of them.
_SIZE = 256


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls and dollars that a run has used so far."""

    calls: int
    cost: float


class Charges:
    """A record for each run, replaced in place: what is sent to the system in one small write is not torn by a kill."""

    def __init__(self, journal: Path) -> None:
        self.path = journal.with_name(f"{journal.name}-charges")
        self._mode = journal.stat().st_mode & 0o777
        self._file: FileIO | None = None
        self._places: dict[str, int] = {}

    def write(self, scope: str, spent: Spent) -> None:
        """Write what a run has spent."""
        record = f"{scope}\t{spent.calls}\t{spent.cost!r}".encode()
        place = self._places.setdefault(scope, len(self._places) * _SIZE)
        try:
            if self._file is None:
                self.path.touch(mode=self._mode)
                self._file = FileIO(self.path, "r+")
            self._file.seek(place)
            self._file.write(b"%010d\t%s\n" % (zlib.crc32(record), record.ljust(_SIZE - 12)))
        except OSError as error:
            raise OutputError(f"can't write {self.path}: {error.strerror}", hint="free some space") from error

    def left_behind(self) -> dict[str, Spent]:
        """The charges of runs that were killed, by scope."""
        spent: dict[str, Spent] = {}
        try:
            lines = self.path.read_bytes().splitlines()
        except OSError:  # the usual case: the last process has removed it
            return spent
        for line in lines:
            checksum, _, record = line.partition(b"\t")
            record = record.rstrip(b" ")
            if not checksum.isdigit() or int(checksum) != zlib.crc32(record):
                warnings.warn(
                    f"{self.path} is damaged: calls that were under way when a run was killed may not be counted",
                    RagmeterWarning,
                    stacklevel=2,
                )
                continue
            scope, calls, cost = record.decode().split("\t")
            spent[scope] = Spent(int(calls), float(cost))
        return spent

    def remove(self) -> None:
        """Remove the file: the journal has what is in it."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._places.clear()
        self.path.unlink(missing_ok=True)
