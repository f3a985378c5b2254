"""Spans of agents made with the real LangGraph, LlamaIndex, Haystack, OpenAI Agents and Strands, without a model.

It has made the files in `tests/data/spans/`: `python real_agents.py langgraph langgraph.jsonl`, with langgraph 1.2.22,
llama-index-core 0.14.25, haystack-ai 3.4.0, openai-agents 0.24.0 and the newest of OpenInference's packages, and with
strands-agents 1.62.0, whose spans are its own; for the second file of Strands, OTEL_SEMCONV_STABILITY_OPT_IN was
gen_ai_latest_experimental.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

QUESTION, ANSWER = "What is the capital of France?", "Paris"
TEXTS = {"it": "Rome is the capital of Italy.", "fr": "Paris is the capital of France."}
QUERY = {"query": "capital of France"}
#: Attributes that nobody reads here, and that are long.
LEFT_OUT = ("metadata", "mime_type", "invocation_parameters", "embedding", "description", "schema", "event_loop")


def langgraph(provider: TracerProvider) -> None:
    """Two searches, of which the first misses, and a tool that finds nothing."""
    from langchain.agents import create_agent
    from langchain_core.documents import Document
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import tool
    from openinference.instrumentation.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument(tracer_provider=provider)

    class Retriever(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            key = "fr" if "France" in query else "it"
            return [Document(page_content=TEXTS[key], id=key)]

    @tool
    def search(query: str) -> str:
        """Search passages."""
        return "\n".join(document.page_content for document in Retriever().invoke(query))

    @tool
    def multiply(a: int, b: int) -> int:
        """Multiply."""
        return a * b

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    calls = [
        [{"name": "search", "args": {"query": "capital of Italy"}, "id": "c1"}],
        [{"name": "search", "args": QUERY, "id": "c2"}, {"name": "multiply", "args": {"a": 6, "b": 7}, "id": "c3"}],
        [],
    ]
    texts = ["", "", ANSWER]
    said = (
        AIMessage(text, tool_calls=of_step, usage_metadata=usage) for text, of_step in zip(texts, calls, strict=True)
    )
    create_agent(Model(messages=said), [search, multiply]).invoke({"messages": [("user", QUESTION)]})


def llama_index(provider: TracerProvider) -> None:
    from llama_index.core import Settings, VectorStoreIndex
    from llama_index.core.agent.workflow import ReActAgent
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse, CustomLLM, LLMMetadata
    from llama_index.core.llms.callbacks import llm_chat_callback
    from llama_index.core.schema import TextNode
    from llama_index.core.tools import FunctionTool
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    Settings.embed_model = MockEmbedding(embed_dim=4)
    index = VectorStoreIndex([TextNode(text=text, id_=key) for key, text in TEXTS.items()])
    LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    action = f"Thought: search\nAction: search\nAction Input: {json.dumps(QUERY)}"
    replies = iter([action, f"Thought: done\nAnswer: {ANSWER}"])

    class Model(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata()

        def complete(self, prompt: str, formatted: bool = False, **options: Any) -> CompletionResponse:
            raise NotImplementedError

        def stream_complete(self, prompt: str, formatted: bool = False, **options: Any) -> Any:
            raise NotImplementedError

        @llm_chat_callback()
        async def astream_chat(self, messages: Any, **options: Any) -> Any:
            async def pieces() -> AsyncIterator[ChatResponse]:
                text = next(replies)
                yield ChatResponse(message=ChatMessage(role="assistant", content=text), delta=text)

            return pieces()

    retriever = index.as_retriever(similarity_top_k=2)

    def search(query: str) -> str:
        """Search."""
        return "\n".join(node.text for node in retriever.retrieve(query))

    async def ask() -> None:
        await ReActAgent(tools=[FunctionTool.from_defaults(search)], llm=Model()).run(QUESTION)

    asyncio.run(ask())


def haystack(provider: TracerProvider) -> None:
    """The instrumentation has no spans for the tools of Haystack's agents."""
    from haystack import Document, Pipeline, component
    from haystack.components.agents import Agent
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.dataclasses import ChatMessage, ToolCall
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack.tools import ComponentTool
    from openinference.instrumentation.haystack import HaystackInstrumentor

    HaystackInstrumentor().instrument(tracer_provider=provider)
    store = InMemoryDocumentStore()
    store.write_documents([Document(id=key, content=text) for key, text in TEXTS.items()])
    call = ChatMessage.from_assistant(tool_calls=[ToolCall("search", QUERY, "c1")])
    replies = iter([call, ChatMessage.from_assistant(ANSWER)])

    @component
    class ChatGenerator:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], tools: Any = None) -> dict[str, Any]:
            return {"replies": [next(replies)]}

    search = ComponentTool(component=InMemoryBM25Retriever(store, top_k=1), name="search", description="Search")
    pipeline = Pipeline()
    pipeline.add_component("agent", Agent(chat_generator=ChatGenerator(), tools=[search]))
    pipeline.run({"agent": {"messages": [ChatMessage.from_user(QUESTION)]}})


