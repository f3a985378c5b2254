"""The words of passages: which carry meaning, in which forms they occur, and which words may stand for them."""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.metrics.normalize import fold, known_languages, stemmer, words
from ragmeter.metrics.offline.reading.tables import Mark, plain, table
from ragmeter.testsets.questions import Passage

if TYPE_CHECKING:
    from Stemmer import Stemmer

#: The most words of a language that are counted. Beyond them the rarest are forgotten, which keeps memory flat.
_MOST_WORDS = 300_000
_REMEMBERED = 1 << 16


def content_words(text: str, language: str) -> list[str]:
    """The folded words of a text in their order, without function words of its language."""
    return [word for word in words(fold(text)) if not is_function(word, language)]


@lru_cache(_REMEMBERED)
def is_function(word: str, language: str) -> bool:
    """Whether a folded word says nothing of its own: an article, a preposition, a pronoun."""
    return bool(table(language).marks.get(plain(word), 0) & Mark.FUNCTION)


def synonyms(word: str, language: str) -> tuple[str, ...]:
    """Words that may stand for a folded word in a question."""
    return _synonyms(language).get(_stem(word, language), ())


class Vocabulary:
    """How many passages have a word, and in which other forms they have it. The passages are read once."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._passages: Counter[str] = Counter()
        self._forms: dict[str, dict[str, list[str]]] = {}
        for passage in passages:
            self._passages[passage.language] += 1
            counts = self._counts[passage.language]
            counts.update(set(words(fold(passage.text))))
            while len(counts) > _MOST_WORDS:
                fewest = min(counts.values())
                for word in [word for word, count in counts.items() if count == fewest]:
                    del counts[word]

    def share(self, word: str, language: str) -> float:
        """The share of the language's passages that have a folded word; of one that was forgotten, one passage."""
        return max(1, self._counts[language][word]) / max(1, self._passages[language])

    def other_forms(self, word: str, language: str) -> list[str]:
        """Other folded words with the same stem, the most frequent first."""
        if language not in self._forms:
            self._forms[language] = _by_stem(self._counts[language], language)
        counts = self._counts[language]
        forms = (form for form in self._forms[language].get(_stem(word, language), ()) if form != word)
        return sorted(forms, key=lambda form: (-counts[form], form))


def _by_stem(vocabulary: Iterable[str], language: str) -> dict[str, list[str]]:
    """Words that carry meaning, by their stem."""
    forms = defaultdict(list)
    for word in vocabulary:
        if not is_function(word, language):
            forms[_stem(word, language)].append(word)
    return {stem: of_stem for stem, of_stem in forms.items() if len(of_stem) > 1}


@cache
def _synonyms(language: str) -> dict[str, tuple[str, ...]]:
    """The synonyms of a stem, in the order of the file."""
    listed = tomllib.loads(Path(__file__).with_name("synonyms.toml").read_text(encoding="utf-8"))
    of_stem: dict[str, tuple[str, ...]] = {}
    for group in listed.get(language, "").split():
        members = group.split("|")
        for word in members:
            stem = _stem(word, language)
            others = (other for other in members if _stem(other, language) != stem)
            of_stem[stem] = tuple(dict.fromkeys([*of_stem.get(stem, ()), *others]))
    return of_stem


@lru_cache(_REMEMBERED)
def _stem(word: str, language: str) -> str:
    algorithm = _stemmer(language)
    return word if algorithm is None else algorithm.stemWord(word)


@cache
def _stemmer(language: str) -> Stemmer | None:
    return stemmer(language) if language in known_languages() else None
