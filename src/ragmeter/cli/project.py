"""Reads ragmeter.toml: which runs it asks for, and the command of each."""

from __future__ import annotations

import hashlib
import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ragmeter.cli.commands import COMMANDS
from ragmeter.cli.project_keys import (
    DATASETS,
    OF_ALL,
    OF_EACH,
    SYSTEMS,
    Key,
    as_table,
    check_keys,
    keys_after,
    keys_of,
    shown,
    table_keys,
)
from ragmeter.errors import InputError, UsageError
from ragmeter.io.names import limited_name, plain_name
from ragmeter.io.write import RUNS, dumps

#: A table of the file as it was read, and its tables as they become the keys and values of commands. A key may be any
#: option of any command (`Key` says which values it takes), or a name that the user made up.
Table: TypeAlias = dict[str, Any]
_TABLES = ("data", "judge", "gate")
#: Options that name a file to be written: each run needs its own.
_WRITTEN = ("output", "junit", "markdown")
#: Commands that choose metrics by themselves: never one that a model judges, unless the system itself names the model.
_CHOOSES = ("ask", "evaluate", "web")
#: A system that is an agent is asked first, and then judged.
_STEPS = {"crag generate": ("crag generate", "crag evaluate")}


@dataclass(frozen=True)
class Step:
    """A command with its arguments."""

    command: str
    arguments: list[str]

    def check(self) -> Step:
        """The step itself; raises an error if the command would not understand its arguments."""
        COMMANDS[self.command].parser().parse_args(self.arguments)
        return self

    def run(self) -> int:
        """Run the command; return its exit code."""
        return COMMANDS[self.command].call(self.arguments)


@dataclass(frozen=True)
class PlannedRun:
    """One run: the commands that make it. `name` is the run's in the file, without the number of a limit."""

    run: str
    name: str
    system: str
    steps: list[Step]

    @property
    def arguments(self) -> list[str]:
        """The arguments of all its commands."""
        return [argument for step in self.steps for argument in step.arguments]

    def digest(self) -> str:
        """A hash of what this run depends on, as far as the file says: its commands, and the files that it is given."""
        written = {argument.partition("=")[2] for argument in self.arguments if argument.startswith("--output=")}
        texts = [argument.partition("=")[2] or argument for argument in self.arguments]
        paths = [Path(text) for text in texts if text not in written]
        files = [(path.stat().st_size, path.stat().st_mtime_ns) for path in paths if _is_file(path)]
        commands = [[step.command, *step.arguments] for step in self.steps]
        return hashlib.sha256(dumps([commands, files]).encode()).hexdigest()[:16]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long for a name, or with a zero byte
        return False


@dataclass(frozen=True)
class Project:
    """All runs of a file, and `after`: the tables of what is done with them at the end."""

    plans: list[PlannedRun]
    output_dir: str
    after: dict[str, Table]

    def of_each(self, run: str) -> list[Step]:
        """The commands that are run for one run."""
        return [self._step(command, [run]) for command in OF_EACH if command in self.after]

    def of_all(self, command: str, runs: Sequence[str]) -> Step | None:
        """One command over all runs, `power` over the first two; None if the file does not ask for it."""
        if command not in self.after and command != "compare":
            return None
        return self._step(command, runs[:2] if command == "power" else runs)

    def _run_of(self, name: Any) -> Any:
        """The run that a name in the file stands for: that of a planned run, or one that is there already."""
        return next((plan.run for plan in self.plans if plan.name == name), name)

    def _step(self, command: str, runs: Sequence[str]) -> Step:
        table = self.after.get(command, {})
        if command == "label":
            table = {"output": "{run}-labels.csv", **table}
        if "baseline" in table:  # the run of a system may have a number in its name
            table = {**table, "baseline": self._run_of(table["baseline"])}
        filled = _filled(table, {"run": "-".join(runs)}, set())
        arguments = _arguments(filled, keys_after(command), f"[{command}]")
        blank = ["--blank"] if command == "label" else []
        return Step(command, [*runs, *arguments, *blank, f"--output-dir={self.output_dir}"]).check()


