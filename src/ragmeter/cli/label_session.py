"""Labelling in the terminal: a row on the screen, a key, and the label is on the disk."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ragmeter.analysis.people.labels import CORRECT, SKIPPED, WRONG, Sheet, answer_hash
from ragmeter.analysis.people.matching import places_of
from ragmeter.analysis.people.verdicts import read_columns
from ragmeter.errors import InputError
from ragmeter.runs.run import Run
from ragmeter.show.terminal.labelling import Screen

_LABELS = {"c": CORRECT, "y": CORRECT, "1": CORRECT, "w": WRONG, "n": WRONG, "0": WRONG, "s": SKIPPED}
_BACK, _QUIT, _CONTEXTS = ("b", "\x7f", "\x08"), ("q", "\x03", "\x04", ""), "x"
#: What arrows and the like send: several characters, and one of them may be a C.
_SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]?|O.?|.?)")


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
        self._read_key = read_key or Keys()
        metrics = run.row_metrics if scores else []
        # Texts come from the run: in the file a spreadsheet, or a guard against formulas, may have changed them.
        places = places_of(read_columns(run, ["qid"])["qid"])
        names = ["question", "reference", "answer", "contexts", *metrics]
        columns = read_columns(run, names, [places[row["qid"]] for row in sheet.rows])
        for answer, row in zip(columns["answer"], sheet.rows, strict=True):
            if row.get("answer_hash") not in (None, "", answer_hash(answer)):
                raise InputError(
                    f"the answer to qid {row['qid']!r} has changed since the file was written",
                    file=str(sheet.path),
                    hint="begin a new file with --output",
                )
        self._screen = Screen(sheet, columns, metrics, contexts=contexts)

    def run(self) -> int:
        """Ask until all is labelled, or until the person has had enough."""
        code = 0
        try:
            with _key_by_key():
                self._label()
        except KeyboardInterrupt:  # every label is on the disk
            code = 130
        self._screen.farewell()
        return code

    def _label(self) -> None:
        at = self._next(-1)
        while at is not None:
            self._screen.row(at)
            pressed = self._ask(at)
            if pressed in _QUIT:
                return
            if pressed in _BACK:
                at = max(0, at - 1)
                continue
            self._sheet.record(at, _LABELS[pressed], self._rater)
            self._screen.label(_LABELS[pressed])
            at = self._next(at)

    def _next(self, after: int) -> int | None:
        """The next row without a label, from the beginning if there is none further on."""
        left = [place for place, row in enumerate(self._sheet.rows) if not row["label"]]
        return next((place for place in left if place > after), left[0] if left else None)

    def _ask(self, place: int) -> str:
        """A key that means something here."""
        self._screen.keys()
        while True:
            pressed = self._read_key().lower()
            if pressed == _CONTEXTS:
                self._screen.contexts(place)
                self._screen.keys()
            elif pressed in _LABELS or pressed in _BACK or pressed in _QUIT:
                return pressed


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
