"""What an address of Compare asks for: the runs, a slice, the rows and their order, and the test."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragmeter.analysis.comparing.selection import ALL_ROWS, CHANGES, WORSE
from ragmeter.errors import UsageError
from ragmeter.runs.run import Run
from ragmeter.show.page.compare.view import LETTERS
from ragmeter.show.page.elements import address

PAGE, MOST_RUNS = "compare", len(LETTERS)
#: The orders of rows: by the size of the change, as in the file, the worst of one run first.
BY_CHANGE, BY_FILE, BY_BASELINE, BY_CANDIDATE = "change", "file", "baseline", "candidate"
SORTS = (BY_CHANGE, BY_FILE, BY_BASELINE, BY_CANDIDATE)
#: Rows on a page.
ROWS = 20
#: The field by which a page sees that its file comes.
SIGN = "sign"
_FILTER = re.compile(r"(?:([AB]):)?(.+?)(<=|>=|=)(-?\d+(?:\.\d+)?(?:e-?\d+)?)")
#: The fields of the form that adds a filter; they become one of `filter`.
_ADDED = ("of", "by_metric", "is", "than")
_FIELDS = frozenset(
    {
        "run", "baseline", "candidate", "column", "value", "by", "change", "metric", "search", "sort", "filter",
        "cause", "page", "test", "alpha", "margin", SIGN, *_ADDED,
    }
)  # fmt: skip
#: Those that may be given several times: all of them hold.
_SEVERAL = ("run", "filter", "cause")


@dataclass(frozen=True)
class Condition:
    """A filter of rows: a run by its letter, a metric, and what its score must be."""

    letter: str
    metric: str
    sign: str
    number: float
    written: str

    @classmethod
    def read(cls, written: str) -> Condition:
        """Read `recall@5<=0`, or `A:token_f1>=0.5` of the baseline."""
        parts = _FILTER.fullmatch(written)
        if parts is None:
            raise UsageError(f"can't read the filter {written[:60]!r}", hint="write it as recall@5<=0 or A:recall@5=1")
        return cls(parts[1] or "B", parts[2], parts[3], float(parts[4]), written)


@dataclass(frozen=True)
class CompareQuery:
    """What is shown; every field is part of the address. `runs` are names, the baseline's first."""

    runs: tuple[str, ...]
    candidate: str = ""
    column: str = ""
    value: str = ""
    by: str = ""
    change: str = ""
    metric: str = ""
    search: str = ""
    sort: str = BY_CHANGE
    filters: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    page: int = 1
    test: str = ""
    alpha: str = ""
    margin: str = ""

    @classmethod
    def read(cls, query: Any, runs: Sequence[Run]) -> CompareQuery:
        """What an address asks for, of these runs. What makes no sense is an error that says so."""
        if unknown := [name for name in query if name not in _FIELDS]:
            raise UsageError(f"an address of Compare has no {unknown[0][:40]!r}")
        if repeated := [name for name in query if name not in _SEVERAL and len(query.getlist(name)) > 1]:
            raise UsageError(f"an address of Compare has {repeated[0]!r} once")
        change, sort = query.get("change", ""), query.get("sort", "") or BY_CHANGE
        for given, known in ((change or ALL_ROWS, CHANGES), (sort, SORTS)):
            if given not in known:
                raise UsageError(f"{given[:40]!r} is not one of {', '.join(known)}")
        names = tuple(run.name for run in runs)
        candidate = query.get("candidate", "")
        if candidate and candidate not in names[1:]:
            raise UsageError(f"{candidate[:60]!r} is none of the candidates {', '.join(names[1:])}")
        if bool(query.get("value")) != bool(query.get("column")):
            lacking = "a value needs its column" if query.get("value") else "a column needs its value"
            raise UsageError(f"{lacking}: column=topic&value=science")
        if query.get("by_metric") and not query.get("than"):
            raise UsageError("a filter needs a number: by_metric=recall@5&is=<=&than=0")
        page = query.get("page", "1")
        if not page.isdecimal() or not 0 < int(page) < 10**9:
            raise UsageError(f"{page[:40]!r} is not the number of a page")
        texts = {name: query.get(name, "") for name in ("column", "value", "by", "metric", "search")}
        settings = {name: query.get(name, "") for name in ("test", "alpha", "margin")}
        filters = tuple(dict.fromkeys([*query.getlist("filter"), *_added(query)]))
        for written in filters:
            Condition.read(written)
        causes = tuple(dict.fromkeys(cause for cause in query.getlist("cause") if cause))
        return cls(
            names,
            candidate,
            change=change,
            sort=sort,
            filters=filters,
            causes=causes,
            page=int(page),
            **texts,
            **settings,
        )

    @property
    def where(self) -> dict[str, str]:
        """The slice that the page is cut to."""
        return {self.column: self.value} if self.column and self.value else {}

    @property
    def shown_change(self) -> str:
        """How the rows changed that are listed: those that got worse, unless something else is asked for."""
        is_free = self.search or self.filters or self.causes
        return self.change or (ALL_ROWS if is_free else WORSE)

    def fields(self, **changes: Any) -> dict[str, object]:
        """The fields for an address or a form, changed. A change of what is listed begins at its first page."""
        query = replace(self, **({"page": 1} | changes))
        baseline, *candidates = query.runs or ("",)
        return {
            "baseline": baseline,
            "run": list(candidates),
            **{name: getattr(query, name) for name in ("candidate", "column", "value", "by", "change", "metric")},
            "search": query.search,
            "sort": "" if query.sort == BY_CHANGE else query.sort,
            "filter": list(query.filters),
            "cause": list(query.causes),
            "page": "" if query.page == 1 else query.page,
            **{name: getattr(query, name) for name in ("test", "alpha", "margin")},
        }

    def address(self, *more: str, **changes: Any) -> str:
        """The address of the page, or of what is below it, changed."""
        return address(PAGE, *more, **self.fields(**changes))


def _added(query: Mapping[str, str]) -> list[str]:
    """The filter that a form adds."""
    letter, metric, sign, number = (query.get(name, "") for name in _ADDED)
    return [f"{letter}:{metric}{sign}{number}".removeprefix("B:")] if metric and number else []


def ordered(runs: Sequence[Run], baseline: str) -> list[Run]:
    """The runs, the baseline first: the one that was named, or else the oldest."""
    created = {run.name: (run.manifest().created is None, run.manifest().created or "") for run in runs}
    first = baseline or min(created, key=lambda name: created[name], default="")
    return sorted(runs, key=lambda run: run.name != first)
