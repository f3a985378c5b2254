"""HTML elements from Python: every text is escaped, and only what was made here is markup."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from urllib.parse import quote, urlencode

from ragmeter.wording.texts import in_html

_VOID = frozenset({"input", "meta", "link", "br", "hr", "wbr"})
#: Where a name may be broken: after a hyphen, an underscore or a slash, before settings and endings.
_BREAKS = re.compile(r"(?<=[-_/])|(?=[\[.])")
_TAG = re.compile(r"<[^>]*>")


class Markup(str):
    """HTML that is sent as it is."""

    __slots__ = ()


#: What an element may contain: markup, a text to escape, nothing, or several of these.
Content = str | Markup | None | Iterable["Content"]


def element(tag: str, *content: Content, **attributes: str | int | bool | None) -> Markup:
    """An element. `class_` and `for_` are written without the underscore, `data_run` as data-run.

    An attribute that is True has no value; one that is None or False is left out.
    """
    written = "".join(
        f" {_attribute(name)}" if value is True else f' {_attribute(name)}="{in_html(value)}"'
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    return Markup(f"<{tag}{written}>" if tag in _VOID else f"<{tag}{written}>{joined(*content)}</{tag}>")


def joined(*content: Content) -> Markup:
    """The parts one after another, texts escaped."""
    parts: list[str] = []
    for part in content:
        if isinstance(part, Markup):
            parts.append(part)
        elif isinstance(part, str):
            parts.append(in_html(part))
        elif part is not None:
            parts.append(joined(*part))
    return Markup("".join(parts))


def text(value: object, **attributes: str | int | bool | None) -> Markup:
    """A text from data. It has its own direction of writing, which changes nothing around it."""
    return in_own_direction(str(value), **attributes)


def in_own_direction(*content: Content, **attributes: str | int | bool | None) -> Markup:
    """A text from data with marks in it."""
    return element("bdi", *content, **{"dir": "auto", **attributes})


def breakable(value: object) -> Markup:
    """A name from data, such as that of a metric, which may be broken where it is too long for its column."""
    first, *rest = _BREAKS.split(str(value).replace(" ", "\u00a0"))
    return in_own_direction(first, [[element("wbr"), part] for part in rest])


def plain(content: Content) -> str:
    """The text alone; where a name may be broken it has a space of no width."""
    return unescape(_TAG.sub("", joined(content).replace("<wbr>", "\u200b")))


def address(*parts: str | int, **query: object) -> str:
    """An address of this app. Every part is quoted; a query value of None or an empty text is left out.

    A list is a value for each of its members, also for empty texts.
    """
    path = "/" + "/".join(quote(str(part), safe="") for part in parts)
    pairs = [
        (name, value)
        for name, values in query.items()
        for value in (values if isinstance(values, list | tuple) else [] if values == "" else [values])
        if value is not None and value is not False
    ]
    return f"{path}?{urlencode(pairs)}" if pairs else path


def link(label: Content, href: str, **attributes: str | int | bool | None) -> Markup:
    """A link to an address of this app."""
    return element("a", label, href=href, **attributes)


def _attribute(name: str) -> str:
    return name.rstrip("_").replace("_", "-")
