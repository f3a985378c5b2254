"""Splits a whole column of texts into words at once, as bytes: by the compiled kernel, or over arrays.

In ASCII every rule of `normalize.words` looks at one character and its two neighbours, so that it is a comparison of
whole arrays. A chunk between white space that has other characters is left whole: `Lexicon` finds its words once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ragmeter import kernel
from ragmeter.metrics.bags import Ids, ranges, slices

_Bytes = npt.NDArray[np.uint8]
_Flags = npt.NDArray[np.bool_]

_AT_ONCE = 1 << 18  # bytes: their arrays stay in the processor's cache
#: The kinds of bytes. Those of a word come first, so that one comparison finds them.
_DIGIT, _LETTER, _UNDERSCORE, _APOSTROPHE, _SEPARATOR, _MINUS, _SPACE, _OPENING, _OTHER, _FOREIGN = range(10)
_OF_SIGNS = {
    "_": _UNDERSCORE,
    "'": _APOSTROPHE,
    ".": _SEPARATOR,
    ",": _SEPARATOR,
    "-": _MINUS,
    "(": _OPENING,
    "[": _OPENING,
}


def _kind(code: int) -> int:
    character = chr(code)
    if code >= 0x80:
        return _FOREIGN
    if character.isdigit() or character.isalpha():
        return _DIGIT if character.isdigit() else _LETTER
    if character.isspace():
        return _SPACE
    return _OF_SIGNS.get(character, _OTHER)


_KINDS = bytes(map(_kind, range(256)))
#: What `normalize.fold` does to ASCII.
_FOLDED = bytes.maketrans(b"`ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"'abcdefghijklmnopqrstuvwxyz")
_SPACES = "\u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
#: Which code points below U+4000 are white space of two or three bytes.
_IS_WIDE_SPACE = np.zeros(0x4000, bool)
_IS_WIDE_SPACE[[ord(space) for space in _SPACES]] = True
#: The three for the kernel, in one piece.
TABLES = _KINDS + bytes(range(256)).translate(_FOLDED) + _IS_WIDE_SPACE.tobytes()


@dataclass(frozen=True)
class Split:
    """The words of a column: the distinct ones, which one each item is, and where each text begins among the items.

    `has_marks`: which texts have accents of their own, apart from the letters that they belong to; None if none has.
    """

    distinct: Any  # an Arrow array of texts
    items: Ids
    starts: Ids
    has_marks: _Flags | None


def split(*columns: Sequence[str]) -> Split:
    """Split the texts of columns into words; chunks with other characters than ASCII stay whole."""
    return _split_compiled(columns) if kernel.library() else _split_plain([text for texts in columns for text in texts])


def _split_compiled(columns: Sequence[Sequence[str]]) -> Split:
    from ragmeter.kernel.words import Vocabulary

    words = Vocabulary()
    items, starts, has_marks = words.split(pa.concat_arrays(map(text_array, columns)), TABLES)
    return Split(words.since(0), items, starts, has_marks if has_marks.any() else None)


def _split_plain(texts: Sequence[str]) -> Split:
    try:
        encoded = list(map(str.encode, texts))
    except UnicodeEncodeError:  # lone surrogates
        encoded = [text.encode(errors="replace") for text in texts]
    sizes = np.fromiter(map(len, encoded), np.int64, len(encoded))
    parts = [_words(encoded[part], sizes[part]) for part in slices(sizes, _AT_ONCE)] or [_words(encoded, sizes)]
    letters, lengths, counts, marks = (list(field) for field in zip(*parts, strict=True))
    bounds, starts = _running_total(np.concatenate(lengths)), _running_total(np.concatenate(counts))
    words = pa.LargeStringArray.from_buffers(
        len(bounds) - 1, pa.py_buffer(bounds), pa.py_buffer(np.concatenate(letters))
    ).dictionary_encode()
    has_marks = np.concatenate(marks)
    return Split(words.dictionary, words.indices.to_numpy(), starts, has_marks if has_marks.any() else None)


def _words(texts: list[bytes], sizes: Ids) -> tuple[_Bytes, Ids, Ids, _Flags]:
    """The letters of all words, the length of each, how many words each text has, and which texts have marks."""
    data = _joined(texts).translate(_FOLDED)
    breaks = _running_total(sizes + 1)
    kinds = np.frombuffer(data.translate(_KINDS), np.uint8)
    in_word = kinds <= _UNDERSCORE
    in_word[_joining(kinds)] = True
    has_marks = np.zeros(len(texts), bool)
    if not data.isascii():
        begins, lengths, marked = _foreign(texts, breaks)
        in_word[ranges(begins, lengths)] = True
        has_marks[marked] = True
    edges = np.flatnonzero(in_word[1:] != in_word[:-1])  # before the first byte of a word, and at its last one
    begins = edges[0::2]
    letters = np.compress(in_word, np.frombuffer(data, np.uint8))
    return letters, edges[1::2] - begins, np.diff(np.searchsorted(begins, breaks)), has_marks


def _joined(texts: list[bytes]) -> bytes:
    """The texts with a line break before each and after the last."""
    return b"\n".join([b"", *texts, b""])


def text_array(texts: Sequence[str]) -> Any:
    """Texts as an Arrow array; lone surrogates, which Arrow refuses, are replaced."""
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:
        return pa.array([text.encode(errors="replace").decode() for text in texts], pa.large_string())


def _running_total(counts: Ids) -> Ids:
    """The sums of the counts before each one, and of all."""
    totals = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=totals[1:])
    return totals


def _joining(kinds: _Bytes) -> Ids:
    """Apostrophes inside a word (don't, 1923'te), points and commas inside a number (3.5), a sign before one (-5).

    Spaces come first and last.
    """
    apostrophes, separators, signs = (np.flatnonzero(kinds == kind) for kind in (_APOSTROPHE, _SEPARATOR, _MINUS))
    before = kinds[apostrophes - 1]
    in_word = (before <= _UNDERSCORE) & (kinds[apostrophes + 1] == _LETTER)
    in_number = (kinds[separators - 1] == _DIGIT) & (kinds[separators + 1] == _DIGIT)
    begins = (kinds[signs - 1] == _SPACE) | (kinds[signs - 1] == _OPENING)
    is_sign = begins & (kinds[signs + 1] == _DIGIT)
    return np.concatenate([apostrophes[in_word], separators[in_number], signs[is_sign]])


def _foreign(texts: list[bytes], breaks: Ids) -> tuple[Ids, Ids, Ids]:
    """Where chunks with other characters than ASCII begin in all texts joined, their lengths, and texts with marks."""
    numbers = np.flatnonzero([not text.isascii() for text in texts])
    own = [texts[number] for number in numbers.tolist()]
    data = _joined(own)
    own_breaks = _running_total(np.fromiter(map(len, own), np.int64, len(own)) + 1)
    kinds = np.frombuffer(data.translate(_KINDS), np.uint8).copy()
    kinds[_wide_spaces(data)] = _SPACE
    is_foreign = kinds == _FOREIGN
    runs = np.flatnonzero(is_foreign[1:] & ~is_foreign[:-1])
    spaces = np.flatnonzero(kinds == _SPACE)
    after = np.searchsorted(spaces, runs, side="right")
    after = after[np.diff(after, prepend=0) > 0]  # each chunk once
    begins = spaces[after - 1] + 1
    shifts = (breaks[numbers] - own_breaks[:-1])[np.searchsorted(own_breaks, begins) - 1]
    return begins + shifts, spaces[after] - begins, numbers[_with_marks(data, own_breaks)]


def _wide_spaces(data: bytes) -> Ids:
    """The places of all bytes of white space of two or three bytes."""
    raw = np.frombuffer(data, np.uint8)
    two, three = np.flatnonzero(raw == 0xC2), np.flatnonzero(raw - np.uint8(0xE1) < 3)
    two = two[_IS_WIDE_SPACE[raw[two + 1]]]
    first, second, third = (raw[three + step].astype(np.int64) for step in range(3))
    three = three[_IS_WIDE_SPACE[(first & 0x0F) << 12 | (second & 0x3F) << 6 | third & 0x3F]]
    return np.concatenate([two, two + 1, three, three + 1, three + 2])


def _with_marks(data: bytes, breaks: Ids) -> Ids:
    """The texts that have a character from U+0300 to U+037F, where the accents are."""
    if b"\xcc" not in data and b"\xcd" not in data:
        return breaks[:0]
    raw = np.frombuffer(data, np.uint8)
    return np.searchsorted(breaks, np.flatnonzero((raw == 0xCC) | (raw == 0xCD))) - 1
