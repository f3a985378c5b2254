"""Metrics by their names: built in, from a plugin, or a class of the user's; and kinds of targets and embedding models.

A registry that loads late: the metrics of ragmeter itself are imported when the first name is looked up, plugins when a
name is not among them.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import logging
import math
import pickle
import sys
import types
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any, Generic, TypeVar

from ragmeter import naming
from ragmeter.definition import METRICS, Metric, add, not_importable
from ragmeter.errors import UnknownNameError, UsageError, errors_of
from ragmeter.hints import by_caller
from ragmeter.table import NAMED_COLUMNS, Failed

_BUILTIN = ("ragmeter.metrics", "ragmeter.judges")
_ENTRY_POINTS = "ragmeter.metrics"

_LISTED = f"{by_caller('`ragmeter metrics`', 'ragmeter.list_metrics()')} says what they are"

_log = logging.getLogger("ragmeter")
Opened = TypeVar("Opened")


class BaseScorer(ABC):
    """A metric written as a class that scores one pair of texts at a time."""

    @abstractmethod
    def calculate_score(self, reference: str, candidate: str) -> float:
        """How good `candidate` is, given `reference`."""

    @abstractmethod
    def get_score_name(self) -> str:
        """The name of the score's column."""


def get(name: str | Metric | type[BaseScorer] | BaseScorer) -> Metric:
    """The metric of that name; a dotted path or a scorer object will do as well."""
    if isinstance(name, Metric):
        return name
    if not isinstance(name, str):
        return _from_object(name, type(name).__name__)
    _load_builtin()
    parsed = naming.parse(name)
    found = METRICS.get(parsed.base)
    if found is None:
        _load_plugins()
        found = METRICS.get(parsed.base)
    if found is None and ("." in parsed.base or ":" in parsed.base):
        found = _from_object(import_object(parsed.base, "metric"), parsed.base)
    if found is None:
        raise UnknownNameError("metric", parsed.base, METRICS, hint=f"there are {', '.join(METRICS)}; {_LISTED}")
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
        raise UsageError("no metric was named", hint=_LISTED)
    for one, other in combinations(found, 2):
        if one == other and one.owner is not other.owner:
            raise UsageError(f"two metrics are called {one.name!r}", hint="give each scorer a score name of its own")
    return list(dict.fromkeys(found))


def known() -> list[Metric]:
    """Every metric that is built in or comes from an installed plugin, in the order of their declaration."""
    _load_builtin()
    _load_plugins()
    return list(METRICS.values())


def import_object(path: str, kind: str) -> Any:
    """What a dotted path (`package.module.Name` or `package.module:Name`) leads to; the current folder counts."""
    module_name, _, attribute = path.rpartition(":") if ":" in path else path.rpartition(".")
    if not module_name or "/" in path or "\\" in path:
        raise UsageError(
            f"{path!r} is not the path of a {kind}", hint="write it as package.module:Name, as for an import"
        )
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


def source_name(found: Any) -> str:
    """A name for a user's code that changes with it: where it is, and a hash of the file."""
    kind = found if inspect.isroutine(found) else type(found)
    name = f"{kind.__module__}:{kind.__qualname__}"
    try:
        source = Path(inspect.getfile(kind)).read_bytes()
    except (OSError, TypeError):
        return name
    return f"{name}#{hashlib.sha256(source).hexdigest()[:12]}"


def _from_object(found: Any, path: str) -> Metric:
    if isinstance(found, Metric):
        return add(found)
    with errors_of(path):
        scorer = found() if isinstance(found, type) else found
    if callable(getattr(scorer, "calculate_score", None)) and callable(getattr(scorer, "get_score_name", None)):
        return add(_from_scorer(scorer, owner=found))
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
    return ScorerMetric(name, score, source=f"{kind.__module__}.{kind.__qualname__}", owner=owner)


class ScorerMetric(Metric):
    """A scorer as a metric. The scorer itself travels: its class by its import path, an object with what it holds."""

    def __reduce__(self) -> tuple[Any, ...]:
        kind = self.owner if isinstance(self.owner, type) else type(self.owner)
        try:
            scorer = pickle.dumps(self.owner)
        except Exception as error:  # whatever a user's own class raises
            raise not_importable("scorer", kind.__qualname__, kind.__module__, error) from error
        return _scorer_arrived, (kind.__qualname__, kind.__module__, scorer)


def _scorer_arrived(name: str, module: str, scorer: bytes) -> Metric:
    """The metric of a scorer that another process has sent."""
    try:
        owner = pickle.loads(scorer)  # noqa: S301 - the user's own class, inside a pickle that is being read already
    except Exception as error:
        raise not_importable("scorer", name, module, error) from error
    return _from_object(owner, name)


class Kind(ABC, Generic[Opened]):
    """A kind of target or embedding model, found by what the user names.

    `prefix` begins the names that it opens (`openai:`); `options` are the settings that it takes. A package brings one
    as an entry point, in the group `ragmeter.targets` or `ragmeter.embedders`.
    """

    prefix: str = ""
    options: tuple[str, ...] = ()

    def opens(self, given: Any) -> bool:
        """Whether this kind opens what the user named."""
        return isinstance(given, str) and bool(self.prefix) and given.startswith(self.prefix)

    @abstractmethod
    def open(self, given: Any, settings: Mapping[str, Any]) -> Opened:
        """Open it. `settings` has those of `options` that were given, and what every kind is given."""


def find_kind(given: Any, kinds: Sequence[Kind[Opened]], group: str) -> Kind[Opened]:
    """The kind that opens `given`: one of `kinds`, then one of the plugins, else the last of `kinds`."""
    plugins = (_as_kind(loaded, path) for path, loaded in _plugins(group))
    return next((kind for kind in chain(kinds[:-1], plugins) if kind.opens(given)), kinds[-1])


def _as_kind(loaded: Any, path: str) -> Kind[Any]:
    with errors_of(path):
        kind = loaded() if isinstance(loaded, type) else loaded
    if not isinstance(kind, Kind):
        raise UsageError(f"the plugin {path} is not a kind", hint="it should be a ragmeter.registry.Kind")
    return kind


def _load_builtin() -> None:
    for module in _BUILTIN:
        importlib.import_module(module)


def _load_plugins() -> None:
    for path, loaded in _plugins(_ENTRY_POINTS):
        if not isinstance(loaded, types.ModuleType):  # a module has registered its metrics by being imported
            _from_object(loaded, path)


def _plugins(group: str) -> Iterator[tuple[str, Any]]:
    """What installed packages bring in a group of entry points: the path of each, and what is there."""
    from importlib.metadata import entry_points

    for point in entry_points(group=group):
        try:
            yield point.value, point.load()
        except Exception as error:
            raise UsageError(
                f"the plugin {point.name!r} ({point.value}) does not load: {type(error).__name__}: {error}",
                hint="fix or uninstall the package that brings it",
            ) from error
