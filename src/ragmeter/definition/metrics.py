"""What a metric is: a function from whole columns to one score per row, and the columns that it is computed from."""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Literal, TypedDict, Unpack, cast, get_args, get_origin, get_type_hints

import numpy as np

from ragmeter import naming
from ragmeter.definition.columns import Derived, Embedded, Several, signature_of
from ragmeter.definition.judge_columns import DECLARED, BoundColumn, JudgeColumn
from ragmeter.errors import UsageError, errors_of, not_importable
from ragmeter.naming import Settings
from ragmeter.table import NAMED_COLUMNS, SCORED, UNDEFINED, Block, Failed, Scores, outcomes, plain_column

Direction = Literal["higher", "lower", "none"]


class Properties(TypedDict, total=False):
    """What a metric says of itself; `@metric` explains it, and `Metric` has the defaults."""

    direction: Direction
    binary: bool
    mean_is_rate: bool
    rate: str | None
    needs_short_references: bool
    is_verdict: bool
    claims: tuple[str, str] | None
    judged_twin: str | None
    holds_lock: bool
    bounds: tuple[float, float]
    failed_score: float | None
    by_session: bool
    per_session: bool
    also: tuple[str, ...]


class Declaration(Properties, total=False):
    """The keywords of `@metric`."""

    optional: Iterable[str]
    may_lack: Iterable[str]


#: All declared metrics and columns, by name.
METRICS: dict[str, Metric] = {}
COLUMNS: dict[str, Derived] = {}


