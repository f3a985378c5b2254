"""What was new on a page after a question, as a tree of elements and texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

#: Tags that text in a message is made of: one of them alone is hardly the place of all answers.
PROSE = frozenset(
    ("P", "UL", "OL", "LI", "TABLE", "THEAD", "TBODY", "TR", "TD", "TH", "PRE", "CODE", "BLOCKQUOTE", "H1", "H2", "H3",
     "H4", "H5", "H6", "A", "STRONG", "B", "EM", "I", "DL", "DT", "DD", "SUP", "SUB")
)  # fmt: skip
#: Flags of an element: it is new, a block, at the top of a shadow root, a button, round, a link, clicked by a person.
NEW, BLOCK, ROOT, BUTTON, ROUND, LINK, PICKED = "nbrcilp"
#: The flags of a text: it repeats the question, it is there to be clicked, it floats over the page.
ECHO, ASIDE, FLOATS = "eaf"


@dataclass(eq=False)
class Text:
    """A text that stands directly in an element. `kind` is empty where it may be part of an answer."""

    text: str
    flags: str
    inside: Node
    order: int
    kind: str = ""

    @property
    def is_live(self) -> bool:
        """Whether it may be part of an answer."""
        return not self.kind


@dataclass(eq=False)
class Node:
    """An element: its tag, and what it can be selected by."""

    tag: str
    tokens: tuple[str, ...]
    flags: str
    outer: Node | None
    order: int = 0
    nodes: list[Node] = field(default_factory=list)
    own: list[Text] = field(default_factory=list)

    @property
    def signature(self) -> tuple[str, ...]:
        """What says that two elements are of one kind."""
        return (self.tag, *sorted(token for token in self.tokens if not token.startswith("#")))

    @property
    def is_prose(self) -> bool:
        """Whether it is made for a part of a text."""
        return self.tag in PROSE or (self.tag == "SPAN" and not self.tokens and BLOCK not in self.flags)

    def texts(self) -> Iterator[Text]:
        """All texts in it."""
        yield from self.own
        for node in self.nodes:
            yield from node.texts()

    def live(self) -> list[Text]:
        """The texts in it that may be part of an answer."""
        return [text for text in self.texts() if text.is_live]

    def lineage(self) -> Iterator[Node]:
        """It and what is around it."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.outer

    def holds(self, other: Node) -> bool:
        """Whether another element is in it, or is it."""
        return any(node is self for node in other.lineage())

    def has_beside(self, part: Node) -> bool:
        """Whether it has more in it than paragraphs and the like of the same answer: the question, another part."""
        others = [node for node in self.nodes if node.live() and not node.is_prose and node.signature != part.signature]
        return any(ECHO in text.flags for text in self.texts()) or (bool(others) and not part.is_prose)

    def everything(self) -> Iterator[Node]:
        """It and all elements in it."""
        yield self
        for node in self.nodes:
            yield from node.everything()


class Tree:
    """The new texts of a page, and the elements that hold them. The page may have tampered with `entries`."""

    def __init__(self, entries: Sequence[Any]) -> None:
        self.nodes: list[Node] = []
        self.texts: list[Text] = []
        at: dict[int, Node] = {}
        for order, entry in enumerate(entries):
            match entry:
                case [int(place), str(tag), [*tokens], str(flags)]:
                    outer = at.get(place)
                    node = Node(tag, tuple(t for t in tokens if isinstance(t, str)), flags, outer, order)
                    at[order] = node
                    self.nodes.append(node)
                    if outer is not None:
                        outer.nodes.append(node)
                case [int(place), str(text), str(flags)] if place in at:
                    piece = Text(" ".join(text.split()), flags, at[place], order)
                    at[place].own.append(piece)
                    self.texts.append(piece)

    @property
    def root(self) -> Node | None:
        """The outermost element."""
        return self.nodes[0] if self.nodes else None

    def live(self) -> list[Text]:
        """The texts that may be part of an answer."""
        return [text for text in self.texts if text.is_live]
