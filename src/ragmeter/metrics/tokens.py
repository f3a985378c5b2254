"""The columns that text metrics share: chunks, tokens, stems, and the bags of both sides of a pair.

Texts become integers once. A block's texts are split at white space by Arrow; only its *distinct* chunks are handled in
Python, where a known chunk is a look-up. From there on everything is arithmetic over arrays: the tokens of all
references, then those of all answers, in one array of ids, with an array of each text's offset.
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

#: Above about this many bytes a new lexicon replaces the old one, so that memory stays flat. A chunk costs half a
#: kilobyte; in scripts without spaces it is a whole sentence, with an id for each character.
_LEXICON_LIMIT = 100_000_000
_CHUNK_BYTES, _CHARACTER_BYTES = 500, 20

#: Characters that may surround a word.
_PUNCTUATION = string.punctuation.replace("_", "")


@dataclass(frozen=True)
class Chunks:
    """The texts between white space: the plain form of each chunk (folded, without accents), and its words."""

    plain: Sides
    tokens: Sides
    lexicon: Lexicon


@dataclass(frozen=True)
class Tokens:
    """The words of both sides, and the lexicon that their ids refer to."""

    sides: Sides
    lexicon: Lexicon


class Lexicon:
    """Ids of words, of their stems, and of the plain forms of chunks. It grows with new texts; all threads share it.

    A chunk has a number, and by that number the id of its plain form, how many words it has, and where their ids begin
    in one flat array. Nothing is ever changed or removed, so ids that were returned stay valid.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._chunks: dict[str, int] = {}
        self._characters = 0
        self._texts = _Ids()  # of words and of plain forms: most chunks are a single word
        self._plain, self._counts, self._firsts, self._words = Numbers(), Numbers(), Numbers(), Numbers()
        self._stems: dict[str, _Stems] = {}

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return _CHUNK_BYTES * len(self._chunks) + _CHARACTER_BYTES * self._characters

    def look_up(self, chunks: list[str]) -> tuple[Ids, Ids, Ids, Ids]:
        """For each chunk its plain form's id, the number of its words, and where they begin in the fourth array."""
        with self._lock:
            number_of = self._chunks
            new = [chunk for chunk in chunks if chunk not in number_of]
            if new:
                self._learn(new)
            numbers = np.fromiter(map(number_of.__getitem__, chunks), np.int64, len(chunks))
            of_chunk = (self._plain, self._counts, self._firsts)
            plain, counts, firsts = (numbers_of_chunk.view[numbers] for numbers_of_chunk in of_chunk)
            return plain, counts, firsts, self._words.view

    def _learn(self, chunks: list[str]) -> None:
        """Number these chunks, fold them and find their words, all at once, which is much faster than one by one."""
        joined = fold("\n".join(chunks))
        folded = joined.split("\n")
        plain = self._texts.of(folded if joined.isascii() else strip_accents(joined).split("\n"))
        counts, firsts = np.ones(len(chunks), np.int64), np.arange(len(chunks))
        other_words: list[str] = []  # the words of chunks that are not a single plain word
        for place, text in enumerate(folded):
            if text.isascii() and text.isalnum():
                continue
            bare = text.strip(_PUNCTUATION)
            # Mostly one word with punctuation around it; a test compares this short cut with the pattern.
            chunk_words = [bare] if bare.isascii() and bare.isalnum() else words(text)
            counts[place] = len(chunk_words)
            if chunk_words:
                firsts[place] = len(chunks) + len(other_words)
                other_words += chunk_words
        self._chunks.update(zip(chunks, count(len(self._chunks))))
        self._characters += len(joined)
        self._plain.append(plain)
        self._counts.append(counts)
        self._firsts.append(firsts + len(self._words.view))
        self._words.append(np.concatenate([plain, self._texts.of(other_words)]))

    def words(self) -> list[str]:
        """The words in the order of their ids."""
        with self._lock:
            return list(self._texts.ids)

    def stems(self, language: str) -> Ids:
        """For each word's id the id of its stem in this language."""
        with self._lock:
            return self._stems.setdefault(language, _Stems(language)).of(self._texts.ids)


