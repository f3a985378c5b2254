"""Shows answered and judged conversations on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragmeter.compat.crag.evaluation import METRICS
from ragmeter.documents.record import UNSET
from ragmeter.documents.summary import Summary
from ragmeter.documents.usage import Effort
from ragmeter.show.terminal import console, printable
from ragmeter.show.terminal.judging import print_lines
from ragmeter.show.terminal.tables import Figures
from ragmeter.wording.judging import (
    cascade_lines,
    cause_lines,
    check_line,
    decided_by,
    effort_lines,
    flip_rate_line,
    one_wording_lines,
)
from ragmeter.wording.numbers import interval, number


def judged(
    scores: Mapping[str, Mapping[str, float | None]],
    summary: Summary,
    effort: Effort | None,
    folder: Path,
    *,
    has_judge: bool,
) -> None:
    """The scores with their intervals, what could not be scored, the cost, and the folder."""
    out = console()
    table = Figures.of("score", "all", "95% interval", "ego")
    for name, value in scores["all"].items():
        is_count = name in ("total", "correct_exact", "correct", "miss", "hallucination")
        metric = METRICS.get(name)
        metric_summary = None if metric is None else summary.metrics[metric.base]
        between = interval(metric_summary.interval) if metric_summary else ""
        table.add(name, _shown(value, is_count), between, _shown(scores["ego"][name], is_count))
    out.print(table)
    total, failed = summary.n_rows, sum(summary.metrics["accuracy"].n_not_scored.values())
    if failed and summary.accuracy_bounds is not None:
        low, high = summary.accuracy_bounds
        out.sentence(
            f"not scored: {failed:,} of {total:,} turns; accuracy is between {number(low)} (all of them wrong) and "
            f"{number(high)} (all right)",
            "bold red",
        )
        print_lines(cause_lines(summary.causes or {}, summary.unreadable))
    if summary.judge_check is not None:
        print_lines([check_line(summary.judge_check)])
    if not has_judge and summary.cascade is None:
        out.print("no judge: an answer is correct only where it matches exactly", soft_wrap=True)
    elif effort is not None and summary.usage is not None:
        print_lines(effort_lines(summary.usage, effort))
    if summary.cascade is not None:
        out.sentence(decided_by(summary.judged_by or {}))
        print_lines(cascade_lines(summary.cascade))
    print_lines(one_wording_lines(summary.n_without_second_wording or 0))
    for warning in summary.judge_warnings or ():
        out.sentence(warning, "red")
    if summary.flip_rate is not None and summary.flip_rate is not UNSET:
        flip_interval = None if summary.flip_rate_interval is UNSET else summary.flip_rate_interval
        out.print(flip_rate_line(summary.flip_rate, flip_interval, summary.n_judged_repeatedly or 0), soft_wrap=True)
    conversations = summary.n_conversations or 0
    out.print(printable(f"turns: {total:,} of {conversations:,} conversations, in {folder}/"), soft_wrap=True)


def generated(result: Mapping[str, Any]) -> None:
    """How many turns were answered, and why the others were not."""
    out = console()
    effort = result["effort"]
    out.print(
        f"turns: {result['turns']:,}, answered: {result['answered']:,} ({effort['from_journal']:,} of them earlier), "
        f"shortened: {result['shortened']:,}",
        soft_wrap=True,
    )
    print_lines(cause_lines(result["causes"]))
    out.print(printable(f"written: {result['output']}"), soft_wrap=True)


def _shown(value: float | None, is_count: bool) -> str:
    return number(int(value)) if is_count and value is not None else number(value)
