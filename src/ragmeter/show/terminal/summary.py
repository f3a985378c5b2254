"""Shows the scores of a run: tables of means, and lines about what could not be scored, joined or asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from rich.text import Text

from ragmeter import registry
from ragmeter.documents.manifest import EmbeddingUse, Manifest
from ragmeter.documents.metrics import MetricSummary, Percentiles
from ragmeter.documents.summary import Join, Summary
from ragmeter.hints import for_command_line
from ragmeter.io.write import RUNS
from ragmeter.runs.catalogue import comparable_run
from ragmeter.show.terminal.answer_causes import show_causes
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.table import NOTHING_FAILED, SKIPPED_BUDGET
from ragmeter.wording.causes import answers_sentence, cause_name, failures, first_ids
from ragmeter.wording.ids import id_lines, never_match_lines
from ragmeter.wording.limits import limit_lines
from ragmeter.wording.metrics import FEW, headline, headline_sentence, median, result_unit, titled
from ragmeter.wording.metrics import cautions as cautions_of
from ragmeter.wording.numbers import MISSING, money, number, percent, scored, three_digits
from ragmeter.wording.texts import printable

if TYPE_CHECKING:
    from ragmeter.analysis.slices import RunSummary, Slice
    from ragmeter.compat.objects import EvaluationResult
    from ragmeter.engine.results import Evaluation
    from ragmeter.runs.run import Run
    from ragmeter.targets.replies import Replies


#: What `ragmeter app` needs.
_APP = ("duckdb", "starlette", "uvicorn")


def show_headline(metrics: Mapping[str, MetricSummary], manifest: Manifest, of_run: Summary | None = None) -> None:
    """The result in a sentence; before it how many answers the run has, where some are missing or empty."""
    unit = result_unit(manifest)
    if of_run is not None and (answers := answers_sentence(of_run.answers, of_run.n_rows, unit)):
        console().sentence(answers, "bold red")
    declined = 0 if of_run is None else of_run.rightly_declined
    console().sentence(headline_sentence(metrics, unit, declined), "bold")


def show_place(run: Run, n_rows: int, note: str = "") -> None:
    """Where the run is, and the commands for what people do next."""
    console().print(f"rows: {n_rows:,}, in {run.location}/{note}", soft_wrap=True)
    name, folder = run.location.name, run.location.parent
    there = "" if folder == Path(RUNS) else f" --output-dir {quote(str(folder))}"
    other = comparable_run(run.location) if isinstance(run.location, Path) else None
    first = f"report {quote(name)}" if other is None else f"compare {quote(other)} {quote(name)}"
    app = f", `ragmeter app{there}`" if all(map(find_spec, _APP)) else ""
    console().sentence(f"next: `ragmeter {first}{there}`{app}", "dim")


def show_summary(summary: RunSummary, cautions: Sequence[str] = ()) -> None:
    """A run's metrics on all rows and by slices, with cautions."""
    out = console()
    metrics = summary.metrics
    out.print(summary_table(metrics))
    for column in dict.fromkeys(part.column for part in summary.slices):
        out.print(slice_table(column, [part for part in summary.slices if part.column == column]))
    for line in cautions:
        out.sentence(line, "red")
    show_not_scored(metrics)
    for line in cautions_of(metrics):
        out.sentence(line)
    if any(part.small for part in summary.slices):
        out.sentence(FEW)
    cluster = f", clustered by {summary.statistics.cluster}" if summary.statistics.cluster else ""
    out.sentence(f"rows: {summary.n_rows:,}{cluster}")


def summary_table(metrics: Mapping[str, MetricSummary]) -> Figures:
    """Each metric's mean with its interval, its median (not of zeros and ones), and its number of scored rows."""
    level = next((summary.level for summary in metrics.values()), 0.95)
    with_median = not all(summary.binary for summary in metrics.values())
    titles = ["metric", "mean", f"{percent(level)} interval", *["median"] * with_median, "n"]
    table = Figures.of(*titles, optional=["median"])
    for name, summary in metrics.items():
        style = _counted_style(summary)
        mean, between = headline(summary)
        table.add(
            printable(titled(name, summary.direction)),
            mean,
            between or MISSING,
            *[median(summary)] * with_median,
            Text(scored(summary.n_scored, summary.n_total), style=style),
        )
    return table


def _counted_style(summary: MetricSummary) -> str:
    """Red where rows failed to get a score, amber where they have none and nothing failed."""
    if not any(summary.n_not_scored.values()):
        return ""
    return "bold yellow" if NOTHING_FAILED.issuperset(summary.n_not_scored) else "bold red"


def slice_table(column: str, slices: Sequence[Slice]) -> Figures:
    """Each metric's mean in each slice, and its number of scored rows, marked `few` if they are too few."""
    level = next((summary.level for part in slices for summary in part.metrics.values()), 0.95)
    table = Figures.of(printable(column), "metric", "mean", f"{percent(level)} interval", "n", names=2)
    for part in slices:
        for name, summary in part.metrics.items():
            few = " (few)" if summary.is_few else ""
            mean, between = headline(summary)
            figures = mean, between or MISSING, f"{summary.n_scored:,}{few}"
            table.add(printable(part.value), printable(name), *figures)
    return table


