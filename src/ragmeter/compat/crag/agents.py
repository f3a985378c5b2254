"""How an agent is called: with queries, images and histories, and with what else its method takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import Parameter
from typing import Any, Protocol, TypedDict

from ragmeter.effects.replies.rounds import Identity
from ragmeter.errors import refused_call
from ragmeter.io.write import dumps
from ragmeter.targets.identity import fingerprint

#: What an agent may be given besides queries, images and histories.
_EXTRAS = ("rag_context_list", "domains")


class Agent(Protocol):
    """An agent that answers questions about images.

    `batch_generate_response()` may also take `rag_context_list`, a text for each query, and `domains`, their names.
    """

    def get_batch_size(self) -> int:
        """How many conversations one call may have."""

    @property
    def batch_generate_response(self) -> Callable[..., list[str]]:
        """Called with queries, images and message_histories: one answer for each query."""


class RetrievalSettings(TypedDict, total=False):
    """Settings of CRAG-MM's own evaluator that have no effect here: the agent does its own retrieval."""

    image_search: bool
    web_search: bool
    search_pipeline: Any
    dataset_type: str
    full_query_path: str | None


def notice_of(settings: RetrievalSettings) -> str:
    """What to say of settings that have no effect; nothing if there are none."""
    if unknown := [name for name in settings if name not in RetrievalSettings.__annotations__]:
        raise TypeError(f"CRAGEvaluator() has no parameter {unknown[0]!r}")
    given = [name for name, value in settings.items() if value]
    if not given:
        return ""
    verb = "has" if len(given) == 1 else "have"
    return (
        f"{', '.join(given)} {verb} no effect: ragmeter searches nothing for the agent, whose rag_context_list is "
        "empty, and leaves no session of the dataset out"
    )


def extras_of(agent: Agent) -> list[str]:
    """Which of `rag_context_list` and `domains` an agent's `batch_generate_response()` takes.

    One that can't be called with queries, images and histories raises a UsageError.
    """
    try:
        signature = inspect.signature(agent.batch_generate_response)
    except (TypeError, ValueError):  # a method that has none, written in C for one
        return []
    kinds = {name: parameter.kind for name, parameter in signature.parameters.items()}
    # A wrapper of (*args, **kwargs) says nothing of the method inside
    takes_any = Parameter.VAR_KEYWORD in kinds.values() and Parameter.VAR_POSITIONAL not in kinds.values()
    without = Parameter.KEYWORD_ONLY if takes_any else Parameter.POSITIONAL_ONLY
    extras = [name for name in _EXTRAS if kinds.get(name, without) is not Parameter.POSITIONAL_ONLY]
    try:
        signature.bind([], [], [], **dict.fromkeys(extras))
    except TypeError as error:
        name = f"{type(agent).__name__}.batch_generate_response()"
        given = "queries, images and message_histories, in this order"
        raise refused_call(agent.batch_generate_response, name, given, error) from None
    return extras


def identity_of(agent: Agent, name: str | None, load_image: Callable[[str], Any] | None) -> Identity:
    """What an interrupted generation must have in common with the one that goes on with it."""
    agent_print = fingerprint(agent)
    signature = {"agent": name, "source": agent_print.source, "state": agent_print.state}
    if load_image is not None:
        signature["load_image"] = fingerprint(load_image).source
    return Identity(dumps(signature), signature, agent_print.certain)
