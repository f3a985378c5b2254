"""Metrics that two runs have from different judges: no verdict is given on them, and the reason is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from shlex import quote

from ragmeter import registry
from ragmeter.analysis.comparing.comparison import MetricDifference
from ragmeter.runs.judges import ENDPOINT, Differing
from ragmeter.runs.run import Run
from ragmeter.runs.temporary_run import TemporaryRun
from ragmeter.wording.comparison import judge_alike, judged_differently, judged_elsewhere

#: What scores a run's rows anew; with a judge, and with an embedding model.
_JUDGED_ANEW = "ragmeter evaluate --results {rows} --run NAME --metrics {metrics} --judge-model {model}"
_SCORED_ANEW = "ragmeter evaluate --results {rows} --run NAME --metrics {metrics}"


def forbids_verdict(differing: Differing) -> bool:
    """Whether these are two judges. The same model behind another endpoint is one, as far as can be told."""
    return differing.keys() - {ENDPOINT} != set()


def withheld(result: MetricDifference, verdict: str, sentence: str) -> MetricDifference:
    """The difference as it was measured, without what a test and a plan would say about the systems."""
    return replace(result, p=None, verdict=verdict, sentence=sentence)


def judge_warnings(a: Run, b: Run, labels: tuple[str, str], differing: Mapping[str, Differing]) -> list[str]:
    """A sentence for the metrics whose judges differ in the same way, with what to do."""
    groups: list[tuple[Differing, list[str]]] = []
    for name, settings in differing.items():
        same = next((names for other, names in groups if other == settings), None)
        if same is None:
            groups.append((settings, [name]))
        else:
            same.append(name)
    return [
        judged_differently(", ".join(names), *labels, settings, judge_alike(*labels, *_how(a, b, names)))
        if forbids_verdict(settings)
        else judged_elsewhere(", ".join(names), *labels, *settings[ENDPOINT])
        for settings, names in groups
    ]


def _how(a: Run, b: Run, names: Sequence[str]) -> tuple[str, list[str]]:
    """The command that judges the earlier run's rows anew, if there is one, and the columns that the file must lack."""
    if isinstance(a, TemporaryRun):
        return "", []
    columns = [column for name in names for column in registry.get(name).judge_columns]
    brought = list(dict.fromkeys(column.name for column in columns if column.declaration.given))
    rows = "FILE" if brought else str(a.rows_path)  # the run's own table would bring them
    parts = {"rows": rows, "metrics": ",".join(names), "model": b.manifest().judge_model or "MODEL"}
    command = _JUDGED_ANEW if columns else _SCORED_ANEW
    return command.format_map({name: quote(part) for name, part in parts.items()}), brought
