"""The keys of ragmeter.toml: made from the options of the commands, so that each option has its key.

`--judge-model` is `judge_model` in a system, and `model` in the table `[judge]`.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ragmeter.cli.commands import COMMANDS
from ragmeter.errors import UsageError, did_you_mean
from ragmeter.io.write import dumps

#: The commands that make runs, and the key of a system that says which one is meant.
SYSTEMS = {"ask": "target", "evaluate": "results", "web": "url", "crag evaluate": "turns", "crag generate": "agent"}
#: The option that names the file of questions, for each command that has one.
DATASETS = {"ask": "dataset", "evaluate": "reference", "web": "input", "crag generate": "dataset"}
#: The commands that are run once the runs are made: for each run, and for all together.
OF_EACH, OF_ALL = ("summary", "label", "calibrate", "export"), ("compare", "power", "report")
#: Tables of the file, and the options in them: by their group in the help, or by name.
_GROUPS = {"the judge": "judge", "the cascade": "judge", "gate": "gate"}
_DATA = ("column", "no_quotes", "delimiter", "decimal", "encoding", "max_field", "split", "keep_columns")
#: Options without a key: the system's name is the run's, and what is printed is decided by `ragmeter run`.
_LEFT_OUT = frozenset(
    {"help", "help_all", "json", "run", "dry_run", "try", "evaluator", "input", "dataset", "reference"}
)
#: Options of single commands without a key: the turns are kept beside the run, no key is pressed in `ragmeter run`, and
#: its comparison is shown and not printed for somewhere else.
_LEFT_OUT_OF = {"crag generate": ("output",), "label": ("blank",), "compare": ("markdown", "latex")}
#: A JSON schema, which is only written.
JsonSchema: TypeAlias = dict[str, object]
_TYPES = {int: ("integer", "a whole number"), float: ("number", "a number")}


@dataclass(frozen=True)
class Key:
    """An option of a command as a key."""

    name: str
    table: str
    action: argparse.Action

    @property
    def is_switch(self) -> bool:
        """Whether the option is either given or not: its key is true or false."""
        return self.action.nargs == 0 or isinstance(self.action, argparse.BooleanOptionalAction)

    @property
    def is_list(self) -> bool:
        """Whether the option takes several values."""
        return isinstance(self.action, argparse._AppendAction) or self.action.nargs in ("+", "*")

    @property
    def separator(self) -> str:
        """The mark between the two halves of each value, = in NAME=VALUE; empty if a value has no halves."""
        metavar = str(self.action.metavar or "")
        return next((mark for mark in ("=", ": ") if mark in metavar), "")

    def schema(self) -> JsonSchema:
        """The key for editors, as a JSON schema."""
        described = {"description": (self.action.help or "").replace("%%", "%")}
        if self.is_switch:
            return {"type": "boolean", **described}
        single: dict[str, object] = {"type": _TYPES.get(self.action.type, ("string", ""))[0]}  # type: ignore[call-overload]
        if self.action.choices:
            single = {"enum": list(self.action.choices)}
        kinds = [single]
        if self.is_list:
            kinds.append({"type": "array", "items": single})
        if self.separator or self.action.metavar == "JSON":
            kinds.append({"type": "object"})
        return {**(kinds[0] if len(kinds) == 1 else {"anyOf": kinds}), **described}

    def arguments(self, value: Any, where: str) -> list[str]:
        """The option on the command line for this value; `where` is the place in the file, for errors."""
        flags = self.action.option_strings
        if self.is_switch:
            if not isinstance(value, bool):
                raise UsageError(f"{where} should be true or false, got {shown(value)}")
            negative = [flag for flag in flags if flag.startswith("--no-")]
            return [flags[0]] if value else negative[:1] if len(flags) > len(negative) else []
        texts = self._texts(value, where)
        if self.action.nargs in ("+", "*"):
            return [flags[0], *texts]
        return [f"{flags[0]}={text}" for text in texts]

    def _texts(self, value: Any, where: str) -> list[str]:
        if isinstance(value, dict):
            if self.action.metavar == "JSON":
                return [dumps(value)]
            if self.separator:
                pairs = value.items()
                return [f"{name}{self.separator}{self._text(part, f'{where}.{name}')}" for name, part in pairs]
        if isinstance(value, list):
            if not self.is_list:
                raise UsageError(f"{where} should be one value, got a list")
            return [self._text(part, where) for part in value]
        return [self._text(value, where)]

    def _text(self, value: Any, where: str) -> str:
        """One value as a text; a number that should be one, and a choice that is none, are errors."""
        kind, words = _TYPES.get(self.action.type, ("string", "a text"))  # type: ignore[call-overload]
        if kind != "string" and not self.separator:
            right = isinstance(value, int) if kind == "integer" else isinstance(value, int | float)
            if not right or isinstance(value, bool):
                raise UsageError(f"{where} should be {words}, got {shown(value)}")
        elif isinstance(value, bool | list | dict) or not (isinstance(value, str) or self.separator):
            raise UsageError(f"{where} should be {words}, got {shown(value)}")
        text = str(value)
        if self.action.choices and text not in self.action.choices:
            choices = list(map(str, self.action.choices))
            raise UsageError(
                f"{where} can't be {text!r}{did_you_mean(text, choices)}", hint=f"choose from {', '.join(choices)}"
            )
        return text


def shown(value: Any) -> str:
    """A value as it stands in the file, for a message."""
    return dumps(value, default=str)


@functools.cache
def keys_of(command: str) -> dict[str, Key]:
    """The keys of a command's options, by their names in a system."""
    keys = {}
    for action in COMMANDS[command].parser()._actions:
        flag = next((flag for flag in action.option_strings if flag.startswith("--")), "")
        if flag:
            name = flag.removeprefix("--").replace("-", "_")
            group = getattr(action, "container", None)
            table = _GROUPS.get(getattr(group, "title", None) or "", "data" if name in _DATA else "")
            if name not in _LEFT_OUT and name not in _LEFT_OUT_OF.get(command, ()):
                keys[name] = Key(name, table, action)
    return keys


