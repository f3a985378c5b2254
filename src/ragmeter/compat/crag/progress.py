"""Reports the progress of an evaluation: to a function of the user's, and as a bar on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragmeter.compat.crag.dataset_utils import records
from ragmeter.show.progress import Advance, progress_bar

#: Called with (number done, total).
ProgressCallback = Callable[[int, int], None]


@contextmanager
def tracking(
    title: str, unit: str, total: int, callback: ProgressCallback | None, *, show_bar: bool
) -> Iterator[Advance]:
    """A function to call with the number of units that were just finished."""
    done = 0
    with progress_bar(show_bar, title, unit, total) as draw:

        def advance(count: int) -> None:
            nonlocal done
            done += count
            draw(count)
            if callback is not None:
                callback(done, total)

        yield advance


def count_conversations(dataset: Any, limit: int | None) -> int:
    """The number of conversations of the dataset that are used."""
    in_memory = isinstance(dataset, Sized) and not isinstance(dataset, str | Path)
    size = len(dataset) if in_memory else sum(1 for _ in records(dataset))
    return size if limit is None else min(limit, size)
