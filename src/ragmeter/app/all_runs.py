"""The list of all runs, by question set: a line for each, with the metrics of choice on shared axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from ragmeter.app import wording
from ragmeter.app.layout import beside
from ragmeter.app.run_actions import actions_button, comparison_bar, deleted_note, trash
from ragmeter.app.run_facets import column_choice, facets, search
from ragmeter.app.run_history import over_time
from ragmeter.app.run_list import PAGE, ListQuery, RunList, SetOfRuns, failure, questions
from ragmeter.app.scores import metric_meanings
from ragmeter.documents.metrics import MetricSummary
from ragmeter.runs.catalogue import RunEntry
from ragmeter.runs.run import Run
from ragmeter.runs.trash import DeletedRun
from ragmeter.show.page.charts.drawing import Axis
from ragmeter.show.page.charts.intervals import whisker
from ragmeter.show.page.elements import (
    Content,
    Markup,
    address,
    breakable,
    element,
    in_own_direction,
    joined,
    link,
    text,
)
from ragmeter.show.page.parts import alarm, meaning, section, swatch, tints, worded
from ragmeter.show.page.shapes import axis_of_means
from ragmeter.wording import numbers, times
from ragmeter.wording.causes import because
from ragmeter.wording.limits import rows_shown
from ragmeter.wording.metrics import differing_level, headline, titled

#: Alarms that stand above the list; the others are a link.
_MOST_ALARMS = 3
#: Characters at the end of a name that are always shown.
_END = 12


def all_runs(
    entries: Sequence[RunEntry], query: ListQuery, under_way: Content, deleted: Sequence[DeletedRun] = ()
) -> list[Content]:
    """The page's content."""
    runs = RunList.of(entries, query)
    if not entries:
        return [under_way, deleted_note(query, deleted), element("p", worded(wording.NO_RUNS), class_="note"),
                trash(deleted)]  # fmt: skip
    chosen = runs.chosen()
    return [
        deleted_note(query, deleted),
        _alarms(runs, chosen),
        under_way,
        element("div", search(query), facets(runs), column_choice(runs, chosen), class_="choices"),
        _table(runs, chosen),
        comparison_bar(),
        section(wording.OVER_TIME, over_time(runs, chosen), name="time"),
        trash(deleted),
        element("dialog", id="actions", aria_label=wording.ACTIONS),
    ]


def _alarms(runs: RunList, chosen: Sequence[RunEntry]) -> list[Content]:
    """The newest runs of which everything failed."""
    failed = [(entry, cause) for entry in chosen if not entry.error and (cause := failure(entry)) is not None]
    failed.sort(key=lambda pair: pair[0].created, reverse=True)
    shown: list[Content] = [
        alarm(
            [
                element("strong", wording.FAILED_ON_ALL.format(who=metric or wording.THE_SYSTEM, count=entry.n_rows)),
                " ", wording.OF_RUN, " ", link(breakable(entry.name), address("run", entry.name)), because(causes),
            ],
            failed=True,
        )
        for entry, (metric, causes) in failed[:_MOST_ALARMS]
    ]  # fmt: skip
    if len(failed) > _MOST_ALARMS:
        where = address(**runs.query.as_query(status="failed"))
        shown.append(element("p", link(wording.MORE_FAILED.format(count=len(failed)), where), class_="soft"))
    return shown


