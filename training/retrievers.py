"""Fourteen retrievers, from bad to good, which test sets are to rank. All score documents; the best chunk counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import normalize

from ragmeter.metrics.normalize import fold, stemmer, words

Array = npt.NDArray[np.float32]
#: Vectors of texts.
Embed = Callable[[list[str]], Array]
Analyze = Callable[[str], list[str]]


@dataclass(frozen=True)
class Setting:
    """A retriever: its name, how it scores chunks, and how many words its chunks have, if it cuts documents."""

    name: str
    scores: Callable[[list[str], list[str]], Array]
    chunk: int | None = None


def settings(language: str, static: Embed, transformer: Embed) -> list[Setting]:
    """The retrievers for a language."""
    stems = partial(_stems, language=language)
    return [
        Setting("BM25, stems", partial(_bm25, stems)),
        Setting("BM25, stems, chunks of 20 words", partial(_bm25, stems), 20),
        Setting("BM25, stems, the first 60 words", partial(_bm25, stems, longest=60)),
        Setting("BM25, words, k1 = 0", partial(_bm25, _words, k1=0.0)),
        Setting("TF-IDF, words", partial(_cosine, _words)),
        Setting("counts, words", partial(_cosine, _words, idf=False)),
        Setting("TF-IDF, 5 characters", partial(_cosine, partial(_characters, n=5))),
        Setting("counts, 3 characters", partial(_cosine, partial(_characters, n=3), idf=False)),
        Setting("LSA, 100 dimensions", partial(_cosine, stems, dimensions=100)),
        Setting("LSA, 25 dimensions", partial(_cosine, stems, dimensions=25)),
        Setting("static vectors", partial(_embedded, static)),
        Setting("static vectors, chunks of 15 words", partial(_embedded, static), 15),
        Setting("transformer", partial(_embedded, transformer)),
        Setting("transformer, chunks of 40 words", partial(_embedded, transformer), 40),
    ]


def ranks(setting: Setting, documents: Sequence[str], questions: Sequence[str], gold: npt.NDArray[np.int64]) -> Array:
    """The rank of each question's gold document, from 1. Equal scores share the mean of their ranks."""
    chunks, owners = _cut(documents, setting.chunk) if setting.chunk else (list(documents), np.arange(len(documents)))
    scores = setting.scores(chunks, list(questions))
    starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
    best = np.maximum.reduceat(scores, starts, axis=1)
    of_gold = best[np.arange(len(gold)), gold][:, None]
    better, equal = (best > of_gold).sum(axis=1), (best == of_gold).sum(axis=1)
    return np.asarray(1 + better + (equal - 1) / 2, dtype=np.float32)


def _cut(documents: Sequence[str], size: int) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Chunks of so many words that overlap by half, and which document each is from."""
    chunks, owners = [], []
    for place, document in enumerate(documents):
        parts = document.split()
        for start in range(0, max(1, len(parts) - size // 2), size // 2):
            chunks.append(" ".join(parts[start : start + size]))
            owners.append(place)
    return chunks, np.array(owners)


def _words(text: str) -> list[str]:
    return words(fold(text))


def _stems(text: str, language: str) -> list[str]:
    stem = stemmer(language)
    return stem.stemWords(_words(text)) if stem else _words(text)


def _characters(text: str, n: int) -> list[str]:
    joined = f" {' '.join(_words(text))} "
    return [joined[start : start + n] for start in range(len(joined) - n + 1)]


def _counted(analyze: Analyze, chunks: list[str], questions: list[str]) -> tuple[Any, Any]:
    counter = CountVectorizer(analyzer=analyze)
    return counter.fit_transform(chunks).astype(np.float64), counter.transform(questions).astype(np.float64)


def _bm25(
    analyze: Analyze,
    chunks: list[str],
    questions: list[str],
    k1: float = 1.2,
    b: float = 0.75,
    longest: int | None = None,
) -> Array:
    if longest is not None:
        chunks = [" ".join(chunk.split()[:longest]) for chunk in chunks]
    counts, asked = _counted(analyze, chunks, questions)
    frequencies = np.diff(counts.tocsc().indptr)
    idf = np.log1p((len(chunks) - frequencies + 0.5) / (frequencies + 0.5))
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    weights = counts.tocoo()
    saturation = k1 * (1 - b + b * lengths / lengths.mean())
    values = weights.data * (k1 + 1) / (weights.data + saturation[weights.row]) * idf[weights.col]
    weighted = sparse.csr_matrix((values, (weights.row, weights.col)), shape=counts.shape)
    return np.asarray((asked @ weighted.T).toarray(), dtype=np.float32)


def _cosine(
    analyze: Analyze, chunks: list[str], questions: list[str], *, idf: bool = True, dimensions: int | None = None
) -> Array:
    counts, asked = _counted(analyze, chunks, questions)
    weigh = TfidfTransformer(use_idf=idf, sublinear_tf=idf).fit(counts)
    left, right = weigh.transform(asked), weigh.transform(counts)
    if dimensions is not None:
        latent = TruncatedSVD(min(dimensions, len(chunks) - 1), random_state=1).fit(right)
        left, right = normalize(latent.transform(left)), normalize(latent.transform(right))
        return np.asarray(np.round(left @ right.T, 6), dtype=np.float32)
    return np.asarray((left @ right.T).toarray(), dtype=np.float32)


def _embedded(embed: Embed, chunks: list[str], questions: list[str]) -> Array:
    left, right = normalize(embed(questions)), normalize(embed(chunks))
    return np.asarray(left @ right.T, dtype=np.float32)
