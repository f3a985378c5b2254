"""The columns that text metrics share: chunks, tokens, stems, and the bags of both sides of a pair.

Texts become integers once. A block's texts are split at white space natively; only its *distinct* chunks meet
Python, where a chunk seen before is a look-up. From there on everything is arithmetic over arrays: the tokens of all
references, then those of all answers, in one array of ids with the offsets of each text beside it.
"""

from __future__ import annotations

import string
import threading
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.errors import MissingExtraError
from ragmeter.metrics.bags import Bags, Ids, Sides, bags, ranges
from ragmeter.metrics.normalize import AUTO, fold, stemmer, strip_accents, words
from ragmeter.registry import column

#: Above this many characters of remembered chunks the lexicon starts afresh, so that memory stays flat.
_LEXICON_LIMIT = 16_000_000

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
    in one flat array.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.size = 0
        self.words: list[str] = []
        self._chunks: dict[str, int] = {}
        self._word_ids: dict[str, int] = {}
        self._plain_ids: dict[str, int] = {}
        self._plain = array("q")
        self._counts = array("q")
        self._flat = array("q")
        self._stems: dict[str, _Stems] = {}

    def look_up(self, chunks: list[str]) -> tuple[Ids, Ids, Ids, Ids]:
        """For each chunk its plain form's id, the number of its words, and where they begin in the fourth array."""
        with self.lock:
            known = self._chunks
            try:
                numbers = np.fromiter(map(known.__getitem__, chunks), np.int64, len(chunks))
            except KeyError:
                self._learn([chunk for chunk in chunks if chunk not in known])
                numbers = np.fromiter(map(known.__getitem__, chunks), np.int64, len(chunks))
            counts, flat = np.array(self._counts), np.array(self._flat)
            firsts = np.cumsum(counts) - counts
            return np.array(self._plain)[numbers], counts[numbers], firsts[numbers], flat

    def _learn(self, chunks: list[str]) -> None:
        word_ids, plain_ids = self._word_ids, self._plain_ids
        folded = fold("\n".join(chunks)).split("\n")
        plain = strip_accents("\n".join(folded)).split("\n")
        self._plain.extend([plain_ids.setdefault(text, len(plain_ids)) for text in plain])
        for chunk, text in zip(chunks, folded, strict=True):
            bare = text.strip(_PUNCTUATION)
            # Most chunks are one word and perhaps punctuation around it; a test holds this short cut to the pattern.
            found = ([bare] if bare else []) if bare.isascii() and (bare.isalnum() or not bare) else words(text)
            self._chunks[chunk] = len(self._chunks)
            self._counts.append(len(found))
            self._flat.extend([word_ids.setdefault(word, len(word_ids)) for word in found])
        self.size += 2 * sum(map(len, chunks))
        self.words.extend(islice(word_ids, len(self.words), None))

    def stems(self, language: str) -> Ids:
        """For each word's id the id of its stem in this language."""
        with self.lock:
            return self._stems.setdefault(language, _Stems(language)).extend(self.words)


class _Stems:
    """Stem ids of a growing list of words in one language."""

    def __init__(self, language: str) -> None:
        self._stemmer = stemmer(language)
        self._stem_ids: dict[str, int] = {}
        self._known: Ids = np.empty(0, np.int64)

    def extend(self, words: list[str]) -> Ids:
        new = words[len(self._known) :]
        if new:
            stems = self._stemmer.stemWords(new) if self._stemmer else new
            ids = self._stem_ids
            more = np.fromiter((ids.setdefault(stem, len(ids)) for stem in stems), np.int64, len(new))
            self._known = np.concatenate([self._known, more])
        return self._known


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
    texts = pa.array([*reference, *answer], pa.large_string())
    split = pc.utf8_split_whitespace(texts)
    starts = split.offsets.to_numpy().astype(np.int64)
    encoded = split.flatten().dictionary_encode()
    which = encoded.indices.to_numpy()
    lexicon = _current_lexicon()
    distinct = encoded.dictionary.to_pylist()
    plain, counts, firsts, flat = lexicon.look_up(distinct)
    words_of_chunk = counts[which]
    ends = np.concatenate([[0], np.cumsum(words_of_chunk)])
    words_of_text = Sides(flat[ranges(firsts[which], words_of_chunk)], ends[starts])
    empty = distinct.index("") if "" in distinct else None
    return Chunks(_without(plain[which], starts, which, empty), words_of_text, lexicon)


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
def stem_bags(stems: Sides) -> Bags:
    """The stems of each pair, grouped by equality."""
    return bags(stems)


def _stems_by_language(tokens: Tokens) -> Sides:
    """Stems by the language that each pair seems to be written in, told from its words."""
    sides, lexicon = tokens.sides, tokens.lexicon
    languages = _detect(tokens)
    pair = sides.pair_of_item
    found = np.empty_like(sides.ids)
    base = 0  # stems of different languages never get the same id
    for language in sorted(set(languages)):
        of_pair = np.array([each == language for each in languages])
        of_item = of_pair[pair]
        known = lexicon.stems(language) if language else np.arange(len(lexicon.words))
        found[of_item] = known[sides.ids[of_item]] + base
        base += len(lexicon.words)
    return Sides(found, sides.starts)


def _detect(tokens: Tokens) -> list[str]:
    """The language of each pair's reference, or of its answer where the reference says nothing; '' if unknown."""
    detector = _detector()
    sides, lexicon = tokens.sides, tokens.lexicon
    bounds = sides.starts.tolist()
    found = []
    for i in range(sides.pairs):
        begin, end = bounds[i], bounds[i + 1]
        if begin == end:
            begin, end = bounds[i + sides.pairs], bounds[i + sides.pairs + 1]
        text = " ".join(lexicon.words[word] for word in sides.ids[begin:end].tolist())
        language = detector.detect_language_of(text)
        found.append(language.iso_code_639_1.name.lower() if language else "")
    return found


@cache
def _detector() -> Any:
    try:
        from lingua import IsoCode639_1, LanguageDetectorBuilder
    except ImportError:
        raise MissingExtraError("--language auto", "languages") from None
    from ragmeter.metrics.normalize import known_languages

    codes = [getattr(IsoCode639_1, code.upper(), None) for code in known_languages()]
    return LanguageDetectorBuilder.from_iso_codes_639_1(*[code for code in codes if code is not None]).build()
