"""Metrics over claims and what supports them, by RAGChecker's formulas. A judge fills the columns, or nobody: offline.

Every denominator is a number of claims or of passages that there are, never of verdicts that a model happened to give.
A row whose denominator is 0 has no score: it is counted with its cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmeter.definition import metric
from ragmeter.metrics.support import NO_CONTEXTS, NO_TEXT, Judged, is_supported
from ragmeter.table import NO_CLAIMS, NOTHING_TO_USE, Failed

Labels = Sequence[Sequence[str]]
#: For each row, each claim and each passage a label.
LabelsByPassage = Sequence[Sequence[Sequence[str]]]
_Flags = npt.NDArray[np.bool_]
_Share = float | Failed


def _shares(share: Callable[..., _Share], *columns: Sequence[Any]) -> list[_Share]:
    """A share for each row, from the flags of its claims; a row without claims or passages has none."""
    return [
        _unscorable(labels) or share(*(is_supported(row) for row in labels)) for labels in zip(*columns, strict=True)
    ]


def _unscorable(labels: Sequence[Sequence[Any]]) -> Failed | None:
    for row in labels:
        if not row:
            return Failed(NO_CLAIMS)
        if not isinstance(row[0], str) and not row[0]:
            return Failed(NO_CONTEXTS)
    return None


@metric(direction="higher", claims=("claims", "reference"))
def claim_precision(
    support_by_reference: Labels, *, judge: Judged = "llm", support_model: str | None = None
) -> list[_Share]:
    """The share of the answer's claims that the reference supports.

    **Formula.** Claims of the answer that the reference supports, over the claims of the answer: RAGChecker's overall
    precision. The columns `claims` and `support_by_reference` are filled by the judge's model.

    **Settings.** `judge=offline` asks no model: the claims are sentences and clauses, and the offline support model
    labels them. With `judge=encoder` the local classifier `support_model` labels them.

    **Edge cases.** An answer that declines is `abstained`, one that claims nothing `no_claims`: neither has a score.

    **Use it** for long answers with a long reference. **Not** for a reference of a few words, which leaves out much
    that is true: `llm_correct` is for those.
    """
    return _shares(lambda by_reference: float(by_reference.mean()), support_by_reference)


@metric(direction="higher", claims=("reference_claims", "answer"))
def claim_recall(
    reference_support_by_answer: Labels, *, judge: Judged = "llm", support_model: str | None = None
) -> list[_Share]:
    """The share of the reference's claims that the answer has.

    **Formula.** Claims of the reference that the answer supports, over the claims of the reference: RAGChecker's
    overall recall. The columns `reference_claims` and `reference_support_by_answer` are filled by the judge's model. Of
    several acceptable references, the claims are those of the first.

    **Settings.** `judge=offline` asks no model: the claims are sentences and clauses, and the offline support model
    labels them. With `judge=encoder` the local classifier `support_model` labels them.

    **Edge cases.** A reference that claims nothing is `no_claims`, an answer that declines `abstained`: neither has
    a score.

    **Use it** to see what long answers leave out. **Not** for what was retrieved: that is `context_claim_recall`.
    """
    return _shares(lambda by_answer: float(by_answer.mean()), reference_support_by_answer)


@metric(direction="higher")
def claim_f1(
    support_by_reference: Labels,
    reference_support_by_answer: Labels,
    *,
    judge: Judged = "llm",
    support_model: str | None = None,
) -> list[_Share]:
    """The harmonic mean of `claim_precision` and `claim_recall`.

    **Formula.** `2PR / (P + R)`, and 0 where both are 0: RAGChecker's overall F1.

    **Settings.** `judge=offline` asks no model: the claims are sentences and clauses, and the offline support model
    labels them. With `judge=encoder` the local classifier `support_model` labels them.

    **Edge cases.** Those of its two parts.

    **Use it** as the one number for long answers. **Not** alone: the two parts say what to change.
    """

    def f1(by_reference: _Flags, by_answer: _Flags) -> float:
        precision, recall = by_reference.mean(), by_answer.mean()
        return float(2 * precision * recall / (precision + recall)) if precision + recall else 0.0

    return _shares(f1, support_by_reference, reference_support_by_answer)


@metric(direction="higher", claims=("reference_claims", "contexts"))
def context_claim_recall(
    reference_support_by_passages: LabelsByPassage, *, judge: Judged = "llm", support_model: str | None = None
) -> list[_Share]:
    """The share of the reference's claims that some retrieved passage supports: what could have been answered.

    **Formula.** Claims of the reference that at least one passage supports, over the claims of the reference:
    RAGChecker's claim recall of the retriever, and Ragas's context recall.

    **Settings.** `judge=offline` asks no model: the claims are sentences and clauses, and the offline support model
    labels them. With `judge=encoder` the local classifier `support_model` labels them.

    **Edge cases.** A row without passages is `no_contexts`, a reference without claims `no_claims`: neither has a
    score.

    **Use it** for a retriever whose data has no ids of relevant documents. **Not** where it has: `context_recall`
    compares ids, and costs nothing.
    """
    return _shares(lambda by_passages: float(by_passages.any(axis=1).mean()), reference_support_by_passages)


@metric(direction="higher")
def context_claim_precision(
    reference_support_by_passages: LabelsByPassage, *, judge: Judged = "llm", support_model: str | None = None
) -> list[_Share]:
    """The share of the retrieved passages that support some claim of the reference.

    **Formula.** Passages that support at least one claim of the reference, over the passages: RAGChecker's context
    precision.

    **Settings.** `judge=offline` asks no model: the claims are sentences and clauses, and the offline support model
    labels them. With `judge=encoder` the local classifier `support_model` labels them.

    **Edge cases.** As for `context_claim_recall`. A passage without text does not count.

    **Use it** to see how much of what was retrieved is of use. **Not** where the data has ids of relevant documents:
    `context_precision` compares those.
    """
    with_text = [
        [[label for label in by_passage if label != NO_TEXT] for by_passage in row]
        for row in reference_support_by_passages
    ]
    return _shares(lambda by_passages: float(by_passages.any(axis=0).mean()), with_text)


@metric(direction="higher")
def context_utilization(
    reference_support_by_passages: LabelsByPassage,
    reference_support_by_answer: Labels,
    *,
    judge: Judged = "llm",
    support_model: str | None = None,
) -> list[_Share]:
    """The share of the reference's retrieved claims that the answer uses.

    **Formula.** Claims of the reference that both some passage and the answer support, over those that some passage
    supports: RAGChecker's context utilization.

    **Settings.** `judge=offline` asks no model: the claims are sentences and clauses, and the offline support model
    labels them. With `judge=encoder` the local classifier `support_model` labels them.

    **Edge cases.** Where no passage supports a claim of the reference there is nothing to use: the row is
    `nothing_to_use`, and has no score. RAGChecker gives it 0.

    **Use it** to tell a generator that leaves things out from a retriever that misses them. **Not** by itself: a
    retriever that finds little makes it easy.
    """

    def used(by_passages: _Flags, by_answer: _Flags) -> _Share:
        retrieved = by_passages.any(axis=1)
        return float(by_answer[retrieved].mean()) if retrieved.any() else Failed(NOTHING_TO_USE)

    return _shares(used, reference_support_by_passages, reference_support_by_answer)


@metric(direction="higher", claims=("claims", "contexts"))
def faithfulness(
    support_by_passages: LabelsByPassage, *, judge: Judged = "llm", support_model: str | None = None
) -> list[_Share]:
    """The share of the answer's claims that some retrieved passage supports.

    **Formula.** Claims of the answer that at least one passage supports, over the claims of the answer: RAGChecker's
    and Ragas's faithfulness. The columns `claims` and `support_by_passages` are filled by the judge's model, which is
    asked about each passage by itself, or about several together (`--judge-passages-per-call`).

    **Settings.** `judge=offline` asks no model: the claims are sentences and clauses, and the offline support model
    labels them. With `judge=encoder` the local classifier `support_model` labels them.

    **Edge cases.** An answer that declines is `abstained`, one that claims nothing `no_claims`, a row without passages
    `no_contexts`: none has a score. A claim that only two passages together support counts as unsupported, unless
    the model is shown both at once.

    **Use it** to see whether the answers keep to what was retrieved. **Not** for whether they are right: a passage may
    be wrong or beside the point.
    """
    return _shares(lambda by_passages: float(by_passages.any(axis=1).mean()), support_by_passages)


@metric(direction="lower")
def hallucination(
    support_by_reference: Labels,
    support_by_passages: LabelsByPassage,
    *,
    judge: Judged = "llm",
    support_model: str | None = None,
) -> list[_Share]:
    """The share of the answer's claims that are wrong and that no passage supports.

    **Formula.** Claims of the answer that neither the reference nor any passage supports, over the claims of the
    answer: RAGChecker's hallucination.

    **Settings.** `judge=offline` asks no model: the claims are sentences and clauses, and the offline support model
    labels them. With `judge=encoder` the local classifier `support_model` labels them.

    **Edge cases.** As for `faithfulness`.

    **Use it** for what the generator made up. **Not** without a long reference: what that leaves out counts as wrong.
    DeepEval's hallucination needs none; here that is 1 − `faithfulness`, or `offline_hallucination`.
    """
    return _shares(
        lambda by_reference, by_passages: float((~by_reference & ~by_passages.any(axis=1)).mean()),
        support_by_reference,
        support_by_passages,
    )


@metric(direction="none")
def self_knowledge(
    support_by_reference: Labels,
    support_by_passages: LabelsByPassage,
    *,
    judge: Judged = "llm",
    support_model: str | None = None,
) -> list[_Share]:
    """The share of the answer's claims that are right and that no passage supports: what the model knew by itself.

    **Formula.** Claims of the answer that the reference supports and no passage does, over the claims of the answer:
    RAGChecker's self-knowledge.

    **Settings.** `judge=offline` asks no model: the claims are sentences and clauses, and the offline support model
    labels them. With `judge=encoder` the local classifier `support_model` labels them.

    **Edge cases.** As for `faithfulness`.

    **Use it** to see how far the answers come from the passages at all. **Not** as good or bad: that depends on whether
    the generator is meant to keep to the passages.
    """
    return _shares(
        lambda by_reference, by_passages: float((by_reference & ~by_passages.any(axis=1)).mean()),
        support_by_reference,
        support_by_passages,
    )


@metric(direction="lower")
def noise_sensitivity_in_relevant(
    support_by_reference: Labels,
    support_by_passages: LabelsByPassage,
    reference_support_by_passages: LabelsByPassage,
    *,
    judge: Judged = "llm",
    support_model: str | None = None,
) -> list[_Share]:
    """The share of the answer's claims that are wrong and come from a relevant passage.

    **Formula.** Claims of the answer that the reference does not support and that a relevant passage does, over the
    claims of the answer; a passage is relevant if it supports some claim of the reference. RAGChecker's noise
    sensitivity in relevant passages.

    **Settings.** `judge=offline` asks no model: the claims are sentences and clauses, and the offline support model
    labels them. With `judge=encoder` the local classifier `support_model` labels them.

    **Edge cases.** As for `faithfulness` and `context_claim_recall`.

    **Use it** to see how well the generator tells what matters in a passage. **Not** without a long reference.
    """
    return _shares(_wrong_from_relevant, support_by_reference, support_by_passages, reference_support_by_passages)


@metric(direction="lower")
def noise_sensitivity_in_irrelevant(
    support_by_reference: Labels,
    support_by_passages: LabelsByPassage,
    reference_support_by_passages: LabelsByPassage,
    *,
    judge: Judged = "llm",
    support_model: str | None = None,
) -> list[_Share]:
    """The share of the answer's claims that are wrong and come from irrelevant passages alone.

    **Formula.** As `noise_sensitivity_in_relevant`, with claims that no relevant passage supports and an irrelevant one
    does. RAGChecker's noise sensitivity in irrelevant passages.

    **Settings.** `judge=offline` asks no model: the claims are sentences and clauses, and the offline support model
    labels them. With `judge=encoder` the local classifier `support_model` labels them.

    **Edge cases.** As for `faithfulness` and `context_claim_recall`.

    **Use it** to see whether passages that are beside the point mislead the generator. **Not** without a long
    reference.
    """
    return _shares(_wrong_from_irrelevant, support_by_reference, support_by_passages, reference_support_by_passages)


def _wrong_from_relevant(by_reference: _Flags, by_passages: _Flags, reference_by_passages: _Flags) -> float:
    from_relevant = (by_passages & reference_by_passages.any(axis=0)).any(axis=1)
    return float((from_relevant & ~by_reference).mean())


def _wrong_from_irrelevant(by_reference: _Flags, by_passages: _Flags, reference_by_passages: _Flags) -> float:
    from_relevant = (by_passages & reference_by_passages.any(axis=0)).any(axis=1)
    return float((by_passages.any(axis=1) & ~from_relevant & ~by_reference).mean())
