"""Texts to ids in C: a vocabulary, and splitting into words."""

from __future__ import annotations

import ctypes
import secrets
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ragmeter import kernel

Ids = npt.NDArray[np.int64]


class Vocabulary:
    """Distinct texts, numbered in the order of their first occurrence. It is not safe to be used by two threads."""

    def __init__(self) -> None:
        self._library: Any = kernel.library()
        self._own = self._library.vocabulary_new(secrets.randbits(64))
        if not self._own:
            raise MemoryError
        weakref.finalize(self, self._library.vocabulary_free, self._own)

    def __len__(self) -> int:
        return int(self._library.vocabulary_size(self._own))

    def of(self, texts: Any) -> Ids:
        """The ids of an Arrow array of texts; new ones are added."""
        ids = np.empty(len(texts), np.int64)
        data, offsets = utf8(texts)
        if self._library.vocabulary_add(self._own, data, offsets.ctypes.data, len(texts), ids.ctypes.data) < 0:
            raise MemoryError
        return ids

    def since(self, first: int) -> Any:
        """The texts from this id on, as an Arrow array."""
        count = len(self) - first
        ends = np.frombuffer(_bytes(self._library.vocabulary_ends(self._own) + 8 * first, 8 * (count + 1)), np.int64)
        letters = _bytes(self._library.vocabulary_bytes(self._own) + int(ends[0]), int(ends[-1] - ends[0]))
        return pa.LargeStringArray.from_buffers(count, pa.py_buffer(ends - ends[0]), pa.py_buffer(letters))

    def split(self, texts: Any, tables: bytes) -> tuple[Ids, Ids, npt.NDArray[np.bool_]]:
        """The ids of the words of all texts, where each text begins among them, and which texts have marks.

        `tables`: the kind of each byte, its folded form, and which code points below U+4000 are white space.
        """
        data, offsets = utf8(texts)
        room = int(offsets[-1] - offsets[0] + len(texts)) // 2 + 1  # between two words there is a byte at least
        ids, starts = np.empty(room, np.int64), np.empty(len(texts) + 1, np.int64)
        has_marks = np.empty(len(texts), bool)
        arrays = [array.ctypes.data for array in (ids, starts, has_marks)]
        count = self._library.split_texts(self._own, data, offsets.ctypes.data, len(texts), tables, *arrays)
        if count < 0:
            raise MemoryError
        return ids[:count].copy(), starts, has_marks


def spread(pieces: Ids, starts: Ids, counts: Ids, firsts: Ids, flat: Ids) -> tuple[Ids, Ids]:
    """The ids of texts of pieces, and where each text begins: a piece is `counts` ids of `flat` from `firsts` on."""
    ids, id_starts = np.empty(int(counts[pieces].sum()), np.int64), np.empty(len(starts), np.int64)
    inputs = [np.ascontiguousarray(array, np.int64) for array in (pieces, starts, counts, firsts, flat)]
    first, second, *more = (array.ctypes.data for array in inputs)
    kernel.library().spread_pieces(first, second, len(starts) - 1, *more, ids.ctypes.data, id_starts.ctypes.data)
    return ids, id_starts


def may_be_same(first: Any, second: Any, tables: bytes) -> npt.NDArray[np.bool_]:
    """Which pairs of two Arrow arrays of texts may be the same but for case, accents and white space.

    `tables` are those of `Vocabulary.split`.
    """
    flags = np.empty(len(first), bool)
    (data, offsets), (other_data, other_offsets) = utf8(first), utf8(second)
    inputs = data, offsets.ctypes.data, other_data, other_offsets.ctypes.data
    kernel.library().pairs_may_be_same(tables, *inputs, len(first), flags.ctypes.data)
    return flags


def may_change_in_nfc(texts: Any) -> npt.NDArray[np.bool_]:
    """Which texts of an Arrow array may be others in NFC; those with ASCII and Latin letters alone are not."""
    flags = np.empty(len(texts), bool)
    data, offsets = utf8(texts)
    kernel.library().may_change_in_nfc(data, offsets.ctypes.data, len(texts), flags.ctypes.data)
    return flags


def utf8(texts: Any) -> tuple[int, Ids]:
    """Where the bytes of an Arrow array of texts are, and where each text begins and ends in them.

    The array must outlive what is done with them.
    """
    _, offsets, data = texts.buffers()
    if len(texts) == 0:
        return 0, np.zeros(1, np.int64)
    within = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return (data.address if data is not None else 0), within


def _bytes(address: int, size: int) -> bytes:
    return ctypes.string_at(address, size)
