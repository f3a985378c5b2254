"""Metrics and derived columns: what they are, how they are declared and how they are computed.

    @column
    def tokens(chunks: Chunks) -> Tokens: ...                       # shared by several metrics, computed once a block

    @metric(direction="higher")
    def token_f1(token_bags: Bags) -> Scores: ...                   # positional = the columns it needs

    @metric(direction="higher")
    def ndcg(ranked: Ranked, *, k: int | None = None) -> Scores: ...  # keyword-only = its settings, shown in its name

A positional parameter names a column: one of the table's, a derived one, one that a judge fills (`asked.py`), or
another metric. A setting goes down to every column that has one of the same name, so `rouge_l_score[language=es]` gets
Spanish stems.
"""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints, overload

import numpy as np

from ragmeter import naming
from ragmeter.asked import ASKED, AskedColumn
from ragmeter.errors import UsageError, errors_of
from ragmeter.table import LIST_COLUMNS, NAMED_COLUMNS, SCORED, UNDEFINED, Block, Failed, Scores, outcomes

Direction = Literal["higher", "lower", "none"]

#: What has been declared so far, by name.
METRICS: dict[str, Metric] = {}
COLUMNS: dict[str, Derived] = {}


@dataclass(frozen=True)
class Derived:
    """A column made from other columns."""

    name: str
    function: Callable[..., Any]
    inputs: tuple[str, ...]
    settings: tuple[str, ...]


