"""What our script reports of a page: its form is checked, since the page may have tampered with it."""

from __future__ import annotations

from typing import Any, TypedDict, TypeGuard

import msgspec

from ragmeter.io.cells import whole
from ragmeter.io.write import dumps


class Link(TypedDict):
    """A source that the page shows: its text, and its address if it has one."""

    text: str
    href: str | None


class Look(TypedDict):
    """What our script sees of a page in one look. It is a page's word: `is_look` says if it has this form."""

    text: str
    guess: str
    problem: str
    lost: bool
    echoed: bool
    selector: str | None
    links: list[str]
    sources: list[Link] | None
    busy: str | None
    moves: bool
    ready: bool
    newly: bool
    facts: list[str]


class FrameLook(Look):
    """A look, and the frame that it was taken in."""

    frame: Any


class Signs(TypedDict, total=False):
    """What a frame has, to see whether the page still grows. Nothing is known of the values but whether they change."""

    boxes: object
    fields: object
    elements: object


class LeftOver(TypedDict):
    """Something new on a page that the profile does not name: `what` is "fold" for what could be unfolded, "part" for a
    part of the answer that its name calls something else, and "text" for any other text.
    """

    what: str
    text: str
    selector: str


def is_left_over(parts: object) -> TypeGuard[list[LeftOver]]:
    """Whether this has the form of what is left over."""
    return _has_form(parts, list[LeftOver])


def is_look(look: object) -> TypeGuard[Look]:
    """Whether a look at a page has its fields, and all of them are of their types."""
    return _has_form(look, Look)


def _has_form(value: object, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def links_column(links: list[str]) -> dict[str, str | float]:
    """The column `links` of the run: the addresses that an answer links to, as a JSON list; none if there is none."""
    return {"links": dumps([whole(link) for link in links])} if links else {}


def read_sources(links: list[Link] | None) -> tuple[list[str] | None, list[str] | None]:
    """The sources that the page shows: their addresses or names, and their texts."""
    if links is None:
        return None, None
    return [link["href"] or link["text"] for link in links], [link["text"] for link in links]
