"""What a worker does with a part of the results: read, join, score, write, and put the file into place.

A part's file has its scores, and in its footer what was counted. It is put into place by one rename, or by a store's
atomic put: a part that is done twice has the same bytes. Beside it are the hashes of its qids and, where there is a
reference, which of its rows were used.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

import ragmeter
from ragmeter.definition import Metric
from ragmeter.embedders.embedder import Embedders
from ragmeter.engine.causes import correctness_of
from ragmeter.engine.executors import Inline
from ragmeter.engine.judging.setup import rows_have_changed, with_columns
from ragmeter.engine.parts.qid_hashes import Hashes, hashes_of, indexed, qids_file
from ragmeter.engine.scoring import score_batches
from ragmeter.errors import WorkerError
from ragmeter.io.columns import Typed
from ragmeter.io.formats.datasets import DataFile
from ragmeter.io.join import JoinCounts, Reference, no_qid, require_qid, with_reference
from ragmeter.io.locations import Location, StorePath
from ragmeter.io.pieces import Part, open_part
from ragmeter.io.reading import Reading
from ragmeter.io.source import Source, data_set, open_file
from ragmeter.io.titles import Role
from ragmeter.runs.layout import PARTS, reading, writing
from ragmeter.runs.row_counts import RowCounts
from ragmeter.runs.rows import RowsFile
from ragmeter.runs.stored_run import upload
from ragmeter.runs.writer import RowsWriter
from ragmeter.table import QID, Batch

#: The key of a file's footer.
_NOTES = "ragmeter"
#: The folder of what is only needed until the run is complete.
ASIDE = "aside"


@dataclass(frozen=True)
class ReferenceFiles:
    """Where a worker reads the reference, and how."""

    name: str
    path: Location
    files: tuple[DataFile, ...]
    is_data_set: bool
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class JudgedColumns:
    """Columns that a judge fills, in the process that holds its journal; `numbers` are those that are no texts."""

    names: tuple[str, ...]
    numbers: frozenset[str]


@dataclass(frozen=True)
class Job:
    """What is the same for all parts of a run. `columns` are those of its table; `folder` is where parts are put.

    `buckets`: the reference was partitioned into so many; 0 if it fits a worker. `judged`: what a judge fills.
    `missing_as_zero`: a question without a result counts as one for which nothing was retrieved. `parts`: about
    how many there are.
    """

    version: str
    metrics: tuple[Metric, ...]
    mapping: dict[str, str]
    wanted: frozenset[str] | None
    reading: Reading
    columns: tuple[str, ...]
    folder: Location
    is_data_set: bool
    reference: ReferenceFiles | None = None
    buckets: int = 0
    judged: JudgedColumns | None = None
    missing_as_zero: bool = False
    parts: int = 1

    @property
    def own_columns(self) -> list[str]:
        """The table's columns under their own names, without those that a judge fills."""
        names = () if self.judged is None else self.judged.names
        own = (name for name in self.columns if name not in names)
        return [short if (short := name.removeprefix("input.")) in names else name for name in own]

    @property
    def role(self) -> Role:
        """What the titles of the results' columns mean."""
        return "both" if self.reference is None else "results"

    def typed(self, part: Part) -> Typed:
        """The part's rows, with the table's names and types."""
        source = open_part(part, self.reading, is_data_set=self.is_data_set)
        return Typed(source, self.role, self.mapping, self.wanted)


