"""TREC's files: runs (`qid Q0 document rank score tag`) and qrels (`qid 0 document grade`), also BEIR's with a header.

Lines become one row for each query. The documents of a run are ordered as trec_eval orders them: by score, which it
compares with the precision of a 32-bit float, and among equal scores by document id, both descending. The column of
ranks is not used.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from typing import Any, BinaryIO, Literal, cast

import numpy as np

from ragmeter.errors import InputError
from ragmeter.io.batches import ROWS
from ragmeter.io.delimited.blocks import Continued, TooLongError, blocks_of_lines, decoded
from ragmeter.io.limits import Limit
from ragmeter.table import IDS_AS_WRITTEN, QID, RELEVANCE_GRADES, RETRIEVED_SCORES, Batch

Kind = Literal["run", "qrels"]
#: Bytes that are looked at to tell what a file is.
HEAD = 4096
_HEADER = ("query-id", "corpus-id", "score")
_LINES_OF_HEAD = 5
_FILES = {"run": "a TREC run", "qrels": "TREC qrels"}
_FORMS = {"run": "query Q0 document rank score tag", "qrels": "query 0 document grade"}


def kind_of(head: bytes, encoding: str = "utf-8", *, strict: bool = False) -> Kind | None:
    """What the beginning of a file says it is; None for another format. `strict`: the second field must be Q0 or 0."""
    text = head.decode(encoding, errors="ignore")
    lines = [line.split() for line in text.splitlines()[:_LINES_OF_HEAD] if line.strip()]
    if len(head) >= HEAD and len(lines) > 1 and len(text.splitlines()) <= _LINES_OF_HEAD:
        lines.pop()  # it may be cut off
    if not lines:
        return None
    if tuple(map(str.casefold, lines[0])) == _HEADER:
        return "qrels"
    if strict and any(fields[1].upper() not in ("Q0", "0") for fields in lines if len(fields) > 1):
        return None
    if all(len(fields) == 6 and _is_number(fields[4]) for fields in lines):
        return "run"
    if all(len(fields) == 4 and _is_number(fields[3]) for fields in lines):
        # a grade that is no whole number is an error of its line, in a file that is surely of this form
        is_sure = all(fields[1].upper() in ("Q0", "0") for fields in lines)
        return "qrels" if is_sure or all(_as_grade(fields[3]) is not None for fields in lines) else None
    return None


def reader(
    kind: Kind, name: str, limit: Limit, say: Callable[[str], None]
) -> Callable[[BinaryIO, str], Iterator[Batch]]:
    """What reads a stream of this kind. `say` takes a line that the user should see."""
    return partial(_read_run if kind == "run" else _read_qrels, name=name, limit=limit, say=say)


def read_or(
    stream: BinaryIO,
    encoding: str,
    *,
    other: Callable[[BinaryIO, str], Iterator[Batch]],
    name: str,
    limit: Limit,
    say: Callable[[str], None],
) -> Iterator[Batch]:
    """Read a stream that may be one of TREC's files; `other` reads it if it is not."""
    head = stream.read(HEAD)
    kind = kind_of(head, encoding, strict=True)
    read = other if kind is None else reader(kind, name, limit, say)
    yield from read(cast(BinaryIO, io.BufferedReader(Continued(head, stream), 1 << 20)), encoding)


@dataclass
class _Query:
    """The documents of one query, with a score or a grade for each, and the lines that name them."""

    line: int
    values: dict[str, float] = field(default_factory=dict)


def _read_run(
    stream: BinaryIO, encoding: str, *, name: str, limit: Limit, say: Callable[[str], None]
) -> Iterator[Batch]:
    queries: dict[str, _Query] = {}
    tags: dict[str, None] = {}
    for number, line in _lines(stream, encoding, name, limit):
        try:
            qid, _, document, _, given, tag = line.split()
            score = float(given)
        except ValueError:
            raise _not_a_line("run", line, name, number) from None
        if not isfinite(score):
            raise _not_a_line("run", line, name, number)
        _add(queries, qid, document, score, name, number)
        tags[tag] = None
    tied = 0
    ordered: list[tuple[list[str], list[float]]] = []
    for query in queries.values():
        documents, is_tied = _ordered(query.values)
        tied += is_tied
        ordered.append((documents, [query.values[document] for document in documents]))
    say(f"read as a TREC run: {len(queries):,} queries, ordered by score")
    if tied:
        order = "ordered by document id, descending, as trec_eval does"
        say(f"equal scores in {tied:,} of {len(queries):,} queries: {order}")
    columns: dict[str, list[Any]] = {
        QID: list(queries),
        "retrieved": [documents for documents, _ in ordered],
        RETRIEVED_SCORES: [json.dumps(scores) for _, scores in ordered],
        IDS_AS_WRITTEN: ["yes"] * len(queries),
    }
    if len(tags) == 1:
        columns["system_name"] = list(tags) * len(queries)
    yield from _batches(columns, [query.line for query in queries.values()])


