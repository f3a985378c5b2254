"""Tables of figures that fit the terminal, without cutting a number.

A table that is too wide first gets narrower gaps, then broken names, then leaves out its optional columns and says
which; if that is not enough, each row becomes a few lines. A pipe gets the whole table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

#: The smallest width of a column of names, unless its names are shorter.
_NARROWEST_NAME = 12
#: The gap between two columns, wide or narrow; and the width of the table's edges.
_WIDE, _CLOSE, _EDGES = 3, 2, 2
#: So many characters for each cell of a line are looked at: more than fit, but for characters of no width.
_NARROW = 4
#: Where a name may be broken: before its settings, and after a space or punctuation; but never inside a number.
_BREAKS = re.compile(r"(?=\[)|(?<=\s)(?=\S)|(?<=[,/_=@:-])(?![\s\d])")


@dataclass(frozen=True)
class Column:
    """A column of names or prose, which may be broken, or of figures, which may not. `optional`: may be left out.

    A line break in the title is used only in terminals.
    """

    title: str
    figures: bool = True
    optional: bool = False


@dataclass(frozen=True)
class Figures:
    """A table whose first column, or first columns, name the figures of a row."""

    columns: Sequence[Column]
    title: str = ""
    rows: list[list[Text]] = field(default_factory=list)

    @classmethod
    def of(cls, *titles: str, names: int = 1, optional: Sequence[str] = (), title: str = "") -> Figures:
        """A table with `names` columns of names, and then columns of figures."""
        return cls([Column(text, place >= names, text in optional) for place, text in enumerate(titles)], title)

    def add(self, *cells: str | Text) -> None:
        """Add a row: a cell for each column."""
        if len(cells) != len(self.columns):
            raise ValueError(f"{len(cells)} cells for {len(self.columns)} columns")
        self.rows.append([cell if isinstance(cell, Text) else Text(cell) for cell in cells])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        whole_tables = getattr(console, "whole_tables", False)
        yield from self.laid_out(None if whole_tables else options.max_width)

    def fits(self, room: int | None) -> bool:
        """Whether the whole table, with no name broken, fits a width of `room` characters."""
        return room is None or sum(self._natural()) + _EDGES + _CLOSE * (len(self.columns) - 1) <= room

    def laid_out(self, room: int | None) -> Iterator[Table | Text | Padding]:
        """The table in a width of `room` characters; None: any width."""
        if self.title:
            yield Text(self.title, style="bold")
        optional = [column for column in self.columns if column.optional]
        for left_out in range(len(optional) + 1):
            dropped = optional[len(optional) - left_out :]
            table = self._without(dropped, flat=room is None)
            gap, widths = table._widths(room)
            if widths:
                yield table._table(widths, gap)
                if dropped:
                    names = ", ".join(_flat(column.title) for column in dropped)
                    yield Text(f"no room for: {names} (a wider terminal, a pipe and --json have it)", style="dim")
                return
        yield from self._stacked()

    def _without(self, dropped: Sequence[Column], *, flat: bool) -> Figures:
        """The table without some columns; `flat`: with titles of one line."""
        places = [place for place, column in enumerate(self.columns) if column not in dropped]
        columns = [self.columns[place] for place in places]
        if flat:
            columns = [replace(column, title=_flat(column.title)) for column in columns]
        return replace(self, columns=columns, rows=[[row[place] for place in places] for row in self.rows])

    def _natural(self) -> list[int]:
        """The columns' widths with nothing broken."""
        return [
            max([_width(column.title), *(cell_len(row[place].plain) for row in self.rows)])
            for place, column in enumerate(self.columns)
        ]

    def _widths(self, room: int | None) -> tuple[int, list[int]]:
        """The gap and the columns' widths; no widths if the table does not fit."""
        natural = self._natural()
        for gap in (_WIDE, _CLOSE):
            if room is None or _EDGES + sum(natural) + gap * (len(natural) - 1) <= room:
                return gap, natural
        assert room is not None  # noqa: S101 - without a limit everything fits
        least = [
            max(_longest_word(column.title), *(cell_len(row[place].plain) for row in self.rows), 1)
            if column.figures
            else min(natural[place], _NARROWEST_NAME)
            for place, column in enumerate(self.columns)
        ]
        spare = room - _EDGES - sum(least) - _CLOSE * (len(least) - 1)
        if spare < 0:
            return _CLOSE, []
        for _ in range(spare):  # first to names, and always to the narrowest column that needs more
            wanting = [place for place, full in enumerate(natural) if full > least[place]]
            if wanting:
                least[min(wanting, key=lambda place: (self.columns[place].figures, least[place]))] += 1
        return _CLOSE, least

    def _table(self, widths: Sequence[int], gap: int) -> Table:
        padding = (0, 1) if gap == _WIDE else (0, 1, 0, 0)
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=padding)
        table.width = _EDGES + sum(widths) + gap * (len(widths) - 1)
        for column, width in zip(self.columns, widths, strict=True):
            right = column.figures
            table.add_column(column.title, width=width, justify="right" if right else "left", no_wrap=right)
            table.columns[-1].header = Text(broken(column.title, width, indent=""), no_wrap=False)
        above: list[Text] = []
        for row in self.rows:
            cells = [
                cell if column.figures else Text(broken(cell.plain, width), style=cell.style)
                for cell, column, width in zip(row, self.columns, widths, strict=True)
            ]
            if above and len(row) > 1 and not self.columns[1].figures and row[0].plain == above[0].plain:
                cells[0] = Text("")  # the same name again
            table.add_row(*cells)
            above = row
        return table

    def _stacked(self) -> Iterator[Text | Padding]:
        """A few lines for each row, with nothing left out."""
        names = 2 if len(self.columns) > 2 and not self.columns[1].figures else 1
        yield Text("")
        for row in self.rows:
            yield Text(", ".join(cell.plain for cell in row[:names]), style="bold", overflow="fold")
            for column, cell in zip(self.columns[names:], row[names:], strict=True):
                if cell.plain:
                    title = Text(f"{_flat(column.title)}: ")
                    yield Padding(title.append_text(cell), (0, 0, 0, 2), expand=False)
        yield Text("")