@dataclass
class PartDone:
    """What is counted in a part; `seconds` and `worker` are of this time, and not in the file."""

    rows: int = 0
    not_scored: dict[str, dict[str, int]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    cautions: dict[str, int] = field(default_factory=dict)
    join: dict[str, Any] = field(default_factory=dict)
    judged: str = ""  # a digest of what a judge has filled
    seconds: float = 0.0
    worker: str = ""
    was_there: bool = False


def score_part(job: bytes, part: Part, first_row: int | None = None) -> PartDone:
    """Score a part, unless it is there already. `first_row` numbers the rows of results without a qid."""
    begin = time.perf_counter()
    work = unpickled(job)
    done = written(work, part.number)
    if done is None:
        typed = work.typed(part)
        rows = _numbered(typed, first_row) if first_row is not None else _with_qids(typed)
        done = write_part(job, part.number, rows)
    done.seconds = time.perf_counter() - begin
    done.worker = _worker()
    return done


def score_unused(job: bytes, number: int, used: bytes) -> PartDone:
    """The questions of the reference without a result, as the run's last part."""
    work = unpickled(job)
    done = written(work, number)
    if done is None:
        gold = reference_of(job).for_part()
        gold.used = set(np.flatnonzero(from_bits(used)).tolist())
        counts = JoinCounts()
        done = write_part(
            job, number, gold.unused(work.own_columns, counts, missing_as_zero=work.missing_as_zero), counts
        )
    return done


def count_rows(job: bytes, part: Part, has_qid: bool) -> int:
    """How many rows a part has; an error if it can't be read to its end."""
    typed = unpickled(job).typed(part)
    return sum(len(batch) for batch in (_with_qids(typed) if has_qid else typed.batches()))


@lru_cache(maxsize=2)
def unpickled(job: bytes) -> Job:
    """The job, once for each worker. A worker with another version of this package would compute other numbers."""
    work: Job = pickle.loads(job)  # noqa: S301 - from the process that has started this work
    if work.version != ragmeter.__version__:
        raise WorkerError(
            f"a worker has ragmeter {ragmeter.__version__}, and the command {work.version}",
            hint=f"install ragmeter=={work.version} on all workers",
        )
    return work


@lru_cache(maxsize=1)
def reference_of(job: bytes) -> Reference:
    """The whole reference, read once for each worker."""
    work = unpickled(job)
    assert work.reference is not None  # noqa: S101 - the caller knows
    typed = Typed(reference_source(work.reference, work.reading), "reference", work.mapping, work.wanted)
    return Reference(typed, typed)


def reference_source(given: ReferenceFiles, how: Reading) -> Source:
    """The reference as a source."""
    if given.is_data_set:
        return data_set(given.name, given.path, given.files, how)
    return open_file(given.path, how)


def _with_qids(typed: Typed) -> Iterator[Batch]:
    for batch in typed.batches():
        require_qid(batch, typed, typed)
        if None in batch.columns[QID]:
            raise no_qid(batch, typed)
        yield batch


def _numbered(typed: Typed, number: int) -> Iterator[Batch]:
    for batch in typed.batches():
        batch.columns = {QID: [str(n) for n in range(number, number + len(batch))], **batch.columns}
        number += len(batch)
        yield batch


def write_part(job_bytes: bytes, number: int, batches: Iterable[Batch], unused: JoinCounts | None = None) -> PartDone:
    """Score and write batches, and put the file into place when it is complete."""
    job = unpickled(job_bytes)
    gold = None if job.reference is None or unused is not None else _gold(job_bytes, job, number)
    counts = JoinCounts() if unused is None else unused
    done = PartDone()
    hashes: list[Hashes] = []
    with _aside(job, number) as aside:
        numbers = () if job.judged is None else job.judged.numbers
        with RowsWriter(aside.path, job.metrics, job.columns, numbers) as writer, Embedders() as embedders:
            rows = _joined(batches, gold, counts)
            if job.judged is not None:
                judged = (job.folder / ASIDE / judged_file(number)).read_bytes()
                rows, done.judged = _with_judged(rows, judged, job.judged), digest(judged)
            correctness = correctness_of(job.metrics)
            for scored in score_batches(
                rows, job.metrics, embedders=embedders, executor=Inline(), correctness=correctness
            ):
                hashes.append(hashes_of(scored.batch.columns[QID]))
                writer.write(scored)
                done.rows += len(scored.batch)
            done.not_scored = {name: dict(sorted(causes.items())) for name, causes in writer.not_scored.items()}
            done.left_out = dict(sorted(writer.left_out.items()))
            done.cautions = writer.cautions()
            done.join = {} if job.reference is None else counts.kept().as_dict()
            writer.note({_NOTES: json.dumps({name: getattr(done, name) for name in _KEPT})})
        put_bytes(job.folder / ASIDE / qids_file(number), indexed(hashes))
        with closing(RowsFile(aside.path)) as table:
            put_bytes(job.folder / ASIDE / counts_file(number), RowCounts.of(table, job.parts).to_bytes())
        if gold is not None and not job.buckets:
            bits = np.zeros(len(gold.rows), bool)
            bits[list(gold.used)] = True
            put_bytes(job.folder / ASIDE / used_file(number), to_bits(bits))
        aside.commit()
    return done


def _gold(job_bytes: bytes, job: Job, number: int) -> Reference:
    """The reference, or the rows of it that a part needs."""
    if not job.buckets:
        return reference_of(job_bytes).for_part()
    from ragmeter.engine.parts.partitions import matched_reference

    return matched_reference(job, number)


def _joined(batches: Iterable[Batch], gold: Reference | None, counts: JoinCounts) -> Iterator[Batch]:
    for batch in batches:
        yield batch if gold is None else with_reference(batch, gold, counts)


def _with_judged(batches: Iterable[Batch], content: bytes, judged: JudgedColumns) -> Iterator[Batch]:
    """The rows with what a judge has filled, which comes in the same order."""
    table = pq.read_table(pa.BufferReader(content))
    begin = 0
    for batch in batches:
        own = table.slice(begin, len(batch))
        if own[QID].to_pylist() != list(batch.columns[QID]):
            raise rows_have_changed()
        yield with_columns(batch, {name: own[name].to_pylist() for name in judged.names}, judged.numbers)
        begin += len(batch)
    if begin != len(table):
        raise rows_have_changed()


_KEPT = ("rows", "not_scored", "left_out", "cautions", "join", "judged")


def part_file(number: int) -> str:
    """The name of a part's file."""
    return f"part-{number:05}.parquet"


def judged_file(number: int) -> str:
    """The name of the file with what a judge has filled for a part."""
    return f"judged-{number:05}.parquet"


def digest(content: bytes) -> str:
    """A hash of a file's content."""
    return hashlib.sha256(content).hexdigest()


def counts_file(number: int) -> str:
    """The name of the file with what is counted row by row in a part."""
    return f"counts-{number:05}.bin"


def used_file(number: int) -> str:
    """The name of the file that says which rows of the reference a part has used."""
    return f"used-{number:05}.bin"


def written(job: Job, number: int) -> PartDone | None:
    """What is counted in a part that is in its place already."""
    place = job.folder / PARTS / part_file(number)
    if not place.is_file():
        return None
    with reading(place), place.open("rb") as stream, pq.ParquetFile(stream) as file:
        notes = json.loads(file.metadata.metadata[_NOTES.encode()])
    done = PartDone(**notes, was_there=True)
    if job.judged is not None:
        now = digest((job.folder / ASIDE / judged_file(number)).read_bytes())
        return done if now == done.judged else None  # a row that had no verdict may have one now
    return done


class _aside:  # noqa: N801 - used as a function
    """A file of this process alone, which becomes the part's by one step."""

    def __init__(self, job: Job, number: int) -> None:
        self._target = job.folder / PARTS / part_file(number)
        folder = None if isinstance(self._target, StorePath) else self._target.parent
        with writing(self._target):
            if folder is not None:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            number_of_file, name = tempfile.mkstemp(prefix=f".{self._target.name}.", suffix=".tmp", dir=folder)
            os.close(number_of_file)
        self.path = Path(name)

    def __enter__(self) -> _aside:
        return self

    def commit(self) -> None:
        """Put the file into place."""
        with writing(self._target):
            if isinstance(self._target, StorePath):
                upload(self.path, self._target)
                return
            with self.path.open("r+b") as file:
                os.fsync(file.fileno())
            self.path.replace(self._target)

    def __exit__(self, *failure: object) -> None:
        self.path.unlink(missing_ok=True)


def put_bytes(place: Location, content: bytes) -> None:
    """Put a small file into place by one step."""
    if isinstance(place, StorePath):
        place.write_bytes(content)
        return
    with writing(place):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = place.with_name(f".{place.name}.{os.getpid()}.{time.monotonic_ns()}.tmp")
        temporary.write_bytes(content)
        temporary.replace(place)


def to_bits(flags: npt.NDArray[np.bool_]) -> bytes:
    """Flags as a few bytes."""
    return len(flags).to_bytes(8, "little") + zlib.compress(np.packbits(flags).tobytes(), 1)


def from_bits(data: bytes) -> npt.NDArray[np.bool_]:
    """The flags of `to_bits`."""
    packed = np.frombuffer(zlib.decompress(data[8:]), np.uint8)
    return np.unpackbits(packed, count=int.from_bytes(data[:8], "little")).astype(bool)


def _worker() -> str:
    """The name of the worker, for the log."""
    import sys

    if "distributed" in sys.modules:
        from distributed import get_worker

        try:
            return str(get_worker().address)
        except ValueError:  # not in a worker
            pass
    return "this process" if parent_process() is None else f"process {os.getpid()}"
