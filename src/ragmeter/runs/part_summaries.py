"""The summaries of a run in parts, computed from its files while memory stays flat.

The scores of a metric are copied, part by part, to a temporary file of this machine, from which they are read as often
as the exact median takes. Only a bootstrap and clusters need a whole column in memory.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import IO, Any

import numpy as np

from ragmeter.definition import Metric
from ragmeter.io.locations import Location
from ragmeter.runs.document_ids import DocumentIds
from ragmeter.runs.parts import RowsParts
from ragmeter.runs.rows import RowsFile, clusters_of
from ragmeter.runs.run import TEXTS
from ragmeter.runs.writer import abstentions_of
from ragmeter.stats.clusters import Codes
from ragmeter.stats.confidence import AUTO, Confidence
from ragmeter.stats.streamed import can_be_streamed, percentiles_of_pieces, summarise_pieces
from ragmeter.stats.summary import MetricSummary, summarise
from ragmeter.table import NUMBER_COLUMNS, QID, Scores

#: Values that are read at once.
_AT_ONCE = 1 << 20


class PartSummaries:
    """The summaries of a table in parts, which are given with their numbers of rows. All qids are different."""

    def __init__(self, folder: Location, parts: Sequence[tuple[str, int]]) -> None:
        self._folder = folder
        self._parts = parts
        self._rows = sum(rows for _, rows in parts)
        self.abstained: dict[str, int] = {}
        with closing(RowsFile(folder / parts[0][0])) as first:
            self._schema = first.schema

    def compute(
        self, metrics: Sequence[Metric], not_scored: Callable[[str], Mapping[str, int]], confidence: Confidence
    ) -> tuple[Confidence, dict[str, MetricSummary], dict[str, dict[str, float]]]:
        """The interval settings with the cluster column that was used, each metric's summary, and those of numbers."""
        cluster, codes = self._clusters(confidence)
        how = replace(confidence, cluster=cluster)
        numbers = [name for name in NUMBER_COLUMNS if name in self._schema.names]
        streams = can_be_streamed(confidence, cluster)
        copied = [metric.name for metric in metrics] if streams else []
        with ExitStack() as stack:
            columns = {name: stack.enter_context(closing(_Copied())) for name in (*copied, *numbers)}
            self._copy(columns)
            summaries = {
                metric.name: summarise_pieces(
                    columns[metric.name].pieces,
                    self._rows,
                    not_scored(metric.name),
                    binary=metric.binary,
                    direction=metric.direction,
                    bounds=metric.bounds,
                    confidence=confidence,
                )
                if streams
                else self._from_whole(metric, not_scored(metric.name), confidence, codes)
                for metric in metrics
            }
            known = {name: percentiles_of_pieces(columns[name].pieces) for name in numbers}
        return how, summaries, {name: values for name, values in known.items() if values is not None}

    def document_ids(self, metrics: Sequence[Metric], summaries: Mapping[str, MetricSummary]) -> dict[str, Any]:
        """Findings about the ids of documents, for the summary."""
        ids = DocumentIds(metrics)
        for name, _ in self._parts:
            with closing(RowsFile(self._folder / name)) as part:
                ids.add(part)
        return ids.described(summaries)

    def _clusters(self, confidence: Confidence) -> tuple[str | None, Codes | None]:
        texts = [field.name for field in self._schema if field.type in TEXTS]
        if confidence.cluster == AUTO:  # a qid occurs once, and need not be looked at
            texts = [name for name in texts if name != QID]
        return clusters_of(confidence.cluster, texts, lambda name: self._read(name).combine_chunks())

    def _from_whole(
        self, metric: Metric, not_scored: Mapping[str, int], confidence: Confidence, codes: Codes | None
    ) -> MetricSummary:
        return summarise(
            self._read(metric.name).to_numpy(),
            not_scored,
            binary=metric.binary,
            direction=metric.direction,
            bounds=metric.bounds,
            confidence=confidence,
            codes=codes,
        )

    def _read(self, name: str) -> Any:
        with closing(RowsParts(self._folder, self._parts)) as rows:
            return rows.read([name])[name]

    def _copy(self, columns: Mapping[str, _Copied]) -> None:
        """Each column's values, without those that are missing; on the way, answers that decline are counted."""
        abstained: Counter[str] = Counter()
        for name, _ in self._parts:
            with closing(RowsFile(self._folder / name)) as part:
                table = part.read(list(columns))
                abstained.update(abstentions_of(part))
            for column, copied in columns.items():
                values = np.asarray(table[column].drop_null().to_numpy(), np.float64)
                copied.add(values[~np.isnan(values)])
        self.abstained = dict(abstained)


class _Copied:
    """Numbers in a temporary file."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="ragmeter-")  # noqa: SIM115 - closed by close()

    def add(self, values: Scores) -> None:
        """Write these behind the others."""
        self._file.write(values.tobytes())

    def pieces(self) -> Iterator[Scores]:
        """All of them, from the beginning."""
        self._file.seek(0)
        while data := self._file.read(_AT_ONCE * 8):
            yield np.frombuffer(data, np.float64)

    def close(self) -> None:
        """Remove the file."""
        self._file.close()