def read_project(path: Path, limit: int | None = None) -> Project:
    """The project in a file; every mistake in it is found before anything runs.

    `limit` is the number of questions that systems are asked, whatever the file says.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        hint = "`ragmeter init DATA` writes one"
        raise InputError("there is no such file", file=str(path), hint=hint) from None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=str(path)) from None
    except ValueError as error:  # not TOML, or not UTF-8
        raise InputError(f"can't be read: {error}", file=str(path)) from None
    try:
        return _project(document, limit)
    except UsageError as error:
        raise UsageError(f"{path.name}: {error.message}", hint=error.hint) from None


def _project(document: Table, limit: int | None) -> Project:
    tables = {name: _table(document, name) for name in (*_TABLES, "settings", "systems", *OF_EACH, *OF_ALL)}
    check_keys(document, {*table_keys(""), *tables}, "")
    for name in _TABLES:
        check_keys(tables[name], {*table_keys(name), *(["dataset"] if name == "data" else [])}, f"[{name}]")
    for name in (*OF_EACH, *OF_ALL):
        check_keys(tables[name], keys_after(name), f"[{name}]")
    common = {name: value for name, value in document.items() if name not in tables}
    for name in _TABLES:
        common |= {table_keys(name)[key].name: value for key, value in tables[name].items() if key in table_keys(name)}
    dataset = tables["data"].get("dataset")
    if not tables["systems"]:
        raise UsageError("there is no system", hint='add one: [systems.mine] with target = "mypkg.rag:pipeline"')
    plans = [
        plan
        for name in tables["systems"]
        for plan in _plans(name, _system(tables["systems"], name, limit), common, tables["settings"], dataset)
    ]
    if limit is not None and all(plan.run == plan.name for plan in plans):
        raise UsageError("--limit has no effect: no system is asked", hint="leave it out")
    _check_names(plans)
    for step in (step for plan in plans for step in plan.steps):
        step.check()
    after = {name: tables[name] for name in (*OF_EACH, *OF_ALL) if name in document}
    project = Project(plans, str(common.get("output_dir", RUNS)), after)
    for plan in plans:
        project.of_each(plan.run)
    for name in OF_ALL:
        project.of_all(name, [plan.run for plan in plans])
    return project


def _table(document: Table, name: str, above: str = "") -> Table:
    value = as_table(name, document.get(name, {}))
    if not isinstance(value, dict):
        raise UsageError(f"{above}{name} should be a table, got {shown(value)}", hint=f"write [{above}{name}]")
    return value


def _system(systems: Table, name: str, limit: int | None) -> Table:
    """The table of a system; one whose command takes a limit has this one."""
    system = _table(systems, name, "systems.")
    takes_limit = any(key in system for command, key in SYSTEMS.items() if "limit" in keys_of(command))
    return system if limit is None or not takes_limit else {**system, "limit": limit}


def _plans(name: str, system: Table, common: Table, settings: Table, dataset: Any) -> Iterator[PlannedRun]:
    """The runs of a system: one for each combination of its settings."""
    kinds = [command for command, key in SYSTEMS.items() if key in system]
    if len(kinds) != 1:
        keys = ", ".join(SYSTEMS.values())
        raise UsageError(
            f"[systems.{name}] should have one of {keys}", hint='for example target = "mypkg.rag:pipeline"'
        )
    [command] = kinds
    steps = _STEPS.get(command, (command,))
    known = {key for step in steps for key in keys_of(step)}
    own = {key: value for key, value in system.items() if key != "settings"}
    check_keys(own, {"dataset", "settings", *known} - {"output_dir"}, f"[systems.{name}]")
    dataset = own.pop("dataset", dataset)
    options = {**{key: value for key, value in common.items() if key in known}, **own}
    if command in _CHOOSES and "metrics" not in options and "judge_model" not in own:
        options = {key: value for key, value in options.items() if key in own or keys_of(command)[key].table != "judge"}
    if dataset is not None and command in DATASETS:
        options = {DATASETS[command]: dataset, **options}
    all_settings = {**settings, **_table(system, "settings", f"systems.{name}.")}
    lists = {key: value if isinstance(value, list) else [value] for key, value in all_settings.items()}
    for values in itertools.product(*lists.values()):
        chosen = dict(zip(lists, values, strict=True))
        varied = "".join(f"-{key}={_plain(value)}" for key, value in chosen.items() if len(lists[key]) > 1)
        run = limited_name(f"{name}{varied}", options.get("limit"))
        used: set[str] = set()
        filled = _filled(options, {**chosen, "run": run}, used)
        _call(filled, {key: value for key, value in chosen.items() if key not in used}, command, name)
        yield PlannedRun(
            run, f"{name}{varied}", name, [Step(step, _command_line(filled, step, name, run)) for step in steps]
        )


def _plain(value: Any) -> str:
    """A setting as a part of a run's name, which is that of a folder on every system."""
    text = value if isinstance(value, str) else dumps(value)
    return plain_name(re.sub(r"[/\\\0\s]+", "_", text))


