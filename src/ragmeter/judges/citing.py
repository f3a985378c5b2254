"""Do the cited passages say what they are cited for? By a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragmeter.definition import metric
from ragmeter.definition.judge_columns import JUDGED_BY, Parts, PerCall, Support, judge_column
from ragmeter.judges.claims import declined
from ragmeter.judges.support import ALONE
from ragmeter.metrics.citations import NO_CITATIONS, NO_SENTENCES, citable, cited_sentences
from ragmeter.metrics.support import NO_CONTEXTS, SUPPORTED, Judged, as_passages
from ragmeter.table import Failed, Row

#: The label of a citation of a passage that does not exist, or has no text.
NO_PASSAGE = "no such passage"


def _pairs(row: Row) -> list[tuple[int, int, str]]:
    """Each citation: the sentence's number and the passage's, both from 1, and the sentence."""
    cited = enumerate(cited_sentences(row["answer"], row["contexts"]), 1)
    return [(number, rank, sentence.sentence) for number, sentence in cited for rank in sentence.passages]


def _split(row: Row, per_call: PerCall) -> list[dict[str, str]]:
    passages, known = as_passages(row["contexts"]), citable(row["contexts"])
    return [{"text": passages[rank - 1], "claims": sentence} for _, rank, sentence in _pairs(row) if rank in known]


def _join(row: Row, labels: list[Any]) -> list[list[Any]]:
    """For each sentence a list of its citations: the passage's number and the label."""
    remaining = iter(labels)
    known = citable(row["contexts"])
    by_sentence: list[list[Any]] = [[] for _ in cited_sentences(row["answer"], row["contexts"])]
    for number, rank, _ in _pairs(row):
        label = next(remaining)[0] if rank in known else NO_PASSAGE
        by_sentence[number - 1].append([rank, label])
    return by_sentence


def _without_calls(row: Row) -> Failed | None:
    """Why a row needs no judge: its answer declines, or it has no passages."""
    return declined(row) or (None if as_passages(row["contexts"]) else Failed(NO_CONTEXTS))


def _offline(rows: Sequence[Row], support: Support) -> list[Any]:
    pairs = [[(rank, text) for _, rank, text in _pairs(row)] for row in rows]
    passages = [as_passages(row["contexts"]) for row in rows]
    claims = [list(dict.fromkeys(text for _, text in own)) for own in pairs]
    values = []
    for row, own, texts, labels in zip(rows, pairs, claims, support.labels(claims, passages), strict=True):
        known = citable(row["contexts"])
        by_pair = [[labels[texts.index(text)][rank - 1]] for rank, text in own if rank in known]
        values.append(_join(row, by_pair))
    return values


citation_support = judge_column(
    "citation_support",
    words=ALONE["words"],
    form=ALONE["form"],
    labels=ALONE["labels"],
    structured=True,
    known=_without_calls,
    parts=Parts(("answer", "contexts"), _split, _join),
    settings=JUDGED_BY,
    offline=_offline,
)


@metric(direction="higher")
def citation_precision(
    citation_support: Sequence[Sequence[Any]], *, judge: Judged = "llm", support_model: str | None = None
) -> list[float | Failed]:
    """The share of the answer's citations whose passage supports the sentence that cites it.

    **Formula.** Citations whose passage supports the sentence, over all citations. One of a passage that does not
    exist, or has no text, supports nothing. The column `citation_support` is filled by the judge's model, one call for
    each citation.

    **Settings.** `judge=offline` asks the offline support model in place of a language model, `judge=encoder` the local
    classifier `support_model`.

    **Edge cases.** An answer without citations is `no_citations`, one that declines `abstained`: neither has a score. A
    sentence that only two passages together support is supported by neither.

    **Use it** where answers must name their sources. **Not** for statements without one: that is `citation_recall`.
    """
    scores: list[float | Failed] = []
    for sentences in citation_support:
        labels = [label for citations in sentences for _, label in citations]
        scores.append(labels.count(SUPPORTED) / len(labels) if labels else Failed(NO_CITATIONS))
    return scores


@metric(direction="higher")
def citation_recall(
    citation_support: Sequence[Sequence[Any]], *, judge: Judged = "llm", support_model: str | None = None
) -> list[float | Failed]:
    """The share of the answer's sentences that are supported by a passage they cite.

    **Formula.** Sentences with at least one citation whose passage supports them, over all sentences.

    **Settings.** `judge=offline` asks the offline support model in place of a language model, `judge=encoder` the local
    classifier `support_model`.

    **Edge cases.** An answer that declines is `abstained`, one without sentences `no_claims`: neither has a score. An
    answer without citations scores 0.

    **Use it** where every statement must name its source. **Not** for answers that are not meant to cite.
    """
    return [
        sum(any(label == SUPPORTED for _, label in citations) for citations in sentences) / len(sentences)
        if sentences
        else Failed(NO_SENTENCES)
        for sentences in citation_support
    ]
