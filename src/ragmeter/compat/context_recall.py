"""ContextRecall: which gold documents were retrieved, and how high they were ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragmeter.compat.base import MetricEvaluator, average, metric
from ragmeter.compat.scoring import Number
from ragmeter.definition import Metric

_COUNTS = ("retrieved_docs_count", "gold_docs_count", "correct_docs_count")
_METRICS = ("context_recall", "context_precision", "context_f1", "ndcg@10", *_COUNTS)


class ContextRecall(MetricEvaluator):
    """Recall, precision, F1 and NDCG@10 of the retrieved documents; chunks stand for their documents.

    Args:
        doc_id_pattern: a regular expression whose first group is the document's id in a chunk's id; without it
            `doc-<urn:uuid:X>::chunk-N` stands for `<urn:uuid:X>`.
    """

    whole = frozenset(_COUNTS)

    def __init__(self, doc_id_pattern: str | None = None) -> None:
        self.doc_id_pattern = doc_id_pattern

    def metrics(self) -> dict[str, Metric]:
        """The four measures and the three counts."""
        return {name.replace("@", "_"): metric(name, doc_id=self.doc_id_pattern) for name in _METRICS}

    def aggregate(self, scores: Mapping[str, Sequence[Number]]) -> dict[str, Number | None]:
        """The averages (of NDCG@10 as `ndcg_10`), and the percentages of rows with a gold document, and with all."""
        recalls = scores["context_recall"]
        return {
            **{name if name == "ndcg_10" else f"avg_{name}": average(values) for name, values in scores.items()},
            "pct_records_with_at_least_one_ref": _percent([recall > 0 for recall in recalls]),
            "pct_records_with_all_refs": _percent([recall == 1 for recall in recalls]),
        }


def _percent(values: Sequence[bool]) -> float | None:
    return 100 * sum(values) / len(values) if values else None