def _filled(value: Any, values: Table, used: set[str]) -> Any:
    """The value with {name} replaced by each setting, in all texts inside; `used` are the names that occurred."""
    if isinstance(value, dict):
        return {key: _filled(part, values, used) for key, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, values, used) for part in value]
    if not isinstance(value, str):
        return value
    for name, setting in values.items():
        if value == f"{{{name}}}":
            used.add(name)
            return setting
        if f"{{{name}}}" in value:
            used.add(name)
            value = value.replace(f"{{{name}}}", setting if isinstance(setting, str) else dumps(setting))
    return value


def _call(options: Table, settings: Table, command: str, name: str) -> None:
    """Write settings that stand nowhere in the options into the Python target, as its keywords."""
    if not settings:
        return
    target = options.get("target")
    is_path = command == "ask" and isinstance(target, str) and re.fullmatch(r"[\w.]+[:.]\w+", target)
    if not is_path:
        key = next(iter(settings))
        raise UsageError(
            f"[systems.{name}]: the setting {key} is used nowhere",
            hint=f"write {{{key}}} where it belongs, for example in request; a Python target gets it as a keyword",
        )
    options["target"] = f"{target}({', '.join(f'{key}={value!r}' for key, value in settings.items())})"


def _command_line(options: Table, command: str, name: str, run: str) -> list[str]:
    known = keys_of(command)
    dataset = DATASETS.get(command, "")
    given = [f"--{dataset}={options[dataset]}"] if dataset in options else []
    if not command.startswith("crag"):
        own = {key: value for key, value in options.items() if key in known}
        return [*given, *_arguments(own, known, f"systems.{name}"), f"--run={run}"]
    folder = f"{options.get('output_dir', RUNS)}/{run}"
    turns = f"{folder}.turns.jsonl"  # where an agent's answers are between the two commands
    own = {key: value for key, value in options.items() if key in known and key != "output_dir"}
    if command == "crag generate":
        given.append(f"--output={turns}")
    else:
        own = {"turns": turns, **own}
        given.append(f"--output-dir={folder}")
    return [*given, *_arguments(own, known, f"systems.{name}")]


def _arguments(given: Table, known: Mapping[str, Key], where: str) -> list[str]:
    check_keys(given, known, where)
    return [text for key, value in given.items() for text in known[key].arguments(value, f"{where}.{key}")]


def _check_names(plans: list[PlannedRun]) -> None:
    """Refuse two runs of one name, and two that would write one file."""
    for name, several in itertools.groupby(sorted(plan.run for plan in plans)):
        if len(list(several)) > 1:
            raise UsageError(f"two runs would be called {name!r}", hint="give the systems other names")
    files: dict[str, str] = {}
    for plan in plans:
        for option in _WRITTEN:
            for text in plan.arguments:
                if text.startswith(f"--{option}=") and files.setdefault(text, plan.run) != plan.run:
                    raise UsageError(
                        f"{option}: {files[text]} and {plan.run} would write the same file",
                        hint=f'put {{run}} into its name: {option} = "{{run}}.json"',
                    )
