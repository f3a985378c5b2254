"""An evaluation in parts, by many workers: the rows and the summary of one by threads, whoever has done which part.

Parts are cut by the files alone, and what is counted in them is added up in their order. Each part's file is put into
place when it is complete; a command that is started again finds those that are there, and does the others.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
import os
import pickle
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs

import ragmeter
from ragmeter.definition import Metric
from ragmeter.documents.manifest import Manifest, PartFile
from ragmeter.documents.summary import Join, Summary
from ragmeter.engine.causes import with_cause_names
from ragmeter.engine.executors import Executor
from ragmeter.engine.judging.offline import described as offline_described
from ragmeter.engine.judging.offline import offline_columns
from ragmeter.engine.judging.setup import own_name
from ragmeter.engine.parts.counts import Counted
from ragmeter.engine.parts.partitions import match, score_left, write_gold, write_keys
from ragmeter.engine.parts.qid_hashes import hashes_of, repeated_hashes
from ragmeter.engine.parts.sources import files_for_workers, part_bytes, reference_for_workers
from ragmeter.engine.parts.work import (
    ASIDE,
    Job,
    JudgedColumns,
    PartDone,
    count_rows,
    from_bits,
    put_bytes,
    reference_source,
    score_part,
    score_unused,
    to_bits,
    used_file,
)
from ragmeter.errors import InputError, RagmeterError
from ragmeter.io.columns import Typed
from ragmeter.io.data import Data
from ragmeter.io.delimited.quotes import Quotes, scan
from ragmeter.io.formats.datasets import DataFile
from ragmeter.io.join import duplicate, nothing_in_common
from ragmeter.io.locations import Location, StorePath
from ragmeter.io.pieces import Part, cut, in_file, settle
from ragmeter.io.progress import Progress, parts_bar
from ragmeter.io.reading import checked
from ragmeter.runs.layout import MANIFEST, PARTS, PARTS_LOG, writing
from ragmeter.runs.run import Run
from ragmeter.runs.stored_run import commit
from ragmeter.runs.writer import NewRun
from ragmeter.table import QID, outcome_column
from ragmeter.wording.numbers import hundredths

_log = logging.getLogger("ragmeter")
#: So many hashes are compared at once.
_HASHES = 4_000_000
#: A reference of at most so many bytes is read by every worker; a larger one is partitioned into buckets.
BROADCAST_BYTES, BUCKET_BYTES = 64 << 20, 32 << 20


@dataclass
class PartsPlan:
    """The parts of an evaluation, and what is to be done with each."""

    job: Job
    parts: list[Part]
    gold: list[Part]  # those of a reference that is partitioned
    has_qid: bool
    fingerprint: str
    counts: dict[int, int] = field(default_factory=dict)  # rows of each part, where they have to be known first
    skipped: dict[int, str] = field(default_factory=dict)  # parts that can't be read, each with the reason

    @property
    def readable(self) -> list[Part]:
        """The parts that are to be scored."""
        return [part for part in self.parts if part.number not in self.skipped]

    @classmethod
    def of(
        cls,
        data: Data,
        metrics: Sequence[Metric],
        path: Location,
        columns: Sequence[str],
        judged: JudgedColumns | None = None,
        *,
        lasts: bool = True,
    ) -> PartsPlan:
        """Cut the results. `columns` are those of the table's first rows.

        `lasts`: the parts of an interrupted evaluation stay, for the same command to go on with.
        """
        reading = checked(data.reading)
        files = files_for_workers(data.results, "results")
        parts = cut(files, reading, part_bytes(files, metrics))
        has_qid = QID in columns
        reference = None if data.reference is None else reference_for_workers(data, metrics)
        mapping, is_data_set = data.mapping, bool(data.results.files)
        wanted = data.wanted(metrics)
        gold = () if reference is None else reference.files
        made_of = (ragmeter.__version__, mapping, sorted(wanted or ()), reading, columns, parts, gold)
        made_of_all = (*made_of, _described(metrics), offline_described(metrics), data.missing_as_zero)
        fingerprint = hashlib.sha256(repr(made_of_all).encode()).hexdigest()[:16]
        filled = _filled_offline(metrics, columns)
        job = Job(
            ragmeter.__version__,
            tuple(metrics),
            mapping,
            wanted,
            reading,
            tuple(with_cause_names([*_with_judged(columns if has_qid else [QID, *columns], judged), *filled], metrics)),
            _folder(path, fingerprint, lasts=lasts),
            is_data_set,
            reference,
            0 if judged is not None else _number_of_buckets(gold),  # who asks has read all of it
            judged,
            data.missing_as_zero,
            len(parts),
        )
        gold_parts = cut(gold, reading, part_bytes(gold, metrics)) if job.buckets else []
        return cls(job, parts, gold_parts, has_qid, fingerprint)

    def prepare(self, executor: Executor, *, skip_bad_parts: bool = False) -> None:
        """Refuse workers that can't do the work, and look for the rows of large files with quoted cells.

        Rows are counted where others have to know of them: whoever numbers them, asks a judge, or partitions.
        """
        executor.check(pickle.dumps(self.job))
        self.parts, self.gold = _settled(executor, self.parts), _settled(executor, self.gold)
        if not self.has_qid or self.job.judged is not None or (skip_bad_parts and self.job.buckets):
            self._count(executor, skip_bad_parts)

    def remove(self) -> None:
        """Remove what was put aside, and parts that were not made a run."""
        if isinstance(self.job.folder, Path):
            shutil.rmtree(self.job.folder, ignore_errors=True)

    def _count(self, executor: Executor, skip_bad_parts: bool) -> None:
        job = pickle.dumps(self.job)
        for place, outcome in executor.run(count_rows, [(job, part, self.has_qid) for part in self.parts]):
            if skip_bad_parts and isinstance(outcome, InputError):
                _skip(self.skipped, place, outcome)
            else:
                self.counts[place] = _result(outcome, self.parts[place])

    def refuse_duplicates(self, executor: Executor, numbers: Sequence[int], rows: int) -> None:
        """Raise an error if a qid occurs twice in the results."""
        buckets = min(256, max(1, -(-rows // _HASHES)))
        edges = [256 * place // buckets for place in range(buckets + 1)]
        ranges = [(self.job.folder / ASIDE, numbers, low, high) for low, high in pairwise(edges)]
        suspects = sorted(suspect for _, twice in executor.run(repeated_hashes, ranges) for suspect in _result(twice))
        for hashed, first, second in suspects:
            self._compare(hashed, first, second)

    def _compare(self, hashed: int, *numbers: int) -> None:
        """Read the parts again: equal hashes prove nothing."""
        seen: set[str] = set()
        for number in dict.fromkeys(numbers):
            typed = self.job.typed(self.parts[number])
            for batch in typed.batches():
                same = np.flatnonzero(hashes_of(batch.columns[QID]) == hashed)
                for place in same.tolist():
                    qid = batch.columns[QID][place]
                    if qid in seen:
                        raise in_file(duplicate(qid, typed.name_of(batch), batch.lines[place]), self.parts[number])
                    seen.add(qid)


def score_in_parts(
    plan: PartsPlan,
    executor: Executor,
    progress: Progress,
    *,
    skip_bad_parts: bool = False,
    until_ready: Callable[[int], None] = lambda number: None,
) -> Counted:
    """Have all parts scored, and the questions that have no result. `until_ready` waits until a part can be scored."""
    job = pickle.dumps(plan.job)
    parts = plan.readable
    counted = Counted(skipped=dict(plan.skipped))
    with parts_bar(progress, len(parts), executor.dashboard) as advance:
        firsts = [()] * len(parts) if plan.has_qid else _first_rows([plan.counts[part.number] for part in parts])
        left = _partition(plan, executor, job) if plan.job.buckets else []

        def arguments() -> Iterator[tuple[Any, ...]]:
            for part, first in zip(parts, firsts, strict=True):
                until_ready(part.number)
                yield job, part, *first

        for place, outcome in executor.run(score_part, arguments()):
            part = parts[place]
            if skip_bad_parts and isinstance(outcome, InputError):
                _skip(counted.skipped, part.number, outcome)
                continue
            done: PartDone = _result(outcome, part)
            counted.done[part.number] = done
            how = "was there" if done.was_there else f"by {done.worker} in {hundredths(done.seconds)} s"
            _log.info("part %d (%s): %d rows, %s", part.number, part.name, done.rows, how)
            advance(done.rows)
    if not counted.rows:
        raise InputError("no part could be read: " + next(iter(counted.skipped.values()), "there are no rows"))
    if plan.has_qid:
        plan.refuse_duplicates(executor, counted.numbers, counted.rows)
    if plan.job.buckets:
        _add_left(plan, executor, job, counted, left)
    elif plan.job.reference is not None:
        _add_unused(plan, executor, job, counted, until_ready)
    return counted


def _partition(plan: PartsPlan, executor: Executor, job: bytes) -> list[int]:
    """Partition both sides by qid. How many rows of each part of the reference no result has asked for."""
    reference, buckets = plan.job.reference, plan.job.buckets
    assert reference is not None  # noqa: S101 - the caller has looked
    for function, parts in ((write_keys, plan.readable), (write_gold, plan.gold)):
        for place, outcome in executor.run(function, [(job, part, buckets) for part in parts]):
            _result(outcome, parts[place])
    numbers = [part.number for part in plan.readable]
    used, left = 0, [0] * len(plan.gold)
    for _, outcome in executor.run(match, [(job, bucket, numbers, plan.gold) for bucket in range(buckets)]):
        of_bucket, rows = _result(outcome)
        used += of_bucket
        left = [total + own for total, own in zip(left, rows, strict=True)]
    if not used:
        first = [next(plan.job.typed(plan.readable[0]).batches()).columns[QID], _first_qids(plan.job)]
        raise nothing_in_common("the results", reference.name, *first)
    return left


def _add_left(plan: PartsPlan, executor: Executor, job: bytes, counted: Counted, left: Sequence[int]) -> None:
    """The questions without a result: a part for each part of the reference that has some."""
    wanted = [(part, len(plan.parts) + part.number) for part in plan.gold if left[part.number]]
    for place, outcome in executor.run(score_left, [(job, part, number) for part, number in wanted]):
        counted.done[wanted[place][1]] = _result(outcome)


def _first_qids(job: Job) -> Sequence[str]:
    assert job.reference is not None  # noqa: S101 - only for a job with one
    source = reference_source(job.reference, job.reading)
    qids: Sequence[str] = next(Typed(source, "reference", job.mapping).batches()).columns[QID]
    return qids


def _settled(executor: Executor, parts: list[Part]) -> list[Part]:
    """The parts with exact ranges."""
    rough = [part for part in parts if part.is_rough]
    quotes: dict[int, Quotes | None] = {}
    for place, outcome in executor.run(scan, [(part.file.location, part.span) for part in rough]):
        quotes[rough[place].number] = None if isinstance(outcome, InputError) else _result(outcome)
    settled = settle(parts, quotes)
    for file in {part.file for part in rough} & {part.file for part in settled if part.span is None}:
        _log.warning("%s is one part: a quote stands in a cell that is not quoted, or is never closed", file.name)
    return settled


def _result(outcome: Any, part: Part | None = None) -> Any:
    if isinstance(outcome, RagmeterError):
        raise in_file(outcome, part) if part is not None and isinstance(outcome, InputError) else outcome
    return outcome


def _first_rows(counts: Sequence[int]) -> list[tuple[int, ...]]:
    """The number of each part's first row: without a qid, rows are numbered through all files."""
    return [(1 + before,) for before in accumulate(counts[:-1], initial=0)]


