"""Which rows of a run an address asks for: conditions that all hold, a search, an order, and what is shown of them.

Nothing in an address is ignored: an unknown field or column, and a value that makes no sense, is an error that says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ragmeter import naming
from ragmeter.app.conditions import AT_LEAST, EQUAL, Condition, added_filter
from ragmeter.app.fields import check_fields, one_of, page_number, switch
from ragmeter.errors import UsageError
from ragmeter.runs.run import Run
from ragmeter.table import ABSTAINED, NOTHING_FAILED, outcome_column
from ragmeter.wording.metrics import first_of, is_right

#: Ready-made choices of rows.
WRONG, HALLUCINATED, LIKELY, NO_SCORE, DISAGREE = "wrong", "is_hallucinated", "hallucinated", "no_score", "disagree"
#: How the names of metrics end that say whether an answer says what its passages don't.
_SAYS_HALLUCINATED = "hallucinated"
#: Outcomes of rows that are not to have a score. One that declines could have one.
NOT_TO_BE_SCORED = NOTHING_FAILED - {ABSTAINED}
#: The metric of the chance that an answer says what its passages don't, and from when on that is likely.
_CHANCE, _LIKELY = "offline_hallucination", "0.5"
#: The fields of an address that say which rows, and how they are shown.
_FIELDS = ("search", "column", "is", "value", "sort", "descending", "page", "markdown", "by", "row", "sign")
_SEVERAL = ("filter", "show", "columns")


@dataclass(frozen=True)
class RowQuery:
    """The rows that are wanted, their order, and what is shown of them. Every field is part of an address.

    Attributes:
        search: a text that a row has in any of its texts.
        conditions: all of them hold.
        show: names of ready-made choices, of which all hold, too.
        sort: a column; without one, rows have the order of the file.
        descending: greatest first.
        page: the page of the rows, from 1 on.
        columns: those of the table; none: the usual ones.
        markdown: whether answers are shown as the Markdown that they are written in.
        by: the column by whose values metrics are shown.
    """

    search: str = ""
    conditions: tuple[Condition, ...] = ()
    show: tuple[str, ...] = ()
    sort: str = ""
    descending: bool = False
    page: int = 1
    columns: tuple[str, ...] = ()
    markdown: bool = False
    by: str = ""

    @classmethod
    def of(cls, run: Run, query: Any) -> RowQuery:
        """Read what is wanted of a run from the query of an address."""
        check_fields(query, _FIELDS, _SEVERAL)
        return cls(
            query.get("search", ""),
            tuple(_conditions(run, query)),
            tuple(one_of(name, presets(run), "show") for name in dict.fromkeys(query.getlist("show")) if name),
            _column(run, query.get("sort", "")),
            switch(query, "descending"),
            page_number(query),
            tuple(_column(run, name) for name in dict.fromkeys(query.getlist("columns")) if name),
            switch(query, "markdown"),
            _column(run, query.get("by", "")),
        )

    @property
    def is_everything(self) -> bool:
        """Whether no row is left out."""
        return not (self.search or self.conditions or self.show)

    def with_condition(self, *added: Condition, **changes: Any) -> RowQuery:
        """The same with more conditions, from the first page on; one that is there already is not repeated."""
        conditions = tuple(dict.fromkeys((*self.conditions, *added)))
        return replace(self, **{"conditions": conditions, "page": 1, **changes})

    def without(self, condition: Condition) -> RowQuery:
        """The same without a condition."""
        return replace(self, conditions=tuple(other for other in self.conditions if other != condition), page=1)

    def as_query(self, **changes: Any) -> dict[str, object]:
        """The fields for an address, changed."""
        query = replace(self, **changes)
        fields: dict[str, object] = {
            "search": query.search,
            "filter": [condition.written for condition in query.conditions],
            "show": list(query.show),
            "sort": query.sort,
            "descending": 1 if query.descending else None,
            "page": None if query.page == 1 else query.page,
            "columns": list(query.columns),
            "markdown": 1 if query.markdown else None,
            "by": query.by,
        }
        return {name: value for name, value in fields.items() if value not in (None, "", [])}


def presets(run: Run) -> dict[str, tuple[str, ...]]:
    """The ready-made choices that this run has the columns for, each with the columns that it looks at."""
    metrics = run.row_metrics
    right = [name for name in metrics if is_right(name)]
    choices: dict[str, tuple[str, ...]] = {}
    if right:
        choices[WRONG] = (first_of(right),)
    bases = {name: naming.base_of(name) for name in metrics}
    if said := [name for name in metrics if bases[name].endswith(_SAYS_HALLUCINATED) and run.measures[name].binary]:
        choices[HALLUCINATED] = (said[0],)
    if chances := [name for name in metrics if bases[name] == _CHANCE]:
        choices[LIKELY] = (chances[0],)
    lacking = [name for name in metrics if run.metrics()[name].n_not_scored.keys() - NOT_TO_BE_SCORED]
    if with_outcome := [name for name in lacking if outcome_column(name) in run.columns]:
        choices[NO_SCORE] = tuple(with_outcome)
    if len(right) > 1:
        choices[DISAGREE] = tuple(right)
    return choices


def conditions_of_preset(name: str, columns: tuple[str, ...]) -> tuple[Condition, ...]:
    """What a ready-made choice looks for, where that is a condition on a single column."""
    conditions = {WRONG: (EQUAL, "0"), HALLUCINATED: (EQUAL, "1"), LIKELY: (AT_LEAST, _LIKELY)}
    return (Condition(columns[0], *conditions[name]),) if name in conditions else ()


def _conditions(run: Run, query: Any) -> Iterator[Condition]:
    """The conditions of an address, and the one that a form adds to them."""
    written = [*query.getlist("filter"), added_filter(query)]
    return (Condition.read(run, condition) for condition in dict.fromkeys(written) if condition)


def _column(run: Run, name: str) -> str:
    if name and name not in run.columns:
        raise UsageError(f"{run.name} has no column {name[:60]!r}")
    return name
