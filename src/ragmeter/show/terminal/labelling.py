"""The screen for labelling: a row in frames, the keys, and at the end the counts of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import ROUNDED
from rich.panel import Panel
from rich.text import Text

from ragmeter.analysis.people.labels import CORRECT, SKIPPED, WRONG
from ragmeter.analysis.people.sheets import Sheet
from ragmeter.show.terminal.console import console
from ragmeter.wording.numbers import number
from ragmeter.wording.texts import printable, shortened

_KEYS = "c correct   w wrong   s skip   b back   x contexts   q quit"
_KEYS_OF_CLAIMS = "y supported   n unsupported   s skip   b back   x contexts   q quit"
#: A retrieved text is shown by its beginning, an answer whole.
_LONGEST_CONTEXT = 2_000
_LONGEST_QID = 41


def show_sheet(sheet: Sheet, *, begun: bool) -> None:
    """A file to be filled in with another program: how many rows are labelled, and its path."""
    out = console()
    done, total = sum(bool(row["label"]) for row in sheet.rows), len(sheet.rows)
    units = "claims" if sheet.of_claims else "rows"
    labelled = f"there already, labelled: {done:,} of {total:,} {units}"
    out.sentence(labelled if begun else f"to be labelled: {total:,} {units}, in the column `label`")
    out.sentence(f"{'kept' if begun else 'written'}: {sheet.path}")


class Screen:
    """Shows rows of a sheet. `columns` are the run's texts and scores for them, `metrics` the scores to be shown.

    `shown` are the columns of texts, in their order.
    """

    def __init__(
        self,
        sheet: Sheet,
        columns: Mapping[str, Sequence[Any]],
        metrics: Sequence[str],
        *,
        shown: Sequence[str] = ("question", "reference", "answer"),
        contexts: bool,
    ) -> None:
        self._shown = shown
        self._sheet = sheet
        self._columns = columns
        self._metrics = metrics
        self._contexts = contexts
        self._out = console()

    def keys(self) -> None:
        """The keys."""
        self._out.print(_KEYS_OF_CLAIMS if self._sheet.of_claims else _KEYS, style="dim")

    def label(self, label: str) -> None:
        """The label that was given."""
        self._out.print(self._sheet.word(label), style="bold")

    def labelled_elsewhere(self) -> None:
        """Why a label was not saved."""
        self._out.print("not saved: this row was labelled in another window meanwhile", style="bold")

    def row(self, place: int) -> None:
        """A row: its question, reference and answer, and optionally contexts and scores."""
        done = sum(bool(row["label"]) for row in self._sheet.rows)
        row = self._sheet.rows[place]
        current_label = f", now {self._sheet.word(row['label'])}" if row["label"] else ""
        qid = shortened(row["qid"], _LONGEST_QID)
        self._out.print()
        self._out.rule(Text(printable(f"{done:,} of {len(self._sheet.rows):,} done; qid {qid}{current_label}")))
        for name in self._shown:
            text = self._columns[name][place]
            self._panel(name, "\n".join(text) or None if isinstance(text, list) else text)
        if self._contexts:
            self.contexts(place)
        if self._metrics:
            self._out.sentence(", ".join(f"{name} {number(self._columns[name][place])}" for name in self._metrics))

    def contexts(self, place: int) -> None:
        """The retrieved texts of a row."""
        contexts: list[str] = self._columns["contexts"][place] or []
        for rank, text in enumerate(contexts, 1):
            cut = text if len(text) <= _LONGEST_CONTEXT else text[:_LONGEST_CONTEXT] + " …"
            self._panel(f"context {rank} of {len(contexts)}", cut)
        if not contexts:
            self._out.print("the run holds no contexts of this row")

    def farewell(self) -> None:
        """The number of labels of each kind, and the file."""
        labels = [row["label"] for row in self._sheet.rows]
        n_left = labels.count("")
        counts = {self._sheet.word(label): labels.count(label) for label in (CORRECT, WRONG)}
        counts["skipped"] = labels.count(SKIPPED)
        self._out.print()
        self._out.sentence(", ".join(f"{kind}: {count:,}" for kind, count in {**counts, "left": n_left}.items()))
        self._out.sentence(f"written: {self._sheet.path}")
        if n_left:
            self._out.print("run the same command again to go on")

    def _panel(self, title: str, text: Any) -> None:
        """A text in a frame, escaped so that it can't break out."""
        content = Text("(none)", style="dim") if text is None else Text(printable(str(text)))
        self._out.print(Panel(content, title=title, title_align="left", box=ROUNDED))
