"""The registry of metrics (built in, from plugins, or a user's class), and of kinds of targets and embedding models.

It loads late: the built-in metrics are imported when the first name is looked up, plugins when a name is not built in.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import math
import pickle
import sys
import types
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Generic, TypeVar

from ragmeter import naming
from ragmeter.definition import METRICS, Metric, add
from ragmeter.errors import RagmeterWarning, UnknownNameError, UsageError, errors_of, not_importable
from ragmeter.hints import by_caller
from ragmeter.naming import Settings
from ragmeter.table import NAMED_COLUMNS, Failed

_BUILTIN = ("ragmeter.metrics", "ragmeter.judges")
_ENTRY_POINTS = "ragmeter.metrics"

_LISTED = f"{by_caller('`ragmeter metrics`', 'ragmeter.list_metrics()')} lists them"

_IS_METRIC = "it must be declared with @metric, or be a BaseScorer that needs no arguments"

_log = logging.getLogger("ragmeter")
Opened = TypeVar("Opened")


#: What Ragas, DeepEval and TruLens call a metric, and what it is here. Those of their names that are metrics here with
#: another meaning are reached only as the names of classes: ContextPrecision.
OTHER_TOOLS = {
    "answer_relevancy": "answer_relevance", "response_relevancy": "answer_relevance",
    "context_recall": "context_claim_recall", "llm_context_recall": "context_claim_recall",
    "contextual_recall": "context_claim_recall",
    "context_precision": "llm_context_precision", "contextual_precision": "llm_context_precision",
    "llm_context_precision_with_reference": "llm_context_precision",
    "llm_context_precision_without_reference": "llm_context_precision",
    "context_relevance": "context_claim_precision", "context_relevancy": "context_claim_precision",
    "contextual_relevancy": "context_claim_precision",
    "answer_correctness": "claim_f1", "factual_correctness": "claim_f1", "answer_accuracy": "llm_correct",
    "faithfulness": "faithfulness", "groundedness": "faithfulness", "response_groundedness": "faithfulness",
    "hallucination": "hallucination", "noise_sensitivity": "noise_sensitivity_in_relevant",
    "answer_similarity": "semantic_similarity", "g_eval": "criteria", "aspect_critic": "criteria",
}  # fmt: skip


class BaseScorer(ABC):
    """A metric written as a class that scores one pair of texts at a time.

    A class whose scores are all 0 or 1 says `binary = True`: then its mean is a rate, with the interval of one.
    """

    binary: bool = False

    @abstractmethod
    def calculate_score(self, reference: str, candidate: str) -> float:
        """The score of `candidate` against `reference`."""

    @abstractmethod
    def get_score_name(self) -> str:
        """The name of the score's column."""

    def get_metadata(self) -> dict[str, str]:
        """The name and the description of the score."""
        return {"name": self.get_score_name(), "description": inspect.cleandoc(type(self).__doc__ or "")}


def get(name: str | Metric | type[BaseScorer] | BaseScorer) -> Metric:
    """The metric with this name, at this dotted path, or of this scorer."""
    if isinstance(name, Metric):
        return name
    if not isinstance(name, str):
        return _from_object(name, type(name).__name__)
    load_builtin()
    parsed = naming.parse(name)
    metric = METRICS.get(parsed.base) or _from_elsewhere(parsed.base)
    return metric.with_settings(**parsed.settings) if parsed.settings else metric


def _from_elsewhere(name: str) -> Metric:
    """A metric that is not built in: of a plugin, or at a dotted path. Other plugins may be broken."""
    broken = broken_plugins()
    if name in METRICS:
        return METRICS[name]
    if name in broken:
        raise broken[name]
    if "." in name or ":" in name:
        return _from_object(import_object(name, "metric"), name)
    raise _unknown(name, broken.values())


def _unknown(name: str, broken: Iterable[UsageError]) -> UnknownNameError:
    """The error for a name that no metric has; one of another tool leads to ours. A `broken` plugin may have it."""
    of_class = name.casefold().replace("_", "").removesuffix("metric")
    ours = next((ours for theirs, ours in OTHER_TOOLS.items() if theirs.replace("_", "") == of_class), None)
    if ours is None:
        hint = "; ".join([_LISTED, *(error.message for error in broken)])
        return UnknownNameError("metric", name, METRICS, hint=hint)
    hint = f"what other tools call {name} is {ours} here; `ragmeter metrics {ours}` describes it"
    return UnknownNameError("metric", name, (), hint=hint)


