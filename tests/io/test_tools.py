"""Files of other tools, read without a word of explanation, and what is said about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragmeter import evaluate, export
from ragmeter.engine.results import Evaluation
from ragmeter.errors import ColumnError, InputError
from ragmeter.io.paths import split_path, value_at
from tests.conftest import Run

QUESTION, ANSWER, GOLD, PASSAGE = "Which city?", "It is Paris.", "Paris", "Paris is the capital of France."
ALL = {"question": QUESTION, "answer": ANSWER, "reference": [GOLD], "contexts": [PASSAGE]}


def spans(flat: bool) -> list[dict[str, Any]]:
    """A trace of OpenInference: a chain with a retriever in it; its attributes are columns, or an object."""
    document: dict[str, Any] = {"document.content": PASSAGE, "document.id": "d1", "document.score": 0.5}
    chain = {"openinference.span.kind": "CHAIN", "input.value": QUESTION, "output.value": ANSWER}
    times: dict[str, Any] = {"start_time": "2026-01-01T10:00:01+00:00", "end_time": "2026-01-01T10:00:03+00:00"}
    retriever: dict[str, Any] = {"openinference.span.kind": "RETRIEVER", "input.value": "rewritten"}
    first = {"parent_id": None, **times}
    second = {"parent_id": "s1", **times}
    if flat:
        retriever["retrieval.documents"] = [document]
        first |= {"context.trace_id": "t1", **{f"attributes.{key}": value for key, value in chain.items()}}
        second |= {"context.trace_id": "t1", **{f"attributes.{key}": value for key, value in retriever.items()}}
        return [second, first]
    retriever |= {f"retrieval.documents.0.{key}": value for key, value in document.items()}
    return [{**first, "context": {"trace_id": "t1"}, "attributes": chain},
            {**second, "context": {"trace_id": "t1"}, "attributes": retriever}]  # fmt: skip


FILES: dict[str, tuple[Any, str]] = {
    # a file's content, and what is said about it
    "ragas": (
        [{"user_input": QUESTION, "response": ANSWER, "reference": GOLD, "retrieved_contexts": [PASSAGE],
          "reference_contexts": ["ideal"], "retrieved_context_ids": ["d1"], "reference_context_ids": ["d1"]}],
        "",
    ),
    "deepeval": (
        [{"input": QUESTION, "actual_output": ANSWER, "expected_output": GOLD, "retrieval_context": [PASSAGE],
          "context": ["ideal"]}],
        "read as DeepEval's test cases: question=input, answer=actual_output, reference=expected_output, "
        "contexts=retrieval_context; 'context' is the ideal context, not what was retrieved",
    ),
    "deepeval test run": (
        {"testCases": [{"input": QUESTION, "actualOutput": ANSWER, "expectedOutput": GOLD,
                        "retrievalContext": [PASSAGE], "context": ["ideal"]}], "metricsScores": []},
        "contexts=retrievalContext; 'context' is the ideal context",
    ),
    "deepeval's last test run": (
        {"testRunData": {"testFile": "t.py", "testCases": [
            {"name": "t", "input": QUESTION, "actualOutput": ANSWER, "expectedOutput": GOLD,
             "retrievalContext": [PASSAGE], "success": True}], "conversationalTestCases": []}},
        "contexts=retrievalContext",
    ),
    "promptfoo": (
        {"evalId": "eval-1", "results": {"version": 3, "results": [
            {"id": "r1", "vars": {"question": QUESTION, "context": PASSAGE, "expected": GOLD}, "testIdx": 0,
             "latencyMs": 12, "prompt": {"raw": "Answer."}, "provider": {"id": "openai:gpt-4o", "label": ""},
             "success": False, "error": "Expected output to contain London",
             "response": {"output": ANSWER, "tokenUsage": {"total": 5}}}]}},
        "read as promptfoo's results: question=vars.question, answer=response.output, reference=vars.expected, "
        "contexts=vars.context, latency_ms=latencyMs",
    ),
    "ragchecker": (
        {"results": [{"query_id": "0", "query": QUESTION, "gt_answer": GOLD, "response": ANSWER,
                      "retrieved_context": [{"doc_id": "d1", "text": PASSAGE}]}]},
        "retrieved = the ids in 'retrieved_context'",
    ),
    "squad, flat": (
        [{"id": "q1", "question": QUESTION, "answers": {"text": [GOLD], "answer_start": [0]}, "context": PASSAGE,
          "prediction": ANSWER}],
        "read as SQuAD's answers: reference=answers.text",
    ),
    "langsmith": (
        [{"id": "run", "run_type": "chain", "inputs": {"question": QUESTION}, "error": None,
          "outputs": {"answer": ANSWER, "documents": [{"page_content": PASSAGE, "metadata": {}}]},
          "reference_outputs": {"answer": GOLD}}],
        "question=inputs.question, answer=outputs.answer, contexts=outputs.documents, "
        "reference=reference_outputs.answer",
    ),
    "mlflow table": (
        {"columns": ["inputs", "predictions", "targets", "retrieved_context"],
         "data": [[QUESTION, ANSWER, GOLD, [{"content": PASSAGE, "doc_uri": "d1"}]]]},
        "question=inputs, answer=predictions, contexts=retrieved_context, reference=targets",
    ),
    "mlflow evaluation": (
        [{"inputs": {"query": QUESTION}, "outputs": {"response": ANSWER, "context": PASSAGE},
          "expectations": {"expected_response": GOLD}}],
        "answer=outputs.response, contexts=outputs.context, reference=expectations.expected_response",
    ),
    "databricks": (
        [{"request_id": "1", "request": {"messages": [{"role": "user", "content": QUESTION}]},
          "response": json.dumps({"choices": [{"message": {"content": ANSWER}}]}), "expected_response": GOLD,
          "retrieved_context": [{"doc_uri": "d1", "content": PASSAGE}],
          "expected_retrieved_context": [{"doc_uri": "d1"}]}],
        "question=request.messages[0].content, answer=response.choices[0].message.content, reference=expected_response",
    ),
    "phoenix": (
        [{"context.span_id": "s1", "input": QUESTION, "output": ANSWER, "reference": PASSAGE, "ground_truth": GOLD}],
        "read as Phoenix's questions and answers: question=input, answer=output, contexts=reference",
    ),
    "input and output": (
        [{"input": QUESTION, "output": ANSWER, "expected": GOLD, "contexts": [PASSAGE]}],
        "read as inputs and outputs: question=input, answer=output, reference=expected",
    ),
    "a list for each column": (
        {"name": "mine", **{title: [value] for title, value in ALL.items()}},
        "read as a table with a list for each column; not read: name",
    ),
    "pandas": (
        {title: {"0": value} for title, value in ALL.items()}, "read as a table with an object for each column",
    ),
    "rows by id": ({"q1": ALL, "q2": ALL}, "read as a row for each key"),
    "a list under a name of its own": ({"version": 2, "questions": [ALL, ALL]}, "the rows are those under 'questions'"),
    "lists under two usual names": ({"results": [ALL], "data": [{}]}, "those under 'results', not those under 'data'"),
    "a list under a name in an object": ({"data": {"train": [ALL]}}, "the rows are those under 'train'"),
    "an object in the only row": ({"version": 2, **ALL, "data": {"rows": [{"id": 1}]}}, ""),
    "an object that is the only row": ({**ALL, "tags": ["a", "b"], "runs": [{"id": 1}]}, ""),
}  # fmt: skip
SPLITS = {"train": [ALL], "test": [ALL, ALL], "about": {"by": "me"}}


def read(tmp_path: Path, content: Any, **options: Any) -> tuple[Evaluation, dict[str, Any]]:
    path = tmp_path / "file.json"
    path.write_text(json.dumps(content))
    evaluation = evaluate(path, metrics="token_f1,valid_citations", **options)
    return evaluation, evaluation.rows.to_pylist()[0]


@pytest.mark.parametrize("name", FILES)
def test_files_of_other_tools_are_known(tmp_path: Path, name: str) -> None:
    content, note = FILES[name]
    evaluation, row = read(tmp_path, content)
    assert {column: row[column] for column in ALL} == ALL
    assert evaluation["token_f1"].n_scored == evaluation["token_f1"].n_total
    notes = evaluation.summary.notes
    assert (note in " ".join(notes)) if note else not notes


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (SPLITS, {}, 'several lists of rows: train (1), test (2)\n  say which one: split="train"'),
        (SPLITS, {"split": "tests"}, "and no 'tests': did you mean test?"),
        ({"data": SPLITS}, {}, 'several lists of rows: train (1), test (2)\n  say which one: split="train"'),
        ({"question": ["a", "b"], "answer": ["c"]}, {}, "the lists differ in length: question has 2, answer has 1"),
        ({"question": [], "answer": []}, {}, "the lists have no rows"),
    ],
)
def test_an_object_that_could_be_read_in_several_ways(
    tmp_path: Path, content: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, content, **options)
    assert message in str(error.value)


def test_one_of_several_lists_by_its_name(tmp_path: Path) -> None:
    for document in (SPLITS, {"data": SPLITS}):
        evaluation, _ = read(tmp_path, document, split="test")
        assert evaluation.rows.num_rows == 2


def test_lists_of_ids_are_cells(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps({"retrieved": ["d1", "d2"], "relevant": ["d1", "d3"]}))
    assert evaluate(path, metrics="recall@2")["recall@2"].mean == 0.5
    path.write_text(json.dumps({"retrieved": [["d1", "d2"], ["d4"]], "relevant": [["d1", "d3"], ["d4"]]}))
    assert evaluate(path, metrics="recall@2")["recall@2"].mean == 0.75


def test_details_of_a_tool(tmp_path: Path) -> None:
    _, row = read(tmp_path, FILES["promptfoo"][0])
    assert (row["latency_ms"], row["system_name"], row["qid"]) == (12.0, "openai:gpt-4o", "r1")
    assert "error" not in row  # an assertion that failed is no failure of the system
    _, row = read(tmp_path, FILES["deepeval"][0])
    assert row["context"] == '["ideal"]'
    _, row = read(tmp_path, FILES["ragas"][0])
    assert (row["retrieved"], row["relevant"]) == (["d1"], ["d1"])
    _, row = read(tmp_path, FILES["databricks"][0])
    assert (row["retrieved"], row["relevant"]) == (["d1"], ["d1"])


def test_a_call_of_promptfoo_that_failed(tmp_path: Path) -> None:
    """As promptfoo 0.121 writes it: without a response, and the error where that of an assertion is."""
    content = json.loads(json.dumps(FILES["promptfoo"][0]))
    (answered,) = content["results"]["results"]
    failed = {name: value for name, value in answered.items() if name != "response"}
    content["results"]["results"] += [failed | {"id": "r2", "failureReason": 2, "error": "Python error: no index"}]
    evaluation, _ = read(tmp_path, content)
    assert evaluation.rows["error"].to_pylist() == [None, "Python error: no index"]
    assert evaluation["token_f1"].n_not_scored == {"target_error": 1}


def test_a_mapping_of_the_user_s_comes_first(tmp_path: Path) -> None:
    _, row = read(tmp_path, FILES["deepeval"][0], columns={"contexts": "context"})
    assert (row["contexts"], row["answer"]) == (["ideal"], ANSWER)


@pytest.mark.parametrize("flat", [True, False])
def test_openinference_spans_are_one_row_for_each_trace(flat: bool) -> None:
    gold = [{"qid": "t1", "reference": GOLD}]
    evaluation = evaluate(spans(flat), gold, metrics="token_f1")
    (row,) = evaluation.rows.to_pylist()
    assert (row["qid"], row["question"], row["answer"]) == ("t1", QUESTION, ANSWER)
    assert (row["contexts"], row["retrieved"], row["latency_ms"]) == ([PASSAGE], ["d1"], 2000.0)
    assert json.loads(row["context_details"]) == [{"id": "d1", "score": 0.5}]
    assert "read as spans of OpenInference or OpenTelemetry: a row for each trace" in evaluation.summary.notes[0]


MODEL = {"openinference.span.kind": "LLM", "llm.output_messages.0.message.content": ANSWER}
#: Input, output and kind of a trace's first span as the instrumentations write them, its other span, and the answer.
TRACES: dict[str, tuple[Any, Any, str, dict[str, Any], str | None]] = {
    "langchain: a message": (
        QUESTION, {"type": "ai", "data": {"content": ANSWER, "type": "ai", "name": None}}, "CHAIN", {}, ANSWER,
    ),
    "langchain: a dict": (
        {"question": QUESTION}, {"question": QUESTION, "context": [{"id": "d1"}], "answer": ANSWER}, "CHAIN", {},
        ANSWER,
    ),
    "langchain: a retriever": (QUESTION, {"documents": [{"id": "d1", "page_content": PASSAGE}]}, "RETRIEVER", {}, None),
    "llama_index: a retriever": (QUESTION, ["<NodeWithScore(node=TextNode(id_=d1))>"], "RETRIEVER", {}, None),
    "haystack: a pipeline": (
        {"data": {"retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}}},
        {"llm": {"replies": ["ChatMessage(_role=<ChatRole.ASSISTANT>)"]}}, "CHAIN", MODEL, ANSWER,
    ),
    "haystack: answers without a model's span": (
        {"data": {"retriever": {"query": QUESTION}}},
        {"answers": {"answers": [f"GeneratedAnswer(data='{ANSWER}', query='', documents=[], meta={{}})"]}}, "CHAIN", {},
        ANSWER,
    ),
    "haystack: an answer from a text": (
        {"data": {"reader": {"query": QUESTION}}},
        {"reader": {"answers": [f"ExtractedAnswer(query='data=\\'x\\'', score=0.9, data=\"{ANSWER}\", meta={{}})"]}},
        "CHAIN", {}, ANSWER,
    ),
    "haystack: a message without a model's span": (
        {"data": {"prompt": {"question": QUESTION}}},
        {"llm": {"replies": [f"ChatMessage(_role=<ChatRole.ASSISTANT>, _content=[TextContent(text='{ANSWER}')])"]}},
        "CHAIN", {}, ANSWER,
    ),
    "haystack: a retriever in a pipeline": (
        {"data": {"retriever": {"query": QUESTION}}}, {"retriever": {"documents": ["Document(id=d1)"]}}, "CHAIN", {},
        None,
    ),
    "openai: a model alone": (
        {"messages": [{"role": "user", "content": QUESTION}], "model": "m"}, {"choices": [], "model": "m"}, "LLM",
        {**MODEL, "llm.input_messages.0.message.content": QUESTION}, ANSWER,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRACES)
def test_inputs_and_outputs_that_are_objects(name: str) -> None:
    question, output, kind, other, answer = TRACES[name]
    attributes = {
        "openinference.span.kind": kind,
        "input.value": question if isinstance(question, str) else json.dumps(question),
        "output.value": json.dumps(output),
    }
    documents = {"retrieval.documents.0.document.content": PASSAGE} if kind == "RETRIEVER" else {}
    trace: list[dict[str, Any]]
    trace = [{"context": {"trace_id": "t1"}, "parent_id": None, "attributes": {**other, **attributes, **documents}}]
    trace += [{"context": {"trace_id": "t1"}, "parent_id": "s1", "attributes": other}] if other else []
    (row,) = evaluate(trace, metrics="abstention_correct").rows.to_pylist()
    assert (row["question"], row["answer"]) == (QUESTION, answer)
    if documents:
        assert row["contexts"] == [PASSAGE]
        assert row.get("retrieved") == (["d1"] if "langchain" in name else None), "the ids are in the output"


def test_spans_that_ragmeter_exports_are_read_again(tmp_path: Path) -> None:
    row = {
        "qid": "1",
        "question": QUESTION,
        "answer": ANSWER,
        "latency_ms": 12,
        "retrieved": ["d1"],
        "contexts": [PASSAGE],
    }
    evaluate([row], metrics="valid_citations", run="r", output_dir=tmp_path)
    export("r", "openinference", tmp_path / "spans.json", output_dir=tmp_path)
    evaluation = evaluate(tmp_path / "spans.json", metrics="valid_citations")
    (again,) = evaluation.rows.to_pylist()
    assert {name: again[name] for name in row if name != "qid"} == {name: row[name] for name in row if name != "qid"}


def test_squad_with_its_predictions(tmp_path: Path, ragmeter: Run) -> None:
    qas: list[dict[str, Any]] = [
        {"id": "q1", "question": QUESTION, "answers": [{"text": GOLD, "answer_start": 0}, {"text": GOLD}]}
    ]
    qas += [{"id": "q2", "question": "Who?", "answers": [], "is_impossible": True}]
    document = {"version": "2", "data": [{"title": "France", "paragraphs": [{"context": PASSAGE, "qas": qas}]}]}
    (tmp_path / "dev.json").write_text(json.dumps(document))
    (tmp_path / "predictions.json").write_text(json.dumps({"q1": ANSWER, "q2": ""}))
    done = ragmeter(
        "evaluate", "--results", "predictions.json", "--reference", "dev.json", "--metrics", "token_recall", "--json"
    )
    summary = json.loads(done.stdout)
    assert summary["metrics"]["token_recall"]["mean"] == 1
    assert summary["metrics"]["token_recall"]["n_not_scored"] == {"no_reference": 1}
    assert summary["notes"] == [
        "predictions.json: read as predictions, as SQuAD's are: each key is a qid, each value an answer",
        "dev.json: read as SQuAD: a row for each question, reference=answers.text",
    ]


def test_examples_of_langsmith_are_a_reference(tmp_path: Path) -> None:
    examples = [{"id": "1", "dataset_id": "d", "inputs": {"question": QUESTION}, "outputs": {"answer": GOLD}}]
    evaluation = evaluate([{"id": "1", "answer": ANSWER}], examples, metrics="token_recall")
    assert evaluation.rows["reference"].to_pylist() == [[GOLD]]
    assert evaluation.rows["question"].to_pylist() == [QUESTION]


def test_paths_on_the_command_line(tmp_path: Path, ragmeter: Run) -> None:
    row = {
        "run": {"result": [{"text": ANSWER}]},
        "gold": json.dumps({"best": GOLD}),
        "docs": [{"body": {"t": PASSAGE}}],
    }
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    options = ("answer=run.result[0].text", "reference=gold.best", "contexts=docs[*].body.t")
    columns = [part for option in options for part in ("--column", option)]
    done = ragmeter("evaluate", "--results", "a.jsonl", "--metrics", "token_recall,valid_citations", *columns, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["token_recall"]["mean"] == 1
    done = ragmeter("evaluate", "--results", "a.jsonl", "--metrics", "token_f1", "--column", "answer=run.results")
    assert "--column answer=run.results: no row has 'run.results'" in done.stderr
    assert "there are result" in done.stderr


PATHS = [
    ("a.b", {"a.b": 1}, 1),
    ("a.b", {"a": {"b": 2}}, 2),
    ("a.b.c", {"a": {"b.c": 3}}, 3),
    ("a[1]", {"a": [1, 2]}, 2),
    ("a.1", {"a": [1, 2]}, 2),
    ("a[*].b", {"a": [{"b": 1}, {}, {"b": 2}]}, [1, None, 2]),
    ("a[*].b", {"a": [{}, {}]}, None),
    ("a.b", {"a": [{"b": 1}, {"b": 2}]}, [1, 2]),
    ("a.b", {"a": '{"b": 4}'}, 4),
    ("a.b", {"a": "{not json"}, None),
    ("a[5]", {"a": [1]}, None),
    ("x.b", {"a": 1}, None),
    ("a.]", {"a": 1}, None),
]


@pytest.mark.parametrize(("path", "row", "expected"), PATHS)
def test_paths(path: str, row: dict[str, Any], expected: Any) -> None:
    parts = split_path(path, list(row))
    assert (None if parts is None else value_at(row[parts[0]], parts[1])) == expected


def test_of_a_folder_the_columns_that_paths_begin_with_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "1.jsonl").write_text(json.dumps(FILES["langsmith"][0][0]) + "\n")
    evaluation = evaluate(folder, metrics="token_recall")
    assert evaluation["token_recall"].mean == 1


@pytest.mark.parametrize(
    "content",
    [
        {"data": [{"paragraphs": [{"qas": [3]}]}]},
        {"data": [{"paragraphs": 3}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [3]}]}]}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"startTimeUnixNano": "soon"}]}]}]},
    ],
)
def test_a_file_with_another_form_inside_is_an_error(tmp_path: Path, content: Any) -> None:
    with pytest.raises(InputError, match="has another form"):
        read(tmp_path, content)


def otlp(attributes: dict[str, Any], **others: Any) -> dict[str, Any]:
    """A span in OpenTelemetry's JSON."""

    def value(given: Any) -> dict[str, Any]:
        if isinstance(given, dict):
            return {"kvlistValue": {"values": [{"key": key, "value": value(part)} for key, part in given.items()]}}
        if isinstance(given, list):
            return {"arrayValue": {"values": [value(part) for part in given]}}
        return {"doubleValue": given} if isinstance(given, float) else {"stringValue": given}

    span = {"traceId": "t1", "attributes": [{"key": key, "value": value(of)} for key, of in attributes.items()]}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{**span, **others}]}]}]}