def percentiles(columns: Mapping[str, Percentiles]) -> list[str]:
    """A line for each column of numbers in the table, such as latency."""
    return [
        f"{name}: median {three_digits(of.p50)}, p95 {three_digits(of.p95)}, p99 {three_digits(of.p99)}, n = {of.n:,}"
        for name, of in columns.items()
    ]


def asked(evaluation: Evaluation, replies: Replies, output: Path | None) -> None:
    """The scores of a live system, its calls, and the questions that it could not answer."""
    out = console()
    summary = evaluation.summary
    for line in never_match_lines(summary):
        out.sentence(for_command_line(line), "red")
    show_headline(summary.metrics, evaluation.manifest, summary)
    show_causes(summary.cause)
    out.print(summary_table(summary.metrics))
    lines = (
        *map(for_command_line, id_lines(summary)),
        *cautions_of(summary.metrics),
        *percentiles(summary.numbers),
    )
    for line in lines:
        out.sentence(line)
    not_answered = replies.causes(for_command_line)
    for cause, count in list(not_answered.items())[:5]:
        out.sentence(f"not answered: {count:,} {cause}", "red")
    if not_answered:
        outcomes = replies.outcomes()
        out.sentence(asks_again(outcomes.total(), outcomes[SKIPPED_BUDGET], ["--max-calls", "--budget"]))
    show_not_scored(summary.metrics)
    for line in truncated(evaluation.embeddings):
        out.sentence(line, "red")
    if needs_retrieved(summary.metrics) and not replies.says_what_was_retrieved():
        is_address = (evaluation.manifest.target or {}).get("kind") == "http"
        where = "" if is_address else " (retrieved or events)"
        out.sentence(f"no answer says what was retrieved{where}: that counts as nothing", "red")
        if is_address:
            out.sentence("--retrieved-path says where it is in the reply, for example 'events[*].id'", "red")
    for line in limit_lines(summary):
        out.sentence(line, "red")
    effort, usage = replies.effort, replies.usage
    repeated = f", {effort.retried:,} of them again" if effort.retried else ""
    cost = f"; cost: {money(usage.cost_usd)}" if usage.prompt_tokens and usage.cost_usd is not None else ""
    out.sentence(
        f"questions: {len(replies.in_order):,} ({effort.from_journal:,} answered before); "
        f"calls made now: {effort.made:,}{repeated}{cost}"
    )
    if output is not None:
        out.sentence(f"written: {output}")


def asks_again(failed: int, skipped: int, limits: Sequence[str], *, retries: bool = True) -> str:
    """How to ask again for those that failed; `skipped` of them were not asked, as one of these `limits` was reached.

    `retries`: the command has --retry-failed. Of one that has not, nothing is said but that of the limit.
    """
    higher = f"a higher limit ({', '.join(limits)})" if limits else "a higher limit"
    if not retries:
        return f"the same command with {higher} goes on" if skipped else ""
    if skipped and skipped >= failed:
        return f"the same command with --retry-failed and {higher} goes on with these alone"
    again = "the same command with --retry-failed asks again for these alone"
    were = "1 was skipped, and needs" if skipped == 1 else f"{skipped:,} were skipped, and need"
    return f"{again}; {were} {higher}" if skipped else again


def needs_retrieved(metrics: Iterable[str]) -> bool:
    """Whether one of the metrics counts retrieved documents, and treats an answer without that list as empty."""
    return any((metric := registry.declared(name)) is not None and "retrieved" in metric.optional for name in metrics)


def evaluation_table(result: EvaluationResult) -> Figures:
    """An evaluator's aggregated scores."""
    title = f"{printable(result.evaluator_name)}, n = {result.aggregated()['sample_count']:,}"
    table = Figures.of("metric", "value", title=title)
    for name, value in result.metrics.items():
        is_figure = value is None or isinstance(value, int | float)
        table.add(printable(name), number(value) if is_figure else printable(str(value)))
    for cause, count in result.not_scored.items():
        table.add(Text(printable(f"no score: {cause}"), style="bold red"), Text(f"{count:,}", style="bold red"))
    return table


def show_not_scored(metrics: Mapping[str, MetricSummary]) -> None:
    """A line for each cause of rows without a score, with its metrics; red where something failed."""
    for reason in failures(metrics):
        style = "yellow" if reason.cause in NOTHING_FAILED else "red"
        console().sentence(f"no score, {cause_name(reason.cause)}: {reason.count:,} ({reason.which_metrics})", style)


def unmatched(join: Join | None) -> list[str]:
    """A line for each side of a join that has rows without a partner, with their first ids."""
    if join is None:
        return []
    sides = {"results without a reference": join.results_only, "references without a result": join.reference_only}
    return [
        printable(f"{title}: {side.count:,} ({first_ids(side)})")
        for title, side in sides.items()
        if side and side.count
    ]


def truncated(embeddings: Sequence[EmbeddingUse]) -> list[str]:
    """A line for each embedding model that got texts which are too long for it."""
    return [
        printable(
            f"compared by their beginning alone, too long for {model.model}: "
            f"{model.truncated:,} of {model.texts:,} distinct texts"
        )
        for model in embeddings
        if model.truncated
    ]
