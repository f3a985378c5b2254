"""Metrics and derived columns: how they are declared, named, found and computed.

    @column
    def tokens(chunks: Chunks) -> Tokens: ...                       # shared by several metrics, computed once a block

    @metric(direction="higher")
    def token_f1(token_bags: Bags) -> Scores: ...                   # positional = the columns it needs

    @metric(direction="higher")
    def ndcg(ranked: Ranked, *, k: int | None = None) -> Scores: ...  # keyword-only = its settings, shown in its name

A positional parameter names a column: one of the table's, a derived one, or another metric. A setting goes down to
every column that has one of the same name, so `rouge_l_score[language=es]` gets Spanish stems.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import math
import sys
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints, overload

import numpy as np

from ragmeter import naming
from ragmeter.errors import UnknownNameError, UsageError, errors_of
from ragmeter.table import LIST_COLUMNS, NAMED_COLUMNS, SCORED, UNDEFINED, Block, Failed, Scores, outcomes

Direction = Literal["higher", "lower", "none"]

_BUILTIN = "ragmeter.metrics"
_ENTRY_POINTS = "ragmeter.metrics"

_log = logging.getLogger("ragmeter")
_metrics: dict[str, Metric] = {}
_columns: dict[str, Derived] = {}


class BaseScorer(ABC):
    """A metric written as a class that scores one pair of texts at a time."""

    @abstractmethod
    def calculate_score(self, reference: str, candidate: str) -> float:
        """How good `candidate` is, given `reference`."""

    @abstractmethod
    def get_score_name(self) -> str:
        """The name of the score's column."""


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
        return tuple(dict.fromkeys(_needs(self)))

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
        found = outcomes(table, self.needs, rows)
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
        _columns[derived.name] = derived
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
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Metric]: ...
def metric(
    function: Callable[..., Any] | None = None,
    *,
    direction: Direction = "higher",
    binary: bool = False,
    bounds: tuple[float, float] = (0.0, 1.0),
    name: str | None = None,
) -> Any:
    """Declare a metric under its function's name or another. `binary`: its scores are 0 or 1, so its mean is a rate."""
    if direction not in get_args(Direction):
        raise UsageError(f"a metric's direction is {' or '.join(get_args(Direction))}, not {direction!r}")

    def declare(function: Callable[..., Any]) -> Metric:
        source = f"{function.__module__}.{function.__qualname__}"
        base = name or function.__name__
        return _add(Metric(base, function, direction=direction, binary=binary, bounds=bounds, source=source))

    return declare if function is None else declare(function)


def get(name: str | Metric | type[BaseScorer] | BaseScorer) -> Metric:
    """The metric of that name; a dotted path or a scorer object will do as well."""
    if isinstance(name, Metric):
        return name
    if not isinstance(name, str):
        return _from_object(name, type(name).__name__)
    _load_builtin()
    parsed = naming.parse(name)
    found = _metrics.get(parsed.base)
    if found is None:
        _load_plugins()
        found = _metrics.get(parsed.base)
    if found is None and ("." in parsed.base or ":" in parsed.base):
        found = _from_object(import_object(parsed.base, "metric"), parsed.base)
    if found is None:
        raise UnknownNameError("metric", parsed.base, _metrics, hint="`ragmeter metrics` lists them all")
    return found.with_settings(**parsed.settings) if parsed.settings else found


def get_all(names: str | Iterable[str | Metric | type[BaseScorer] | BaseScorer], **settings: Any) -> list[Metric]:
    """Several metrics, each once. `settings` go to those that have them and don't say otherwise themselves."""
    wanted = naming.split(names) if isinstance(names, str) else names
    found = []
    for name in wanted:
        for each in naming.split(name) if isinstance(name, str) else [name]:
            metric = get(each)
            more = {
                key: value
                for key, value in settings.items()
                if key in metric.defaults and metric.settings[key] == metric.defaults[key] and value is not None
            }
            found.append(metric.with_settings(**more) if more else metric)
    if not found:
        raise UsageError("no metric was named", hint="`ragmeter metrics` lists them all")
    for one, other in combinations(found, 2):
        if one == other and one.owner is not other.owner:
            raise UsageError(f"two metrics are called {one.name!r}", hint="give each scorer a score name of its own")
    return list(dict.fromkeys(found))


def known() -> list[Metric]:
    """Every metric that is built in or comes from an installed plugin, in the order of their declaration."""
    _load_builtin()
    _load_plugins()
    return list(_metrics.values())


