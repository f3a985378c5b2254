"""Markdown of answers as elements of ours: nothing is fetched, and no HTML of the text is any.

The parser finds what is what; only the elements below are made of it. A link is its words with the address in brackets,
an image is the text that stands for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragmeter.show.page.elements import Markup, element, in_own_direction, joined

if TYPE_CHECKING:
    from markdown_it.token import Token

#: What the parser's elements become; any other is left out, and what is in it stays.
_ELEMENTS = {
    "p": "p", "ul": "ul", "ol": "ol", "li": "li", "blockquote": "blockquote", "em": "em", "strong": "strong", "s": "s",
    "table": "table", "thead": "thead", "tbody": "tbody", "tr": "tr", "th": "th", "td": "td",
    **{f"h{level}": "h4" for level in range(1, 7)},
}  # fmt: skip
_BLOCKS = frozenset({"p", "li", "blockquote", "th", "td", "h4"})


def rendered(written: str) -> Markup:
    """A text in Markdown, as it is meant to be read."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return element("div", _elements(parser.parse(written)), class_="markdown")


def _elements(tokens: Sequence[Token]) -> Markup:
    """The tokens as elements; what begins and ends an element stands around its content."""
    open_elements: list[tuple[str, list[Markup]]] = [("", [])]
    for token in tokens:
        if token.nesting == 1:
            open_elements.append((token.tag, [_target(token)] if token.type == "link_open" else []))
        elif token.nesting == -1:
            tag, content = open_elements.pop()
            open_elements[-1][1].append(_closed(tag, content))
        else:
            open_elements[-1][1].extend(_leaf(token))
    return joined(content for _, content in open_elements)


def _target(token: Token) -> Markup:
    """The address of a link; it is put after the link's words."""
    return joined(f" ({token.attrGet('href') or ''})")


def _closed(tag: str, content: list[Markup]) -> Markup:
    if tag == "a":
        return joined(content[1:], content[0])
    if tag not in _ELEMENTS:
        return joined(content)
    name = _ELEMENTS[tag]
    return element(name, content, dir="auto" if name in _BLOCKS else None)


def _leaf(token: Token) -> Iterator[Markup]:
    """What has no content of its own: texts, code, lines, images."""
    if token.type == "inline":
        yield _elements(token.children or [])
    elif token.type in ("fence", "code_block"):
        yield element("pre", element("code", token.content))
    elif token.type == "code_inline":
        yield element("code", token.content)
    elif token.type in ("softbreak", "hardbreak"):
        yield element("br") if token.type == "hardbreak" else joined("\n")
    elif token.type == "hr":
        yield element("hr")
    elif token.type == "image":
        yield in_own_direction(token.content)
    else:
        yield joined(token.content)
