"""What a person sees who labels: a row in frames, the keys, and in the end what was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import ROUNDED
from rich.panel import Panel
from rich.text import Text

from ragmeter.analysis.people.labels import CORRECT, SKIPPED, WRONG, Sheet
from ragmeter.show.numbers import number
from ragmeter.show.terminal.console import console
from ragmeter.show.texts import printable, shortened

_KEYS = "c correct   w wrong   s skip   b back   x contexts   q quit"
#: A retrieved text is shown by its beginning, an answer whole.
_LONGEST_CONTEXT = 2_000
_LONGEST_QID = 41


def show_sheet(sheet: Sheet, *, begun: bool) -> None:
    """A file that is to be filled in elsewhere: how much is done, or is to be done, and where it is."""
    out = console()
    done, total = sum(bool(row["label"]) for row in sheet.rows), len(sheet.rows)
    labelled = f"there already, labelled: {done:,} of {total:,} rows"
    out.sentence(labelled if begun else f"to be labelled: {total:,} rows, in the column `label`")
    out.sentence(f"{'kept' if begun else 'written'}: {sheet.path}")


class Screen:
    """Shows rows of a sheet. `columns` are the run's texts and scores for them, `metrics` the scores to be shown."""

    def __init__(
        self, sheet: Sheet, columns: Mapping[str, Sequence[Any]], metrics: Sequence[str], *, contexts: bool
    ) -> None:
        self._sheet = sheet
        self._columns = columns
        self._metrics = metrics
        self._contexts = contexts
        self._out = console()

    def keys(self) -> None:
        """What may be pressed."""
        self._out.print(_KEYS, style="dim")

    def label(self, label: str) -> None:
        """What was pressed."""
        self._out.print(label, style="bold")

    def row(self, place: int) -> None:
        """A row: its question, reference and answer, and what else was asked for."""
        done = sum(bool(row["label"]) for row in self._sheet.rows)
        row = self._sheet.rows[place]
        now = f", now {row['label']}" if row["label"] else ""
        qid = shortened(row["qid"], _LONGEST_QID)
        self._out.print()
        self._out.rule(Text(printable(f"{done:,} of {len(self._sheet.rows):,} done; qid {qid}{now}")))
        self._panel("question", self._columns["question"][place])
        references: Sequence[str] | None = self._columns["reference"][place]
        self._panel("reference", "\n".join(references) if references else None)
        self._panel("answer", self._columns["answer"][place])
        if self._contexts:
            self.contexts(place)
        if self._metrics:
            self._out.sentence(", ".join(f"{name} {number(self._columns[name][place])}" for name in self._metrics))

    def contexts(self, place: int) -> None:
        """What was retrieved for a row."""
        contexts: list[str] = self._columns["contexts"][place] or []
        for rank, text in enumerate(contexts, 1):
            cut = text if len(text) <= _LONGEST_CONTEXT else text[:_LONGEST_CONTEXT] + " …"
            self._panel(f"context {rank} of {len(contexts)}", cut)
        if not contexts:
            self._out.print("the run holds no contexts of this row")

    def farewell(self) -> None:
        """How many labels of each kind there are, and where."""
        labels = [row["label"] for row in self._sheet.rows]
        left = labels.count("")
        counts = {"correct": labels.count(CORRECT), "wrong": labels.count(WRONG), "skipped": labels.count(SKIPPED)}
        self._out.print()
        self._out.sentence(", ".join(f"{kind}: {count:,}" for kind, count in {**counts, "left": left}.items()))
        self._out.sentence(f"written: {self._sheet.path}")
        if left:
            self._out.print("run the same command again to go on")

    def _panel(self, title: str, text: Any) -> None:
        """A text in a frame of its own, which nothing in it can leave."""
        shown = Text("(none)", style="dim") if text is None else Text(printable(str(text)))
        self._out.print(Panel(shown, title=title, title_align="left", box=ROUNDED))