class _Ids:
    """Ids for texts, in the order of their first occurrence: equal texts have the same id."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def of(self, texts: list[str]) -> Ids:
        id_of = self.ids
        new = [text for text in texts if text not in id_of]
        if new:
            id_of.update(zip(dict.fromkeys(new), count(len(id_of))))
        return np.fromiter(map(id_of.__getitem__, texts), np.int64, len(texts))


class Numbers:
    """An array that grows, by default of integers. Views that were taken before stay valid."""

    def __init__(self, dtype: npt.DTypeLike = np.int64) -> None:
        self._room: npt.NDArray[Any] = np.empty(1024, dtype)
        self.view: npt.NDArray[Any] = self._room[:0]

    def append(self, values: npt.NDArray[Any]) -> None:
        """Append these values."""
        size = len(self.view)
        if size + len(values) > len(self._room):
            room = np.empty(2 * (size + len(values)), self._room.dtype)
            room[:size] = self.view
            self._room = room
        self._room[size : size + len(values)] = values
        self.view = self._room[: size + len(values)]


class _Stems:
    """Stem ids of a growing number of words in one language."""

    def __init__(self, language: str) -> None:
        self._stemmer = stemmer(language)
        self._stem_ids = _Ids()
        self._stem_of_word = Numbers()

    def of(self, words: dict[str, int]) -> Ids:
        new = list(islice(words, len(self._stem_of_word.view), None))
        if new:
            self._stem_of_word.append(self._stem_ids.of(self._stemmer.stemWords(new) if self._stemmer else new))
        return self._stem_of_word.view


_lexicon = Lexicon()


def _current_lexicon() -> Lexicon:
    """The current lexicon. A block uses the same one throughout, so ids of two lexicons are never mixed."""
    global _lexicon
    if _lexicon.size > _LEXICON_LIMIT:
        _lexicon = Lexicon()
    return _lexicon


@column
def chunks(reference: Sequence[str], answer: Sequence[str]) -> Chunks:
    """Both sides split at white space, each chunk with its plain form and its words."""
    # Arrow reads one character past the end of a text that ends in white space: strip them, and add one more text.
    texts = text_array([*map(str.strip, reference), *map(str.strip, answer), "."])
    split = pc.utf8_split_whitespace(texts)
    starts = split.offsets.to_numpy()[:-1].astype(np.int64)
    encoded = split.flatten().dictionary_encode()
    chunk_of_item = encoded.indices.to_numpy()[: starts[-1]].astype(np.int64)
    lexicon = _current_lexicon()
    distinct = encoded.dictionary.to_pylist()
    plain, counts, firsts, flat = lexicon.look_up(distinct)
    empty = distinct.index("") if "" in distinct else None
    words_of_text = _words(chunk_of_item, starts, counts, firsts, flat)
    return Chunks(_without(plain[chunk_of_item], starts, chunk_of_item, empty), words_of_text, lexicon)


def _words(chunk_of_item: Ids, starts: Ids, counts: Ids, firsts: Ids, flat: Ids) -> Sides:
    """The words of each text, from those of its chunks. Most chunks have one word; others are filled in after that."""
    words_of_chunk = counts[chunk_of_item]
    ends = np.zeros(len(chunk_of_item) + 1, np.int64)
    np.cumsum(words_of_chunk, out=ends[1:])
    word_ids = np.repeat(flat[firsts][chunk_of_item], words_of_chunk)
    several = np.flatnonzero(words_of_chunk > 1)
    of_several = words_of_chunk[several]
    word_ids[ranges(ends[several], of_several)] = flat[ranges(firsts[chunk_of_item[several]], of_several)]
    return Sides(word_ids, ends[starts])


def text_array(texts: list[str]) -> Any:
    """Texts as an Arrow array; lone surrogates, which Arrow refuses, are replaced."""
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:
        return pa.array([text.encode(errors="replace").decode() for text in texts], pa.large_string())


def _without(ids: Ids, starts: Ids, chunk_of_item: npt.NDArray[Any], empty: int | None) -> Sides:
    """The ids without those of the empty chunk, which white space at either end of a text leaves."""
    if empty is None:
        return Sides(ids, starts)
    keep = chunk_of_item != empty
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
    """Stems by the detected language of each pair."""
    sides, lexicon = tokens.sides, tokens.lexicon
    words = lexicon.words()
    languages = np.array(_detect(sides, words))
    pair = sides.pair_of_item
    stem_ids = np.empty_like(sides.ids)
    for place, language in enumerate(np.unique(languages).tolist()):
        of_item = (languages == language)[pair]
        stems = lexicon.stems(language)[sides.ids[of_item]] if language else sides.ids[of_item]
        stem_ids[of_item] = stems + place * len(words)  # stems of different languages never get the same id
    return Sides(stem_ids, sides.starts)


def _detect(sides: Sides, words: list[str]) -> list[str]:
    """The language of each pair's reference, or of its answer where the reference has no words; '' if unknown."""
    detector = _detector()
    bounds = sides.starts.tolist()
    codes = []
    for place in range(sides.pairs):
        begin, end = bounds[place], bounds[place + 1]
        if begin == end:
            begin, end = bounds[place + sides.pairs], bounds[place + sides.pairs + 1]
        language = detector.detect_language_of(" ".join(words[word] for word in sides.ids[begin:end].tolist()))
        codes.append(language.iso_code_639_1.name.lower() if language else "")
    return codes


@cache
def _detector() -> Any:
    try:
        from lingua import IsoCode639_1, LanguageDetectorBuilder
    except ImportError:
        raise MissingExtraError(option("language", "auto"), "languages") from None
    from ragmeter.metrics.normalize import known_languages

    codes = [getattr(IsoCode639_1, code.upper(), None) for code in known_languages()]
    return LanguageDetectorBuilder.from_iso_codes_639_1(*[code for code in codes if code is not None]).build()
