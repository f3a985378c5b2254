"""How an agent is called: with queries, images and histories, and with what else its method takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypedDict

from ragmeter.compat.crag.dataset_utils import Question, convert_domain_indices_to_names
from ragmeter.effects.rounds import Identity
from ragmeter.errors import refused_call
from ragmeter.io.write import dumps
from ragmeter.targets.identity import fingerprint


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


@dataclass(frozen=True)
class Signature:
    """What an agent's `batch_generate_response()` takes besides queries, images and histories."""

    takes_contexts: bool = False
    takes_domains: bool = False

    @classmethod
    def of(cls, agent: Agent) -> Signature:
        """The signature of an agent's method. One that can't be called with what there is raises a UsageError."""
        try:
            parameters = inspect.signature(agent.batch_generate_response)
        except (TypeError, ValueError):  # a method that has none, written in C for one
            return cls()
        kinds = [parameter.kind for parameter in parameters.parameters.values()]
        # A wrapper of (*args, **kwargs) says nothing of the method inside
        takes_any = inspect.Parameter.VAR_KEYWORD in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds
        takes = partial(_takes, parameters, takes_any)
        signature = cls(takes("rag_context_list"), takes("domains"))
        try:
            parameters.bind([], [], [], **signature.arguments((), {}))
        except TypeError as error:
            name = f"{type(agent).__name__}.batch_generate_response()"
            given = "queries, images and message_histories, in this order"
            raise refused_call(agent.batch_generate_response, name, given, error) from None
        return signature

    def arguments(self, questions: Sequence[Question], vocabularies: dict[str, list[str]]) -> dict[str, list[str]]:
        """The keyword arguments of a call: nothing was searched, so the contexts are empty."""
        arguments = {}
        if self.takes_contexts:
            arguments["rag_context_list"] = [""] * len(questions)
        if self.takes_domains:
            domains = [question.domain for question in questions]
            arguments["domains"] = convert_domain_indices_to_names(domains, vocabularies)
        return arguments


def identity_of(agent: Agent, name: str | None, load_image: Callable[[str], Any] | None) -> Identity:
    """What an interrupted generation must have in common with the one that goes on with it."""
    agent_print = fingerprint(agent)
    signature = {"agent": name, "source": agent_print.source, "state": agent_print.state}
    if load_image is not None:
        signature["load_image"] = fingerprint(load_image).source
    return Identity(dumps(signature), signature, agent_print.certain)


def _takes(signature: inspect.Signature, takes_any: bool, name: str) -> bool:
    parameter = signature.parameters.get(name)
    return takes_any if parameter is None else parameter.kind is not inspect.Parameter.POSITIONAL_ONLY
