"""What our script reports of a page: its form is checked, since the page may have tampered with it."""

from __future__ import annotations

from typing import Any, TypedDict, TypeGuard

#: The fields of a look at a page, and their types.
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "text": str,
    "unsure": str,
    "ignored": str,
    "problem": str,
    "lost": bool,
    "echoed": bool,
    "signs": int,
    "waiting": int,
    "selector": (str, type(None)),
    "sources": (list, type(None)),
    "busy": (str, type(None)),
    "worked": bool,
    "idle": bool,
    "off": bool,
    "timers": bool,
    "ticking": bool,
    "ready": bool,
    "newly": bool,
}


class Link(TypedDict):
    """A source that the page shows: its text, and its address if it has one."""

    text: str
    href: str | None


class Look(TypedDict):
    """What our script sees of a page in one look. It is a page's word: `check_look` says if it has this form."""

    text: str
    unsure: str
    ignored: str
    problem: str
    lost: bool
    echoed: bool
    signs: int
    waiting: int
    selector: str | None
    sources: list[Link] | None
    busy: str | None
    worked: bool
    idle: bool
    off: bool
    timers: bool
    ticking: bool
    ready: bool
    newly: bool


class FrameLook(Look):
    """A look, and the frame that it was taken in."""

    frame: Any


class Message(TypedDict):
    """An answer that is done, so that the script knows it again: its parts, each a place and a text, and a selector."""

    parts: list[list[str]]
    suggested: str | None


class Signs(TypedDict, total=False):
    """What a frame has, to see whether the page still grows. Nothing is known of the values but whether they change."""

    boxes: object
    elements: object
    timers: object
    repeats: object
    opened: object


def check_look(look: Any) -> TypeGuard[Look]:
    """Whether a look at a page has its fields, and all of them are of their types."""
    return all(name in look and isinstance(look[name], kind) for name, kind in _FIELDS.items()) and all(
        isinstance(link, dict) and isinstance(link.get("text"), str) and isinstance(link.get("href"), str | None)
        for link in look["sources"] or ()
    )


def check_message(message: Any) -> TypeGuard[Message]:
    """Whether a message has the form that our script gives it: parts, each a place and a text, and a selector."""
    parts, selector = message.get("parts"), message.get("suggested")
    if not isinstance(parts, list) or not isinstance(selector, str | None):
        return False
    return all(isinstance(part, list) and len(part) == 2 and all(isinstance(x, str) for x in part) for part in parts)


def read_sources(links: list[Link] | None) -> tuple[list[str] | None, list[str] | None]:
    """The sources that the page shows: their addresses or names, and their texts."""
    if links is None:
        return None, None
    return [link["href"] or link["text"] for link in links], [link["text"] for link in links]
