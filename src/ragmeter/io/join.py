"""Results and references as one table, joined by qid (an outer join).

Rows without a partner stay in the table: a question without a result counts as a row that failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ragmeter.documents.summary import Join, Unmatched
from ragmeter.errors import ColumnError, InputError
from ragmeter.hints import column_option
from ragmeter.io.batches import ROWS, row_place
from ragmeter.io.columns import Typed
from ragmeter.table import GOLD_COLUMNS, NO_RESULT, QID, Batch, Column

#: The most unmatched ids that are listed; the others are only counted.
_NAMED = 20
#: Columns of texts that both files may have, and that tell no rows apart.
_TEXTS = frozenset({"answer", "reference", "contexts"})


@dataclass
class RowsAlone:
    """Rows of one side that have no partner on the other: their number, and the first few ids."""

    count: int = 0
    qids: list[str] = field(default_factory=list)

    def add(self, qids: Sequence[str]) -> None:
        """Count these, and list the first ones."""
        self.count += len(qids)
        self.qids.extend(qids[: _NAMED - len(self.qids)])

    def kept(self) -> Unmatched:
        """The rows for a summary."""
        return Unmatched(self.count, list(self.qids))


@dataclass
class JoinCounts:
    """Counts of the join, complete when all batches have been read."""

    matched: int = 0
    results_only: RowsAlone = field(default_factory=RowsAlone)
    reference_only: RowsAlone = field(default_factory=RowsAlone)

    def kept(self) -> Join:
        """The counts for a summary."""
        return Join(self.matched, self.results_only.kept(), self.reference_only.kept())


def without_result(columns: Mapping[str, Column], rows: int, *, as_zero: bool) -> Batch:
    """Questions that no result answers: rows that failed, or rows for which nothing was retrieved, which score 0."""
    if as_zero and "retrieved" in columns:
        return Batch({**columns, "retrieved": [[] for _ in range(rows)]})
    return Batch(columns, causes=[NO_RESULT] * rows)


def rows_of(results: Typed, *, repeated: bool = False) -> Iterator[Batch]:
    """The rows of a single source. Without a qid column, a row's number is its qid; `repeated` allows duplicates."""
    seen = _Seen(results, repeated)
    number = 1
    for batch in results.batches():
        if QID in batch.columns:
            seen.check(batch)
        else:
            batch.columns = {QID: [str(n) for n in range(number, number + len(batch))], **batch.columns}
        number += len(batch)
        yield batch


def joined(
    results: Typed,
    reference: Typed,
    gold: Reference,
    counts: JoinCounts,
    *,
    repeated: bool = False,
    missing_as_zero: bool = False,
) -> Iterator[Batch]:
    """The rows of both sources, those of the results first and in their order; `gold` has the rows of the reference.

    `repeated` allows several results of one qid; each gets the reference of that qid. `missing_as_zero`: a question
    without a result counts as one for which nothing was retrieved.
    """
    seen = _Seen(results, repeated)
    columns: list[str] = []
    for batch in results.batches():
        require_qid(batch, results, reference)
        seen.check(batch)
        yield with_reference(batch, gold, counts)
        columns = columns or list(batch.columns)
    if counts.matched == 0:
        raise nothing_in_common(results.source.name, reference.source.name, counts.results_only.qids, list(gold.rows))
    yield from gold.unused(columns, counts, missing_as_zero=missing_as_zero)


def with_reference(batch: Batch, gold: Reference, counts: JoinCounts) -> Batch:
    qids = batch.columns[QID]
    places = [gold.rows.get(qid) for qid in qids]
    alone = [qid for qid, place in zip(qids, places, strict=True) if place is None]
    counts.results_only.add(alone)
    counts.matched += len(qids) - len(alone)
    columns = dict(batch.columns)
    for name, column in gold.columns.items():
        given = columns.get(name)
        joined = [None if place is None else column[place] for place in places]
        if given is None or name in GOLD_COLUMNS:
            columns[name] = joined
        elif None in given:
            columns[name] = [own if own is not None else other for own, other in zip(given, joined, strict=True)]
    gold.used.update(place for place in places if place is not None)
    batch.columns = columns
    return batch


