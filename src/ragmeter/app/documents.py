"""The documents of a run: found or missed, at which rank, beside which answers; and the questions of one document."""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.analysis.document_list import DocumentList, document_questions, list_documents
from ragmeter.app import wording
from ragmeter.app.fields import in_folder, one_of, page_number, switch
from ragmeter.app.layout import beside
from ragmeter.app.queries import Database
from ragmeter.documents.document_use import DocumentUse
from ragmeter.errors import UnknownNameError
from ragmeter.runs.layout import stamps_of
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, address, element, joined, link, text
from ragmeter.show.page.parts import command, field, hidden, section, table, worded
from ragmeter.wording.document_list import document_cells
from ragmeter.wording.texts import shortened

_LONGEST_ID, _LONGEST = 120, 200
_PAGE, _MOST_QUESTIONS = 25, 100
_SORTED_UP = ("id", "mean_rank", "right")  # the first click on the other titles puts the most first


class Documents:
    """The lists of documents of runs. The latest is kept until its run changes, so that a page of it takes no time."""

    def __init__(self, corpus: Path | None) -> None:
        self._corpus = corpus
        self._latest: tuple[Hashable, DocumentList] | None = None
        self._lock = Lock()

    def of(self, run: Run) -> DocumentList:
        """The list of a run."""
        version = (run.path, stamps_of(run.path))
        with self._lock:
            if self._latest is None or self._latest[0] != version:
                self._latest = version, list_documents(run, corpus=self._corpus)
            return self._latest[1]


def documents_page(run: Run, documents: Documents, query: Mapping[str, str]) -> list[Content]:
    """The page's content."""
    if "retrieved" not in run.columns:
        return [element("p", worded(wording.NO_RETRIEVED), class_="note")]
    listed = documents.of(run)
    has_corpus = listed.useless.never_retrieved is not None
    kinds = {name: words for name, words in wording.KINDS_OF_DOCUMENTS.items() if name != "unseen" or has_corpus}
    kind = one_of(query.get("kind", ""), kinds, "kind")
    ordered, fields = _wanted(listed, kind, query)
    counts = wording.DOCUMENTS_OF_QUESTIONS.format(documents=len(listed), questions=listed.n_questions)
    return [
        element("p", counts, class_="soft"),
        _kinds(run, listed, kinds, kind),
        _search(run, fields),
        _table(run, ordered, fields, query),
        None if has_corpus else _for_corpus(run),
    ]


def _wanted(listed: DocumentList, kind: str, query: Mapping[str, str]) -> tuple[pa.Table, dict[str, object]]:
    """The documents that are asked for in their order, and the fields of an address that ask for them."""
    rows = listed.table
    if kind:
        useless = listed.useless
        ids = {"lost": useless.gold_never_retrieved, "useless": useless.never_useful}.get(
            kind, useless.never_retrieved or []
        )
        wanted = pa.array(ids, pa.large_string())
        rows = (
            _of_corpus(wanted, rows.schema) if kind == "unseen" else rows.filter(pc.is_in(rows["id"], value_set=wanted))
        )
    search = query.get("search", "").strip()
    if search:
        rows = rows.filter(pc.match_substring(rows["id"], search, ignore_case=True))
    sort, descending = query.get("sort", ""), switch(query, "descending")
    if sort:
        one_of(sort, rows.column_names, "sort")
        order = "descending" if descending else "ascending"
        rows = rows.take(pc.sort_indices(rows, sort_keys=[(sort, order)]))
    return rows, {"kind": kind, "search": search, "sort": sort, "descending": 1 if descending else None}


def _of_corpus(ids: pa.Array, schema: pa.Schema) -> pa.Table:
    """Documents that the run says nothing of."""
    none = {"id": ids, "useful": pa.nulls(len(ids), pa.int64()), "mean_rank": pa.nulls(len(ids), pa.float64())}
    none["right"] = none["mean_rank"]
    zeros = pa.array([0] * len(ids), pa.int64())
    return pa.table([none.get(name, zeros) for name in schema.names], schema.names)


def _kinds(run: Run, listed: DocumentList, kinds: Mapping[str, str], chosen: str) -> Markup:
    """What there is to look at: the lists, each with its number of documents."""
    useless = listed.useless
    counts = {
        "": len(listed),
        "lost": len(useless.gold_never_retrieved),
        "useless": len(useless.never_useful),
        "unseen": len(useless.never_retrieved or ()),
    }
    links = [
        link(
            f"{words}: {counts[name]:,}", address("run", run.name, "documents", kind=name), class_="chip",
            aria_current="true" if name == chosen else None,
        )
        for name, words in kinds.items()
    ]  # fmt: skip
    return element("p", [joined(one, " ") for one in links], class_="kinds")


