"""Texts as arrays of items. Each distinct chunk is looked at once; everything after that is arithmetic over arrays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import regex

from ragmeter.metrics.bags import Ids, ranges
from ragmeter.metrics.normalize import known_languages, stemmer
from ragmeter.metrics.offline.tables import Mark, Table, plain, table, tables
from ragmeter.metrics.offline.values import Item, as_numeral, items, together
from ragmeter.metrics.tokens import Numbers, text_array

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Small = npt.NDArray[np.int32]
Words = npt.NDArray[np.object_]

#: Above this many distinct chunks a vocabulary starts afresh, so that memory stays flat.
_MOST_CHUNKS = 200_000
#: Of a longer text only the beginning is looked at: no answer to a question is longer, and a judge has to end.
LONGEST = 20_000
DEFAULT = "en"
_LONGEST_FUNCTION_WORD = 14
#: An item as it is kept: Python's collector looks at a plain tuple once, and at any other each time it comes by.
_Plain = tuple[str, str, int, float]
_NUMERALS = np.array([ord(letter) for letter in "ivx"])
#: Scripts that tell a language of themselves, by one of its function words.
_SPANISH = regex.compile(r"[¿¡]"), "el"
_SCRIPTS = ((regex.compile(r"\p{Han}"), "的"), (regex.compile(r"\p{Arabic}"), "في"), (regex.compile(r"\p{Thai}"), "ที่"))


@dataclass(frozen=True)
class Chunked:
    """Rows of texts, each distinct text once and split at white space: which of the distinct chunks stand where."""

    texts: list[str]
    distinct: list[str]
    which: Ids
    starts: Ids
    of_row: Ids  # which of the texts each row has

    def rows(self, rows: Ids) -> Chunked:
        """Some of the rows, with only those texts and chunks that stand in them."""
        if len(rows) == len(self.of_row):
            return self
        kept, of_row = _used(self.of_row[rows], len(self.texts))
        counts = np.diff(self.starts)[kept]
        used, which = _used(self.which[ranges(self.starts[kept], counts)], len(self.distinct))
        texts = [self.texts[each] for each in kept.tolist()]
        distinct = [self.distinct[each] for each in used.tolist()]
        return Chunked(texts, distinct, which, np.concatenate([[0], np.cumsum(counts)]), of_row)


def counted(flags: npt.NDArray[Any]) -> Small:
    """How many flags are set up to each place. In small integers it takes a quarter of the time."""
    return np.cumsum(flags.view(np.int8), dtype=np.int32)


def _used(numbers: Ids, below: int) -> tuple[Ids, Ids]:
    """The distinct numbers, and for each number its place among them. All are below `below`."""
    is_used = np.zeros(below, bool)
    is_used[numbers] = True
    return np.flatnonzero(is_used), (counted(is_used) - 1)[numbers].astype(np.int64)


@dataclass(frozen=True)
class Texts:
    """Some texts' items: their ids, where each text begins, which text each item is of, and the items' properties."""

    ids: Ids
    starts: Ids
    text: Ids
    root: Ids
    marks: Small
    value: Floats
    length: Small  # of the word, in letters
    letter: Small  # the word's first
    kin: Small  # words that go together have the same number; 0 is none

    @property
    def count(self) -> int:
        """How many texts there are."""
        return len(self.starts) - 1

    @property
    def place(self) -> Ids:
        """Each item's place in its text."""
        return np.arange(len(self.ids)) - self.starts[self.text]

    def has(self, mark: int) -> Bools:
        """Which items are marked so, in one way or another."""
        return np.asarray(self.marks & mark != 0)

    def per_text(self, values: npt.NDArray[np.generic]) -> Floats:
        """The sum over each text's items."""
        if values.dtype == bool:  # counting needs no weights
            before = np.zeros(len(values) + 1, np.int32)
            before[1:] = counted(values)
            return np.diff(before[self.starts]).astype(np.float64)
        return np.asarray(np.bincount(self.text, np.asarray(values, np.float64), self.count), np.float64)


