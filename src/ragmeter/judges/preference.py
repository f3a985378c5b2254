"""Which of two answers to a question is better? By a language model, asked in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragmeter.definition import metric
from ragmeter.definition.judge_columns import Parts, PerCall, judge_column
from ragmeter.io.write import dumps
from ragmeter.judges.asking.list_forms import Labels
from ragmeter.metrics.support import has_text
from ragmeter.table import UNPARSABLE, Failed, Row

#: The values of the column: this answer, the other one, neither, or another one in each order.
THIS, OTHER, TIE, INCONSISTENT = "this", "other", "tie", "inconsistent"
_SCORES = {THIS: 1.0, TIE: 0.5, INCONSISTENT: 0.5, OTHER: 0.0}
_FIRST, _SECOND = "first", "second"


def _both_orders(row: Row, per_call: PerCall) -> list[dict[str, str]]:
    reference = row["reference"]
    shown = {
        "question": row["question"],
        "reference": reference if isinstance(reference, str) else "\nor: ".join(reference or ()),
    }
    first, second = row["answer"], row["other_answer"]
    return [{**shown, "first": first, "second": second}, {**shown, "first": second, "second": first}]


def _agreed(row: Row, labels: list[Any]) -> str:
    """What both orders say, unless they disagree, as those of a model do that goes by the place."""
    [in_order], [swapped] = labels
    back = {_FIRST: OTHER, _SECOND: THIS}.get(swapped, TIE)
    preferred = {_FIRST: THIS, _SECOND: OTHER}.get(in_order, TIE)
    return preferred if preferred == back else INCONSISTENT


def _known(row: Row) -> str | None:
    """Two answers with the same words are a tie; an empty one is worse than any other."""
    if row["answer"].split() == row["other_answer"].split():
        return dumps(TIE)
    if has_text(row["answer"]) and has_text(row["other_answer"]):
        return None
    return dumps(THIS if has_text(row["answer"]) else OTHER)


preferred = judge_column(
    "preferred",
    words="{question}\n{reference}\n{first}\n{second}\n\nWhich of the two answers is better: right, complete and "
    "to the point? Length and style don't count.",
    form=Labels({"First": _FIRST, "Second": _SECOND, "Tie": TIE}, alone=True),
    optional=("reference",),
    structured=True,
    labels={
        "question": "Question",
        "reference": "Correct answer",
        "first": "First answer",
        "second": "Second answer",
    },
    known=_known,
    instead="offline, compare the two runs by a metric that needs no model, such as offline_correct",
    parts=Parts(("question", "reference", "answer", "other_answer"), _both_orders, _agreed),
)


@metric(direction="higher")
def preference(preferred: Sequence[str]) -> list[float | Failed]:
    """Whether a language model prefers the answer to another one, in `other_answer`; its mean is the win rate.

    **Formula.** 1 if the model prefers the answer in both orders, 0 if it prefers the other one in both, 0.5 if the
    orders disagree (`inconsistent` in the column `preferred`) or it says that they are equal. That column is filled by
    the judge's model with two calls a row; it is shown the reference, if there is one.

    **Edge cases.** Two answers with the same words are a tie, and an empty answer is worse than any other; the model
    is not asked.

    **Use it** for two versions of a system: `ragmeter compare A B --preference` pairs their runs. **Not** for whether
    an answer is right: of two wrong answers one is still better.
    """
    return [_SCORES.get(value, Failed(UNPARSABLE)) for value in preferred]
