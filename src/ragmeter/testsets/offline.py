"""Questions without a language model. They are for rankings of retrievers: there are no answers to compare with.

A question asks for something in a sentence, with the words around it and with what the whole passage is about. Where
that is possible a word is replaced by a synonym, or is in another form. The numbers below are those of people's
questions: about four of a question's words stand in its passage, no rarer than the passage's other words, one or two
do not, and half of all are function words. What this is good for is measured by `training/rank_retrievers.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import regex

from ragmeter.metrics.normalize import fold, words
from ragmeter.metrics.sentences import sentences
from ragmeter.testsets.frames import FRAMES, Frames
from ragmeter.testsets.questions import FACT, HOW_WHY, KEYWORDS, NoQuestion, Passage, PlannedQuestion, Question
from ragmeter.testsets.sampling import lot
from ragmeter.testsets.words import Vocabulary, content_words, is_function, synonyms

#: Why there is no question.
NOTHING_TO_ASK = "nothing_to_ask"
KIND_NEEDS_MODEL = "kind_needs_model"
LANGUAGE_NEEDS_MODEL = "language_needs_model"

#: A sentence with fewer words that carry meaning is not asked about, and no cause or means with fewer before it.
_FEWEST, _FEWEST_BEFORE = 4, 3
#: A question has one word of its sentence, and on average so many more.
_MORE_WORDS = 2.5
#: How often a word is replaced, where a synonym is known; and how often it is in another form, where there is one.
_REPLACED, _INFLECTED = 0.9, 0.4
#: What a passage is about is drawn from so many of the words that stand out in it. Names stand out more.
_STANDING_OUT, _NAME = 2, 1.5
#: The most words of a name or a heading that a question has.
_LONGEST_NAME = 5
_T = TypeVar("_T")
_NAMES = regex.compile(r"\p{Lu}[\w'-]*(?:\s+(?:(?:of|de|del|la)\s+)*\p{Lu}[\w'-]*)+")


@dataclass(frozen=True, slots=True)
class _Draft:
    """A question about a sentence: how it begins, the words that it may have, and which of them it is asked beside."""

    sentence: str
    opening: str
    tokens: list[str]
    beside: int


def write_offline(
    passages: Iterable[Passage], plan: Sequence[PlannedQuestion], seed: int
) -> list[Question | NoQuestion]:
    """One question for each entry of the plan, in its order, or why there is none.

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


def _write(planned: PlannedQuestion, vocabulary: Vocabulary, rng: np.random.Generator) -> Question | NoQuestion:
    if planned.kind not in (KEYWORDS, FACT, HOW_WHY):
        return NoQuestion(planned, KIND_NEEDS_MODEL)
    passage = planned.passages[0]
    frames = FRAMES.get(passage.language)
    if frames is None:
        return NoQuestion(planned, LANGUAGE_NEEDS_MODEL)
    drafts = [
        draft
        for sentence in sentences(passage.text)
        if sentence in passage.text and len(set(content_words(sentence, passage.language))) >= _FEWEST
        for draft in _drafts(planned.kind, sentence, passage.language, frames, rng)
    ]
    if not drafts:
        return NoQuestion(planned, NOTHING_TO_ASK)
    draft = drafts[int(rng.integers(len(drafts)))]
    parts = _words_of(draft, passage, vocabulary, rng, bare=planned.kind == KEYWORDS)
    said = {word for part in parts for word in words(fold(part))}
    topics = [
        topic for topic in _topics(passage, vocabulary) if not set(content_words(topic, passage.language)) <= said
    ]
    if topics:
        parts.insert(len(parts) * int(rng.integers(2)), topics[int(rng.integers(len(topics)))])
    if planned.kind == KEYWORDS:
        return Question(planned, " ".join(parts), "", (draft.sentence,))
    text = " ".join([draft.opening, *parts])
    return Question(planned, f"{frames.opening}{text[:1].upper()}{text[1:]}?", "", (draft.sentence,))


def _drafts(kind: str, sentence: str, language: str, frames: Frames, rng: np.random.Generator) -> list[_Draft]:
    """A question about a sentence; none if nothing in it can be asked for in this way."""
    tokens = _tokens(sentence, language)
    if kind == KEYWORDS:
        return [_Draft(sentence, "", tokens, int(rng.integers(len(tokens))))]
    if kind == HOW_WHY:
        for place, token in enumerate(tokens[:-1]):
            for signs, openings in ((frames.because, frames.reason), (frames.by, frames.manner)):
                before = sum(not is_function(fold(word), language) for word in tokens[:place])
                if fold(token) in signs and before >= _FEWEST_BEFORE:
                    return [_Draft(sentence, _one_of(openings, rng), tokens[:place], place)]
        return []
    openings, begin, end = _one_of(_answers(tokens, language, frames), rng)
    return [_Draft(sentence, _one_of(openings, rng), tokens[:begin] + tokens[end:], begin)]


def _answers(tokens: list[str], language: str, frames: Frames) -> list[tuple[tuple[str, ...], int, int]]:
    """What can be asked for: how such a question begins, and where in the sentence the answer begins and ends."""
    answers = []
    place = 0
    while place < len(tokens):
        token, end = tokens[place], place + 1
        if token[0].isnumeric():
            answers.append((frames.year if token.isnumeric() and len(token) == 4 else frames.amount, place, end))
        elif not is_function(fold(token), language):
            is_name = token[0].isupper() and place > 0
            while is_name and end < len(tokens) and tokens[end][0].isupper():
                end += 1
            answers.append((frames.name if is_name else frames.thing, place, end))
        place = end
    return answers


def _words_of(
    draft: _Draft, passage: Passage, vocabulary: Vocabulary, rng: np.random.Generator, *, bare: bool
) -> list[str]:
    """Neighbouring words of the sentence beside what is asked for, some of them changed; `bare` without small words."""
    language = passage.language
    content = [place for place, token in enumerate(draft.tokens) if not is_function(fold(token), language)]
    size = min(len(content), 1 + int(rng.poisson(_MORE_WORDS)))
    beside = sum(place < draft.beside for place in content)
    first = int(rng.integers(max(0, beside - size), min(beside, len(content) - size) + 1))
    own = set(words(fold(passage.text)))
    parts = []
    for number in range(first, first + size):
        begin = content[number - 1] + 1 if number else 0
        parts += [] if bare else draft.tokens[begin : content[number]]
        parts.append(_changed(draft.tokens[content[number]], own, language, vocabulary, rng))
    return parts


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
