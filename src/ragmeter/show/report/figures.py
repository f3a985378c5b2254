"""The figures of a report: each run in a line, what has no score, all metrics, the judge, times, causes, documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ragmeter.documents.metrics import MetricSummary
from ragmeter.documents.usage import Usage
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, breakable, element, joined, text
from ragmeter.show.page.parts import alarm, figure, folded, section, swatch, table, worded
from ragmeter.show.terminal.catalogue import day
from ragmeter.wording import numbers
from ragmeter.wording.answer_causes import TITLES as CAUSE_TITLES
from ragmeter.wording.answer_causes import cause_lines
from ragmeter.wording.causes import cause_name, empty_answers, failures, score_alarms
from ragmeter.wording.document_list import TITLES as DOCUMENT_TITLES
from ragmeter.wording.document_list import document_cells, list_lines
from ragmeter.wording.judging import CAUSE, STRONG, WARNING, Line, judge_causes, judge_lines
from ragmeter.wording.limits import limit_lines
from ragmeter.wording.metrics import (
    FEW,
    about_intervals,
    better,
    explained,
    headline_sentence,
    level,
    no_rates,
    result_unit,
    titled,
    without_score,
)

ALL_METRICS, WHERE_IT_FAILED, DOCUMENTS = "All metrics", "Where it failed", "Documents"
ALL_SCORED, NOT_SCORED = "Every metric has a score for every row.", "Not everything was scored"
OWN_WORDS = "in their own words"
THE_JUDGE, DOUBTS = "The judge", "Before you trust the judge"
ABOUT_DOCUMENTS = (
    "The documents that are missed most often: the number of questions that each was retrieved for, is a gold document "
    "of, and is a gold document of without being retrieved."
)
#: Documents on the page; `ragmeter documents` lists all. Causes in their own words.
_DOCUMENTS, _OWN_WORDS = 15, 20
_TIMES = ("median", "p95", "p99", "most", "n")


class Named:
    """The runs of a page with their labels and colours. A page of one run does not repeat its name."""

    def __init__(self, runs: Mapping[str, Run], tints: Mapping[str, str]) -> None:
        self.runs, self.tints = runs, tints

    def name(self, label: str) -> Markup:
        """A run's colour and name."""
        return joined(swatch(self.tints[label]), text(label))

    def prefix(self, label: str) -> Content:
        """The name before what is said of one of several runs."""
        return joined(self.name(label), ": ") if len(self.runs) > 1 else None


def lead(named: Named) -> Markup:
    """Each run in a line: its result, its rows and metrics, and when it was made."""
    lines = []
    for label, run in named.runs.items():
        counts = f"{_several(run.n_rows, 'row')}, {_several(len(run.metrics()), 'metric')}"
        sentence = headline_sentence(run.metrics(), result_unit(run.manifest()))
        created = run.manifest().created
        lines.append(
            element(
                "li",
                named.prefix(label),
                [element("strong", text(sentence)), "; "] if sentence else None,
                counts,
                joined(", ", text(day(created))) if created else None,
                [element("strong", f"; {line}") for line in limit_lines(run.manifest())],
            )
        )
    return element("ul", lines, class_="lead")


def unanswered(named: Named) -> list[Markup]:
    """A line for each run with many empty answers."""
    sentences = {
        label: empty_answers(run.summary().answers, run.n_rows, result_unit(run.manifest()))
        for label, run in named.runs.items()
    }
    return [
        alarm([named.prefix(label), element("strong", words)], failed=True)
        for label, words in sentences.items()
        if words
    ]


