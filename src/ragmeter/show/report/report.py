"""`report()`: a page, and what else was asked for beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragmeter.errors import UsageError
from ragmeter.io.write import RUNS, replacing
from ragmeter.runs.comparisons import kept_comparison
from ragmeter.runs.files import MANIFEST, ROWS, SUMMARY
from ragmeter.runs.finding import RunLike
from ragmeter.runs.run import Run
from ragmeter.show.latex import latex_table
from ragmeter.show.markdown import runs_as_markdown
from ragmeter.show.report import MAX_ROWS, page
from ragmeter.show.report.loading import load_runs
from ragmeter.show.sentences.comparison import kept_sentence, outdated_sentence


@dataclass(frozen=True)
class Report:
    """What was written: the page, and beside it the other files that were asked for.

    `rows` says how many rows the runs have, `rows_shown` how many of them the page has.
    """

    page: Path
    files: tuple[Path, ...]
    rows: int
    rows_shown: int


def report(
    runs: RunLike | Iterable[RunLike],
    output: str | Path = "report.html",
    *,
    output_dir: str | Path = RUNS,
    title: str | None = None,
    max_rows: int = MAX_ROWS,
    figures: str | Path | None = None,
    markdown: str | Path | None = None,
    latex: str | Path | None = None,
) -> Report:
    """Write one page that shows a run, or several beside each other.

    A run is what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`. `figures` is a folder for PNG
    and SVG files, `markdown` and `latex` are files for the figures as text. The page has room for `max_rows` rows of
    all runs together; if they are more, it says which ones it leaves out.
    """
    if max_rows < 1:
        raise UsageError(f"max_rows must be at least 1, and is {max_rows}")
    places = [Path(each) for each in (output, markdown, latex) if each is not None]
    for place, path in enumerate(places):
        _check(path, places[:place])
    loaded = load_runs(runs, output_dir)
    comparison, why_not = _compared(loaded)
    made = page.render(loaded, title=title, max_rows=max_rows, comparison=comparison, not_compared=why_not)
    texts = {Path(output): made.html}
    if markdown is not None:
        texts[Path(markdown)] = runs_as_markdown(loaded, comparison)
    if latex is not None:
        texts[Path(latex)] = latex_table(loaded)
    drawn: list[Path] = []
    if figures is not None:
        from ragmeter.show.report.plots import write_figures

        drawn = write_figures(loaded, Path(figures))
    with replacing(*texts) as temporary:
        for each, text in zip(temporary, texts.values(), strict=True):
            each.write_text(text, encoding="utf-8", newline="\n")
    total = sum(run.n_rows for run in loaded)
    return Report(Path(output), (*list(texts)[1:], *drawn), total, made.rows)


def _compared(runs: Sequence[Run]) -> tuple[dict[str, Any] | None, str]:
    """How the runs differ, or why that can't be said; of one run alone, neither.

    A comparison that was kept of these runs is the one that is shown.
    """
    if len(runs) < 2:
        return None, ""
    from ragmeter.analysis.comparing import compare

    settings, about = _kept(runs)
    try:
        return {**compare(runs, **settings).as_dict(), "kept": about}, ""
    except UsageError as error:
        return None, error.message


def _kept(runs: Sequence[Run]) -> tuple[dict[str, Any], str]:
    """The settings of the comparison that was kept of these runs, if they are still the same, and what to say of it."""
    kept = kept_comparison(runs)
    if kept is None:
        return {}, ""
    if not kept.current:
        return {}, outdated_sentence(kept.created)
    settings = kept.settings
    return settings, kept_sentence(kept.created, settings["test"], settings["alpha"], settings["slices"])


def _check(path: Path, taken: Iterable[Path]) -> None:
    """Refuse a place that is a folder, that another file has, or that would damage a run."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder", hint="name a file, for example report.html")
    if path in taken:
        raise UsageError(f"two files can't both be {path}")
    if path.name in (MANIFEST, ROWS, SUMMARY) and (path.parent / MANIFEST).exists():
        raise UsageError(f"{path} is a file of the run, which it would replace", hint="choose another name")
