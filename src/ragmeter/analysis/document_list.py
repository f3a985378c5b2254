"""`list_documents()`: what each document does in a run. Found or missed, at which rank, and beside which answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.analysis.passages import doc_id_pattern
from ragmeter.documents.document_use import DocumentUse, UselessDocuments
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import option
from ragmeter.io.reading import Reading
from ragmeter.io.source import open_source
from ragmeter.io.tabular import Tabular, html_lines, html_table
from ragmeter.io.write import RUNS
from ragmeter.metrics.bags import Ids
from ragmeter.metrics.chunks import numbered_documents
from ragmeter.runs.lookup import RunLike, find_run
from ragmeter.runs.run import Run
from ragmeter.table import IDS_AS_WRITTEN, Scores
from ragmeter.wording.document_list import TITLES, document_cells, list_lines

#: The titles of the ids of a corpus, the first of them that a file has.
_ID_TITLES = ("_id", "id", "doc_id", "docid", "document_id", "chunk_id")
#: The metrics that say which answers are right, the most trustworthy first.
_CORRECTNESS = ("jury_correct", "llm_correct", "offline_correct", "exact_match")
_IN_NOTEBOOK = 50  # documents


class DocumentList(Tabular, Sequence[DocumentUse]):
    """The documents of a run, those first that are missed most often, then those that are retrieved most often.

    `useless` has the ids of gold documents that were never retrieved, of documents that were retrieved and never useful
    and, with a corpus, of those that were never retrieved. A document was useful for a question if it was retrieved for
    it and is a gold document of it; in a run without gold documents, if it was retrieved for it and its answer
    is right.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("documents",)

    def __init__(self, run: str, n_questions: int, table: pa.Table, useless: UselessDocuments) -> None:
        self.run, self.n_questions, self.table, self.useless = run, n_questions, table, useless

    @overload
    def __getitem__(self, place: int) -> DocumentUse: ...
    @overload
    def __getitem__(self, place: slice) -> list[DocumentUse]: ...
    def __getitem__(self, place: int | slice) -> DocumentUse | list[DocumentUse]:
        if isinstance(place, slice):
            places = pa.array(range(len(self))[place], pa.int64())
            return [DocumentUse(**record) for record in self.table.take(places).to_pylist()]
        return DocumentUse(**self.table.slice(range(len(self))[place], 1).to_pylist()[0])

    def __len__(self) -> int:
        n_rows: int = self.table.num_rows
        return n_rows

    def __iter__(self) -> Iterator[DocumentUse]:
        return (DocumentUse(**record) for record in self.table.to_pylist())

    def __repr__(self) -> str:
        return "\n".join([f"<DocumentList of {self.run}: {len(self):,} documents>", *list_lines(self.useless)])

    def _repr_html_(self) -> str:
        rows = [document_cells(document) for document in self[:_IN_NOTEBOOK]]
        return html_lines(*list_lines(self.useless)) + html_table(TITLES, rows)

    def _table(self, name: str) -> pa.Table:
        return self.table

    def as_dict(self) -> dict[str, Any]:
        """The documents and the three lists as a dict for JSON."""
        return {
            "run": self.run,
            "n_questions": self.n_questions,
            **self.useless.as_dict(),
            "documents": self.table.to_pylist(),
        }


def list_documents(run: RunLike, *, corpus: Any = None, output_dir: str | Path = RUNS) -> DocumentList:
    """How often each document was retrieved, gold and missed, and how good the answers are that it was retrieved for.

    A chunk counts as its document, as in the run's metrics, and once a question, at its first rank. Questions whose
    retrieved documents are not known (the system failed) don't count.

    Args:
        run: what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
        corpus: all documents that could be retrieved: a file with their ids (`_id`, `id`, `doc_id`), a frame or dicts.
        output_dir: the folder of runs.
    """
    opened = find_run(run, output_dir)
    in_corpus = None if corpus is None else _corpus_ids(corpus)
    uses = _Uses.of(opened, in_corpus)
    corpus_ids = None if in_corpus is None else uses.ids.take(pa.array(np.unique(uses.corpus)))
    table = _counted(uses, _right(opened))
    return DocumentList(
        opened.name, uses.n_questions, table, _useless(table, corpus_ids, has_gold=len(uses.gold.row) > 0)
    )


