"""Escapes texts for the place where they are shown: a terminal, HTML, Markdown, LaTeX, XML."""

from __future__ import annotations

import re
from html import escape

#: Control characters, and those that change the direction of the following text.
_STEERING = r"\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNPRINTABLE = re.compile(rf"[\x00-\x08\x0b-\x1f{_STEERING}]")
#: The same with tabs, and characters without a shape of their own: with them, two names may look alike.
_STEERS = re.compile(
    rf"[\x00-\x09\x0b-\x1f\u061c\u200b\u200e\u200f\u2028\u2029\u2060-\u2064\ufeff{_STEERING}\U000e0000-\U000e007f]"
)
_LONGEST_LINE = 4000
_BREAKS = re.compile(rf"[\x00-\x1f\u2028\u2029{_STEERING}\ufffe\uffff]+")
#: Markup of Markdown: emphasis, code, links and tables; and what begins a block.
_MARKUP = re.compile(r"[\\`*_\[\]|~$]|^\s*[#+=-]+(?=\s|$)")
#: What GitHub turns into a link or a mention. A zero-width space prevents that.
_LIVELY = re.compile(r"(?<!\w)@(?=\w)|(?<=http)s?:(?=//)|(?<=www)\.", re.IGNORECASE)
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': '{"}', "[": "{[}", "]": "{]}",
}  # fmt: skip
#: Characters that XML 1.0 can't contain.
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def printable(text: str) -> str:
    """The text without control characters of a terminal."""
    return _UNPRINTABLE.sub("\ufffd", text)


def visible(text: str) -> str:
    """The text of a message, in which anybody's words may stand: control characters are shown as escapes, `\\x1b`.

    Line breaks stay. A line of many thousand characters is cut.
    """
    lines = _STEERS.sub(lambda match: ascii(match[0])[1:-1], text).split("\n")
    return "\n".join(line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in lines)


def one_line(text: str) -> str:
    """The text without line breaks and control characters."""
    return _BREAKS.sub(" ", text)


def shortened(text: str, limit: int) -> str:
    """The text on one line of at most `limit` characters, with an ellipsis if it was cut."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def in_html(text: object) -> str:
    """A text that HTML shows as it is."""
    return escape(printable(str(text)))


def in_markdown(text: str) -> str:
    """A text that Markdown shows as it is, in a table too: no markup, no HTML, no link, no mention of anybody."""
    quiet = escape(_LIVELY.sub("\\g<0>\u200b", one_line(text)), quote=False)
    return _MARKUP.sub(lambda match: re.sub(r"(\S)", r"\\\1", match[0], count=1), quiet)


def in_latex(text: str) -> str:
    """A text that LaTeX shows as it is, on one line."""
    return "".join(_LATEX.get(character, character) for character in one_line(text))


def in_xml(text: str) -> str:
    """A text without characters that XML can't contain."""
    return _NOT_IN_XML.sub("\ufffd", text)
