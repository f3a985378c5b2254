"""What the attributes of a span say, in the spellings of OpenInference and of OpenTelemetry's conventions.

Attributes are an object, whose keys have dots or lead to objects, or columns of a table. OpenTelemetry has no lists of
objects: they are written as `retrieval.documents.0.document.content`, or as JSON. Some write messages as events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from ragmeter.io.decoding import JsonObject
from ragmeter.io.paths import decoded, value_at
from ragmeter.passages import is_object
from ragmeter.table import Row

#: The kinds of OpenInference by the operations of OpenTelemetry.
_KINDS = {
    "chat": "LLM", "text_completion": "LLM", "generate_content": "LLM", "embeddings": "EMBEDDING",
    "execute_tool": "TOOL", "retrieval": "RETRIEVER", "invoke_agent": "AGENT", "invoke_workflow": "AGENT",
}  # fmt: skip
_PREFIX = "attributes."
#: The first parts of names, under which nested attributes have objects.
_ROOTS = frozenset({"openinference", "input", "output", "retrieval", "reranker", "llm", "tool", "session", "gen_ai"})
#: The most digits of a place in a list: Python reads longer numbers slowly.
_DIGITS = 6
_RETRIEVED = ("retrieval.documents", "gen_ai.retrieval.documents")
_RERANKED = ("reranker.output_documents",)
_ASKED = ("llm.input_messages", "gen_ai.input.messages", "gen_ai.prompt")
_SAID = ("llm.output_messages", "gen_ai.output.messages", "gen_ai.completion")
_PARTS = ("text", "content")
_TOTAL = ("llm.token_count.total", "gen_ai.usage.total_tokens")
_PROMPT = ("llm.token_count.prompt", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
_COMPLETION = ("llm.token_count.completion", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
_COST = ("llm.cost.total", "gen_ai.usage.cost", "operation.cost")
_TOOL = ("tool.name", "gen_ai.tool.name", "tool_call.function.name")
_ARGUMENTS = ("gen_ai.tool.call.arguments", "tool_call.function.arguments")


class Attributes:
    """The attributes of one span, and its events."""

    def __init__(self, row: Row) -> None:
        given = row.get("attributes")
        given = decoded(given) if isinstance(given, str) else given
        self._values: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        if not self._values:
            columns = (item for item in row.items() if item[0].startswith(_PREFIX) and not is_empty(item[1]))
            self._values = {name.removeprefix(_PREFIX): value for name, value in columns}
        self._is_nested = not _ROOTS.isdisjoint(self._values)
        events = row.get("events")
        self._events: Sequence[Any] = events if isinstance(events, list) else ()

    def at(self, name: str) -> Any:
        """The value of this name; None if there is none."""
        value = self._values.get(name)
        if value is None:
            return value_at(self._values, name.split(".")) if self._is_nested else None
        return None if is_empty(value) else value

    def first(self, names: Sequence[str]) -> Any:
        """The value of the first of these names that has one."""
        for name in names:
            if (value := self.at(name)) is not None:
                return value
        return None

    def kind(self, row: Row) -> str:
        """The kind of the span, by OpenInference's names; an empty text where it is not of that kind of work."""
        kind = self.at("openinference.span.kind") or row.get("span_kind")
        if kind is None or is_empty(kind):
            return _KINDS.get(str(self.at("gen_ai.operation.name") or ""), "")
        return str(kind).upper()

    @property
    def is_of_ai(self) -> bool:
        """Whether any attribute has a name of one of the two conventions."""
        return any(self.at(name) is not None for name in ("openinference.span.kind", "gen_ai.operation.name"))

    def retrieved(self) -> list[Any]:
        """The documents of a retriever."""
        return self._objects(_RETRIEVED)

    def reranked(self) -> list[Any]:
        """The documents that a reranker has left."""
        return self._objects(_RERANKED)

    def asked(self) -> str | None:
        """The last thing that a user said to a model; else the last message."""
        messages = list(self._messages(_ASKED)) or list(self._events_of("user", "system", "assistant", "tool"))
        of_user = [text for role, text in messages if role == "user" and text]
        return of_user[-1] if of_user else next((text for _, text in reversed(messages) if text), None)

    def said(self) -> str | None:
        """The last thing that a model said."""
        messages = list(self._messages(_SAID)) or list(self._events_of("choice"))
        return messages[-1][1].strip() if messages else None

    def calls(self) -> Iterator[tuple[str, Any]]:
        """The calls of tools that a model asked for: their names and arguments."""
        for message in next((objects for name in _SAID if (objects := self._messages_at(name))), []):
            yield from _calls(message)
        for name, event in self._named_events():
            blocks = decoded(_content(event)) if name == "gen_ai.choice" else None
            for block in blocks if isinstance(blocks, list) else ():
                if isinstance(block, Mapping) and isinstance(used := block.get("toolUse"), Mapping):
                    yield str(used.get("name")), used.get("input")

    def tokens(self) -> int | None:
        """The tokens of prompt and completion."""
        total = _number(self.first(_TOTAL))
        parts = [_number(self.first(names)) for names in (_PROMPT, _COMPLETION)]
        known = [part for part in parts if part is not None]
        value = total if total is not None else sum(known) if known else None
        return None if value is None else int(value)

    def cost(self) -> float | None:
        """What the call has cost, in US dollars."""
        cost = _number(self.first(_COST))
        return cost if cost is None or cost >= 0 else None

    def tool(self) -> str | None:
        """The name of the tool that is called."""
        name = self.first(_TOOL)
        return None if name is None else str(name)

    def arguments(self) -> Any:
        """What a tool is called with: an object, where it is one; None where only its input says so."""
        value = self.first(_ARGUMENTS)
        if value is None:
            value = next(
                (_content(event) for name, event in self._named_events() if name == "gen_ai.tool.message"), None
            )
        return decoded(value)

    def result(self) -> Any:
        """What a tool returned, where it is no output."""
        value = self.at("gen_ai.tool.call.result")
        if value is not None:
            return value
        return next((_content(event) for name, event in self._named_events() if name == "gen_ai.choice"), None)

    def _objects(self, names: Sequence[str]) -> list[Any]:
        for name in names:
            if (value := self.at(name)) is not None:
                listed = decoded(value)
                return [item for item in listed if is_object(item)] if isinstance(listed, list) else []
            if listed := self._flat(name):
                return listed
        return []

    def _flat(self, name: str) -> list[JsonObject]:
        """The objects whose members are attributes with a number in their names."""
        items = self._lists.get(name, {})
        return [items[place] for place in sorted(items)]

    @cached_property
    def _lists(self) -> dict[str, dict[int, JsonObject]]:
        """The objects of each list, by their numbers."""
        lists: dict[str, dict[int, JsonObject]] = {}
        for key, value in self._values.items():
            parts = key.split(".", 3)
            if len(parts) == 4 and parts[2].isdecimal() and len(parts[2]) <= _DIGITS:
                lists.setdefault(f"{parts[0]}.{parts[1]}", {}).setdefault(int(parts[2]), {})[parts[3]] = value
        return lists

    def _messages(self, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        for message in next((objects for name in names if (objects := self._messages_at(name))), []):
            yield _role(message), _text(message)

    def _messages_at(self, name: str) -> list[Mapping[str, Any]]:
        given = self.at(name)
        if given is None:
            return [*self._flat(name)]
        value = decoded(given)
        listed: Sequence[Any] = value if isinstance(value, list) else ()
        return [item for item in listed if isinstance(item, Mapping)]

    def _events_of(self, *roles: str) -> Iterator[tuple[str, str]]:
        """Messages that are events: `gen_ai.user.message`, `gen_ai.choice`."""
        names = {"gen_ai.choice" if role == "choice" else f"gen_ai.{role}.message": role for role in roles}
        listed = "gen_ai.output.messages" if "choice" in roles else "gen_ai.input.messages"
        for name, event in self._named_events():
            if name in names:
                yield names[name], _text({"content": _content(event)})
            elif isinstance(messages := decoded(event.get(listed)), list):
                yield from ((_role(item), _text(item)) for item in messages if isinstance(item, Mapping))

    def _named_events(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for event in self._events:
            if isinstance(event, Mapping) and isinstance(attributes := event.get("attributes"), Mapping):
                yield str(event.get("name")), attributes


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The calls of tools in a message of a model, in each of its spellings."""
    inner = message.get("message")
    if isinstance(inner, Mapping):
        yield from _calls(inner)
    for key, name in message.items():
        if key.startswith("message.tool_calls.") and key.endswith(".tool_call.function.name"):
            yield str(name), message.get(f"{key.removesuffix('name')}arguments")
    parts = message.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, Mapping) and part.get("type") == "tool_call":
            yield str(part.get("name")), part.get("arguments")
    calls = decoded(message.get("tool_calls", message.get("message.tool_calls")))
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function", call.get("tool_call", call)) if isinstance(call, Mapping) else None
        function = function.get("function", function) if isinstance(function, Mapping) else None
        if isinstance(function, Mapping):
            name = function.get("name", function.get("function.name", call.get("tool_call.function.name")))
            arguments = function.get("arguments", function.get("args", call.get("tool_call.function.arguments")))
            yield str(name), arguments


def _role(message: Mapping[str, Any]) -> str:
    inner = message.get("message")
    role = message.get("message.role") or message.get("role") or (isinstance(inner, Mapping) and inner.get("role"))
    return {"human": "user", "ai": "assistant"}.get(str(role), str(role))


def _text(message: Any) -> str:
    """The text of a message: in its content, or in its parts."""
    if isinstance(message, str):
        return message
    if isinstance(message, list):
        return "".join(_text(part) for part in message)
    if not isinstance(message, Mapping):
        return ""
    if isinstance(inner := message.get("message"), Mapping):
        return _text(inner)
    for key in ("message.content", "content", "parts", "text", "message.contents"):
        if (value := decoded_list(message.get(key))) is not None and not isinstance(value, Mapping):
            return _text(value)
    flat = [value for key, value in message.items() if key.endswith("message_content.text") and isinstance(value, str)]
    return "".join(flat)


def decoded_list(value: Any) -> Any:
    """A list that is written as JSON, as Strands has the blocks of a message; anything else as it is."""
    if isinstance(value, str) and value.startswith("[{"):
        blocks = decoded(value)
        return blocks if isinstance(blocks, list) and all(isinstance(block, Mapping) for block in blocks) else value
    return value


def _content(event: Mapping[str, Any]) -> Any:
    return event.get("content", event.get("message"))


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number == number and abs(number) < 2**53 else None


def is_empty(value: Any) -> bool:
    """Whether this stands for nothing: None, NaN, an empty text."""
    return value is None or (isinstance(value, str) and not value) or (isinstance(value, float) and value != value)
