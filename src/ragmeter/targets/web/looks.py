"""What our script reports of a page: its form is checked, since the page may have tampered with it."""

from __future__ import annotations

from typing import Any, TypedDict, TypeGuard

#: The fields of a look at a page, and their types.
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "text": str,
    "guess": str,
    "extra": str,
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
    "facts": list,
}


class Link(TypedDict):
    """A source that the page shows: its text, and its address if it has one."""

    text: str
    href: str | None


class Look(TypedDict):
    """What our script sees of a page in one look. It is a page's word: `check_look` says if it has this form."""

    text: str
    guess: str
    extra: str
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
    facts: list[str]


class FrameLook(Look):
    """A look, and the frame that it was taken in."""

    frame: Any


class Signs(TypedDict, total=False):
    """What a frame has, to see whether the page still grows. Nothing is known of the values but whether they change."""

    boxes: object
    elements: object
    timers: object
    repeats: object
    opened: object


def check_look(look: Any) -> TypeGuard[Look]:
    """Whether a look at a page has its fields, and all of them are of their types."""
    fields = all(name in look and isinstance(look[name], kind) for name, kind in _FIELDS.items())
    return (
        fields
        and all(isinstance(fact, str) for fact in look["facts"])
        and all(
            isinstance(link, dict) and isinstance(link.get("text"), str) and isinstance(link.get("href"), str | None)
            for link in look["sources"] or ()
        )
    )


def read_sources(links: list[Link] | None) -> tuple[list[str] | None, list[str] | None]:
    """The sources that the page shows: their addresses or names, and their texts."""
    if links is None:
        return None, None
    return [link["href"] or link["text"] for link in links], [link["text"] for link in links]
