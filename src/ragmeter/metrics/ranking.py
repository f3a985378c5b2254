"""Metrics that compare the retrieved documents with the gold ones.

The order of the retrieved documents is their rank. A chunk counts as its document (in TREC's files by a pattern of the
user's alone), and a document counts once, at its first rank. A row without gold documents has no score; one that
retrieved nothing scores 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from ragmeter.definition import column, metric
from ragmeter.metrics.bags import Ids, Sides, bags, share
from ragmeter.metrics.chunks import CHUNK_MARK, Pattern, documents
from ragmeter.metrics.grades import Graded
from ragmeter.metrics.hits import IdLists, hits_by_sets
from ragmeter.metrics.tokens import text_array
from ragmeter.table import IDS_AS_WRITTEN, RELEVANCE_GRADES, Scores

_AT_ONCE = 2_048  # rows whose ids stay in a processor's cache


@dataclass(frozen=True)
class Ranked:
    """The gold documents that were retrieved: one entry per hit, by row and rank; and counts of documents by row."""

    row: Ids
    rank: Ids
    gold: Ids
    retrieved: Ids

    @classmethod
    def joined(cls, parts: Sequence[Ranked]) -> Ranked:
        """The rows of several parts, one after another."""
        if len(parts) == 1:
            return parts[0]
        sizes = [len(part.gold) for part in parts]
        befores = np.cumsum([0, *sizes])
        return cls(
            np.concatenate([part.row + before for part, before in zip(parts, befores, strict=False)]),
            np.concatenate([part.rank for part in parts]),
            np.concatenate([part.gold for part in parts]),
            np.concatenate([part.retrieved for part in parts]),
        )

    def hits(self, k: int | None = None) -> Ids:
        """How many gold documents each row has among its first k."""
        return np.bincount(self.row if k is None else self.row[self.rank <= k], minlength=len(self.gold))

    def total(self, values: Scores, k: int | None = None) -> Scores:
        """The sum of a value per hit over each row's first k documents."""
        within = slice(None) if k is None else self.rank <= k
        return np.asarray(np.bincount(self.row[within], values[within], len(self.gold)), dtype=np.float64)


@column(may_lack=(IDS_AS_WRITTEN,))
def ranked(
    relevant: IdLists, retrieved: IdLists, ids_as_written: Sequence[str | None], *, doc_id: str | None
) -> Ranked:
    """The ranks at which each row's gold documents were retrieved."""
    as_written = any(ids_as_written)
    if doc_id is not None:  # a user's pattern is searched once for in each distinct id
        return by_documents(relevant, retrieved, doc_id)
    parts = [slice(start, start + _AT_ONCE) for start in range(0, max(1, len(relevant)), _AT_ONCE)]
    return Ranked.joined([_part(relevant[rows], retrieved[rows], as_written) for rows in parts])


def _part(relevant: IdLists, retrieved: IdLists, as_written: bool) -> Ranked:
    hits = hits_by_sets(relevant, retrieved, None if as_written else CHUNK_MARK)
    return by_documents(relevant, retrieved, as_written=as_written) if hits is None else Ranked(*hits)


def by_documents(
    relevant: IdLists, retrieved: IdLists, doc_id: str | None = None, *, as_written: bool = False
) -> Ranked:
    """Ranked documents for any ids: those of chunks are made into those of documents, which count once."""
    rows = len(relevant)
    counts = np.fromiter(chain(map(len, relevant), map(len, retrieved)), np.int64, 2 * rows)
    starts = np.concatenate([[0], np.cumsum(counts)])
    names = text_array(list(chain(chain.from_iterable(relevant), chain.from_iterable(retrieved))))
    groups = bags(Sides(documents(names, doc_id, as_written=as_written), starts))

    is_retrieved = groups.answer_counts > 0
    is_gold = groups.reference_counts > 0
    first_place = groups.order[(groups.firsts + groups.reference_counts)[is_retrieved]]
    is_first = np.zeros(int(starts[-1]), dtype=np.int64)
    is_first[first_place] = 1
    before = np.concatenate([[0], np.cumsum(is_first)])
    is_hit = is_gold[is_retrieved]
    row, place = groups.pair[is_retrieved][is_hit], first_place[is_hit]
    in_order = np.argsort(place, kind="stable")
    row, place = row[in_order], place[in_order]
    rank = before[place] - before[starts[rows + row]] + 1
    return Ranked(
        row,
        rank,
        gold=np.bincount(groups.pair[is_gold], minlength=rows),
        retrieved=np.bincount(groups.pair[is_retrieved], minlength=rows),
    )


