"""How far an evaluation is: for a function of the user's, and as a bar for whoever watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sized
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ragmeter.evaluators.crag.dataset_utils import records

#: Called with how many are done, and how many there are.
ProgressCallback = Callable[[int, int], None]
Advance = Callable[[int], None]


@contextmanager
def tracking(what: str, unit: str, total: int, callback: ProgressCallback | None, *, shown: bool) -> Iterator[Advance]:
    """A function to be called with each number of things that are done; `shown` draws a bar on a terminal."""
    done = 0
    with ExitStack() as stack:
        draw = stack.enter_context(_bar(what, unit, total)) if shown else None

        def advance(count: int) -> None:
            nonlocal done
            done += count
            if draw is not None:
                draw(count)
            if callback is not None:
                callback(done, total)

        yield advance


def count_conversations(dataset: Any, limit: int | None) -> int:
    """How many conversations of the dataset will be taken."""
    in_memory = isinstance(dataset, Sized) and not isinstance(dataset, str | Path)
    size = len(dataset) if in_memory else sum(1 for _ in records(dataset))
    return size if limit is None else min(limit, size)


@contextmanager
def _bar(what: str, unit: str, total: int) -> Iterator[Advance | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    counts = TextColumn(f"{{task.completed:,.0f}} of {total:,} {unit}")
    columns = TextColumn("{task.description}"), BarColumn(bar_width=20), counts, TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda count: bar.advance(task, count)
