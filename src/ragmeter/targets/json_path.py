"""Paths into a JSON reply (`events[*].id`), and questions put into a JSON request as data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragmeter.errors import UsageError
from ragmeter.hints import by_caller

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+|\*)\]")
FIELDS = ("question", "qid", "session_id", "conversation_id", "history")
_FIELD = re.compile(rf"\{{({'|'.join(FIELDS)})\}}")


@dataclass(frozen=True)
class Path:
    """A way into a document: names, `[0]`, and `[*]` for every item."""

    text: str
    steps: tuple[str | int | None, ...]

    @classmethod
    def parse(cls, text: str) -> Path:
        """Read `data.answer`, `choices[0].message.content` or `events[*].id`."""
        steps: list[str | int | None] = []
        position = 0
        while position < len(text):
            step = _STEP.match(text, position)
            if step is None:
                raise UsageError(
                    f"can't read the path {text!r} from {text[position:]!r} on",
                    hint="paths look like answer, data.answer, choices[0].message.content or events[*].id",
                )
            steps.append(step[1] if step[1] is not None else None if step[2] == "*" else int(step[2]))
            position = step.end()
        if not steps:
            raise UsageError("a path into the reply is empty")
        return cls(text, tuple(steps))

    def find(self, document: Any) -> list[Any]:
        """Everything that it leads to; nothing if it leads nowhere."""
        found = [document]
        for step in self.steps:
            found = [each for value in found for each in _down(value, step)]
        return [value for value in found if value is not None]


def _down(value: Any, step: str | int | None) -> Iterator[Any]:
    if isinstance(step, str):
        if isinstance(value, Mapping) and step in value:
            yield value[step]
    elif isinstance(value, list):
        if step is None:
            yield from value
        elif step < len(value):
            yield value[step]


#: A request that shows where the question goes.
REQUEST_EXAMPLE = by_caller("""--request '{"q": "{question}"}'""", """request={"q": "{question}"}""")


def read_request(text: str) -> Any:
    """A request's document from the command line."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"the request is not JSON: {error}", hint=f"for example {REQUEST_EXAMPLE}") from None


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """The request with its fields filled in. Data goes into the values of a document, never into its text.

    A value that is nothing but a field takes what the field has, of whatever type; a field without a value is null.
    """
    if isinstance(template, Mapping):
        return {key: fill(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, values) for value in template]
    if not isinstance(template, str):
        return template
    if whole := _FIELD.fullmatch(template):
        return values[whole[1]]
    return _FIELD.sub(lambda match: "" if values[match[1]] is None else str(values[match[1]]), template)