def unscored(named: Named) -> Markup:
    """Rows without a score, by cause: red where a judge or the system failed, amber where they are many."""
    reasons = {label: failures(run.metrics()) for label, run in named.runs.items()}
    if not any(reasons.values()):
        return element("p", ALL_SCORED, class_="note good")
    alarms = [alarm for run in named.runs.values() for alarm in score_alarms(run.metrics())]
    tone = "note bad" if any(alarm.failed for alarm in alarms) else "note amber" if alarms else "note"
    lines = [
        element(
            "li",
            named.prefix(label),
            f"no score for {reason.count:,}: ",
            element("code", text(cause_name(reason.cause))),
            joined(", ", text(reason.meaning)) if reason.meaning else None,
            " (", text("every metric" if reason.all else ", ".join(reason.metrics)), ")",
        )
        for label, of_run in reasons.items()
        for reason in of_run
    ]  # fmt: skip
    own_words = [_own_words(named, label) for label in named.runs]
    return element("div", element("strong", NOT_SCORED), element("ul", lines), own_words, class_=tone)


def _own_words(named: Named, label: str) -> Content:
    """The system's and the judge's own words for what went wrong, the most frequent first."""
    summary = named.runs[label].summary()
    causes = {**(summary.causes or {}), **judge_causes(summary)}
    lines = [element("li", f"{count:,} × ", text(cause)) for cause, count in list(causes.items())[:_OWN_WORDS]]
    title = joined(named.prefix(label), f"Causes {OWN_WORDS} ({len(causes):,})")
    return folded(title, element("ul", lines)) if lines else None


def doubts(named: Named) -> Markup:
    """What the judges' own figures warn of; it stands above everything that rests on them."""
    return _judges(named, DOUBTS, "note amber", lambda kind: kind == WARNING)


def judges(named: Named) -> Markup:
    """How the judges did on known cases, who decided, and what they cost."""
    return _judges(named, THE_JUDGE, "note judge", lambda kind: kind not in (WARNING, CAUSE))


def _judges(named: Named, title: str, class_: str, is_wanted: Callable[[str], bool]) -> Markup:
    parts: list[Content] = []
    models = {label: run.manifest().judge_model for label, run in named.runs.items()}
    for label, run in named.runs.items():
        lines: list[Line] = [line for line in judge_lines(run.summary(), run.manifest()) if is_wanted(line[1])]
        if not lines:
            continue
        by = f", judged by {models[label]}" if models[label] else ""
        if len(named.runs) > 1:
            parts.append(element("p", named.name(label), text(by), class_="whose"))
        shown = [element("strong", text(line)) if kind == STRONG else text(line) for line, kind in lines]
        parts.append(element("ul", [element("li", line) for line in shown]))
    if not parts:
        return Markup()
    model = next(iter(models.values())) if len(models) == 1 else ""
    return element("div", element("strong", title, joined(": ", text(model)) if model else None), parts, class_=class_)


def all_metrics(named: Named, *, for_owner: bool) -> Markup:
    """Every metric of every run with its interval and n; what it means, and what an interval is, but for an owner."""
    summaries = {label: run.metrics() for label, run in named.runs.items()}
    names = list(dict.fromkeys(name for of_run in summaries.values() for name in of_run))
    meanings = explained(names)
    rows = []
    for name in names:
        with_it = [of_run[name] for of_run in summaries.values() if name in of_run]
        direction = with_it[0].direction
        about = joined(
            element("strong", breakable(titled(name, direction))),
            element("span", _meaning(meanings[name], direction, for_owner=for_owner), class_="soft meaning"),
        )
        cells = [_cell(of_run.get(name), named.tints[label]) for label, of_run in summaries.items()]
        rows.append([about, *cells])
    titles: list[Content] = ["metric", *(named.name(label) for label in named.runs)]
    levels = [level(summary) for of_run in summaries.values() for summary in of_run.values()]
    rates = [f"{line[0].upper()}{line[1:]}." for line in no_rates(names)]
    return section(
        ALL_METRICS,
        table(titles, rows, caption=ALL_METRICS, cards=True),
        element("p", worded(" ".join([*([] if for_owner else [about_intervals(levels)]), *rates])), class_="about"),
        judges(named),
        times(named),
        name="scores",
    )


def _meaning(says: str, direction: str, *, for_owner: bool) -> list[Content]:
    """What a metric is, and which direction is better; for an owner the direction alone."""
    return [better(direction)] if for_owner else [*worded(says), f" ({better(direction)})"]


