"""The grammar of names: `ndcg@10`, `rouge_l_score[language=es]`, `mypkg.scorers.MyScorer`.

A name is a metric's only identity: it is the argument, the column and the key in the summary, and
parsing what is printed gives an equal metric back.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin

from ragmeter.errors import UsageError

_NAME = re.compile(r"(?P<base>[^\W\d][\w.:]*)(?:@(?P<k>\d+))?(?:\[(?P<settings>.*)\])?", re.DOTALL)
_SETTING = re.compile(r'\s*(?P<key>\w+)\s*=\s*(?P<value>"(?:[^"\\]|\\.)*"|[^",\[\]]*?)\s*(?:,|$)', re.DOTALL)
_ITEM = re.compile(r'(?:\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\]|[^,])+', re.DOTALL)
_BARE = re.compile(r"[\w.+/:-]+")


@dataclass(frozen=True)
class Name:
    """A name taken apart: its base, and its settings still as text."""

    base: str
    settings: Mapping[str, str]


def parse(text: str) -> Name:
    """Take a name apart. A cut-off, `@10`, is the setting `k`."""
    match = _NAME.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"{text!r} is not a metric's name", hint="names look like token_f1, ndcg@10 or rouge_l_score[language=es]"
        )
    settings: dict[str, str] = {}
    if match["k"] is not None:
        settings["k"] = match["k"]
    rest = match["settings"] or ""
    position = 0
    while position < len(rest):
        setting = _SETTING.match(rest, position)
        if setting is None or setting["key"] in settings:
            raise UsageError(f"can't read the settings in {text!r}", hint="write them as [name=value,name=value]")
        value = setting["value"]
        try:
            settings[setting["key"]] = json.loads(value) if value.startswith('"') else value
        except ValueError as error:
            hint = "inside quotes a backslash is written twice"
            raise UsageError(f"can't read the settings in {text!r}: {error}", hint=hint) from None
        position = setting.end()
    return Name(match["base"], settings)


def render(base: str, settings: Mapping[str, Any]) -> str:
    """Put a name together. Settings stand in the order given."""
    cut = f"@{settings['k']}" if settings.get("k") is not None else ""
    inside = ",".join(f"{key}={_value(value)}" for key, value in settings.items() if key != "k")
    return f"{base}{cut}[{inside}]" if inside else f"{base}{cut}"


def _value(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if _BARE.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def read_setting(what: str, value: Any, kind: Any) -> Any:
    """A setting's value from its text, by the type that the metric declares for it."""
    if get_origin(kind) in (Union, types.UnionType):
        if value is None or (isinstance(value, str) and value.casefold() == "none"):
            return None
        kind = next(choice for choice in get_args(kind) if choice is not type(None))
    if hasattr(kind, "parse"):
        return kind.parse(value)
    if get_origin(kind) is Literal:
        for choice in get_args(kind):
            if str(value) == str(choice):
                return choice
        raise UsageError(f"{what} is one of {', '.join(map(str, get_args(kind)))}, not {value!r}")
    if kind is bool and isinstance(value, str):
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if value.casefold() in words:
            return words[value.casefold()]
        raise UsageError(f"{what} is yes or no, not {value!r}")
    try:
        read = kind(value)
    except (TypeError, ValueError):
        raise UsageError(f"{what} should be {kind.__name__}, not {value!r}") from None
    if what.endswith(": k") and read < 1:
        raise UsageError(f"{what} should be at least 1, not {read}")
    return read


def split(text: str) -> list[str]:
    """Names separated by commas, where a comma inside brackets or quotes separates nothing."""
    return [name.strip() for name in _ITEM.findall(text) if name.strip()]


def matching(wanted: str, names: Iterable[str]) -> list[str]:
    """The wanted name if it is among these, or else those that it is short for: of its base, with all its settings."""
    held = list(names)
    if wanted in held:
        return [wanted]
    short = parse(wanted)
    return [
        name
        for name in held
        if (full := parse(name)).base == short.base and short.settings.items() <= full.settings.items()
    ]


def one_of(wanted: object, names: Iterable[str], whose: str) -> str:
    """The one name that is meant, in full, or a KeyError that says which there are."""
    held = list(names)
    try:
        found = matching(wanted, held) if isinstance(wanted, str) else []
    except UsageError:  # it is no name at all
        found = []
    if len(found) != 1:
        raise KeyError(f"{wanted!r}: {whose} has {', '.join(held)}")
    return found[0]


def several(given: str | Iterable[str]) -> list[str]:
    """One text, or several."""
    return [given] if isinstance(given, str) else list(given)


def chosen_names(metrics: str | Iterable[str] | None) -> list[str]:
    """Names of metrics, as a list or with commas."""
    return [name for each in several(metrics or []) for name in split(each)]
