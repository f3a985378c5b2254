"""Agents of LangGraph, LlamaIndex and OpenAI Agents: how they are asked, and what they did on their way to an answer.

Their classes are known by their attributes; none of the libraries is imported here.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from ragmeter.documents.hops import LLM, RETRIEVAL, TOOL, Hop, written_hops
from ragmeter.io.cells import whole
from ragmeter.io.write import dumps
from ragmeter.passages import attribute, passage_id, passage_score, passage_text

#: Names of token counts: their sum is that of prompt and completion.
_TOTAL, _PARTS = "total_tokens", (("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens"))

#: The agents of LlamaIndex, by the names of their classes or of those that they inherit from.
_WORKFLOWS = frozenset({"BaseWorkflowAgent", "AgentWorkflow"})


class Agent(Protocol):
    """An agent that is asked in the event loop."""

    async def ask(self, question: str, history: Sequence[Mapping[str, str]]) -> Any:
        """What it returns for a question, after the earlier messages of a session."""


class _Run:
    """An agent that its library's runner runs, as OpenAI's: `Runner.run(agent, messages)`."""

    def __init__(self, agent: Any, run: Callable[..., Any]) -> None:
        self._agent = agent
        self._run = run

    async def ask(self, question: str, history: Sequence[Mapping[str, str]]) -> Any:
        """Run it with the messages so far; a new question stands alone."""
        messages = [*history, {"role": "user", "content": question}]
        return await self._run(self._agent, messages if history else question)


class _Workflow:
    """A workflow of LlamaIndex: it is started in an event loop, and remembers nothing."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent

    async def ask(self, question: str, history: Sequence[Mapping[str, str]]) -> Any:
        """Start it with the question, and wait for its end."""
        message = getattr(sys.modules.get("llama_index.core.llms"), "ChatMessage", dict)
        earlier = {"chat_history": [message(**words) for words in history]} if history else {}
        return await self._agent.run(question, **earlier)


def as_agent(target: Any) -> Agent | None:
    """The agent that an object is; None if it is another thing."""
    if inspect.isroutine(target) or isinstance(target, type):
        return None
    kinds = type(target).__mro__
    if any(kind.__name__ in _WORKFLOWS for kind in kinds):
        return _Workflow(target)
    if not all(hasattr(target, name) for name in ("instructions", "tools", "handoffs")):
        return None
    modules = (sys.modules.get(kind.__module__.partition(".")[0]) for kind in kinds)
    run = next((run for module in modules if (run := getattr(getattr(module, "Runner", None), "run", None))), None)
    return None if run is None else _Run(target, run)


def hops_of(returned: Any) -> list[Hop]:
    """What an agent did, by what it returned; an empty list where that does not say."""
    messages = _value(returned, "messages")
    if isinstance(messages, list) and any(_kind(message) in ("ai", "tool") for message in messages):
        return list(_hops_of_messages(messages))
    if isinstance(items := attribute(returned, "new_items"), list):
        return list(_hops_of_items(items, _tokens(attribute(attribute(returned, "context_wrapper"), "usage"))))
    calls = None if isinstance(returned, Mapping) else attribute(returned, "tool_calls")
    if isinstance(calls, list) and all(hasattr(call, "tool_kwargs") for call in calls):
        return [_call(call.tool_name, call.tool_kwargs, attribute(call, "tool_output")) for call in calls]
    return []


def retrieved_by(hops: Sequence[Hop]) -> tuple[list[str] | None, list[str] | None]:
    """The ids of what an agent retrieved, and the texts; where it retrieved nothing, what its tools returned."""
    retrievals = [hop for hop in hops if hop.kind == RETRIEVAL]
    texts = [text for hop in retrievals or hops for text in hop.texts or ()]
    ids = [name for hop in retrievals for name in hop.ids or ()]
    return (ids if any(hop.ids is not None for hop in retrievals) else None), texts or None


def agent_columns(returned: Any, hops: Sequence[Hop]) -> dict[str, str | float]:
    """Cells of an agent's row: its hops, its calls of tools, and what it used."""
    if not hops and attribute(returned, "new_items") is None:
        return {}
    calls = [{"name": hop.tool, "arguments": hop.arguments} for hop in hops if hop.tool is not None]
    columns: dict[str, str | float] = {"hops": written_hops(hops), "tool_calls": dumps(calls, default=str)}
    tokens = [hop.tokens for hop in hops if hop.tokens is not None]
    return {**columns, "tokens": sum(tokens)} if tokens else columns


