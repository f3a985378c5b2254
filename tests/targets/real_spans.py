"""Spans of RAG systems made with the real LangChain, LlamaIndex and Haystack, as OpenInference's packages write them.

`test_real_libraries.py` runs it in an environment that has them: `python real_spans.py langchain spans.jsonl`.
"""

import sys
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

QUESTION, ANSWER, PASSAGE = "What is the capital of France?", "Paris", "Paris is the capital of France."


def langchain(provider: TracerProvider) -> None:
    from langchain_core.documents import Document
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnablePassthrough
    from openinference.instrumentation.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument(tracer_provider=provider)

    class Retriever(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [Document(page_content=PASSAGE, id="fr")]

    prompt = ChatPromptTemplate.from_template("{context} {question}")
    sources = {"context": Retriever(), "question": RunnablePassthrough()}
    (sources | prompt | FakeListChatModel(responses=[ANSWER])).invoke(QUESTION)


def llama_index(provider: TracerProvider) -> None:
    from llama_index.core import Settings, VectorStoreIndex
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
    from llama_index.core.schema import TextNode
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    class Model(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata()

        def complete(self, prompt: str, formatted: bool = False, **options: Any) -> CompletionResponse:
            return CompletionResponse(text=ANSWER)

        def stream_complete(self, prompt: str, formatted: bool = False, **options: Any) -> Any:
            raise NotImplementedError

    Settings.llm, Settings.embed_model = Model(), MockEmbedding(embed_dim=4)
    index = VectorStoreIndex([TextNode(text=PASSAGE, id_="fr")])
    LlamaIndexInstrumentor().instrument(tracer_provider=provider)  # now: making an index is a trace of its own
    index.as_query_engine().query(QUESTION)


def haystack(provider: TracerProvider) -> None:
    from haystack import Document, Pipeline, component
    from haystack.components.builders import ChatPromptBuilder
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.dataclasses import ChatMessage
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from openinference.instrumentation.haystack import HaystackInstrumentor

    HaystackInstrumentor().instrument(tracer_provider=provider)

    @component
    class ChatGenerator:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            return {"replies": [ChatMessage.from_assistant(ANSWER)]}

    globals()["ChatGenerator"] = ChatGenerator  # the instrumentation looks a class up in its module
    store = InMemoryDocumentStore()
    store.write_documents([Document(id="fr", content=PASSAGE)])
    words = [ChatMessage.from_user("{% for document in documents %}{{ document.content }}{% endfor %}{{ question }}")]
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store))
    pipeline.add_component("prompt", ChatPromptBuilder(words, required_variables="*"))
    pipeline.add_component("llm", ChatGenerator())
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt", "llm")
    pipeline.run({"retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}})


def haystack_answers(provider: TracerProvider) -> None:
    """An answer that no model's span has."""
    from haystack import Document, Pipeline, component
    from haystack.components.builders import AnswerBuilder
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from openinference.instrumentation.haystack import HaystackInstrumentor

    HaystackInstrumentor().instrument(tracer_provider=provider)

    @component
    class Reader:
        @component.output_types(replies=list[str])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            return {"replies": [ANSWER]}

    globals()["Reader"] = Reader
    store = InMemoryDocumentStore()
    store.write_documents([Document(id="fr", content=PASSAGE)])
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store))
    pipeline.add_component("reader", Reader())
    pipeline.add_component("answers", AnswerBuilder())
    pipeline.connect("retriever.documents", "reader.documents")
    pipeline.connect("reader.replies", "answers.replies")
    pipeline.run({"retriever": {"query": QUESTION}, "answers": {"query": QUESTION}})


if __name__ == "__main__":
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    systems = [langchain, llama_index, haystack, haystack_answers]
    {system.__name__: system for system in systems}[sys.argv[1]](provider)
    lines = [span.to_json(indent=None) for span in exporter.get_finished_spans()]
    Path(sys.argv[2]).write_text("\n".join(lines), encoding="utf-8")
