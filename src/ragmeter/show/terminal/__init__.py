"""What a person sees: tables that fit the terminal, and a progress bar that keeps out of pipes."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from ragmeter.compat.objects import EvaluationResult
from ragmeter.show.numbers import interval, number, scored
from ragmeter.show.progress import progress_bar
from ragmeter.show.report.words import failures
from ragmeter.show.terminal.tables import Column, Figures, wrapped
from ragmeter.stats.confidence import percent
from ragmeter.stats.intervals import SMALL

if TYPE_CHECKING:
    from ragmeter.analysis.slicing import Slice
    from ragmeter.engine.evaluation import Evaluation
    from ragmeter.targets.asking import Asked

#: Control characters, and those that turn the direction of the text that follows.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
#: The width of texts in a pipe, and the least that is taken for a terminal's width.
_IN_A_PIPE, _NARROWEST = 80, 20
ARROWS = {"higher": "↑", "lower": "↓", "none": " "}


def console() -> _Console:
    """Standard output: as wide as the terminal. In a pipe texts are wrapped at 80 columns, and tables are whole."""
    person = sys.stdout.isatty()
    return _Console(person, shutil.get_terminal_size().columns if person else _IN_A_PIPE)


class _Console(Console):
    def __init__(self, person: bool, width: int) -> None:
        lines = shutil.get_terminal_size().lines  # rich takes a plain terminal for 80 columns unless it has both
        super().__init__(width=max(_NARROWEST, width), height=lines, highlight=False, markup=False, emoji=False)
        self.whole_tables = not person

    def print(self, *objects: Any, **settings: Any) -> None:
        """Print, and crop nothing.

        With `soft_wrap`, a text is one line in a pipe. In a terminal it is broken between words, so that no number is
        torn apart; a word that is too long, a path for one, is left to the terminal.
        """
        if settings.get("soft_wrap") and not self.whole_tables:
            objects = tuple(wrapped(item, self.width) if isinstance(item, str) else item for item in objects)
        super().print(*objects, **{"crop": False, **settings})

    def sentence(self, text: str, style: str = "") -> None:
        """Print a sentence that may hold anybody's words."""
        self.print(printable(text), style=style, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Leave it to main(), which exits with 0."""
        raise BrokenPipeError


def printable(text: str) -> str:
    """The text without what would steer a terminal."""
    return _CONTROL.sub("\ufffd", text)


def progress(what: str, unit: str = "rows", total: int | None = None) -> AbstractContextManager[Callable[[int], None]]:
    """A counter on standard error while work goes on, if a person is there to see it."""
    return progress_bar(True, what, unit, total)


def summary_table(metrics: Mapping[str, Mapping[str, Any]]) -> Figures:
    """Each metric's mean with its interval, its median, and how many rows it was scored on."""
    level = next((each.get("level", 0.95) for each in metrics.values()), 0.95)
    table = Figures(
        [
            Column("metric", figures=False),
            Column("mean"),
            Column(f"{percent(level)} interval"),
            Column("median", optional=True),
            Column("n"),
        ]
    )
    for name, each in metrics.items():
        style = "" if each["n_scored"] == each["n_total"] else "bold red"
        table.add(
            titled(name, each["direction"]),
            number(each["mean"]),
            interval(each["interval"]),
            number(each["median"]),
            Text(scored(each["n_scored"], each["n_total"]), style=style),
        )
    return table


def slice_table(column: str, slices: Sequence[Slice]) -> Figures:
    """Each metric's mean in each slice, and how many rows it was scored on; few are too few for much trust."""
    level = next((each.level for part in slices for each in part.metrics.values()), 0.95)
    table = Figures(
        [
            Column(printable(column), figures=False),
            Column("metric", figures=False),
            Column("mean"),
            Column(f"{percent(level)} interval"),
            Column("n"),
        ]
    )
    for part in slices:
        for name, each in part.metrics.items():
            few = " (few)" if each.n_scored < SMALL else ""
            table.add(
                printable(part.value),
                printable(name),
                number(each.mean),
                interval(each.interval),
                f"{each.n_scored:,}{few}",
            )
    return table


def titled(name: str, direction: str) -> str:
    """A metric's name with its arrow."""
    return f"{printable(name)} {ARROWS[direction]}".rstrip()


def numbers(found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """A line for each of the table's own numbers."""
    return [
        f"{name}: median {number(each['p50'])}, p95 {number(each['p95'])}, p99 {number(each['p99'])}, n = {each['n']:,}"
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
    if asked.causes():
        out.print("the same command with --retry-failed asks again for these alone", soft_wrap=True)
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
        f"questions: {len(asked.replies):,} ({effort['from_journal']:,} answered before); "
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


def evaluation_table(result: EvaluationResult) -> Figures:
    """An evaluator's aggregated figures."""
    title = f"{printable(result.evaluator_name)}, n = {result.aggregated()['sample_count']:,}"
    table = Figures([Column("metric", figures=False), Column("value")], title)
    for name, value in result.metrics.items():
        figure = value is None or isinstance(value, int | float)
        table.add(printable(name), number(value) if figure else printable(str(value)))
    for cause, count in result.not_scored.items():
        table.add(Text(printable(f"not scored: {cause}"), style="bold red"), Text(f"{count:,}", style="bold red"))
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
