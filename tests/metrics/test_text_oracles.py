"""The published implementations, given our tokens and stems, on real texts: equal to 1e-9."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nltk.translate.meteor_score import single_meteor_score
from rapidfuzz.distance import Levenshtein
from rouge_score.rouge_scorer import RougeScorer
from sklearn.feature_extraction.text import TfidfVectorizer

from ragmeter import get_metric
from ragmeter.metrics.normalize import fold, stemmer, words
from tests.conftest import load_pairs

SETS: dict[str, tuple[str, tuple[list[str], list[str]]]] = {
    "short English": ("en", load_pairs("evouna.jsonl")),
    "long English": ("en", load_pairs("ragchecker.jsonl")),
    "Arabic": ("ar", load_pairs("xquad.jsonl", language="ar")),
    "Chinese": ("zh", load_pairs("xquad.jsonl", language="zh")),
    "German": ("de", load_pairs("xquad.jsonl", language="de")),
    "Russian": ("ru", load_pairs("xquad.jsonl", language="ru")),
    "Spanish": ("es", load_pairs("xquad.jsonl", language="es")),
    "Thai": ("th", load_pairs("xquad.jsonl", language="th")),
    "Turkish": ("tr", load_pairs("xquad.jsonl", language="tr")),
}


def tokens(text: str) -> list[str]:
    """The whole text folded and split at once, where the product works chunk by chunk."""
    return words(fold(text))


class Stem:
    """A stemmer as NLTK calls it."""

    def __init__(self, language: str | None) -> None:
        self._stemmer = stemmer(language) if language else None

    def stem(self, word: str) -> str:
        return self._stemmer.stemWord(word) if self._stemmer else word


class NoWordNet:
    """A WordNet that knows no word."""

    def synsets(self, word: str) -> list[Any]:
        return []


class Tokenizer:
    """A tokenizer as rouge-score calls it."""

    def __init__(self, language: str | None) -> None:
        self._stem = Stem(language).stem

    def tokenize(self, text: str) -> list[str]:
        return [self._stem(token) for token in tokens(text)]


def rouge(part: str) -> Callable[..., float]:
    def score(reference: str, answer: str, language: str | None) -> float:
        scorer = RougeScorer(["rougeL"], tokenizer=Tokenizer(language))
        return float(getattr(scorer.score(reference, answer)["rougeL"], part))

    return score


def meteor(reference: str, answer: str, language: str | None) -> float:
    return float(
        single_meteor_score(
            tokens(reference), tokens(answer), preprocess=str, stemmer=Stem(language), wordnet=NoWordNet()
        )
    )


def cosine(reference: str, answer: str, language: str | None) -> float:
    vectorizer = TfidfVectorizer(tokenizer=Tokenizer(language).tokenize, token_pattern=None, lowercase=False)
    try:
        vectors = vectorizer.fit_transform([reference, answer])
    except ValueError:  # no words in either text
        return 0.0
    return float((vectors[0] @ vectors[1].T).toarray()[0, 0])


def token_f1(reference: str, answer: str, language: str | None) -> float:
    gold, given = Counter(tokens(reference)), Counter(tokens(answer))
    common = (gold & given).total()
    if not common:
        return 0.0
    precision, recall = common / given.total(), common / gold.total()
    return 2 * precision * recall / (precision + recall)


def levenshtein(reference: str, answer: str, language: str | None) -> float:
    """One pair at a time, where the product hands over whole columns; the textbook's recurrence is further down."""
    return float(Levenshtein.distance(reference, answer))


ORACLES: dict[str, Callable[..., float]] = {
    "edit_distance": levenshtein,
    "token_f1": token_f1,
    "rouge_l_score": rouge("fmeasure"),
    "rouge_l_precision": rouge("precision"),
    "rouge_l_recall": rouge("recall"),
    "meteor_score": meteor,
    "cosine_similarity": cosine,
}


@pytest.mark.parametrize(
    ("chosen", "name", "stemmed"),
    [
        pytest.param(chosen, name, stemmed, id=f"{chosen}-{name}-{'stems' if stemmed else 'words'}")
        for chosen in SETS
        for name in ORACLES
        for stemmed in ([False, True] if "language" in get_metric(name).settings else [False])
    ],
)
def test_equal_to_the_oracle(chosen: str, name: str, stemmed: bool) -> None:
    language, (references, answers) = SETS[chosen]
    metric = get_metric(name).with_settings(language=language) if stemmed else get_metric(name)
    if chosen == "long English" and name != "edit_distance":
        references, answers = references[:24], answers[:24]  # the oracles do a few dozen a second
    ours = metric(references, answers)
    oracle = ORACLES[name]
    theirs = [oracle(r, a, language if stemmed else None) for r, a in zip(references, answers, strict=True)]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
    assert len(set(theirs)) > 5, "the set should tell good from bad"


def naive_levenshtein(one: str, other: str) -> int:
    previous = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        current = [i]
        for j, b in enumerate(other, 1):
            current.append(min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a != b)))
        previous = current
    return previous[-1]


def test_edit_distance_is_the_textbook_s() -> None:
    references, answers = (side[:60] for side in load_pairs("evouna.jsonl"))
    expected = [naive_levenshtein(r, a) for r, a in zip(references, answers, strict=True)]
    np.testing.assert_array_equal(get_metric("edit_distance")(references, answers), expected)
