"""The peer: what people use today for the six text metrics, in a plain Python loop.

NLTK for tokens, Snowball stems and METEOR, rouge-score, scikit-learn's TF-IDF fitted on each pair, python-Levenshtein.
With `as_installed` it is what a user has, and that is timed. With `as_oracle` the same code gets ragmeter's words and
stems, so that every value has to be equal.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import Levenshtein
import numpy as np
from common import Values
from nltk.stem import SnowballStemmer
from nltk.tokenize import word_tokenize
from nltk.translate.meteor_score import single_meteor_score
from rouge_score.rouge_scorer import RougeScorer
from samples import Row
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from ragmeter.metrics import normalize

#: The metrics in the order of `SeedsStack.score`.
METRICS = ("edit_distance", "exact_match", "token_f1", "rouge_l_score", "meteor_score", "cosine_similarity")

_LANGUAGES = {"en": "english", "es": "spanish"}


class SeedsStack:
    """Six scores of a pair, each by the library that people use for it."""

    def __init__(self, words: Callable[[str], list[str]], stem: Callable[[str], str], plain: Callable[[str], str]):
        self._words = words
        self._plain = plain
        self.stem = stem  # METEOR asks the object that it is given for this
        self._rouge = RougeScorer(["rougeL"], tokenizer=self)

    def tokenize(self, text: str) -> list[str]:
        """The stems of a text; rouge-score and scikit-learn call this."""
        return [self.stem(word) for word in self._words(text)]

    def synsets(self, word: str) -> list[Any]:
        """No synonyms: WordNet does not come with NLTK. METEOR is all the faster for it."""
        return []

    def score(self, reference: str, answer: str) -> tuple[float, ...]:
        """The six scores, in the order of METRICS. Each scorer is given the two texts, and tokenises them itself."""
        words = self._words
        return (
            float(Levenshtein.distance(reference, answer)),
            float(self._plain(reference) == self._plain(answer)),
            _token_f1(words(reference), words(answer)),
            float(self._rouge.score(reference, answer)["rougeL"].fmeasure),
            float(single_meteor_score(words(reference), words(answer), stemmer=self, wordnet=self)),
            self._cosine(reference, answer),
        )

    def score_rows(self, rows: Iterable[Row]) -> Values:
        """The scores of all rows, a row each."""
        return np.array([self.score(row.reference, row.answer) for row in rows])

    def _cosine(self, reference: str, answer: str) -> float:
        vectorizer = TfidfVectorizer(tokenizer=self.tokenize, token_pattern=None, lowercase=False)
        try:
            vectors = vectorizer.fit_transform([reference, answer])
        except ValueError:  # no words in either
            return 0.0
        return float(cosine_similarity(vectors[0], vectors[1])[0, 0])


def as_installed(language: str) -> SeedsStack:
    """The stack as a user has it, with NLTK's usual tokeniser, less the search for sentences that needs a download."""

    def words(text: str) -> list[str]:
        words: list[str] = word_tokenize(text.lower(), preserve_line=True)
        return words

    def plain(text: str) -> str:
        decomposed = unicodedata.normalize("NFD", text.lower())
        return " ".join("".join(c for c in decomposed if not unicodedata.combining(c)).split())

    return SeedsStack(words, SnowballStemmer(_LANGUAGES[language]).stem, plain)


def as_oracle(language: str) -> SeedsStack:
    """The stack with ragmeter's idea of words, stems and plain text. Give it texts in NFC."""
    stemmer = normalize.stemmer(language)
    assert stemmer is not None, f"{language} has no stemmer"

    def words(text: str) -> list[str]:
        return normalize.words(normalize.fold(text))

    def plain(text: str) -> str:
        return " ".join(normalize.strip_accents(normalize.fold(text)).split())

    return SeedsStack(words, stemmer.stemWord, plain)


def _token_f1(reference: list[str], answer: list[str]) -> float:
    if not reference or not answer:
        return float(reference == answer)
    common = sum((Counter(reference) & Counter(answer)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(answer), common / len(reference)
    return 2 * precision * recall / (precision + recall)
