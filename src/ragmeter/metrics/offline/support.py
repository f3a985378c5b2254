"""The offline support model: whether passages support a claim, from the texts alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.vocabulary import Floats, Texts, chunked, languages_of, vocabulary

#: From this probability on a claim counts as supported.
SUPPORTED = 0.5
_MIDDLE, _SLOPE = 0.7, 8.0  # of the curve from the share of words to a probability


def support(claims: Sequence[str], passages: Sequence[str]) -> Floats:
    """The probability that a passage supports a claim, for each claim (rows) and each passage (columns)."""
    if not claims or not passages:
        return np.zeros((len(claims), len(passages)))
    return np.stack([supported(claims, [passage]) for passage in passages], axis=1)


def supported(claims: Sequence[str], passages: Sequence[str]) -> Floats:
    """The probability that the passages together support a claim, for each claim."""
    if not claims:
        return np.zeros(0)
    texts, evidence = _texts(claims, passages)
    content = ~texts.has(Mark.FUNCTION)
    covered = np.isin(texts.root, evidence.root)
    share = texts.per_text(covered & content) / np.maximum(texts.per_text(content), 1)
    return 1 / (1 + np.exp(-_SLOPE * (share - _MIDDLE)))


def unsupported_words(claim: str, passages: Sequence[str]) -> list[tuple[int, int]]:
    """Where the words of the claim begin and end, in characters, that no passage supports."""
    words = claim.split()
    texts, evidence = _texts(words, passages) if words else (None, None)
    if texts is None or evidence is None:
        return []
    lacks = texts.per_text(~texts.has(Mark.FUNCTION) & ~np.isin(texts.root, evidence.root)) > 0
    spans, begin = [], 0
    for word, is_lacking in zip(words, lacks.tolist(), strict=True):
        begin = claim.index(word, begin)
        if is_lacking:
            spans.append((begin, begin + len(word)))
        begin += len(word)
    return spans


def _texts(claims: Sequence[str], passages: Sequence[str]) -> tuple[Texts, Texts]:
    split = chunked([" ".join(passages)]), chunked([" ".join(claims)])
    vocab = vocabulary(languages_of(*split)[0])
    return vocab.texts(chunked(claims)), vocab.texts(chunked(passages))
