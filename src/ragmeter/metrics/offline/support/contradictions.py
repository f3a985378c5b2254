"""The pairs of a claim and a passage that are worth a look, and what clashes in them."""

from __future__ import annotations

import numpy as np
import regex

from ragmeter.metrics.bags import Ids
from ragmeter.metrics.normalize import words_and_figures
from ragmeter.metrics.offline.reading.tables import Mark, plain
from ragmeter.metrics.offline.reading.vocabulary import Bools, Texts
from ragmeter.metrics.offline.support.clashes import first_clash
from ragmeter.metrics.offline.support.clashes.cases import Case, Clash
from ragmeter.metrics.offline.support.clashes.tokens import TokenList
from ragmeter.metrics.offline.support.features import CAPITALISES_NOUNS, ComparedClaims

#: Of the claim's words, and of a sentence's words, so many must be in both, so that a clash is looked for. Some words
#: of the claim may be those that clash.
_OF_CLAIM, _OF_SENTENCE, _MAY_CLASH = 0.6, 0.3, 2
_AROUND = 250  # items of the passage on each side of the best sentence that are looked at
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+|[$€£¥%]")
_LONGEST = 200  # characters of a passage that are shown


def clashes(compared: ComparedClaims, is_asked: Bools) -> dict[int, Clash]:
    """What clashes, by the pair. Only those are looked at of which the claim and a sentence share many words."""
    words, lists = compared.words, _Lists(compared)
    first, _ = compared.best_two(np.ones(len(words.item)))
    other_forms = words.per_pair(words.is_covered & ~words.is_exact)
    sentence_words = compared.of_sentence(first, ~compared.evidence.texts.has(Mark.FUNCTION))
    is_close = first.value + other_forms >= _OF_SENTENCE * sentence_words
    is_close &= words.per_pair(words.is_covered) >= _OF_CLAIM * (words.count - _MAY_CLASH)
    pairs = np.flatnonzero(is_asked & is_close & (first.value > 0) & (words.count > 1))
    sentences = (first.slot - compared.slots[:-1] + compared.evidence.first_sentence[compared.pairs.evidence])[pairs]
    found = (
        (pair, first_clash(lists.case(pair, sentence)))
        for pair, sentence in zip(pairs.tolist(), sentences.tolist(), strict=True)
    )
    return {pair: clash for pair, clash in found if clash is not None}


class _Lists:
    """The words of claims and passages one by one, each text once."""

    def __init__(self, compared: ComparedClaims) -> None:
        self._compared = compared
        self._claims: dict[int, TokenList] = {}
        self._passages: dict[tuple[int, int], TokenList] = {}
        evidence = compared.evidence
        self._bounds: Ids = np.searchsorted(evidence.evidence, np.arange(compared.pairs.n_evidence + 1))
        self._sentences: Ids = np.searchsorted(evidence.sentence, np.arange(len(evidence.passage)))

    def case(self, pair: int, sentence: int) -> Case:
        """A claim and what stands around this sentence of the evidence."""
        compared = self._compared
        claim, number = int(compared.pairs.claim[pair]), int(compared.pairs.evidence[pair])
        if claim not in self._claims:
            self._claims[claim] = self._tokens(compared.claims, *compared.claims.starts[claim : claim + 2].tolist())
        at = int(self._sentences[sentence])
        first, last = self._bounds[number : number + 2].tolist()
        if last - first > 2 * _AROUND:
            first, last = max(first, at - _AROUND), min(last, at + _AROUND)
        if (first, last) not in self._passages:
            self._passages[first, last] = self._tokens(compared.evidence.texts, first, last)
        passage, vocab = self._passages[first, last], compared.vocabulary
        return Case(self._claims[claim], passage, passage.tokens[at - first].sentence, vocab.table, vocab.language)

    def _tokens(self, texts: Texts, first: int, last: int) -> TokenList:
        vocab = self._compared.vocabulary
        has_names = vocab.language != CAPITALISES_NOUNS
        return TokenList.of(texts, vocab.properties.words, first, last, has_names=has_names)


def clashing_words(claim: str, passage: str) -> tuple[str, str] | None:
    """The words of both that clash, as they are written, if they do.

    Where the passage says the opposite, or leaves out what the claim includes, the claim's words are empty.
    """
    from ragmeter.metrics.offline.support.model import compare  # which needs this module

    for block in compare([([claim], [passage])]):
        for clash in clashes(block.compared, np.ones(block.compared.pairs.count, bool)).values():
            return _as_written(clash.claim, claim), _as_written(clash.passage, passage)
    return None


def _as_written(words: str, text: str) -> str:
    """These folded words as they stand in the text; as they are, where they stand there in another form."""
    wanted = words.split()
    spans = [match.span() for match in _WORD.finditer(text)]
    folded = ["".join(words_and_figures(plain(text[begin:end]))) or text[begin:end] for begin, end in spans]
    for at in range(len(folded) - len(wanted) + 1):
        if wanted and folded[at : at + len(wanted)] == wanted:
            words = text[spans[at][0] : spans[at + len(wanted) - 1][1]]
            break
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
