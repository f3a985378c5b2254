"""`ragmeter web --try`: one question, and a picture of where it was typed and what was read."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from ragmeter.cli.options import UNSCORED, check_numbers, read_columns, read_reading
from ragmeter.io.write import check_writable

_SCREENSHOT = Path("web-try.png")
_QUESTION = "What can you help me with?"
_MOST = 2000  # characters of an answer that are printed


def try_page(chosen: argparse.Namespace, target: Any) -> int:
    """Ask one question, write the picture, and print what would be read."""
    from ragmeter.show.terminal import printable
    from ragmeter.targets.web.trial import try_question

    check_numbers(chosen)
    check_writable(_SCREENSHOT.parent)
    question = chosen.trial or _first_question(chosen) or _QUESTION
    trial = try_question(target, question, _SCREENSHOT)
    print(f"question: {printable(question)}")
    for name, value in _places(trial).items():
        print(f"{name}: {printable(value)}")
    if trial.failure is not None:
        print(f"no answer: {printable(trial.failure)}")
    if trial.answer is not None:
        text = trial.answer.answer
        print("what would be read:\n")
        print("\n".join(f"  {printable(line)}" for line in text[:_MOST].splitlines()))
        print(f"  ... and {len(text) - _MOST:,} more characters\n" if len(text) > _MOST else "")
        print("this would read the same: " + _command(chosen, trial))
    if trial.has_picture:
        button = "the button in orange, " if trial.button else ""
        print(f"{_SCREENSHOT}: the box is outlined in blue, {button}the answer in green")
    return 0 if trial.answer is not None else UNSCORED


def _places(trial: Any) -> dict[str, str]:
    """The lines that say where the box and the answer are, and how the question was sent, each with its title."""
    from ragmeter.wording.numbers import given

    again = f", after {trial.attempts} attempts" if trial.attempts > 1 else ""
    times = ""
    if trial.answer is not None:
        first, last = trial.answer.time_to_first_token_ms or 0.0, trial.answer.latency_ms
        times = f", the first word after {given(round(first))} ms, the last one after {given(round(last))} ms"
    lines = {
        "typed into": trial.box,
        "sent by": f"{trial.button or 'Enter'}{again}" if trial.attempts else None,
        "answer read from": f"{trial.selector}{times}" if trial.selector else None,
    }
    return {name: value for name, value in lines.items() if value}


def _command(chosen: argparse.Namespace, trial: Any) -> str:
    """The command for a whole file, with the selectors that were used."""
    selectors = {"--input-selector": chosen.input_selector or trial.box, "--submit-selector": chosen.submit_selector}
    selectors["--answer-selector"] = chosen.answer_selector
    given = " ".join(f"{name} {shlex.quote(value)}" for name, value in selectors.items() if value)
    return f"ragmeter web --url {shlex.quote(chosen.url)} --input FILE --output FILE {given}".rstrip()


def _first_question(chosen: argparse.Namespace) -> str | None:
    """The first question of the file, if one is given."""
    if chosen.input is None:
        return None
    from ragmeter.engine.questions import first_question

    return first_question(chosen.input, read_reading(chosen), read_columns(chosen.column))