def _search(run: Run, fields: Mapping[str, object]) -> Markup:
    control = element("input", type="search", name="search", value=str(fields["search"]), dir="auto")
    return element(
        "form",
        field(wording.SEARCH, control),
        hidden({name: value for name, value in fields.items() if name != "search"}),
        element("button", wording.SEARCH, class_="quiet"),
        action=address("run", run.name, "documents"),
        method="get",
        class_="filter",
        role="search",
    )


def _table(run: Run, rows: pa.Table, fields: Mapping[str, object], query: Mapping[str, str]) -> Markup:
    """A page of documents, with links to those before and after."""
    total = rows.num_rows
    if not total:
        return element("p", wording.NO_DOCUMENTS, class_="soft")
    page, last = page_number(query), (total + _PAGE - 1) // _PAGE
    begin = (page - 1) * _PAGE
    shown = [DocumentUse(**record) for record in rows.slice(begin, _PAGE).to_pylist()]
    cells = []
    for use in shown:
        _, *figures = document_cells(use)
        where = address("run", run.name, "document", id=use.id)
        cells.append([link(text(shortened(use.id, _LONGEST_ID)), where), *figures])
    titles = [_sortable(run, name, fields) for name in rows.column_names]
    where_we_are = wording.DOCUMENTS_SHOWN.format(first=begin + 1, last=begin + len(shown), total=total)
    return joined(
        beside(page, last, lambda to: address("run", run.name, "documents", **{**fields, "page": to}), where_we_are),
        table(titles, cells, caption=wording.DOCUMENTS, figures=tuple(range(1, len(titles)))),
    )


def _sortable(run: Run, name: str, fields: Mapping[str, object]) -> Markup:
    """A title that sorts by its column, and says what it means."""
    words, says = wording.COLUMNS_OF_DOCUMENTS[name]
    is_sorted, is_descending = fields["sort"] == name, bool(fields["descending"])
    arrow = "" if not is_sorted else " ↓" if is_descending else " ↑"
    descending = not is_descending if is_sorted else name not in _SORTED_UP
    query = {**fields, "sort": name, "descending": 1 if descending else None}
    return link(f"{words}{arrow}", address("run", run.name, "documents", **query), class_="sorts", title=says)


def _for_corpus(run: Run) -> Content:
    """The command for what the page can't know."""
    line = shlex.join(["ragmeter", "documents", run.name, "--corpus", "docs.jsonl", *in_folder(run)])
    return [element("p", worded(wording.WITH_CORPUS), class_="soft"), command(line)]


def document_page(run: Run, database: Database, document: str) -> list[Content]:
    """The questions that a document belongs to, those first that missed it."""
    questions = document_questions(run, document)
    if not questions:
        raise UnknownNameError("document", document[:60], [])
    shown = questions[:_MOST_QUESTIONS]
    records: list[dict[str, Any]] = database.records(run, [one.place for one in shown], ["qid", "question"])
    verdict = {1.0: wording.RIGHT, 0.0: wording.NOT_RIGHT}
    cells = [
        [
            link(text(record.get("qid") or one.place + 1), address("run", run.name, "row", one.place)),
            text(shortened(record.get("question") or "", _LONGEST)),
            str(one.rank) if one.rank else element("span", wording.MISSED, class_="lacking"),
            wording.GOLD if one.is_gold else "",
            "" if one.right is None else verdict.get(one.right, ""),
        ]
        for one, record in zip(shown, records, strict=True)
    ]
    titles = ["qid", wording.QUESTION, wording.RANK, wording.GOLD, wording.ANSWER]
    listed = table(titles, cells, caption=wording.QUESTIONS_OF_DOCUMENT, figures=(2,), texts=(1,)) if cells else None
    more = len(questions) - len(shown)
    return [
        section(
            f"{wording.QUESTIONS_OF_DOCUMENT}: {len(questions):,}",
            listed or element("p", wording.NO_ROWS, class_="soft"),
            element("p", wording.MORE_ROWS.format(count=more), class_="soft") if more > 0 else None,
            name="questions",
        )
    ]
