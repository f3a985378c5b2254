"""Keyword queries without a language model. They are for rankings of retrievers: there are no answers to compare with.

A query has neighbouring words of a sentence beside something that is left out, and what the whole passage is about.
Where that is possible a word is replaced by a synonym, or is in another form. The numbers below are those of people's
questions: about four of a question's words stand in its passage, no rarer than the passage's other words. What this is
good for is measured by `training/rank_retrievers.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
import regex

from ragmeter.metrics.normalize import fold, words
from ragmeter.metrics.sentences import sentences
from ragmeter.testsets.questions import KEYWORDS, Passage, PlannedQuestion, Question
from ragmeter.testsets.sampling import lot
from ragmeter.testsets.words import Vocabulary, content_words, is_function, synonyms

#: Why there is no question.
NOTHING_TO_ASK = "nothing_to_ask"
KIND_NEEDS_MODEL = "kind_needs_model"
LANGUAGE_NEEDS_MODEL = "language_needs_model"

#: In other languages nobody has measured what such queries are worth.
_LANGUAGES = ("en", "es")
#: A sentence with fewer words that carry meaning is not asked about.
_FEWEST = 4
#: A query has one word of its sentence, and on average so many more.
_MORE_WORDS = 2.5
#: How often a word is replaced, where a synonym is known; and how often it is in another form, where there is one.
_REPLACED, _INFLECTED = 0.9, 0.4
#: What a passage is about is drawn from so many of the words that stand out in it. Names stand out more.
_STANDING_OUT, _NAME = 2, 1.5
#: The most words of a name or a heading that a question has.
_LONGEST_NAME = 5
_T = TypeVar("_T")
_NAMES = regex.compile(r"\p{Lu}[\w'-]*(?:\s+(?:(?:of|de|del|la)\s+)*\p{Lu}[\w'-]*)+")


def write_offline(passages: Iterable[Passage], plan: Sequence[PlannedQuestion], seed: int) -> list[Question | str]:
    """One query for each entry of the plan, in its order, or why there is none.

    `passages` are all that may be retrieved; they are read once. The same passages, plan and seed give the same
    questions.
    """
    vocabulary = Vocabulary(passages)
    times: Counter[tuple[str, Passage]] = Counter()
    results = []
    for planned in plan:
        passage = planned.passages[0]
        times[planned.kind, passage] += 1
        drawn = lot(seed, planned.kind, str(times[planned.kind, passage]), passage.id, passage.text)
        results.append(_write(planned, vocabulary, np.random.default_rng(drawn)))
    return results


def _write(planned: PlannedQuestion, vocabulary: Vocabulary, rng: np.random.Generator) -> Question | str:
    passage = planned.passages[0]
    language = passage.language
    if planned.kind != KEYWORDS:
        return KIND_NEEDS_MODEL
    if language not in _LANGUAGES:
        return LANGUAGE_NEEDS_MODEL
    asked = [
        sentence
        for sentence in sentences(passage.text)
        if sentence in passage.text and len(set(content_words(sentence, language))) >= _FEWEST
    ]
    if not asked:
        return NOTHING_TO_ASK
    sentence = _one_of(asked, rng)
    parts = _words_of(sentence, passage, vocabulary, rng)
    said = {word for part in parts for word in words(fold(part))}
    topics = [topic for topic in _topics(passage, vocabulary) if not set(content_words(topic, language)) <= said]
    if topics:
        parts.insert(0, _one_of(topics, rng))
    return Question(planned, " ".join(parts), "", (sentence,)) if parts else NOTHING_TO_ASK


def _words_of(sentence: str, passage: Passage, vocabulary: Vocabulary, rng: np.random.Generator) -> list[str]:
    """Neighbouring words of the sentence beside one, or a name, that is left out; some of them changed."""
    language = passage.language
    tokens = _tokens(sentence, language)
    content = [place for place, token in enumerate(tokens) if not is_function(fold(token), language)]
    begin = _one_of(content, rng)
    end = begin + 1
    while begin > 0 and tokens[begin][0].isupper() and end < len(tokens) and tokens[end][0].isupper():
        end += 1
    left = [place for place in content if not begin <= place < end]
    size = min(len(left), 1 + int(rng.poisson(_MORE_WORDS)))
    before = sum(place < begin for place in left)
    first = int(rng.integers(max(0, before - size), min(before, len(left) - size) + 1))
    chosen = left[first : first + size]
    own = set(words(fold(passage.text)))
    return [
        _changed(tokens[place], own, language, vocabulary, rng) if place in chosen else tokens[place]
        for place in (range(chosen[0], chosen[-1] + 1) if chosen else ())
        if not begin <= place < end
    ]


def _changed(token: str, own: set[str], language: str, vocabulary: Vocabulary, rng: np.random.Generator) -> str:
    """A word, a synonym that its passage does not have, or another of its forms. Names and figures stay."""
    replaced, inflected = rng.random(2) < (_REPLACED, _INFLECTED)
    if not token[0].islower():
        return token
    if replaced:
        for other in synonyms(fold(token), language):
            if other not in own:
                return other
    return (vocabulary.other_forms(fold(token), language) or [token])[0] if inflected else token


def _topics(passage: Passage, vocabulary: Vocabulary) -> list[str]:
    """What a passage is about: its heading, and the names and words in it that are frequent here and rare elsewhere."""
    language = passage.language
    text = passage.text.replace("’", "'")
    tokens = [token for token in _tokens(text, language) if not is_function(fold(token), language)]
    counts = Counter(fold(token) for token in tokens if not token[0].isnumeric())
    weights = {word: count * -math.log(vocabulary.share(word, language)) for word, count in counts.items()}
    spelled = {fold(token): token for token in reversed(tokens)}
    scores = {spelled[word]: weight * (_NAME if spelled[word][0].isupper() else 1) for word, weight in weights.items()}
    for name in _NAMES.findall(text):
        of_name = content_words(name, language)
        if of_name and len(name.split()) <= _LONGEST_NAME and not is_function(fold(name.split()[0]), language):
            scores[name] = _NAME * _NAME * sum(weights.get(word, 0.0) for word in of_name) / len(of_name)
    topics = sorted(scores, key=lambda topic: (-scores[topic], topic))[:_STANDING_OUT]
    heading = passage.heading.strip().rpartition("\n")[2]
    return [heading, *topics] if 0 < len(heading.split()) <= _LONGEST_NAME else topics


def _tokens(text: str, language: str) -> list[str]:
    """The words of a text as it spells them. Single letters that are no words, such as initials, are left out."""
    return [
        token
        for token in words(text.replace("’", "'"))
        if len(token) > 1 or token.isnumeric() or is_function(fold(token), language)
    ]


def _one_of(choices: Sequence[_T], rng: np.random.Generator) -> _T:
    return choices[int(rng.integers(len(choices)))]
