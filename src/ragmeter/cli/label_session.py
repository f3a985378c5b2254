"""Labelling in the terminal: show a row, read a key, save the label."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ragmeter.analysis.people.claim_items import claim_key, claims_of_run, places_of
from ragmeter.analysis.people.labels import CORRECT, SKIPPED, WRONG
from ragmeter.analysis.people.sheets import Sheet
from ragmeter.analysis.people.verdicts import read_columns
from ragmeter.effects.process.signals import exit_code
from ragmeter.runs.run import Run
from ragmeter.show.terminal.labelling import Screen

_LABELS = {"c": CORRECT, "y": CORRECT, "1": CORRECT, "w": WRONG, "n": WRONG, "0": WRONG, "s": SKIPPED}
_BACK, _QUIT, _CONTEXTS = ("b", "\x7f", "\x08"), ("q", "\x03", "\x04", ""), "x"
#: The codes that arrow keys send: several characters, and one of them may be a C.
_SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]?|O.?|.?)")


class Session:
    """One person labels one file. `read_key` returns the next key, or an empty text at the end of the input."""

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
        # Texts come from the run: in the file, a spreadsheet or the formula guard may have changed them.
        places = places_of(read_columns(run, ["qid"])["qid"], [row["qid"] for row in sheet.rows])
        names = ["question", "reference", "answer", "contexts", *metrics]
        columns = read_columns(run, names, [places[row["qid"]] for row in sheet.rows])
        shown: tuple[str, ...] = ("question", "reference", "answer")
        if sheet.of_claims:
            claims = claims_of_run(run, sheet.rows[0]["metric"])
            keys = [claim_key(row["qid"], int(float(row["claim"]))) for row in sheet.rows]
            of_claims = places_of(claims.keys, keys)
            columns["claim"] = [claims.texts[of_claims[key]] for key in keys]
            shown, contexts = ("question", "claim"), claims.source == "contexts"
            shown += () if contexts else (claims.source,)
        unit = shown[-1] if not sheet.of_claims else "claim"
        sheet.check_texts(unit, columns[unit])
        self._screen = Screen(sheet, columns, metrics, shown=shown, contexts=contexts)

    def run(self) -> int:
        """Ask until all rows are labelled, or until the person quits."""
        code = 0
        try:
            with unbuffered_input():
                self._label()
        except KeyboardInterrupt as stop:  # every label is saved
            code = exit_code(stop)
        self._screen.farewell()
        return code

    def _label(self) -> None:
        place = self._next(-1)
        while place is not None:
            self._screen.row(place)
            key = self._ask(place)
            if key in _QUIT:
                return
            if key in _BACK:
                place = max(0, place - 1)
                continue
            if self._sheet.record(place, _LABELS[key], self._rater):
                self._screen.label(_LABELS[key])
                place = self._next(place)
            else:
                self._screen.labelled_elsewhere()  # and the row is shown again, with that label

    def _next(self, after: int) -> int | None:
        """The next row without a label, from the beginning if there is none further on."""
        unlabelled = [place for place, row in enumerate(self._sheet.rows) if not row["label"]]
        return next((place for place in unlabelled if place > after), unlabelled[0] if unlabelled else None)

    def _ask(self, place: int) -> str:
        """Read keys until one has a meaning here."""
        self._screen.keys()
        while True:
            key = self._read_key().lower()
            if key == _CONTEXTS:
                self._screen.contexts(place)
                self._screen.keys()
            elif key in _LABELS or key in _BACK or key in _QUIT:
                return key


class Keys:
    """Keys as they are pressed, without waiting for the end of a line."""

    def __init__(self) -> None:
        self._waiting: list[str] = []

    def __call__(self) -> str:
        """The next key; an empty text at the end of the input."""
        while not self._waiting:
            characters = _read_characters()
            if not characters:
                return ""
            self._waiting.extend(_SEQUENCE.sub("", characters))
        return self._waiting.pop(0)


def _read_characters() -> str:
    """The characters of one key press, or of keys that were pressed earlier."""
    if sys.platform == "win32":
        import msvcrt

        first = msvcrt.getwch()
        return f"\x1bO{msvcrt.getwch()}" if first in ("\x00", "\xe0") else first
    return os.read(sys.stdin.fileno(), 1024).decode("utf-8", "replace")


@contextmanager
def unbuffered_input() -> Iterator[None]:
    """Make the terminal pass on each key immediately, without echo."""
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
        with suppress(termios.error):  # the terminal was closed
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
