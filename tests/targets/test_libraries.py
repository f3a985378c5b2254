"""Systems as LangChain, LlamaIndex and Haystack build them, generators, and retrievers alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter.effects.limits.caller import Failure
from ragmeter.effects.limits.calls import Limits
from ragmeter.errors import RagmeterWarning, UsageError
from ragmeter.targets.opening import open_target
from ragmeter.targets.port import Answer, Question
from ragmeter.targets.replies import ask
from tests.conftest import Run
from tests.targets import stand_ins
from tests.targets.stand_ins import DOCUMENTS, NODES, Runnable, properties

SCHEMA_OF_CHAIN = properties("input", "chat_history", required=("input",))


def replies(target: Any, *questions: Question) -> list[Answer | Failure]:
    asked = questions or (Question("1", "capital of France?"),)
    return ask(open_target(target), list(asked), Limits(retries=0), None, lambda count: None).in_order


def answer(target: Any) -> Answer:
    [reply] = replies(target)
    assert isinstance(reply, Answer), reply
    return reply


def failure(target: Any) -> str:
    [reply] = replies(target)
    assert isinstance(reply, Failure), reply
    return reply.cause


# -- LangChain ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "returned",
    [
        "Paris",
        stand_ins.AIMessage("Paris"),
        stand_ins.AIMessage([{"type": "text", "text": "Pa"}, {"type": "text", "text": "ris"}]),
        {"messages": [stand_ins.AIMessage("why?", "human"), stand_ins.AIMessage("Paris")]},
        {"input": "why?", "output": "Paris"},
        {"query": "why?", "result": "Paris"},
    ],
)
def test_what_a_runnable_returns(returned: Any) -> None:
    assert answer(Runnable(returned)).answer == "Paris"


def test_a_chain_with_its_documents() -> None:
    chain = Runnable({"input": "why?", "context": DOCUMENTS, "answer": "Paris"}, SCHEMA_OF_CHAIN)
    reply = answer(chain)
    assert (reply.answer, reply.retrieved) == ("Paris", ["d1", "d2"])
    assert reply.contexts == ["Paris is the capital.", "France."]
    assert reply.retrieved_scores is None
    assert chain.given == [{"input": "capital of France?", "chat_history": []}]


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        (properties("question"), {"question": "capital of France?"}),
        (properties("topic"), {"topic": "capital of France?"}),
        (properties("messages"), {"messages": [{"role": "user", "content": "capital of France?"}]}),
        ({"$ref": "#/$defs/In", "$defs": {"In": properties("query", "k")}}, {"query": "capital of France?"}),
        ({"anyOf": [{"type": "string"}, {"type": "object"}]}, "capital of France?"),
        ({"type": "object"}, "capital of France?"),
    ],
)
def test_the_schema_says_how_a_runnable_is_asked(schema: dict[str, Any], given: Any) -> None:
    chain = Runnable("Paris", schema)
    answer(chain)
    assert chain.given == [given]


def test_a_chain_is_given_the_earlier_turns() -> None:
    chain = Runnable({"answer": "Paris"}, SCHEMA_OF_CHAIN)
    replies(chain, Question("1", "a?", "s", 0), Question("2", "b?", "s", 1))
    history = [{"role": "user", "content": "a?"}, {"role": "assistant", "content": "Paris"}]
    assert chain.given[1] == {"input": "b?", "chat_history": history}


def test_documents_with_scores_in_pairs_or_metadata() -> None:
    assert answer(lambda question: [(DOCUMENTS[0], 0.5), (DOCUMENTS[1], 0.25)]).retrieved_scores == [0.5, 0.25]
    scored = stand_ins.Document("x", {"relevance_score": 0.75})
    reply = answer(Runnable([scored]))
    assert (reply.retrieved, reply.contexts, reply.retrieved_scores) == (["x"], ["x"], [0.75])
    assert answer(Runnable([stand_ins.Document("x", {"source": "f.txt"})])).retrieved == ["f.txt"]


# -- LlamaIndex --------------------------------------------------------------------------------------------------------


def test_a_query_engine() -> None:
    reply = answer(stand_ins.QueryEngine(stand_ins.Response("Paris", NODES)))
    assert (reply.answer, reply.retrieved) == ("Paris", ["n1", "n2"])
    assert reply.contexts == ["Paris is the capital.", "France."]
    assert reply.retrieved_scores == [0.9, None]


def test_a_query_engine_that_streams() -> None:
    reply = answer(stand_ins.QueryEngine(stand_ins.StreamingResponse(iter(["Pa", "ris"]), NODES)))
    assert (reply.answer, reply.retrieved, reply.retrieved_scores) == ("Paris", ["n1", "n2"], [0.9, None])
    assert reply.time_to_first_token_ms is not None


def test_a_chat_engine_has_the_turns_of_its_session_only() -> None:
    turns = [Question(f"{s}{t}", f"{s}{t}?", s, t) for t in range(2) for s in ("a", "b", "c")]
    answers = [reply.answer for reply in replies(stand_ins.ChatEngine(), *turns) if isinstance(reply, Answer)]
    assert answers[:3] == ["user a0?", "user b0?", "user c0?"]
    assert answers[3:] == [f"user {s}0? | assistant user {s}0? | user {s}1?" for s in "abc"]


# -- Haystack ----------------------------------------------------------------------------------------------------------

RETRIEVED = [stand_ins.HaystackDocument("h1", "Paris.", score=0.5), stand_ins.HaystackDocument("h2", "Rome.")]
RANKED = RETRIEVED[:1]
TEXT = {"type": "str", "is_mandatory": True}  # a name: the component's module postpones annotations
OPTIONAL = {"type": Any, "is_mandatory": False, "default_value": ""}


def rag(**results: Any) -> stand_ins.Pipeline:
    inputs = {"retriever": {"query": TEXT, "top_k": {"type": int | None, "is_mandatory": False}},
              "prompt": {"question": OPTIONAL, "template": {"type": str | None, "is_mandatory": False}}}  # fmt: skip
    edges = {"retriever": ["ranker"], "ranker": ["prompt"], "prompt": ["llm"]}
    outputs = {"retriever": {"documents": RETRIEVED}, "ranker": {"documents": RANKED}, "prompt": {"prompt": "..."}}
    return stand_ins.Pipeline(inputs, {**outputs, **results}, edges)


@pytest.mark.parametrize("text", ["Paris", stand_ins.HaystackMessage("assistant", "Paris")])
def test_a_pipeline_and_the_documents_that_it_used(text: Any) -> None:
    pipeline = rag(llm={"replies": [text], "meta": [{}]})
    reply = answer(pipeline)
    assert (reply.answer, reply.retrieved, reply.contexts) == ("Paris", ["h1"], ["Paris."])
    assert reply.retrieved_scores == [0.5]
    asked = "capital of France?"
    assert pipeline.given == [{"retriever": {"query": asked}, "prompt": {"question": asked}}]


def test_a_pipeline_with_an_answer_builder() -> None:
    built = stand_ins.GeneratedAnswer("Paris", "q", RETRIEVED)
    reply = answer(rag(builder={"answers": [built]}))
    assert (reply.answer, reply.retrieved) == ("Paris", ["h1", "h2"])


def test_a_pipeline_that_takes_messages_or_more_than_a_question() -> None:
    messages = {"type": list[stand_ins.HaystackMessage], "is_mandatory": True}
    pipeline = stand_ins.Pipeline({"llm": {"messages": messages}}, {"llm": {"replies": ["Paris"]}}, {})
    assert answer(pipeline).answer == "Paris"
    assert pipeline.given[0]["llm"]["messages"][0].text == "capital of France?"
    number = {"retriever": {"query": TEXT, "year": {"type": int, "is_mandatory": True}}}
    assert "needs retriever.year" in failure(stand_ins.Pipeline(number, {}, {}))
    assert "takes the question" in failure(stand_ins.Pipeline({}, {}, {}))


# -- Generators, and objects of the user's -----------------------------------------------------------------------------


async def stream(question: str) -> AsyncIterator[str]:
    yield ""
    await asyncio.sleep(0.02)
    yield "Pa"
    await asyncio.sleep(0.02)
    yield "ris"


def test_an_async_generator_is_streamed() -> None:
    reply = answer(stream)
    assert reply.answer == "Paris"
    assert reply.time_to_first_token_ms is not None
    assert 20 <= reply.time_to_first_token_ms <= reply.latency_ms - 20


def test_generators_of_chunks() -> None:
    def chunks(question: str) -> Iterator[Any]:
        yield {"context": DOCUMENTS}
        yield {"answer": "Pa"}
        yield {"answer": "ris"}

    reply = answer(chunks)
    assert (reply.answer, reply.retrieved) == ("Paris", ["d1", "d2"])
    chain = Runnable([stand_ins.AIMessage("Pa"), stand_ins.AIMessage("ris")])
    assert answer(chain.stream).answer == "Paris"


def test_a_stream_that_fails_or_has_nothing() -> None:
    async def broken(question: str) -> AsyncIterator[str]:
        yield "Pa"
        raise ValueError("cut")

    def empty(question: str) -> Iterator[str]:
        yield from ()

    assert "ValueError: cut" in failure(broken)
    assert "without any text" in failure(empty)


@pytest.mark.parametrize("name", ["invoke", "query", "run", "chat", "retrieve", "__call__"])
def test_an_object_is_asked_by_the_method_that_it_has(name: str) -> None:
    system = type("System", (), {name: lambda self, question: f"{name} {question}"})
    assert answer(system()).answer == f"{name} capital of France?"
    assert answer(system).answer == f"{name} capital of France?" if name != "__call__" else True


def test_an_object_that_has_none() -> None:
    with pytest.raises(UsageError, match="can't be asked"):
        open_target(object())


def test_what_still_is_no_answer() -> None:
    assert "returned object" in failure(lambda question: object())
    assert "returned set" in failure(lambda question: {"a"})
    assert "dict with no `answer`" in failure(lambda question: {"context": "all in one piece"})


# -- A retriever alone -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", [stand_ins.Retriever(), Runnable([*DOCUMENTS]), lambda question: {"documents": []}])
def test_a_retriever_gives_no_answer(system: Any) -> None:
    reply = answer(system)
    assert reply.only_retrieved
    assert reply.retrieved is not None


def test_ranking_metrics_work_and_answer_metrics_say_why_not(tmp_path: Path) -> None:
    rows = [{"qid": "1", "question": "capital?", "relevant": ["n2"], "reference": "Paris"}]
    with pytest.warns(RagmeterWarning, match="is a retriever.*so token_f1 can't be scored"):
        done = ragmeter.ask(rows, stand_ins.Retriever(), metrics="token_f1,mrr,recall@5", output_dir=tmp_path)
    assert (done["mrr"].mean, done["recall@5"].mean) == (0.5, 1.0)
    assert done["token_f1"].n_not_scored == {"no_answer": 1}
    assert done.rows["retrieved_scores"].to_pylist() == ["[0.9, null]"]
    assert done.rows["contexts"].to_pylist() == [["Paris is the capital.", "France."]]


def test_the_command_asks_a_retriever(ragmeter: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Retriever:\n    def retrieve(self, q):\n        return [{'id': 'd1', 'text': 'Paris.', 'score': 0.5}]\n"
    )
    (tmp_path / "qa.jsonl").write_text(
        '{"qid": "1", "question": "capital?", "relevant": ["d1"], "reference": "Paris"}\n'
    )
    done = ragmeter("ask", "--dataset", "qa.jsonl", "--target", "mine:Retriever", "--metrics", "mrr,token_f1")
    assert done.returncode == 0, done.stderr
    assert "the system is a retriever" in done.stderr
    assert "mrr" in done.stdout
