"""Metrics of meaning: the similarity of two texts' embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from ragmeter.definition import column, embedded, metric
from ragmeter.table import Embeddings, Scores

if TYPE_CHECKING:
    from ragmeter.embedders.embedder import Embedders

_AT_ONCE = 4096  # pairs whose vectors are compared at once


class Prefix(str):
    """The text put in front of both texts: `query` and `passage` are short for those of the e5 family."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """The prefix in its short form, if it has one."""
        word = text.strip().removesuffix(":")
        return cls(word if word in ("query", "passage") else text)

    def in_full(self) -> str:
        """The prefix as the model gets it."""
        return f"{self}: " if self in ("query", "passage") else str(self)


@embedded
def embeddings(
    models: Embedders | None,
    reference: Sequence[str],
    answer: Sequence[str],
    *,
    model: str | None = None,
    base_url: str | None = None,
    prefix: Prefix | None = None,
) -> Embeddings:
    """The vectors of both sides, from the run's models; each distinct text is embedded once."""
    from ragmeter.embedders.embedder import embed, plain

    places: dict[str, int] = {}
    raw = {text: "" for side in (reference, answer) for text in side}
    for text in raw:
        raw[text] = plain(text)
        if raw[text]:
            places.setdefault(raw[text], len(places))
    in_front = None if prefix is None else Prefix.parse(prefix).in_full()
    vectors = embed(list(places), model, base_url, in_front, models) if places else np.zeros((0, 1), dtype=np.float32)
    places[""] = len(vectors)
    vectors = np.concatenate([vectors, np.zeros((1, vectors.shape[1]), dtype=np.float32)])
    sides = [np.fromiter((places[raw[text]] for text in side), np.int64, len(side)) for side in (reference, answer)]
    return Embeddings(vectors, sides[0], sides[1])


@column
def similarities(
    embeddings: Embeddings, *, model: str | None = None, base_url: str | None = None, prefix: Prefix | None = None
) -> Scores:
    """The cosine of each pair's vectors."""
    scores = np.empty(len(embeddings.answer), dtype=np.float64)
    for start in range(0, len(scores), _AT_ONCE):
        pairs = slice(start, start + _AT_ONCE)
        reference = embeddings.vectors[embeddings.reference[pairs]]
        answer = embeddings.vectors[embeddings.answer[pairs]]
        scores[pairs] = np.einsum("ij,ij->i", reference, answer)
    scores[embeddings.reference == embeddings.answer] = 1.0
    return np.clip(scores, -1.0, 1.0)


@metric(direction="higher", bounds=(-1.0, 1.0))
def semantic_similarity(
    similarities: Scores, *, model: str | None = None, base_url: str | None = None, prefix: Prefix | None = None
) -> Scores:
    """Cosine of the embeddings of the two texts: similarity of meaning, in any words.

    **Formula.** `a · b / (|a| |b|)`, with `a` and `b` the model's vectors of the answer and the reference. `model` is a
    name on the hub, such as `intfloat/multilingual-e5-base`, a folder, `openai:NAME` behind the endpoint `base_url`, or
    `wordllama`. Nothing is fetched that was not named: without a model it is `wordllama`, whose files come with its
    package, and the run says so. `prefix` is put in front of both texts: `query` (`query: `), `passage` (`passage: `),
    or your own text. By default models of the e5 family get `query`, as their authors advise for texts of the same
    kind, and others what their own files say. The tool that this metric comes from put `passage: ` before both texts:
    `prefix=passage` gives its values. Texts are compared after NFC and without white space at their ends. A text that
    is too long for the model is cut, and the run reports how many were. Needs the extra `semantic`.

    **Edge cases.** Identical texts: 1, also when both are empty. One empty: 0.

    **Use it** for answers in free words, and across languages with a multilingual model. Compare systems and rank
    answers with it: cosines of e5 models lie between 0.7 and 1, so a fixed threshold from another model does not fit.
    **Not** where a number, a name or a "not" decides: "it is 3" and "it is 4" are very similar.
    """
    return similarities