def _table(runs: RunList, chosen: Sequence[RunEntry]) -> Content:
    query, names = runs.query, runs.metrics(chosen)
    sets = runs.sets(chosen)
    lines = [(of_set, entry) for of_set in sets for entry in of_set.entries]
    first = (query.page - 1) * PAGE
    shown = lines[first : first + PAGE]
    colours = dict(zip([entry.name for _, entry in shown], tints([Run(entry.path) for _, entry in shown]), strict=True))
    axes = {name: _axis([entry.metrics[name] for entry in chosen if name in entry.metrics]) for name in names}
    head = element("tr", _titles(runs, chosen, names), role="row")
    groups = [
        element(
            "tbody",
            _set_row(runs, of_set, 8 + len(names)),
            [_row(runs, entry, axes, colours[entry.name]) for _, entry in pairs],
            role="rowgroup",
        )
        for of_set, pairs in ((of_set, list(pairs)) for of_set, pairs in groupby(shown, key=lambda pair: pair[0]))
    ]
    table = element(
        "table",
        element("caption", wording.ALL_RUNS, class_="hidden"),
        element("thead", head, role="rowgroup"),
        groups,
        role="table",
        class_=f"runs with-{len(names)}",
    )
    wide = element("div", table, class_="scroll", tabindex="0", role="group", aria_label=wording.ALL_RUNS)
    return element("div", wide if shown else None, _pager(runs, len(chosen), first, len(shown)), id="runs")


def _axis(summaries: Sequence[MetricSummary]) -> Axis:
    return Axis(*axis_of_means(summaries))


def _titles(runs: RunList, chosen: Sequence[RunEntry], names: Sequence[str]) -> list[Markup]:
    directions = {name: figures.direction for entry in chosen for name, figures in entry.metrics.items()}
    meanings = metric_meanings(tuple(names))
    choose = element("th", element("span", wording.CHOOSE, class_="hidden"), scope="col", class_="tick")
    menu = element("th", element("span", wording.ACTIONS, class_="hidden"), scope="col", class_="menu")
    return [
        choose,
        _title(runs, "name", wording.RUN, "name"),
        _title(runs, "system", wording.SYSTEM, "system"),
        _title(runs, "created", wording.CREATED, "when"),
        _title(runs, "rows", "n", "n number"),
        *(_title(runs, name, breakable(titled(name, directions[name])), "metric", meanings[name]) for name in names),
        _title(runs, "no_score", wording.FAILED, "lacks number"),
        _title(runs, "cost", wording.COST, "cost number"),
        menu,
    ]


def _title(runs: RunList, sort: str, label: Content, class_: str, says: str = "") -> Markup:
    is_sorted = (runs.query.sort or "created") == sort
    inside = link(label, address(**runs.query.as_query(sort=sort)), class_="sorts", title=says or None)
    order = "ascending" if sort in ("name", "system") else "descending"
    attributes = {"aria_sort": order} if is_sorted else {}
    return element("th", inside, scope="col", role="columnheader", class_=class_, **attributes)


def _set_row(runs: RunList, of_set: SetOfRuns, columns: int) -> Markup:
    """The heading of a question set; what it is stands on hover."""
    about = wording.RUNS_OF[min(len(of_set.entries), 2)].format(count=len(of_set.entries))
    name = of_set.name or wording.NO_SET
    chosen = address(**runs.query.toggled("set", of_set.fingerprint)) if of_set.fingerprint else None
    count = questions(of_set.n_questions)  # which is its name already where nobody knows another one
    size = meaning(count, wording.QUESTION_SET_MEANS) if of_set.fingerprint and not name.startswith(count) else None
    inside = [
        link(text(name), chosen, title=of_set.fingerprint) if chosen else element("span", name),
        element("span", [" ", size] if size else None, " · ", about, class_="soft"),
    ]
    return element("tr", element("th", inside, colspan=columns, scope="rowgroup"), role="row", class_="set")


def _row(runs: RunList, entry: RunEntry, axes: dict[str, Axis], tint: str) -> Markup:
    box = element(
        "input",
        type="checkbox",
        value=entry.name,
        aria_label=f"{wording.CHOOSE} {entry.name}",
        data_created=entry.created,
        data_questions=entry.questions,
        data_baseline=entry.is_baseline,
        disabled=bool(entry.error),
    )
    tags = [
        link(text(tag), address(**runs.query.toggled("tag", tag)), class_="chip", title=wording.ONLY_TAG)
        for tag in entry.tags
    ]
    mark = element("span", wording.BASELINE, class_="chip mark-of-baseline") if entry.is_baseline else None
    name = link(joined(swatch(tint), _middle_cut(entry.name)), address("run", entry.name), class_="to-run")
    when = element("time", times.spoken(entry.created), datetime=entry.created, title=times.exact(entry.created))
    return element(
        "tr",
        _cell(box, "tick"),
        _cell(element("div", name, mark, tags, _problem(entry)), "name"),
        _cell(text(entry.system) if entry.system else None, "system"),
        _cell(when if entry.created else None, "when"),
        _cell(_counted(entry, axes), "n number"),
        [_cell(_figure(name, entry.metrics.get(name), axis), "metric", name) for name, axis in axes.items()],
        _cell(_lacking(entry), "lacks number", wording.FAILED),
        _cell("" if entry.cost_usd is None else numbers.money(entry.cost_usd), "cost number", wording.COST),
        _cell(actions_button(entry.name), "menu"),
        role="row",
    )


