"""The gate's options, for all commands that score a run; printing and writing its verdict."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.cli.parser import OptionWords
from ragmeter.errors import OutputError, UsageError
from ragmeter.io.locations import Location
from ragmeter.io.write import check_writable, replacing

if TYPE_CHECKING:
    from ragmeter.analysis.gating import Gate, Verdict
    from ragmeter.definition import Metric
    from ragmeter.runs.run import Run
    from ragmeter.table import Measure

#: The exit code when a check has failed.
FAILED = 1
#: The environment variable with the path of GitHub's step summary, a file to append to.
_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
_OPTIONS: dict[str, OptionWords] = {
    "fail_under": {"metavar": "METRIC=VALUE", "action": "append", "help": "the least that a mean may be: token_f1=0.6"},
    "fail_over": {"metavar": "METRIC=VALUE", "action": "append", "help": "the most that a mean may be: "
                  "latency_ms=2000"},
    "no_worse_than": {"metavar": "RUN:METRIC:MARGIN", "action": "append", "help": "another run on the same questions: "
                      "main:token_f1:0.02 passes if the 95%% interval of the difference rules out that this run is "
                      "worse by more than 0.02"},
    "same_as": {"metavar": "RUN:METRIC:MARGIN", "action": "append", "help": "another run on the same questions: passes "
                "if that interval rules out a difference of more than the margin in either direction"},
    "max_failed": {"metavar": "SHARE", "type": float, "help": "the share of rows that may have no score, of the "
                   "metrics named above or else of all; default: 0.05"},
    "gate_on": {"choices": ("mean", "interval"), "help": "whether --fail-under and --fail-over are for the mean, or "
                "for the whole interval; default: mean"},
    "sequential": {"action": "store_const", "const": True, "help": "compare with other runs by intervals "
                   "that hold however often one looks, for a gate of every night"},
    "junit": {"metavar": "FILE", "type": Path, "help": "the checks as JUnit XML"},
    "markdown": {"metavar": "FILE", "type": Path, "help": "the checks and scores as Markdown; the file that "
                 f"${_STEP_SUMMARY} names is appended to"},
}  # fmt: skip


def gate_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the gate."""
    group = parser.add_argument_group(
        "gate", f"what the run has to reach, or else the exit code is {FAILED}; may be given several times"
    )
    for name, reading in _OPTIONS.items():
        group.add_argument(f"--{name.replace('_', '-')}", **reading)


def asks_for_gate(chosen: argparse.Namespace) -> bool:
    """Whether any of the options was given."""
    return any(getattr(chosen, name) is not None for name in _OPTIONS)


def read_gate(
    chosen: argparse.Namespace,
    output_dir: Location,
    metrics: Iterable[Metric | Measure] = (),
    run: Location | None = None,
) -> Gate | None:
    """The gate of the options; None without any.

    `metrics` are those that the run will have, and `run` is its path: with them, rules are checked before anything is
    scored or asked.
    """
    if not asks_for_gate(chosen):
        return None
    from ragmeter.analysis.gating import Gate
    from ragmeter.analysis.gating.decision import check_baselines, usual_measures
    from ragmeter.table import Measure

    gate = Gate.of(
        fail_under=chosen.fail_under,
        fail_over=chosen.fail_over,
        no_worse_than=chosen.no_worse_than,
        same_as=chosen.same_as,
        max_failed=chosen.max_failed,
        on=chosen.gate_on or "mean",
        output_dir=output_dir,
        sequential=bool(chosen.sequential),
    )
    for name in ("junit", "markdown"):
        path: Path | None = getattr(chosen, name)
        if path is not None:
            check_writable(path.parent, f"--{name}")
            if path.is_dir():
                raise UsageError(f"--{name} {path} is a folder", hint="name a file")
    measures = {metric.name: Measure(metric.name, metric.binary, metric.direction, metric.bounds) for metric in metrics}
    if measures:
        check_baselines(gate.on_run("the run", {**measures, **usual_measures()}), run)
    return gate


def pass_gate(gate: Gate | None, chosen: argparse.Namespace, folder: Run) -> Verdict | None:
    """Check the run against the gate, if there is one, and write the verdict to the files of the options."""
    if gate is None:
        return None
    from ragmeter.analysis.gating import decide
    from ragmeter.runs.inputs import check_no_input
    from ragmeter.show.junit import junit
    from ragmeter.show.markdown import verdict_as_markdown

    check_no_input(filter(None, (chosen.junit, chosen.markdown)), [folder], "choose another name")
    verdict = decide(gate, folder)
    if chosen.junit is not None:
        _write(chosen.junit, junit(verdict))
    if chosen.markdown is not None:
        _write(chosen.markdown, verdict_as_markdown(verdict).encode("utf-8", "replace"))
    return verdict


def gate_json(verdict: Verdict | None) -> dict[str, object]:
    """The verdict as a part of a command's JSON."""
    if verdict is None:
        return {}
    fields = verdict.as_dict()
    return {"gate": {name: fields[name] for name in ("passed", "checks", "sentences")}}


def print_verdict(verdict: Verdict | None, *, json: bool) -> int:
    """Print the checks that failed, on standard error, and then those that passed; return the exit code."""
    if verdict is None:
        return 0
    from ragmeter.show.terminal.results import show_failed, show_passed

    if not verdict.passed:
        show_failed(verdict)
    if not json:
        show_passed(verdict)
    return 0 if verdict.passed else FAILED


def _write(path: Path, content: bytes) -> None:
    if os.environ.get(_STEP_SUMMARY) == str(path):
        try:
            with path.open("ab") as file:
                file.write(content)
        except OSError as error:
            raise OutputError(f"can't write {path}: {error.strerror or error}") from error
        return
    with replacing(path) as (temporary,):
        temporary.write_bytes(content)