@dataclass(frozen=True)
class Properties:
    """What is known of a vocabulary's items, in the order of their ids."""

    roots: Ids
    marks: Small
    values: Floats
    lengths: Small
    letters: Small
    kin: Small
    words: Words

    @classmethod
    def of(cls, items: Sequence[_Plain], roots: Mapping[str, int], kin: Mapping[str, int]) -> Properties:
        """The properties of some items."""
        words, names, marks, values = zip(*items, strict=True) if items else ((), (), (), ())
        return cls(
            np.fromiter(map(roots.__getitem__, names), np.int64, len(items)),
            np.array(marks, np.int32),
            np.array(values, np.float64),
            np.fromiter(map(len, words), np.int32, len(items)),
            np.fromiter((ord(word[0]) for word in words), np.int32, len(items)),
            np.fromiter((kin.get(name, 0) for name in names), np.int32, len(items)),
            np.array(words, np.object_),
        )


#: The type of each, as it grows.
_PROPERTIES = {
    "roots": np.int64, "marks": np.int32, "values": np.float64, "lengths": np.int32, "letters": np.int32,
    "kin": np.int32, "words": np.object_,
}  # fmt: skip


def chunked(texts: Sequence[str]) -> Chunked:
    """Split texts at white space, natively, and each text once however often it stands there."""
    known = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    of_row = np.fromiter(map(known.__getitem__, texts), np.int64, len(texts))
    # Arrow looks one character past the end of a text that ends in white space: none does, and one more text follows.
    split = pc.utf8_split_whitespace(text_array([*(text[:LONGEST].strip() for text in known), "."]))
    starts = split.offsets.to_numpy()[:-1].astype(np.int64)
    encoded = split.flatten().dictionary_encode()
    which = encoded.indices.to_numpy()[: starts[-1]].astype(np.int64)
    return Chunked(list(known), encoded.dictionary.to_pylist(), which, starts, of_row)


