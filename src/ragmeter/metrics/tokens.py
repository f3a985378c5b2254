"""The columns that text metrics share: tokens, stems, and the bags of both sides of a pair.

Texts become integers once. A block's texts are split into words as bytes (`splitting.py`); only its *distinct* words
are handled in Python, where a known word is a look-up. From there on everything is arithmetic over arrays: the tokens
of all references, then those of all answers, in one array of ids, with an array of each text's offset.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress, count, islice
from operator import not_
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from ragmeter.definition import column
from ragmeter.errors import MissingExtraError
from ragmeter.hints import option
from ragmeter.metrics.bags import Bags, Ids, Sides, bags, ranges
from ragmeter.metrics.normalize import AUTO, fold, stemmer, words
from ragmeter.metrics.splitting import Split, split, text_array

__all__ = ["Lexicon", "Numbers", "Tokens", "stem_bags", "stems", "text_array", "token_bags", "tokens"]

#: Above about this many bytes a new lexicon replaces the old one, so that memory stays flat. A word costs half a
#: kilobyte; in scripts without spaces a chunk is a whole sentence, with an id for each character.
_LEXICON_LIMIT = 100_000_000
_WORD_BYTES, _CHARACTER_BYTES = 500, 20


@dataclass(frozen=True)
class Tokens:
    """The words of both sides, and the lexicon that their ids refer to.

    `has_marks`: which texts have accents of their own, apart from the letters that they belong to; None if none has.
    """

    sides: Sides
    lexicon: Lexicon
    has_marks: npt.NDArray[np.bool_] | None = None


class Lexicon:
    """Ids of words and of their stems. It grows with new texts; all threads share it.

    A chunk with other characters than ASCII has a number, and by that number how many words it has, and where their ids
    begin in one flat array. Nothing is ever changed or removed, so ids that were returned stay valid.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._words = _new_ids()
        self._chunks: dict[str, int] = {}
        self._characters = 0
        self._counts, self._firsts, self._of_chunks = Numbers(), Numbers(), Numbers()
        self._stems: dict[str, _Stems] = {}

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return _WORD_BYTES * (len(self._words) + len(self._chunks)) + _CHARACTER_BYTES * self._characters

    def sides(self, texts: Split) -> Sides:
        """The ids of the words of texts that were split."""
        is_word = pc.string_is_ascii(texts.distinct).to_numpy(zero_copy_only=False)
        pieces = texts.distinct.to_pylist()
        with self._lock:
            if is_word.all():
                return Sides(_ids_of(self._words, pieces)[texts.items], texts.starts)
            counts, firsts, flat = self._of_pieces(pieces, is_word)
        return _spread(texts, counts, firsts, flat)

    def _of_pieces(self, pieces: list[str], is_word: npt.NDArray[np.bool_]) -> tuple[Ids, Ids, Ids]:
        """For each word or chunk the number of its words, and where they begin in the third array."""
        chunks = [pieces[place] for place in np.flatnonzero(~is_word).tolist()]
        self._learn([chunk for chunk in chunks if chunk not in self._chunks])
        numbers = np.fromiter(map(self._chunks.__getitem__, chunks), np.int64, len(chunks))
        own_words = _ids_of(self._words, [pieces[place] for place in np.flatnonzero(is_word).tolist()])
        counts, firsts = np.ones(len(pieces), np.int64), np.empty(len(pieces), np.int64)
        firsts[is_word] = np.arange(len(own_words))
        firsts[~is_word] = len(own_words) + self._firsts.view[numbers]
        counts[~is_word] = self._counts.view[numbers]
        return counts, firsts, np.concatenate([own_words, self._of_chunks.view])

    def _learn(self, chunks: list[str]) -> None:
        """Number these chunks, fold them all at once, which is much faster than one by one, and find their words."""
        if not chunks:
            return
        joined = fold("\n".join(chunks))
        words_of_chunks = list(map(words, joined.split("\n")))
        counts = np.fromiter(map(len, words_of_chunks), np.int64, len(chunks))
        self._chunks.update(zip(chunks, count(len(self._chunks))))
        self._characters += len(joined)
        self._firsts.append(len(self._of_chunks.view) + np.cumsum(counts) - counts)
        self._counts.append(counts)
        self._of_chunks.append(_ids_of(self._words, [word for words in words_of_chunks for word in words]))

    def words(self) -> list[str]:
        """The words in the order of their ids."""
        with self._lock:
            return list(self._words)

    def stems(self, language: str) -> Ids:
        """For each word's id the id of its stem in this language."""
        with self._lock:
            if language not in self._stems:
                self._stems[language] = _Stems(language)
            return self._stems[language].of(self._words)


def _new_ids() -> defaultdict[str, int]:
    """Ids for texts, in the order of their first occurrence: equal texts have the same id."""
    return defaultdict(count().__next__)


def _ids_of(ids: defaultdict[str, int], texts: list[str]) -> Ids:
    return np.fromiter(map(ids.__getitem__, texts), np.int64, len(texts))


def _spread(texts: Split, counts: Ids, firsts: Ids, flat: Ids) -> Sides:
    """The words of each text, from those of its pieces. Most pieces are one word; others are filled in after that."""
    pieces = texts.items
    first_word = flat[np.minimum(firsts, len(flat) - 1)] if len(flat) else firsts  # a chunk without words may be last
    if (counts == 1).all():
        return Sides(first_word[pieces], texts.starts)
    words_of_piece = counts[pieces]
    ends = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum(words_of_piece, out=ends[1:])
    word_ids = np.repeat(first_word[pieces], words_of_piece)
    several = np.flatnonzero(words_of_piece > 1)
    of_several = words_of_piece[several]
    word_ids[ranges(ends[several], of_several)] = flat[ranges(firsts[pieces[several]], of_several)]
    return Sides(word_ids, ends[texts.starts])


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
        self._stem_ids = _new_ids()
        self._stem_of_word = Numbers()

    def of(self, words: dict[str, int]) -> Ids:
        new = list(islice(reversed(words), len(words) - len(self._stem_of_word.view)))[::-1]
        if new:
            self._stem_of_word.append(_ids_of(self._stem_ids, self._stemmed(new)))
        return self._stem_of_word.view

    def _stemmed(self, words: list[str]) -> list[str]:
        """The stems of words. A number is its own stem, and texts have many; Arabic changes Arabic figures."""
        if self._stemmer is None:
            return words
        is_number = [word.isdecimal() and word.isascii() for word in words]
        stems = iter(self._stemmer.stemWords(list(compress(words, map(not_, is_number)))))
        return [word if number else next(stems) for word, number in zip(words, is_number, strict=True)]


_lexicon = Lexicon()


def _current_lexicon() -> Lexicon:
    """The current lexicon. A block uses the same one throughout, so ids of two lexicons are never mixed."""
    global _lexicon
    if _lexicon.size > _LEXICON_LIMIT:
        _lexicon = Lexicon()
    return _lexicon


@column
def tokens(reference: Sequence[str], answer: Sequence[str]) -> Tokens:
    """The words of both sides."""
    lexicon = _current_lexicon()
    texts = split([*reference, *answer])
    return Tokens(lexicon.sides(texts), lexicon, texts.has_marks)


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
