"""The files of the CRAG-MM evaluation, beside those of an ordinary run."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from ragmeter.compat.crag.evaluation import RESULT_COLUMNS
from ragmeter.engine.results import Evaluation
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller, option
from ragmeter.io.cells import is_missing
from ragmeter.io.write import dumps, replacing, write_rows
from ragmeter.runs.layout import MANIFEST, ROWS, writing
from ragmeter.runs.paid_replies import manifest_of
from ragmeter.runs.places import hold
from ragmeter.runs.run import Run
from ragmeter.runs.writer import NewRun

RESULT_FILES = ("turn_evaluation_results_all.csv", "turn_evaluation_results_ego.csv", "scores_dictionary.json")
Rows = Mapping[str, Iterable[Mapping[str, Any]]]
Scores = Mapping[str, Mapping[str, float | None]]


def result_rows(part: str, rows: Any) -> list[Mapping[str, Any]]:
    """The rows of a part of the results: a list of dicts, or the DataFrame that somebody made of one."""
    if callable(getattr(rows, "to_dicts", None)):  # polars
        rows = rows.to_dicts()
    elif callable(getattr(rows, "to_dict", None)):  # pandas
        rows = rows.to_dict("records")
    if not isinstance(rows, Sequence) or not all(isinstance(row, Mapping) for row in rows):
        raise UsageError(f"turn_results[{part!r}] must be a list of dicts or a DataFrame, got {type(rows).__name__}")
    return [{name: None if is_missing(value) else value for name, value in row.items()} for row in rows]


def save_results(folder: Path, rows: Rows, scores: Scores, *, guard: bool = True) -> None:
    """Write the two files of turns and the dictionary of scores."""
    paths = [folder / name for name in RESULT_FILES]
    with hold(folder, "writes results"), replacing(*paths, private=True) as temporary:
        _write_results(temporary, rows, scores, guard=guard)


def save_run(folder: Path, evaluation: Evaluation, rows: Rows, scores: Scores, *, guard: bool = True) -> Run:
    """Write the same files and those of a run, all in one step, beside the folder's other files."""
    with NewRun(folder, inside=True) as new:
        with writing(folder):
            shutil.copyfile(str(evaluation.run.location / ROWS), new.folder / ROWS)
            _write_results([new.folder / name for name in RESULT_FILES], rows, scores, guard=guard)
        manifest = structs.replace(evaluation.manifest, run=folder.name)
        return new.finish(manifest, structs.replace(evaluation.summary, run=folder.name))


def _write_results(paths: Sequence[Path], rows: Rows, scores: Scores, *, guard: bool) -> None:
    all_turns, ego_turns, dictionary = paths
    for key, path in (("all", all_turns), ("ego", ego_turns)):
        cells = ([row.get(column) for column in RESULT_COLUMNS] for row in rows[key])
        write_rows(path, RESULT_COLUMNS, cells, "csv", guard=guard)
    dictionary.write_text(dumps(scores, indent=2) + "\n", encoding="utf-8")


def refuse_added(folder: Path) -> None:
    """Refuse to write conversations where a judge was paid for columns that were added to those that are there."""
    judged_columns = manifest_of(folder).judged_columns if (folder / MANIFEST).is_file() else {}
    if added := ", ".join(name for name in judged_columns if name.partition("[")[0] != "verdict"):
        raise UsageError(
            f"the run {folder.name} exists already, and has a judge's replies that were added to it ({added})",
            hint=f"choose another folder with {option('output_dir')}, or replace the run with "
            f"{by_caller('--replace', 'replace=True')}: its journal stays, so that adding them again costs nothing",
        )
