"""What a run's ids of documents say of its scores: ids that never match, chunks that were read as their documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.definition import Metric
from ragmeter.documents.metrics import MetricSummary
from ragmeter.documents.summary import Chunks, MissingResults, NeverMatch
from ragmeter.documents.summary import DocumentIds as Findings
from ragmeter.metrics.causes import CAUSE
from ragmeter.metrics.chunks import CHUNK_MARK, documents_of
from ragmeter.metrics.ranking import ranked
from ragmeter.runs.rows import StoredRows
from ragmeter.table import IDS_AS_WRITTEN, NO_RESULT, outcome_column

_GOLD, _RETRIEVED = "relevant", "retrieved"
_AT_ONCE = 8_192
_SHOWN = 80  # characters of an example: a text may stand where an id belongs


def document_ids(
    rows: StoredRows, metrics: Sequence[Metric], summaries: Mapping[str, MetricSummary]
) -> Findings | None:
    """What is to be said of the ids of a table; None if they are plain ids that match."""
    ids = _Ids(metrics)
    ids.add(rows)
    return ids.described(summaries)


class _Ids:
    """Counts over a run's table. Without causes or a metric that compares ids, nothing is read."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = [metric for metric in metrics if {_GOLD, _RETRIEVED} <= set(metric.needs)]
        self._patterns = {metric.settings.get("doc_id") for metric in self._metrics} or {None}
        self._n_compared = 0  # rows with ids on both sides
        self._n_missing = 0  # questions with gold documents that no result answers
        self._matched = False
        self._example: dict[str, str] = {}
        self._chunks: set[int] = set()  # hashes: there may be millions of ids
        self._documents: set[int] = set()

    def add(self, rows: StoredRows) -> None:
        """Look at the rows of a table."""
        present = set(rows.schema.names)
        if not (self._metrics or CAUSE in present) or not {_GOLD, _RETRIEVED} <= present:
            return
        outcome = outcome_column(self._metrics[0].name) if self._metrics else ""
        wanted = [name for name in (_GOLD, _RETRIEVED, IDS_AS_WRITTEN, outcome) if name in present]
        for batch in rows.batches(_AT_ONCE, wanted):
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            as_written = columns.get(IDS_AS_WRITTEN)
            is_as_written = as_written is not None and as_written.null_count < len(as_written)
            if self._metrics:
                if None in self._patterns and not is_as_written:
                    self._count_chunks(columns)
                self._count_missing(columns, outcome)
            if not self._matched:
                self._compare(columns, is_as_written)

    def _count_chunks(self, columns: Mapping[str, pa.Array]) -> None:
        for name in (_GOLD, _RETRIEVED):
            ids = pc.unique(pc.list_flatten(columns[name]))
            chunks = ids.filter(pc.match_substring(ids, CHUNK_MARK))
            if len(chunks):
                of_chunks = documents_of(chunks)
                is_chunk = pc.not_equal(chunks, of_chunks)
                self._chunks.update(map(hash, chunks.filter(is_chunk).to_pylist()))
                self._documents.update(map(hash, of_chunks.filter(is_chunk).to_pylist()))

    def _count_missing(self, columns: Mapping[str, pa.Array], outcome: str) -> None:
        has_gold = pc.greater(pc.fill_null(pc.list_value_length(columns[_GOLD]), 0), 0)
        is_missing = pc.fill_null(pc.equal(columns[outcome].cast(pa.string()), NO_RESULT), False)
        self._n_missing += pc.sum(pc.and_(has_gold, is_missing)).as_py() or 0

    def _compare(self, columns: Mapping[str, pa.Array], is_as_written: bool) -> None:
        pairs = zip(columns[_GOLD].to_pylist(), columns[_RETRIEVED].to_pylist(), strict=True)
        rows = [(gold, ids) for gold, ids in pairs if gold and ids]
        if not rows:
            return
        self._n_compared += len(rows)
        if not self._example:
            gold, ids = rows[0]
            self._example = {"retrieved": _shortened(ids[0]), "gold": _shortened(gold[0])}
        both = [gold for gold, _ in rows], [ids for _, ids in rows]
        marks = ["yes" if is_as_written else None] * len(rows)
        self._matched = any(len(ranked.function(*both, marks, doc_id=pattern).row) for pattern in self._patterns)

    def described(self, summaries: Mapping[str, MetricSummary]) -> Findings | None:
        """Findings about a run's ids for its summary; None if they are plain ids that match."""
        never = NeverMatch(self._n_compared, **self._example) if self._n_compared and not self._matched else None
        chunks = Chunks(len(self._chunks), len(self._documents)) if self._chunks else None
        means = dict(self._means_with_zeros(summaries)) if self._n_missing else {}
        findings = Findings(never, chunks, MissingResults(self._n_missing, means) if means else None)
        return None if findings == Findings() else findings

    def _means_with_zeros(self, summaries: Mapping[str, MetricSummary]) -> Iterator[tuple[str, float]]:
        """The means that metrics would have if questions without a result scored 0, as nothing retrieved does."""
        for metric in self._metrics:
            summary = summaries[metric.name]
            if metric.direction == "higher" and metric.bounds[0] == 0 and summary.mean is not None:
                n = summary.n_scored
                yield metric.name, summary.mean * n / (n + self._n_missing)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
