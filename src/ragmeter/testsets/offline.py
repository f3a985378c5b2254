"""Questions without a language model. They are for rankings of retrievers: there are no answers to compare with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from ragmeter.metrics.sentences import sentences
from ragmeter.testsets.questions import NoQuestion, Passage, PlannedQuestion, Question
from ragmeter.testsets.words import content_words

#: A query has so many words; a sentence with fewer words that carry meaning is not asked about.
_FEWEST, _MOST = 3, 6
NOTHING_TO_ASK = "nothing_to_ask"


def write_offline(
    passages: Iterable[Passage], plan: Sequence[PlannedQuestion], seed: int
) -> list[Question | NoQuestion]:
    """One question for each entry of the plan, in its order, or why there is none.

    `passages` are all that may be retrieved: words that are rare among them are what a question asks with. They are
    read once. The same passages, plan and seed give the same questions.
    """
    frequencies: Counter[str] = Counter()
    for passage in passages:
        frequencies.update(set(content_words(passage.text, passage.language)))
    rng = np.random.default_rng(seed)
    return [_written(planned, frequencies, rng) for planned in plan]


def _written(planned: PlannedQuestion, frequencies: Counter[str], rng: np.random.Generator) -> Question | NoQuestion:
    """A keyword query: rare words of a sentence, in the order in which they stand there."""
    passage = planned.passages[0]
    candidates = []
    for sentence in sentences(passage.text):
        words = list(dict.fromkeys(content_words(sentence, passage.language)))
        if len(words) >= _FEWEST and sentence in passage.text:
            candidates.append((sentence, words))
    if not candidates:
        return NoQuestion(planned, NOTHING_TO_ASK)
    sentence, words = candidates[int(rng.integers(len(candidates)))]
    rare = set(sorted(words, key=lambda word: frequencies[word])[:_MOST])
    return Question(planned, " ".join(word for word in words if word in rare), "", (sentence,))
