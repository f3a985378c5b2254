"""Answers that people have judged, as examples for a judge: which ones are shown, and the file of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ragmeter.definition.judge_columns import Example
from ragmeter.errors import InputError
from ragmeter.judges.verdict import CORRECT, verdict
from ragmeter.table import Row

#: The replies of a judge that say what people do.
_YES, _NO = verdict.form.choices(reasons=False)
#: So many examples of each verdict are shown, and none with a longer text.
_OF_EACH, _LONGEST = 2, 600


def example_of(row: Row, label: str) -> Example:
    """A row that people have judged, as an example."""
    reference = row["reference"] or ""
    reference = reference if isinstance(reference, str) else "\nor: ".join(reference)
    texts = {"question": row["question"] or "", "reference": reference, "answer": row["answer"] or ""}
    return Example(texts, _YES if label == CORRECT else _NO)


def choose_examples(examples: Sequence[Example], is_missed: Sequence[bool]) -> list[Example]:
    """A few examples of both verdicts that have little in common, first of all of what the judge has missed."""
    chosen: list[Example] = []
    for reply in (_YES, _NO):
        able = [
            (not missed, example)
            for example, missed in zip(examples, is_missed, strict=True)
            if example.reply == reply and example.texts["answer"] and max(map(len, example.texts.values())) <= _LONGEST
        ]
        taken: list[Example] = []
        while able and len(taken) < _OF_EACH:
            place = min(
                range(len(able)),
                key=lambda n: (able[n][0], max((_alike(able[n][1], e) for e in taken), default=0.0), n),
            )
            taken.append(able.pop(place)[1])
        chosen += taken
    return chosen


def _alike(first: Example, second: Example) -> float:
    """The share of words that two examples have in common."""
    a, b = (set(" ".join(example.texts.values()).casefold().split()) for example in (first, second))
    return len(a & b) / max(1, len(a | b))


def read_examples(path: str | Path) -> list[Example]:
    """The examples in a file; one that is damaged is an error."""
    try:
        records = json.loads(Path(path).read_text(encoding="utf-8"))["examples"]
        examples = [Example({name: str(text) for name, text in texts.items()}, reply) for texts, reply in records]
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=str(path)) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError("is no file of examples", file=str(path), hint=_HINT) from None
    if not examples or any(reply not in (_YES, _NO) or texts.keys() != set(verdict.needs) for texts, reply in examples):
        raise InputError("is no file of examples", file=str(path), hint=_HINT)
    return examples


_HINT = "`ragmeter calibrate --align` writes one"
