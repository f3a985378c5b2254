"""All runs of a folder: what each one is, in a line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragmeter.documents.manifest import Manifest
from ragmeter.documents.metrics import MetricSummary
from ragmeter.documents.summary import Summary
from ragmeter.errors import RagmeterError
from ragmeter.io.write import RUNS
from ragmeter.naming import Signature
from ragmeter.runs.baselines import read_baselines
from ragmeter.runs.documents import read_manifest, read_summary
from ragmeter.runs.layout import MANIFEST, SUMMARY, Stamp, stamps_of
from ragmeter.runs.places import settle
from ragmeter.runs.question_set import read_questions
from ragmeter.runs.run import Run
from ragmeter.runs.tags import read_tags
from ragmeter.table import NOTHING_FAILED, QID

#: Which input names the data set that runs have in common; a run's own answers come last.
_DATA_SETS = ("dataset", "reference", "turns", "results")
#: So many runs are looked at for one to compare with.
_LATEST = 20
#: Of longer runs nobody reads the questions for that.
_MOST_ROWS = 200_000


@dataclass(frozen=True)
class RunEntry:
    """A run in the list of all runs. Where it can't be read, `error` says why, and its figures are missing.

    `system` is what the rows say, what was asked, or which file was scored; `questions` is the fingerprint of its
    question set, the same for runs that can be compared row by row, and `questions_file` where they are from.
    """

    name: str
    path: Path
    created: str = ""
    system: str = ""
    questions: str = ""
    questions_file: str = ""
    n_questions: int = 0
    n_rows: int = 0
    n_failed: int = 0
    cost_usd: float | None = None
    metrics: Mapping[str, MetricSummary] = field(default_factory=dict)
    causes: Mapping[str, int] = field(default_factory=dict)  # why the system has no answer, with the number of rows
    limited: bool = False  # to the first questions of its data set
    has_fingerprint: bool = True  # of its own; a run that was written before there were any has none
    error: str = ""
    tags: tuple[str, ...] = ()
    is_baseline: bool = False  # of its question set
    is_results: bool = False  # the questions are from the file of answers, for there is no other

    @classmethod
    def of(cls, path: Path) -> RunEntry:
        """Read what is said of a run; its rows are not opened."""
        try:
            settle(path)
            manifest = read_manifest(path / MANIFEST)
            summary = read_summary(path / (manifest.files_in or "") / SUMMARY)
        except RagmeterError as error:
            return cls(path.name, path, error=str(error))
        data, questions = _data_set(manifest), summary.questions
        return cls(
            path.name,
            path,
            manifest.created or "",
            summary.system or system_of(manifest),
            str(data.get("sha256") or "") if questions is None else questions.fingerprint,
            str(data.get("file") or ""),
            summary.n_rows if questions is None else questions.n,
            summary.n_rows,
            max(map(_failed, summary.metrics.values()), default=0),
            _cost(summary),
            summary.metrics,
            summary.causes or {},
            manifest.limit is not None,
            questions is not None,
            _rows_problem(path),
            is_results="sha256" in data and data is manifest.inputs.get("results"),
        )

    def with_fingerprint(self) -> RunEntry:
        """The entry with the fingerprint of its questions, read from the rows where the summary has none."""
        if self.has_fingerprint or self.error:
            return self
        questions, system = read_questions(Run(self.path))
        entry = replace(self, has_fingerprint=True, system=system or self.system)
        return entry if questions is None else replace(entry, questions=questions.fingerprint, n_questions=questions.n)

    def as_dict(self) -> dict[str, Any]:
        """The entry as a dict for JSON."""
        keys = ("mean", "interval", "n_scored", "n_total", "direction")
        metrics = {name: {key: getattr(figures, key) for key in keys} for name, figures in self.metrics.items()}
        return {**vars(self), "path": str(self.path), "metrics": metrics}


def catalogue(output_dir: str | Path = RUNS) -> list[RunEntry]:
    """The runs of a folder, the newest first; those that can't be read are among them, with their error."""
    folder = Path(output_dir)
    entries = [RunEntry.of(folder / name) for name in run_stamps(folder)]
    return sorted(tagged(entries, folder), key=lambda entry: entry.created, reverse=True)