class Metric:
    """A function from whole columns to one score per row, with its settings. Equal if its name is equal."""

    def __init__(
        self,
        base: str,
        function: Callable[..., Any],
        *,
        direction: Direction = "higher",
        binary: bool = False,
        bounds: tuple[float, float] = (0.0, 1.0),
        optional: Iterable[str] = (),
        failed_score: float | None = None,
        settings: Mapping[str, Any] | None = None,
        source: str = "",
        owner: object = None,
    ) -> None:
        self.base = base
        self.function = function
        self.owner = owner or function  # what tells two metrics of one name apart: the function, or the scorer
        self.direction = direction
        self.binary = binary
        self.bounds = bounds
        self.optional = frozenset(optional)
        self.failed_score = failed_score
        self.source = source
        self.inputs, self.defaults = _signature(function)
        self.settings: dict[str, Any] = {**self.defaults, **(settings or {})}
        self.__doc__ = inspect.getdoc(function)

    @cached_property
    def name(self) -> str:
        """The canonical name: settings at their default are left out."""
        changed = {key: value for key, value in self.settings.items() if value != self.defaults[key]}
        return naming.render(self.base, changed)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<metric {self.name}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metric) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """The table's columns that it needs in the end, in the order in which it names them."""
        names = tuple(dict.fromkeys(_needs(self, self.settings)))
        if unknown := self.optional.difference(names):
            raise UsageError(f"{self.base} has no column {', '.join(sorted(unknown))} that could be optional")
        return names

    @cached_property
    def asks(self) -> tuple[AskedColumn, ...]:
        """The columns that a judge has to fill for it."""
        columns = {column.name: column for column in _asked_columns(self, self.settings)}
        return tuple(columns.values())

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """The columns that the table must have before a judge fills others."""
        shown = {column.name: column.asked.required for column in self.asks}
        return tuple(dict.fromkeys(read for name in self.needs for read in shown.get(name, [name])))

    def with_settings(self, **settings: Any) -> Metric:
        """The same metric with other settings, given as values or as text."""
        kinds = _type_hints(self.function)
        read = {}
        for key, value in settings.items():
            if key not in self.defaults:
                raise UsageError(
                    f"{self.base} has no setting {key!r}",
                    hint=f"it has: {', '.join(self.defaults)}" if self.defaults else "it has none",
                )
            kind = kinds.get(key, str if self.defaults[key] is None else type(self.defaults[key]))
            read[key] = _read_setting(f"{self.base}: {key}", value, kind)
        return Metric(
            self.base,
            self.function,
            direction=self.direction,
            binary=self.binary,
            bounds=self.bounds,
            optional=self.optional,
            failed_score=self.failed_score,
            settings={**self.settings, **read},
            source=self.source,
            owner=self.owner,
        )

    def score(self, block: Block) -> tuple[Scores, dict[int, str]]:
        """One score per row of the block, NaN where there is none, and the cause of each NaN."""
        key = (self.name, "scores")
        if key not in block.memo:
            block.memo[key] = self._score(block)
        return cast("tuple[Scores, dict[int, str]]", block.memo[key])

    def _score(self, block: Block) -> tuple[Scores, dict[int, str]]:
        columns = [_resolve(name, self.settings, block) for name in self.inputs]
        causes: dict[int, str] = {}
        with errors_of(f"metric {self.name}"):
            result = self.function(*columns, **self.settings)
            if not isinstance(result, np.ndarray):
                result = list(result)
                causes = {i: value.cause for i, value in enumerate(result) if isinstance(value, Failed)}
                result = [math.nan if isinstance(value, Failed) else value for value in result]
            raw = np.asarray(result, dtype=np.float64)
        if self.binary and not np.isin(raw[np.isfinite(raw)], (0, 1)).all():
            raise UsageError(f"metric {self.name} is declared as binary, and returned other scores than 0 and 1")
        if raw.shape not in ((block.rows,), (block.pairs,)):
            raise UsageError(f"metric {self.name} returned {raw.size} scores for {block.pairs} rows")
        best = block.best(raw, self.direction == "lower")
        missing = np.flatnonzero(~np.isfinite(best))
        if len(missing):
            best = np.where(np.isfinite(best), best, np.nan)
        return best, {row: causes.get(block.first_pair(row), UNDEFINED) for row in missing.tolist()}

    def __call__(self, *columns: Sequence[Any]) -> Scores:
        """Score plain lists, in the order of `needs`: texts, or several references or ids per row as lists."""
        if len(columns) != len(self.needs):
            raise TypeError(f"{self.name} takes {len(self.needs)} columns: {', '.join(self.needs)}")
        table: dict[str, list[Any]] = {}
        for name, column in zip(self.needs, columns, strict=True):
            if isinstance(column, str):
                raise TypeError(f"{self.name} scores whole columns: give {name} as a list of texts")
            as_list = list(column)
            has_texts = str in set(map(type, as_list))
            if name == "reference" and has_texts:
                as_list = [[value] if isinstance(value, str) else value for value in as_list]
            elif name in LIST_COLUMNS and has_texts:
                raise TypeError(f"{self.name} needs a list of ids for each row of {name}")
            table[name] = as_list
        rows = len(columns[0])
        if any(len(column) != rows for column in columns):
            raise ValueError(f"columns differ in length: {', '.join(str(len(column)) for column in columns)}")
        found = outcomes(table, self.needs, rows, self.optional)
        scores = np.full(rows, np.nan)
        scores[[outcome == SCORED for outcome in found]] = self.score(Block.of(table, self.needs, found))[0]
        return scores


@overload
def column(function: Callable[..., Any]) -> Derived: ...
@overload
def column() -> Callable[[Callable[..., Any]], Derived]: ...
def column(function: Callable[..., Any] | None = None) -> Any:
    """Declare a derived column: what several metrics share, computed once a block."""

    def declare(function: Callable[..., Any]) -> Derived:
        inputs, settings = _signature(function)
        derived = Derived(function.__name__, function, inputs, tuple(settings))
        COLUMNS[derived.name] = derived
        return derived

    return declare if function is None else declare(function)


@overload
def metric(function: Callable[..., Any]) -> Metric: ...
@overload
def metric(
    *,
    direction: Direction = "higher",
    binary: bool = False,
    bounds: tuple[float, float] = (0.0, 1.0),
    optional: Iterable[str] = (),
    failed_score: float | None = None,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Metric]: ...
