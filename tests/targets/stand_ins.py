"""Classes with the shapes of LangChain's, LlamaIndex's and Haystack's: their attributes and methods, and nothing more.

`test_real_libraries.py` asks the real ones, in `make test-slow`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

# -- LangChain ---------------------------------------------------------------------------------------------------------


@dataclass
class Document:
    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None
    type: str = "Document"


@dataclass
class AIMessage:
    content: str | list[dict[str, Any]]
    type: str = "ai"
    response_metadata: dict[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        raise AssertionError("a method in some versions, a property in others")


DOCUMENTS = [Document("Paris is the capital.", {"source": "geo.txt"}, "d1"), Document("France.", {"doc_id": "d2"}, "x")]


class Schema:
    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema

    def model_json_schema(self) -> dict[str, Any]:
        return self.schema


class Runnable:
    """What it returns for what it is given; `schema` is that of its input."""

    def __init__(self, returned: Any, schema: dict[str, Any] | None = None) -> None:
        self.returned = returned
        self.schema = schema or {"type": "string"}
        self.given: list[Any] = []

    def get_input_schema(self, config: Any = None) -> Schema:
        return Schema(self.schema)

    def invoke(self, given: Any, config: Any = None, **kwargs: Any) -> Any:
        self.given.append(given)
        return self.returned

    def stream(self, given: Any, config: Any = None, **kwargs: Any) -> Iterator[Any]:
        yield from self.returned

    def __call__(self, *arguments: Any) -> Any:
        raise AssertionError("deprecated: invoke is the way")


def properties(*names: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {} for name in names}, "required": list(required)}


# -- LlamaIndex --------------------------------------------------------------------------------------------------------


class TextNode:
    def __init__(self, text: str, node_id: str, metadata: dict[str, Any] | None = None) -> None:
        self.text = text
        self.id_ = node_id
        self.metadata = metadata or {}

    @property
    def node_id(self) -> str:
        return self.id_

    def get_content(self) -> str:
        return self.text


class NodeWithScore:
    def __init__(self, node: TextNode, score: float | None) -> None:
        self.node = node
        self.score = score

    @property
    def metadata(self) -> dict[str, Any]:
        return self.node.metadata


NODES = [NodeWithScore(TextNode("Paris is the capital.", "n1"), 0.9), NodeWithScore(TextNode("France.", "n2"), None)]


@dataclass
class Response:
    response: str | None
    source_nodes: list[NodeWithScore] = field(default_factory=list)
    metadata: dict[str, Any] | None = None

    @property
    def response_gen(self) -> Iterator[str]:
        raise ValueError("response_gen is only available for streaming responses")

    async def async_response_gen(self) -> AsyncIterator[str]:
        if self.response is not None:
            raise ValueError("response_gen is only available for streaming responses")
        yield ""


@dataclass
class StreamingResponse:
    response_gen: Iterator[str]
    source_nodes: list[NodeWithScore] = field(default_factory=list)


class QueryEngine:
    def __init__(self, response: Any) -> None:
        self.response = response

    def query(self, str_or_query_bundle: str) -> Any:
        return self.response

    def retrieve(self, query_bundle: Any) -> Any:
        raise AssertionError("a query engine answers")


class Retriever:
    def retrieve(self, str_or_query_bundle: str) -> list[NodeWithScore]:
        return NODES


class ChatMessage:
    model_fields: ClassVar[dict[str, Any]] = {}

    def __init__(self, role: str, content: str) -> None:
        self.role, self.content = role, content


class ChatEngine:
    """Answers with what it remembers: a memory that is not forgotten in time shows in the answer."""

    def __init__(self) -> None:
        self.memory: list[ChatMessage] = []

    def reset(self) -> None:
        self.memory = []

    def chat(self, message: str, chat_history: list[ChatMessage] | None = None) -> Response:
        if chat_history is not None:
            self.memory = list(chat_history)
        self.memory.append(ChatMessage("user", message))
        words = " | ".join(f"{said.role} {said.content}" for said in self.memory)
        self.memory.append(ChatMessage("assistant", words))
        return Response(words, NODES[:1])


# -- Haystack ----------------------------------------------------------------------------------------------------------


@dataclass
class HaystackDocument:
    id: str
    content: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    score: float | None = None
    embedding: list[float] | None = None


@dataclass
class GeneratedAnswer:
    data: str
    query: str
    documents: list[HaystackDocument]
    meta: dict[str, Any] = field(default_factory=dict)


class HaystackMessage:
    """A ChatMessage: its text is a property, and it has no `content`."""

    def __init__(self, role: str, text: str) -> None:
        self._role, self._text = role, text

    @classmethod
    def from_user(cls, text: str) -> HaystackMessage:
        return cls("user", text)

    @property
    def role(self) -> str:
        return self._role

    @property
    def text(self) -> str:
        return self._text


class Graph:
    def __init__(self, edges: dict[str, list[str]]) -> None:
        self.edges = edges

    def successors(self, name: str) -> list[str]:
        return self.edges.get(name, [])


class Pipeline:
    """A retriever, a ranker and a generator; only what is asked for, or stands last, is in the result."""

    def __init__(self, inputs: dict[str, Any], results: dict[str, Any], edges: dict[str, list[str]]) -> None:
        self._inputs, self._results = inputs, results
        self.graph = Graph(edges)
        self.given: list[dict[str, Any]] = []

    def add_component(self, name: str, instance: Any) -> None:
        raise NotImplementedError

    def inputs(self, include_components_with_connected_inputs: bool = False) -> dict[str, Any]:
        return self._inputs

    def outputs(self, include_components_with_connected_outputs: bool = False) -> dict[str, Any]:
        assert include_components_with_connected_outputs
        return {name: {key: {"type": Any} for key in outputs} for name, outputs in self._results.items()}

    def run(self, data: dict[str, Any], include_outputs_from: set[str] | None = None) -> dict[str, Any]:
        self.given.append(data)
        shown = {name for name in self._results if not self.graph.successors(name)} | (include_outputs_from or set())
        return {name: result for name, result in self._results.items() if name in shown}
