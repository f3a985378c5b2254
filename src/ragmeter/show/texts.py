"""Anybody's words, made harmless for the place where they are shown: a terminal, HTML, Markdown, LaTeX, XML."""

from __future__ import annotations

import re
from html import escape

#: Control characters, and those that turn the direction of the text that follows.
_STEERING = r"\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNPRINTABLE = re.compile(rf"[\x00-\x08\x0b-\x1f{_STEERING}]")
_BREAKS = re.compile(rf"[\x00-\x1f\u2028\u2029{_STEERING}\ufffe\uffff]+")
#: What means something in Markdown: emphasis, code, links and tables; and what begins a block.
_MARKUP = re.compile(r"[\\`*_\[\]|~$]|^\s*[#+=-]+(?=\s|$)")
#: What GitHub makes a link, or a message to somebody, without being told to. A space of no width keeps it from that.
_LIVELY = re.compile(r"(?<!\w)@(?=\w)|(?<=http)s?:(?=//)|(?<=www)\.", re.IGNORECASE)
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': '{"}', "[": "{[}", "]": "{]}",
}  # fmt: skip
#: What XML 1.0 has no way to write.
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def printable(text: str) -> str:
    """The text without what would steer a terminal."""
    return _UNPRINTABLE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """The text without line breaks and control characters."""
    return _BREAKS.sub(" ", text)


def shortened(text: str, most: int) -> str:
    """The text on one line of at most so many characters, and a sign where something is left out."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


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
    """A text without what XML can't hold."""
    return _NOT_IN_XML.sub("\ufffd", text)
