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
from itertools import count, islice
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter import kernel
from ragmeter.definition import column
from ragmeter.errors import MissingExtraError
from ragmeter.hints import option
from ragmeter.metrics.bags import Bags, Ids, Sides, bags, ranges
from ragmeter.metrics.normalize import AUTO, fold, language_code, stemmer, words
from ragmeter.metrics.splitting import Split, split, text_array
from ragmeter.table import LANGUAGE

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
        self._words, self._chunks = new_vocabulary(), new_vocabulary()
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
        with self._lock:
            if is_word.all():
                return Sides(self._words.of(texts.distinct)[texts.items], texts.starts)
            counts, firsts, flat = self._of_pieces(texts.distinct, is_word)
        return _spread(texts, counts, firsts, flat)

    def _of_pieces(self, pieces: Any, is_word: npt.NDArray[np.bool_]) -> tuple[Ids, Ids, Ids]:
        """The number of words of each word or chunk, and where they begin in the third array."""
        numbers = self._chunks.of(pieces.filter(pa.array(~is_word)))
        self._learn(self._chunks.since(len(self._counts.view)).to_pylist())
        own_words = self._words.of(pieces.filter(pa.array(is_word)))
        counts, firsts = np.ones(len(pieces), np.int64), np.empty(len(pieces), np.int64)
        firsts[is_word] = np.arange(len(own_words))
        firsts[~is_word] = len(own_words) + self._firsts.view[numbers]
        counts[~is_word] = self._counts.view[numbers]
        return counts, firsts, np.concatenate([own_words, self._of_chunks.view])

    def _learn(self, chunks: list[str]) -> None:
        """Fold the next chunks all at once, which is much faster than one by one, and find their words."""
        if not chunks:
            return
        joined = fold("\n".join(chunks))
        words_of_chunks = list(map(words, joined.split("\n")))
        counts = np.fromiter(map(len, words_of_chunks), np.int64, len(chunks))
        word_ids = self._words.of(text_array([word for words in words_of_chunks for word in words]))
        self._characters += len(joined)
        self._firsts.append(len(self._of_chunks.view) + np.cumsum(counts) - counts)
        self._of_chunks.append(word_ids)
        self._counts.append(counts)

    def words(self) -> list[str]:
        """The words in the order of their ids."""
        with self._lock:
            texts: list[str] = self._words.since(0).to_pylist()
            return texts

    def stems(self, language: str) -> Ids:
        """The id of each word's stem in this language, by the word's id."""
        with self._lock:
            if language not in self._stems:
                self._stems[language] = _Stems(language)
            return self._stems[language].of(self._words)


class Vocabulary(Protocol):
    """Distinct texts, numbered in the order of their first occurrence: equal texts have the same id."""

    def __len__(self) -> int: ...

    def of(self, texts: Any) -> Ids:
        """The ids of an Arrow array of texts; new ones are added."""

    def since(self, first: int) -> Any:
        """The texts from this id on, as an Arrow array."""


class _PlainVocabulary:
    """What `kernel.words.Vocabulary` does, with a dict."""

    def __init__(self) -> None:
        self._ids: defaultdict[str, int] = defaultdict(count().__next__)

    def __len__(self) -> int:
        return len(self._ids)

    def of(self, texts: Any) -> Ids:
        return np.fromiter(map(self._ids.__getitem__, texts.to_pylist()), np.int64, len(texts))

    def since(self, first: int) -> Any:
        return text_array(list(islice(reversed(self._ids), len(self._ids) - first))[::-1])


def new_vocabulary() -> Vocabulary:
    """An empty vocabulary."""
    if not kernel.library():
        return _PlainVocabulary()
    from ragmeter.kernel.words import Vocabulary

    return Vocabulary()


def _spread(texts: Split, counts: Ids, firsts: Ids, flat: Ids) -> Sides:
    """The words of each text, from those of its pieces. Most pieces are one word; others are filled in after that."""
    pieces = texts.items
    if kernel.library():
        from ragmeter.kernel.words import spread

        return Sides(*spread(pieces, texts.starts, counts, firsts, flat))
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
        self._stem_ids = new_vocabulary()
        self._stem_of_word = Numbers()

    def of(self, words: Vocabulary) -> Ids:
        if len(words) > len(self._stem_of_word.view):
            self._stem_of_word.append(self._ids_of(words.since(len(self._stem_of_word.view))))
        return self._stem_of_word.view

    def _ids_of(self, words: Any) -> Ids:
        """The ids of words' stems. A number is its own stem, and texts have many; Arabic changes Arabic figures."""
        if self._stemmer is None:
            return self._stem_ids.of(words)
        is_number = pc.ascii_is_decimal(words)
        inflected = pc.invert(is_number)
        ids = np.empty(len(words), np.int64)
        ids[is_number.to_numpy(zero_copy_only=False)] = self._stem_ids.of(words.filter(is_number))
        stems = self._stemmer.stemWords(words.filter(inflected).to_pylist())
        ids[inflected.to_numpy(zero_copy_only=False)] = self._stem_ids.of(text_array(stems))
        return ids


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
    texts = split(reference, answer)
    return Tokens(lexicon.sides(texts), lexicon, texts.has_marks)


@column(may_lack=(LANGUAGE,), only_with=("language", AUTO))
def row_languages(language: Sequence[str | None]) -> list[str | None]:
    """The code of each row's own language, None where the row says nothing, or nothing that is known."""
    codes = {text: language_code(text) for text in set(language)}
    return [codes[text] for text in language]


@column
def stems(tokens: Tokens, row_languages: Sequence[str | None] | None, *, language: str | None) -> Sides:
    """The stems of the words of both sides; the words themselves where no language is given."""
    sides, lexicon = tokens.sides, tokens.lexicon
    if language is None:
        return sides
    if language != AUTO:
        return Sides(lexicon.stems(language)[sides.ids], sides.starts)
    return _stems_by_language(tokens, row_languages or [None] * tokens.sides.pairs)


@column
def token_bags(tokens: Tokens) -> Bags:
    """The words of each pair, grouped by equality."""
    return bags(tokens.sides)


@column
def stem_bags(stems: Sides, token_bags: Bags) -> Bags:
    """The stems of each pair, grouped by equality; without a language they are the words."""
    return token_bags if stems is token_bags.sides else bags(stems)


def _stems_by_language(tokens: Tokens, row_languages: Sequence[str | None]) -> Sides:
    """Stems by the language of each pair: its row's own, or else the one that is detected."""
    sides, lexicon = tokens.sides, tokens.lexicon
    words = lexicon.words()
    unknown = [place for place, code in enumerate(row_languages) if code is None]
    detected = dict(zip(unknown, _detect(sides, words, unknown), strict=True)) if unknown else {}
    languages = np.array([detected[place] if code is None else code for place, code in enumerate(row_languages)])
    pair = sides.pair_of_item
    stem_ids = np.empty_like(sides.ids)
    for place, language in enumerate(np.unique(languages).tolist()):
        of_item = (languages == language)[pair]
        stems = lexicon.stems(language)[sides.ids[of_item]] if language else sides.ids[of_item]
        stem_ids[of_item] = stems + place * len(words)  # stems of different languages never get the same id
    return Sides(stem_ids, sides.starts)


def _detect(sides: Sides, words: list[str], pairs: Sequence[int]) -> list[str]:
    """The language of each of these pairs' reference, or of its answer if the reference has no words; '' if unknown."""
    detector = _detector()
    bounds = sides.starts.tolist()
    codes = []
    for place in pairs:
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
