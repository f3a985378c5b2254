"""A run's rankings as trec_eval reads them: a run file, and the gold documents as qrels."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ragmeter.errors import UsageError
from ragmeter.io.write import replacing
from ragmeter.runs.run import Run
from ragmeter.show.exports.rows import own_scores, records
from ragmeter.table import CONTEXT_DETAILS, QID, RELEVANCE_GRADES, RETRIEVED_SCORES, NewRow, Row


def write_trec(run: Run, path: Path, guard: bool) -> list[Path]:
    """`path`, and beside it the qrels where the run knows the gold documents.

    A question that was asked several times stands in each of several files: trec_eval knows a question once.
    """
    if "retrieved" not in run.columns:
        raise UsageError(f"{run.name} has no column 'retrieved', so there is no ranking to export")
    qrels = [path.with_name(f"{path.stem}.qrels")] if "relevant" in run.columns else []
    by_time = _by_time(run)
    numbered = [path.with_name(f"{path.stem}-{time}{path.suffix}") for time in range(2, len(by_time) + 1)]
    files = [path, *numbered][: max(1, len(by_time))]
    with replacing(*files, *qrels, private=True) as temporary:
        for written, rows in zip(temporary, by_time or [[]], strict=False):
            written.write_text("".join(line for row in rows for line in _ranking(row, run.name)), encoding="utf-8")
        for written in temporary[len(files) :]:
            gold = (line for row in (by_time[0] if by_time else ()) for line in gold_lines(row))
            written.write_text("".join(gold), encoding="utf-8")
    return [*files, *qrels]


def _by_time(run: Run) -> list[list[NewRow]]:
    """The rows of each question's first answer, of its second, and so on."""
    wanted = (QID, "retrieved", "relevant", RETRIEVED_SCORES, RELEVANCE_GRADES, CONTEXT_DETAILS)
    seen: dict[str, int] = {}
    times: list[list[NewRow]] = []
    for row in records(run):
        time = seen[row[QID]] = seen.get(row[QID], 0) + 1
        if time > len(times):
            times.append([])
        times[time - 1].append({name: row.get(name) for name in wanted})
    return times


def _ranking(row: Row, tag: str) -> Iterator[str]:
    """A line for each document, at its first rank. trec_eval ranks by score alone, so scores fall from line to line."""
    documents = row["retrieved"] or []
    scores = _falling(own_scores(row), len(documents))
    listed: set[str] = set()
    for place, document in enumerate(documents):
        if document not in listed:
            listed.add(document)
            score = scores[place] if scores else 1 / (place + 1)
            yield f"{_word(row[QID])} Q0 {_word(document)} {len(listed)} {score!r} {_word(tag)}\n"


def _falling(scores: Sequence[Any], count: int) -> list[float]:
    """The system's own scores, if each is below the one before; else none."""
    if len(scores) != count or not all(isinstance(score, int | float) for score in scores):
        return []
    falls = all(first > second for first, second in pairwise(scores))
    return list(map(float, scores)) if falls else []


def gold_lines(row: Row) -> Iterator[str]:
    """A line for each judged document. trec_eval reads whole grades; where one is not, relevant is grade 1."""
    grades: dict[str, float] = json.loads(row[RELEVANCE_GRADES] or "{}")
    if not grades or not all(float(grade).is_integer() for grade in grades.values()):
        grades = dict.fromkeys(row["relevant"] or [], 1)
    for document, grade in grades.items():
        yield f"{_word(row[QID])} 0 {_word(document)} {int(grade)}\n"


def _word(text: str) -> str:
    """An id without white space, which would end it: a space is %20 there, and a % is %25."""
    if text and not re.search(r"[\s%\0]", text):
        return text
    return re.sub(r"[\s%\0]", lambda mark: quote(mark[0], safe=""), text) or "%00"