class Vocabulary:
    """One language's chunks, items and roots, grown as texts come by and shared by all threads."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.table: Table = table(language)
        self._lock = threading.Lock()
        self._stem = _stemming(language)
        self._chunks: dict[str, int] = {}
        self._counts, self._firsts, self._items = Numbers(), Numbers(), Numbers()  # the last: of all chunks in a row
        self._ids: dict[_Plain, int] = {}
        self._roots: dict[str, int] = {}
        self._known: list[_Plain] = []
        kin = self.table.kin.items()
        self._kin = {
            root: number for word, number in kin for root in (self._stem(word), self.table.units.get(word, ""))
        }
        self._kin.pop("", None)
        self._properties = {name: Numbers(kind) for name, kind in _PROPERTIES.items()}

    @property
    def size(self) -> int:
        """How many distinct chunks it holds."""
        return len(self._chunks)

    def texts(self, split: Chunked) -> Texts:
        """The items of each row's text, with numbers of several words made one."""
        with self._lock:
            known = self._chunks
            self._learn([chunk for chunk in split.distinct if chunk not in known])
            numbers = np.fromiter(map(known.__getitem__, split.distinct), np.int64, len(split.distinct))
            counts, firsts, flat = self._counts.view[numbers], self._firsts.view[numbers], self._items.view
        per_chunk = counts[split.which]
        ends = np.zeros(len(per_chunk) + 1, np.int64)
        np.cumsum(per_chunk, out=ends[1:])
        ids = flat[ranges(firsts[split.which], per_chunk)]
        ids, starts = self._merged(ids, ends[split.starts])
        lengths = np.diff(starts)[split.of_row]
        of_rows = np.concatenate([[0], np.cumsum(lengths)])
        return self._texts(ids[ranges(starts[split.of_row], lengths)], of_rows)

    def _learn(self, chunks: list[str]) -> None:
        ids: list[int] = []
        ends = []
        for chunk in chunks:
            ids.extend(map(self._id, items(chunk, self.table, self._stem)))
            ends.append(len(ids))
        counts = np.diff(np.array(ends, np.int64), prepend=0)
        self._chunks.update(zip(chunks, count(len(self._chunks))))
        self._firsts.append(len(self._items.view) + np.cumsum(counts) - counts)
        self._counts.append(counts)
        self._items.append(np.array(ids, np.int64))

    @property
    def properties(self) -> Properties:
        """What is known of each item, as arrays. They only grow, so what was handed out stays right."""
        with self._lock:
            held = self._properties
            known = len(held["marks"].view)
            if known < len(self._known):
                more = Properties.of(self._known[known:], self._roots, self._kin)
                for name, column in held.items():
                    column.append(getattr(more, name))
            return Properties(*(column.view for column in held.values()))

    def _texts(self, ids: Ids, starts: Ids) -> Texts:
        known = self.properties
        text = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        found = Texts(
            ids, starts, text, known.roots[ids], known.marks[ids], known.values[ids], known.lengths[ids],
            known.letters[ids], known.kin[ids],
        )  # fmt: skip
        self._name_kin(found, known.words)
        return found

    def _name_kin(self, texts: Texts, words: Words) -> None:
        """Names in two words have kin as well: United Kingdom, Soviet Union."""
        last = np.flatnonzero(texts.has(Mark.NAMED))
        last = last[(last > 0) & (texts.text[last] == texts.text[last - 1])]
        names = zip(words[texts.ids[last - 1]].tolist(), words[texts.ids[last]].tolist(), strict=True)
        kin = np.array([self.table.kin.get(f"{first} {second}", 0) for first, second in names], np.int32)
        texts.kin[last[kin > 0]] = texts.kin[last[kin > 0] - 1] = kin[kin > 0]

    def item(self, number: int) -> Item:
        """The item of an id."""
        return Item(*self._known[number])

    def _id(self, item: Item) -> int:
        plain: _Plain = (*item,)
        found = self._ids.get(plain)
        if found is None:
            found = self._ids[plain] = len(self._known)
            self._known.append(plain)
            self._roots.setdefault(item.root, len(self._roots))
        return found

    def _numerals(self, ids: Ids, starts: Ids) -> Ids:
        """A single I, V or X after a name is a numeral, not a pronoun or an initial."""
        known = self.properties
        mark = known.marks[ids]
        could = (known.lengths[ids] == 1) & (mark & Mark.CAPITAL != 0)
        could[starts[:-1][starts[:-1] < len(ids)]] = False
        places = np.flatnonzero(could)
        places = places[np.isin(known.letters[ids[places]], _NUMERALS)]
        before = mark[places - 1]
        stops = Mark.FUNCTION | Mark.CLAUSE | Mark.SENTENCE | Mark.LETTER
        places = places[(before & Mark.CAPITAL != 0) & (before & stops == 0)]
        if not len(places):
            return ids
        found = ids.copy()
        with self._lock:
            found[places] = [self._id(as_numeral(self.item(each))) for each in ids[places].tolist()]
        return found

    def _merged(self, ids: Ids, starts: Ids) -> tuple[Ids, Ids]:
        """Runs of numbers that mean one number, made one item."""
        ids = self._numerals(ids, starts)
        known = self.properties
        mark, value = known.marks[ids], known.values[ids]
        open_end = mark & (Mark.CLAUSE | Mark.SENTENCE) == 0
        spelled = mark & Mark.SPELLED != 0
        begins = np.zeros(len(ids), bool)  # a text
        begins[starts[:-1][starts[:-1] < len(ids)]] = True
        joined = np.zeros(len(ids), bool)  # with the item before it
        if len(ids) > 1:
            scale = mark & Mark.SCALE != 0
            joined[1:] = spelled[1:] & (mark[:-1] & Mark.NUMBER != 0) & open_end[:-1] & (spelled[:-1] | scale[1:])
        if len(ids) > 2:  # one hundred and five, treinta y uno
            round_number = spelled[:-2] & open_end[:-2] & (value[:-2] >= 20) & (value[:-2] % 10 == 0)
            bridge = round_number & (mark[1:-1] & Mark.ALSO != 0) & spelled[2:] & (value[2:] < value[:-2])
            bridge &= ~begins[1:-1] & ~begins[2:]  # all three are of one text
            joined[1:-1] |= bridge
            joined[2:] |= bridge
        joined &= ~begins
        if not joined.any():
            return ids, starts
        runs = np.flatnonzero(np.append(joined[1:], False) & ~joined)
        replaced, dropped = ids.copy(), np.zeros(len(ids), bool)
        for begin in runs.tolist():
            end = begin + 1
            while end < len(ids) and joined[end]:
                end += 1
            parts = together([self.item(each) for each in ids[begin:end].tolist()])
            if len(parts) == 1:
                with self._lock:
                    replaced[begin] = self._id(parts[0])
                dropped[begin + 1 : end] = True
        kept = np.concatenate([[0], counted(~dropped)])
        return replaced[~dropped], kept[starts]


