"""Which facts should an answer have, and which of them does it have? By a language model.

Nuggets that the data gives are used as they are; else they are made from the reference.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragmeter.definition.judge_columns import JUDGED_BY, Parts, PerCall, Variant, judge_column
from ragmeter.errors import UsageError
from ragmeter.io.write import dumps
from ragmeter.judges.asking.list_forms import Items, Labels, groups_of, is_single, listed
from ragmeter.judges.claims import declined, first_reference
from ragmeter.metrics.nuggets import NONE, OKAY, PARTIAL, SUPPORT, VITAL, as_nuggets
from ragmeter.metrics.offline.support.claims import as_nugget_label
from ragmeter.metrics.sentences import sentences
from ragmeter.table import Row

_IMPORTANCE = re.compile(rf"[\[(*]*({VITAL}|{OKAY})[\])*]*\s*[:–-]?\s+(.*)", re.IGNORECASE)
_WORDS = {"Support": SUPPORT, "Partial": PARTIAL, "No": NONE}
_ALSO = {"supported": SUPPORT, "partially": PARTIAL, "none": NONE, "partial support": PARTIAL, "no support": NONE}


@dataclass(frozen=True)
class NuggetList(Items):
    """A list of facts, each after the word vital or okay."""

    def instruction(self, *, reasons: bool) -> str:
        """The importance first."""
        return (
            f'Reply with nothing but the {self.name}, each on a line that begins with "- vital: " if a good answer '
            'must have it, or with "- okay: " if it may.'
        )

    def read(self, reply: str, sent: Mapping[str, str]) -> dict[str, str] | None:
        """The facts; a list in which one lacks its importance is no list."""
        items = super().read(reply, sent)
        if items is None:
            return None
        matches = [_IMPORTANCE.fullmatch(item) for item in json.loads(items["value"])]
        if not all(matches):
            return None
        return {"value": dumps([{"text": match[2], "importance": match[1].casefold()} for match in matches if match])}


nuggets = judge_column(
    "nuggets",
    words="{question}\n{reference}\n\nList the facts in the reference that an answer to the question should have, "
    "each as a short sentence, at most 20.",
    form=NuggetList("facts", "reference"),
    optional=("question",),
    labels={"question": "Question", "reference": "Reference"},
    structured=True,
    given=True,
    parts=Parts(("question", "reference"), first_reference, lambda row, values: values[0]),
    guess=lambda row: sentences(row["reference"] if isinstance(row["reference"], str) else row["reference"][0]),
)


def _split(row: Row, per_call: PerCall) -> list[dict[str, str]]:
    facts = [" ".join(text.split()) for text in _texts(row["nuggets"])]
    return [
        {
            "question": row["question"] or "",
            "answer": row["answer"],
            "claims": listed(group),
        }
        for group in groups_of(facts, per_call.claims)
    ]


def _texts(values: Sequence[Any]) -> list[str]:
    facts = as_nuggets(values)
    if facts is None:
        raise UsageError('nuggets must be texts, or objects such as {"text": "…", "importance": "vital"}')
    return [fact.text for fact in facts]


_ASK = (
    "{{question}}\n{{answer}}\n{{claims}}\n\n"
    "Is {facts} fully supported by the answer, partly supported by it, or not at all?"
)
_MANY, _ONE = _ASK.format(facts="each fact"), _ASK.format(facts="the fact")

nugget_support = judge_column(
    "nugget_support",
    words=_MANY,
    form=Labels(_WORDS, _ALSO, noun="fact"),
    structured=True,
    optional=("question",),
    known=declined,
    labels={"question": "Question", "answer": "Answer", "claims": "Facts"},
    parts=Parts(
        ("nuggets", "answer", "question"),
        _split,
        lambda row, labels: [label for group in labels for label in group],
        [
            Variant(
                is_single,
                {
                    "words": _ONE,
                    "form": Labels(_WORDS, _ALSO, alone=True, noun="fact"),
                    "labels": {"question": "Question", "answer": "Answer", "claims": "Fact"},
                },
            )
        ],
    ),
    settings=JUDGED_BY,
    offline=lambda rows, support: [
        list(map(as_nugget_label, chances))
        for chances in support.chances([_texts(row["nuggets"]) for row in rows], [row["answer"] for row in rows])
    ],
)