def openai_agents(provider: TracerProvider) -> None:
    from agents import Agent, Runner, function_tool
    from agents.items import ModelResponse
    from agents.models.interface import Model
    from agents.tracing import generation_span
    from agents.usage import Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
    arguments = json.dumps(QUERY)
    text = ResponseOutputText(text=ANSWER, type="output_text", annotations=[])
    function = {"name": "search", "arguments": arguments}
    replies: Any = iter(
        [
            (
                ResponseFunctionToolCall(arguments=arguments, call_id="c1", name="search", type="function_call"),
                {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
            ),
            (
                ResponseOutputMessage(id="m", role="assistant", status="completed", type="message", content=[text]),
                {"role": "assistant", "content": ANSWER},
            ),
        ]
    )

    class Fake(Model):
        async def get_response(
            self,
            system_instructions: Any,
            input: Any,  # noqa: A002 - its name
            *others: Any,
            **options: Any,
        ) -> ModelResponse:
            with generation_span(input=list(input), model="fake") as span:
                item, message = next(replies)
                span.span_data.output = [message]  # as its chat models write it
                span.span_data.usage = {"input_tokens": 7, "output_tokens": 2}
                usage = Usage(requests=1, input_tokens=7, output_tokens=2, total_tokens=9)
                return ModelResponse(output=[item], usage=usage, response_id=None)

        async def stream_response(self, *others: Any, **options: Any) -> Any:
            raise NotImplementedError

    @function_tool
    def search(query: str) -> str:
        """Search."""
        return json.dumps([{"id": "fr", "text": TEXTS["fr"]}])

    asyncio.run(Runner.run(Agent(name="A", tools=[search], model=Fake()), QUESTION))


def strands(provider: TracerProvider) -> None:
    from strands import Agent, tool
    from strands.models import Model

    trace.set_tracer_provider(provider)
    replies = iter(["search", "answer"])

    class Fake(Model):
        def update_config(self, **options: Any) -> None:
            return

        def get_config(self) -> Any:
            return {}

        async def structured_output(self, *others: Any, **options: Any) -> Any:
            yield {}

        async def stream(self, messages: Any, *others: Any, **options: Any) -> Any:
            yield {"messageStart": {"role": "assistant"}}
            is_search = next(replies) == "search"
            use = {"toolUse": {"name": "search", "toolUseId": "c1"}}
            yield {"contentBlockStart": {"start": use if is_search else {}}}
            yield {
                "contentBlockDelta": {
                    "delta": {"toolUse": {"input": json.dumps(QUERY)}} if is_search else {"text": ANSWER}
                }
            }
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "tool_use" if is_search else "end_turn"}}
            usage = {"inputTokens": 7, "outputTokens": 2, "totalTokens": 9}
            yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 3}}}

    @tool
    def search(query: str) -> str:
        """Search."""
        return TEXTS["fr"]

    Agent(model=Fake(), tools=[search], callback_handler=None)(QUESTION)


def short(span: str) -> str:
    """A span without what nobody reads here."""
    whole = json.loads(span)
    attributes = {key: value for key, value in whole["attributes"].items() if not any(word in key for word in LEFT_OUT)}
    events = [{"name": event["name"], "attributes": event["attributes"]} for event in whole["events"]]
    names = ("name", "context", "parent_id", "start_time", "end_time", "status")
    return json.dumps({**{name: whole[name] for name in names}, "attributes": attributes, "events": events})


if __name__ == "__main__":
    exporter, spans_of = InMemorySpanExporter(), TracerProvider()
    spans_of.add_span_processor(SimpleSpanProcessor(exporter))
    systems = [langgraph, llama_index, haystack, openai_agents, strands]
    {system.__name__: system for system in systems}[sys.argv[1]](spans_of)
    lines = [short(span.to_json(indent=None)) for span in exporter.get_finished_spans()]
    Path(sys.argv[2]).write_text("\n".join(lines) + "\n", encoding="utf-8")
