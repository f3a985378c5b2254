"""Texts as arrays of items. Each distinct chunk is processed once; everything after that is arithmetic over arrays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import regex

from ragmeter.metrics.bags import Ids, ranges
from ragmeter.metrics.normalize import known_languages, stemmer
from ragmeter.metrics.offline.reading.tables import Mark, Table, plain, table, tables
from ragmeter.metrics.offline.reading.values import Item, as_numeral, items, together
from ragmeter.metrics.tokens import Numbers, text_array

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Small = npt.NDArray[np.int32]
Words = npt.NDArray[np.object_]

#: Above this many distinct chunks a new vocabulary replaces the old one, so that memory stays flat.
_MOST_CHUNKS = 200_000
#: Only this many characters of a text are read, so that the time is limited.
LONGEST = 20_000
DEFAULT = "en"
_LONGEST_FUNCTION_WORD = 14
#: An item as it is stored: the garbage collector stops tracking plain tuples, but not named ones.
_Plain = tuple[str, str, int, float]
_NUMERALS = np.array([ord(letter) for letter in "ivx"])
#: Signs and scripts that identify a language, with one of its function words.
_SPANISH = regex.compile(r"[¿¡]"), "el"
_SCRIPTS = ((regex.compile(r"\p{Han}"), "的"), (regex.compile(r"\p{Arabic}"), "في"), (regex.compile(r"\p{Thai}"), "ที่"))


@dataclass(frozen=True)
class Chunked:
    """Rows of texts, each distinct text once, split at white space, as ids of distinct chunks.

    Of a long text only the beginning is here.
    """

    texts: list[str]
    distinct: list[str]
    chunk_ids: Ids
    starts: Ids
    of_row: Ids  # the text of each row

    def text(self, row: int) -> str:
        """The text of a row."""
        return self.texts[int(self.of_row[row])]

    def rows(self, rows: Ids) -> Chunked:
        """Some of the rows, with only their texts and chunks."""
        if len(rows) == len(self.of_row):
            return self
        kept_texts, of_row = _used(self.of_row[rows], len(self.texts))
        counts = np.diff(self.starts)[kept_texts]
        used, chunk_ids = _used(self.chunk_ids[ranges(self.starts[kept_texts], counts)], len(self.distinct))
        texts = [self.texts[number] for number in kept_texts.tolist()]
        distinct = [self.distinct[number] for number in used.tolist()]
        return Chunked(texts, distinct, chunk_ids, np.concatenate([[0], np.cumsum(counts)]), of_row)


def counted(flags: npt.NDArray[Any]) -> Small:
    """The number of set flags up to each place. 32-bit integers take a quarter of the time."""
    return np.cumsum(flags.view(np.int8), dtype=np.int32)


def _used(numbers: Ids, below: int) -> tuple[Ids, Ids]:
    """The distinct numbers, and for each number its place among them. All are below `below`."""
    is_used = np.zeros(below, bool)
    is_used[numbers] = True
    return np.flatnonzero(is_used), (counted(is_used) - 1)[numbers].astype(np.int64)


@dataclass(frozen=True)
class Texts:
    """The items of some texts: their ids, where each text begins, the text of each item, and the items' properties.

    An item does not know where in its text it stood. What depends on characters, such as markup and quotations, is done
    with the text: before (`omissions.py`), or for the few texts that need it (`guards._unless`, `roles.py`).
    """

    ids: Ids
    starts: Ids
    text: Ids
    root: Ids
    marks: Small
    value: Floats
    length: Small  # the word's number of letters
    letter: Small  # the word's first letter
    kin: Small  # related words have the same number; 0 without related words

    @property
    def count(self) -> int:
        """The number of texts."""
        return len(self.starts) - 1

    @property
    def place(self) -> Ids:
        """Each item's place in its text."""
        return np.arange(len(self.ids)) - self.starts[self.text]

    def has(self, mark: int) -> Bools:
        """Which items have at least one of the marks."""
        return np.asarray(self.marks & mark != 0)

    def per_text(self, values: npt.NDArray[np.generic]) -> Floats:
        """The sum over each text's items."""
        if values.dtype == bool:  # counting needs no weights
            before = np.zeros(len(values) + 1, np.int32)
            before[1:] = counted(values)
            return np.diff(before[self.starts]).astype(np.float64)
        return np.asarray(np.bincount(self.text, np.asarray(values, np.float64), self.count), np.float64)


class Properties(NamedTuple):
    """The properties of a vocabulary's items, in the order of their ids."""

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
        words, names = [item[0] for item in items], [item[1] for item in items]  # much faster than zip(*items)
        return cls(
            np.fromiter(map(roots.__getitem__, names), np.int64, len(items)),
            np.array([item[2] for item in items], np.int32),
            np.array([item[3] for item in items], np.float64),
            np.fromiter(map(len, words), np.int32, len(items)),
            np.fromiter((ord(word[0]) for word in words), np.int32, len(items)),
            np.fromiter((kin.get(name, 0) for name in names), np.int32, len(items)),
            np.array(words, np.object_),
        )


