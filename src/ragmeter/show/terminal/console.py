"""Standard output for a person: as wide as the terminal, with nothing cropped and no number torn apart."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from rich.console import Console

from ragmeter.show.progress import progress_bar
from ragmeter.show.terminal.tables import wrapped
from ragmeter.show.texts import printable

#: The width of texts in a pipe, and the least that is taken for a terminal's width.
_IN_A_PIPE, _NARROWEST = 80, 20


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


def progress(what: str, unit: str = "rows", total: int | None = None) -> AbstractContextManager[Callable[[int], None]]:
    """A counter on standard error while work goes on, if a person is there to see it."""
    return progress_bar(True, what, unit, total)
