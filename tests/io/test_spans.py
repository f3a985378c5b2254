"""Traces of agents: their hops, as real libraries write them, and what is not as it should be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ragmeter import evaluate
from ragmeter.documents.hops import Hop, read_hops

DATA = Path(__file__).parent.parent / "data" / "spans"
QUESTION, ANSWER = "What is the capital of France?", "Paris"
QUERY = {"query": "capital of France"}
FRENCH, ITALIAN = "Paris is the capital of France.", "Rome is the capital of Italy."
FOUND: dict[str, Any] = {"query": QUERY["query"], "tool": "search", "arguments": QUERY}

#: What each library's agent did, without times.
HOPS: dict[str, list[Hop]] = {
    "langgraph": [
        Hop("llm", tokens=15),
        Hop(
            "retrieval", query="capital of Italy", ids=("it",), texts=(ITALIAN,), tool="search",
            arguments={"query": "capital of Italy"},
        ),
        Hop("llm", tokens=15),
        Hop("retrieval", ids=("fr",), texts=(FRENCH,), **FOUND),
        Hop("tool", texts=("42",), tool="multiply", arguments={"a": 6, "b": 7}),
        Hop("llm", tokens=15),
    ],
    "llama_index": [
        Hop("llm"),
        Hop("retrieval", ids=("fr", "it"), texts=(FRENCH, ITALIAN), scores=(1.0, 1.0), **FOUND),
        Hop("llm"),
    ],
    "haystack": [Hop("retrieval", ids=("fr",), texts=(FRENCH,), scores=(1.322237867684818,), **FOUND)],
    "openai_agents": [
        Hop("llm", tokens=9),
        Hop("retrieval", ids=("fr",), texts=(FRENCH,), **FOUND),
        Hop("llm", tokens=9),
    ],
    "strands": [Hop("llm", tokens=9), Hop("tool", texts=(FRENCH,), **FOUND), Hop("llm", tokens=9)],
    "strands_latest": [Hop("llm", tokens=9), Hop("tool", texts=(FRENCH,), **FOUND), Hop("llm", tokens=9)],
}  # fmt: skip


def rows_of(source: Any, metrics: str = "step_count") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = evaluate(source, metrics=metrics).rows.to_pylist()
    return rows


def hops_of(row: dict[str, Any]) -> list[Hop]:
    hops = read_hops(row["hops"])
    assert hops is not None
    return [replace(hop, latency_ms=None) for hop in hops]


@pytest.mark.parametrize("library", HOPS)
def test_agents_of_real_libraries(library: str) -> None:
    (row,) = rows_of(DATA / f"{library}.jsonl")
    assert (row["question"], row["answer"]) == (QUESTION, ANSWER)
    assert hops_of(row) == HOPS[library]
    assert FRENCH in row["contexts"]
    assert row.get("retrieved") == (
        None if "strands" in library else [i for hop in HOPS[library] for i in hop.ids or ()]
    )
    assert all(hop.latency_ms is not None and hop.latency_ms > 0 for hop in read_hops(row["hops"]) or ())


def test_the_same_hops_from_otlp(tmp_path: Path) -> None:
    """The spans of Strands as a collector writes them."""

    def value(given: Any) -> dict[str, Any]:
        kinds = {str: "stringValue", int: "intValue", bool: "boolValue", float: "doubleValue"}
        return {kinds[type(given)]: str(given) if type(given) is int else given}

    def attributes(given: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"key": key, "value": value(of)} for key, of in given.items()]

    spans = [json.loads(line) for line in (DATA / "strands.jsonl").read_text().splitlines()]
    listed = [
        {
            "traceId": span["context"]["trace_id"], "spanId": span["context"]["span_id"],
            "parentSpanId": span["parent_id"] or "", "name": span["name"], "attributes": attributes(span["attributes"]),
            "startTimeUnixNano": str(10**18 + place), "endTimeUnixNano": str(10**18 + 2 * 10**6),
            "events": [{"name": e["name"], "attributes": attributes(e["attributes"])} for e in span["events"]],
        }
        for place, span in enumerate(sorted(spans, key=lambda span: str(span["start_time"])))
    ]  # fmt: skip
    path = tmp_path / "spans.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": listed}]}]}))
    (row,) = rows_of(path)
    assert hops_of(row) == HOPS["strands"]
    assert row["answer"] == ANSWER


def span(name: str, parent: str | None = None, *, at: float = 0, trace: str = "t", **attributes: Any) -> dict[str, Any]:
    kind = attributes.pop("kind", "CHAIN")
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return {
        "context": {"trace_id": trace, "span_id": name}, "parent_id": parent, "name": name,
        "start_time": 1.7e9 + at, "end_time": 1.7e9 + at + 1,
        "attributes": {"openinference.span.kind": kind, **named},
    }  # fmt: skip


def retriever(name: str, parent: str | None, *ids: str, at: float = 0) -> dict[str, Any]:
    documents = [{"document.id": i, "document.content": f"text {i}"} for i in ids]
    return span(name, parent, at=at, kind="RETRIEVER", input__value=name, retrieval__documents=documents)


ROOT = span("root", None, input__value="why?", output__value="so")


def test_a_retriever_in_a_retriever_is_one_hop() -> None:
    (row,) = rows_of([ROOT, retriever("outer", "root", "a", "b"), retriever("inner", "outer", "a", at=0.1)])
    assert [hop.ids for hop in hops_of(row)] == [("a", "b")]
    assert row["retrieved"] == ["a", "b"]


def test_a_tool_with_several_retrievals_is_a_hop_beside_them() -> None:
    tool = span("search", "root", kind="TOOL", tool__name="search", input__value='{"query": "x"}', output__value="y")
    rows = [ROOT, tool, retriever("r1", "search", "a", at=0.1), retriever("r2", "search", "b", at=0.2)]
    (row,) = rows_of(rows)
    assert [(hop.kind, hop.tool) for hop in hops_of(row)] == [
        ("tool", "search"),
        ("retrieval", None),
        ("retrieval", None),
    ]


def test_costs_and_errors() -> None:
    model = span("m", "root", kind="LLM", llm__cost__total=0.25, llm__token_count__prompt=3)
    failed = {**retriever("r", "root", at=1), "status_code": "ERROR", "status_message": "index is down"}
    (row,) = rows_of([ROOT, model, failed], "step_count,cost_per_question")
    first, second = hops_of(row)
    assert (first.tokens, first.cost, float(row["cost_usd"])) == (3, 0.25, 0.25)
    assert (second.error, second.ids) == ("index is down", None)


def notes_and_row(spans: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    evaluation = evaluate(spans, metrics="step_count")
    (row,) = evaluation.rows.to_pylist()
    return " ".join(evaluation.summary.notes), row


def test_a_trace_that_was_cut_has_its_first_span_as_root() -> None:
    rows = [retriever("r", "a", "d1", at=2), span("a", "gone", input__value="why?", output__value="so", at=1)]
    notes, row = notes_and_row(rows)
    assert "1 trace has no span without a parent" in notes
    assert (row["question"], row["answer"], row["retrieved"]) == ("why?", "so", ["d1"])


def test_a_circle_of_parents() -> None:
    rows = [span("a", "b", input__value="why?", output__value="so"), retriever("b", "a", "d1", at=1)]
    notes, row = notes_and_row(rows)
    assert "no span without a parent" in notes
    assert (row["question"], [hop.ids for hop in hops_of(row)]) == ("why?", [("d1",)])
    (own,) = rows_of([span("a", "a", input__value="why?")])
    assert own["question"] == "why?"


def test_two_roots() -> None:
    notes, row = notes_and_row([span("late", None, at=5, input__value="later?"), ROOT, retriever("r", "late", "d")])
    assert "1 trace has several spans without a parent" in notes
    assert (row["question"], row["retrieved"]) == ("why?", ["d"])


def test_spans_that_are_of_no_kind_are_no_hops() -> None:
    web = {**span("GET /", None, at=-1), "attributes": {"http.method": "GET"}}
    (row,) = rows_of([web, {**ROOT, "parent_id": "GET /"}, retriever("r", "root", "d")])
    assert (row["question"], row["answer"]) == ("why?", "so")
    assert len(hops_of(row)) == 1


@pytest.mark.parametrize("nested", [True, False])
def test_ten_thousand_hops(nested: bool) -> None:
    spans = [ROOT]
    for number in range(10_000):
        parent = f"s{number - 1}" if nested and number else "root"
        tool = {"kind": "TOOL", "tool__name": f"t{number}", "input__value": "{}", "output__value": "y"}
        spans.append(span(f"s{number}", parent, at=number, **tool))
    (row,) = rows_of(spans)
    assert row["step_count"] == 10_000


HOSTILE = ["=cmd|' /C calc'!A0", "<script>alert(1)</script>", "half \ud800", "nul \0", "]}" * 50, "'" * 5_000]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts(text: str) -> None:
    tool = span("t", "root", kind="TOOL", tool__name=text, input__value=text, output__value=text)
    document = {"document.id": text, "document.content": text, "document.metadata": text}
    found = span("r", "root", kind="RETRIEVER", input__value=text, retrieval__documents=[document], at=1)
    root = span("root", None, input__value=text, output__value=f"ToolCall(tool_name={text}, arguments={{}} {text}")
    (row,) = rows_of([root, tool, found])
    clean = text.replace("\ud800", "\ufffd")
    assert [(hop.kind, hop.texts) for hop in hops_of(row)] == [("tool", (clean,)), ("retrieval", (clean,))]
    assert row["question"] == clean


@pytest.mark.parametrize(
    "attributes",
    [
        {"retrieval.documents": "no list"}, {"retrieval.documents": [3, None, "x"]}, {"retrieval.documents.x.y": 1},
        {"llm.output_messages": {"a": [1]}}, {"llm.token_count.total": "many"}, {"llm.cost.total": float("nan")},
        {"gen_ai.input.messages": "[{]"}, {"gen_ai.output.messages": [[[]]]}, {"tool.name": ["a"]},
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["LLM", "TOOL", "RETRIEVER"])
def test_attributes_of_other_types(attributes: dict[str, Any], kind: str) -> None:
    odd = span("odd", "root", kind=kind)
    odd["attributes"] |= attributes
    (row,) = rows_of([ROOT, odd])
    assert len(hops_of(row)) == 1
    assert row["answer"] == "so"


def test_events_and_times_of_other_types() -> None:
    odd = {**span("odd", "root", kind="LLM"), "events": [3, {"name": 1}], "start_time": "soon", "end_time": {}}
    (row,) = rows_of([ROOT, odd])
    assert hops_of(row) == [Hop("llm")]


def test_traces_keep_their_order_and_may_be_mixed() -> None:
    spans = [{**ROOT, "context": {"trace_id": f"t{n}", "span_id": "root"}} for n in range(50)]
    found = [{**retriever("r", "root", f"d{n}"), "context": {"trace_id": f"t{n}", "span_id": "r"}} for n in range(50)]
    rows = rows_of([*spans, *reversed(found)])
    assert [(row["qid"], row["retrieved"]) for row in rows] == [(f"t{n}", [f"d{n}"]) for n in range(50)]
