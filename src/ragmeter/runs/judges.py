"""Who judged a run's metrics, and with which settings; and in what two runs differ there.

Two judges give the same answers other scores: metrics that were judged differently say nothing about the systems.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from ragmeter import registry
from ragmeter.definition.judge_columns import SUPPORT_MODEL, BoundColumn
from ragmeter.documents.manifest import EmbeddingUse
from ragmeter.embedders.port import SERVER, STATIC
from ragmeter.errors import UsageError
from ragmeter.naming import Signature
from ragmeter.runs.run import Run

#: What a manifest says of a filled column that its values don't depend on.
_ASIDE = frozenset({"tries", "columns", "calls", "rephrased_calls", "words", "journal"})
#: What the vectors of an embedding model depend on.
_OF_VECTORS = ("backend", "revision", "endpoint", "prefix")
EMBEDDING_MODEL = "embedding model"
#: Under these names a signature has the model that it is of.
_MODELS = frozenset({"model", SUPPORT_MODEL, EMBEDDING_MODEL})

#: Where a model is asked: the same one may have moved.
ENDPOINT = "endpoint"

#: What differs, by its name: the value in the one run and in the other.
Differing = dict[str, tuple[Any, Any]]


def changed(before: Signature, now: Signature) -> list[str]:
    """The settings that a filled column depends on and that are others now."""
    return [key for key, value in now.items() if key not in _ASIDE and before.get(key) != value]


def differing_judges(a: Run, b: Run, metrics: Iterable[str]) -> dict[str, Differing]:
    """The metrics that different judges or local models have scored in two runs, and what differs."""
    manifests = [run.manifest() for run in (a, b)]
    if not any(manifest.judged_columns or manifest.offline or manifest.embeddings for manifest in manifests):
        return {}
    differing = {}
    for name in metrics:
        differences: Differing = {}
        for (column, first), (_, second) in zip(_signatures(a, name), _signatures(b, name), strict=True):
            if not _same_cells(a, b, column):
                differences = _differing(first, second) | differences  # the first column's values are the ones shown
        if differences:
            differing[name] = differences
    return differing


def _same_cells(a: Run, b: Run, column: BoundColumn | None) -> bool:
    """Whether a column that tables may bring is the same in both: then it does not matter who filled it."""
    if column is None or not column.declaration.given or not all(column.name in run.texts for run in (a, b)):
        return False
    return bool(a.column(column.name).equals(b.column(column.name)))


def _signatures(run: Run, name: str) -> Iterator[tuple[BoundColumn | None, Signature]]:
    """What each column depends on that a metric is computed from; empty where the run does not say."""
    manifest = run.manifest()
    judged_columns, offline = manifest.judged_columns, manifest.offline
    with suppress(UsageError):  # no metric, or one of a package that is not there any more
        metric = registry.get(name)
        for column in metric.judge_columns:
            by_nobody = offline.get(column.name)
            yield column, judged_columns.get(column.name) or ({} if by_nobody is None else by_nobody.as_dict())
        for column in metric.offline:
            filled = offline.get(column.name)
            yield column, {} if filled is None else filled.as_dict()
        for _, settings in metric.embedded.values():
            yield None, _embedding(manifest.embeddings, settings.get("model") or STATIC)


def _embedding(entries: Sequence[EmbeddingUse], model: str) -> Signature:
    """The model that made a metric's vectors, among those that the run used; empty if that can't be told."""
    of_model = [entry for entry in entries if entry.model in (model, model.removeprefix(SERVER))] or entries
    if not of_model:
        return {}
    return {EMBEDDING_MODEL: of_model[0].model, **{key: getattr(of_model[0], key) for key in _OF_VECTORS}}


def _differing(first: Signature, second: Signature) -> Differing:
    """The settings that differ, whichever of the two has them."""
    names = dict.fromkeys([*changed(first, second), *changed(second, first)])
    if not all(_MODELS & signature.keys() for signature in (first, second)):
        # a table brought the values, or no model was asked: the settings of the other model say nothing
        names = {name: None for name in names if name in {*_MODELS, "cascade"}}
    return {name: (first.get(name), second.get(name)) for name in names}