def broken(text: str, width: int, indent: str = "  ") -> str:
    """A name on lines of at most this width, broken at punctuation if possible; further lines are indented."""
    lines: list[str] = []
    for line in text.split("\n"):
        if not _is_wider(line, width):
            lines.append(line.rstrip())
            continue
        current = ""
        for piece in _BREAKS.split(line):
            if current.strip() and _is_wider(current + piece[: _NARROW * width], width):
                lines.append(current.rstrip())
                current = indent
            begin = 0
            while len(part := piece[begin : begin + _NARROW * width]) > 1 and _is_wider(current + part, width):
                fits = max(1, len(set_cell_size(part, max(1, width - cell_len(current))).rstrip()))
                lines.append(current + part[:fits])
                current, begin = indent, begin + fits
            current += piece[begin:]
        lines.append(current.rstrip())
    return "\n".join(lines)


def _is_wider(text: str, width: int) -> bool:
    return cell_len(text.rstrip()) > width


def wrapped(text: str, width: int, indent: str = "") -> str:
    """A text on lines of at most this width, broken only between words: a longer word has its own line.

    Further lines are indented.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        current = ""
        for word in re.findall(r"\s*\S+", line):
            if current.strip() and cell_len(current + word) > width:
                lines.append(current)
                current = indent + word.lstrip()
            else:
                current += word
        lines.append(current)
    return "\n".join(lines)


def _flat(title: str) -> str:
    return title.replace("\n", "")


def _width(text: str) -> int:
    return max(cell_len(line) for line in text.split("\n"))


def _longest_word(text: str) -> int:
    return max((cell_len(word) for word in text.split()), default=0)
