"""Whether a new run gets all that a judge was paid for in the run that it takes the place of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from ragmeter.definition.judge_columns import DECLARED, BoundColumn
from ragmeter.engine.added_metrics import run_batches
from ragmeter.engine.judging.column_run import ColumnRun
from ragmeter.engine.judging.setup import JudgeSetup
from ragmeter.engine.row_reader import RowReader
from ragmeter.errors import InputError
from ragmeter.judges.asking.column_judge import shown_texts
from ragmeter.naming import Signature
from ragmeter.runs.run import Run
from ragmeter.table import Batch

#: In how many wordings a judge may ask, the fewest calls first.
_WORDINGS = (1, "1 or 2", 2)


def keeps_verdicts(
    run: Run, setup: JudgeSetup, filled: Sequence[BoundColumn], rows: RowReader, answered: Collection[str] = ()
) -> bool:
    """Whether filling these columns of these rows gives all verdicts of the run again, from the journal they are in.

    That is so where the same judge fills the same columns, and is asked about the same rows, or more. The columns in
    `answered` are still to come, and are known to be the same.
    """
    columns = run.manifest().judged_columns
    judge_run = setup.judge_run(filled)
    column_runs = {column_run.column.name: column_run for column_run in judge_run.column_runs()}
    return (
        columns.keys() <= column_runs.keys()
        and judge_run.journal is not None
        and judge_run.journal.exists()
        and all(_is_asked_again(before, column_runs[name]) for name, before in columns.items())
        and all(_has_all_rows(run, column_runs[name], rows, answered) for name in columns)
    )


def _is_asked_again(before: Signature, column_run: ColumnRun) -> bool:
    """Whether a column is filled from the same replies: more repeats and a second wording use those that there are."""
    now, keys = column_run.signature(), column_run.journal_keys()
    return (
        all(before.get(name) == keys.get(name) for name in ("calls", "journal"))
        and before.get("rephrased_calls") in (None, keys.get("rephrased_calls"))
        and now.get("cascade") in (None, before.get("cascade"))
        and before.get("repeats", 1) in range(1, now["repeats"] + 1)
        and before.get("wordings", 1) in _WORDINGS[: _WORDINGS.index(now["wordings"]) + 1]
    )


def _has_all_rows(run: Run, column_run: ColumnRun, rows: RowReader, answered: Collection[str]) -> bool:
    """Whether every row that has a verdict is among these rows, as far as the model is shown it."""
    names = [name for name in column_run.declaration.needs if name not in DECLARED and name not in answered]
    texts = set(_texts(column_run, names, rows()))
    try:
        return texts.issuperset(_texts(column_run, names, run_batches(run), with_value=True))
    except InputError:  # the run is damaged, and what it had is not known
        return False


def _texts(
    column_run: ColumnRun, names: Sequence[str], batches: Iterable[Batch], *, with_value: bool = False
) -> Iterator[int]:
    """A number for what the model is shown of each row in these columns, or of each that has a value."""
    for batch in batches:
        columns = {name: batch.columns.get(name) or [None] * len(batch) for name in names}
        values = batch.columns.get(column_run.column.name) or [None] * len(batch)
        for place in range(len(batch)):
            if not with_value or values[place] is not None:
                row = {name: column[place] for name, column in columns.items()}
                yield hash(tuple(shown_texts(column_run.declaration, row).items()))