class Metric:
    """A function from whole columns to one score per row, with its settings. Equal if its name is equal."""

    direction: Direction = "higher"
    binary = False
    mean_is_rate = True
    rate: str | None = None
    needs_short_references = False
    is_verdict = False
    claims: tuple[str, str] | None = None
    judged_twin: str | None = None
    holds_lock = False
    bounds: tuple[float, float] = (0.0, 1.0)
    failed_score: float | None = None
    by_session = False
    per_session = False
    also: tuple[str, ...] = ()

    def __init__(
        self,
        base: str,
        function: Callable[..., Any],
        *,
        settings: Settings | None = None,
        source: str = "",
        owner: object = None,
        optional: Iterable[str] = (),
        may_lack: Iterable[str] = (),
        **properties: Unpack[Properties],
    ) -> None:
        for name, value in properties.items():
            if name not in Properties.__annotations__:
                raise TypeError(f"a metric has no property {name!r}")
            setattr(self, name, value)
        self.base = base
        self.function = function
        self.owner = owner or function  # distinguishes two metrics with the same name
        self._may_lack = frozenset(may_lack)
        self._optional = frozenset(optional)
        self.source = source
        self.inputs, self.defaults = signature_of(function)
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

    def __reduce__(self) -> tuple[Any, ...]:
        """A metric is pickled by its name; unpickling imports the module that declares it."""
        return _arrived, (self.name, self.function.__module__, self.source)

    @property
    def is_builtin(self) -> bool:
        """Whether ragmeter itself declares it: its code does not change between two runs of one version."""
        return is_builtin(self.source)

    @cached_property
    def may_lack(self) -> frozenset[str]:
        """The columns that the table may lack: its own, and those of the columns that it is computed from."""
        return self._may_lack.union(*(column.may_lack for column in _derived(self, self.settings)))

    @cached_property
    def optional(self) -> frozenset[str]:
        """The columns that may be empty in a row."""
        several = (
            column for node in _derived(self, self.settings) for column in _several(node, self.settings).values()
        )
        return self._optional | self.may_lack | {column.name for column in several}

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """The table's columns that it needs, directly or through derived columns, in the order of its parameters."""
        leaves = [leaf for leaf, _ in _leaves(self, self.settings) if not isinstance(leaf, Embedded)]
        names = tuple(dict.fromkeys(leaf if isinstance(leaf, str) else leaf.name for leaf in leaves))
        if unknown := self.optional.difference(names):
            raise UsageError(f"{self.base} has no column {', '.join(sorted(unknown))} that could be optional")
        return names

    @cached_property
    def _filled(self) -> tuple[BoundColumn, ...]:
        """The columns that are filled for it, each after those that it is filled from."""
        leaves = (leaf for leaf, _ in _leaves(self, self.settings) if isinstance(leaf, BoundColumn))
        return tuple({column.name: column for leaf in leaves for column in leaf.with_inputs()}.values())

    @property
    def judge_columns(self) -> tuple[BoundColumn, ...]:
        """The columns that a judge must fill for it."""
        return tuple(column for column in self._filled if not column.is_offline)

    @property
    def offline(self) -> tuple[BoundColumn, ...]:
        """The columns that are filled for it without a model."""
        return tuple(column for column in self._filled if column.is_offline)

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """The columns that the table must have before others are filled."""
        return self._from_table(self._filled)

    @cached_property
    def needs_of_table(self) -> tuple[str, ...]:
        """The columns of `reads` without those that only a judge is shown: a table with verdicts may lack them."""
        return self._from_table(self.offline)

    def _from_table(self, filled: Iterable[BoundColumn]) -> tuple[str, ...]:
        read = [*self.needs, *(column.input_name(name) for column in filled for name in column.declaration.required)]
        # a column of the user's own that may be empty may be missing
        others = {column.name for column in self._filled} | (self.optional - set(NAMED_COLUMNS)) | self.may_lack
        return tuple(dict.fromkeys(name for name in read if name not in others))

    def with_settings(self, **settings: Any) -> Metric:
        """A copy of the metric with other settings, given as values or as text."""
        types = _type_hints(self.function)
        read = {}
        for key, value in settings.items():
            if key not in self.defaults:
                raise self._unknown_setting(key)
            setting_type = types.get(key, str if self.defaults[key] is None else type(self.defaults[key]))
            read[key] = naming.read_setting(f"{self.base}: {key}", value, setting_type)
        columns = {"optional": self._optional, "may_lack": self._may_lack}
        unchanged = {key: getattr(self, key) for key in (*Properties.__annotations__, "source", "owner")} | columns
        return Metric(self.base, self.function, settings={**self.settings, **read}, **unchanged)

    def accepts(self, key: str, value: Any) -> bool:
        """Whether it has a setting that may have this value, where the setting is one of a few words."""
        setting_type = _type_hints(self.function).get(key)
        return key in self.defaults and (get_origin(setting_type) is not Literal or value in get_args(setting_type))

    def _unknown_setting(self, key: str) -> UsageError:
        instead = next((column.declaration.instead for column in self.judge_columns if column.declaration.instead), "")
        if key == "judge" and instead:
            return UsageError(f"only a language model can judge {self.base}", hint=instead)
        hint = f"it has: {', '.join(self.defaults)}" if self.defaults else "it has none"
        return UsageError(f"{self.base} has no setting {key!r}", hint=hint)

    @cached_property
    def embedded(self) -> dict[str, tuple[Embedded, Settings]]:
        """The columns that an embedding model fills for it, each with its settings."""
        leaves = _leaves(self, self.settings)
        return {leaf.key(settings): (leaf, settings) for leaf, settings in leaves if isinstance(leaf, Embedded)}

    def fill(self, block: Block, models: Any = None) -> None:
        """Fill the block's embedded columns. `models` are the run's; without them, models are opened for this call."""
        for key, (node, settings) in self.embedded.items():
            if key not in block.memo:
                columns = (_resolve(name, settings, block) for name in node.inputs)
                block.memo[key] = node.function(models, *columns, **node.own(settings))

    def score(self, block: Block) -> tuple[Scores, dict[int, str]]:
        """One score per row of the block, NaN where the row can't be scored, and the cause of each NaN by row."""
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
            raise UsageError(f"metric {self.name} is declared as binary, but returned scores other than 0 and 1")
        if raw.shape not in ((block.rows,), (block.pairs,)):
            raise UsageError(f"metric {self.name} returned {raw.size} scores for {block.pairs} rows")
        best = block.best(raw, self.direction == "lower")
        missing = np.flatnonzero(~np.isfinite(best))
        if len(missing):
            best = np.where(np.isfinite(best), best, np.nan)
        return best, {row: causes.get(block.first_pair(row), UNDEFINED) for row in missing.tolist()}

    def __call__(self, *columns: Sequence[Any]) -> Scores:
        """Score plain lists, in the order of `needs`: texts, or several references or ids per row as lists."""
        names = self.needs
        for lacking in (self.may_lack - self._may_lack, self.may_lack):
            if len(columns) != len(names):  # those that a table may lack may be left out
                names = tuple(name for name in self.needs if name not in lacking)
        if len(columns) != len(names):
            raise TypeError(f"{self.name} takes {len(self.needs)} columns: {', '.join(self.needs)}")
        table: dict[str, Sequence[Any]] = {}
        for name, column in zip(names, columns, strict=True):
            if isinstance(column, str):
                raise TypeError(f"{self.name} scores whole columns: give {name} as a list of texts")
            table |= plain_column(name, list(column), self.name)
        rows = len(columns[0])
        if any(len(column) != rows for column in columns):
            raise ValueError(f"columns differ in length: {', '.join(str(len(column)) for column in columns)}")
        row_outcomes = [SCORED] * rows if self.by_session else outcomes(table, self.needs, rows, self.optional)
        block = Block.of(table, self.needs, row_outcomes, paired=not self.by_session)
        self.fill(block)
        if block.rows == rows:
            return self.score(block)[0]
        scores = np.full(rows, np.nan)
        scores[[outcome == SCORED for outcome in row_outcomes]] = self.score(block)[0]
        return scores


