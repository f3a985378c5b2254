"""Which questions a run is about, and what was answered: fingerprints of its rows, in any order.

That of the questions is of qids, questions and references.
Runs with the same fingerprint can be compared row by row, whoever answered, and from whatever file. A run of some of
the questions has another one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.documents.summary import QuestionSet
from ragmeter.errors import RagmeterError
from ragmeter.runs.rows import StoredRows
from ragmeter.runs.run import Run
from ragmeter.table import QID

#: What makes a question; where a table has none but the qid, its gold documents do.
_COLUMNS = (QID, "question", "reference")
#: What makes the content of a run beside its questions; where it has none of these, its scores do.
_CONTENT = ("answer", "retrieved", "contexts")
_SYSTEM = "system_name"
#: Rows that are read together, and the longest table whose texts are read for this.
_AT_ONCE, MOST_ROWS = 65_536, 2_000_000
Digests = npt.NDArray[np.uint64]
_BETWEEN_TEXTS, _BETWEEN_COLUMNS = "\x1e", "\x1f"


def digests_of(rows: StoredRows) -> Digests | None:
    """A digest of each question of a table; None for one without any column that makes a question."""
    names = _columns(rows.schema.names)
    return _digests(rows.batches(_AT_ONCE, names), names) if names else None


def only_system(rows: StoredRows) -> str | None:
    """The name of the system that the rows say, if all that say one say the same."""
    if _SYSTEM not in rows.schema.names or rows.n_rows > MOST_ROWS:
        return None
    names = pc.unique(rows.read([_SYSTEM])[_SYSTEM].drop_null().cast(pa.large_string()))
    return str(names[0]) or None if len(names) == 1 else None


def read_questions(run: Run) -> tuple[QuestionSet | None, str | None]:
    """The questions and the system of a run that was written before these were in its summary."""
    try:
        names = _columns(run.columns)
        if not names or not 0 < run.n_rows <= MOST_ROWS:
            return None, None
        table = run.rows([*names, _SYSTEM])
        systems = [] if _SYSTEM not in table.schema.names else pc.unique(table[_SYSTEM].drop_null()).to_pylist()
        questions = fingerprint(_digests(table.to_batches(_AT_ONCE), names))
        return questions, systems[0] or None if len(systems) == 1 else None
    except RagmeterError:  # its damage is said elsewhere
        return None, None


def content_of(run: Run) -> str:
    """A hash of what was answered and retrieved, whatever the rows' order, and whatever it is scored by."""
    columns = run.columns
    names = [name for name in _CONTENT if name in columns] or run.row_metrics
    names = [QID, *names]
    batches = (batch.select(names) for batch in run.batches(_AT_ONCE))
    return hashlib.sha256(np.sort(_digests(batches, names)).astype(">u8").tobytes()).hexdigest()[:16]


def missing_questions(baseline: Run, run: Run, metric: str) -> tuple[pa.Array, pa.Array]:
    """The questions that a baseline has a score for, and those of them that a run has none for."""
    required, scored = _scored_questions(baseline, metric), _scored_questions(run, metric)
    return required, required.filter(pc.invert(pc.is_in(required, value_set=scored)))


def _scored_questions(run: Run, metric: str) -> pa.Array:
    return pc.unique(run.column(QID).filter(pa.array(~np.isnan(run.scores(metric)))))


def _columns(available: Iterable[str]) -> list[str]:
    given = set(available)
    names = [name for name in _COLUMNS if name in given]
    return [QID, "relevant"] if names == [QID] and "relevant" in given else names


def fingerprint(digests: Digests) -> QuestionSet:
    """A hash over the sorted hashes of all different questions."""
    ordered = np.sort(digests)
    distinct = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return QuestionSet(hashlib.sha256(distinct.astype(">u8").tobytes()).hexdigest()[:16], len(distinct))


def _digests(batches: Iterable[pa.RecordBatch], names: list[str]) -> Digests:
    digests = b"".join(hashlib.blake2b(row, digest_size=8).digest() for batch in batches for row in _rows(batch, names))
    return np.frombuffer(digests, ">u8").astype(np.uint64)


def _rows(batch: pa.RecordBatch, names: list[str]) -> Iterator[bytes]:
    columns = [_texts(batch[name]) for name in names]
    together = pc.binary_join_element_wise(
        *columns, pa.scalar(_BETWEEN_COLUMNS, pa.large_string()), null_handling="replace", null_replacement=""
    )
    return iter(together.cast(pa.large_binary()).to_pylist())


def _texts(column: pa.Array) -> pa.Array:
    """A column of texts, or of lists of texts, as one text for each row."""
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        lists = column.cast(pa.list_(pa.large_string()))
        return pc.binary_join(lists, pa.scalar(_BETWEEN_TEXTS, pa.large_string()))
    return column.cast(pa.large_string())
