"""The words of passages: which carry meaning, in which forms they occur, and which a source says more than others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from functools import lru_cache

from ragmeter.metrics.normalize import fold, known_languages, stemmer, words
from ragmeter.metrics.offline.reading.tables import Mark, plain, table
from ragmeter.testsets.questions import Passage

#: The most words of a language that are counted. Beyond them the rarest are forgotten, which keeps memory flat.
_MOST_WORDS = 300_000
#: So many passages of a source show what it is about.
_MOST_OF_SOURCE = 50
#: A word is a topic of a source if its passages have it so many times as often as all passages.
_TYPICAL = 3.0


def content_words(text: str, language: str) -> list[str]:
    """The folded words of a text in their order, without function words of its language."""
    return [word for word in words(fold(text)) if not is_function(word, language)]


@lru_cache(1 << 16)
def is_function(word: str, language: str) -> bool:
    """Whether a folded word says nothing of its own: an article, a preposition, a pronoun."""
    return bool(table(language).marks.get(plain(word), 0) & Mark.FUNCTION)


class Vocabulary:
    """How many passages have a word, its other forms, and the topics of sources. All passages are read once.

    `sources` are those whose topics are asked for.
    """

    def __init__(self, passages: Iterable[Passage], sources: Collection[str]) -> None:
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._totals: Counter[str] = Counter()
        self._of_sources: dict[str, Counter[str]] = {source: Counter() for source in sources}
        self._read: Counter[str] = Counter()
        for passage in passages:
            self._count(passage)
        self._forms: dict[str, dict[str, list[str]]] = {}

    def _count(self, passage: Passage) -> None:
        distinct = set(words(fold(passage.text)))
        counts = self._counts[passage.language]
        counts.update(distinct)
        self._totals[passage.language] += 1
        while len(counts) > _MOST_WORDS:
            fewest = min(counts.values())
            self._counts[passage.language] = counts = Counter(
                {word: count for word, count in counts.items() if count > fewest}
            )
        if passage.source in self._of_sources and self._read[passage.source] < _MOST_OF_SOURCE:
            self._of_sources[passage.source].update(distinct)
            self._read[passage.source] += 1

    def share(self, word: str, language: str) -> float:
        """The share of the language's passages that have a word."""
        return self._counts[language][word] / max(1, self._totals[language])

    def other_forms(self, word: str, language: str) -> list[str]:
        """Other words with the same stem, the most frequent first."""
        if language not in self._forms:
            self._forms[language] = self._stemmed(language)
        counts, stem = self._counts[language], _stem(word, language)
        forms = [form for form in self._forms[language].get(stem, ()) if form != word]
        return sorted(forms, key=lambda form: (-counts[form], form))

    def _stemmed(self, language: str) -> dict[str, list[str]]:
        forms = defaultdict(list)
        for word in self._counts[language]:
            if not is_function(word, language):
                forms[_stem(word, language)].append(word)
        return {stem: of_stem for stem, of_stem in forms.items() if len(of_stem) > 1}

    def topics(self, passage: Passage) -> list[str]:
        """What other passages of its source say, this one does not, and passages of other sources seldom do."""
        own = {_stem(word, passage.language) for word in content_words(passage.text, passage.language)}
        passages = self._read[passage.source]
        typical = []
        for word, count in self._of_sources.get(passage.source, Counter()).items():
            if count < 2 or is_function(word, passage.language) or word.isnumeric():
                continue
            if count / passages >= _TYPICAL * self.share(word, passage.language) and (
                _stem(word, passage.language) not in own
            ):
                typical.append((-count, word))
        return [word for _, word in sorted(typical)]


@lru_cache(1 << 16)
def _stem(word: str, language: str) -> str:
    algorithm = _stemmer(language)
    return algorithm.stemWord(word) if algorithm else word


_stemmer = lru_cache(lambda language: stemmer(language) if language in known_languages() else None)
