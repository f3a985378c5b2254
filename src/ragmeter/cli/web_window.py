"""What `ragmeter web` does besides a run: `--learn`, and in a window of its own `--login` and `--record`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.io.write import check_writable

if TYPE_CHECKING:
    from ragmeter.targets.web.target import WebTarget


def without_run(chosen: argparse.Namespace, target: Callable[[], WebTarget]) -> int | None:
    """Do what is no run; None if a run is wanted."""
    if chosen.learn is not None:
        from ragmeter.cli.web_learning import learn

        return learn(chosen, target())
    if chosen.login is None and chosen.record is None:
        return None
    chosen.headed = chosen.any_host = True  # a login may be on another host
    return _log_in(chosen, target()) if chosen.login is not None else _record(chosen, target())


def _log_in(chosen: argparse.Namespace, target: WebTarget) -> int:
    from ragmeter.targets.web.window import log_in

    path: Path = chosen.login
    check_writable(path.parent)
    print("log in in the window that opens, and then close it")
    log_in(target, path)
    print(f"written: {path}, which only you can read: whoever has it is logged in")
    print(f"go on with: ragmeter web --url {shlex.quote(chosen.url)} --storage-state {path} ...")
    return 0


def _record(chosen: argparse.Namespace, target: WebTarget) -> int:
    from ragmeter.cli.web_learning import keep_lessons
    from ragmeter.show.terminal import printable
    from ragmeter.targets.web.window import record

    check_writable(chosen.record.parent)
    print("in the window that opens: ask a question, click its answer when it is whole, then ask another one or two;")
    print("then close the window. What you click before the first question is clicked before each question of a run.")
    lessons = record(target, lambda step: print(printable(step), flush=True))
    return keep_lessons(chosen, chosen.record, lessons)