def test_opentelemetry_s_spans_as_lines(tmp_path: Path) -> None:
    chain, retriever = (span["attributes"] for span in spans(flat=False))
    listed = {"openinference.span.kind": "RETRIEVER", "retrieval.documents": [{"document.content": PASSAGE}]}
    for of_retriever in (retriever, listed):
        lines = [otlp(of_retriever, parentSpanId="s1"), otlp(chain)]
        path = tmp_path / "spans.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        gold = [{"qid": "t1", "reference": GOLD}]
        (row,) = evaluate(path, gold, metrics="token_f1,valid_citations").rows.to_pylist()
        assert (row["question"], row["answer"], row["contexts"]) == (QUESTION, ANSWER, [PASSAGE])
    path.write_text('{"resourceSpans": []}\n{"resourceSpans": [3]}\n')
    with pytest.raises(InputError, match="line 2: this begins like OpenTelemetry"):
        evaluate(path, gold, metrics="token_f1")


def test_two_titles_that_could_be_meant_are_not_guessed(tmp_path: Path) -> None:
    row = {"answer": ANSWER, "reference": GOLD, "retrieved_context": [PASSAGE], "context": ["?"]}
    with pytest.raises(ColumnError, match="'retrieved_context' and 'context' could each be the contexts"):
        read(tmp_path, [row])
