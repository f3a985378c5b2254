"""Comparisons that are kept beside their runs, so that a report shows the one that was made."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import ragmeter
from ragmeter.documents.comparison import ComparisonDocument, ComparisonSettings, PairOfRuns, RunIdentity
from ragmeter.errors import RagmeterError, UsageError
from ragmeter.hints import option
from ragmeter.io.locations import Location, on_disk
from ragmeter.io.write import dumps, replacing
from ragmeter.runs.documents import read_record
from ragmeter.runs.layout import COMPARISONS, reading
from ragmeter.runs.places import hold
from ragmeter.runs.run import Run
from ragmeter.runs.temporary_run import TemporaryRun
from ragmeter.table import NUMBER_COLUMNS

_LONGEST_NAME = 200
_HINT = "compare the runs again, or remove the file"


@dataclass(frozen=True)
class KeptComparison:
    """A stored comparison: its file, date and settings, and whether its runs are unchanged since."""

    path: Location
    created: str
    settings: ComparisonSettings
    current: bool


def comparison_file(runs: Sequence[Run]) -> Location:
    """Where a comparison of these runs is kept: in the last one's folder, under the names of the others.

    Names joined by a + may be those of other runs as well: where one has a + in it, or is in another folder than the
    last run, a hash of all of them follows.
    """
    others = [_relative(run, runs[-1]) for run in runs[:-1]]
    is_plain = all(place == run.name and "+" not in place for place, run in zip(others, runs, strict=False))
    ending = "" if is_plain else f"-{_hash(dumps(others))}"
    name = "+".join(run.name for run in runs[:-1])
    if len(name.encode()) > _LONGEST_NAME:
        name = name.encode()[:100].decode(errors="ignore") + _hash(name)
    return runs[-1].location / COMPARISONS / f"{name}{ending}.json"


def _relative(run: Run, last: Run) -> str:
    """A run's folder as seen from the folder of the last run, so that both may be moved together."""
    if isinstance(run.location, Path) and isinstance(last.location, Path):
        return Path(os.path.relpath(run.location.resolve(), last.location.resolve().parent)).as_posix()
    return run.name if run.location.parent == last.location.parent else str(run.location)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check_kept(runs: Sequence[Run]) -> None:
    """Refuse to keep a comparison of runs that have no folder."""
    for run in runs:
        if isinstance(run, TemporaryRun):
            raise UsageError(
                f"{run.name} was not kept, so a comparison can't be kept beside it",
                hint=f"keep each run with {option('run')}",
            )


def keep_comparison(runs: Sequence[Run], settings: ComparisonSettings, result: Mapping[str, Any]) -> Path:
    """Write a comparison with its settings, and with the identity of its runs."""
    path = on_disk(comparison_file(runs), "keeping a comparison")
    metrics = list(dict.fromkeys(name for pair in result["pairs"] for name in pair["metrics"]))
    document = {
        "ragmeter": ragmeter.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "runs": [_identity(run, metrics) for run in runs],
        "settings": settings,
        "comparison": result,
    }
    with hold(path.parent.parent, "keeps a comparison"), replacing(path, private=True) as (temporary,):
        temporary.write_text(dumps(document, indent=2) + "\n", encoding="utf-8")
    return path


def kept_comparison(runs: Sequence[Run]) -> KeptComparison | None:
    """The stored comparison of these runs in this order, if there is one."""
    if any(isinstance(run, TemporaryRun) for run in runs):
        return None
    path = comparison_file(runs)
    return _read(path, runs) if path.exists() else None


def _read(path: Location, runs: Sequence[Run]) -> KeptComparison | None:
    """The comparison in a file; None if it is one of runs with other names."""
    document = read_record(path, ComparisonDocument, _HINT)
    identities, settings = document.runs, document.settings
    if [stored.name for stored in identities] != [run.name for run in runs]:
        return None
    current = all(_identity(run, stored.means) == stored for run, stored in zip(runs, identities, strict=True))
    if settings.metrics is None and current:
        settings = replace(settings, metrics=_stored_metrics(runs, document.comparison.pairs))
    return KeptComparison(path, document.created, settings, current)


def _identity(run: Run, metrics: Iterable[str]) -> RunIdentity:
    """The identity of a run: another run of the same name has another creation time or other means."""
    summaries = run.metrics()
    means = {name: summaries[name].mean for name in metrics if name in summaries}
    return RunIdentity(run.name, run.manifest().created, run.n_rows, means)


def _stored_metrics(runs: Sequence[Run], pairs: Sequence[PairOfRuns]) -> list[str] | None:
    """The metrics of a comparison over all metrics, if the runs have other metrics now; None if they have the same."""
    stored = [list(pair.metrics) for pair in pairs]
    shared = [name for name in runs[0].measures if all(name in run.measures for run in runs)]
    current = [name for name in shared if name not in NUMBER_COLUMNS]  # these are compared only where they are named
    return stored[0] if stored and stored[0] != current and all(names == stored[0] for names in stored) else None


def rename_in_comparisons(folder: Path, old: str, new: str) -> None:
    """Say the new name of a run in all comparisons that are kept in its folder, so that they are found."""
    for path in sorted(folder.glob(f"*/{COMPARISONS}/*.json")):
        with suppress(RagmeterError):  # another process is at work on that run, or the file is damaged
            _rename_in(path, folder, old, new)


def _rename_in(path: Path, folder: Path, old: str, new: str) -> None:
    names = [stored.name for stored in read_record(path, ComparisonDocument, _HINT).runs]
    if old not in names:
        return
    with reading(path, _HINT):
        document = json.loads(path.read_text(encoding="utf-8"))
    renamed = _renamed(document, old, new)
    runs = [Run(folder / (new if name == old else name)) for name in names]
    with hold(path.parent.parent, "renames a run in a comparison", wait=False):
        target = on_disk(comparison_file(runs), "keeping a comparison")
        with replacing(target, private=True) as (temporary,):
            temporary.write_text(dumps(renamed, indent=2) + "\n", encoding="utf-8")
        if target != path:
            path.unlink()


def _renamed(document: Any, old: str, new: str) -> Any:
    """A kept comparison with a run's new name: what is read again is typed, the rest is as `compare` wrote it."""

    def changed(part: Any, *keys: str) -> None:
        for key in keys:
            if part.get(key) == old:
                part[key] = new

    for identity in document["runs"]:
        changed(identity, "name")
    comparison = document["comparison"]
    changed(document["settings"], "baseline")
    changed(comparison, "baseline")
    comparison["runs"] = [new if name == old else name for name in comparison.get("runs", [])]
    for pair in comparison["pairs"]:
        changed(pair, "a", "b")
    return document
