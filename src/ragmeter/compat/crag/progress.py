"""How far an evaluation is: for a function of the user's, and as a bar for whoever watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragmeter.compat.crag.dataset_utils import records
from ragmeter.show.progress import Advance, progress_bar

#: Called with how many are done, and how many there are.
ProgressCallback = Callable[[int, int], None]


@contextmanager
def tracking(what: str, unit: str, total: int, callback: ProgressCallback | None, *, shown: bool) -> Iterator[Advance]:
    """A function to be called with each number of things that are done; `shown` draws a bar."""
    done = 0
    with progress_bar(shown, what, unit, total) as draw:

        def advance(count: int) -> None:
            nonlocal done
            done += count
            draw(count)
            if callback is not None:
                callback(done, total)

        yield advance


def count_conversations(dataset: Any, limit: int | None) -> int:
    """How many conversations of the dataset will be taken."""
    in_memory = isinstance(dataset, Sized) and not isinstance(dataset, str | Path)
    size = len(dataset) if in_memory else sum(1 for _ in records(dataset))
    return size if limit is None else min(limit, size)
