"""`report()`: writes a page, and optionally figures, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.errors import InputError, UsageError
from ragmeter.hints import by_caller, option
from ragmeter.io.write import RUNS, replacing
from ragmeter.runs.comparisons import KeptComparison, kept_comparison
from ragmeter.runs.inputs import check_no_input
from ragmeter.runs.layout import MANIFEST, ROWS, SUMMARY
from ragmeter.runs.lookup import ManyRuns, RunLike, check_distinct, find_runs
from ragmeter.runs.places import hold_for
from ragmeter.runs.run import Run
from ragmeter.show.latex import latex_table
from ragmeter.show.markdown import runs_as_markdown
from ragmeter.show.report import AUDIENCES, ENGINEER, MAX_ROWS, page
from ragmeter.wording.comparison import kept_sentence, outdated_sentence

if TYPE_CHECKING:
    from ragmeter.analysis.comparing import Comparison

#: Endings that promise something else than a page.
_OTHER_ENDINGS = (
    ".csv", ".docx", ".json", ".jsonl", ".markdown", ".md", ".parquet", ".pdf", ".png", ".svg", ".tex", ".tsv", ".txt",
    ".xlsx", ".xml",
)  # fmt: skip


@dataclass(frozen=True)
class Report:
    """The files that were written: the page, and the other files that were requested.

    `rows` is the number of the runs' rows, `rows_shown` the number of rows on the page.
    """

    page: Path
    files: tuple[Path, ...]
    rows: int
    rows_shown: int


def report(
    runs: RunLike | ManyRuns,
    output: str | Path = "report.html",
    *,
    output_dir: str | Path = RUNS,
    title: str | None = None,
    max_rows: int = MAX_ROWS,
    figures: str | Path | None = None,
    markdown: str | Path | None = None,
    latex: str | Path | None = None,
    audience: str = ENGINEER,
) -> Report:
    """Write a page that shows a run, or several for comparison.

    Args:
        runs: one run or several, each what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
        output: the page's file.
        output_dir: the folder of runs.
        title: the page's title; by default made of the runs' names.
        max_rows: the most rows that the page shows of all runs together; if there are more, it says which are left out.
        figures: a folder for PNG and SVG files.
        markdown: a file for the figures as Markdown.
        latex: a file for the figures as LaTeX.
        audience: "engineer", or "owner" for a page that stops before the appendix.
    """
    if audience not in AUDIENCES:
        raise UsageError(f"{by_caller('--for', 'audience')} must be {' or '.join(AUDIENCES)}, got {audience!r}")
    if max_rows < 1:
        raise UsageError(f"max_rows must be at least 1, got {max_rows}")
    places = [Path(file) for file in (output, markdown, latex) if file is not None]
    for place, path in enumerate(places):
        _check(path, places[:place])
    _check_ending(Path(output))
    loaded = load_runs(runs, output_dir)
    check_no_input(places, loaded, "choose another name")
    if is_test_set(loaded[0]):
        return _of_test_set(loaded[0], Path(output), title, max_rows, others=places[1:] or figures)
    comparison, kept, why_not = comparison_to_show(loaded)
    rendered = page.render(
        loaded, title=title, max_rows=max_rows, comparison=comparison, kept=kept, not_compared=why_not,
        with_appendix=audience == ENGINEER,
    )  # fmt: skip
    texts = {Path(output): rendered.html}
    if markdown is not None:
        texts[Path(markdown)] = runs_as_markdown(loaded, comparison, kept)
    if latex is not None:
        texts[Path(latex)] = latex_table(loaded, comparison)
    drawn: list[Path] = []
    if figures is not None:
        from ragmeter.show.report.plots import write_figures

        drawn = write_figures(loaded, Path(figures))
    with ExitStack() as stack:
        for file in sorted(texts):  # in the same order as others
            stack.enter_context(hold_for(file, "writes a report"))
        temporary = stack.enter_context(replacing(*texts, private=True))
        for file, text in zip(temporary, texts.values(), strict=True):
            file.write_text(text, encoding="utf-8", newline="\n")
    total = sum(run.n_rows for run in loaded)
    return Report(Path(output), (*list(texts)[1:], *drawn), total, rendered.rows)


def is_test_set(run: Run) -> bool:
    """Whether a run is the questions that `ragmeter questions` made, and nobody has answered."""
    return not run.metrics() and run.summary().test_set is not None


def _of_test_set(run: Run, output: Path, title: str | None, max_rows: int, *, others: object) -> Report:
    """The page of a test set, which has no figures of a system."""
    from ragmeter.show.report.test_set_page import render_test_set

    if others:
        raise UsageError(
            f"{run.name} is a test set, which has no figures", hint="its page has its card and its questions"
        )
    rendered = render_test_set(run, title=title, max_rows=max_rows)
    with hold_for(output, "writes a report"), replacing(output, private=True) as (temporary,):
        temporary.write_text(rendered.html, encoding="utf-8", newline="\n")
    return Report(output, (), run.n_rows, rendered.rows)


def load_runs(runs: RunLike | ManyRuns, output_dir: str | Path = RUNS) -> list[Run]:
    """The runs in the given order, with all of their columns, because the page needs most of them."""
    loaded = find_runs(runs, output_dir)
    if not loaded:
        raise UsageError("no run was named", hint=f"a run is a folder, or the name of one in {output_dir}/")
    check_distinct(loaded)
    for run in loaded:
        if not run.metrics() and not (len(loaded) == 1 and is_test_set(run)):
            raise InputError("the run has no metrics", file=str(run.location))
        run.rows()
    return loaded


def comparison_to_show(runs: Sequence[Run]) -> tuple[Comparison | None, str, str]:
    """The comparison of the runs and what is said of it, or why there is none; neither for a single run.

    If a comparison of these runs was kept, its settings are used.
    """
    if len(runs) < 2:
        return None, "", ""
    from ragmeter.analysis.comparing import compare

    kept = kept_comparison(runs)
    try:
        comparison = compare(runs, **(kept.settings.as_dict() if kept is not None and kept.current else {}))
    except UsageError as error:
        return None, "", error.message
    return comparison, _about_kept(kept, comparison.test_made), ""


def _about_kept(kept: KeptComparison | None, test: str) -> str:
    """Says that the comparison is the one that was kept, or why it is not."""
    if kept is None:
        return ""
    if not kept.current:
        return outdated_sentence(kept.created)
    return kept_sentence(kept.created, kept.settings, test)


def _check_ending(page: Path) -> None:
    """Refuse a page under the name of another format: it would be HTML all the same."""
    ending = page.suffix.lower()
    if ending in _OTHER_ENDINGS:
        texts = (
            f"{option('markdown')} writes Markdown, {option('latex')} a LaTeX table, {option('figures')} PNG and SVG"
        )
        raise UsageError(f"{page}: the page is HTML, and {ending} is not", hint=f"name it report.html; {texts}")


def _check(path: Path, other_paths: Iterable[Path]) -> None:
    """Refuse a path that is a folder, is used twice, or would replace a file of a run."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder", hint="name a file, for example report.html")
    if path in other_paths:
        raise UsageError(f"two files can't both be {path}")
    if path.name in (MANIFEST, ROWS, SUMMARY) and (path.parent / MANIFEST).exists():
        raise UsageError(f"{path} is a file of the run, which it would replace", hint="choose another name")
