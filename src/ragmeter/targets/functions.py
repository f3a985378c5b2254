"""How an object of the user's is asked: by query, invoke, chat, retrieve, run or a call, whichever it has."""

from __future__ import annotations

import inspect
import threading
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragmeter.io.decoding import JsonObject
from ragmeter.targets.agents import as_agent
from ragmeter.targets.pipeline import ask_pipeline, is_pipeline
from ragmeter.targets.port import Question

#: What a callable is given: the question, and the earlier messages and the session where it asks for them.
Ask = Callable[[Question], Any]
#: The methods that ask an object, the first that it has; an object without any is called itself.
METHODS = ("query", "invoke", "chat", "retrieve", "run")
#: Names of a dict's keys under which a runnable takes the question, and the messages before it.
QUESTIONS = ("question", "input", "query", "user_input", "text", "message")
_HISTORIES = ("chat_history", "history")


def method_of(target: Any) -> Callable[..., Any] | None:
    """The method that asks this object, or the object itself if it is called; None if it can't be asked."""
    if (agent := as_agent(target)) is not None:
        return agent.ask
    methods = () if inspect.isroutine(target) or isinstance(target, type) else METHODS
    method = next((method for name in methods if callable(method := getattr(target, name, None))), None)
    return method if method is not None else target if callable(target) else None


def asks(function: Callable[..., Any]) -> Ask:
    """How this function or method takes a question: each library has its own way."""
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if name == "run" and is_pipeline(owner):
        return lambda question: ask_pipeline(owner, question)
    if name in ("invoke", "ainvoke", "stream", "astream") and owner is not None:
        return _runnable(function, owner)
    if name == "chat" and callable(getattr(owner, "reset", None)):
        return _chat(function, owner)
    extras = _extras(function)
    return lambda question: function(question.text, **{name: extras[name](question) for name in extras})


def _extras(function: Callable[..., Any]) -> dict[str, Callable[[Question], Any]]:
    """The keywords that a function asks for by the names of its parameters."""
    known: dict[str, Callable[[Question], Any]] = {
        "session_id": lambda question: question.session_id,
        "history": lambda question: question.messages()[:-1],
    }
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # an extension function without a signature
        return {}
    return {name: read for name, read in known.items() if name in parameters}


def _runnable(function: Callable[..., Any], owner: Any) -> Ask:
    """A runnable takes a text, or a dict: its schema says which, and under which key it wants the question."""
    schema = _input_schema(owner)
    keys = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(keys, Mapping) or not keys:
        return lambda question: function(question.text)
    name = _question_key(list(keys), schema.get("required") or ())
    histories = [key for key in _HISTORIES if key in keys]

    def ask(question: Question) -> Any:
        given: dict[str, object] = {key: question.messages()[:-1] for key in histories}
        given[name] = question.messages() if name == "messages" else question.text
        return function(given)

    return ask


def _question_key(keys: Sequence[str], required: Sequence[str]) -> str:
    known = [key for key in ("messages", *QUESTIONS) if key in keys]
    others = [key for key in (*required, *keys) if key not in _HISTORIES]
    return next(iter((*(key for key in known if key in required), *known, *others)), keys[0])


def _input_schema(runnable: Any) -> JsonObject:
    """The JSON schema of what a runnable takes; empty if it does not say."""
    try:
        schema = runnable.get_input_schema().model_json_schema()
    except Exception:  # any code of the user's may be behind it; without a schema it is given a text
        return {}
    if not isinstance(schema, Mapping):
        return {}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return dict(schema.get("$defs", {}).get(reference.rpartition("/")[2], {}))
    return dict(schema)


def _chat(function: Callable[..., Any], owner: Any) -> Ask:
    """A chat engine remembers: before each question it forgets, and is given the session's earlier messages.

    It has one memory, so that it is asked one question at a time.
    """
    turn = threading.Lock()
    message = _message_class(function)

    def ask(question: Question) -> Any:
        earlier = question.messages()[:-1]
        with turn:
            owner.reset()
            if not earlier:
                return function(question.text)
            return function(question.text, chat_history=[message(**words) for words in earlier])

    return ask


def _message_class(function: Callable[..., Any]) -> Callable[..., Any]:
    """The class of messages that a chat engine takes, by its annotation; dicts if there is none."""
    try:
        hint = typing.get_type_hints(function).get("chat_history")
    except Exception:  # an annotation that can't be read here
        hint = None
    kinds = [hint]
    while kinds:
        kind = kinds.pop()
        if isinstance(kind, type) and hasattr(kind, "model_fields"):
            return kind
        kinds += typing.get_args(kind)
    return dict
