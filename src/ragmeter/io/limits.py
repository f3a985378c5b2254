"""How much one row may hold. A compressed file of a megabyte can contain a gigabyte in a single cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from ragmeter.errors import InputError, UsageError
from ragmeter.hints import option, parameter
from ragmeter.wording.numbers import given

#: In MiB: the largest row of a CSV, TSV, JSON Lines or Parquet file, and the largest JSON document.
MAX_FIELD = 256.0
#: In bytes: the most that is read into memory of what can be read only once.
_MAX_ONCE = 4 << 30
_PIECE = 1 << 24


@dataclass(frozen=True)
class Limit:
    """The most characters of a row or a document; bytes, where a file has no characters.

    `adjustable`: the caller has an option for it, which the error names.
    """

    mib: float = MAX_FIELD
    adjustable: bool = False

    @classmethod
    def of(cls, max_field: float | None) -> Limit:
        """The caller's limit, or the usual one."""
        return cls() if max_field is None else cls(max_field, adjustable=True)

    def __post_init__(self) -> None:
        if not 0 < self.mib <= 1 << 20:
            raise UsageError(f"{parameter('max_field')} must be above 0 and at most 1048576, got {given(self.mib)}")

    @property
    def size(self) -> int:
        """The limit as a number of characters."""
        return max(1, int(self.mib * (1 << 20)))

    def error(self, what: str, name: str, line: int, hint: str = "") -> InputError:
        """The error for something larger than this; `hint` is what may be wrong with the file."""
        more = f"if it is meant to be that large, allow more with {option('max_field')}" if self.adjustable else ""
        return InputError(
            f"{what} is larger than {given(self.mib)} MiB",
            file=name,
            line=line,
            hint="; ".join(filter(None, (hint, more))),
        )


def read_once(stream: BinaryIO, name: str) -> bytes:
    """All that comes from a pipe or a web server, which may never end."""
    pieces: list[bytes] = []
    while piece := stream.read(_PIECE):
        pieces.append(piece)
        if sum(map(len, pieces)) > _MAX_ONCE:
            raise InputError(
                f"more than {given(_MAX_ONCE / (1 << 30))} GiB came, and what can be read only once is held in memory",
                file=name,
                hint="save it as a file first: files may have any size",
            )
    return b"".join(pieces)
