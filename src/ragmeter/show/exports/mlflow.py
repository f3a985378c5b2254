"""A run's figures in MLflow: means with their intervals and n, and what the run was made with."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from ragmeter.documents.manifest import Manifest
from ragmeter.documents.metrics import MetricSummary
from ragmeter.errors import MissingExtraError, OutputError, describe
from ragmeter.io.write import dumps
from ragmeter.runs.run import Run

#: The most characters of a parameter that all versions of MLflow take, and of a name.
_LONGEST, _LONGEST_NAME = 500, 250
_NOT_TAKEN = re.compile(r"[^\w\-. :/]", re.ASCII)
_DATABASES = ("sqlite", "postgresql", "mysql", "mssql")


def log_to_mlflow(run: Run, tracking_uri: str, experiment: str | None) -> str:
    """Log a run, and return where: the address and MLflow's id of it."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # when imported, it reports to its makers
    try:
        from mlflow import MlflowClient
    except ImportError:
        raise MissingExtraError("exporting to MLflow", package="mlflow-skinny") from None
    summary, manifest = run.summary(), run.manifest()
    try:
        client = MlflowClient(tracking_uri=tracking_uri)
        experiment_id = _experiment(client, experiment or "ragmeter")
        logged = client.create_run(experiment_id, run_name=run.name)
        identity = logged.info.run_id
        for name, value in metric_values(summary.metrics).items():
            client.log_metric(identity, name, value)
        for name, text in parameters(manifest).items():
            client.log_param(identity, name, text)
        for name, document in (("summary.json", summary), ("manifest.json", manifest)):
            client.log_text(identity, dumps(document, indent=2), name)
        client.set_terminated(identity)
    except Exception as error:  # the library raises errors of its own and of whatever it is built upon
        raise OutputError(
            _without_password(f"MLflow at {tracking_uri} did not take the run: {describe(error)}"),
            hint=_hint(tracking_uri),
        ) from None
    return f"{_without_password(tracking_uri)}, run {identity}"


def _hint(tracking_uri: str) -> str:
    """What MLflow of today needs for an address of this kind."""
    scheme = tracking_uri.partition("://")[0].partition("+")[0] if "://" in tracking_uri else "file"
    if scheme in _DATABASES and find_spec("sqlalchemy") is None:
        return "mlflow-skinny reaches servers only; for a database: pip install mlflow"
    if scheme == "file":
        return "MLflow 3 takes no folder unless MLFLOW_ALLOW_FILE_STORE=true: name a server, or sqlite:///mlflow.db"
    return ""


def _without_password(text: str) -> str:
    """The text without the user and password of an address in it."""
    return re.sub(r"://[^/@\s]*@", "://", text)


def _experiment(client: Any, name: str) -> str:
    known = client.get_experiment_by_name(name)
    return str(client.create_experiment(name) if known is None else known.experiment_id)


def metric_values(metrics: Mapping[str, MetricSummary]) -> dict[str, float]:
    """Each metric's mean, the ends of its interval and its n, under names that MLflow takes: ndcg@10 is ndcg_at_10."""
    names = safe_names(metrics)
    return {
        name: float(value)
        for metric, figures in metrics.items()
        for name, value in _figures(names[metric], figures)
        if value is not None
    }


def _figures(name: str, figures: MetricSummary) -> Iterator[tuple[str, float | None]]:
    low, high = figures.interval or (None, None)
    yield name, figures.mean
    yield f"{name}.low", low
    yield f"{name}.high", high
    yield f"{name}.n_scored", figures.n_scored
    yield f"{name}.n_total", figures.n_total


def safe_names(names: Iterable[str]) -> dict[str, str]:
    """A name that MLflow takes for each name: letters, digits, and _ - . / : and spaces; no two are the same."""
    safe: dict[str, str] = {}
    for name in names:
        plain = _NOT_TAKEN.sub("_", name.replace("@", "_at_")).strip("_. /")[:_LONGEST_NAME] or "metric"
        number, candidate = 2, plain
        while candidate in safe.values():
            candidate, number = f"{plain}_{number}", number + 1
        safe[name] = candidate
    return safe


def parameters(manifest: Manifest) -> dict[str, str]:
    """What the run was made with, as flat texts: `target.name`, `inputs.dataset.sha256`."""
    document = manifest.as_dict()
    names_of_parts = ("ragmeter", "inputs", "target", "judge", "statistics")
    chosen = {name: document[name] for name in names_of_parts if name in document}
    flat = dict(_flat("", chosen))
    names = safe_names(flat)
    return {names[name]: value[:_LONGEST] for name, value in flat.items()}


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _flat(f"{prefix}.{name}" if prefix else str(name), part)
    elif value is not None:
        yield prefix, value if isinstance(value, str) else dumps(value)
