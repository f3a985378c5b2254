"""Questions without a language model. They are for rankings of retrievers: there are no answers to compare with.

A question has some words of a sentence, but not those that it asks for, in the sentence's order; some of them in
another form, and beside them a word that other passages of the source have. People's questions are like that: about
four words of a question stand in its passage, no rarer than the passage's other words, and one or two do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ragmeter.metrics.normalize import fold, words
from ragmeter.metrics.sentences import sentences
from ragmeter.testsets.frames import FRAMES, Frames
from ragmeter.testsets.questions import FACT, HOW_WHY, KEYWORDS, NoQuestion, Passage, PlannedQuestion, Question
from ragmeter.testsets.words import Vocabulary, content_words, is_function

NOTHING_TO_ASK = "nothing_to_ask"
OTHER_KIND = "kind_needs_model"
OTHER_LANGUAGE = "language_needs_model"
#: A sentence with fewer words that carry meaning is not asked about.
_FEWEST = 5
#: A question has two words of its sentence, and on average so many more.
_LEAST = 1
_MORE_WORDS = 2.2
#: How often a word of the sentence is in another form.
_CHANGED = 0.2
#: How often a question has a word of other passages of its source.
_TOPIC = 0.6
_ANCHORED = 0.9
_ANCHORS = 4
_SPREAD = 1.4


def write_offline(
    passages: Iterable[Passage], plan: Sequence[PlannedQuestion], seed: int
) -> list[Question | NoQuestion]:
    """One question for each entry of the plan, in its order, or why there is none.

    `passages` are all that may be retrieved; they are read once. The same passages, plan and seed give the same
    questions.
    """
    vocabulary = Vocabulary(passages, {planned.passages[0].source for planned in plan})
    return [
        _write(planned, vocabulary, np.random.default_rng((seed, number))) for number, planned in enumerate(plan)
    ]


def _write(planned: PlannedQuestion, vocabulary: Vocabulary, rng: np.random.Generator) -> Question | NoQuestion:
    passage = planned.passages[0]
    if planned.kind not in (KEYWORDS, FACT, HOW_WHY):
        return NoQuestion(planned, OTHER_KIND)
    frames = FRAMES.get(passage.language)
    if frames is None:
        return NoQuestion(planned, OTHER_LANGUAGE)
    asked = [
        (sentence, tokens)
        for sentence in sentences(passage.text)
        if sentence in passage.text and len(set(content_words(sentence, passage.language))) >= _FEWEST
        for tokens in [_ask(planned.kind, sentence, passage.language, frames, rng)]
        if tokens is not None
    ]
    if not asked:
        return NoQuestion(planned, NOTHING_TO_ASK)
    sentence, (opening, rest, at) = asked[int(rng.integers(len(asked)))]
    parts = [*opening, *_thinned(rest, at, passage, vocabulary, rng, planned.kind != KEYWORDS)]
    text = " ".join(parts)
    if planned.kind != KEYWORDS:
        text = f"{frames.opening}{text[:1].upper()}{text[1:]}?"
    return Question(planned, text, "", (sentence,))


def _ask(kind, sentence, language, frames, rng):
    tokens = words(sentence.replace("’", "'"))
    content = [not is_function(fold(token), language) for token in tokens]
    if kind == HOW_WHY:
        for place, token in enumerate(tokens):
            for cues, opening in ((frames.because, frames.reason), (frames.by, frames.manner)):
                if fold(token) in cues and sum(content[:place]) >= 3 and place + 1 < len(tokens):
                    return [opening[int(rng.integers(len(opening)))]], tokens[:place], place
        return None
    if kind == KEYWORDS:
        return [], tokens, None
    spans = _spans(tokens, content)
    if not spans:
        return None
    what, begin, end = spans[int(rng.integers(len(spans)))]
    opening = getattr(frames, what)
    return [opening[int(rng.integers(len(opening)))]], tokens[:begin] + tokens[end:], begin


def _spans(tokens, content):
    spans = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if token.isnumeric() and len(token) == 4:
            spans.append(("year", place, place + 1))
        elif token[0].isnumeric():
            spans.append(("amount", place, place + 1))
        elif token[0].isupper() and place and content[place]:
            end = place + 1
            while end < len(tokens) and tokens[end][0].isupper():
                end += 1
            spans.append(("name", place, end))
            place = end
            continue
        elif content[place]:
            end = place + 1
            if end < len(tokens) and content[end] and tokens[end].islower():
                end += 1
            spans.append(("thing", place, end))
            place = end
            continue
        place += 1
    return spans


def _thinned(tokens, at, passage, vocabulary, rng, sentence_like):
    language = passage.language
    content = [place for place, token in enumerate(tokens) if not is_function(fold(token), language)]
    near = None if at is None else sum(place < at for place in content)
    size = min(len(content), _LEAST + int(rng.poisson(_MORE_WORDS)))
    span = min(len(content), max(size, round(size * _SPREAD)))
    first = int(rng.integers(max(0, near - span), min(near, len(content) - span) + 1)) if near is not None else int(rng.integers(len(content)-span+1))
    chosen = sorted(first + int(x) for x in rng.choice(span, size, False, _weights([tokens[content[first+k]] for k in range(span)], vocabulary, language)))
    parts = []
    before = -1
    for number in chosen:
        place = content[number]
        if sentence_like:
            begin = content[number - 1] + 1 if number else 0
            parts += tokens[begin:place]
        parts.append(_form(tokens[place], vocabulary, language, rng))
    said = {fold(token) for token in parts}
    anchors = [a for a in _anchors(passage, vocabulary)[:_ANCHORS] if not set(content_words(a, language)) <= said]
    if anchors and rng.random() < _ANCHORED:
        a = anchors[int(rng.integers(len(anchors)))]
        parts = [a, *parts] if rng.random() < .5 else [*parts, a]
    topics = vocabulary.topics(passage)[:3]
    if topics and rng.random() < _TOPIC:
        parts.insert(int(rng.integers(len(parts) + 1)), topics[int(rng.integers(len(topics)))])
    return parts


def _form(token, vocabulary, language, rng):
    if token[0].islower() and rng.random() < _CHANGED:
        forms = vocabulary.other_forms(fold(token), language)
        if forms:
            return forms[0]
    return token


_NAMES = 1.5
_RARE = 0.0
def _anchors(passage, vocabulary):
    import math
    from collections import Counter
    import regex
    text = passage.text.replace("’", "'")
    tokens = [t for t in words(text) if not is_function(fold(t), passage.language) and not t[0].isnumeric()]
    runs = [m[0] for m in regex.finditer(r"\p{Lu}[\w'-]*(?:\s+(?:of\s+|de\s+|del\s+)?\p{Lu}[\w'-]*)+", text)]
    runs = [r for r in runs if not is_function(fold(r.split()[0]), passage.language) and len(r.split()) < 5]
    counts = Counter(map(fold, tokens))
    spelled = {fold(t): t for t in reversed(tokens)}
    idf = lambda w: math.log(1 / max(vocabulary.share(w, passage.language), 1e-9))
    score = {spelled[w]: c * idf(w) * (_NAMES if spelled[w][0].isupper() else 1) for w, c in counts.items()}
    for r in runs:
        ws = content_words(r, passage.language)
        if ws: score[r] = _NAMES * sum(counts[w] * idf(w) for w in ws) / len(ws) * _RUN
    return sorted(score, key=lambda w: (-score[w], w))
_RUN = 1.3

def _weights(tokens, vocabulary, language):
    w = np.array([max(vocabulary.share(fold(t), language), 1e-6) ** _RARE for t in tokens])
    return w / w.sum()
