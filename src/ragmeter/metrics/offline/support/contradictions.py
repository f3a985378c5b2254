"""Whether a passage contradicts a claim: a sentence with almost the same words, and a negation or another number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ragmeter.metrics.bags import slices
from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import Bools, chunked, languages_of, vocabulary
from ragmeter.metrics.sentences import sentences

#: The share of the claim's words that the sentence must have, and the sentence's that the claim must have.
_OF_CLAIM, _OF_SENTENCE = 0.75, 0.5
#: Claims with fewer words than this match by accident.
_FEWEST_WORDS = 2
#: So many sentences of a passage are looked at, and so many characters at once, so that memory stays flat.
_MOST_SENTENCES, _AT_ONCE = 1_000, 1 << 21
_NEGATIONS = Mark.NEGATION | Mark.NO | Mark.DENIAL


@dataclass(frozen=True, slots=True)
class _Content:
    """The content words of a text, its numbers, and whether it is negated."""

    words: frozenset[int]
    numbers: frozenset[float]
    negated: bool

    def contradicts(self, claim: _Content) -> bool:
        shared = len(self.words & claim.words)
        if shared < _OF_CLAIM * len(claim.words) or shared < _OF_SENTENCE * len(self.words):
            return False
        another_number = bool(claim.numbers - self.numbers) and bool(self.numbers - claim.numbers)
        return another_number or (self.negated != claim.negated and claim.numbers <= self.numbers)


def contradicted(
    claims: Sequence[Sequence[str]], passages: Sequence[Sequence[str]], is_supported: Sequence[Bools]
) -> list[Bools]:
    """A matrix for each row: which passages (columns) contradict which claims (rows), never a supported one."""
    sizes = np.array([sum(map(len, chain(*row))) for row in zip(claims, passages, strict=True)], np.int64)
    results: list[Bools] = []
    for part in slices(sizes, _AT_ONCE):
        results += _contradicted(claims[part], passages[part], is_supported[part])
    return results


def _contradicted(
    claims: Sequence[Sequence[str]], passages: Sequence[Sequence[str]], is_supported: Sequence[Bools]
) -> list[Bools]:
    split = [
        [sentences(passage)[:_MOST_SENTENCES] if not flags[:, place].all() else [] for place, passage in enumerate(row)]
        for row, flags in zip(passages, is_supported, strict=True)
    ]
    contents = iter(_contents([[*own, *chain(*row)] for own, row in zip(claims, split, strict=True)]))
    results = []
    for own, row, flags in zip(claims, split, is_supported, strict=True):
        result = np.zeros(flags.shape, dtype=np.bool_)
        of_claims = [next(contents) for _ in own]
        for place, passage in enumerate(row):
            of_sentences = [next(contents) for _ in passage]
            for number, claim in enumerate(of_claims):
                if not flags[number, place] and len(claim.words) >= _FEWEST_WORDS:
                    result[number, place] = any(sentence.contradicts(claim) for sentence in of_sentences)
        results.append(result)
    return results


def _contents(texts: Sequence[Sequence[str]]) -> list[_Content]:
    """The content of all texts of all rows, each row in its language."""
    flat = [text for row in texts for text in row]
    if not flat:
        return []
    by_row = languages_of(chunked([" ".join(row) for row in texts]))
    languages = [language for language, row in zip(by_row, texts, strict=True) for _ in row]
    contents: dict[int, _Content] = {}
    for language in dict.fromkeys(languages):
        places = [place for place, own in enumerate(languages) if own == language]
        items = vocabulary(language).texts(chunked([flat[place] for place in places]))
        is_number = items.has(Mark.NUMBER) & ~items.has(Mark.WEAK) & ~np.isnan(items.value)
        is_negation = items.has(_NEGATIONS)
        is_word = ~items.has(Mark.FUNCTION) & ~items.has(Mark.NUMBER) & ~is_negation
        for number, place in enumerate(places):
            own = slice(int(items.starts[number]), int(items.starts[number + 1]))
            contents[place] = _Content(
                frozenset(items.root[own][is_word[own]].tolist()),
                frozenset(items.value[own][is_number[own]].tolist()),
                bool(is_negation[own].sum() % 2),
            )
    return [contents[place] for place in range(len(flat))]
