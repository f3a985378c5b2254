"""The columns that text metrics share: chunks, tokens, stems, and the bags of both sides of a pair.

Texts become integers once. A block's texts are split at white space natively; only its *distinct* chunks meet
Python, where a chunk seen before is a look-up. From there on everything is arithmetic over arrays: the tokens of all
references, then those of all answers, in one array of ids with the offsets of each text beside it.
"""

from __future__ import annotations

import string
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count, islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.definition import column
from ragmeter.errors import MissingExtraError
from ragmeter.hints import option
from ragmeter.metrics.bags import Bags, Ids, Sides, bags, ranges
from ragmeter.metrics.normalize import AUTO, fold, stemmer, strip_accents, words

#: Above about this many bytes the lexicon starts afresh, so that memory stays flat. A chunk costs half a kilobyte, and
#: where no spaces are written it is a whole sentence, with an id for each character.
_LEXICON_LIMIT = 100_000_000
_CHUNK_BYTES, _CHARACTER_BYTES = 500, 20

#: What may surround a word without being part of it.
_PUNCTUATION = string.punctuation.replace("_", "")


@dataclass(frozen=True)
class Chunks:
    """What stands between white space: the plain form of each chunk (folded, without accents), and its words."""

    plain: Sides
    tokens: Sides
    lexicon: Lexicon


@dataclass(frozen=True)
class Tokens:
    """The words of both sides, and the lexicon that their ids refer to."""

    sides: Sides
    lexicon: Lexicon


class Lexicon:
    """Ids of words, of their stems, and of the plain forms of chunks, grown as texts come by and shared by all threads.

    A chunk has a number. Beside it stand the id of its plain form, how many words it has, and where their ids begin
    in one flat array. All of it only grows, so what was handed out stays right.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._chunks: dict[str, int] = {}
        self._characters = 0
        self._texts = _Ids()  # of words and of plain forms, which for most chunks are the same text
        self._plain, self._counts, self._firsts, self._words = Numbers(), Numbers(), Numbers(), Numbers()
        self._stems: dict[str, _Stems] = {}

    @property
    def size(self) -> int:
        """About how many bytes it holds."""
        return _CHUNK_BYTES * len(self._chunks) + _CHARACTER_BYTES * self._characters

    def look_up(self, chunks: list[str]) -> tuple[Ids, Ids, Ids, Ids]:
        """For each chunk its plain form's id, the number of its words, and where they begin in the fourth array."""
        with self._lock:
            known = self._chunks
            new = [chunk for chunk in chunks if chunk not in known]
            if new:
                self._learn(new)
            numbers = np.fromiter(map(known.__getitem__, chunks), np.int64, len(chunks))
            of_chunk = (self._plain, self._counts, self._firsts)
            plain, counts, firsts = (each.view[numbers] for each in of_chunk)
            return plain, counts, firsts, self._words.view

    def _learn(self, chunks: list[str]) -> None:
        """Number these chunks, fold them and find their words, all at once: one by one would cost the most of all."""
        joined = fold("\n".join(chunks))
        folded = joined.split("\n")
        plain = self._texts.of(folded if joined.isascii() else strip_accents(joined).split("\n"))
        counts, firsts = np.ones(len(chunks), np.int64), np.arange(len(chunks))
        others: list[str] = []  # the words of chunks that are more than just a word
        for place, text in enumerate(folded):
            if text.isascii() and text.isalnum():
                continue
            bare = text.strip(_PUNCTUATION)
            # Mostly one word with punctuation around it; a test holds this short cut to the pattern.
            found = [bare] if bare.isascii() and bare.isalnum() else words(text)
            counts[place] = len(found)
            if found:
                firsts[place] = len(chunks) + len(others)
                others += found
        self._chunks.update(zip(chunks, count(len(self._chunks))))
        self._characters += len(joined)
        self._plain.append(plain)
        self._counts.append(counts)
        self._firsts.append(firsts + len(self._words.view))
        self._words.append(np.concatenate([plain, self._texts.of(others)]))

    def words(self) -> list[str]:
        """The words in the order of their ids."""
        with self._lock:
            return list(self._texts.known)

    def stems(self, language: str) -> Ids:
        """For each word's id the id of its stem in this language."""
        with self._lock:
            return self._stems.setdefault(language, _Stems(language)).of(self._texts.known)


