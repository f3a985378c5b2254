"""What a page shows as a file: all of its rows, or the report page."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from starlette.responses import FileResponse, Response

from ragmeter.analysis.comparing import Comparison
from ragmeter.analysis.comparing.row_pairs import Where
from ragmeter.app.queries import Database
from ragmeter.app.row_query import RowQuery
from ragmeter.errors import UnknownNameError
from ragmeter.io.locations import on_disk
from ragmeter.io.write import write_rows
from ragmeter.runs.run import Run
from ragmeter.show.page.compare.view import CompareView
from ragmeter.table import outcome_column

_KINDS = {"csv": "text/csv", "jsonl": "application/jsonl", "parquet": "application/vnd.apache.parquet"}
_SIGN = re.compile(r"ragmeter-file-[0-9a-f]{8}")
_NOT_IN_NAMES = re.compile(r"[^\w.@=-]+")
_LONGEST_NAME = 100
#: Rows that are read at once.
_AT_ONCE = 5_000


class _Download(FileResponse):
    """A file that is deleted when it has been sent."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            Path(self.path).unlink(missing_ok=True)


def signed(response: Response, query: Any) -> Response:
    """With the sign that the page has asked for as a cookie, so that it sees when the file comes."""
    sign = query.get("sign", "")
    if _SIGN.fullmatch(sign):
        response.set_cookie(sign, "1", max_age=60, samesite="strict")
    return response


def drop(response: Response) -> None:
    """Delete the file of a download that is not sent."""
    if isinstance(response, _Download):
        Path(response.path).unlink(missing_ok=True)


def exported_rows(run: Run, database: Database, query: RowQuery, kind: str) -> Response:
    """All columns of the rows that are wanted of a run; all rows as Parquet are the run's own file."""
    name = _named(run.name, *_words(query))
    if kind == "parquet" and query.is_everything and not query.sort and not run.manifest().parts:
        return FileResponse(on_disk(run.rows_path, "the app"), media_type=_KINDS[kind], filename=f"{name}.{kind}")
    places = database.all_rows(run, query)
    if kind == "parquet" and not query.sort:
        return _download(kind, name, partial(_write_parquet, run, np.asarray(places)))
    parts = (places[begin : begin + _AT_ONCE] for begin in range(0, len(places), _AT_ONCE))
    records = (record for part in parts for record in run.records(part, run.columns))
    cells = ([record[name] for name in run.columns] for record in records)
    return _download(kind, name, lambda path: write_rows(path, run.columns, cells, kind))


def _write_parquet(run: Run, places: npt.NDArray[np.int64], path: Path) -> None:
    """Rows in the order of the file, a few at a time, with the types that they have in the run."""
    import pyarrow.parquet as pq

    begin = 0
    with pq.ParquetWriter(path, run.schema) as writer:
        for batch in run.batches(_AT_ONCE):
            inside = places[np.searchsorted(places, begin) : np.searchsorted(places, begin + len(batch))]
            if len(inside):
                writer.write_batch(batch.take(inside - begin))
            begin += len(batch)


def exported_pairs(
    view: CompareView, metric: str, places: Sequence[int], kind: str, chosen: Sequence[str] = ()
) -> Response:
    """The questions that are listed, with each run's answer and score; `chosen` are words of what chose them."""
    shared = [name for name in ("qid", "question", "reference") if name in view.baseline.columns]
    own = ["answer", metric, outcome_column(metric)]
    sides = ((view.baseline, view.pairing.a), (view.candidate, view.pairing.b))

    def lines() -> Iterator[list[Any]]:
        for begin in range(0, len(places), _AT_ONCE):
            part = places[begin : begin + _AT_ONCE]
            records = [run.records([int(rows[place]) for place in part], [*shared, *own]) for run, rows in sides]
            for before, after in zip(*records, strict=True):
                yield [before[name] for name in shared] + [of.get(name) for of in (before, after) for name in own]

    titles = [*shared, *(f"{run.name}.{name}" for run, _ in sides for name in own)]
    name = _named(*(run.name for run, _ in sides), metric, *_cut(view.where), *chosen)
    return _download(kind, name, lambda path: write_rows(path, titles, lines(), kind))


def report_page(runs: Sequence[Run], comparison: Comparison | None = None) -> Response:
    """The page that can be sent to others, with the comparison of several runs."""
    from ragmeter.show.report import MAX_ROWS
    from ragmeter.show.report.page import render

    cut = _cut(comparison.where) if comparison is not None else []
    name = f"{_named('report', *(run.name for run in runs), *cut)}.html"
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return Response(
        render(list(runs), max_rows=MAX_ROWS, comparison=comparison).html, media_type="text/html", headers=headers
    )


def _cut(where: Where) -> list[str]:
    """The slice that a comparison is cut to, for a file's name."""
    return [f"{column}-{value}" for column, value in where.items()]


def _words(query: RowQuery) -> Iterator[str]:
    """What a file has of a run, for its name."""
    yield from query.show
    for condition in query.conditions:
        yield condition.written
    yield query.search


def _named(*words: str) -> str:
    """A name of a file, of what these words have that any file system takes."""
    return "-".join(plain for word in words if (plain := _NOT_IN_NAMES.sub("_", word).strip("_.")))[:_LONGEST_NAME]


def _download(kind: str, name: str, write: Callable[[Path], None]) -> Response:
    """A file that `write` makes."""
    if kind not in _KINDS:
        raise UnknownNameError("format", kind, _KINDS)
    with tempfile.NamedTemporaryFile(delete=False) as file:
        path = Path(file.name)
    try:
        write(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return _Download(path, media_type=_KINDS[kind], filename=f"{name or 'rows'}.{kind}")
