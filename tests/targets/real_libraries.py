"""RAG systems made with the real LangChain, LlamaIndex and Haystack, asked by ragmeter; prints what came as JSON.

`test_real_libraries.py` runs it in an environment that has one of them: `python real_libraries.py langchain`.
"""

import json
import sys
import tempfile
import warnings
from typing import Any

import ragmeter

ROWS = [
    {"qid": "1", "question": "What is the capital of France?", "reference": "Paris", "relevant": ["fr"]},
    {"qid": "2", "question": "What is the capital of Italy?", "reference": "Rome", "relevant": ["it"]},
]
TEXTS = {"fr": "Paris is the capital of France.", "it": "Rome is the capital of Italy."}
SESSION = [{**row, "session_id": "s", "turn_idx": turn} for turn, row in enumerate(ROWS)]


def asked(system: Any, rows: list[dict[str, Any]] = ROWS) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = ragmeter.ask(rows, system, metrics="token_recall,mrr", output_dir=folder, retries=0, workers=2)
        kept = ("answer", "retrieved", "contexts", "retrieved_scores", "time_to_first_token_ms", "error")
        columns = {name: done.rows[name].to_pylist() for name in kept if name in done.rows.column_names}
        return {**columns, "mrr": done["mrr"].mean, "token_recall": done["token_recall"].mean}


def langchain() -> dict[str, Any]:
    from langchain_core.documents import Document
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnablePassthrough
    from langchain_core.vectorstores import InMemoryVectorStore

    class Retriever(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            words = query.rstrip("?").split()
            return [Document(page_content=t, id=key) for key, t in TEXTS.items() if words[-1] in t]

    prompt = ChatPromptTemplate.from_template("Context: {context}\n\nQuestion: {question}")
    model = FakeListChatModel(responses=["Paris or Rome"])
    chain = {"context": Retriever(), "question": RunnablePassthrough()} | prompt | model | StrOutputParser()
    takes_dict = RunnablePassthrough.assign(context=(lambda given: given["question"]) | Retriever()).assign(
        answer=prompt | model | StrOutputParser()
    )
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents([Document(page_content=text, id=key) for key, text in TEXTS.items()])
    return {
        "chain": asked(chain),
        "takes_dict": asked(takes_dict),
        "message": asked(prompt.partial(context="none") | model),
        "streamed": asked(chain.stream),
        "astreamed": asked(chain.astream),
        "retriever": asked(Retriever()),
        "vector_retriever": asked(store.as_retriever()),
        "with_scores": asked(store.similarity_search_with_score),
    }


def llama_index() -> dict[str, Any]:
    from llama_index.core import Settings, VectorStoreIndex
    from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.llms import MockLLM
    from llama_index.core.schema import TextNode

    Settings.llm, Settings.embed_model = MockLLM(), MockEmbedding(embed_dim=4)
    index = VectorStoreIndex([TextNode(text=text, id_=key) for key, text in TEXTS.items()])
    retriever = index.as_retriever(similarity_top_k=2)
    return {
        "query_engine": asked(index.as_query_engine(similarity_top_k=2)),
        "streaming": asked(index.as_query_engine(streaming=True)),
        "retriever": asked(retriever),
        "chat_engine": asked(SimpleChatEngine.from_defaults(llm=MockLLM()), SESSION),
        "context_chat_engine": asked(ContextChatEngine.from_defaults(retriever=retriever, llm=MockLLM()), SESSION),
    }


def haystack() -> dict[str, Any]:
    from haystack import Document, Pipeline, component
    from haystack.components.builders import AnswerBuilder, ChatPromptBuilder, PromptBuilder
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.dataclasses import ChatMessage
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    @component
    class Generator:
        @component.output_types(replies=list[str], meta=list[dict])
        def run(self, prompt: str) -> dict[str, Any]:
            return {"replies": [prompt], "meta": [{}]}

    @component
    class ChatGenerator:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            return {"replies": [ChatMessage.from_assistant(messages[-1].text or "")]}

    store = InMemoryDocumentStore()
    store.write_documents([Document(id=key, content=text) for key, text in TEXTS.items()])
    words = "{% for document in documents %}{{ document.content }} {% endfor %}{{ question }}"

    def pipeline(*, builder: bool) -> Pipeline:
        made = Pipeline()
        made.add_component("retriever", InMemoryBM25Retriever(store))
        made.add_component("prompt", PromptBuilder(template=words, required_variables=["documents"]))
        made.add_component("llm", Generator())
        made.connect("retriever.documents", "prompt.documents")
        made.connect("prompt", "llm")
        if builder:
            made.add_component("builder", AnswerBuilder())
            made.connect("llm.replies", "builder.replies")
            made.connect("retriever.documents", "builder.documents")
        return made

    chat = Pipeline()
    chat.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user("{{ question }}")], required_variables="*"))
    chat.add_component("llm", ChatGenerator())
    chat.connect("prompt", "llm")
    alone = Pipeline()
    alone.add_component("retriever", InMemoryBM25Retriever(store))
    return {
        "pipeline": asked(pipeline(builder=False)),
        "answer_builder": asked(pipeline(builder=True)),
        "chat": asked(chat),
        "retriever": asked(alone),
        "component": asked(InMemoryBM25Retriever(store)),
    }


if __name__ == "__main__":
    library = {"langchain": langchain, "llama_index": llama_index, "haystack": haystack}[sys.argv[1]]
    print(json.dumps(library()))