def _hops_of_messages(messages: Sequence[Any]) -> Iterator[Hop]:
    """Those after the last question, as LangGraph has them: messages of the model, with calls, and of tools."""
    begin = max((place for place, message in enumerate(messages) if _kind(message) == "human"), default=-1) + 1
    arguments: dict[str, Any] = {}
    for message in messages[begin:]:
        if _kind(message) == "ai":
            yield Hop(LLM, tokens=_tokens(_value(message, "usage_metadata")))
            calls = _value(message, "tool_calls")
            for call in calls if isinstance(calls, list) else ():
                arguments[str(_value(call, "id"))] = _value(call, "args")
        elif _kind(message) == "tool":
            call_id, name = str(_value(message, "tool_call_id")), _value(message, "name")
            artifact = _value(message, "artifact")
            output = artifact if _documents(artifact) else _value(message, "content")
            failed = _value(message, "status") == "error"
            yield _call(name, arguments.get(call_id), output, error=str(output) if failed else None)


def _hops_of_items(items: Sequence[Any], tokens: int | None) -> Iterator[Hop]:
    """The items of a run of OpenAI Agents; the tokens of all its calls of models are those of the first one."""
    outputs = {
        str(_value(attribute(item, "raw_item"), "call_id")): attribute(item, "output")
        for item in items
        if attribute(item, "type") == "tool_call_output_item"
    }
    is_model = False
    for item in items:
        kind, raw = attribute(item, "type"), attribute(item, "raw_item")
        if kind in ("tool_call_output_item", "handoff_output_item"):
            is_model = False
            continue
        if not is_model:
            yield Hop(LLM, tokens=tokens)
            is_model, tokens = True, None
        if kind == "tool_call_item":
            yield _call(_value(raw, "name"), _value(raw, "arguments"), outputs.get(str(_value(raw, "call_id"))))


def _call(name: Any, arguments: Any, output: Any, error: str | None = None) -> Hop:
    """A call of a tool: a retrieval, if it returned documents."""
    given = _plain(arguments)
    raw = attribute(output, "raw_output")
    documents = _documents(raw if raw is not None else output)
    failed = error or (str(output) if attribute(output, "is_error") is True else None)
    query = next((text for text in given.values() if isinstance(text, str)), None) if isinstance(given, dict) else None
    if not documents:
        content = attribute(output, "content") if not isinstance(output, str) else output
        text = content if isinstance(content, str) else None if output is None else str(output)
        texts = None if text is None else (whole(text),)
        return Hop(TOOL, query, texts=texts, tool=str(name), arguments=given, error=failed)
    ids = [passage_id(document) for document in documents]
    scores = tuple(passage_score(document) for document in documents)
    return Hop(
        RETRIEVAL,
        query,
        ids=tuple(whole(name) for name in ids if name is not None) if None not in ids else None,
        texts=tuple(whole(passage_text(document) or "") for document in documents),
        scores=scores if any(score is not None for score in scores) else None,
        tool=str(name),
        arguments=given,
    )


def _documents(value: Any) -> list[Any]:
    """The documents in what a tool returned: a list of objects with texts, in JSON with ids too."""
    nodes = attribute(value, "source_nodes")
    value = nodes if isinstance(nodes, list) else value
    is_text = isinstance(value, str)
    if is_text:
        value = _plain(value)
    if not isinstance(value, list) or not value or any(isinstance(item, str) for item in value):
        return []
    has_all = all(passage_text(item) is not None and (not is_text or passage_id(item) is not None) for item in value)
    return value if has_all else []


def _plain(value: Any) -> Any:
    """Arguments as JSON has them, also where they are written as JSON."""
    try:
        return json.loads(whole(value)) if isinstance(value, str) else json.loads(dumps(value, default=str))
    except (ValueError, RecursionError):
        return value if isinstance(value, str) else str(value)


def _tokens(usage: Any) -> int | None:
    """The tokens of prompt and completion."""
    total = _value(usage, _TOTAL)
    parts = [next((value for name in names if isinstance(value := _value(usage, name), int)), None) for names in _PARTS]
    known = [part for part in parts if part is not None]
    return total if isinstance(total, int) else sum(known) if known else None


def _kind(message: Any) -> str | None:
    """Whose a message is: `human`, `ai` or `tool`."""
    kind = _value(message, "type") or _value(message, "role")
    return {"user": "human", "assistant": "ai"}.get(str(kind), str(kind))


def _value(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else attribute(holder, name)