def _arrived(name: str, module: str, source: str) -> Metric:
    """The metric that was pickled by its name."""
    parsed = naming.parse(name)
    declared = METRICS.get(parsed.base)
    if declared is None or of_script(declared.source) != of_script(source):
        try:
            declared = getattr(importlib.import_module(module), source.rpartition(".")[2], None)
        except Exception as error:
            raise not_importable("metric", parsed.base, module, error) from error
        declared = declared if isinstance(declared, Metric) else METRICS.get(parsed.base)
    if declared is None or of_script(declared.source) != of_script(source):
        raise not_importable("metric", parsed.base, module)
    return declared.with_settings(**parsed.settings) if parsed.settings else declared


def is_builtin(source: str) -> bool:
    """Whether a metric with this source is one of ragmeter's own."""
    return source.startswith("ragmeter.")


def of_script(source: str) -> str:
    """A metric's source; a worker process imports the main script under another name."""
    return source.replace("__mp_main__.", "__main__.", 1)


def _several(node: Derived, settings: Settings) -> dict[str, BoundColumn]:
    """The columns of a judge that a column holds, by their names in it."""
    if not isinstance(node, Several):
        return {}
    declaration = DECLARED[node.of]
    return {name: BoundColumn.of(declaration, {**settings, **own}) for name, own in node.each(settings).items()}


def _derived(node: Metric | Derived, settings: Settings) -> Iterable[Derived]:
    """The derived columns that a metric is computed from."""
    for name in node.inputs:
        inner = None if name in DECLARED or name in NAMED_COLUMNS else COLUMNS.get(name) or METRICS.get(name)
        if isinstance(inner, Metric):
            yield from _derived(inner, _with_shared(inner, settings).settings)
        elif inner is not None and inner.is_used(settings):
            yield inner
            yield from _derived(inner, settings)


def _leaves(node: Metric | Derived, settings: Settings) -> Iterable[tuple[Any, Settings]]:
    """The table's columns (by name), asked and embedded columns that a metric is computed from, with their settings."""
    for name in node.inputs:
        inner = DECLARED.get(name) or (None if name in NAMED_COLUMNS else COLUMNS.get(name) or METRICS.get(name))
        if inner is None or isinstance(inner, Embedded):
            yield inner or name, settings  # a name is a column of the table, or one of the user's
        if isinstance(inner, JudgeColumn):
            yield BoundColumn.of(inner, settings), settings
        elif isinstance(inner, Metric):
            yield from _leaves(inner, _with_shared(inner, settings).settings)
        elif isinstance(inner, Derived) and inner.is_used(settings):
            yield from ((column, settings) for column in _several(inner, settings).values())
            yield from _leaves(inner, settings)


def _with_shared(metric: Metric, settings: Settings) -> Metric:
    """A metric that another one is computed from, with the settings that both have."""
    shared = {key: settings[key] for key in metric.settings if key in settings}
    return metric.with_settings(**shared) if shared else metric


def _resolve(name: str, settings: Settings, block: Block) -> Any:
    """A column by its name: of the table, from the memo, or computed now."""
    if name in DECLARED:
        asked_column = BoundColumn.of(DECLARED[name], settings)
        return asked_column.decoded(block.columns[asked_column.name])
    if name in block.columns:
        return block.columns[name]
    node = COLUMNS.get(name) or METRICS[name]
    if isinstance(node, Metric):
        return _with_shared(node, settings).score(block)[0]
    if isinstance(node, Embedded):
        if (key := node.key(settings)) not in block.memo:
            raise UsageError(f"the column {name} needs an embedding model: call fill() first")
        return block.memo[key]
    if not node.is_used(settings):
        return None
    if isinstance(node, Several):
        return {key: block.columns[column.name] for key, column in _several(node, settings).items()}
    own_settings = node.own(settings)
    memo_key = (name, tuple(own_settings.items()))
    if memo_key not in block.memo:
        inputs = [_resolve(column_name, settings, block) for column_name in node.inputs]
        block.memo[memo_key] = node.function(*inputs, **own_settings)
    return block.memo[memo_key]


def _type_hints(function: Callable[..., Any]) -> dict[str, object]:
    try:
        return get_type_hints(function)
    except NameError:  # an annotation that is imported for the type checker alone
        return {}