def _counted(entry: RunEntry, names: Iterable[str]) -> str | None:
    """A run's number of rows, after how many have a score by the first metric that is shown, if these are fewer."""
    if not entry.n_rows:
        return None
    rows = rows_shown(entry.n_rows, limited=entry.limited)
    first = next((entry.metrics[name] for name in names if name in entry.metrics), None)
    return (
        rows
        if first is None or first.n_scored == first.n_total
        else f"{first.n_scored:,}{' of ' if entry.limited else '/'}{rows}"
    )


def _middle_cut(name: str) -> Markup:
    """A name of which a narrow column leaves out the middle: names of runs often differ at their end."""
    if len(name) <= _END + 4:
        return text(name)
    end = name[-_END:]
    return in_own_direction(element("span", name.removesuffix(end)), element("span", end), class_="middle-cut")


def _cell(content: Content, class_: str, title: str | None = None) -> Markup:
    return element("td", content, role="cell", class_=class_, data_title=title)


def _problem(entry: RunEntry) -> Markup | None:
    if not entry.error:
        return None
    reason = entry.error.replace(f"{entry.path}/", "")
    shown = reason.partition("\n")[0]  # what to do stands on hover, and on the run's page
    return element("strong", f"{wording.DAMAGED_RUN}: ", text(shown), class_="damage", title=reason)


def _lacking(entry: RunEntry) -> Markup | None:
    """How many rows have no score, amber; red where the judge or the system failed on all of them."""
    if not entry.n_failed:
        return None
    return element("span", f"{entry.n_failed:,}", class_="failed" if failure(entry) else "lacking")


def _figure(name: str, summary: MetricSummary | None, axis: Axis) -> Markup | None:
    """A mean with its margin above its place on the metric's axis; everything else on hover."""
    if summary is None:
        return None
    mean, interval = headline(summary)
    between = "" if interval is None else f", {differing_level(summary, '')}{interval}"
    says = f"{name}: {mean}{between}, n {numbers.scored(summary.n_scored, summary.n_total)}"
    has_interval = interval is not None and summary.mean is not None and summary.interval is not None
    margin = numbers.margins(summary.mean or 0.0, summary.interval) if has_interval and summary.interval else ""
    is_pictured = summary.mean is not None and summary.bounds_of_mean is None
    return element(
        "span",
        element("span", mean, class_="value"),
        element("span", " ", margin, class_="soft") if margin else None,
        whisker(summary.mean or 0.0, summary.interval, axis) if is_pictured else None,
        class_="figure-of-run",
        title=says,
    )


def _pager(runs: RunList, total: int, first: int, count: int) -> Markup:
    """Which runs these are, with links to those before and after."""
    query = runs.query
    if not total:
        clear = link(wording.CLEAR, address())
        return element("p", wording.NO_MATCH, " ", clear, class_="soft")
    of_all = "" if total == len(runs.entries) else wording.OF_ALL.format(count=len(runs.entries))
    if count == total:
        shown = wording.RUNS_OF[min(total, 2)].format(count=total) + of_all
    else:
        shown = wording.SOME_RUNS.format(first=first + 1, last=first + count, total=total) + of_all
    last = (total + PAGE - 1) // PAGE
    return beside(query.page, last, lambda page: address(**query.as_query(page=page)), shown)