@dataclass(frozen=True)
class DocumentQuestion:
    """A question that a document was retrieved for, at a rank, or is a gold document of; by its place in the run."""

    place: int
    rank: int | None
    is_gold: bool
    right: float | None


def document_questions(run: RunLike, document: str, *, output_dir: str | Path = RUNS) -> list[DocumentQuestion]:
    """The questions that a document was retrieved for or is a gold document of, those first that missed it.

    Args:
        run: what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
        document: the document's id, as `list_documents()` has it.
        output_dir: the folder of runs.
    """
    opened = find_run(run, output_dir)
    uses = _Uses.of(opened, None)
    number = pc.index(uses.ids, pa.scalar(document, pa.large_string())).as_py()
    if number < 0:
        return []
    n = len(uses.ids)
    keys, firsts = np.unique(uses.retrieved.row * n + uses.of_retrieved, return_index=True)
    is_wanted = keys % n == number
    found = dict(zip((keys[is_wanted] // n).tolist(), _ranks(uses.retrieved, firsts)[is_wanted].tolist(), strict=True))
    gold = set(uses.gold.row[uses.of_gold == number].tolist())
    right = _right(opened)
    questions = [
        DocumentQuestion(
            place,
            int(found[place]) if place in found else None,
            place in gold,
            None if np.isnan(right[place]) else float(right[place]),
        )
        for place in {*found, *gold}
    ]
    return sorted(questions, key=lambda question: (question.rank is not None, question.rank or 0, question.place))


def _useless(table: pa.Table, corpus: pa.Array | None, *, has_gold: bool) -> UselessDocuments:
    ids, is_retrieved = table["id"].combine_chunks(), table["retrieved"].to_numpy() > 0
    is_lost = (table["gold"].to_numpy() > 0) & ~is_retrieved
    never_useful = pc.and_(pc.fill_null(pc.equal(table["useful"].combine_chunks(), 0), False), pa.array(is_retrieved))
    lost, useless = (ids.filter(flags).to_pylist() for flags in (pa.array(is_lost), never_useful))
    by: Literal["gold", "right"] = "gold" if has_gold else "right"
    if corpus is None:
        return UselessDocuments(lost, useless, by)
    never = corpus.filter(pc.invert(pc.is_in(corpus, value_set=ids.filter(pa.array(is_retrieved)))))
    return UselessDocuments(lost, useless, by, never.to_pylist(), len(corpus))


@dataclass(frozen=True)
class _Lists:
    """A column of lists of ids: each id, the row that it stands in, and its place there."""

    ids: pa.Array
    row: Ids
    place: Ids

    @classmethod
    def of(cls, column: pa.Array, known: npt.NDArray[np.bool_]) -> _Lists:
        """The ids of those rows that are known."""
        lists = pc.if_else(pa.array(known), column, pa.scalar(None, column.type))
        row = np.asarray(pc.list_parent_indices(lists), dtype=np.int64)
        begins = np.searchsorted(row, row)
        return cls(pc.cast(pc.list_flatten(lists), pa.large_string()), row, np.arange(len(row)) - begins)

    @classmethod
    def empty(cls) -> _Lists:
        return cls(pa.array([], pa.large_string()), np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True)
class _Uses:
    """What was retrieved and what is gold in a run, with the number of each id's document; `ids` are the documents'."""

    retrieved: _Lists
    gold: _Lists
    of_retrieved: Ids
    of_gold: Ids
    corpus: Ids
    ids: pa.Array
    n_questions: int

    @classmethod
    def of(cls, run: Run, corpus: pa.Array | None) -> _Uses:
        """Those of a run, with the numbers of a corpus' documents if there is one."""
        if "retrieved" not in run.columns:
            raise UsageError(
                f"the run {run.name} has no column 'retrieved': the ids of what was retrieved",
                hint="give the results a column `retrieved` of lists of ids, or passages that are objects with an `id`",
            )
        names = ("retrieved", "relevant", IDS_AS_WRITTEN)
        columns = {name: run.rows([name])[name].combine_chunks() for name in names if name in run.columns}
        marks = columns.get(IDS_AS_WRITTEN)
        as_written = marks is not None and marks.null_count < len(marks)
        known = np.asarray(columns["retrieved"].is_valid())
        retrieved = _Lists.of(columns["retrieved"], known)
        gold = _Lists.of(columns["relevant"], known) if "relevant" in columns else _Lists.empty()
        parts = [retrieved.ids, gold.ids, pa.array([], pa.large_string()) if corpus is None else corpus]
        numbers, ids = numbered_documents(pa.concat_arrays(parts), doc_id_pattern(run), as_written=as_written)
        of_retrieved, of_gold, of_corpus = np.split(numbers, np.cumsum([len(part) for part in parts])[:-1])
        return cls(retrieved, gold, of_retrieved, of_gold, of_corpus, ids, int(known.sum()))


def _counted(uses: _Uses, right: Scores) -> pa.Table:
    """The table of documents in their order."""
    ids, retrieved, gold = uses.ids, uses.retrieved, uses.gold
    n = len(ids)
    keys, firsts = np.unique(retrieved.row * n + uses.of_retrieved, return_index=True)
    gold_keys = np.unique(gold.row * n + uses.of_gold)
    row, document = np.divmod(keys, max(n, 1))
    of_gold = gold_keys % max(n, 1)
    is_hit = np.isin(keys, gold_keys, assume_unique=True)
    judged = ~np.isnan(right[row])
    counts = {
        "retrieved": np.bincount(document, minlength=n),
        "gold": np.bincount(of_gold, minlength=n),
        "missed": np.bincount(of_gold[~np.isin(gold_keys, keys, assume_unique=True)], minlength=n),
    }
    n_judged = np.bincount(document[judged], minlength=n)
    n_right = np.bincount(document[judged], right[row[judged]], n)
    ranks = np.bincount(document, _ranks(retrieved, firsts), n)
    order = np.lexsort((np.arange(n), -counts["retrieved"], -counts["missed"]))
    order = order[(counts["retrieved"] + counts["gold"])[order] > 0]  # others are in the corpus alone
    hits = np.bincount(document[is_hit], minlength=n)
    useful = hits if len(gold_keys) else np.where(n_judged > 0, np.rint(n_right), np.nan)
    return pa.table(
        {
            "id": ids.take(pa.array(order)),
            **{name: values[order] for name, values in counts.items()},
            "useful": pc.cast(pa.array(useful[order], from_pandas=True), pa.int64()),
            "mean_rank": _shares(ranks, counts["retrieved"], order),
            "right": _shares(n_right, n_judged, order),
            "n_judged": n_judged[order],
        }
    )


def _ranks(retrieved: _Lists, firsts: Ids) -> Scores:
    """The rank of each document at its first place in a row: how many documents stand there up to it."""
    is_first = np.zeros(len(retrieved.row), np.int64)
    is_first[firsts] = 1
    so_far = np.concatenate([[0], np.cumsum(is_first)])
    begins = firsts - retrieved.place[firsts]
    return np.asarray(so_far[firsts + 1] - so_far[begins], np.float64)


def _shares(sums: npt.NDArray[Any], counts: npt.NDArray[Any], order: Ids) -> pa.Array:
    shares = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    return pa.array(shares[order], from_pandas=True)


def _right(run: Run) -> Scores:
    """Whether each answer is right by the run's verdict, NaN where there is none: the first metric that has any."""
    for base in _CORRECTNESS:
        for name in run.row_metrics:
            if name.partition("[")[0] == base and run.metrics()[name].n_scored:
                return run.scores(name)
    return np.full(run.n_rows, np.nan)


def _corpus_ids(corpus: Any) -> pa.Array:
    source = open_source(corpus, Reading(), what="the corpus")
    ids: list[str] = []
    for batch in source.batches():
        title = next((title for title in _ID_TITLES if title in batch.columns), None)
        if title is None:
            raise InputError(
                f"the corpus has no column of ids: it has {', '.join(batch.columns)}",
                file=source.name,
                hint=f"call it {' or '.join(_ID_TITLES[:3])}; {option('corpus')} takes BEIR's corpus.jsonl as it is",
            )
        column = batch.columns[title]
        if None in column:
            line = batch.lines[list(column).index(None)] if len(batch.lines) else None
            raise InputError(f"a document without an id ({title})", file=source.name, line=line)
        ids += map(str, column)
    return pa.array(ids, pa.large_string())
