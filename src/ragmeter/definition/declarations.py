"""The decorators that declare metrics and columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Unpack, get_args, overload

from ragmeter.definition.columns import Derived, Embedded, signature_of
from ragmeter.definition.metrics import COLUMNS, METRICS, Declaration, Direction, Metric
from ragmeter.errors import UsageError


@overload
def column(function: Callable[..., Any]) -> Derived: ...
@overload
def column(
    *, may_lack: Iterable[str] = (), only_with: tuple[str, Any] | None = None
) -> Callable[[Callable[..., Any]], Derived]: ...
def column(
    function: Callable[..., Any] | None = None,
    *,
    may_lack: Iterable[str] = (),
    only_with: tuple[str, Any] | None = None,
) -> Any:
    """Declare a derived column, which several metrics share and which is computed once per block.

    Args:
        function: the function from columns to the column.
        may_lack: columns that a table may lack altogether; then they are None in each row.
        only_with: a setting and its value: with every other value the column is None, and its inputs are not needed.
    """

    def declare(function: Callable[..., Any]) -> Derived:
        inputs, settings = signature_of(function)
        derived = Derived(function.__name__, function, inputs, tuple(settings), frozenset(may_lack), only_with)
        COLUMNS[derived.name] = derived
        return derived

    return declare if function is None else declare(function)


def embedded(function: Callable[..., Any]) -> Embedded:
    """Declare a column that an embedding model fills. The function takes the run's models first, then columns."""
    (_models, *inputs), settings = signature_of(function)
    node = Embedded(function.__name__, function, tuple(inputs), tuple(settings))
    COLUMNS[node.name] = node
    return node


@overload
def metric(function: Callable[..., Any]) -> Metric: ...
@overload
def metric(*, name: str | None = None, **properties: Unpack[Declaration]) -> Callable[[Callable[..., Any]], Metric]: ...
def metric(
    function: Callable[..., Any] | None = None, *, name: str | None = None, **properties: Unpack[Declaration]
) -> Any:
    """Declare a metric, a function from columns to scores.

    Args:
        function: the function.
        name: the metric's name; by default the function's.
        direction: "higher" or "lower", whichever is better.
        binary: whether its scores are 0 or 1, so that its mean is a rate.
        mean_is_rate: False if the mean of its scores reads like a share of answers and is none.
        rate: the metric that gives this share, if there is one.
        needs_short_references: made for references of a few words; a run with many long ones says so.
        is_verdict: a score of 1 says that an answer is right: labels of answers are compared with it, unless another
            metric is named.
        claims: of a share of claims with support, the column of claims and that of the texts that support them: people
            can label these claims.
        judged_twin: of a metric that compares ids, the one that has a model judge the passages.
        holds_lock: its function holds the interpreter's lock, so that processes are faster than threads.
        bounds: the least and the greatest score.
        optional: columns that may be empty in a row: the function gets None there. A row in which another needed column
            is empty has no score.
        may_lack: columns that a table may lack altogether; they are optional, too.
        failed_score: the score of a row that the system was asked and failed to answer, for metrics over all questions;
            by default such a row has no score.
        by_session: a row's score depends on other rows of its conversation: the function gets all rows of the table,
            failed ones too, with None in empty cells and the references of a row as a list.
        per_session: it has a score for each conversation, in the row of its last turn, and `OTHER_TURN` in the others.
        also: names that another tool has for it. A gate and a comparison understand them.
    """
    direction = properties.get("direction", "higher")
    if direction not in get_args(Direction):
        raise UsageError(f"direction must be {' or '.join(get_args(Direction))}, got {direction!r}")

    def declare(function: Callable[..., Any]) -> Metric:
        source = f"{function.__module__}.{function.__qualname__}"
        return add(Metric(name or function.__name__, function, source=source, **properties))

    return declare if function is None else declare(function)


def add(metric: Metric) -> Metric:
    """Register a metric. The same metric may be registered again, another one with its name may not."""
    existing = METRICS.get(metric.base)
    if existing is not None and existing.source != metric.source:
        raise UsageError(
            f"two metrics are called {metric.base!r}: {existing.source} and {metric.source}", hint="rename one of them"
        )
    METRICS[metric.base] = metric
    return metric
