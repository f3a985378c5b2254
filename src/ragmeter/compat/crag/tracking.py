"""Progress of answering and judging, for a bar and for a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ragmeter.io.progress import Advance, Title, progress_bar

#: Called with (number done, total).
ProgressCallback = Callable[[int, int], None]


@contextmanager
def tracking(
    title: Title, unit: str, total: int, callback: ProgressCallback | None, *, show_bar: bool
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
