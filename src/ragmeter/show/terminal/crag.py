"""What a person sees of answered and judged conversations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragmeter.show.numbers import interval, number
from ragmeter.show.terminal import console, printable
from ragmeter.show.terminal.judging import cascade_lines, cause_lines, check_line, spent
from ragmeter.show.terminal.tables import Figures

#: Which of the summary's metrics has the interval of a score.
_INTERVALS = {
    "accuracy": "is_correct",
    "exact_match": "is_exact_match",
    "missing": "is_miss",
    "hallucination_rate": "is_hallucination",
    "mean_multi_turn_conversation_score": "multi_turn_conversation_score",
}


def judged(
    scores: Mapping[str, Mapping[str, float | None]],
    summary: Mapping[str, Any],
    effort: Mapping[str, Any],
    folder: Path,
    *,
    has_judge: bool,
) -> None:
    """The scores with their intervals, what could not be scored, what it cost, and where it is."""
    out = console()
    table = Figures.of("score", "all", "95% interval", "ego")
    for name, value in scores["all"].items():
        is_count = name in ("total", "correct_exact", "correct", "miss", "hallucination")
        found = summary["metrics"].get(_INTERVALS.get(name, ""))
        between = interval(found["interval"]) if found else ""
        table.add(name, _shown(value, is_count), between, _shown(scores["ego"][name], is_count))
    out.print(table)
    total, failed = summary["n_rows"], sum(summary["metrics"]["is_correct"]["n_not_scored"].values())
    if failed:
        low, high = summary["accuracy_bounds"]
        out.sentence(
            f"not scored: {failed:,} of {total:,} turns; accuracy is between {number(low)} (all of them wrong) and "
            f"{number(high)} (all right)",
            "bold red",
        )
        for line, style in cause_lines(summary["causes"]):
            out.sentence(line, style)
    if check := summary.get("check"):
        out.sentence(check_line(check))
    if not has_judge and "cascade" not in summary:
        out.print("no judge: an answer is correct only where it matches exactly", soft_wrap=True)
    elif has_judge and (effort["made"] or effort["from_journal"]):
        out.print(spent(summary["usage"], effort))
        if effort["parameters_the_server_refused"]:
            refused = ", ".join(effort["parameters_the_server_refused"])
            out.print(f"the server does not take {refused}: left out", style="red", soft_wrap=True)
    if "cascade" in summary:
        for line, style in cascade_lines(summary["cascade"], summary["judged_by"]):
            out.print(line, style=style, soft_wrap=True)
    if summary["flip_rate"] is not None:
        out.print(f"flip rate: {number(summary['flip_rate'])}, n = {summary['n_judged_repeatedly']:,}", soft_wrap=True)
    out.print(
        printable(f"turns: {total:,} of {summary['n_conversations']:,} conversations, in {folder}/"), soft_wrap=True
    )


def generated(result: Mapping[str, Any]) -> None:
    """How many turns were answered, and why the others were not."""
    out = console()
    effort = result["effort"]
    out.print(
        f"turns: {result['turns']:,}, answered: {result['answered']:,} ({effort['from_journal']:,} of them earlier), "
        f"shortened: {result['shortened']:,}",
        soft_wrap=True,
    )
    for line, style in cause_lines(result["causes"]):
        out.sentence(line, style)
    out.print(printable(f"written: {result['output']}"), soft_wrap=True)


def _shown(value: float | None, is_count: bool) -> str:
    return number(int(value)) if is_count and value is not None else number(value)
