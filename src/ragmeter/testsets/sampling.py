"""Which passages are asked about: no boilerplate, nothing twice, from all sources and of all lengths."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from zlib import crc32

import numpy as np

from ragmeter.metrics.normalize import fold, words
from ragmeter.testsets.cutting import size_of
from ragmeter.testsets.questions import Passage

TOO_SHORT, BOILERPLATE, NEAR_DUPLICATE = "too_short", "boilerplate", "near_duplicate"
#: A passage with fewer words says too little to ask about.
_SHORTEST = 12
#: A text with fewer letters among its characters is a table of figures or a drawing; with fewer words to a line, a menu.
_LETTERS, _WORDS_A_LINE, _LINES = 0.6, 3, 5
#: Two passages are near-duplicates where one has so many of the other's runs of words; of these, every 16th is looked at.
_RUN, _EVERY, _SAME = 6, 16, 0.6


@dataclass
class Survey:
    """What there is to ask about: for each source the numbers and lengths of its passages; and what was left out."""

    passages: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    by_source: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))

    @property
    def usable(self) -> int:
        """How many passages may be asked about."""
        return sum(map(len, self.by_source.values()))


def survey(passages: Iterable[Passage]) -> Survey:
    """Look at all passages once; of each, only its number and its length stay in memory."""
    result, is_twice = Survey(), Twice()
    for number, passage in enumerate(passages):
        result.passages += 1
        cause = _unusable(passage.text) or (NEAR_DUPLICATE if is_twice(passage.text) else "")
        if cause:
            result.dropped[cause] += 1
        else:
            result.by_source[passage.source].append((size_of(passage.text), number))
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


def draw(read: Callable[[], Iterator[Passage]], seen: Survey, n: int, n_held_out: int, seed: int) -> Sample:
    """Draw `n` passages over the sources and lengths, and `n_held_out` of sources that the others don't come from."""
    rng = np.random.default_rng(seed)
    sources = [list(seen.by_source)[place] for place in rng.permutation(len(seen.by_source))]
    held: list[str] = []
    for source in sources[: int(_MOST_HELD_OUT * len(sources))]:
        if sum(len(seen.by_source[name]) for name in held) >= n_held_out:
            break
        held.append(source)
    out = _in_turns([seen.by_source[source] for source in held], rng)[:n_held_out]
    others = _in_turns([seen.by_source[source] for source in sources[len(held) :]], rng)[:n]
    texts = _texts(read, {*out, *others})
    return Sample(
        tuple(texts[number] for number in others), tuple(texts[number] for number in out), tuple(sorted(held))
    )


def _texts(read: Callable[[], Iterator[Passage]], numbers: set[int]) -> dict[int, Passage]:
    return {number: passage for number, passage in enumerate(read()) if number in numbers}


def _in_turns(by_source: Sequence[Sequence[tuple[int, int]]], rng: np.random.Generator) -> list[int]:
    """The numbers of passages: one of each source in turns, and of each source short, middling and long ones in turns."""
    orders = []
    for entries in by_source:
        thirds = np.array_split(np.array(sorted(entries))[:, 1], 3)
        mixed = zip_longest(*(rng.permutation(third).tolist() for third in thirds))
        orders.append([number for group in mixed for number in group if number is not None])
    return [number for group in zip_longest(*orders) for number in group if number is not None]