def import_object(path: str, kind: str) -> Any:
    """What a dotted path (`package.module.Name` or `package.module:Name`) leads to; the current folder counts."""
    module_name, _, attribute = path.rpartition(":") if ":" in path else path.rpartition(".")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise UsageError(
                f"can't find the {kind} {path!r}: there is no module {error.name!r}",
                hint="give a dotted path that Python can import from this folder",
            ) from error
        raise UsageError(f"{path!r} imports {error.name!r}, which is not installed") from error
    except Exception as error:
        raise UsageError(f"importing {module_name!r} failed: {type(error).__name__}: {error}") from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        public = [name for name in vars(module) if not name.startswith("_")]
        raise UnknownNameError(f"name in {module_name}", attribute, public) from None


def _add(metric: Metric) -> Metric:
    """Enter a metric into the registry; the same one may come twice, another of the same name may not."""
    held = _metrics.get(metric.base)
    if held is not None and held.source != metric.source:
        raise UsageError(
            f"two metrics are called {metric.base!r}: {held.source} and {metric.source}", hint="rename one of them"
        )
    _metrics[metric.base] = metric
    return metric


def _from_object(found: Any, path: str) -> Metric:
    if isinstance(found, Metric):
        return _add(found)
    with errors_of(path):
        scorer = found() if isinstance(found, type) else found
    if callable(getattr(scorer, "calculate_score", None)) and callable(getattr(scorer, "get_score_name", None)):
        return _add(_from_scorer(scorer, owner=found))
    raise UsageError(
        f"{path!r} is not a metric",
        hint="it should be declared with @metric, or be a BaseScorer that needs no arguments",
    )


def _from_scorer(scorer: Any, owner: object) -> Metric:
    """A scorer of single pairs as a metric. What it can't score is a failure of that row, not of the run."""
    with errors_of(f"{type(scorer).__name__}.get_score_name()"):
        name = str(scorer.get_score_name())
    if naming.parse(name).base != name or name in NAMED_COLUMNS:
        raise UsageError(f"{name!r} can't be a score's name", hint="letters, digits and underscores will do")
    said: set[str] = set()

    def score(reference: Sequence[str], answer: Sequence[str]) -> list[float | Failed]:
        scores: list[float | Failed] = []
        for expected, given in zip(reference, answer, strict=True):
            try:
                value = float(scorer.calculate_score(expected, given))
            except Exception as error:
                cause = f"scorer_error: {type(error).__name__}"
                scores.append(Failed(cause))
                if cause not in said:  # the column has the kind alone; the first of each kind is told in full
                    said.add(cause)
                    _log.warning("%s: %s: %s", name, cause, error)
            else:
                scores.append(value if math.isfinite(value) else Failed("scorer_error: not a finite number"))
        return scores

    score.__doc__ = inspect.getdoc(type(scorer))
    kind = type(scorer)
    return Metric(name, score, source=f"{kind.__module__}.{kind.__qualname__}", owner=owner)


def _load_builtin() -> None:
    importlib.import_module(_BUILTIN)


def _load_plugins() -> None:
    from importlib.metadata import entry_points

    for point in entry_points(group=_ENTRY_POINTS):
        try:
            loaded = point.load()
        except Exception as error:
            raise UsageError(
                f"the plugin {point.name!r} ({point.value}) does not load: {type(error).__name__}: {error}",
                hint="mend or uninstall the package that brings it",
            ) from error
        if not isinstance(loaded, types.ModuleType):  # a module has registered its metrics by being imported
            _from_object(loaded, point.value)


def _signature(function: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The columns a function takes, and its settings with their defaults."""
    parameters = inspect.signature(function).parameters.values()
    inputs = tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
    settings = {p.name: (None if p.default is p.empty else p.default) for p in parameters if p.kind is p.KEYWORD_ONLY}
    return inputs, settings


def _needs(node: Metric | Derived) -> Iterable[str]:
    for name in node.inputs:
        inner = None if name in NAMED_COLUMNS else _columns.get(name) or _metrics.get(name)
        if inner is None:
            yield name  # the table's own, or a column of the user's
        else:
            yield from _needs(inner)


def _resolve(name: str, settings: Mapping[str, Any], block: Block) -> Any:
    """A column by its name: given, or computed now, or computed before."""
    if name in block.columns:
        return block.columns[name]
    node = _columns.get(name) or _metrics[name]
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
