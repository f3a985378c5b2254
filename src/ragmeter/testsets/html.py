"""The text of an HTML page: its headings and paragraphs, without what stands around them."""

from __future__ import annotations

from html.parser import HTMLParser

#: Elements whose content nobody reads as a text of the page.
_LEFT_OUT = frozenset(
    {"script", "style", "nav", "header", "footer", "aside", "form", "noscript", "template", "svg", "button", "select"}
)
_BLOCKS = frozenset(
    {"p", "div", "li", "ul", "ol", "tr", "table", "section", "article", "main", "blockquote", "pre", "dt", "dd", "br",
     "hr", "td", "th", "figcaption"}
)  # fmt: skip
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}


class _Page(HTMLParser):
    """Collects the texts of a page as Markdown has them: hashes before a heading, a blank line before a paragraph."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.parts: list[str] = []
        self._left_out: list[str] = []
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _LEFT_OUT:
            self._left_out.append(tag)
        elif tag == "title":
            self._in_title = True
        elif tag in _HEADINGS:
            self.parts.append(f"\n\n{_HEADINGS[tag]} ")
        elif tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._left_out:  # also where an inner element was never closed
            while self._left_out.pop() != tag:
                pass
        elif tag == "title":
            self._in_title = False
        elif tag in _HEADINGS or tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._left_out:
            self.parts.append(" ".join(data.split()) if data.strip() else " ")
            if data[-1:].isspace():
                self.parts.append(" ")


def text_of_page(html: str) -> str:
    """The page as Markdown, its title first where no heading says the same."""
    page = _Page()
    page.feed(html)
    page.close()
    text = "".join(page.parts).strip()
    title = " ".join(page.title.split())
    return f"# {title}\n\n{text}" if title and not text.startswith("# ") else text
