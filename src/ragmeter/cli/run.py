"""`ragmeter run`: every run that ragmeter.toml asks for, and how they compare."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import chdir, nullcontext, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.cli import options
from ragmeter.cli.commands import COMMANDS, PROJECT
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import InputError, RagmeterError, RunExistsError, UsageError, did_you_mean
from ragmeter.io.progress import show_notice
from ragmeter.io.write import dumps, replacing

if TYPE_CHECKING:
    from ragmeter.analysis.comparing import Comparison
    from ragmeter.cli.project import PlannedRun, Project, Step

_DESCRIPTION = f"""\
Do all that {PROJECT} asks for: ask or score each system with each of its settings, and show how they compare.

  ragmeter init qa.jsonl       # writes {PROJECT}
  ragmeter run
  ragmeter run --only small
  ragmeter run --limit 5       # the first questions, to see whether all works: runs called NAME-first-5

After a crash or Ctrl-C the same command goes on where it was: systems that are done are not asked again. Once all are
done, the next `ragmeter run` asks all of them anew. Paths in the file start at its folder.
"""


def parser() -> Parser:
    """The parser of `ragmeter run`."""
    parser = command_parser("ragmeter run", _DESCRIPTION)
    add = parser.add_argument
    add("--file", metavar="FILE", type=Path, default=Path(PROJECT), help=f"default: {PROJECT}")
    add("--only", metavar="NAME", action="append", default=[], help="one system, or one of its runs; may be repeated")
    options.limit_option(parser)
    add("--schema", action="store_true", help=f"print the JSON schema of {PROJECT}, for editors, and do nothing else")
    options.json_option(parser)
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Make the runs, and show them; the exit code is that of a gate that failed, if one did."""
    from ragmeter.cli.project import read_project
    from ragmeter.cli.project_keys import schema

    if chosen.schema:
        print(dumps(schema(), indent=2))
        return 0
    file = chosen.file.resolve()
    if not file.parent.is_dir():
        raise InputError("there is no such folder", file=str(chosen.file.parent))
    with chdir(file.parent):
        project = read_project(file, chosen.limit)
        return _run(project, _selected(project, chosen.only), file, json=chosen.json)


def _selected(project: Project, only: Sequence[str]) -> list[PlannedRun]:
    names = {name for plan in project.plans for name in (plan.system, plan.name)}
    for name in only:
        if name not in names:
            raise UsageError(f"there is no system {name!r}{did_you_mean(name, names)}", hint=", ".join(sorted(names)))
    return [plan for plan in project.plans if not only or {plan.system, plan.name} & set(only)]


def _run(project: Project, plans: Sequence[PlannedRun], file: Path, *, json: bool) -> int:
    _check_baselines(project, plans)
    progress = _Progress(file.with_name(f".{file.name}.done.json"))
    codes = {}
    is_alone = len(plans) == 1 and not json  # then it shows what its command does
    for number, plan in enumerate(plans, 1):
        code, is_new = progress.code(plan), False
        if code is None:
            show_notice(f"{plan.run} ({number} of {len(plans)})")
            try:
                with nullcontext() if is_alone else redirect_stdout(io.StringIO()):
                    code, is_new = _worst([step.run() for step in plan.steps]), True
                progress.note(plan, code)
            except RunExistsError as error:
                show_notice(
                    f"{plan.run} is kept as it is: {error.message}; `replace = true` in {file.name} makes it anew"
                )
                code = 0
        else:
            show_notice(f"{plan.run} ({number} of {len(plans)}): done before")
        if is_alone and not is_new:
            COMMANDS["summary"].call([plan.run, f"--output-dir={project.output_dir}"])
        codes[plan.run] = code
    runs = list(codes)
    comparison = _comparison(project, runs) if len(runs) > 1 else None
    if not is_alone:
        _show(project, codes, comparison, json=json)
    with redirect_stdout(sys.stderr if json else sys.stdout):
        _do_after(project, runs)
    progress.forget(plans)
    return _worst(codes.values())


