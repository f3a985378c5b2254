"""Which runs the list shows, and in which order: the facets and the search of an address, and the question sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import PurePath
from typing import Any

from ragmeter.app import wording
from ragmeter.app.fields import check_fields, one_of, page_number
from ragmeter.runs.catalogue import RunEntry
from ragmeter.table import OUTCOMES_WITHOUT_VERDICT
from ragmeter.wording import times
from ragmeter.wording.metrics import first_of

#: Rows of a page, metrics of the list, and of those without a choice of somebody.
PAGE, MOST_METRICS, _USUAL_METRICS = 50, 5, 3
#: The facets, in their order on the page.
FACETS = ("set", "system", "tag", "when", "status")
#: What can be said of a run at a glance.
COMPLETE, NO_SCORE, FAILED, DAMAGED = "complete", "no_score", "failed", "damaged"
_DAYS = {"today": 0, "7": 7, "30": 30}
#: Orders of the list by what is no metric.
_SORTS: dict[str, Callable[[RunEntry], Any]] = {
    "created": lambda entry: 0,  # the newest first, as they come
    "name": lambda entry: entry.name.casefold(),
    "system": lambda entry: entry.system.casefold(),
    "rows": lambda entry: -entry.n_rows,
    "cost": lambda entry: -(entry.cost_usd or 0.0),
    "no_score": lambda entry: -entry.n_failed,
}


@dataclass(frozen=True)
class ListQuery:
    """What an address of the list says. `chosen` are the values of each facet: any of them will do, of all facets."""

    search: str = ""
    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    sort: str = ""
    page: int = 1
    over_time: str = ""
    deleted: str = ""

    @classmethod
    def read(cls, fields: Any) -> ListQuery:
        """The query of an address."""
        check_fields(fields, ("search", "sort", "page", "metric", "deleted"), (*FACETS, "metrics"))

        def last(name: str) -> str:
            return str((fields.getlist(name) or [""])[-1])

        return cls(
            last("search"),
            {facet: tuple(dict.fromkeys(filter(None, fields.getlist(facet)))) for facet in FACETS},
            tuple(dict.fromkeys(filter(None, fields.getlist("metrics"))))[:MOST_METRICS],
            last("sort"),
            page_number(fields),
            last("metric"),
            last("deleted"),
        )

    def as_query(self, **changes: Any) -> dict[str, Any]:
        """The fields of an address, with some changed; all changes but that of the page lead to the first page."""
        page = {"page": self.page} if not changes and self.page > 1 else {}
        own = {"search": self.search, **self.chosen, "metrics": self.metrics, "sort": self.sort}
        return {**own, "metric": self.over_time, **page, **changes}

    def toggled(self, facet: str, value: str) -> dict[str, Any]:
        """The fields with a value of a facet chosen, or not any more. Of dates there is one."""
        chosen = self.chosen[facet]
        others = () if facet == "when" else tuple(other for other in chosen if other != value)
        return self.as_query(**{facet: others if value in chosen else (*others, value)})


@dataclass(frozen=True)
class SetOfRuns:
    """The runs of one question set, in the list's order."""

    fingerprint: str
    name: str
    entries: list[RunEntry]

    @property
    def n_questions(self) -> int:
        """How many questions there are."""
        return max((entry.n_questions for entry in self.entries), default=0)


def set_names(entries: Iterable[RunEntry]) -> dict[str, str]:
    """A short name for each question set: the name of its file, with a code where two have the same."""
    files: dict[str, Counter[str]] = {}
    sizes: dict[str, int] = {}
    for entry in entries:
        if entry.questions:
            files.setdefault(entry.questions, Counter())[PurePath(entry.questions_file).stem] += not entry.is_results
            sizes[entry.questions] = entry.n_questions
    names = {fingerprint: _most(counts) for fingerprint, counts in files.items()}
    taken = Counter(names.values())
    return {
        fingerprint: (name or questions(sizes[fingerprint]))
        + (f", {fingerprint[:4]}" if not name or taken[name] > 1 else "")
        for fingerprint, name in names.items()
    }


def questions(count: int) -> str:
    """A number of questions."""
    return wording.QUESTIONS[min(count, 2)].format(count=count)


def _most(counts: Counter[str]) -> str:
    name, count = counts.most_common(1)[0]
    return name if count else ""


def status_of(entry: RunEntry) -> str:
    """What is to be said of a run first."""
    if entry.error:
        return DAMAGED
    if failure(entry) is not None:
        return FAILED
    return NO_SCORE if entry.n_failed else COMPLETE


def failure(entry: RunEntry) -> tuple[str, Mapping[str, int]] | None:
    """Who failed on all rows, and the causes: a metric's judge, or the system (an empty text)."""
    if entry.n_rows and sum(entry.causes.values()) == entry.n_rows:
        return "", entry.causes
    for name, figures in entry.metrics.items():
        causes = figures.n_not_scored
        if figures.n_total and not figures.n_scored and sum(causes.values()) == figures.n_total:
            failed = {cause: count for cause, count in causes.items() if cause in OUTCOMES_WITHOUT_VERDICT}
            if sum(failed.values()) == figures.n_total:
                return name, failed
    return None


