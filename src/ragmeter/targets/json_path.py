"""Paths into a JSON reply (`events[*].id`), and JSON requests with fields for the question."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragmeter.errors import UsageError
from ragmeter.hints import by_caller
from ragmeter.io.paths import missing_at, read_steps, values_at

FIELDS = ("question", "qid", "session_id", "conversation_id", "history")
FIELD = re.compile(rf"\{{({'|'.join(FIELDS)})\}}")


@dataclass(frozen=True)
class JsonPath:
    """A path into a JSON document: names, `[0]`, and `[*]` for every item."""

    text: str
    steps: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> JsonPath:
        """Read `data.answer`, `choices[0].message.content` or `events[*].id`."""
        steps = read_steps(text)
        if not steps:
            hint = "paths look like answer, data.answer, choices[0].message.content or events[*].id"
            raise UsageError(f"can't read the path {text!r}" if text else "a path into the reply is empty", hint=hint)
        return cls(text, steps)

    def find(self, document: Any) -> list[Any]:
        """The values at the path; an empty list if there are none."""
        return [value for value in self.find_all(document) if value is not None]

    def find_all(self, document: Any) -> list[Any]:
        """The values at the path, with None in the place of each item of a list that has none."""
        return values_at(document, self.steps)

    def missing(self, document: Any) -> str | None:
        """What the document has instead; None if it has the path, be it with nothing at its end."""
        return missing_at(document, self.steps)


#: A request that shows where the question goes.
REQUEST_EXAMPLE = by_caller("""--request '{"q": "{question}"}'""", """request={"q": "{question}"}""")


def read_request(text: str) -> Any:
    """A request given as JSON text."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"the request is not JSON: {error}", hint=f"for example {REQUEST_EXAMPLE}") from None


def fill(template: Any, values: Mapping[str, object]) -> Any:
    """The request with its fields filled in. Data goes into values of the document, never into its JSON text.

    A value that is only a field takes the field's value with its type; a field without a value is null.
    """
    if isinstance(template, Mapping):
        return {key: fill(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, values) for value in template]
    if not isinstance(template, str):
        return template
    if whole := FIELD.fullmatch(template):
        return values[whole[1]]
    return FIELD.sub(lambda match: "" if values[match[1]] is None else str(values[match[1]]), template)