def _ordered(scores: dict[str, float]) -> tuple[list[str], bool]:
    """Documents as trec_eval orders them, and whether some scores are equal."""
    documents = list(scores)
    single = np.array(list(scores.values()), np.float32)
    if (np.diff(single) < 0).all():
        return documents, False
    pairs = sorted(zip(single.tolist(), map(str.encode, documents), documents, strict=True), reverse=True)
    return [document for _, _, document in pairs], len(np.unique(single)) < len(single)


def _read_qrels(
    stream: BinaryIO, encoding: str, *, name: str, limit: Limit, say: Callable[[str], None]
) -> Iterator[Batch]:
    queries: dict[str, _Query] = {}
    fields_in_line = 4
    for number, line in _lines(stream, encoding, name, limit):
        fields = line.split()
        if not queries and tuple(map(str.casefold, fields)) == _HEADER:
            fields_in_line = 3
            continue
        grade = _as_grade(fields[-1])
        if len(fields) == fields_in_line and grade is None and _is_number(fields[-1]):
            raise InputError(
                f"the grade {fields[-1]} is not a whole number",
                file=name,
                line=number,
                hint="trec_eval reads whole numbers alone: multiply all grades, or round them",
            )
        if len(fields) != fields_in_line or grade is None:
            raise _not_a_line("qrels", line, name, number)
        _add(queries, fields[0], fields[-2], grade, name, number)
    judged = sum(len(query.values) for query in queries.values())
    say(f"read as TREC qrels: {len(queries):,} queries, {judged:,} judged documents; a grade above 0 is relevant")
    grades = [query.values for query in queries.values()]
    columns: dict[str, list[Any]] = {
        QID: list(queries),
        "relevant": [[document for document, grade in of.items() if grade > 0] for of in grades],
        RELEVANCE_GRADES: [json.dumps(of, ensure_ascii=False) for of in grades],
        IDS_AS_WRITTEN: ["yes"] * len(queries),
    }
    yield from _batches(columns, [query.line for query in queries.values()])


def _add(queries: dict[str, _Query], qid: str, document: str, value: float, name: str, number: int) -> None:
    query = queries.get(qid)
    if query is None:
        query = queries[qid] = _Query(number)
    if document in query.values:
        raise InputError(
            f"the document {document!r} appears here for the second time for the query {qid!r}",
            file=name,
            line=number,
            hint="a document has one line for each query; trec_eval refuses such a file, too",
        )
    query.values[document] = value


def _batches(columns: dict[str, list[Any]], lines: Sequence[int]) -> Iterator[Batch]:
    for begin in range(0, len(lines), ROWS):
        end = begin + ROWS
        yield Batch({title: column[begin:end] for title, column in columns.items()}, lines[begin:end])


def _lines(stream: BinaryIO, encoding: str, name: str, limit: Limit) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, each with its number."""
    number = 1
    try:
        for block in blocks_of_lines(decoded(stream, encoding), limit):
            for line in block.removesuffix("\n").split("\n"):
                if line and not line.isspace():
                    yield number, line
                number += 1
    except TooLongError:
        raise limit.error("this line", name, number) from None


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _as_grade(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _not_a_line(kind: Kind, line: str, name: str, number: int) -> InputError:
    text = line.strip()
    return InputError(
        f"{text if len(text) <= 60 else text[:57] + '...'!r} is not a line of {_FILES[kind]}",
        file=name,
        line=number,
        hint=f"each line is `{_FORMS[kind]}`, as the first lines of this file are",
    )