def get_all(
    names: str | Iterable[str | Metric | type[BaseScorer] | BaseScorer] | None, **settings: Any
) -> list[Metric]:
    """Several metrics, without repetitions. `settings` apply to metrics that have them and whose name sets no other."""
    if not isinstance(names, str | Iterable):
        was = "" if names is None else f": metrics is {type(names).__name__}"
        raise UsageError(f"no metric was named{was}", hint=f"give names, or a list of metrics; {_LISTED}")
    items = naming.split(names) if isinstance(names, str) else names
    metrics = []
    for name in items:
        for single_name in naming.split(name) if isinstance(name, str) else [name]:
            metric = get(single_name)
            shared_settings = {
                key: value
                for key, value in settings.items()
                if value is not None and metric.accepts(key, value) and metric.settings[key] == metric.defaults[key]
            }
            metrics.append(metric.with_settings(**shared_settings) if shared_settings else metric)
    if not metrics:
        raise UsageError("no metric was named", hint=_LISTED)
    for first, second in combinations(metrics, 2):
        if first == second and first.owner is not second.owner:
            raise UsageError(f"two metrics are called {first.name!r}", hint="give each scorer a score name of its own")
    return list(dict.fromkeys(metrics))


def known() -> list[Metric]:
    """All metrics, built in and from installed plugins, in the order of declaration."""
    load_builtin()
    broken_plugins()
    return list(METRICS.values())


def declared(name: str) -> Metric | None:
    """The metric of this name, without its settings; None for one that is not known. A run's metrics need not be."""
    return {metric.base: metric for metric in known()}.get(naming.base_of(name))


def other_names(name: str) -> list[str]:
    """The names of the metrics that other tools call so."""
    load_builtin()
    return [metric.base for metric in METRICS.values() if name in metric.also]


def broken_plugins() -> dict[str, UsageError]:
    """What is wrong with each plugin of metrics that does not load, by its name. The others' metrics are known now."""
    return {plugin.name: plugin.error for plugin in plugins(_ENTRY_POINTS) if plugin.error is not None}


def import_object(path: str, kind: str) -> Any:
    """The object at a dotted path (`package.module.Name` or `package.module:Name`), also in the current folder."""
    module_name, _, attribute = path.rpartition(":") if ":" in path else path.rpartition(".")
    if not module_name or "/" in path or "\\" in path:
        raise UsageError(
            f"{path!r} is not the path of a {kind}", hint="write it as package.module:Name, as for an import"
        )
    current_folder = str(Path.cwd())
    if current_folder not in sys.path:
        sys.path.insert(0, current_folder)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise UsageError(
                f"can't find the {kind} {path!r}: there is no module {error.name!r}",
                hint="give a dotted path that Python can import from this folder",
            ) from error
        raise UsageError(f"{path!r} imports {error.name!r}, which is not installed") from error
    except (Exception, SystemExit) as error:
        raise UsageError(f"importing {module_name!r} failed: {type(error).__name__}: {error}") from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        public = [name for name in vars(module) if not name.startswith("_")]
        raise UnknownNameError(f"name in {module_name}", attribute, public) from None


def _from_object(imported: Any, path: str) -> Metric:
    if isinstance(imported, Metric):
        return add(imported)
    scorer = _made(imported, path) if isinstance(imported, type) else imported
    if callable(getattr(scorer, "calculate_score", None)) and callable(getattr(scorer, "get_score_name", None)):
        return add(_from_scorer(scorer, owner=imported))
    raise UsageError(f"{path!r} is not a metric", hint=_IS_METRIC)


def _made(scorer_class: type[Any], path: str) -> Any:
    with errors_of(path):
        try:
            return scorer_class()
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise  # from the class's own code
            raise UsageError(f"no metric can be made of {path!r}: {error}", hint=_IS_METRIC) from error


def _from_scorer(scorer: Any, owner: object) -> Metric:
    """A scorer of single pairs as a metric. An exception of the scorer fails that row, not the run."""
    with errors_of(f"{type(scorer).__name__}.get_score_name()"):
        name = str(scorer.get_score_name())
    if naming.parse(name).base != name or name in NAMED_COLUMNS:
        raise UsageError(f"{name!r} can't be a score's name", hint="use letters, digits and underscores")
    logged: set[str] = set()

    def score(reference: Sequence[str], answer: Sequence[str]) -> list[float | Failed]:
        scores: list[float | Failed] = []
        for expected, candidate in zip(reference, answer, strict=True):
            try:
                value = float(scorer.calculate_score(expected, candidate))
            except (Exception, SystemExit) as error:
                cause = f"scorer_error: {type(error).__name__}"
                scores.append(Failed(cause))
                if cause not in logged:  # the column has only the class; the first of each is logged
                    logged.add(cause)
                    _log.warning("%s: %s: %s", name, cause, error)
            else:
                scores.append(value if math.isfinite(value) else Failed("scorer_error: not a finite number"))
        return scores

    score.__doc__ = inspect.getdoc(type(scorer))
    scorer_class = type(scorer)
    source = f"{scorer_class.__module__}.{scorer_class.__qualname__}"
    binary = getattr(scorer, "binary", False) is True  # a class of another tool may have anything under this name
    return ScorerMetric(name, score, binary=binary, source=source, owner=owner)


