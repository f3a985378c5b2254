"""Shows answered and judged conversations on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragmeter.compat.crag.evaluation import COUNTS, METRICS
from ragmeter.compat.crag.evaluator import Report
from ragmeter.show.terminal import console, printable
from ragmeter.show.terminal.judging import print_lines
from ragmeter.show.terminal.tables import Figures
from ragmeter.wording.judging import cascade_lines, cause_lines, decided_by, judge_causes, judge_lines
from ragmeter.wording.numbers import interval, number


def judged(scores: Mapping[str, Mapping[str, float | None]], report: Report, folder: Path) -> None:
    """The scores with their intervals, what could not be scored, the cost, and the folder."""
    out = console()
    evaluation, summary = report.judged.evaluation, report.summary
    table = Figures.of("score", "all", "95% interval", "ego")
    for name, value in scores["all"].items():
        between = interval(summary["metrics"][METRICS[name].base]["interval"]) if name in METRICS else ""
        table.add(name, _shown(name, value), between, _shown(name, scores["ego"][name]))
    out.print(table)
    total, failed = evaluation.summary.n_rows, sum(report.judged.not_scored().values())
    if failed:
        low, high = summary["accuracy_bounds"]
        out.sentence(
            f"no score: {failed:,} of {total:,} turns; accuracy is between {number(low)} (all of them wrong) and "
            f"{number(high)} (all right)",
            "bold red",
        )
        by_judge = judge_causes(evaluation.summary)
        print_lines(cause_lines({cause: n for cause, n in summary["causes"].items() if cause not in by_judge}))
    if report.judged.cascade is not None:
        out.sentence(decided_by(summary["judged_by"]))
        print_lines(cascade_lines(report.judged.cascade))
    elif evaluation.judging is None:
        out.print("no judge: an answer is correct only where it matches exactly", soft_wrap=True)
    print_lines(judge_lines(evaluation.summary, evaluation.manifest, evaluation.judging))
    conversations = summary["n_conversations"]
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


def _shown(name: str, value: float | None) -> str:
    return number(int(value)) if name in COUNTS and value is not None else number(value)
