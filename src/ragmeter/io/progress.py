"""Shows progress: a bar in a notebook, a bar in a terminal, and nothing in a pipe or a log. And notices.

    with progress_bar(progress, "scoring", total=1000) as advance:
        for batch in batches:
            ...
            advance(len(batch))

A notebook's bar is plain HTML that is shown once and then updated, so it needs no widgets.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from html import escape
from threading import Lock
from typing import Any

from ragmeter.errors import UsageError
from ragmeter.wording.texts import visible

Advance = Callable[[int], None]
#: What is being done, or a function that says it at any time.
Title = str | Callable[[], str]
#: Show a bar, show nothing, or call this function with the number of items that were just finished.
Progress = bool | Advance | None

#: Seconds between two updates of a notebook's bar: each one is a message to the browser.
_PAUSE = 0.2
#: In a terminal that has fewer columns, the bar is shorter and the time so far is left out.
_WIDE = 100


def show_notice(text: str) -> None:
    """Print a notice on standard error, if anybody reads it. Control characters in what it quotes are shown as text."""
    with suppress(OSError):
        print(visible(text), file=sys.stderr, flush=True)


@contextmanager
def progress_bar(
    progress: Progress, title: Title, unit: str = "rows", total: int | None = None
) -> Iterator[Callable[[int], None]]:
    """A function to call with the number of items that were just finished, from any thread.

    `progress` is True for a bar, a function to be called in its place, or False or None for neither. A `title` that
    changes is a function. Without `total` the bar only counts. Outside of notebooks and terminals no bar is shown.
    """
    if isinstance(title, str):
        title = partial(str, title)
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise UsageError(
            f"progress can't be {progress!r}", hint="give True, False, or a function that is called with a count"
        )
    if not isinstance(progress, bool) and progress is not None:
        yield progress
    elif not progress:
        yield _ignore
    elif _in_notebook():
        with _notebook_bar(title, unit, total) as advance:
            yield advance
    elif sys.stderr is not None and sys.stderr.isatty():
        with _terminal_bar(title, unit, total) as advance:
            yield advance
    else:
        yield _ignore


@contextmanager
def parts_bar(progress: Progress, parts: int, dashboard: str = "") -> Iterator[Advance]:
    """A bar over the parts of an evaluation: to be called with the rows of each part that is done.

    In a terminal it shows rows, rate, the time that is left, and the address of a page with more.
    """
    in_terminal = progress is True and not _in_notebook() and sys.stderr is not None and sys.stderr.isatty()
    if not in_terminal:
        with progress_bar(progress, f"scoring {parts:,} parts") as advance:
            yield advance
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("scoring"),
        BarColumn(bar_width=20),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} parts, {task.fields[rows]:,} rows{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn(dashboard),
        console=Console(stderr=True, force_jupyter=False),
        transient=True,
    )
    begun, rows = time.monotonic(), 0
    with bar:
        task = bar.add_task("", total=parts, rows=0, rate="")

        def advance_part(count: int) -> None:
            nonlocal rows
            rows += count
            seconds = max(time.monotonic() - begun, 1e-9)
            bar.update(task, advance=1, rows=rows, rate=f", {rows / seconds:,.0f} a second")

        yield advance_part


def both(first: Advance, second: Advance) -> Advance:
    """One function that tells two."""

    def advance(count: int) -> None:
        first(count)
        second(count)

    return advance


def _ignore(count: int) -> None:
    """Show nothing."""


def _in_notebook() -> bool:
    """Whether a Jupyter kernel runs this; IPython in a terminal has none."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class _Title:
    """A title that is asked for whenever the bar is drawn."""

    def __init__(self, title: Callable[[], str]) -> None:
        self._title = title

    def __rich__(self) -> Any:
        from rich.text import Text

        return Text(self._title(), no_wrap=True, overflow="ellipsis")


@contextmanager
def _terminal_bar(title: Callable[[], str], unit: str, total: int | None) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, RenderableColumn, SpinnerColumn, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed
    from rich.progress import TimeRemainingColumn as Left

    console = Console(stderr=True, force_jupyter=False)
    is_narrow = console.width < _WIDE
    times = [
        *([] if is_narrow and total is not None else [Elapsed()]),
        *([] if total is None else [Left(), TextColumn("left")]),
    ]
    bar = Progress(
        SpinnerColumn(),
        RenderableColumn(_Title(title)),
        BarColumn(bar_width=10 if is_narrow else 20),
        TextColumn("{task.completed:,.0f} " + ("" if total is None else f"of {total:,} ") + unit),
        *times,
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=total)
        yield lambda count: bar.advance(task, count)


@contextmanager
def _notebook_bar(title: Callable[[], str], unit: str, total: int | None) -> Iterator[Advance]:
    bar = _NotebookBar(title, unit, total)
    try:
        yield bar.advance
    except BaseException:
        bar.end("stopped")
        raise
    bar.end("done")


class _NotebookBar:
    """An output of a notebook's cell that is updated."""

    def __init__(self, title: Callable[[], str], unit: str, total: int | None) -> None:
        from IPython.display import display

        self._title, self._unit, self._total = title, unit, total
        self._done = 0
        self._begun = self._updated = time.monotonic()
        self._lock = Lock()
        self._handle: Any = display(self._content(), raw=True, display_id=True)

    def advance(self, count: int) -> None:
        """Count finished items, and update the bar if the last update is long enough ago."""
        with self._lock:
            self._done += count
            now = time.monotonic()
            if now - self._updated >= _PAUSE:
                self._updated = now
                self._handle.update(self._content(), raw=True)

    def end(self, ending: str) -> None:
        """Replace the bar by a line with the count and the time."""
        with self._lock:
            self._handle.update(self._content(ending), raw=True)

    def _content(self, ending: str = "") -> dict[str, str]:
        total = "" if self._total is None else f" of {max(self._total, self._done):,}"
        counted = f"{self._done:,}{total} {self._unit}, {time.monotonic() - self._begun:.1f} s"
        text = f"{self._title()}{f' {ending}' if ending else ''}: {counted}"
        bar = "" if ending else f"<progress {self._filled()}style='vertical-align: middle'></progress> "
        return {"text/plain": text, "text/html": f"<div>{bar}{escape(text)}</div>"}

    def _filled(self) -> str:
        """How far the bar is; without a total it only moves."""
        return "" if self._total is None else f"value='{self._done}' max='{max(self._total, self._done, 1)}' "