def comparable_run(path: Path) -> str | None:
    """The newest other run of the same folder that this one can be compared with, by the same questions.

    Without one it is the newest of as many rows, if most of the questions are the same. Only the latest runs are looked
    at, and only those of other answers.
    """
    own = RunEntry.of(path).with_fingerprint()
    times = {name: max(stamp[1] for stamp in stamps if stamp) for name, stamps in run_stamps(path.parent).items()}
    latest = sorted((name for name in times if name != path.name), key=lambda name: times[name], reverse=True)
    entries = [RunEntry.of(path.parent / name) for name in latest[:_LATEST]]
    alike = [entry for entry in entries if not entry.error and not own.metrics.keys().isdisjoint(entry.metrics)]
    answers = _answers(path)
    alike = [entry for entry in alike if answers is None or _answers(entry.path) != answers]
    alike = [entry.with_fingerprint() for entry in alike]
    same = next((entry.name for entry in alike if own.questions and entry.questions == own.questions), None)
    if same is not None:
        return same
    as_long = [entry for entry in alike if entry.n_rows == own.n_rows <= _MOST_ROWS]
    questions = _questions(path) if as_long else set()
    return next((e.name for e in as_long if 2 * len(questions & _questions(e.path)) > len(questions)), None)


def _answers(path: Path) -> object:
    """A hash of the file of answers that a run has scored; None where there is none."""
    try:
        return read_manifest(path / MANIFEST).inputs.get("results", {}).get("sha256")
    except RagmeterError:
        return None


def _questions(path: Path) -> set[tuple[str | None, ...]]:
    """The qids of a run, each with its question, where it has one; none of a run that can't be read."""
    try:
        run = Run.at(path)
        columns = [run.column(name).to_pylist() for name in (QID, "question") if name in run.texts]
    except RagmeterError:
        return set()
    return set(zip(*columns, strict=True))


def run_stamps(folder: Path) -> dict[str, tuple[Stamp, ...]]:
    """The names of the runs of a folder, each with the stamps of its files; those that lack a file are among them."""
    try:
        with os.scandir(folder) as members:
            names = sorted(member.name for member in members if not member.name.startswith(".") and member.is_dir())
    except FileNotFoundError:
        return {}
    stamps = {name: stamps_of(os.path.join(folder, name)) for name in names}  # noqa: PTH118 - there may be thousands
    for name in [name for name, of_run in stamps.items() if of_run[0] is None]:
        settle(folder / name)  # its manifest may be missing because it is being replaced
        stamps[name] = stamps_of(folder / name)
    return {name: of_run for name, of_run in stamps.items() if any(of_run)}


def tagged(entries: Iterable[RunEntry], folder: Path) -> list[RunEntry]:
    """The entries with their tags, and with those marked that were set as baselines."""
    tags, baselines = read_tags(folder), read_baselines(folder)
    return [
        replace(entry, tags=tuple(tags.get(entry.name, ())), is_baseline=baselines.get(entry.questions) == entry.name)
        for entry in entries
    ]


def _data_set(manifest: Manifest) -> Signature:
    inputs = manifest.inputs
    return next((inputs[name] for name in _DATA_SETS if name in inputs), {})


def _rows_problem(path: Path) -> str:
    """Why the table can't be all right, as far as its footer says; empty if it can. The rows are not read."""
    run = Run(path)
    try:
        run.check_sizes()
    except RagmeterError as error:
        return str(error)
    run.close()
    return ""


def system_of(manifest: Manifest) -> str:
    """What was asked, or the file of answers that was scored."""
    target = manifest.target
    if target is not None:
        return str(next((target[key] for key in ("url", "model", "name", "source", "kind") if target.get(key)), ""))
    results = manifest.inputs.get("results")
    return "" if results is None else str(results.get("file") or "")


def _failed(figures: MetricSummary) -> int:
    """How many rows failed to get a score; an answer that declines, or claims nothing, is no failure."""
    return sum(count for outcome, count in figures.n_not_scored.items() if outcome not in NOTHING_FAILED)


def _cost(summary: Summary) -> float | None:
    """Dollars of the answers and of the judge together; None where neither has a price."""
    usages = (usage for usage in (summary.usage, summary.judge_usage) if usage is not None)
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return sum(costs) if costs else None
