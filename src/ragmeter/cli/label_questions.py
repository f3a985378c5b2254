"""`ragmeter label` of a test set: would a user ask this, is the answer right, is it in the passage?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill

import numpy as np

from ragmeter.cli.label_session import Keys, unbuffered_input
from ragmeter.errors import InputError, UsageError
from ragmeter.io.progress import show_notice
from ragmeter.io.source import open_source
from ragmeter.io.write import replacing, write_rows
from ragmeter.runs.run import Run
from ragmeter.table import QID, NewRow
from ragmeter.wording.texts import visible

#: What is asked of each question, by the column that has the answer.
ASKED = {
    "user_would_ask": "Would a user ask this?",
    "answer_is_right": "Is the answer right?",
    "in_passage": "Is the answer in the passage?",
}
_SHOWN = ("question", "reference", "evidence", "source")
_YES, _NO = ("y", "1", "yes", "true"), ("n", "0", "no", "false")
_QUIT = ("q", "\x03", "\x04", "")
_USUAL = 20


def label_questions(run: Run, chosen: argparse.Namespace) -> int:
    """Ask about some questions, or write the file for it; what is answered goes into the card."""
    for name in ("by", "strata", "metric", "claims"):
        if getattr(chosen, name):
            raise UsageError(f"--{name} has no effect on a test set", hint="leave it out")
    path: Path = chosen.output
    rows = _read(path, run) if path.exists() else _new(run, chosen.n or _USUAL, chosen.seed or 0)
    _write(path, rows)
    if not chosen.blank and sys.stdin.isatty() and sys.stdout.isatty():
        with unbuffered_input():
            _ask(rows, path, Keys())
    answers = _answers(rows, path)
    if not answers:
        show_notice(f"{path}: write yes or no into {', '.join(ASKED)}, and run the same command again")
        return 0
    from msgspec import structs

    from ragmeter.analysis.testsets import accepted, keep_card

    card = run.summary().test_set
    assert card is not None  # noqa: S101 - the caller has seen to it
    people = accepted(answers)
    keep_card(run, structs.replace(card, people=people))
    from ragmeter.wording.testsets import people_line

    print(people_line(people))
    return 0


def _new(run: Run, n: int, seed: int) -> list[NewRow]:
    """Some questions in random order, without answers."""
    places = np.random.default_rng(seed).permutation(run.n_rows)[:n].tolist()
    rows = []
    for record in run.records(places, [QID, *_SHOWN]):
        texts = {name: "\n".join(cell) if isinstance(cell, list) else cell or "" for name, cell in record.items()}
        rows.append({**texts, **dict.fromkeys(ASKED, "")})
    return rows


def _read(path: Path, run: Run) -> list[NewRow]:
    rows = [dict(row) for _, row in open_source(path).records()]
    known = set(run.column(QID).to_pylist())
    if not rows or not {QID, *ASKED} <= rows[0].keys():
        raise InputError(f"this is no file of labels of a test set: it needs {', '.join(ASKED)}", file=str(path))
    if other := next((row[QID] for row in rows if row[QID] not in known), None):
        raise InputError(
            f"the question {other} is not in {run.name}", file=str(path), hint="name another file with --output"
        )
    return rows


def _write(path: Path, rows: Sequence[NewRow]) -> None:
    with replacing(path, private=True) as (temporary,):
        write_rows(temporary, list(rows[0]), ([*row.values()] for row in rows), "csv")


def _answers(rows: Sequence[NewRow], path: Path) -> list[tuple[bool, bool, bool]]:
    """The answers about the questions that have all of them."""
    answers = []
    for number, row in enumerate(rows, 2):
        words = [str(row[name] or "").strip().casefold() for name in ASKED]
        if bad := next((word for word in words if word and word not in (*_YES, *_NO)), None):
            raise InputError(f"{bad!r} is neither yes nor no", file=str(path), line=number)
        if all(word or name not in _asked(row) for name, word in zip(ASKED, words, strict=True)):
            first, second, third = (word not in _NO for word in words)
            answers.append((first, second, third))
    return answers


def _asked(row: Mapping[str, object]) -> list[str]:
    """What is asked of a question: nothing about the answer where it has none."""
    return [name for name in ASKED if name != "answer_is_right" or row.get("reference")]


def _ask(rows: Sequence[NewRow], path: Path, read_key: Callable[[], str]) -> None:
    """Ask in the terminal; each answer is saved before the next."""
    print("y yes, n no, q quit; each answer is saved")
    for number, row in enumerate(rows, 1):
        if all(row[name] for name in _asked(row)):
            continue
        print(f"\n{number} of {len(rows)}")
        for name in _SHOWN:
            shown = f"{name}: {visible(str(row.get(name) or '-'))}"
            print(fill(shown, get_terminal_size().columns, initial_indent="  ", subsequent_indent="    "))
        for name in _asked(row):
            print(f"{ASKED[name]} ", end="", flush=True)
            while (key := read_key().lower()) not in (*_YES, *_NO):
                if key in _QUIT:
                    print()
                    return
            row[name] = "yes" if key in _YES else "no"
            print(row[name])
            _write(path, rows)
