"""Nuggets: facts that an answer should have, as in TREC RAG. A vital one must be there, an okay one may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragmeter.definition import metric
from ragmeter.metrics.support import Judged
from ragmeter.table import UNPARSABLE, Failed

VITAL, OKAY = "vital", "okay"
SUPPORT, PARTIAL, NONE = "support", "partial support", "no support"
NO_NUGGETS = "no_nuggets"
_LABELS = {
    SUPPORT: 1.0, "supported": 1.0, PARTIAL: 0.5, "partial": 0.5, "partial_support": 0.5, NONE: 0.0, "not_support": 0.0,
    "not mentioned": 0.0,
}  # fmt: skip


@dataclass(frozen=True)
class Nugget:
    """A fact and whether it is vital."""

    text: str
    vital: bool


def as_nuggets(values: Sequence[Any]) -> list[Nugget] | None:
    """Nuggets as tables have them: texts, which are vital, or objects with a text and its importance."""
    nuggets: list[Nugget] = []
    for value in values:
        if isinstance(value, str):
            nuggets.append(Nugget(value, vital=True))
            continue
        text = (
            next((value[key] for key in ("text", "nugget", "fact") if key in value), None)
            if isinstance(value, dict)
            else None
        )
        if not isinstance(text, str):
            return None
        importance = value.get("importance", VITAL if value.get("vital", True) else OKAY)
        nuggets.append(Nugget(text, str(importance).casefold() == VITAL))
    return nuggets


@metric(direction="higher")
def nugget_recall(
    nuggets: Sequence[Sequence[Any]],
    nugget_support: Sequence[Sequence[str]],
    *,
    count: Literal["vital", "all", "weighted"] = "vital",
    strict: bool = True,
    judge: Judged = "llm",
    support_model: str | None = None,
) -> list[float | Failed]:
    """The share of the facts that an answer should have which it has.

    **Formula.** Over the vital nuggets, those that the answer supports: TREC RAG's strict vital score. The column
    `nuggets` is given in the data, or made from the reference (of several, the first) by the judge's model;
    `nugget_support` is the model's.

    **Settings.** `count=all` counts okay nuggets like vital ones, `count=weighted` half as much. `strict=false` counts
    partial support as one half. `judge=offline` has the offline support model say what the answer supports, and
    `judge=encoder` the local classifier `support_model`; the nuggets are then those of the data.

    **Edge cases.** A row without nuggets of the kind that counts is `no_nuggets`, an answer that declines `abstained`:
    neither has a score.

    **Use it** for long answers when you know what they should contain. **Not** for what they should not contain.
    """
    weight = {"vital": 0.0, "all": 1.0, "weighted": 0.5}[count]
    scores: list[float | Failed] = []
    for given, labels in zip(nuggets, nugget_support, strict=True):
        facts = as_nuggets(given)
        support = [_LABELS.get(str(label).casefold()) for label in labels]
        if facts is None or None in support or len(facts) != len(support):
            scores.append(Failed(UNPARSABLE))
            continue
        weights = [1.0 if fact.vital else weight for fact in facts]
        reached = [float(value == 1.0) if strict else value for value in support if value is not None]
        total = sum(weights)
        gained = sum(share * value for share, value in zip(weights, reached, strict=True))
        scores.append(gained / total if total else Failed(NO_NUGGETS))
    return scores