def chunked(texts: Sequence[str]) -> Chunked:
    """Split texts at white space, with Arrow; each distinct text once."""
    number_of = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    of_row = np.fromiter(map(number_of.__getitem__, texts), np.int64, len(texts))
    # Arrow reads one character past the end of a text that ends in white space: strip them, and add one more text.
    read = [text[:LONGEST] for text in number_of]
    split = pc.utf8_split_whitespace(text_array([*map(str.strip, read), "."]))
    starts = split.offsets.to_numpy()[:-1].astype(np.int64)
    encoded = split.flatten().dictionary_encode()
    chunk_ids = encoded.indices.to_numpy()[: starts[-1]].astype(np.int64)
    return Chunked(read, encoded.dictionary.to_pylist(), chunk_ids, starts, of_row)


class Vocabulary:
    """A language's chunks, items and roots. It grows with new texts; all threads share it."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.table: Table = table(language)
        self._lock = threading.Lock()
        self._stem = stemming(language)
        self._chunks: dict[str, int] = {}
        self._counts, self._firsts, self._items = Numbers(), Numbers(), Numbers()  # the last: of all chunks in a row
        self._ids: dict[_Plain, int] = {}
        self._roots: dict[str, int] = {}
        self._all_items: list[_Plain] = []
        kin = self.table.kin.items()
        self._kin = {
            root: number for word, number in kin for root in (self._stem(word), self.table.units.get(word, ""))
        }
        self._kin.pop("", None)
        self._properties = [Numbers(column.dtype) for column in Properties.of([], {}, {})]

    @property
    def size(self) -> int:
        """The number of distinct chunks."""
        return len(self._chunks)

    def texts(self, split: Chunked) -> Texts:
        """The items of each row's text; numbers of several words are one item."""
        with self._lock:
            number_of = self._chunks
            self._learn([chunk for chunk in split.distinct if chunk not in number_of])
            numbers = np.fromiter(map(number_of.__getitem__, split.distinct), np.int64, len(split.distinct))
            counts, firsts, flat = self._counts.view[numbers], self._firsts.view[numbers], self._items.view
        per_chunk = counts[split.chunk_ids]
        ends = np.zeros(len(per_chunk) + 1, np.int64)
        np.cumsum(per_chunk, out=ends[1:])
        ids = flat[ranges(firsts[split.chunk_ids], per_chunk)]
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
        """The properties of all items. Arrays only grow, so those that were returned stay valid."""
        with self._lock:
            n_known = len(self._properties[0].view)
            if n_known < len(self._all_items):
                new: Sequence[npt.NDArray[Any]] = Properties.of(self._all_items[n_known:], self._roots, self._kin)
                for known, column in zip(self._properties, new, strict=True):
                    known.append(column)
            return Properties(*(column.view for column in self._properties))

    def _texts(self, ids: Ids, starts: Ids) -> Texts:
        properties = self.properties
        text = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        texts = Texts(
            ids, starts, text, properties.roots[ids], properties.marks[ids], properties.values[ids],
            properties.lengths[ids], properties.letters[ids], properties.kin[ids],
        )  # fmt: skip
        self._name_kin(texts, properties.words)
        return texts

    def _name_kin(self, texts: Texts, words: Words) -> None:
        """Set `kin` of names of two words: United Kingdom, Soviet Union."""
        last = np.flatnonzero(texts.has(Mark.NAMED))
        last = last[(last > 0) & (texts.text[last] == texts.text[last - 1])]
        names = zip(words[texts.ids[last - 1]].tolist(), words[texts.ids[last]].tolist(), strict=True)
        kin = np.array([self.table.kin.get(f"{first} {second}", 0) for first, second in names], np.int32)
        texts.kin[last[kin > 0]] = texts.kin[last[kin > 0] - 1] = kin[kin > 0]

    def roots_of(self, words: Iterable[str]) -> Ids:
        """The numbers of these words' roots, as far as texts have had them."""
        with self._lock:
            roots = (self._roots.get(self._stem(word)) for word in words)
            return np.array([root for root in roots if root is not None], np.int64)

    def item(self, number: int) -> Item:
        """The item with this id."""
        return Item(*self._all_items[number])

    def _id(self, item: Item) -> int:
        number = self._ids.get(item)
        if number is None:
            plain: _Plain = (*item,)
            number = self._ids[plain] = len(self._all_items)
            self._all_items.append(plain)
            self._roots.setdefault(item.root, len(self._roots))
        return number

    def _numerals(self, ids: Ids, starts: Ids) -> Ids:
        """A single I, V or X after a name is a numeral, not a pronoun or an initial."""
        properties = self.properties
        mark = properties.marks[ids]
        is_candidate = (properties.lengths[ids] == 1) & (mark & Mark.CAPITAL != 0)
        is_candidate[starts[:-1][starts[:-1] < len(ids)]] = False
        places = np.flatnonzero(is_candidate)
        places = places[np.isin(properties.letters[ids[places]], _NUMERALS)]
        before = mark[places - 1]
        stops = Mark.FUNCTION | Mark.CLAUSE | Mark.SENTENCE | Mark.LETTER
        places = places[(before & Mark.CAPITAL != 0) & (before & stops == 0)]
        if not len(places):
            return ids
        replaced = ids.copy()
        with self._lock:
            replaced[places] = [self._id(as_numeral(self.item(number))) for number in ids[places].tolist()]
        return replaced

    def _merged(self, ids: Ids, starts: Ids) -> tuple[Ids, Ids]:
        """Merge runs of numbers that mean one number into one item."""
        ids = self._numerals(ids, starts)
        properties = self.properties
        mark, value = properties.marks[ids], properties.values[ids]
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
            bridge &= ~begins[1:-1] & ~begins[2:]  # all three are in the same text
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
            parts = together([self.item(number) for number in ids[begin:end].tolist()])
            if len(parts) == 1:
                with self._lock:
                    replaced[begin] = self._id(parts[0])
                dropped[begin + 1 : end] = True
        places = np.concatenate([[0], counted(~dropped)])
        return replaced[~dropped], places[starts]


