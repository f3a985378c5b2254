"""Labelling in the terminal: a row on the screen, a key, and the label is on the disk."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.box import ROUNDED
from rich.panel import Panel
from rich.text import Text

from ragmeter.analysis.people.labels import CORRECT, SKIPPED, WRONG, Sheet, answer_hash
from ragmeter.analysis.people.matching import places_of
from ragmeter.analysis.people.verdicts import read_columns
from ragmeter.errors import InputError
from ragmeter.runs.run import Run
from ragmeter.show.numbers import number
from ragmeter.show.terminal import console, printable

_LABELS = {"c": CORRECT, "y": CORRECT, "1": CORRECT, "w": WRONG, "n": WRONG, "0": WRONG, "s": SKIPPED}
_BACK, _QUIT, _CONTEXTS = ("b", "\x7f", "\x08"), ("q", "\x03", "\x04", ""), "x"
#: What arrows and the like send: several characters, and one of them may be a C.
_SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]?|O.?|.?)")
_KEYS = "c correct   w wrong   s skip   b back   x contexts   q quit"
#: A retrieved text is shown by its beginning, an answer whole.
_LONGEST_CONTEXT = 2_000


class Session:
    """One person at one file. `read_key` gives the next key; what ends the input is an empty text."""

    def __init__(
        self,
        run: Run,
        sheet: Sheet,
        rater: str,
        *,
        contexts: bool = False,
        scores: bool = False,
        read_key: Callable[[], str] | None = None,
    ) -> None:
        self._sheet = sheet
        self._rater = rater
        self._contexts = contexts
        self._read_key = read_key or Keys()
        self._metrics = run.row_metrics if scores else []
        # Texts come from the run: in the file a spreadsheet, or a guard against formulas, may have changed them.
        places = places_of(read_columns(run, ["qid"])["qid"])
        names = ["question", "reference", "answer", "contexts", *self._metrics]
        self._columns = read_columns(run, names, [places[row["qid"]] for row in sheet.rows])
        for answer, row in zip(self._columns["answer"], sheet.rows, strict=True):
            if row.get("answer_hash") not in (None, "", answer_hash(answer)):
                raise InputError(
                    f"the answer to qid {row['qid']!r} has changed since the file was written",
                    file=str(sheet.path),
                    hint="begin a new file with --output",
                )
        self._out = console()

    def run(self) -> int:
        """Ask until all is labelled, or until the person has had enough."""
        code = 0
        try:
            with _key_by_key():
                self._label()
        except KeyboardInterrupt:  # every label is on the disk
            code = 130
        self._farewell()
        return code

    def _label(self) -> None:
        at = self._next(-1)
        while at is not None:
            self._show(at)
            pressed = self._ask(at)
            if pressed in _QUIT:
                return
            if pressed in _BACK:
                at = max(0, at - 1)
                continue
            self._sheet.record(at, _LABELS[pressed], self._rater)
            self._out.print(_LABELS[pressed], style="bold")
            at = self._next(at)

    def _next(self, after: int) -> int | None:
        """The next row without a label, from the beginning if there is none further on."""
        left = [place for place, row in enumerate(self._sheet.rows) if not row["label"]]
        return next((place for place in left if place > after), left[0] if left else None)

    def _ask(self, place: int) -> str:
        """A key that means something here."""
        self._out.print(_KEYS, style="dim")
        while True:
            pressed = self._read_key().lower()
            if pressed == _CONTEXTS:
                self._show_contexts(place)
                self._out.print(_KEYS, style="dim")
            elif pressed in _LABELS or pressed in _BACK or pressed in _QUIT:
                return pressed

    def _show(self, place: int) -> None:
        done = sum(bool(row["label"]) for row in self._sheet.rows)
        row = self._sheet.rows[place]
        now = f", now {row['label']}" if row["label"] else ""
        self._out.print()
        self._out.rule(Text(printable(f"{done:,} of {len(self._sheet.rows):,} done; qid {_short(row['qid'])}{now}")))
        self._panel("question", self._columns["question"][place])
        references: Sequence[str] | None = self._columns["reference"][place]
        self._panel("reference", "\n".join(references) if references else None)
        self._panel("answer", self._columns["answer"][place])
        if self._contexts:
            self._show_contexts(place)
        if self._metrics:
            held = ((name, self._columns[name][place]) for name in self._metrics)
            said = [f"{name} {number(value)}" for name, value in held]
            self._out.print(printable(", ".join(said)), soft_wrap=True)

    def _show_contexts(self, place: int) -> None:
        contexts: list[str] = self._columns["contexts"][place] or []
        for place_in_list, each in enumerate(contexts, 1):
            cut = each if len(each) <= _LONGEST_CONTEXT else each[:_LONGEST_CONTEXT] + " …"
            self._panel(f"context {place_in_list} of {len(contexts)}", cut)
        if not contexts:
            self._out.print("the run holds no contexts of this row")

    def _panel(self, title: str, text: Any) -> None:
        """A text in a frame of its own, which nothing in it can leave."""
        shown = Text("(none)", style="dim") if text is None else Text(printable(str(text)))
        self._out.print(Panel(shown, title=title, title_align="left", box=ROUNDED))

    def _farewell(self) -> None:
        given = [row["label"] for row in self._sheet.rows]
        left = given.count("")
        self._out.print()
        self._out.print(
            f"correct: {given.count(CORRECT):,}, wrong: {given.count(WRONG):,}, skipped: {given.count(SKIPPED):,}, "
            f"left: {left:,}",
            soft_wrap=True,
        )
        self._out.print(printable(f"written: {self._sheet.path}"), soft_wrap=True)
        if left:
            self._out.print("run the same command again to go on")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else line[:40] + "…"


class Keys:
    """Keys as they are pressed, without waiting for the end of a line."""

    def __init__(self) -> None:
        self._waiting: list[str] = []

    def __call__(self) -> str:
        """The next one; an empty text when there are no more."""
        while not self._waiting:
            pressed = _pressed()
            if not pressed:
                return ""
            self._waiting.extend(_SEQUENCE.sub("", pressed))
        return self._waiting.pop(0)


def _pressed() -> str:
    """What one press of a key sends, or what was typed ahead."""
    if sys.platform == "win32":
        import msvcrt

        first = msvcrt.getwch()
        return f"\x1bO{msvcrt.getwch()}" if first in ("\x00", "\xe0") else first
    return os.read(sys.stdin.fileno(), 1024).decode("utf-8", "replace")


@contextmanager
def _key_by_key() -> Iterator[None]:
    """Have the terminal hand over each key at once, and show none of them."""
    if sys.platform == "win32" or not sys.stdin.isatty():
        yield
        return
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSADRAIN)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