def _skip(skipped: dict[int, str], number: int, error: InputError) -> None:
    skipped[number] = error.message
    _log.warning("part %d was skipped: %s", number, error.message)


def _add_unused(
    plan: PartsPlan, executor: Executor, job: bytes, counted: Counted, until_ready: Callable[[int], None]
) -> None:
    """The questions without a result as a last part, if there are any."""
    reference = plan.job.reference
    assert reference is not None  # noqa: S101 - the caller has looked
    used = None
    for number in counted.numbers:
        bits = from_bits((plan.job.folder / ASIDE / used_file(number)).read_bytes())
        used = bits if used is None else used | bits
    assert used is not None  # noqa: S101 - there is a part
    if not used.any():
        ours = counted.join().results_only.qids
        raise nothing_in_common("the results", reference.name, ours, _first_qids(plan.job))
    if not used.all():
        number = len(plan.parts)
        until_ready(number)
        for _, outcome in executor.run(score_unused, [(job, number, to_bits(used))]):
            counted.done[number] = _result(outcome)


def keep_parts(plan: PartsPlan, counted: Counted, path: Location, manifest: Manifest, summary: Summary) -> Run:
    """Make the parts a run: put summary and manifest beside them, all at once."""
    manifest = structs.replace(manifest, parts=[PartFile(name, rows) for name, rows in counted.files()])
    log = "".join(json.dumps(_logged(plan, number, done)) + "\n" for number, done in sorted(counted.done.items()))
    folder = plan.job.folder
    if isinstance(path, StorePath):
        put_bytes(folder / PARTS_LOG, log.encode())
        (folder / ASIDE).remove() if isinstance(folder, StorePath) else None
        return commit(path, folder.name, manifest, summary)
    with NewRun(path) as new, writing(path):
        (new.folder / PARTS).mkdir(mode=0o700)
        for name, _ in counted.files():
            _link(Path(str(folder)) / PARTS / name, new.folder / PARTS / name)
        (new.folder / PARTS_LOG).write_text(log, encoding="utf-8")
        run = new.finish(manifest, summary)
    for older in (Path(str(folder)), *path.parent.glob(f".{path.name}.parts-*")):
        shutil.rmtree(older, ignore_errors=True)
    return run