@functools.cache
def table_keys(table: str) -> dict[str, Key]:
    """The keys of one of the file's tables, of all commands together; an empty name is the top of the file."""
    keys: dict[str, Key] = {}
    for command in SYSTEMS:
        for name, key in keys_of(command).items():
            if key.table == table and name not in SYSTEMS.values():
                keys.setdefault(short_name(name, table), key)
    return keys


def short_name(name: str, table: str) -> str:
    """The name of an option in its table: without `judge_`."""
    return name.removeprefix("judge_") if table == "judge" else name


def as_table(name: str, value: Any) -> Any:
    """The table that a value of the file stands for: `judge = ["a", "b"]` names the models of a jury."""
    return {"model": value} if name == "judge" and isinstance(value, list) else value


def check_keys(given: Iterable[str], known: Collection[str], where: str) -> None:
    """Raise an error for a key that is not known."""
    for name in given:
        if name not in known:
            inside = f" in {where}" if where else ""
            meant = did_you_mean(name, known)
            hint = "" if meant else f"there are {', '.join(sorted(known))}"
            raise UsageError(f"unknown key {name!r}{inside}{meant}", hint=hint)


def schema() -> JsonSchema:
    """The JSON schema of ragmeter.toml, for editors."""
    settings = _described("object", "settings of a system; a list makes a run for each of its values")
    of_systems = {name: key.schema() for command in SYSTEMS for name, key in keys_of(command).items()}
    dataset = {"dataset": _described("string", "the file with the questions and gold answers")}
    tables: dict[str, dict[str, JsonSchema]] = {
        "data": {**dataset},
        "judge": {},
        "gate": {},
    }
    for table, properties in tables.items():
        properties |= {name: key.schema() for name, key in table_keys(table).items()}
    for table in (*OF_EACH, *OF_ALL):
        tables[table] = {name: key.schema() for name, key in keys_after(table).items()}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "ragmeter.toml",
        "type": "object",
        "properties": {
            **{name: key.schema() for name, key in table_keys("").items()},
            **{name: _object(properties) for name, properties in tables.items()},
            "judge": {**_object(tables["judge"]), "type": ["object", "array"], "items": {"type": "string"}},
            "settings": settings,
            "systems": {
                "type": "object",
                "additionalProperties": _object({**of_systems, **dataset, "settings": settings}),
            },
        },
        "required": ["systems"],
        "additionalProperties": False,
    }


def keys_after(table: str) -> dict[str, Key]:
    """The keys of what is done once the runs are made, such as `compare`: its options, but for the runs' place."""
    return {name: key for name, key in keys_of(table).items() if name != "output_dir"}


def _described(kind: str, description: str) -> JsonSchema:
    return {"type": kind, "description": description}


def _object(properties: Mapping[str, JsonSchema]) -> JsonSchema:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}
