"""Standard output for people: as wide as the terminal; nothing is cropped, and no number is split over lines."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

from rich.console import Console

from ragmeter.show.terminal.tables import wrapped
from ragmeter.wording.texts import printable

#: The width of texts in a pipe, and the smallest width of a terminal.
_IN_A_PIPE, _NARROWEST = 80, 20


def console() -> _Console:
    """Standard output, as wide as the terminal, or as COLUMNS says.

    In a pipe texts are wrapped at 80 columns unless COLUMNS says otherwise; tables are complete, and sentences are
    whole lines, whatever it says.
    """
    person = sys.stdout.isatty()
    given = os.environ.get("COLUMNS", "")
    is_known = person or (given.isdecimal() and int(given) > 0)
    return _Console(person, shutil.get_terminal_size().columns if is_known else _IN_A_PIPE)


class _Console(Console):
    def __init__(self, person: bool, width: int) -> None:
        lines = shutil.get_terminal_size().lines  # rich assumes 80 columns for a plain terminal unless both are given
        super().__init__(width=max(_NARROWEST, width), height=lines, highlight=False, markup=False, emoji=False)
        self.whole_tables = not person

    def print(self, *objects: Any, **settings: Any) -> None:
        """Print, and crop nothing.

        With `soft_wrap`, a text is one line in a pipe. In a terminal it is broken between words, so that no number is
        split; a word that is too long, such as a path, is wrapped by the terminal.
        """
        indent = settings.pop("indent", "")
        if settings.get("soft_wrap") and not self.whole_tables:
            objects = tuple(wrapped(item, self.width, indent) if isinstance(item, str) else item for item in objects)
        super().print(*objects, **{"crop": False, **settings})

    def sentence(self, text: str, style: str = "", indent: str = "") -> None:
        """Print a sentence that may contain texts from data; in a terminal, its further lines are indented."""
        self.print(printable(text), style=style, soft_wrap=True, indent=indent)

    def on_broken_pipe(self) -> None:
        """Leave it to main(), which exits with 0."""
        raise BrokenPipeError