_vocabularies: dict[str, Vocabulary] = {}
_growing = threading.Lock()


def vocabulary(language: str) -> Vocabulary:
    """The vocabulary of a language; who began with one keeps it, even if it has become too large for others."""
    with _growing:
        found = _vocabularies.get(language)
        if found is None or found.size > _MOST_CHUNKS:
            found = _vocabularies[language] = Vocabulary(language)
        return found


def _stemming(language: str) -> Callable[[str], str]:
    stem = stemmer(language) if language in known_languages() else None
    if stem is None:
        return lambda word: word
    return lambda word: str(stem.stemWord(word))


def languages_of(*sides: Chunked) -> list[str]:
    """Each row's language, told by the function words of its texts; the first side that has some decides."""
    codes = list(tables())
    found = np.full(len(sides[0].of_row), -1)
    hits_of = np.array([[False] * len(codes), *_function_words().values()], np.float64)
    number = _numbers_of_function_words()
    for side in sides:
        open_rows = np.flatnonzero(found < 0)
        if not len(open_rows):
            break
        part = side.rows(open_rows)
        which = np.fromiter(map(number.__getitem__, part.distinct), np.int64, len(part.distinct))[part.which]
        text = np.repeat(np.arange(len(part.texts)), np.diff(part.starts))[which > 0]
        hits = hits_of[which[which > 0]]
        sums = np.stack([np.bincount(text, each, len(part.texts)) for each in hits.T], axis=1)
        # The default comes first among the tables, so that it wins where two languages have the same words.
        found[open_rows] = np.where(sums.max(axis=1) > 0, sums.argmax(axis=1), -1)[part.of_row]
    return [DEFAULT if each < 0 else codes[each] for each in found.tolist()]


@cache
def _function_words() -> dict[str, list[bool]]:
    """Each function word, and in which languages it is one."""
    known = tables()
    words = dict.fromkeys(
        word for each in known.values() for word, marks in each.marks.items() if marks & Mark.FUNCTION
    )
    return {word: [bool(each.marks.get(word, 0) & Mark.FUNCTION) for each in known.values()] for word in words}


@cache
def _numbers_of_function_words() -> _Numbered:
    return _Numbered({word: number for number, word in enumerate(_function_words(), 1)})


class _Numbered(dict[str, int]):
    """Numbers of function words by how they stand in a text: with a capital, an accent, a question mark. 0 is none."""

    def __init__(self, folded: dict[str, int]) -> None:
        super().__init__()
        self._folded = folded

    def __missing__(self, chunk: str) -> int:
        sign, spanish = _SPANISH  # which no other language has
        found = self._folded[spanish] if sign.match(chunk) else 0
        if not found and len(chunk) <= _LONGEST_FUNCTION_WORD:
            found = self._folded.get(_bare(chunk), 0)
        if not found and not chunk.isascii():
            found = next((self._folded[word] for script, word in _SCRIPTS if script.search(chunk)), 0)
        if len(self) < _MOST_CHUNKS:
            self[chunk] = found
        return found


def _bare(chunk: str) -> str:
    return plain(chunk).strip(".,;:!?¿¡\"'()")
