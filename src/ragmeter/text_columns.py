"""Columns of texts that stay in Arrow arrays: a reader fills them, and what scores and writes takes them as they are.

For everybody else they are sequences, whose cells become Python strings when somebody looks at them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Cell = TypeVar("Cell")


class _ArrowColumn(Sequence[Cell]):
    """A column in an Arrow array of texts, of which none is missing."""

    __hash__ = None  # type: ignore[assignment]  # as lists

    def __init__(self, array: Any) -> None:
        self.array = array

    @cached_property
    @abstractmethod
    def _cells(self) -> list[Cell]: ...

    @overload
    def __getitem__(self, place: int) -> Cell: ...
    @overload
    def __getitem__(self, place: slice) -> Self: ...
    def __getitem__(self, place: int | slice) -> Cell | Self:
        return type(self)(self.array[place]) if isinstance(place, slice) else self._cells[place]

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Any:
        return iter(self._cells)

    def __contains__(self, value: object) -> bool:
        return value is not None and value in self._cells

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._cells == list(other)

    def __repr__(self) -> str:
        return repr(self._cells)


class TextColumn(_ArrowColumn[str]):
    """A column of texts."""

    @cached_property
    def _cells(self) -> list[str]:
        texts: list[str] = self.array.to_numpy(zero_copy_only=False).tolist()
        return texts

    def __arrow_array__(self, type: Any = None) -> Any:  # noqa: A002 - its name
        """The Arrow array, for `pa.array`, which calls this."""
        return self.array

    def containing(self, character: str) -> TextColumn:
        """The texts that have this character of ASCII."""
        if not len(self):
            return self
        _, offsets, data = self.array.buffers()
        bounds = np.frombuffer(offsets, np.int64)[self.array.offset :][: len(self) + 1]
        letters = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]] if data is not None else np.empty(0, np.uint8)
        places = bounds[0] + np.flatnonzero(letters == ord(character))
        return TextColumn(self.array.take(pa.array(np.unique(np.searchsorted(bounds, places, "right") - 1))))


class ListsOfOne(_ArrowColumn[list[str]]):
    """A column of lists that have one text each, as a file with one reference a row gives them."""

    @property
    def texts(self) -> TextColumn:
        """The only text of each list."""
        return TextColumn(self.array)

    @cached_property
    def _cells(self) -> list[list[str]]:
        return [[text] for text in self.texts]

    def __arrow_array__(self, type: Any = None) -> Any:  # noqa: A002 - its name
        """The Arrow array, for `pa.array`, which calls this."""
        return pa.ListArray.from_arrays(np.arange(len(self) + 1, dtype=np.int32), self.array)


def cells_at(column: Sequence[str], places: npt.NDArray[np.int64]) -> Sequence[str]:
    """The texts at these places."""
    if isinstance(column, TextColumn):
        return TextColumn(column.array.take(pa.array(places)))
    return [column[place] for place in places.tolist()]
