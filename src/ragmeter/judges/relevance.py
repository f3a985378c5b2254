"""Is a passage of use for the answer, and does the answer address the question? By a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragmeter.definition import metric
from ragmeter.definition.judge_columns import Parts, PerCall, judge_column
from ragmeter.judges.asking.forms import Choice
from ragmeter.judges.asking.list_forms import Labels
from ragmeter.judges.claims import declined
from ragmeter.metrics.support import NO_CONTEXTS, NO_TEXT, as_passages, has_text
from ragmeter.table import UNPARSABLE, Failed, Row

RELEVANT, IRRELEVANT = "relevant", "irrelevant"
_RELEVANCE = {"relevant": 1.0, "partly": 0.5, "irrelevant": 0.0}


def _passages(row: Row, per_call: PerCall) -> list[dict[str, str]]:
    reference = row["reference"]
    shown = {
        "question": row["question"],
        "reference": reference if isinstance(reference, str) else "\nor: ".join(reference or ()),
    }
    return [{**shown, "passage": passage} for passage in as_passages(row["contexts"]) if has_text(passage)]


def _labels(row: Row, labels: list[Any]) -> list[str]:
    """A label for each passage; of one without text nothing was asked."""
    remaining = iter(labels)
    return [next(remaining)[0] if has_text(passage) else NO_TEXT for passage in as_passages(row["contexts"])]


passage_relevance = judge_column(
    "passage_relevance",
    words="{question}\n{reference}\n{passage}\n\nDoes the passage help to arrive at the correct answer?",
    form=Labels({"Yes": RELEVANT, "No": IRRELEVANT}, alone=True),
    optional=("reference",),
    structured=True,
    labels={"question": "Question", "reference": "Correct answer", "passage": "Passage"},
    parts=Parts(("question", "reference", "contexts"), _passages, _labels),
    instead="offline there is context_claim_precision[judge=offline], by the claims of the reference",
)

answer_relevance_label = judge_column(
    "answer_relevance_label",
    words="{question}\n{answer}\n\nDoes the answer address the question? Whether it is right does not matter here.",
    form=Choice("relevance", {"Fully": "relevant", "Partly": "partly", "Not": "irrelevant"}),
    known=declined,
    labels={"question": "Question", "answer": "Answer"},
    instead="offline there is offline_correct, which needs a reference and says whether the answer is right",
)


@metric(direction="higher")
def llm_context_precision(passage_relevance: Sequence[Sequence[str]]) -> list[float | Failed]:
    """Whether the passages that help are ranked before those that do not, as judged by a language model.

    **Formula.** The mean, over the passages that help to arrive at the answer, of the share of such passages down to
    its rank: average precision, and Ragas's context precision. 0 where no passage helps. The column `passage_relevance`
    is filled by the judge's model, with the reference if there is one.

    **Edge cases.** A row without passages is `no_contexts`, and has no score. A passage without text does not count.

    **Use it** where the data has no ids of relevant documents. **Not** where it has: `context_precision` compares ids,
    and `map` is the same formula over them.
    """
    scores: list[float | Failed] = []
    for given in passage_relevance:
        labels = [label for label in given if label != NO_TEXT]
        ranks = [rank for rank, label in enumerate(labels, 1) if label.casefold() == RELEVANT]
        precision = sum(place / rank for place, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0
        scores.append(precision if labels else Failed(NO_CONTEXTS))
    return scores


@metric(direction="higher")
def answer_relevance(answer_relevance_label: Sequence[str]) -> list[float | Failed]:
    """Whether the answer addresses the question, right or wrong, as judged by a language model.

    **Formula.** 1 if the model says that it does so fully, 0.5 if partly, 0 if not. Ragas and DeepEval mean the same by
    answer relevancy, but compute it in other ways: from generated questions, or sentence by sentence.

    **Edge cases.** An answer that declines is `abstained`, and has no score.

    **Use it** to find answers that are beside the point. **Not** for whether they are right: `llm_correct`.
    """
    return [_RELEVANCE.get(label, Failed(UNPARSABLE)) for label in answer_relevance_label]