@metric(direction="higher", judged_twin="context_claim_recall")
def context_recall(ranked: Ranked, *, doc_id: Pattern | None = None) -> Scores:
    """Share of the gold documents that were retrieved, at any rank.

    **Formula.** `|retrieved ∩ gold| / |gold|`, over distinct documents.

    **Edge cases.** Nothing retrieved: 0. No gold documents: no score (`no_relevant`).

    **Use it** when the generator gets everything that was retrieved. **Not** to compare systems that retrieve different
    numbers of documents: more always helps. There use `recall@k`. Ragas and DeepEval mean by context recall what a
    model says about the passages themselves: that is `context_claim_recall`.
    """
    return share(ranked.hits(), ranked.gold)


@metric(direction="higher", judged_twin="llm_context_precision")
def context_precision(ranked: Ranked, *, doc_id: Pattern | None = None) -> Scores:
    """Share of the retrieved documents that are gold documents.

    **Formula.** `|retrieved ∩ gold| / |retrieved|`, over distinct documents.

    **Edge cases.** Nothing retrieved: 0. No gold documents: no score (`no_relevant`).

    **Use it** when irrelevant context costs money or misleads the generator. **Not** when there are only one or two
    gold documents and ten are always retrieved: it can't exceed 0.2 then. Ragas and DeepEval mean by context precision
    what a model says about the passages themselves: that is `llm_context_precision`.
    """
    return share(ranked.hits(), ranked.retrieved)


@metric(direction="higher")
def context_f1(ranked: Ranked, *, doc_id: Pattern | None = None) -> Scores:
    """Harmonic mean of context precision and recall.

    **Formula.** `2PR / (P + R)` = `2 |retrieved ∩ gold| / (|retrieved| + |gold|)`.

    **Edge cases.** Nothing retrieved, or nothing in common: 0. No gold documents: no score (`no_relevant`).

    **Use it** when the number of retrieved documents varies and both sides matter. **Not** where precision is
    meaningless (see `context_precision`).
    """
    return share(2 * ranked.hits(), ranked.retrieved + ranked.gold)


@metric(direction="higher", may_lack=(RELEVANCE_GRADES,))
def ndcg(
    ranked: Ranked,
    graded: Graded | None,
    *,
    k: int | None = None,
    doc_id: Pattern | None = None,
    gains: Literal["linear", "exponential", "binary"] = "linear",
) -> Scores:
    """Normalised discounted cumulative gain: are the gold documents at the top?

    **Formula.** `DCG@k / IDCG@k`: `DCG` sums `gain / log2(rank + 1)` over the gold documents within the first k, `IDCG`
    is the same for an ideal ranking of *all* gold documents, cut at k. Without k, the whole list. The gain is 1; where
    the gold documents have grades (TREC qrels), it is the grade, as in trec_eval, or `2^grade - 1` with
    `[gains=exponential]`. `[gains=binary]` ignores grades.

    **Edge cases.** Nothing retrieved: 0. No gold documents: no score (`no_relevant`).

    **Use it** to compare retrievers and rerankers, where order matters. **Not** when the generator sees all k
    documents anyway: there recall matters.
    """
    if graded is not None and gains != "binary":
        return _graded_ndcg(graded, k, exponential=gains == "exponential")
    limit = int(min(ranked.gold.max(initial=0), k or math.inf))
    ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(limit) + 2))])
    return share(ranked.total(1 / np.log2(ranked.rank + 1), k), ideal[np.minimum(ranked.gold, limit)])


def _graded_ndcg(graded: Graded, k: int | None, *, exponential: bool) -> Scores:
    def gains(grades: Scores) -> Scores:
        positive = np.maximum(grades, 0.0)  # some collections have grades below 0, for spam
        return np.exp2(positive) - 1 if exponential else positive

    ideal = graded.discounted(gains(graded.ideal_grade), ideal=True, k=k)
    return share(graded.discounted(gains(graded.grade), ideal=False, k=k), ideal)


@metric(direction="higher")
def recall(ranked: Ranked, *, k: int | None = None, doc_id: Pattern | None = None) -> Scores:
    """Share of the gold documents among the first k.

    **Formula.** `|first k ∩ gold| / |gold|`. Without k it is `context_recall`.

    **Edge cases.** Nothing retrieved: 0. No gold documents: no score (`no_relevant`).

    **Use it** with the k that the generator sees. **Not** with a k below the number of gold documents: it can't reach
    1 then.
    """
    return share(ranked.hits(k), ranked.gold)


@metric(direction="higher")
def precision(ranked: Ranked, *, k: int | None = None, doc_id: Pattern | None = None) -> Scores:
    """Share of gold documents among the first k.

    **Formula.** `|first k ∩ gold| / k`; the divisor is k even if fewer were retrieved, as in trec_eval. Without k it is
    `context_precision`.

    **Edge cases.** Nothing retrieved: 0. No gold documents: no score (`no_relevant`).

    **Use it** when there are many gold documents. **Not** with one or two: it can't exceed their number over k.
    """
    return share(ranked.hits(k), ranked.retrieved if k is None else np.full_like(ranked.gold, k))


