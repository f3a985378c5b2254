"""Where the rows are in a JSON document that is an object: the forms of several tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragmeter.io.decoding import JsonObject
from ragmeter.io.titles import is_title
from ragmeter.io.tools.json_tables import Say, holds_rows, rows_of_table
from ragmeter.io.tools.spans.otlp import SPANS, spans_in
from ragmeter.table import NewRow

#: Keys of an object that may have its rows.
ROW_KEYS = ("results", "rows", "data", "records", "testCases", "test_cases", "examples")
#: What promptfoo calls a failure of the system, and not of an assertion.
_CALL_FAILED = 2


def rows_in(document: JsonObject, name: str, split: str | None, say: Say) -> Any:
    """The rows of an object; an object that has none is the only row. `split` names one of several lists of rows.

    If all its values are texts and none of its keys is the title of a column, they are qids with their answers.
    """
    if split is not None and document.get(split) and holds_rows(document[split]):
        return document[split]
    if isinstance(inner := document.get("results"), dict) and holds_rows(inner.get("results")):
        return [_with_failed_call(row) for row in inner["results"]]
    if isinstance(inner := document.get("testRunData"), dict):
        return rows_in(inner, name, split, say)  # DeepEval's last test run
    if holds_rows(document.get(SPANS)):
        return spans_in(document)
    if (table := _split_table(document)) is not None:
        say("read as a table with `columns` and `data`")
        return table
    for key in ROW_KEYS:
        if not holds_rows(document.get(key)):
            continue
        rows = document[key]
        if others := [
            other for other in ROW_KEYS if other != key and document.get(other) and holds_rows(document[other])
        ]:
            say(f"the rows are those under {key!r}, not those under {', '.join(map(repr, others))}")
        if key == "data" and any(isinstance(row, dict) and "paragraphs" in row for row in rows):
            say("read as SQuAD: a row for each question, reference=answers.text")
            return list(_squad(rows))
        return rows
    if document and all(isinstance(value, str) for value in document.values()) and not any(map(is_title, document)):
        say("read as predictions, as SQuAD's are: each key is a qid, each value an answer")
        return [{"qid": qid, "answer": answer} for qid, answer in document.items()]
    rows = rows_of_table(document, name, split, say)
    if rows is None and not any(map(is_title, document)):
        for inner in (document.get(key) for key in ROW_KEYS):  # {"data": {"train": [...], "test": [...]}}
            if isinstance(inner, dict) and any(value and holds_rows(value) for value in inner.values()):
                return rows_in(inner, name, split, say)
    return [document] if rows is None else rows


def _with_failed_call(row: Any) -> Any:
    """A row of promptfoo with the error of a call that failed; `error` alone may also be an assertion that failed."""
    if not isinstance(row, dict) or row.get("failureReason") != _CALL_FAILED or row.get("response"):
        return row
    return row | {"response": {"error": row.get("error")}}


def _split_table(document: JsonObject) -> list[NewRow] | None:
    """The rows of a table that pandas wrote with orient="split", as MLflow keeps its tables."""
    titles, rows = document.get("columns"), document.get("data")
    if not isinstance(titles, list) or not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        return None
    if not rows or any(len(row) != len(titles) for row in rows):
        return None
    return [dict(zip(map(str, titles), row, strict=True)) for row in rows]


def _squad(articles: list[Any]) -> Iterator[NewRow]:
    for article in articles:
        for paragraph in article.get("paragraphs", ()):
            for question in paragraph.get("qas", ()):
                texts = dict.fromkeys(answer.get("text") for answer in question.get("answers", ()))
                row = {"qid": question.get("id"), "question": question.get("question"), "reference": list(texts)}
                row |= {"context": paragraph["context"]} if "context" in paragraph else {}
                row |= {"is_impossible": question["is_impossible"]} if "is_impossible" in question else {}
                yield row | ({"title": article["title"]} if "title" in article else {})
