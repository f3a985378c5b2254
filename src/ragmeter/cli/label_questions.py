"""`ragmeter label` of a test set: would a user ask this, is the answer right, is it in the passage?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from shutil import get_terminal_size
from textwrap import fill

from ragmeter.analysis.people.question_labels import ASKED, NO, SHOWN, USUAL, YES, QuestionSheet
from ragmeter.cli.label_session import Keys, unbuffered_input
from ragmeter.errors import UsageError
from ragmeter.io.progress import show_notice
from ragmeter.runs.run import Run
from ragmeter.wording.testsets import people_line
from ragmeter.wording.texts import visible

_KEYS = {"y": YES, "1": YES, "n": NO, "0": NO}
_QUIT = ("q", "\x03", "\x04", "")


def label_questions(run: Run, chosen: argparse.Namespace) -> int:
    """Ask about some questions, or write the file for it; what is answered goes into the card."""
    for name in ("by", "strata", "metric", "claims"):
        if getattr(chosen, name):
            raise UsageError(f"--{name} has no effect on a test set", hint="leave it out")
    sheet = QuestionSheet(chosen.output, run, n=chosen.n or USUAL, seed=chosen.seed or 0)
    sheet.save()
    if not chosen.blank and sys.stdin.isatty() and sys.stdout.isatty():
        with unbuffered_input():
            _ask(sheet, Keys())
    if (people := sheet.keep()) is None:
        show_notice(f"{sheet.path}: write yes or no into {', '.join(ASKED)}, and run the same command again")
    else:
        print(people_line(people))
    return 0


def _ask(sheet: QuestionSheet, read_key: Callable[[], str]) -> None:
    """Ask in the terminal; each answer is saved before the next."""
    print("y yes, n no, q quit; each answer is saved")
    before = None
    for number, (place, name) in enumerate(sheet.asked):
        row = sheet.rows[place]
        if row[name]:
            continue
        if place != before:
            print(f"\n{place + 1} of {len(sheet.rows)}")
            for title in SHOWN:
                shown = f"{title}: {visible(str(row.get(title) or '-'))}"
                print(fill(shown, get_terminal_size().columns, initial_indent="  ", subsequent_indent="    "))
            before = place
        print(f"{ASKED[name]} ", end="", flush=True)
        while (key := read_key().lower()) not in _KEYS:
            if key in _QUIT:
                print()
                return
        sheet.record(number, _KEYS[key])
        print(_KEYS[key])
