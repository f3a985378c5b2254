"""The rows of an evaluation, by columns: a row is made when somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from ragmeter.table import NewRow


class ResultRows(Sequence[NewRow]):
    """A list of dicts, all with the same keys, that takes the memory of its columns. Equal to a list of equal dicts."""

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @overload
    def __getitem__(self, place: int) -> NewRow: ...
    @overload
    def __getitem__(self, place: slice) -> list[NewRow]: ...
    def __getitem__(self, place: int | slice) -> NewRow | list[NewRow]:
        if isinstance(place, slice):
            return list(ResultRows({name: column[place] for name, column in self.columns.items()}))
        return {name: column[place] for name, column in self.columns.items()}

    def __iter__(self) -> Iterator[NewRow]:
        names = list(self.columns)
        return (dict(zip(names, row, strict=True)) for row in zip(*self.columns.values(), strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(dict.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))