class Reference:
    """The reference, all of it in memory: results come in any order."""

    def __init__(self, typed: Typed, results: Typed) -> None:
        self.columns: dict[str, list[Any]] = {}
        self.rows: dict[str, int] = {}
        self.used: set[int] = set()
        for batch in typed.batches():
            require_qid(batch, typed, results)
            before = len(self.rows)
            if None in batch.columns[QID]:
                raise no_qid(batch, typed)
            for place, (qid, line) in enumerate(zip(batch.columns[QID], batch.lines, strict=True), before):
                if self.rows.setdefault(qid, place) != place:
                    raise duplicate(qid, typed.name_of(batch), line)
            for name, column in batch.columns.items():  # a column may appear late
                self.columns.setdefault(name, [None] * before).extend(column)

    @classmethod
    def of(cls, columns: dict[str, list[Any]]) -> Reference:
        """Rows that were checked before."""
        made = cls.__new__(cls)
        made.columns = columns
        made.rows = {qid: place for place, qid in enumerate(columns[QID])}
        made.used = set()
        return made

    def for_part(self) -> Reference:
        """A copy that shares the rows and has a record of its own of those that are used."""
        part = copy(self)
        part.used = set()
        return part

    def unused(self, columns: Sequence[str], counts: JoinCounts, *, missing_as_zero: bool = False) -> Iterator[Batch]:
        """The questions without a result."""
        unused = [place for place in self.rows.values() if place not in self.used]
        for begin in range(0, len(unused), ROWS):
            places = unused[begin : begin + ROWS]
            missing: list[Any] = [None] * len(places)
            given = {name: [column[place] for place in places] for name, column in self.columns.items()}
            own = {name: given.get(name, missing) for name in columns}
            batch = without_result(own, len(places), as_zero=missing_as_zero)
            counts.reference_only.add(batch.columns[QID])
            yield batch


class _Seen:
    """Finds duplicate qids with 8 bytes a row: compares hashes, and reads the qids again only if two are equal."""

    def __init__(self, typed: Typed, repeated: bool) -> None:
        self._typed = typed
        self._repeated = repeated
        self._hashes = np.empty(0, np.int64)

    def check(self, batch: Batch) -> None:
        qids = batch.columns[QID]
        if None in qids:
            raise no_qid(batch, self._typed)
        if self._repeated:
            return
        new = np.sort(np.fromiter(map(hash, qids), np.int64, len(qids)))
        place = np.searchsorted(self._hashes, new)
        within = place < len(self._hashes)
        suspect = bool((new[1:] == new[:-1]).any() or (self._hashes[place[within]] == new[within]).any())
        if suspect:
            self._raise_duplicate()
        self._hashes = np.insert(self._hashes, place, new)

    def _raise_duplicate(self) -> None:
        """Read again from the start and compare the qids themselves: equal hashes prove nothing."""
        seen: set[str] = set()
        for batch in self._typed.batches():
            for qid, line in zip(batch.columns[QID], batch.lines, strict=True):
                if qid in seen:
                    raise duplicate(qid, self._typed.name_of(batch), line)
                seen.add(qid)


def nothing_in_common(results: str, reference: str, ours: Sequence[str], theirs: Sequence[str]) -> InputError:
    """The error for results and a reference that can't be joined."""
    return InputError(
        f"{results} and {reference} have no qid in common",
        hint=f"qids are {_examples(ours)} in the first and {_examples(theirs)} in the "
        f"second; to join by another column, for example the question, add {column_option('qid', 'question')}",
    )


def no_qid(batch: Batch, typed: Typed) -> InputError:
    line = batch.lines[batch.columns[QID].index(None)]
    return InputError("the qid is missing", **row_place(typed.name_of(batch), line))


class RepeatedQidError(InputError):
    """Two rows have the same qid."""


def duplicate(qid: str, file: str, line: int) -> RepeatedQidError:
    return RepeatedQidError(
        f"the qid {qid!r} appears here for the second time",
        **row_place(file, line),
        hint="each row needs its own qid; if another column is unique, add " + column_option("qid", "ITS_NAME"),
    )


def require_qid(batch: Batch, typed: Typed, other: Typed) -> None:
    if QID in batch.columns:
        return
    titles, others = (list(next(side.source.batches()).columns) for side in (typed, other))
    shared = [title for title in titles if title in others and title not in _TEXTS]  # what is compared joins nothing
    unique = "it" if len(shared) == 1 else "one of them"
    hint = (
        f"both have {', '.join(shared)}: if {unique} is unique, add {column_option('qid', shared[0])}"
        if shared
        else f"the columns are {', '.join(titles)}, and {', '.join(others)} in {other.source.name}: none to join by"
    )
    raise ColumnError(
        "results and reference are joined by qid, and there is no such column", file=typed.source.name, hint=hint
    )


def _examples(qids: Sequence[str]) -> str:
    return ", ".join(repr(qid) for qid in qids[:3]) or "none"
