"""What an address of Compare asks for: the runs, a slice, the rows and their order, and the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragmeter.analysis.comparing.selection import ALL_ROWS, CHANGES, WORSE
from ragmeter.app.conditions import EQUAL, Condition, added_filter
from ragmeter.app.fields import check_fields, page_number
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
_FIELDS = (
    "baseline", "candidate", "where", "by", "change", "metric", "search", "sort", "page", "test", "alpha", "margin",
    "of", "column", "is", "value", "sign",
)  # fmt: skip
_SEVERAL = ("run", "filter")


@dataclass(frozen=True)
class CompareQuery:
    """What is shown; every field is part of the address. `runs` are names, the baseline's first."""

    runs: tuple[str, ...]
    candidate: str = ""
    where: Condition | None = None
    by: str = ""
    change: str = ""
    metric: str = ""
    search: str = ""
    sort: str = BY_CHANGE
    filters: tuple[str, ...] = ()
    page: int = 1
    test: str = ""
    alpha: str = ""
    margin: str = ""

    @classmethod
    def read(cls, query: Any, runs: Sequence[Run]) -> CompareQuery:
        """What an address asks for, of these runs. What makes no sense is an error that says so."""
        check_fields(query, _FIELDS, _SEVERAL)
        change, sort = query.get("change", ""), query.get("sort", "") or BY_CHANGE
        for given, known in ((change or ALL_ROWS, CHANGES), (sort, SORTS)):
            if given not in known:
                raise UsageError(f"{given[:40]!r} is not one of {', '.join(known)}")
        names = tuple(run.name for run in runs)
        candidate = query.get("candidate", "")
        if candidate and candidate not in names[1:]:
            raise UsageError(f"{candidate[:60]!r} is none of the candidates {', '.join(names[1:])}")
        texts = {name: query.get(name, "") for name in ("by", "metric", "search")}
        settings = {name: query.get(name, "") for name in ("test", "alpha", "margin")}
        new, letter = added_filter(query), query.get("of", "")
        if letter and letter not in LETTERS[: len(runs)]:
            raise UsageError(f"{letter[:40]!r} is none of {', '.join(LETTERS[: len(runs)])}")
        of = f"{letter}:" if new and letter else ""
        filters = tuple(written for written in dict.fromkeys([*query.getlist("filter"), f"{of}{new}"]) if written)
        where = _slice(runs[0], query["where"]) if runs and query.get("where") else None
        return cls(
            names,
            candidate,
            where,
            change=change,
            sort=sort,
            filters=filters,
            page=page_number(query),
            **texts,
            **settings,
        )

    @property
    def cut_to(self) -> dict[str, str]:
        """The slice that the page is cut to."""
        return {self.where.column: self.where.value} if self.where else {}

    @property
    def shown_change(self) -> str:
        """How the rows changed that are listed: those that got worse, unless something else is asked for."""
        is_free = self.search or self.filters
        return self.change or (ALL_ROWS if is_free else WORSE)

    def fields(self, **changes: Any) -> dict[str, object]:
        """The fields for an address or a form, changed. A change of what is listed begins at its first page."""
        query = replace(self, **({"page": 1} | changes))
        baseline, *candidates = query.runs or ("",)
        return {
            "baseline": baseline,
            "run": list(candidates),
            "candidate": query.candidate,
            "where": query.where.written if query.where else "",
            **{name: getattr(query, name) for name in ("by", "change", "metric")},
            "search": query.search,
            "sort": "" if query.sort == BY_CHANGE else query.sort,
            "filter": list(query.filters),
            "page": "" if query.page == 1 else query.page,
            **{name: getattr(query, name) for name in ("test", "alpha", "margin")},
        }

    def address(self, *more: str, **changes: Any) -> str:
        """The address of the page, or of what is below it, changed."""
        return address(PAGE, *more, **self.fields(**changes))


def _slice(run: Run, written: str) -> Condition:
    """The slice that an address cuts to, written as `--where` takes it."""
    condition = Condition.read(run, written)
    if condition.comparison != EQUAL:
        raise UsageError(f"can't cut to {written[:60]!r}", hint="write it as where=topic=science")
    return condition


def ordered(runs: Sequence[Run], baseline: str) -> list[Run]:
    """The runs, the baseline first: the one that was named, or else the oldest."""
    created = {run.name: (run.manifest().created is None, run.manifest().created or "") for run in runs}
    first = baseline or min(created, key=lambda name: created[name], default="")
    return sorted(runs, key=lambda run: run.name != first)
