"""A pipeline of components, as Haystack has them: which inputs take the question, and which output is the answer."""

from __future__ import annotations

import re
import typing
from collections.abc import Mapping
from typing import Any, TypeAlias, TypedDict

from ragmeter.targets.port import Question, failed

#: Names of inputs that take the question.
_QUESTIONS = ("query", "question", "text", "user_input", "input", "prompt")
_DOCUMENTS, _REPLIES, _ANSWERS = "documents", "replies", "answers"
#: What a component of Haystack's takes or gives, by the names of its sockets; and each component's, by its name.
Sockets: TypeAlias = Mapping[str, Any]
Components: TypeAlias = Mapping[str, Sockets]


class PipelineResult(TypedDict, total=False):
    """The answer of a pipeline and the documents that it used, where a component gave them."""

    answer: Any
    documents: Any


def is_pipeline(target: Any) -> bool:
    """Whether an object is a pipeline: it says what its components take and give."""
    return all(callable(getattr(target, name, None)) for name in ("run", "inputs", "outputs", "add_component"))


def ask_pipeline(pipeline: Any, question: Question) -> PipelineResult:
    """Run a pipeline for a question; the result has `answer` and `documents` where some component gave them."""
    given = _given(pipeline.inputs(), question)
    outputs = pipeline.outputs(include_components_with_connected_outputs=True)
    with_documents = {name for name, sockets in outputs.items() if _DOCUMENTS in sockets}
    return _result(pipeline, pipeline.run(given, include_outputs_from=with_documents))


def _given(inputs: Components, question: Question) -> dict[str, dict[str, object]]:
    given: dict[str, dict[str, object]] = {}
    for component, sockets in inputs.items():
        for name, socket in sockets.items():
            value = _value_for(name, socket, question)
            if value is not None:
                given.setdefault(component, {})[name] = value
            elif socket.get("is_mandatory"):
                raise failed(
                    f"the pipeline needs {component}.{name}, which the question does not say; "
                    "give a function of the question that runs the pipeline"
                )
    if not given:
        raise failed("no component of the pipeline takes the question; give a function that runs the pipeline")
    return given


def _value_for(name: str, socket: Sockets, question: Question) -> Any:
    """The question as this input takes it, a text or a list of messages; None if it takes something else."""
    kind = socket.get("type", Any)
    message = next((part for part in _parts(kind) if callable(getattr(part, "from_user", None))), None)
    if message is not None:
        return [message.from_user(question.text)] if socket.get("is_mandatory") or name == "messages" else None
    takes_text = kind is Any or str in _parts(kind)
    return question.text if takes_text and (name in _QUESTIONS or socket.get("is_mandatory")) else None


def _parts(kind: Any) -> list[Any]:
    """A type and all types inside it: of `list[str] | None`, list, str and None.

    A type may be its name, where its module postpones annotations.
    """
    if isinstance(kind, str):
        return [str] if re.search(r"\b(str|Any)\b", kind) else []
    return [kind, *(part for argument in typing.get_args(kind) for part in _parts(argument))]


def _result(pipeline: Any, outputs: Components) -> PipelineResult:
    result: PipelineResult = {}
    for given in outputs.values():
        if given.get(_ANSWERS):
            answer = given[_ANSWERS][0]
            result |= {"answer": answer, "documents": getattr(answer, _DOCUMENTS, None)}
        elif given.get(_REPLIES) and "answer" not in result:
            result["answer"] = given[_REPLIES][0]
    last = _last_with_documents(pipeline, outputs)
    if last is not None and result.get("documents") is None:
        result["documents"] = outputs[last][_DOCUMENTS]
    return result


def _last_with_documents(pipeline: Any, outputs: Components) -> str | None:
    """The component whose documents were used: no other one after it gave some too, as a ranker after a retriever."""
    names = [name for name, given in outputs.items() if isinstance(given.get(_DOCUMENTS), list)]
    earlier = {name for name in names if _descendants(pipeline.graph, name) & set(names)}
    return next((name for name in names if name not in earlier), None)


def _descendants(graph: Any, name: str) -> set[str]:
    reached: set[str] = set()
    waiting = [name]
    while waiting:
        for follower in graph.successors(waiting.pop()):
            if follower not in reached:
                reached.add(follower)
                waiting.append(follower)
    return reached