class _Ids:
    """Numbers for texts, in the order in which they come: the same text, the same number."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def of(self, texts: list[str]) -> Ids:
        known = self.known
        new = [text for text in texts if text not in known]
        if new:
            known.update(zip(dict.fromkeys(new), count(len(known))))
        return np.fromiter(map(known.__getitem__, texts), np.int64, len(texts))


class Numbers:
    """An array that grows, of integers unless it is told otherwise. What was seen of it stays as it is."""

    def __init__(self, kind: npt.DTypeLike = np.int64) -> None:
        self._room: npt.NDArray[Any] = np.empty(1024, kind)
        self.view: npt.NDArray[Any] = self._room[:0]

    def append(self, more: npt.NDArray[Any]) -> None:
        """Put these at the end."""
        held = len(self.view)
        if held + len(more) > len(self._room):
            room = np.empty(2 * (held + len(more)), self._room.dtype)
            room[:held] = self.view
            self._room = room
        self._room[held : held + len(more)] = more
        self.view = self._room[: held + len(more)]


class _Stems:
    """Stem ids of a growing number of words in one language."""

    def __init__(self, language: str) -> None:
        self._stemmer = stemmer(language)
        self._stem_ids = _Ids()
        self._known = Numbers()

    def of(self, words: dict[str, int]) -> Ids:
        new = list(islice(words, len(self._known.view), None))
        if new:
            self._known.append(self._stem_ids.of(self._stemmer.stemWords(new) if self._stemmer else new))
        return self._known.view


_lexicon = Lexicon()


def _current_lexicon() -> Lexicon:
    """The lexicon in use. A block keeps the one that it began with, so ids of a fresh one never mix with old ones."""
    global _lexicon
    if _lexicon.size > _LEXICON_LIMIT:
        _lexicon = Lexicon()
    return _lexicon


@column
def chunks(reference: Sequence[str], answer: Sequence[str]) -> Chunks:
    """Both sides split at white space, each chunk with its plain form and its words."""
    # Arrow looks one character past the end of a text that ends in white space: none does, and one more text follows.
    texts = text_array([*map(str.strip, reference), *map(str.strip, answer), "."])
    split = pc.utf8_split_whitespace(texts)
    starts = split.offsets.to_numpy()[:-1].astype(np.int64)
    encoded = split.flatten().dictionary_encode()
    which = encoded.indices.to_numpy()[: starts[-1]].astype(np.int64)
    lexicon = _current_lexicon()
    distinct = encoded.dictionary.to_pylist()
    plain, counts, firsts, flat = lexicon.look_up(distinct)
    empty = distinct.index("") if "" in distinct else None
    words_of_text = _words(which, starts, counts, firsts, flat)
    return Chunks(_without(plain[which], starts, which, empty), words_of_text, lexicon)


def _words(which: Ids, starts: Ids, counts: Ids, firsts: Ids, flat: Ids) -> Sides:
    """The words of each text, from those of its chunks. Most chunks are one word, the others are filled in."""
    words_of_chunk = counts[which]
    ends = np.zeros(len(which) + 1, np.int64)
    np.cumsum(words_of_chunk, out=ends[1:])
    found = np.repeat(flat[firsts][which], words_of_chunk)
    several = np.flatnonzero(words_of_chunk > 1)
    of_several = words_of_chunk[several]
    found[ranges(ends[several], of_several)] = flat[ranges(firsts[which[several]], of_several)]
    return Sides(found, ends[starts])


def text_array(texts: list[str]) -> Any:
    """Texts for Arrow, which takes everything but half a character."""
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:
        return pa.array([text.encode(errors="replace").decode() for text in texts], pa.large_string())


def _without(ids: Ids, starts: Ids, which: npt.NDArray[Any], empty: int | None) -> Sides:
    """The ids as they stand, less those of the empty chunk that white space at either end of a text leaves."""
    if empty is None:
        return Sides(ids, starts)
    keep = which != empty
    return Sides(ids[keep], np.concatenate([[0], np.cumsum(keep)])[starts])


@column
def tokens(chunks: Chunks) -> Tokens:
    """The words of both sides."""
    return Tokens(chunks.tokens, chunks.lexicon)


@column
def stems(tokens: Tokens, *, language: str | None) -> Sides:
    """The stems of the words of both sides; the words themselves where no language is given."""
    sides, lexicon = tokens.sides, tokens.lexicon
    if language is None:
        return sides
    if language != AUTO:
        return Sides(lexicon.stems(language)[sides.ids], sides.starts)
    return _stems_by_language(tokens)


@column
def token_bags(tokens: Tokens) -> Bags:
    """The words of each pair, grouped by equality."""
    return bags(tokens.sides)


@column
def stem_bags(stems: Sides, token_bags: Bags) -> Bags:
    """The stems of each pair, grouped by equality; without a language they are the words."""
    return token_bags if stems is token_bags.sides else bags(stems)


def _stems_by_language(tokens: Tokens) -> Sides:
    """Stems by the language that each pair seems to be written in, told from its words."""
    sides, lexicon = tokens.sides, tokens.lexicon
    words = lexicon.words()
    languages = np.array(_detect(sides, words))
    pair = sides.pair_of_item
    found = np.empty_like(sides.ids)
    for place, language in enumerate(np.unique(languages).tolist()):
        of_item = (languages == language)[pair]
        stems = lexicon.stems(language)[sides.ids[of_item]] if language else sides.ids[of_item]
        found[of_item] = stems + place * len(words)  # stems of different languages never get the same id
    return Sides(found, sides.starts)


def _detect(sides: Sides, words: list[str]) -> list[str]:
    """The language of each pair's reference, or of its answer where the reference says nothing; '' if unknown."""
    detector = _detector()
    bounds = sides.starts.tolist()
    found = []
    for place in range(sides.pairs):
        begin, end = bounds[place], bounds[place + 1]
        if begin == end:
            begin, end = bounds[place + sides.pairs], bounds[place + sides.pairs + 1]
        language = detector.detect_language_of(" ".join(words[word] for word in sides.ids[begin:end].tolist()))
        found.append(language.iso_code_639_1.name.lower() if language else "")
    return found


@cache
def _detector() -> Any:
    try:
        from lingua import IsoCode639_1, LanguageDetectorBuilder
    except ImportError:
        raise MissingExtraError(option("language", "auto"), "languages") from None
    from ragmeter.metrics.normalize import known_languages

    codes = [getattr(IsoCode639_1, code.upper(), None) for code in known_languages()]
    return LanguageDetectorBuilder.from_iso_codes_639_1(*[code for code in codes if code is not None]).build()