@metric(direction="higher", binary=True)
def hit(ranked: Ranked, *, k: int | None = None, doc_id: Pattern | None = None) -> Scores:
    """1 if at least one gold document is among the first k, else 0.

    **Formula.** `|first k ∩ gold| > 0`. Without k, anywhere in the list.

    **Edge cases.** Nothing retrieved: 0. No gold documents: no score (`no_relevant`).

    **Use it** when one good document is enough to answer. **Not** for questions that need several: it ignores all but
    the first.
    """
    return (ranked.hits(k) > 0).astype(np.float64)


@metric(direction="higher")
def mrr(ranked: Ranked, *, k: int | None = None, doc_id: Pattern | None = None) -> Scores:
    """Reciprocal rank of the first gold document; its mean over the rows is the MRR.

    **Formula.** `1 / rank` of the first gold document within the first k, or 0 if there is none.

    **Edge cases.** Nothing retrieved: 0. No gold documents: no score (`no_relevant`).

    **Use it** when only the first good document matters. **Not** for questions that need several.
    """
    first = np.concatenate([np.ones(min(1, len(ranked.row)), dtype=bool), np.diff(ranked.row) > 0])
    return ranked.total(first / ranked.rank, k)


@metric(direction="higher", name="map")
def average_precision(ranked: Ranked, *, k: int | None = None, doc_id: Pattern | None = None) -> Scores:
    """Average precision; its mean over the rows is the MAP.

    **Formula.** The sum of `precision@rank` over the ranks of the gold documents found (within the first k), divided
    by the number of *all* gold documents.

    **Edge cases.** Nothing retrieved: 0. No gold documents: no score (`no_relevant`).

    **Use it** for one number over the whole ranking with several gold documents. **Not** if you must explain it
    quickly: `recall@k` and `mrr` are easier to understand.
    """
    place = np.arange(len(ranked.row))
    begins = np.searchsorted(ranked.row, ranked.row)  # each row's first hit: hits are sorted by row
    return share(ranked.total((place - begins + 1) / ranked.rank, k), ranked.gold)


@metric(direction="none", bounds=(0, math.inf))
def retrieved_docs_count(ranked: Ranked, *, doc_id: Pattern | None = None) -> Scores:
    """Number of distinct documents retrieved.

    **Formula.** `|retrieved|`.

    **Edge cases.** Nothing retrieved: 0. No gold documents: no score (`no_relevant`), as for the other counts.

    **Use it** to see whether chunks of few documents fill the list. **Not** as a measure of quality.
    """
    return ranked.retrieved.astype(np.float64)


@metric(direction="none", bounds=(0, math.inf))
def gold_docs_count(ranked: Ranked, *, doc_id: Pattern | None = None) -> Scores:
    """Number of distinct gold documents.

    **Formula.** `|gold|`.

    **Edge cases.** No gold documents: no score (`no_relevant`).

    **Use it** to interpret precision and `recall@k`: both are bounded by it. **Not** as a measure of quality.
    """
    return ranked.gold.astype(np.float64)


@metric(direction="higher", bounds=(0, math.inf))
def correct_docs_count(ranked: Ranked, *, doc_id: Pattern | None = None) -> Scores:
    """Number of distinct gold documents that were retrieved.

    **Formula.** `|retrieved ∩ gold|`.

    **Edge cases.** Nothing retrieved: 0. No gold documents: no score (`no_relevant`).

    **Use it** beside the two other counts. **Not** to compare questions with different numbers of gold documents.
    """
    return ranked.hits().astype(np.float64)


@metric(direction="none")
def judged(judgements: Graded, *, k: int | None = None, doc_id: Pattern | None = None) -> Scores:
    """Share of the first k documents that somebody has judged, as relevant or not.

    **Formula.** `|first k that have a grade| / |first k|`, over the documents that were retrieved: fewer than k if the
    list is shorter. Without k, the whole list.

    **Edge cases.** Nothing retrieved: no score (`undefined`). No judgements of this query: no score.

    **Use it** beside `ndcg@k` on TREC qrels: documents without a judgement count as not relevant, and a new system may
    find good ones that no assessor has seen. **Not** as a measure of quality.
    """
    looked_at = judgements.retrieved if k is None else np.minimum(judgements.retrieved, k)
    return np.where(looked_at > 0, share(judgements.count(k), looked_at), np.nan)


@metric(direction="none", bounds=(0, math.inf))
def unjudged_docs_count(judgements: Graded, *, k: int | None = None, doc_id: Pattern | None = None) -> Scores:
    """Number of documents among the first k that nobody has judged.

    **Formula.** `|first k| - |first k that have a grade|`. Without k, the whole list.

    **Edge cases.** Nothing retrieved: 0. No judgements of this query: no score.

    **Use it** to know how many judgements are missing. **Not** as a measure of quality.
    """
    looked_at = judgements.retrieved if k is None else np.minimum(judgements.retrieved, k)
    return np.asarray(looked_at - judgements.count(k), dtype=np.float64)
