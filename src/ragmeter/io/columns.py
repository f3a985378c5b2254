"""Maps a file's column titles to the table's names, and its cells to the table's types.

Titles have many aliases, which depend on the file's role: in a reference file `answer` is the gold answer, in a results
file it is the system's answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from ragmeter.definition import METRICS
from ragmeter.errors import ColumnError, InputError, UsageError, did_you_mean
from ragmeter.hints import by_caller, column_option, columns_option, option
from ragmeter.io.batches import check_columns, row_place
from ragmeter.io.cells import (
    CellError,
    NotAListError,
    as_list,
    as_number,
    as_text,
    is_clean,
    is_missing,
    items_of,
    shown,
    texts_of,
)
from ragmeter.io.objects import Passages, read_documents, read_gold_documents, read_ids, read_passages
from ragmeter.io.paths import split_path, value_at
from ragmeter.io.source import Source
from ragmeter.io.titles import MAPPED_COLUMNS, PLURAL, Role, alias, by_alias, likely_titles, recognise, weak_lists
from ragmeter.io.tools import turns
from ragmeter.io.tools.fields import Known, heads_of, known_file
from ragmeter.io.tools.spans.traces import NOTE, has_spans
from ragmeter.naming import base_of
from ragmeter.passages import passage_text
from ragmeter.table import (
    CONTEXT_DETAILS,
    LIST_COLUMNS,
    NO_RESULT,
    NUMBER_COLUMNS,
    RELEVANCE_GRADES,
    TEXT_COLUMNS,
    Batch,
    Column,
    ListsOfOne,
    TextColumn,
    outcome_column,
)

#: So many cells are looked at to see what a column has.
_LOOKED_AT = 50
_LIST_BEGINS = re.compile(r"""\s*\[\s*["']""").match
_WITH_COMMA = re.compile(r"\s*[-+]?[\d.]*,\d+\s*").fullmatch


@dataclass(frozen=True)
class Typed:
    """A source whose columns have the table's names and whose cells have the table's types."""

    source: Source
    role: Role
    mapping: Mapping[str, str]
    wanted: frozenset[str] | None = None

    def batches(self) -> Iterator[Batch]:
        """The file's rows in batches. A column may appear late: `error` is missing until the first error.

        Of a data set, those columns alone that are `wanted`, and those that the names of folders give.
        """
        names: dict[str, str] = {}
        derived: list[str] = []  # columns that objects in others have filled
        known: Known | None = None
        for batch in self._read():
            known = self._known(batch) if known is None else known
            mapping = {**known.mapping, **self.mapping}
            _reach(batch, mapping.values())
            titles = list(dict.fromkeys([*names, *batch.columns]))
            if len(titles) > len(names):
                check_columns(len(titles), self.name_of(batch))
                names = recognise(titles, self.role, mapping, self.name_of(batch), known.not_meant)
            columns: dict[str, Column] = {}
            for title, name in names.items():
                columns |= self._columns(name, title, batch, names.values())
            columns |= _missing_answers(columns)
            late = [name for name in derived if name not in columns]
            derived = [name for name in columns if name not in names.values()] + late
            yield Batch(columns | {name: [None] * len(batch) for name in late}, batch.lines, file=batch.file)

    def name_of(self, batch: Batch) -> str:
        """The file of a batch, for an error that names it."""
        return batch.file or self.source.name

    def _read(self) -> Iterator[Batch]:
        if self.wanted is None or self.source.some is None:
            batches = self.source.batches()
            for first in batches:
                rows: Iterator[Batch] = chain([first], batches)
                if has_spans(first):
                    self.source.say(NOTE)
                    yield from self.source.traces.batches(rows, self.source.name, self.source.say)
                    return
                if turns.has_conversations(first):
                    self.source.say(turns.NOTE)
                    rows = turns.rows_of_conversations(rows, self.source.name)
                yield from rows
            return
        for batch in self.source.some(self._choose):
            chosen = {*self._choose(list(batch.columns)), *self._of_folders}
            batch.columns = {title: column for title, column in batch.columns.items() if title in chosen}
            yield batch

    @property
    def _of_folders(self) -> set[str]:
        return {title for file in self.source.files for title, _ in file.partition}

    def _choose(self, titles: Sequence[str]) -> list[str]:
        """The titles to be read. If none is wanted, the first: a table has a length."""
        names = recognise(titles, self.role, self.mapping, self.source.name)
        wanted = self.wanted or frozenset()
        if "retrieved" in wanted and "retrieved" not in names.values():
            wanted |= {"contexts"}  # its objects may have ids
        paths = [split_path(path, titles) for path in self.mapping.values()]
        heads = {parts[0] for parts in paths if parts is not None} | heads_of(titles, self.role)
        return [title for title in titles if names[title] in wanted or title in heads] or list(titles[:1])

    def _known(self, batch: Batch) -> Known:
        """How the file of another tool is read; its note says so."""

        def recognised(not_meant: frozenset[str]) -> dict[str, str]:
            return by_alias([title for title in batch.columns if title not in not_meant], self.role)

        known = known_file(batch, self.role, self.mapping, recognised)
        if known.note:
            self.source.say(known.note)
        weak = weak_lists([title for title in batch.columns if title not in self.mapping.values()], self.role)
        not_meant = known.not_meant | {title for title, name in weak.items() if not _fits(name, batch.columns[title])}
        read_as = recognised(not_meant)
        for title, name in weak.items():
            if read_as.get(name) == title and name not in {**known.mapping, **self.mapping}:
                self.source.say(f"{name} = {title}")
        return replace(known, not_meant=not_meant)

    def _columns(self, name: str, title: str, batch: Batch, names: Collection[str]) -> dict[str, Column]:
        """The column of this name, and those that objects in its cells fill."""
        column = batch.columns.get(title)
        if column is None or name not in ("contexts", "relevant", "retrieved"):
            return {name: self._column(name, title, batch)}
        if name == "contexts":
            return self._contexts(title, self._cells(column, title, batch, read_passages), names)
        with suppress(InputError):  # most are lists of ids
            return {name: self._cells(column, title, batch, read_ids)}
        documents = self._cells(column, title, batch, read_gold_documents if name == "relevant" else read_documents)
        columns: dict[str, Column] = {name: [cell and cell.ids for cell in documents]}
        if name == "relevant" and any(cell and cell.grades for cell in documents):
            columns[RELEVANCE_GRADES] = [cell and cell.grades for cell in documents]
        return columns

    def _contexts(self, title: str, cells: Sequence[Passages | None], names: Collection[str]) -> dict[str, Column]:
        columns: dict[str, Column] = {"contexts": [cell and cell.texts for cell in cells]}
        if CONTEXT_DETAILS not in names and any(cell and cell.details for cell in cells):
            columns[CONTEXT_DETAILS] = [cell and cell.details for cell in cells]
        if "retrieved" not in names and any(cell and cell.ids for cell in cells):
            self.source.say(f"retrieved = the ids in {title!r}")
            columns["retrieved"] = [cell and cell.ids for cell in cells]
        return columns

    def _column(self, name: str, title: str, batch: Batch) -> Column:
        column = batch.columns.get(title)
        if column is None:
            return [None] * len(batch)
        if name == "reference" and alias(title) not in PLURAL:
            if isinstance(column, TextColumn) and not any(map(_LIST_BEGINS, column.containing("["))):
                return ListsOfOne(column.array)
            if is_clean(column) and not ("[" in "".join(column) and any(map(_LIST_BEGINS, column))):
                return [[value] for value in column]
            return self._cells(column, title, batch, _reference)
        if name == "error":
            column = [value or None for value in column]  # `false` and 0 mean no error
        if name in NUMBER_COLUMNS:
            return self._numbers(column, title, batch)
        if name in LIST_COLUMNS:
            return self._cells(column, title, batch, as_list)
        if isinstance(column, TextColumn) or is_clean(column):
            return column
        if name in TEXT_COLUMNS:
            self._refuse_structure(column, title, batch)
        return self._cells(column, title, batch, as_text)

    def _refuse_structure(self, column: Column, title: str, batch: Batch) -> None:
        for value, line in zip(column, batch.lines, strict=True):
            if isinstance(value, dict | list | tuple | set):
                kind = "an object" if isinstance(value, dict) else "a list"
                raise InputError(f"{title!r} is {kind}, a text is expected", **row_place(self.name_of(batch), line))

    def _numbers(self, column: Column, title: str, batch: Batch) -> Column:
        """Each cell as a number; an error names the line of the first that is not."""
        numbers: list[float | None] = []
        for value, line in zip(column, batch.lines, strict=True):
            try:
                numbers.append(as_number(value, self.source.decimal))
            except ValueError:
                with_comma = isinstance(value, str) and self.source.decimal == "." and _WITH_COMMA(value)
                raise InputError(
                    f"column {title!r}: {shown(value)} is not a number",
                    **row_place(self.name_of(batch), line),
                    hint=f"if that is a decimal comma, add {option('decimal', ',')}" if with_comma else "",
                ) from None
        return numbers

    def _cells(self, column: Column, title: str, batch: Batch, read: Callable[[object], object]) -> list[Any]:
        """Each cell as `read` makes it; an error names the line of the first that it can't."""
        cells: list[Any] = []
        for value, line in zip(column, batch.lines, strict=True):
            try:
                cells.append(read(value))
            except CellError as error:
                is_list = isinstance(error, NotAListError)
                raise InputError(
                    f"column {title!r}: {error.message}",
                    **row_place(self.name_of(batch), line),
                    hint="write a list as JSON, [\"a\", \"b\"], or as Python does, ['a', 'b']" if is_list else "",
                ) from None
        return cells


def _fits(name: str, column: Column) -> bool:
    """Whether the first cells are lists of passages, or of documents that have ids."""
    cells = [value for value in column[:_LOOKED_AT] if not is_missing(value) and value != ""]
    try:
        items = [item for cell in cells for item in items_of(cell) or ()]
        if name != "contexts":
            for cell in cells:
                read_documents(cell)
        return bool(cells) and (name != "contexts" or all(passage_text(item) is not None for item in items))
    except CellError:
        return False


def _reference(value: object) -> list[str] | None:
    """One gold answer, or several in a list, as a list.

    A text that is a complete list of texts is that list; one that only begins like it, "[1] says so", is a text.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return texts_of(value)
    if isinstance(value, dict | set):
        raise NotAListError("a text or a list of texts is expected, got an object")
    text = as_text(value)
    if text and _LIST_BEGINS(text):
        with suppress(NotAListError):
            return as_list(text)
    return None if text is None else [text]


def _missing_answers(columns: Mapping[str, Column]) -> dict[str, Column]:
    """The answers without empty ones for which a metric's outcome says that there is none.

    A run that was exported as CSV has an empty cell for both, and its outcomes beside them.
    """
    outcomes = [column for name, column in columns.items() if name.endswith(outcome_column(""))]
    none = {row for column in outcomes for row, outcome in enumerate(column) if outcome in ("no_answer", NO_RESULT)}
    if not none or "answer" not in columns:
        return {}
    return {"answer": [answer or (None if row in none else answer) for row, answer in enumerate(columns["answer"])]}


def _reach(batch: Batch, paths: Iterable[str]) -> None:
    """Add a column for each path that leads into one."""
    titles = list(batch.columns)
    for path in paths:
        parts = None if path in batch.columns else split_path(path, titles)
        if parts is not None:
            values = [value_at(value, parts[1]) for value in batch.columns[parts[0]]]
            batch.columns = {**batch.columns, path: values}


def check_mapping(mapping: Mapping[str, str]) -> None:
    """Refuse a mapping to a name that the table does not know."""
    for name in mapping:
        if name not in MAPPED_COLUMNS:
            close = did_you_mean(name, MAPPED_COLUMNS)
            raise UsageError(
                f"{column_option(name, mapping[name])}: there is no column {name!r}{close}",
                hint=f"the table's columns are {', '.join(MAPPED_COLUMNS)}",
            )


def missing_column(
    needed: str,
    wanted_by: str,
    titles: Sequence[str],
    file: str,
    *,
    other_file: bool = False,
    missing: Sequence[str] = (),
) -> ColumnError:
    """The error for a needed column that is missing; it proposes titles for this one and the others that are `missing`.

    `other_file`: it may be in a reference file that was not given.
    """
    close = did_you_mean(needed, titles)
    elsewhere = f"if another file has it, name that file with {option('reference')}; " if other_file else ""
    metric = METRICS.get(base_of(wanted_by))
    if metric is not None and (twin := metric.judged_twin):
        elsewhere += f"{wanted_by} compares ids, and {twin} judges the passages in `contexts` with a model; "
    return ColumnError(
        f"{wanted_by} needs the column {needed!r}, which is missing{close}",
        file=file,
        hint=f"the columns are {', '.join(titles)}; {elsewhere}{proposed_titles((needed, *missing), titles)}",
    )


def proposed_titles(needed: Sequence[str], titles: Sequence[str], command: str = "") -> str:
    """What to add if titles mean these columns, for all of them at once: likely titles, or a word to be replaced.

    `command` is what the flags are added to, where it is known.
    """
    likely = likely_titles(titles)
    option_of_all = columns_option({**dict.fromkeys(needed, "ITS_NAME"), **likely})
    if not likely:
        return f"if {'one of them is meant' if len(needed) == 1 else 'they have other names'}, add {option_of_all}"
    meant = ", ".join(f"{title!r} as {name}" for name, title in likely.items())
    return f"to read {meant}: {by_caller(command, '') if command else 'add '}{option_of_all}"
