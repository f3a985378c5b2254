"""Maps a file's column titles to the table's names, and its cells to the table's types.

Titles have many aliases, which depend on the file's role: in a reference file `answer` is the gold answer, in a results
file it is the system's answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from ragmeter.errors import ColumnError, InputError, UsageError, did_you_mean
from ragmeter.hints import column_option, option
from ragmeter.io.batches import check_columns
from ragmeter.io.cells import CellError, NotAListError, as_list, as_number, as_text, is_clean, shown, texts_of
from ragmeter.io.objects import Passages, read_documents, read_gold_documents, read_passages
from ragmeter.io.source import Source
from ragmeter.table import (
    CONTEXT_DETAILS,
    LIST_COLUMNS,
    NAMED_COLUMNS,
    NUMBER_COLUMNS,
    RELEVANCE_GRADES,
    TEXT_COLUMNS,
    Batch,
    Column,
)

Role = Literal["both", "results", "reference"]

_GOLD_ANSWER = (
    "reference", "references", "ground_truth", "ground_truths", "golden_answer", "golden_answers", "gold_answer",
    "gold_answers", "gt_answer", "reference_answer", "expected_answer", "expected_output", "ans_full",
)  # fmt: skip
_GOLD_DOCUMENTS = ("relevant", "relevant_ids", "gold_doc_ids", "gold_document_ids", "golden_doc_ids", "gold_docs")
_RETRIEVED_DOCUMENTS = ("retrieved", "retrieved_ids", "retrieved_doc_ids", "retrieved_document_ids", "retrieved_docs")
_SHARED = {
    "qid": ("qid", "question_id", "query_id", "interaction_id", "id"),
    "question": ("question", "query", "user_input"),
    "session_id": ("session_id",),
}
_OF_RESULTS = {
    "answer": ("answer", "generated_answer", "actual_response", "agent_response", "response", "prediction"),
    "contexts": ("contexts", "retrieved_contexts", "context"),
    "error": ("error",),
    "system_name": ("system_name", "system"),
    "latency_ms": ("latency_ms", "total_time_ms"),
    "time_to_first_token_ms": ("time_to_first_token_ms",),
}
_ALIASES: dict[Role, dict[str, tuple[str, ...]]] = {
    "both": _SHARED
    | _OF_RESULTS
    | {
        "reference": _GOLD_ANSWER,
        "relevant": (*_GOLD_DOCUMENTS, "document_ids"),
        "retrieved": (*_RETRIEVED_DOCUMENTS, "doc_ids"),
    },
    "results": _SHARED | _OF_RESULTS | {"retrieved": (*_RETRIEVED_DOCUMENTS, "doc_ids", "document_ids")},
    "reference": _SHARED
    | {"reference": (*_GOLD_ANSWER, "answer"), "relevant": (*_GOLD_DOCUMENTS, "document_ids", "doc_ids")},
}
_LIST_BEGINS = re.compile(r"""\s*\[\s*["']""").match

#: Metrics that compare ids of documents, and those that need passages and a judge instead.
_JUDGED_TWINS = {"context_precision": "llm_context_precision", "context_recall": "context_claim_recall"}
#: A column with one of these titles has a list in every cell. Under other titles a gold answer may be a text.
_PLURAL = frozenset({"references", "ground_truths", "golden_answers", "gold_answers"})


@dataclass(frozen=True)
class Typed:
    """A source whose columns have the table's names and whose cells have the table's types."""

    source: Source
    role: Role
    mapping: Mapping[str, str]
    wanted: frozenset[str] | None = None

    def batches(self) -> Iterator[Batch]:
        """Its rows. A column may appear late: `error` is missing until the first error.

        Of a data set, those columns alone that are `wanted`, and those that the names of folders give.
        """
        names: dict[str, str] = {}
        derived: list[str] = []  # columns that objects in others have filled
        for batch in self._read():
            titles = list(dict.fromkeys([*names, *batch.columns]))
            if len(titles) > len(names):
                check_columns(len(titles), self.name_of(batch))
                names = recognise(titles, self.role, self.mapping, self.name_of(batch))
            columns: dict[str, Column] = {}
            for title, name in names.items():
                columns |= self._columns(name, title, batch)
            late = [name for name in derived if name not in columns]
            derived = [name for name in columns if name not in names.values()] + late
            yield Batch(columns | {name: [None] * len(batch) for name in late}, batch.lines, file=batch.file)

    def name_of(self, batch: Batch) -> str:
        """The file of a batch, for an error that names it."""
        return batch.file or self.source.name

    def _read(self) -> Iterator[Batch]:
        if self.wanted is None or self.source.some is None:
            yield from self.source.batches()
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
        return [title for title in titles if names[title] in wanted] or list(titles[:1])

    def _columns(self, name: str, title: str, batch: Batch) -> dict[str, Column]:
        """The column of this name, and those that objects in its cells fill."""
        column = batch.columns.get(title)
        if column is None or name not in ("contexts", "relevant", "retrieved"):
            return {name: self._column(name, title, batch)}
        if name == "contexts":
            return self._contexts(title, self._cells(column, title, batch, read_passages), set(batch.columns))
        with suppress(InputError):  # most are lists of ids
            return {name: self._cells(column, title, batch, as_list)}
        documents = self._cells(column, title, batch, read_gold_documents if name == "relevant" else read_documents)
        columns = {name: [cell and cell.ids for cell in documents]}
        if name == "relevant" and any(cell and cell.grades for cell in documents):
            columns[RELEVANCE_GRADES] = [cell and cell.grades for cell in documents]
        return columns

    def _contexts(self, title: str, cells: Sequence[Passages | None], titles: set[str]) -> dict[str, Column]:
        columns: dict[str, Column] = {"contexts": [cell and cell.texts for cell in cells]}
        if CONTEXT_DETAILS not in titles and any(cell and cell.details for cell in cells):
            columns[CONTEXT_DETAILS] = [cell and cell.details for cell in cells]
        names = recognise(list(titles), self.role, self.mapping, self.source.name).values()
        if "retrieved" not in names and any(cell and cell.ids for cell in cells):
            self.source.say(f"retrieved = the ids in {title!r}")
            columns["retrieved"] = [cell and cell.ids for cell in cells]
        return columns

    def _column(self, name: str, title: str, batch: Batch) -> Column:
        column = batch.columns.get(title)
        if column is None:
            return [None] * len(batch)
        if name == "reference" and _alias(title) not in _PLURAL:
            clean = batch.plain or is_clean(column)
            if clean and not ("[" in "".join(column) and any(map(_LIST_BEGINS, column))):
                return [[value] for value in column]
            return self._cells(column, title, batch, _reference)
        if name == "error":
            column = [value or None for value in column]  # `false` and 0 mean no error
        if name in NUMBER_COLUMNS:
            return self._numbers(column, title, batch)
        if name in LIST_COLUMNS:
            return self._cells(column, title, batch, as_list)
        if batch.plain or is_clean(column):
            return column
        if name in TEXT_COLUMNS:
            self._refuse_structure(column, title, batch)
        return self._cells(column, title, batch, as_text)

    def _refuse_structure(self, column: Column, title: str, batch: Batch) -> None:
        for value, line in zip(column, batch.lines, strict=True):
            if isinstance(value, dict | list | tuple | set):
                kind = "an object" if isinstance(value, dict) else "a list"
                raise InputError(f"{title!r} is {kind}, a text is expected", file=self.name_of(batch), line=line)

    def _numbers(self, column: Column, title: str, batch: Batch) -> Column:
        """Each cell as a number; an error names the line of the first that is not."""
        numbers: Column = []
        for value, line in zip(column, batch.lines, strict=True):
            try:
                numbers.append(as_number(value))
            except ValueError:
                raise InputError(
                    f"column {title!r}: {shown(value)} is not a number", file=self.name_of(batch), line=line
                ) from None
        return numbers

    def _cells(self, column: Column, title: str, batch: Batch, read: Callable[[object], object]) -> Column:
        """Each cell as `read` makes it; an error names the line of the first that it can't."""
        cells: Column = []
        for value, line in zip(column, batch.lines, strict=True):
            try:
                cells.append(read(value))
            except CellError as error:
                is_list = isinstance(error, NotAListError)
                raise InputError(
                    f"column {title!r}: {error.message}",
                    file=self.name_of(batch),
                    line=line,
                    hint="write a list as JSON, [\"a\", \"b\"], or as Python does, ['a', 'b']" if is_list else "",
                ) from None
        return cells


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


def recognise(titles: Sequence[str], role: Role, mapping: Mapping[str, str], file: str) -> dict[str, str]:
    """The table's name for each title of a file: by the user's mapping, then by the aliases.

    Other columns keep their own title, unless the table uses that name for something else.
    """
    names: dict[str, str] = {}
    mapped = {title for name, title in mapping.items() if name in _ALIASES[role]}
    by_alias = {_alias(title): title for title in reversed(titles) if title not in mapped}
    for name, aliases in _ALIASES[role].items():
        title = mapping.get(name)
        if title is not None and title in titles:
            names[title] = name
        else:  # of two files, only one may have the title in the mapping
            present = [by_alias[alias] for alias in aliases if alias in by_alias]
            if len(present) > 1 and _alias(present[0]) != name:
                raise ColumnError(
                    f"{' and '.join(map(repr, present))} could each be the {name}",
                    file=file,
                    hint=f"say which one: {column_option(name, present[0])}",
                )
            if present:
                names.setdefault(present[0], name)
    taken = set(names.values())
    for title in titles:
        if title not in names:
            own = as_text(title) or "unnamed"
            names[title] = own if own not in taken and own not in NAMED_COLUMNS else f"{role}.{own}"
    return {title: names[title] for title in titles}


def _alias(title: str) -> str:
    """A title in the form of the aliases: `Ground Truth` is `ground_truth`."""
    return title.strip().casefold().replace(" ", "_").replace("-", "_")


def check_mapping(mapping: Mapping[str, str]) -> None:
    """Refuse a mapping to a name that the table does not know."""
    for name in mapping:
        if name not in NAMED_COLUMNS:
            raise UsageError(
                f"{column_option(name, mapping[name])}: there is no column {name!r}{did_you_mean(name, NAMED_COLUMNS)}",
                hint=f"the table's columns are {', '.join(NAMED_COLUMNS)}",
            )


def missing_column(
    needed: str, wanted_by: str, titles: Sequence[str], file: str, *, other_file: bool = False
) -> ColumnError:
    """The error for a needed column that is missing.

    `other_file`: it may be in a reference file that was not given.
    """
    close = did_you_mean(needed, titles)
    elsewhere = f"if another file has it, name that file with {option('reference')}; " if other_file else ""
    if wanted_by.partition("@")[0] in _JUDGED_TWINS:
        twin = _JUDGED_TWINS[wanted_by.partition("@")[0]]
        elsewhere += f"{wanted_by} compares ids, and {twin} judges the passages in `contexts` with a model; "
    return ColumnError(
        f"{wanted_by} needs the column {needed!r}, which is missing{close}",
        file=file,
        hint=f"the columns are {', '.join(titles)}; {elsewhere}if one of them is meant, add "
        + column_option(needed, "ITS_NAME"),
    )
