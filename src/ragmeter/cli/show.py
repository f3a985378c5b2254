"""What a person sees: tables that fit 80 columns, and a progress bar that keeps out of pipes."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ragmeter.evaluators.objects import EvaluationResult
from ragmeter.progress import progress_bar
from ragmeter.reporting.words import failures
from ragmeter.stats.confidence import percent
from ragmeter.stats.intervals import SMALL, within

if TYPE_CHECKING:
    from ragmeter.api import Evaluation
    from ragmeter.slicing import Slice
    from ragmeter.targets.asking import Asked

#: Control characters, and those that turn the direction of the text that follows.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ARROWS = {"higher": "↑", "lower": "↓", "none": " "}


def console() -> Console:
    """Standard output, at least 80 columns wide: a narrower table would lose its n."""
    width = max(80, shutil.get_terminal_size().columns) if sys.stdout.isatty() else 80
    return _Console(width=width, highlight=False, markup=False, emoji=False)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command, which ends in peace when its reader has had enough."""
        raise BrokenPipeError


def printable(text: str) -> str:
    """The text without what would steer a terminal."""
    return _CONTROL.sub("\ufffd", text)


def progress(what: str, unit: str = "rows", total: int | None = None) -> AbstractContextManager[Callable[[int], None]]:
    """A counter on standard error while work goes on, if a person is there to see it."""
    return progress_bar(True, what, unit, total)


def summary_table(metrics: Mapping[str, Mapping[str, Any]]) -> Table:
    """Each metric's mean with its interval, its median, and how many rows it was scored on."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("metric", overflow="fold", min_width=20)
    level = next((each.get("level", 0.95) for each in metrics.values()), 0.95)
    for title in ("mean", f"{percent(level)} interval", "median", "n"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, each in metrics.items():
        scored, total = each["n_scored"], each["n_total"]
        table.add_row(
            Text(titled(name, each["direction"])),
            figure(each["mean"]),
            interval(within(each["interval"], each["range"])),
            figure(each["median"]),
            Text(f"{scored:,}") if scored == total else Text(f"{scored:,} of {total:,}", style="bold red"),
        )
    return table


def slice_table(column: str, slices: Sequence[Slice]) -> Table:
    """Each metric's mean in each slice; a star where too few rows were scored for much trust."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column(printable(column), overflow="fold")
    table.add_column("metric", overflow="fold")
    level = next((each.level for one in slices for each in one.metrics.values()), 0.95)
    for title in ("mean", f"{percent(level)} interval", "n"):
        table.add_column(title, justify="right", no_wrap=True)
    for one in slices:
        value = printable(one.value)
        for name, each in one.metrics.items():
            star = "*" if each.n_scored < SMALL else ""
            shown = interval(within(each.interval, each.range))
            table.add_row(Text(value), Text(name), figure(each.mean), shown, f"{each.n_scored:,}{star}")
            value = ""
    return table


def titled(name: str, direction: str, longest: int = 26) -> str:
    """A metric's name with its arrow; a long name is broken where its settings begin."""
    base, bracket, settings = name.partition("[")
    whole = f"{base} {ARROWS[direction]}"
    return f"{whole}\n  [{settings}" if bracket and len(name) > longest else f"{name} {ARROWS[direction]}"


def numbers(found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """A line for each of the table's own numbers."""
    return [
        f"{name}: median {each['p50']:,.0f}, p95 {each['p95']:,.0f}, p99 {each['p99']:,.0f}, n = {each['n']:,}"
        for name, each in found.items()
    ]


def asked(evaluation: Evaluation, asked: Asked, never: Sequence[str], output: Path | None) -> None:
    """The scores of a live system, how it was reached, and what it could not answer."""
    out = console()
    summary = evaluation.summary
    out.print(summary_table(summary["metrics"]))
    for line in numbers(summary["numbers"]):
        out.print(line, soft_wrap=True)
    for cause, count in list(asked.causes().items())[:5]:
        out.print(printable(f"not answered: {count:,} {cause}"), style="red", soft_wrap=True)
    for line in (*causes(summary["metrics"]), *truncated(evaluation.embeddings)):
        out.print(line, style="red", soft_wrap=True)
    for path in never:
        out.print(printable(f"no reply had {path}"), style="red", soft_wrap=True)
    if needs_retrieved(summary["metrics"]) and not asked.says_what_was_retrieved():
        out.print("no answer says what was retrieved (retrieved or events): that counts as nothing", style="red")
    effort, usage = asked.effort, asked.usage
    again = f", {effort['retried']:,} of them again" if effort["retried"] else ""
    cost = f"; cost: ${usage['cost_usd']:,.4f}" if usage.get("prompt_tokens") and usage["cost_usd"] is not None else ""
    out.print(
        f"questions: {len(asked.found):,} ({effort['from_journal']:,} answered before); "
        f"calls made now: {effort['made']:,}{again}{cost}",
        soft_wrap=True,
    )
    if output is not None:
        out.print(printable(f"written: {output}"), soft_wrap=True)
    if evaluation.folder is not None:
        out.print(printable(f"rows: {summary['n_rows']:,}, in {evaluation.folder.path}/"), soft_wrap=True)


def needs_retrieved(metrics: Iterable[str]) -> bool:
    """Whether one of the metrics counts what was retrieved, and takes an answer that does not say for one without."""
    return any(name.startswith(("response_coverage_rate", "satisfaction_score")) for name in metrics)


def evaluation_table(result: EvaluationResult) -> Table:
    """An evaluator's aggregated figures."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1), title_justify="left")
    table.title = Text(f"{printable(result.evaluator_name)}, n = {result.aggregated()['sample_count']:,}", style="bold")
    table.add_column("metric")
    table.add_column("value", justify="right")
    for name, value in result.metrics.items():
        table.add_row(
            Text(printable(name)),
            figure(value) if value is None or isinstance(value, int | float) else Text(printable(str(value))),
        )
    for cause, count in result.not_scored.items():
        table.add_row(Text(f"not scored: {cause}", style="bold red"), Text(f"{count:,}", style="bold red"))
    return table


def causes(metrics: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line for each reason why rows were not scored, with the metrics that it concerns."""
    return [
        printable(
            f"not scored, {each['cause']}: {each['count']:,} "
            f"({'all metrics' if each['all'] else ', '.join(each['metrics'])})"
        )
        for each in failures(metrics)
    ]


def unmatched(join: Mapping[str, Any]) -> list[str]:
    """A line for each side of a join that has rows without a partner, with their first ids."""
    said = []
    for side, what in (
        ("results_only", "results without a reference"),
        ("reference_only", "references without a result"),
    ):
        found = join.get(side, {"count": 0})
        if found["count"]:
            more = ", …" if found["count"] > len(found["qids"][:5]) else ""
            said.append(printable(f"{what}: {found['count']:,} (qid {', '.join(found['qids'][:5])}{more})"))
    return said


def truncated(embeddings: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each embedding model that got texts longer than it takes."""
    return [
        printable(
            f"compared by their beginning alone, too long for {each['model']}: "
            f"{each['truncated']:,} of {each['texts']:,} distinct texts"
        )
        for each in embeddings
        if each["truncated"]
    ]


def figure(value: float | None) -> str:
    """A number for reading. Counts have no point; the rest has four places below 10 and one above."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:,.1f}"


def interval(bounds: Sequence[float] | None) -> str:
    """An interval, with the precision of the mean."""
    return "–" if bounds is None else f"{figure(bounds[0])} – {figure(bounds[1])}"