def _check_baselines(project: Project, plans: Sequence[PlannedRun]) -> None:
    """Refuse a gate that compares a run with one that is made after it, and that is not there yet."""
    from ragmeter.analysis.gating import Gate

    rules = "--no-worse-than="
    for place, plan in enumerate(plans):
        later = {other.run: other.system for other in plans[place + 1 :]}
        for argument in plan.arguments:
            if not argument.startswith(rules):
                continue
            (rule,) = Gate.of(no_worse_than=argument.removeprefix(rules)).rules
            if rule.baseline in later and not Path(project.output_dir, rule.baseline).exists():
                raise UsageError(
                    f"the gate compares {plan.run} with {rule.baseline}, which is made after it",
                    hint=f"put [systems.{later[rule.baseline]}] first in the file",
                )


def _worst(codes: Collection[int]) -> int:
    """The exit code of several commands: that of a gate that failed, if one did."""
    return 1 if 1 in codes else max(codes)


class _Progress:
    """A record of the runs of the file that are done, in a file beside it until all are."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._done: dict[str, object] = {}
        with suppress(OSError, ValueError):  # without it, all are made
            document = json.loads(path.read_text(encoding="utf-8"))
            self._done = document if isinstance(document, dict) else {}

    def code(self, plan: PlannedRun) -> int | None:
        """The exit code of a run that is done, and would be made by the same command now; None if it is not."""
        done = self._done.get(plan.run)
        if not isinstance(done, Mapping) or done.get("digest") != plan.digest():
            return None
        return int(done["code"]) if isinstance(done.get("code"), int) else None

    def note(self, plan: PlannedRun, code: int) -> None:
        """Record that a run is done, and its exit code."""
        self._done[plan.run] = {"digest": plan.digest(), "code": code}
        self._write()

    def _write(self) -> None:
        with replacing(self._path) as (temporary,):
            temporary.write_text(dumps(self._done), encoding="utf-8")

    def forget(self, plans: Sequence[PlannedRun]) -> None:
        """Remove these runs from the record, since all are done: the next command makes them anew."""
        left = {plan.run for plan in plans}
        self._done = {run: done for run, done in self._done.items() if run not in left}
        self._path.unlink(missing_ok=True) if not self._done else self._write()


def _comparison(project: Project, runs: Sequence[str]) -> Comparison | None:
    from ragmeter.cli.compare import compared

    step = project.of_all("compare", runs)
    assert step is not None  # noqa: S101 - runs are always compared
    chosen: argparse.Namespace = COMMANDS["compare"].parser().parse_args(step.arguments)
    try:
        return compared(chosen)
    except RagmeterError as error:  # the runs are made all the same
        show_notice(f"not compared: {error.for_command_line()}")
        return None


def _do_after(project: Project, runs: Sequence[str]) -> None:
    """Do what the file asks for once the runs are made. What can't be done is reported, and the rest is done."""
    for run in runs:
        for step in project.of_each(run):
            print(f"\n{run}, {step.command}:")
            _try(step)
    for command in ("power", "report"):
        if (last := project.of_all(command, runs)) is not None:
            _try(last)


def _try(step: Step) -> None:
    try:
        step.run()
    except RagmeterError as error:
        show_notice(f"{step.command}: {error.for_command_line()}")


def _show(project: Project, codes: Mapping[str, int], comparison: Comparison | None, *, json: bool) -> None:
    from ragmeter.io.locations import location
    from ragmeter.runs.lookup import find_run
    from ragmeter.show.terminal.project import show_project
    from ragmeter.wording.limits import limit_lines

    output_dir = location(project.output_dir)
    runs = {name: find_run(name, output_dir) for name in codes}
    summaries = {name: run.metrics() for name, run in runs.items()}
    if not json:
        cautions = [f"{name}: {line}" for name, run in runs.items() for line in limit_lines(run.manifest())]
        usages = {name: run.summary().judge_usage for name, run in runs.items()}
        costs = {name: usage.cost_usd for name, usage in usages.items() if usage is not None and usage.cost_usd}
        show_project(summaries, codes, comparison, cautions, costs)
        return
    systems = {
        name: {"metrics": summaries[name], "exit_code": codes[name], "limit": run.manifest().limit}
        for name, run in runs.items()
    }
    compared = None if comparison is None else comparison.as_dict()
    print(dumps({"systems": systems, "comparison": compared}, indent=2))
