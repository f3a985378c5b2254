"""The parts of Compare put together: what one screen shows, and the charts below it."""

from __future__ import annotations

from ragmeter.analysis.comparing import Comparison
from ragmeter.show.page.compare import causes, charts, differences, slices, systems, verdict
from ragmeter.show.page.compare.row_list import WHICH
from ragmeter.show.page.compare.view import CompareView
from ragmeter.show.page.elements import Content, Markup, element, joined, text
from ragmeter.show.page.parts import section

MORE = "More charts"


def first_screen(
    view: CompareView, rows: Content, about_rows: Content = None, column: str = "", columns: Content = None
) -> Markup:
    """The verdict, the counts of rows, and the four questions.

    Args:
        view: what is shown.
        rows: the list of rows, and what chooses them.
        about_rows: which rows they are.
        column: the column whose slices are shown; those of any column, if it is empty.
        columns: links to other columns.
    """
    return joined(
        verdict.heading(view),
        verdict.alarms(view),
        section(systems.ALL_RUNS, systems.all_runs(view), name="all-runs", class_="card"),
        verdict.tiles(view) if not view.pair.mostly_reworded else None,
        element(
            "div",
            section(
                differences.BY_HOW_MUCH,
                differences.by_how_much(view),
                name="by-how-much",
                class_="card",
                about=differences.about(view),
            ),
            _where(view, column, columns),
            _why(view),
            section(WHICH, rows, name="which", class_="card", about=about_rows),
            class_="four",
        ),
    )


def _where(view: CompareView, column: str, columns: Content) -> Markup:
    shown = slices.where(view, column)
    about = joined(text(slices.about(view, column)), " ", columns)
    return section(slices.WHERE, shown, name="where", class_="card", about=about)


def _why(view: CompareView) -> Markup:
    """What happened to the answers; of runs without causes, how their rows are spread by both scores."""
    if view.pair.causes is not None:
        return section(causes.WHY, causes.why(view), name="why", class_="card", about=causes.about(view))
    return section(
        charts.BOTH_SCORES, charts.both_scores(view), name="both-scores", class_="card", about=view.pair.headline
    )


def more_charts(view: CompareView, tested: Comparison | None) -> Markup:
    """What stands below the first screen: all metrics of several runs, and charts of what both runs have."""
    has_causes = view.pair.causes is not None
    figures = [
        (charts.BOTH_SCORES, charts.both_scores(view) if has_causes else None),
        (charts.QUALITY, charts.quality_by_time(view, tested)),
        (charts.RECALL, charts.recall_by_rank(view)),
    ]
    drawn = [element("div", element("h3", title), figure, class_="card") for title, figure in figures if figure]
    drawn += [element("div", figure, class_="card") for figure in charts.distributions(view)]
    return joined(
        section(systems.ALL_METRICS, systems.all_metrics(view), name="all-metrics"),
        section(MORE, element("div", drawn, class_="grid") if drawn else None, name="more"),
    )
