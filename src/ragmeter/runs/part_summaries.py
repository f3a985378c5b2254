"""The summaries of a run in parts: of one column at a time, and what else is counted of one part at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from ragmeter.definition import Metric
from ragmeter.documents.metrics import MetricSummary, Percentiles
from ragmeter.documents.summary import Abstained, AnswerCauses
from ragmeter.documents.summary import DocumentIds as IdFindings
from ragmeter.io.locations import Location
from ragmeter.runs.answer_causes import causes_of
from ragmeter.runs.document_ids import DocumentIds
from ragmeter.runs.parts import RowsParts
from ragmeter.runs.rows import RowsFile
from ragmeter.runs.writer import abstentions_of, numbers_of, summaries_of
from ragmeter.stats.confidence import Confidence


@dataclass(frozen=True)
class PartSummaries:
    """What is computed from a table in parts.

    `confidence` are the interval settings with the cluster column that was used; `numbers` are the table's own, such as
    latency; `abstained` counts the answers that decline; `cause` says where answers failed; `document_ids` is what is
    to be said of the documents' ids.
    """

    confidence: Confidence
    metrics: dict[str, MetricSummary]
    numbers: dict[str, Percentiles]
    abstained: Abstained | None
    document_ids: IdFindings | None
    cause: AnswerCauses | None


def summarise_parts(
    folder: Location,
    parts: Sequence[tuple[str, int]],
    metrics: Sequence[Metric],
    not_scored: Callable[[str], Mapping[str, int]],
    confidence: Confidence,
) -> PartSummaries:
    """Summarise a table in the files of a folder, each given with its number of rows. All qids are different."""
    with closing(RowsParts(folder, parts)) as rows:
        used, summaries = summaries_of(rows, metrics, not_scored, confidence, qids_differ=True)
        numbers = numbers_of(rows)
        cause = causes_of(rows, used)
    ids = DocumentIds(metrics)
    abstained: Counter[str] = Counter()
    for name, _ in parts:
        with closing(RowsFile(folder / name)) as part:
            ids.add(part)
            if (of_part := abstentions_of(part)) is not None:
                abstained.update(of_part.as_dict())
    declined = Abstained(abstained["n"], abstained["right"], abstained["wrong"]) if abstained else None
    return PartSummaries(used, summaries, numbers, declined, ids.described(summaries), cause)
