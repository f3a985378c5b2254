"""The rows of a run in SQL for DuckDB. Texts of people and of data are bound as values, never written into it."""

from __future__ import annotations

import glob
from itertools import accumulate
from typing import Any

from ragmeter.app.conditions import CONTAINS, MISSING, NOT_EQUAL, OF_NUMBERS, Condition
from ragmeter.app.row_query import DISAGREE, NO_SCORE, NOT_TO_BE_SCORED, RowQuery, conditions_of_preset, presets
from ragmeter.errors import UsageError
from ragmeter.io.locations import on_disk
from ragmeter.runs.run import Run
from ragmeter.table import LIST_COLUMNS, SCORED, outcome_column

#: Metrics that tell equal rows of a metric of yes and no apart, besides its own probability.
_SAYS_MORE = {"offline_hallucinated": ("offline_hallucination",), "llm_correct": ("verdict_probability",)}
#: The columns of texts that a search looks into.
_SEARCHED = ("qid", "question", "answer", "reference", "error")


def source(run: Run) -> str:
    """The run's table with each row's place, to be given `files`. A table in parts has the numbers of its parts.

    Columns have numbers in place of names: to DuckDB, `Lang` and `lang` are one name, and `file_row_number` is its own.
    """
    rows = f"read_parquet(?) AS rows({', '.join(_column_names(run))})"
    parts = run.manifest().parts
    if not parts:
        return rows
    begins = ", ".join(str(int(begin)) for begin in accumulate((part.rows for part in parts[:-1]), initial=0))
    place = f"file_row_number + ([{begins}])[CAST(file_index AS BIGINT) + 1]"
    return f"(SELECT *, {place} AS file_row_number FROM {rows})"  # noqa: S608 - our own numbers


def _column_names(run: Run) -> list[str]:
    """The names of the columns in queries, in their order."""
    return [f"c{place}" for place in range(len(run.columns))]


def files(run: Run) -> str | list[str]:
    """The run's file or files. In a name, * and ? are characters, not wild cards."""
    place = on_disk(run.rows_path, "the app")
    parts = run.manifest().parts
    return [glob.escape(str(place / part.file)) for part in parts] if parts else glob.escape(str(place))


def identifier(run: Run, column: str) -> str:
    """A column of this run by what it is called in queries; anything else is refused."""
    if column not in run.columns:
        raise UsageError(f"{run.name} has no column {column[:60]!r}")
    return _column_names(run)[run.columns.index(column)]


def score(run: Run, metric: str) -> str:
    """A metric's column, with NULL for a missing score: to DuckDB, NaN is more than any number.

    It finds no NaN by `isnan`, since the file's statistics, which it trusts, leave NaN out.
    """
    name = identifier(run, metric)
    return f"(CASE WHEN isfinite({name}) THEN {name} END)"


def conditions(run: Run, query: RowQuery) -> tuple[str, list[Any]]:
    """The conditions on rows besides the search; empty for all rows."""
    parts: list[str] = []
    values: list[Any] = []
    wanted = list(query.conditions)
    for name in query.show:
        columns = presets(run)[name]
        wanted += conditions_of_preset(name, columns)
        if name == NO_SCORE:
            fine = ", ".join(f"'{outcome}'" for outcome in (SCORED, *sorted(NOT_TO_BE_SCORED)))
            missing = " OR ".join(f"{identifier(run, outcome_column(column))} NOT IN ({fine})" for column in columns)
            parts.append(f"({missing})")
        elif name == DISAGREE:
            scores = [score(run, column) for column in columns]
            parts.append(f"greatest({', '.join(scores)}) <> least({', '.join(scores)})")
    for condition in wanted:
        part, value = _condition(run, condition)
        parts.append(part)
        values += value
    return " AND ".join(parts), values


def _condition(run: Run, condition: Condition) -> tuple[str, list[Any]]:
    """One condition, with the values to be bound."""
    column = identifier(run, condition.column)
    value: str | float = condition.value
    if condition.column in run.measures:
        column = score(run, condition.column)
        value = condition.number if condition.comparison in OF_NUMBERS else ""
    elif condition.column in LIST_COLUMNS:
        column = f"array_to_string({column}, ' ')"
    else:
        column = f"CAST({column} AS VARCHAR)"
    if condition.comparison == CONTAINS:
        return f"contains(lower({column}), lower(?))", [value]
    if condition.comparison in OF_NUMBERS:
        sign = "<>" if condition.comparison == NOT_EQUAL else condition.comparison
        return f"{column} {sign} ?", [value]
    return f"({column} IS {'' if condition.comparison == MISSING else 'NOT '}NULL)", []


def searched(run: Run) -> str:
    """The text that a search looks into: a row's texts as one, in lower case."""
    names = [name for name in _SEARCHED if name in run.columns]
    columns = {name: identifier(run, name) for name in names}
    texts = [column if name in run.texts else f"array_to_string({column}, ' ')" for name, column in columns.items()]
    return f"lower(concat_ws(chr(31), {', '.join(texts) or 'NULL'}))"


def order(run: Run, query: RowQuery) -> str:
    """Rows without a score come last; equal ones by how sure the judge is, and then in the order of the file."""
    if not query.sort:
        return "file_row_number"
    way, measures = ("ASC", "DESC"), run.measures
    value = score(run, query.sort) if query.sort in measures else identifier(run, query.sort)
    ties = ""
    if query.sort in measures and measures[query.sort].binary:
        names = (f"{query.sort}_probability", *_SAYS_MORE.get(query.sort, ()), "token_f1")
        if more := next((name for name in names if name in measures and name != query.sort), None):
            is_turned = measures[more].direction != measures[query.sort].direction
            ties = f"{score(run, more)} {way[query.descending != is_turned]} NULLS LAST, "
    return f"{value} {way[query.descending]} NULLS LAST, {ties}file_row_number"