def metric(
    function: Callable[..., Any] | None = None,
    *,
    direction: Direction = "higher",
    binary: bool = False,
    bounds: tuple[float, float] = (0.0, 1.0),
    optional: Iterable[str] = (),
    failed_score: float | None = None,
    name: str | None = None,
) -> Any:
    """Declare a metric under its function's name or another. `binary`: its scores are 0 or 1, so its mean is a rate.

    `optional` columns may be empty in a row, and the function gets None there; a row without any other column that the
    metric needs is not scored. `failed_score` is for a metric over all questions: what a row counts for that the system
    was asked and failed to answer. Without it, such a row is not scored.
    """
    if direction not in get_args(Direction):
        raise UsageError(f"a metric's direction is {' or '.join(get_args(Direction))}, not {direction!r}")

    def declare(function: Callable[..., Any]) -> Metric:
        source = f"{function.__module__}.{function.__qualname__}"
        base = name or function.__name__
        return add(
            Metric(
                base,
                function,
                direction=direction,
                binary=binary,
                bounds=bounds,
                optional=optional,
                failed_score=failed_score,
                source=source,
            )
        )

    return declare if function is None else declare(function)


def add(metric: Metric) -> Metric:
    """Enter a metric into the registry; the same one may come twice, another of the same name may not."""
    held = METRICS.get(metric.base)
    if held is not None and held.source != metric.source:
        raise UsageError(
            f"two metrics are called {metric.base!r}: {held.source} and {metric.source}", hint="rename one of them"
        )
    METRICS[metric.base] = metric
    return metric


def _signature(function: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The columns a function takes, and its settings with their defaults."""
    parameters = inspect.signature(function).parameters.values()
    inputs = tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
    settings = {p.name: (None if p.default is p.empty else p.default) for p in parameters if p.kind is p.KEYWORD_ONLY}
    return inputs, settings


def _needs(node: Metric | Derived, settings: Mapping[str, Any]) -> Iterable[str]:
    for name in node.inputs:
        inner = None if name in NAMED_COLUMNS else COLUMNS.get(name) or METRICS.get(name)
        if name in ASKED:
            yield AskedColumn.of(ASKED[name], settings).name
        elif inner is None:
            yield name  # the table's own, or a column of the user's
        else:
            yield from _needs(inner, settings)


def _asked_columns(node: Metric | Derived, settings: Mapping[str, Any]) -> Iterable[AskedColumn]:
    for name in node.inputs:
        inner = None if name in NAMED_COLUMNS else COLUMNS.get(name) or METRICS.get(name)
        if name in ASKED:
            yield AskedColumn.of(ASKED[name], settings)
        elif inner is not None:
            yield from _asked_columns(inner, settings)


def _resolve(name: str, settings: Mapping[str, Any], block: Block) -> Any:
    """A column by its name: given, or computed now, or computed before."""
    if name in ASKED:
        return block.columns[AskedColumn.of(ASKED[name], settings).name]
    if name in block.columns:
        return block.columns[name]
    node = COLUMNS.get(name) or METRICS[name]
    if isinstance(node, Metric):
        shared = {key: settings[key] for key in node.settings if key in settings}
        return (node.with_settings(**shared) if shared else node).score(block)[0]
    own = {key: settings[key] for key in node.settings}
    memo_key = (name, tuple(own.items()))
    if memo_key not in block.memo:
        block.memo[memo_key] = node.function(*(_resolve(each, settings, block) for each in node.inputs), **own)
    return block.memo[memo_key]


def _type_hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except NameError:  # an annotation that is only there for the type checker
        return {}


def _read_setting(what: str, value: Any, kind: Any) -> Any:
    """A setting's value from its text, by the type that the metric declares for it."""
    if get_origin(kind) in (Union, types.UnionType):
        if value is None or (isinstance(value, str) and value.casefold() == "none"):
            return None
        kind = next(each for each in get_args(kind) if each is not type(None))
    if hasattr(kind, "parse"):
        return kind.parse(value)
    if get_origin(kind) is Literal:
        for choice in get_args(kind):
            if str(value) == str(choice):
                return choice
        raise UsageError(f"{what} is one of {', '.join(map(str, get_args(kind)))}, not {value!r}")
    if kind is bool and isinstance(value, str):
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if value.casefold() in words:
            return words[value.casefold()]
        raise UsageError(f"{what} is yes or no, not {value!r}")
    try:
        read = kind(value)
    except (TypeError, ValueError):
        raise UsageError(f"{what} should be {kind.__name__}, not {value!r}") from None
    if what.endswith(": k") and read < 1:
        raise UsageError(f"{what} should be at least 1, not {read}")
    return read
