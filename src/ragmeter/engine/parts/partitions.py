"""A join with a reference that is too large for a worker: both sides are partitioned by qid, as a stage of its own.

Each part of the results writes its qids, and each part of the reference its rows, by buckets: a hash of the qid says
which. Then each bucket finds the rows of the reference for each part of the results, and those that no part has asked
for. A part that is scored reads its own rows from all buckets, and nothing else of the reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ragmeter.engine.parts.qid_hashes import hashes_of
from ragmeter.engine.parts.work import ASIDE, Job, PartDone, put_bytes, unpickled, write_part, written
from ragmeter.io.arrow import array_of
from ragmeter.io.columns import Typed
from ragmeter.io.join import JoinCounts, Reference, duplicate, no_qid, require_qid, without_result
from ragmeter.io.locations import Location
from ragmeter.io.pieces import Part, open_part
from ragmeter.runs.layout import reading
from ragmeter.table import QID, Batch

#: Columns of the reference's rows on their way: the row in its part, and the line in its file.
_ROW, _LINE = "\0row", "\0line"


def write_keys(job: bytes, part: Part, buckets: int) -> None:
    """The qids of a part of the results, by buckets."""
    work = unpickled(job)
    place = _file(work, "keys", part.number)
    if place.is_file():
        return
    qids: list[list[str]] = [[] for _ in range(buckets)]
    typed = replace(work.typed(part), wanted=frozenset({QID}))
    for batch in typed.batches():
        require_qid(batch, typed, typed)
        if None in batch.columns[QID]:
            raise no_qid(batch, typed)
        for qid, bucket in zip(batch.columns[QID], _buckets(batch.columns[QID], buckets), strict=True):
            qids[bucket].append(qid)
    _put(place, [pa.record_batch({QID: pa.array(own, pa.large_string())}) for own in qids])


def write_gold(job: bytes, part: Part, buckets: int) -> None:
    """The rows of a part of the reference, by buckets."""
    work = unpickled(job)
    place = _file(work, "gold", part.number)
    if place.is_file():
        return
    batches: list[list[pa.RecordBatch]] = [[] for _ in range(buckets)]
    row = 0
    typed = _reference(work, part)
    for batch in typed.batches():
        require_qid(batch, typed, typed)
        if None in batch.columns[QID]:
            raise no_qid(batch, typed)
        columns = {name: batch.columns.get(name) or [None] * len(batch) for name in _names(work)}
        arrays = {name: array_of(name, column) for name, column in columns.items()}
        arrays |= {_ROW: pa.array(range(row, row + len(batch))), _LINE: pa.array(list(batch.lines), pa.int64())}
        table = pa.record_batch(arrays)
        of_rows = np.array(_buckets(batch.columns[QID], buckets))
        for bucket in range(buckets):
            batches[bucket].append(table.take(pa.array(np.flatnonzero(of_rows == bucket))))
        row += len(batch)
    _put(place, [_one(own) for own in batches])


def match(job: bytes, bucket: int, numbers: Sequence[int], gold_parts: Sequence[Part]) -> tuple[int, list[int]]:
    """The rows of a bucket for each of these parts of the results; a part that is skipped has none.

    How many are used, and of each part of the reference how many are left.
    """
    work = unpickled(job)
    pieces = [_batch(_file(work, "gold", part.number), bucket) for part in gold_parts]
    gold = pa.Table.from_batches(pieces)
    sources = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
    rows: dict[str, int] = {}
    for place, qid in enumerate(gold[QID].to_pylist()):
        if rows.setdefault(qid, place) != place:
            raise duplicate(qid, gold_parts[sources[place]].name, gold[_LINE][place].as_py())
    used = np.zeros(len(gold), bool)
    matched = []
    for number in range(max(numbers) + 1):
        keys = _batch(_file(work, "keys", number), bucket)[QID].to_pylist() if number in numbers else []
        places = [rows[qid] for qid in keys if qid in rows]
        used[places] = True
        matched.append(_one(gold.take(pa.array(places, pa.int64())).to_batches() or [pieces[0].slice(0, 0)]))
    _put(_file(work, "match", bucket), matched)
    left = [gold[_ROW].filter(pa.array(~used & (sources == number))) for number in range(len(pieces))]
    _put(_file(work, "left", bucket), [pa.record_batch({_ROW: rows_left.combine_chunks()}) for rows_left in left])
    return int(used.sum()), [len(rows_left) for rows_left in left]


def matched_reference(job: Job, number: int) -> Reference:
    """The rows of the reference that a part of the results needs."""
    pieces = [_batch(_file(job, "match", bucket), number) for bucket in range(job.buckets)]
    table = pa.Table.from_batches(pieces)
    return Reference.of({name: table[name].to_pylist() for name in table.schema.names if name not in (_ROW, _LINE)})


def score_left(job: bytes, part: Part, number: int) -> PartDone:
    """The questions of a part of the reference without a result, as a part of the run."""
    work = unpickled(job)
    done = written(work, number)
    if done is not None:
        return done
    files = [_file(work, "left", bucket) for bucket in range(work.buckets)]
    left = np.concatenate([_batch(file, part.number)[_ROW].to_numpy(zero_copy_only=False) for file in files])
    counts = JoinCounts()
    return write_part(job, number, _left(work, part, left, counts), counts)


def _left(job: Job, part: Part, rows: Any, counts: JoinCounts) -> Iterator[Batch]:
    begin = 0
    for batch in _reference(job, part).batches():
        inside = np.sort(rows[(rows >= begin) & (rows < begin + len(batch))]) - begin
        begin += len(batch)
        if len(inside):
            missing = [None] * len(inside)
            given = {name: [column[place] for place in inside.tolist()] for name, column in batch.columns.items()}
            columns = {name: given.get(name, missing) for name in job.columns}
            counts.reference_only.add(columns[QID])
            yield without_result(columns, len(inside), as_zero=job.missing_as_zero)


def _reference(job: Job, part: Part) -> Typed:
    assert job.reference is not None  # noqa: S101 - only for a job with one
    source = open_part(part, job.reading, is_data_set=job.reference.is_data_set)
    return Typed(source, "reference", job.mapping, job.wanted)


def _names(job: Job) -> Sequence[str]:
    assert job.reference is not None  # noqa: S101 - only for a job with one
    return job.reference.columns


def _buckets(qids: Sequence[str], buckets: int) -> list[int]:
    numbers: list[int] = (hashes_of(qids) % np.uint64(buckets)).tolist()
    return numbers


def _file(job: Job, kind: str, number: int) -> Location:
    return job.folder / ASIDE / f"{kind}-{number:05}.arrow"


def _one(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Several record batches as one."""
    joined = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return joined[0] if joined else batches[0].slice(0, 0)


def _put(place: Location, batches: Sequence[pa.RecordBatch]) -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batches[0].schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        for batch in batches:
            writer.write_batch(batch)
    put_bytes(place, bytes(sink.getvalue()))


def _batch(place: Location, number: int) -> pa.RecordBatch:
    with _opened(place) as reader:
        return reader.get_batch(number)


@contextmanager
def _opened(place: Location) -> Iterator[Any]:
    with reading(place), place.open("rb") as stream, pa.ipc.open_file(stream) as reader:
        yield reader