def _link(source: Path, target: Path) -> None:
    """Give the file another name as well; the first one stays until the run is complete."""
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)


def _logged(plan: PartsPlan, number: int, done: PartDone) -> dict[str, object]:
    name = plan.parts[number].name if number < len(plan.parts) else "questions without a result"
    about = {"part": number, "of": name, "rows": done.rows}
    return about | ({"was_there": True} if done.was_there else {"worker": done.worker, "seconds": done.seconds})


def _number_of_buckets(files: Sequence[DataFile]) -> int:
    """How many parts the reference is partitioned into by qid; 0 if all of it fits a worker."""
    size = sum(file.size for file in files)
    return 0 if size <= BROADCAST_BYTES else -(-size // BUCKET_BYTES)


def _folder(path: Location, fingerprint: str, *, lasts: bool) -> Location:
    """Where parts are put: in a store where they stay, on a disk beside the run, whose folder may not exist yet.

    If nobody is to go on with them, the folder's name is that of what a killed process leaves, which others remove.
    """
    if isinstance(path, StorePath):
        folder = path / f"files-{fingerprint}"
        is_complete = (path / MANIFEST).is_file() and Run(path).manifest().files_in == folder.name
        return path / f"{folder.name}-again" if is_complete else folder  # the older run stays until the new one is
    name = f"parts-{fingerprint}" if lasts else f"{os.getpid()}.{fingerprint[:8]}.tmp"
    return path.absolute().with_name(f".{path.name}.{name}")


def _with_judged(columns: Sequence[str], judged: JudgedColumns | None) -> list[str]:
    """The columns with those that a judge fills, as an evaluation without an engine has them."""
    if judged is None:
        return list(columns)
    return [*(own_name(name, judged.names) for name in columns), *judged.names]


def _filled_offline(metrics: Sequence[Metric], columns: Sequence[str]) -> list[str]:
    """The columns that are filled without a model, and their outcomes."""
    missing = [column.name for column in offline_columns(metrics) if column.name not in columns]
    return [name for column in missing for name in (column, outcome_column(column))]


def _described(metrics: Sequence[Metric]) -> list[tuple[str, str, str]]:
    """The metrics with their sources, and the code of those that are not this package's: it may change."""
    return [(metric.name, metric.source, _code(metric)) for metric in metrics]


def _code(metric: Metric) -> str:
    if metric.is_builtin:
        return ""
    try:
        return inspect.getsource(metric.owner)  # type: ignore[arg-type]
    except (OSError, TypeError):  # declared where there is no file
        return ""


def skipped_parts(counted: Counted) -> list[str]:
    """Why parts were skipped, for the summary."""
    return [counted.skipped[number] for number in sorted(counted.skipped)]


def join_summary(plan: PartsPlan, counted: Counted) -> Join:
    """What the summary says of the join, as in an evaluation by threads."""
    return Join() if plan.job.reference is None else counted.join().kept()