_vocabularies: dict[str, Vocabulary] = {}
_growing = threading.Lock()


def vocabulary(language: str) -> Vocabulary:
    """The current vocabulary of a language. Callers use one throughout a block, also if it is replaced meanwhile."""
    with _growing:
        current = _vocabularies.get(language)
        if current is None or current.size > _MOST_CHUNKS:
            current = _vocabularies[language] = Vocabulary(language)
        return current


def stemming(language: str) -> Callable[[str], str]:
    """The stemmer of a language; words stay as they are where there is none."""
    stem = stemmer(language) if language in known_languages() else None
    if stem is None:
        return lambda word: word
    return lambda word: str(stem.stemWord(word))


def languages_of(*sides: Chunked) -> list[str]:
    """Each row's language, detected by function words; the first side that has any decides."""
    codes, hits_of, number = _function_words()
    language_of_row = np.full(len(sides[0].of_row), -1)
    for side in sides:
        open_rows = np.flatnonzero(language_of_row < 0)
        if not len(open_rows):
            break
        open_texts = side.rows(open_rows)
        of_chunk = np.fromiter(map(number.__getitem__, open_texts.distinct), np.int64, len(open_texts.distinct))
        numbers = of_chunk[open_texts.chunk_ids]
        text = np.repeat(np.arange(len(open_texts.texts)), np.diff(open_texts.starts))[numbers > 0]
        hits = hits_of[numbers[numbers > 0]]
        sums = np.stack([np.bincount(text, column, len(open_texts.texts)) for column in hits.T], axis=1)
        # The default is the first table, so that it wins a tie.
        language_of_row[open_rows] = np.where(sums.max(axis=1) > 0, sums.argmax(axis=1), -1)[open_texts.of_row]
    return [DEFAULT if column < 0 else codes[column] for column in language_of_row.tolist()]


@cache
def _function_words() -> tuple[list[str], Floats, _Numbered]:
    """The languages with function words; a line of flags for each word, which of them have it; the number of its line.

    The first line is that of other words.
    """
    by_language = {
        code: {word for word, marks in own.marks.items() if marks & Mark.FUNCTION} for code, own in tables().items()
    }
    codes = [code for code, own in by_language.items() if own]
    words = ["", *dict.fromkeys(word for code in codes for word in by_language[code])]
    flags = np.array([[word in by_language[code] for code in codes] for word in words], np.float64)
    return codes, flags, _Numbered({word: number for number, word in enumerate(words)})


class _Numbered(dict[str, int]):
    """Numbers of function words in any spelling: with a capital, an accent, a question mark. 0 for other words."""

    def __init__(self, folded: dict[str, int]) -> None:
        super().__init__()
        self._folded = folded

    def __missing__(self, chunk: str) -> int:
        sign, spanish = _SPANISH  # which no other language has
        number = self._folded[spanish] if sign.match(chunk) else 0
        if not number and len(chunk) <= _LONGEST_FUNCTION_WORD:
            number = self._folded.get(plain(chunk).strip(".,;:!?¿¡\"'()"), 0)
        if not number and not chunk.isascii():
            number = next((self._folded[word] for script, word in _SCRIPTS if script.search(chunk)), 0)
        if len(self) < _MOST_CHUNKS:
            self[chunk] = number
        return number
