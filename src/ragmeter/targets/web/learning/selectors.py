"""Finds a stable selector for some elements: one that holds for all of them, and for nothing else that is new."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from ragmeter.targets.web.learning.tree import ROOT, Node, Tree

#: Classes that say how something looks: they change with a design.
_LOOKS = re.compile(
    r"\.(flex|grid|block|inline|hidden|relative|absolute|static|[pm][xytblr]?-|[wh]-|size-|text-|bg-|border|rounded|gap-|items-|"
    r"justify-|space-|font-|leading-|max-|min-|col|row|overflow|self-|order-|shadow|opacity-|transition|animate|duration|cursor-|"
    r"z-|top-|bottom-|left|right|whitespace|break|truncate|grow|shrink|prose|dark|group|first|last|new|active|full|q-|row)"
)
_MOST_ANCESTORS = 8


class _Step:
    """A part of a selector: a tag, tokens, or both."""

    def __init__(self, tag: str | None, tokens: tuple[str, ...]) -> None:
        self.tag, self.tokens = tag, tokens

    def __str__(self) -> str:
        return (self.tag.lower() if self.tag else "") + "".join(self.tokens)

    def holds(self, node: Node) -> bool:
        return (self.tag is None or node.tag == self.tag) and all(token in node.tokens for token in self.tokens)


def selector_for(nodes: Sequence[Node], trees: Sequence[Tree], harms: Callable[[Node], bool]) -> str | None:
    """A selector whose matches are these elements, or do no harm; None if there is none."""
    wanted = {id(node) for node in nodes}

    def is_safe(matches: Callable[[Node], bool]) -> bool:
        matched = [node for tree in trees for node in tree.nodes if matches(node)]
        rest = wanted - {id(node) for node in matched}
        return not rest and not any(id(node) not in wanted and harms(node) for node in matched)

    own = list(_own(nodes))
    for step in own:
        if (step.tokens or "-" in (step.tag or "")) and is_safe(step.holds):
            return str(step)
    for distance in range(1, _MOST_ANCESTORS):
        outers = [_outer(node, distance) for node in nodes]
        if any(outer is None for outer in outers):
            break
        joint = " > " if distance == 1 else " "
        for around in _own([outer for outer in outers if outer is not None]):
            if not around.tokens:
                continue
            for step in own:
                if is_safe(lambda node, a=around, s=step, d=distance: s.holds(node) and _is_in(node, a, d)):  # type: ignore[misc]
                    return f"{around}{joint}{step}"
    return next((str(step) for step in own if step.tag and not step.tokens and is_safe(step.holds)), None)


def _own(nodes: Sequence[Node]) -> Iterator[_Step]:
    """What these elements have in common, what is likeliest to last first."""
    tag = nodes[0].tag if len({node.tag for node in nodes}) == 1 else None
    common = [t for t in nodes[0].tokens if all(t in node.tokens for node in nodes)]
    if any("n" in node.flags for node in nodes):
        common = [token for token in common if not token.startswith("#")]
    common.sort(key=lambda token: (token[0] == ":", not token.startswith(("#", "[data-")), bool(_LOOKS.match(token))))
    for token in common:
        yield _Step(None if token.startswith("[") else tag, (token,))
    for pair in combinations(common[:5], 2):
        yield _Step(tag, pair)
    if len(common) > 2:
        yield _Step(tag, tuple(common[:4]))
    if tag:
        yield _Step(tag, ())


def _outer(node: Node, distance: int) -> Node | None:
    """What is around an element, so many steps up, in the same root."""
    for _ in range(distance):
        if node.outer is None or ROOT in node.flags:
            return None
        node = node.outer
    return node


def _is_in(node: Node, around: _Step, distance: int) -> bool:
    steps = (1,) if distance == 1 else range(1, 40)
    for step in steps:
        outer = _outer(node, step)
        if outer is None:
            return False
        if around.holds(outer):
            return True
    return False
