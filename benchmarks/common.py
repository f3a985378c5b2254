"""What every section needs: measuring commands, comparing values, printing tables."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Result = TypeVar("Result")

TOLERANCE = 1e-9


#: Where the path of the measured command is handed on, and that of a peer's interpreter.
COMMAND = "RAGMETER_BENCH_COMMAND"
PEER = "RAGMETER_BENCH_{}_PYTHON"


class BenchmarkError(Exception):
    """A benchmark that means nothing: a command failed, or values are wrong."""


@dataclass(frozen=True)
class Usage:
    """What a command took: wall time, time of all cores together, and memory at its peak."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int = 0


def measure(command: Sequence[str]) -> Usage:
    """Run a command to its end in a process of its own.

    It may keep the bytecode of an editable install, as pip does when it installs a wheel: nobody compiles it each time.
    """
    launcher = [sys.executable, "-I", "-S", str(Path(__file__).with_name("measured.py"))]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([*launcher, *command], capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise BenchmarkError(f"{' '.join(command)} failed with {done.returncode}:\n{done.stderr.strip()}")
    return Usage(**json.loads(done.stdout))


def ragmeter_command(*arguments: str) -> list[str]:
    """The command `ragmeter` that is measured: the one that the user names, or that of this environment."""
    return [os.environ.get(COMMAND) or str(Path(sys.executable).with_name("ragmeter")), *arguments]


def peer_python(name: str) -> str:
    """The interpreter that a peer is installed for: the one that the user names, or this one."""
    return os.environ.get(PEER.format(name.upper())) or sys.executable


def timed(function: Callable[[], Result]) -> tuple[Usage, Result]:
    """What a call takes, and what it returns."""
    begin, cpu_begin = time.perf_counter(), time.process_time()
    result = function()
    return Usage(time.perf_counter() - begin, time.process_time() - cpu_begin), result


def check(what: str, ours: Values, oracle: Values) -> float:
    """The greatest difference, which must not exceed the tolerance."""
    if ours.shape != oracle.shape:
        raise BenchmarkError(f"{what}: {len(ours)} values of ours, {len(oracle)} of the oracle")
    apart = np.abs(ours - oracle)
    wrong = np.flatnonzero(~(apart <= TOLERANCE))  # this way round NaN is wrong
    if len(wrong):
        first = int(wrong[0])
        raise BenchmarkError(
            f"{what}: {len(wrong)} of {len(ours)} values are not the oracle's; "
            f"the first, number {first}, is {ours[first]:.17g} where the oracle has {oracle[first]:.17g}"
        )
    return float(apart.max(initial=0.0))


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: the first column to the left, the others to the right."""
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = "  ".join("-" * width for width in widths)
    print(f"\n{title}\n{rule}")
    for place, line in enumerate(lines):
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        print("  ".join([line[0].ljust(widths[0]), *cells[1:]]).rstrip())
        if place == 0:
            print(rule)
    print(rule, flush=True)


def progress(text: str) -> None:
    """Say on standard error what is being done."""
    print(f"... {text}", file=sys.stderr, flush=True)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine() -> str:
    """The machine, in one line."""
    return f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {cores()} cores"
