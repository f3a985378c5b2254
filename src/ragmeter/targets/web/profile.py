"""How a chat page is read, in a small file: where the question goes, where the answer is, what its end looks like."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragmeter.errors import InputError
from ragmeter.io.write import replacing

ENTER = "Enter"
#: What a page is likely to call the place where it shows an error.
ERRORS = (
    "[class*='error' i]:not([class*='boundary' i], [class*='no-error' i], [class*='has-error' i])",
    "[class*='exception' i], [data-testid*='exception' i], [data-testid*='error' i]",
    ".alert-danger, .bg-danger, .destructive, .bg-negative",
    "[class*='bg-red-'], [class*='border-red-'], [class*='bg-rose-']",
)


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the answer is, and what stands in it and is no part of it."""

    selector: str
    beside: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    thinking: tuple[str, ...] = ()
    sources: str = ""
    more: tuple[str, ...] = ()


class End(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the end of an answer looks like, and the seconds that its text must have been still."""

    gone: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    request: bool = False
    still: float = 4.0


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a page is read. A page that is read by a profile is read the same way each time: nothing is guessed."""

    answer: Answer
    box: str = ""
    send: str = ""
    page: str = ""
    before: tuple[str, ...] = ()
    end: End = End()
    errors: tuple[str, ...] = ()


#: What each key is, for the comments of the file: (table, key, comment).
_COMMENTS = {
    "page": "the page that this was learnt on",
    "before": "clicked in this order before the box is looked for: a banner, a bubble that opens the chat",
    "box": "takes the question",
    "send": 'sends it: "Enter", or what is clicked',
    "errors": "what the page shows instead of an answer, when something failed",
    "answer.selector": "the answers; those that are new after a question are its answer",
    "answer.beside": "texts beside the answers, a # stands for a number; any other new text makes an answer unsure",
    "answer.ignore": "in the answer, and no part of it",
    "answer.prefixes": "words that begin every answer, and are no part of it",
    "answer.suffixes": "words that end every answer, and are no part of it",
    "answer.thinking": "thoughts and steps: no part of the answer",
    "answer.sources": "the sources of an answer: they come back as a list",
    "answer.more": 'clicked when the answer is there, to see the rest of it ("Show more")',
    "end.gone": "can be seen while the page works on an answer, and never when it is finished",
    "end.back": "can be seen only when the page is ready for the next question",
    "end.request": "the answer has ended when the request with the question has",
    "end.still": "seconds that the text must not have changed; 0.3 is enough where the page shows its end",
}


def read_profile(path: Path) -> Profile:
    """Read the file of a profile; an error names the line and says what is wanted."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"can't read {path}: {error}", hint="`ragmeter web URL --learn page.toml` writes such a file"
        ) from None
    return parse_profile(text, str(path))


def parse_profile(text: str, name: str) -> Profile:
    """The profile that a text is; `name` is for messages."""
    try:
        profile = msgspec.convert(tomllib.loads(text), Profile)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is not TOML: {error}", hint="texts stand in quotes: box = '#question'") from None
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        key = place.strip("`").lstrip(".")
        if unknown := re.search(r"unknown field `(\w+)`", what):
            key, what = ".".join(filter(None, (key, unknown[1]))), "there is no such key"
        elif missing := re.search(r"missing required field `(\w+)`", what):
            key, what = ".".join(filter(None, (key, missing[1]))), "it is missing"
        known = ", ".join(_COMMENTS)
        raise InputError(f"{_place(text, name, key)}{key}: {what}", hint=f"the keys are {known}") from None
    for key, selector in _selectors(profile):
        if not selector.strip():
            raise InputError(f"{_place(text, name, key)}{key} has an empty selector", hint="remove it")
    if not 0 < profile.end.still <= 600:
        raise InputError(
            f"{_place(text, name, 'end.still')}end.still is {profile.end.still:g}", hint="it is in seconds: 0.3 to 10"
        )
    return profile


def _place(text: str, name: str, key: str) -> str:
    """The file and the line of a key, as far as it can be found."""
    table, _, last = re.sub(r"\[.*", "", key).rpartition(".")
    inside = not table
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip().startswith("["):
            inside = line.strip().strip("[]").strip() == table
        elif inside and re.match(rf"\s*{re.escape(last)}\s*=", line):
            return f"{name}, line {number}: "
    return f"{name}: "


def _selectors(profile: Profile) -> Iterator[tuple[str, str]]:
    """All selectors that may not be empty, with their keys."""
    for key in ("before", "errors"):
        yield from ((key, selector) for selector in getattr(profile, key))
    for key in ("ignore", "thinking", "more"):
        yield from ((f"answer.{key}", selector) for selector in getattr(profile.answer, key))
    yield "answer.selector", profile.answer.selector
    for key in ("gone", "back"):
        yield from ((f"end.{key}", selector) for selector in getattr(profile.end, key))


def css_of(profile: Profile) -> list[tuple[str, str]]:
    """The selectors that our script uses, with their keys: they must be CSS."""
    sources = ("answer.sources", profile.answer.sources)
    return [pair for pair in [*_selectors(profile), sources] if pair[1] and pair[0] != "before"]


def write_profile(path: Path, profile: Profile, notes: Sequence[str] = ()) -> None:
    """Write a profile with a comment at each key, and `notes` at its beginning."""
    with replacing(path) as (part,):
        part.write_text(shown(profile, notes), encoding="utf-8")


def shown(profile: Profile, notes: Sequence[str] = ()) -> str:
    """The text of a profile's file."""
    content = msgspec.to_builtins(profile)
    top = [key for key in ("page", "before", "box", "send", "errors") if content[key] not in ("", [], ())]
    lines = ["# How `ragmeter web --page` reads this chat page. Correct it by hand where it is wrong.", ""]
    lines[1:1] = [f"# {' '.join(note.split())}" for note in notes]
    for key in top:
        lines += _lines(key, key, content[key])
    for table in ("answer", "end"):
        lines += ["", f"[{table}]"]
        for key, value in content[table].items():
            if value not in ("", [], (), None) or (key == "beside" and value is not None):
                lines += _lines(f"{table}.{key}", key, value)
    return "\n".join(lines) + "\n"


def _lines(name: str, key: str, value: Any) -> list[str]:
    return [f"# {_COMMENTS[name]}", f"{key} = {_toml(value)}"]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        is_plain = "'" not in value and "\\" not in value and value.isprintable()
        literal = '"' in value and is_plain
        return f"'{value}'" if literal else json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return f"{value:g}"