@dataclass(frozen=True)
class RunList:
    """All runs of a folder, and what an address chooses of them."""

    entries: Sequence[RunEntry]
    query: ListQuery
    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Sequence[RunEntry], query: ListQuery) -> RunList:
        """The list with the names of its question sets; an error where an address names a metric that no run has."""
        metrics = sorted({name for entry in entries for name in entry.metrics})
        if query.sort and entries:
            one_of(query.sort, (*_SORTS, *metrics), "sort")
        for what, names in (("metrics", query.metrics), ("metric", (query.over_time,))):
            for name in filter(None, names if entries else ()):
                one_of(name, metrics, what)
        return cls(entries, query, set_names(entries))

    def chosen(self, without: str = "") -> list[RunEntry]:
        """The runs that have a value of each facet and all words of the search; one facet may be left out."""
        entries = self._found()
        for facet, values in self.query.chosen.items():
            if values and facet != without:
                entries = [entry for entry in entries if any(self._has(entry, facet, value) for value in values)]
        return entries

    def _found(self) -> list[RunEntry]:
        words = self.query.search.casefold().split()
        if not words:
            return [*self.entries]
        return [entry for entry in self.entries if all(map(self._about(entry).__contains__, words))]

    def _about(self, entry: RunEntry) -> str:
        dates = (times.spoken(entry.created), times.day(entry.created), times.exact(entry.created))
        about = (entry.name, *entry.tags, entry.system, self.names.get(entry.questions, ""), *dates)
        return "\n".join(about).casefold()

    def _has(self, entry: RunEntry, facet: str, value: str) -> bool:
        return value in self.values(entry, facet)

    def values(self, entry: RunEntry, facet: str) -> Sequence[str]:
        """A run's values of a facet."""
        if facet == "set":
            return (entry.questions,)
        if facet == "system":
            return (entry.system,)
        if facet == "tag":
            return entry.tags
        return (status_of(entry),) if facet == "status" else _dates(entry.created)

    def counts(self, facet: str) -> dict[str, int]:
        """How many runs have each value of a facet, of those that the other facets and the search leave."""
        counts = Counter(value for entry in self.chosen(facet) for value in self.values(entry, facet) if value)
        for value in self.query.chosen[facet]:
            counts.setdefault(value, 0)
        return dict(counts.most_common())

    def label(self, facet: str, value: str) -> str:
        """A value of a facet in words."""
        if facet == "set":
            return self.names.get(value, value[:8])
        words = {"when": wording.DATES, "status": wording.STATUSES}.get(facet, {})
        return words.get(value, value)

    def metrics(self, entries: Sequence[RunEntry]) -> list[str]:
        """The metrics that the list shows: those chosen, or what each question set is judged by and most runs have."""
        available = self.all_metrics(entries)
        chosen = [name for name in self.query.metrics if name in available]
        kinds: dict[str, Counter[tuple[str, ...]]] = {}
        for entry in entries:
            kinds.setdefault(entry.questions, Counter()).update([tuple(entry.metrics)] if entry.metrics else [])
        by_size = sorted(filter(None, kinds.values()), key=Counter.total, reverse=True)
        firsts = list(dict.fromkeys(first_of(of_set.most_common(1)[0][0]) for of_set in by_size))[:MOST_METRICS]
        others = sorted(available.keys() - firsts, key=lambda name: (-available[name], [*available].index(name)))
        return chosen or firsts + others[: max(0, _USUAL_METRICS - len(firsts))]

    def all_metrics(self, entries: Sequence[RunEntry]) -> dict[str, int]:
        """All metrics of some runs, in the order of the first that has them, and how many have each."""
        return dict(Counter(name for entry in entries for name in entry.metrics))

    def sets(self, entries: Sequence[RunEntry]) -> list[SetOfRuns]:
        """The runs by question set: the set with the newest run first, and within a set in the order of the address."""
        newest = sorted(entries, key=lambda entry: entry.created, reverse=True)
        by_set: dict[str, list[RunEntry]] = {}
        for entry in newest:
            by_set.setdefault(entry.questions, []).append(entry)
        return [
            SetOfRuns(questions, self.names.get(questions, ""), _sorted(of_set, self.query.sort))
            for questions, of_set in by_set.items()
        ]


def _sorted(entries: list[RunEntry], sort: str) -> list[RunEntry]:
    """The best first by a metric, the most first by a number; the newest first without a wish."""
    return sorted(entries, key=_SORTS.get(sort or "created", lambda entry: _goodness(entry, sort)))


def _goodness(entry: RunEntry, metric: str) -> float:
    summary = entry.metrics.get(metric)
    if summary is None or summary.mean is None:
        return float("inf")
    return summary.mean if summary.direction == "lower" else -summary.mean


def _dates(created: str) -> tuple[str, ...]:
    """The spans of time that a run is from, and its month."""
    moment = times.local(created)
    if moment is None:
        return ()
    midnight = times.clock().replace(hour=0, minute=0, second=0, microsecond=0)
    spans = [name for name, days in _DAYS.items() if moment >= midnight - timedelta(days=days)]
    if midnight - timedelta(days=1) <= moment < midnight:
        spans.append("yesterday")
    return (*spans, f"{moment:%Y-%m}")
