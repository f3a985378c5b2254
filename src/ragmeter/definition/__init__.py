"""Metrics and derived columns: how they are declared and computed.

    @column
    def tokens(reference: Sequence[str], answer: Sequence[str]) -> Tokens: ...  # computed once for all metrics

    @metric(direction="higher")
    def token_f1(token_bags: Bags) -> Scores: ...                   # positional = the columns it needs

    @metric(direction="higher")
    def ndcg(ranked: Ranked, *, k: int | None = None) -> Scores: ...  # keyword-only = its settings, shown in its name

A positional parameter names a column: one of the table's, a derived one, one that a judge fills
(`judge_columns.py`), or another metric. A setting goes down to every column that has one of the same name, so
`rouge_l_score[language=es]` gets Spanish stems.

A column declared with `@embedded` is filled by an embedding model before any metric runs (`Metric.fill`).
"""

from ragmeter.definition.declarations import add, column, embedded, metric
from ragmeter.definition.metrics import METRICS, Direction, Metric, is_builtin, of_script

__all__ = ["METRICS", "Direction", "Metric", "add", "column", "embedded", "is_builtin", "metric", "of_script"]
