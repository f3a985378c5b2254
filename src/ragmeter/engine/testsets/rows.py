"""The rows of a test set: its questions as a dataset that `ask` takes, with what they were made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragmeter.engine.testsets.drafts import Draft
from ragmeter.table import LANGUAGE, Batch
from ragmeter.testsets.questions import UNANSWERABLE

#: The columns of a test set that each has.
COLUMNS = ("qid", "question", "reference", "relevant", "evidence", "kind", "categories", "source", LANGUAGE)


def rows_of(drafts: Sequence[Draft], turns: int) -> Batch:
    """The questions in their order. Groups of categories are columns of their own, for slices."""
    rows: list[dict[str, Any]] = []
    with_unanswerable = any(draft.planned.kind == UNANSWERABLE for draft in drafts)
    digits = len(str(len(drafts)))
    for number, draft in enumerate(drafts, 1):
        planned = draft.planned
        categories = (*planned.user_categories, *planned.question_categories)
        has_answer = planned.kind != UNANSWERABLE
        golds = list(dict.fromkeys([passage.id for passage in planned.passages] + draft.relevant))
        for turn, question in enumerate(draft.questions):
            name = f"q{number:0{digits}}"
            row = {
                "qid": name if turns == 1 else f"{name}-{turn + 1}",
                "question": question.text,
                "reference": [question.reference] if has_answer and question.reference else None,
                "relevant": golds if has_answer else None,
                "evidence": list(question.evidence),
                "kind": planned.kind,
                "categories": "; ".join(f"{category.group}: {category.name}" for category in categories) or None,
                "source": planned.passages[0].source,
                LANGUAGE: planned.passages[0].language,
            }
            if with_unanswerable:
                row["answerable"] = "yes" if has_answer else "no"
            if turns > 1:
                row |= {"session_id": name, "turn_idx": str(turn)}
            row |= {_title(category.group, row): category.name for category in categories}
            rows.append(row)
    return Batch({name: [row.get(name) for row in rows] for name in rows[0]})


def _title(group: str, row: dict[str, Any]) -> str:
    """The column of a group of categories; one that is called as another column is gets a longer name."""
    return f"{group}_category" if group in row else group