class ScorerMetric(Metric):
    """A scorer as a metric. It is pickled with its scorer: a class by its import path, an object with its state."""

    def __reduce__(self) -> tuple[Any, ...]:
        scorer_class = self.owner if isinstance(self.owner, type) else type(self.owner)
        try:
            scorer = pickle.dumps(self.owner)
        except Exception as error:  # whatever a user's own class raises
            raise not_importable("scorer", scorer_class.__qualname__, scorer_class.__module__, error) from error
        return _scorer_arrived, (scorer_class.__qualname__, scorer_class.__module__, scorer)


def _scorer_arrived(name: str, module: str, scorer: bytes) -> Metric:
    """The metric of a scorer that was unpickled."""
    try:
        owner = pickle.loads(scorer)  # noqa: S301 - the user's own class, inside a pickle that is being read already
    except Exception as error:
        raise not_importable("scorer", name, module, error) from error
    return _from_object(owner, name)


class Kind(ABC, Generic[Opened]):
    """A kind of target or embedding model, chosen by what the user gives.

    `prefix` is how the names begin that it opens (`openai:`); `options` are the settings that it takes. A package adds
    one as an entry point in the group `ragmeter.targets` or `ragmeter.embedders`.
    """

    prefix: str = ""
    options: tuple[str, ...] = ()

    def opens(self, given: Any) -> bool:
        """Whether this kind opens what the user gave."""
        return isinstance(given, str) and bool(self.prefix) and given.startswith(self.prefix)

    @abstractmethod
    def open(self, given: Any, settings: Settings) -> Opened:
        """Open it. `settings` has the given ones of `options`, and the settings of every kind."""


def find_kind(given: Any, kinds: Sequence[Kind[Opened]], group: str) -> Kind[Opened]:
    """The kind that opens `given`: the first in `kinds`, else a plugin, else the last of `kinds` as the default.

    A plugin that does not load is an error if `given` begins with its name, else a warning: it might have opened it.
    """
    for kind in kinds[:-1]:
        if kind.opens(given):
            return kind
    candidates = list(plugins(group))
    for plugin in candidates:
        if plugin.error is None and plugin.loaded.opens(given):
            opens: Kind[Opened] = plugin.loaded
            return opens
    for plugin in candidates:
        if plugin.error is not None:
            if isinstance(given, str) and given.partition(":")[0] == plugin.name:
                raise plugin.error
            warnings.warn(plugin.error.message, RagmeterWarning, stacklevel=3)
    return kinds[-1]


@dataclass(frozen=True)
class Plugin:
    """An entry point of an installed package: a metric, a module of metrics or a kind, or what is wrong with it."""

    name: str
    path: str
    loaded: Any = None
    error: UsageError | None = None


def plugins(group: str) -> Iterator[Plugin]:
    """The entry points of installed packages in a group."""
    from importlib.metadata import entry_points

    for point in entry_points(group=group):
        try:
            yield Plugin(point.name, point.value, _read_plugin(point.load(), point.value, group))
        except (Exception, SystemExit) as error:  # whatever a package does when it is imported
            reason = error.message if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
            message = f"the plugin {point.name!r} ({point.value}) does not load: {reason}"
            yield Plugin(point.name, point.value, error=UsageError(message, hint="fix or uninstall its package"))


def _read_plugin(loaded: Any, path: str, group: str) -> Any:
    """What an entry point leads to, as a metric or a kind; importing a module has registered its metrics."""
    if group == _ENTRY_POINTS:
        return loaded if isinstance(loaded, types.ModuleType) else _from_object(loaded, path)
    with errors_of(path):
        kind = loaded() if isinstance(loaded, type) else loaded
    if not isinstance(kind, Kind):
        raise UsageError("it is not a kind: it must be a ragmeter.registry.Kind")
    return kind


def load_builtin() -> None:
    """Import the built-in metrics and the columns that a judge fills for them."""
    for module in _BUILTIN:
        importlib.import_module(module)