def _cell(summary: MetricSummary | None, tint: str) -> Markup:
    if summary is None:
        return Markup()
    notes = [element("span", FEW, class_="soft meaning") if summary.is_few else None]
    if summary.bounds_of_mean is not None:
        notes.append(element("span", f"bounds of the mean: {without_score(summary)}", class_="lacking"))
    return element("div", figure(summary, tint), notes, class_="figure")


def times(named: Named) -> Markup:
    """Latency and other numbers, and what the calls have cost."""
    rows = [
        [joined(named.prefix(label), name.replace("_", " ")), *map(numbers.whole, values), f"{each.n:,}"]
        for label, run in named.runs.items()
        for name, each in run.summary().numbers.items()
        for values in [(each.p50, each.p95, each.p99, each.max)]
    ]
    spent = [
        element("p", named.prefix(label), _spent(usage), class_="about")
        for label, run in named.runs.items()
        if (usage := run.summary().usage) is not None and usage.calls
    ]
    if not rows:
        return joined(spent)
    return joined(
        table(["time in ms", *_TIMES], rows, caption="Times in milliseconds", figures=range(1, 6), cards=False), spent
    )


def _spent(usage: Usage) -> str:
    tokens = f", {usage.prompt_tokens:,} tokens in, {usage.completion_tokens or 0:,} out" if usage.prompt_tokens else ""
    return f"{_several(usage.calls, 'call')}{tokens}{f', {numbers.money(usage.cost_usd)}' if usage.cost_usd else ''}"


def causes(named: Named) -> Markup:
    """Where the answers failed: a table for each run that knows."""
    tables = []
    for label, run in named.runs.items():
        rows = [
            [joined(text(line.words), element("span", text(line.meaning), class_="soft meaning")), *line.cells[1:]]
            for line in cause_lines(run.summary().cause)
        ]
        if rows:
            tables.append(
                _whose(
                    named, label, table(CAUSE_TITLES, rows, caption=f"Causes of {label}", figures=(1, 3), cards=False)
                )
            )
    return section(WHERE_IT_FAILED, tables, name="causes")


def documents(named: Named) -> Markup:
    """The documents that are missed most often, of each run with ids of documents."""
    from ragmeter.analysis.document_list import list_documents

    tables = []
    for label, run in named.runs.items():
        listed = list_documents(run) if {"retrieved", "relevant"} <= set(run.columns) else ()
        if not listed:
            continue
        rows = [[breakable(name), *cells] for name, *cells in map(document_cells, listed[:_DOCUMENTS])]
        lines = [element("li", text(line)) for line in list_lines(listed.useless, _DOCUMENTS)]
        drawn = table(
            DOCUMENT_TITLES, rows, caption=f"Documents of {label}", figures=range(1, len(DOCUMENT_TITLES)), cards=False
        )
        tables.append(_whose(named, label, joined(drawn, element("ul", lines))))
    return part(DOCUMENTS, element("p", ABOUT_DOCUMENTS, class_="about") if tables else None, tables, name="documents")


def part(title: str, *content: Content, name: str) -> Markup:
    """A part of the appendix, which is folded; nothing if it is empty."""
    if not joined(*content):
        return Markup()
    head = element("summary", element("h2", title, id=f"{name}-title"))
    return element(
        "section", element("details", head, *content, class_="part"), aria_labelledby=f"{name}-title", id=name
    )


def _whose(named: Named, label: str, content: Markup) -> Markup:
    return joined(element("p", named.name(label), class_="whose") if len(named.runs) > 1 else None, content)


def contents(links: Iterable[tuple[str, str]]) -> list[Markup]:
    """Links to sections, by their ids."""
    return [element("a", words, href=f"#{name}") for name, words in links]


def _several(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def labelled(runs: Sequence[Run], labels: Sequence[str]) -> dict[str, Run]:
    """The runs by their labels."""
    return dict(zip(labels, runs, strict=True))
