"""Which passages are asked about: no boilerplate, nothing twice, from all sources and of all lengths.

What is drawn depends on a hash of each text and the seed, not on the order of the documents: where a document is added,
most of the others' passages are drawn again.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import zip_longest
from zlib import crc32

import numpy as np
import numpy.typing as npt

from ragmeter.metrics.normalize import fold, words
from ragmeter.testsets.cutting import size_of
from ragmeter.testsets.questions import Passage

#: Lengths, places in the draw, and numbers of passages.
Entries = npt.NDArray[np.int64]
TOO_SHORT, BOILERPLATE, NEAR_DUPLICATE = "too_short", "boilerplate", "near_duplicate"
#: A passage with fewer words says too little to ask about.
_SHORTEST = 12
#: A text with fewer letters among its characters is a table of figures; with fewer words to a line, a menu.
_LETTERS, _WORDS_A_LINE, _LINES = 0.6, 3, 5
#: Two passages are near-duplicates where one has so many of the other's runs of words; every 16th is looked at.
_RUN, _EVERY, _SAME = 6, 16, 0.6


@dataclass
class Survey:
    """What there is to ask about: of each passage its source, length, place in the draw and number; and what was left
    out.
    """

    seed: int = 0
    passages: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    sources: dict[str, int] = field(default_factory=dict)
    _entries: array[int] = field(default_factory=lambda: array("q"))

    def add(self, number: int, passage: Passage) -> None:
        """A passage that may be asked about."""
        source = self.sources.setdefault(passage.source, len(self.sources))
        self._entries.extend((source, size_of(passage.text), lot(self.seed, passage.id, passage.text), number))

    @property
    def usable(self) -> int:
        """How many passages may be asked about."""
        return len(self._entries) // 4

    def by_source(self) -> list[Entries]:
        """For each source the lengths, lots and numbers of its passages, in the order of their lengths."""
        entries = np.array(self._entries, np.int64).reshape(-1, 4)
        entries = entries[np.lexsort((entries[:, 2], entries[:, 1], entries[:, 0]))]
        return np.split(entries[:, 1:], np.flatnonzero(np.diff(entries[:, 0])) + 1)


def lot(seed: int, *texts: str) -> int:
    """A random number that belongs to these texts: the same seed gives the same one."""
    digest = blake2b("\0".join((str(seed), *texts)).encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest) >> 1


def survey(passages: Iterable[Passage], seed: int) -> Survey:
    """Look at all passages once; of each, only a few numbers stay in memory."""
    result, is_twice = Survey(seed), Twice()
    for number, passage in enumerate(passages):
        result.passages += 1
        cause = _unusable(passage.text) or (NEAR_DUPLICATE if is_twice(passage.text) else "")
        if cause:
            result.dropped[cause] += 1
        else:
            result.add(number, passage)
    return result


def _unusable(text: str) -> str:
    """Why nobody could ask about a text; empty if one can."""
    size = size_of(text)
    if size < _SHORTEST:
        return TOO_SHORT
    characters = "".join(text.split())
    lines = [line for line in text.split("\n") if line.strip()]
    is_menu = len(lines) >= _LINES and size < _WORDS_A_LINE * len(lines)
    return BOILERPLATE if is_menu or sum(map(str.isalpha, characters)) < _LETTERS * len(characters) else ""


class Twice:
    """Says of one text after another whether it is nearly one of those before."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def __call__(self, text: str) -> bool:
        in_order = words(fold(text))
        runs = {crc32(" ".join(in_order[at : at + _RUN]).encode()) for at in range(max(1, len(in_order) - _RUN + 1))}
        marks = {run for run in runs if run % _EVERY == 0} or {crc32(" ".join(in_order).encode())}
        is_twice = len(marks & self._seen) >= _SAME * len(marks)
        self._seen |= marks
        return is_twice


@dataclass(frozen=True)
class Sample:
    """The passages to ask about, in the order of their draw, and those of documents that are held out."""

    passages: tuple[Passage, ...]
    held_out: tuple[Passage, ...] = ()
    held_out_sources: tuple[str, ...] = ()


#: At most this share of the sources is held out: what is left is what the system is to be tested with.
_MOST_HELD_OUT = 0.2


def draw(read: Callable[[], Iterator[Passage]], seen: Survey, n: int, n_held_out: int) -> Sample:
    """Draw `n` passages over the sources and lengths, and `n_held_out` of sources that the others don't come from."""
    names, by_source = list(seen.sources), seen.by_source()
    sources = sorted(range(len(names)), key=lambda source: lot(seen.seed, names[source]))
    n_held, room = 0, n_held_out
    while room > 0 and n_held < int(_MOST_HELD_OUT * len(sources)):
        room -= len(by_source[sources[n_held]])
        n_held += 1
    held = [names[source] for source in sources[:n_held]]
    out = _in_turns([by_source[source] for source in sources[:n_held]])[:n_held_out]
    others = _in_turns([by_source[source] for source in sources[n_held:]])[:n]
    texts = _texts(read, {*out, *others})
    return Sample(
        tuple(texts[number] for number in others), tuple(texts[number] for number in out), tuple(sorted(held))
    )


def _texts(read: Callable[[], Iterator[Passage]], numbers: set[int]) -> dict[int, Passage]:
    return {number: passage for number, passage in enumerate(read()) if number in numbers}


def _in_turns(by_source: Sequence[Entries]) -> list[int]:
    """The numbers of passages: the sources in turns, and of each its short, middling and long ones in turns."""
    orders = []
    for entries in by_source:
        thirds = (third[np.argsort(third[:, 1])] for third in np.array_split(entries, 3))
        mixed = zip_longest(*(third[:, 2].tolist() for third in thirds))
        orders.append([number for group in mixed for number in group if number is not None])
    return [number for group in zip_longest(*orders) for number in group if number is not None]
