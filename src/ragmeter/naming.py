"""The grammar of names: `ndcg@10`, `rouge_l_score[language=es]`, `mypkg.scorers.MyScorer`.

A name is a metric's only identity: it is the argument, the column and the key in the summary, and
parsing a printed name gives an equal metric.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

from ragmeter.errors import UsageError
from ragmeter.hints import option

_NAME = re.compile(r"(?P<base>[^\W\d][\w.:]*)(?:@(?P<k>\d+))?(?:\[(?P<settings>.*)\])?", re.DOTALL)
_SETTING = re.compile(r'\s*(?P<key>\w+)\s*=\s*(?P<value>"(?:[^"\\]|\\.)*"|[^",\[\]]*?)\s*(?:,|$)', re.DOTALL)
_ITEM = re.compile(r'(?:\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\]|[^,])+', re.DOTALL)
_BARE = re.compile(r"[\w.+/:-]+")

#: Settings by their names, each with a value of the type that its owner declares: of a metric, a derived column, a
#: column that a judge fills, or whatever else is opened by a name.
Settings: TypeAlias = Mapping[str, Any]
#: What a result depends on and may be written down, as JSON: of an input, a system, a model or a judge. A user's own
#: system or provider has members of its own in it.
Signature: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Name:
    """A parsed name: its base, and its settings as texts."""

    base: str
    settings: Mapping[str, str]


def parse(text: str) -> Name:
    """Parse a name. A cut-off, `@10`, is the setting `k`."""
    match = _NAME.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"{text!r} is not a metric's name", hint="names look like token_f1, ndcg@10 or rouge_l_score[language=es]"
        )
    settings: dict[str, str] = {}
    if match["k"] is not None:
        settings["k"] = match["k"]
    listed = match["settings"] or ""
    position = 0
    while position < len(listed):
        setting = _SETTING.match(listed, position)
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


def base_of(name: str) -> str:
    """The name of a metric without its settings; the name itself, where it is none of a metric."""
    try:
        return parse(name).base
    except UsageError:
        return name


def render(base: str, settings: Settings) -> str:
    """The name with these settings, in their order."""
    cut = f"@{settings['k']}" if settings.get("k") is not None else ""
    inside = ",".join(f"{key}={_value(value)}" for key, value in settings.items() if key != "k")
    return f"{base}{cut}[{inside}]" if inside else f"{base}{cut}"


def _value(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 100 and 100.0 are one name
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if _BARE.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def read_setting(title: str, value: Any, setting_type: Any) -> Any:
    """A setting's value, converted to the type that the metric declares for it. `title` names it in errors."""
    if get_origin(setting_type) in (Union, types.UnionType):
        if value is None or (isinstance(value, str) and value.casefold() == "none"):
            return None
        setting_type = next(choice for choice in get_args(setting_type) if choice is not type(None))
    if hasattr(setting_type, "parse"):
        return setting_type.parse(value)
    if get_origin(setting_type) is Literal:
        for choice in get_args(setting_type):
            if str(value) == str(choice):
                return choice
        raise UsageError(f"{title} must be one of {', '.join(map(str, get_args(setting_type)))}, got {value!r}")
    if setting_type is bool and isinstance(value, str):
        meanings = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if value.casefold() in meanings:
            return meanings[value.casefold()]
        raise UsageError(f"{title} must be yes or no, got {value!r}")
    try:
        read = setting_type(value)
    except (TypeError, ValueError):
        raise UsageError(f"{title} must be {setting_type.__name__}, got {value!r}") from None
    if title.endswith(": k") and read < 1:
        raise UsageError(f"{title} must be at least 1, got {read}")
    return read


def split(text: str) -> list[str]:
    """Split names at commas, but not at commas inside brackets or quotes."""
    return [name.strip() for name in _ITEM.findall(text) if name.strip()]


def matching(name: str, names: Iterable[str]) -> list[str]:
    """The name itself if it is in `names`, else all names with the same base and at least its settings."""
    available = list(names)
    if name in available:
        return [name]
    short = _parsed(name)
    if short is None:
        return []
    return [
        candidate
        for candidate in available
        if (full := _parsed(candidate)) is not None
        and full.base == short.base
        and short.settings.items() <= full.settings.items()
    ]


def _parsed(name: str) -> Name | None:
    """The parsed name; None for what is no metric's name, as a column of somebody's own."""
    try:
        return parse(name)
    except UsageError:
        return None


def one_of(name: object, names: Iterable[str], owner: str) -> str:
    """The only full name that matches, or a KeyError that lists the names of `owner`."""
    available = list(names)
    matches = matching(name, available) if isinstance(name, str) else []
    if len(matches) != 1:
        raise KeyError(f"{name!r}: {owner} has {', '.join(available)}")
    return matches[0]


def several(texts: str | Iterable[str]) -> list[str]:
    """A list of texts, from a single text or several."""
    return [texts] if isinstance(texts, str) else list(texts)


def metrics_or_all(metrics: str | Iterable[str] | None) -> list[str] | None:
    """The names of metrics; None, which stands for all, only where nothing was given."""
    names = chosen_names(metrics)
    if metrics is not None and not names:
        raise UsageError("no metric was named", hint=f"leave out {option('metrics')} for all")
    return names or None


def chosen_names(metrics: str | Iterable[str] | None) -> list[str]:
    """The names of metrics, from a list or a text with commas."""
    return [name for text in several(metrics or []) for name in split(text)]
