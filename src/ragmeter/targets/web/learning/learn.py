"""From what was new after a few questions to a profile: what all messages have in common is no part of an answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ragmeter.hints import option
from ragmeter.targets.web.learning.kinds import (
    ABOVE,
    FIXED,
    LABEL,
    QUESTION,
    SOURCE,
    THOUGHT,
    classify,
    with_numbers,
)
from ragmeter.targets.web.learning.selectors import selector_for
from ragmeter.targets.web.learning.signs import Course, learn_end
from ragmeter.targets.web.learning.tree import BLOCK, LINK, NEW, PICKED, Node, Text, Tree
from ragmeter.targets.web.profile import ERRORS, Answer, End, Profile

#: Of two parts that change with the question, the smaller one is worth a doubt if it has this share of the larger one.
_ALSO = 0.25
#: The last step of a selector that may leave something out: another tag alone may be anything in another answer.
_TELLING = re.compile(r"[.#[]|-|^(details|summary|time|nav|aside|footer)$")
#: Parts of a message: paragraphs, lists and tables; and words.
_BLOCKS, _INLINE = ("blocks",), ("words",)
#: The most characters of a name that stands beside the question.
_NAME = 40


@dataclass
class Sample:
    """What came of one question: the new part of the page, how it came, and a text as far as it was told."""

    question: str
    tree: list[Any]
    course: Course = field(default_factory=Course)


@dataclass
class Learnt:
    """A profile, if there is one, and what is doubtful about it."""

    profile: Profile | None
    doubts: list[str]
    is_same: bool = False  # the page shows the same text for different questions
    has_text: bool = True  # there is more than labels


@dataclass
class _Places:
    """Where the answers are: the parts of the messages that may be answers, and doubts."""

    levels: list[list[Node]]
    small: int  # so many of them are as small as their labels require, or smaller
    doubts: list[str]


def learn(samples: Sequence[Sample], base: Profile | None = None) -> Learnt:
    """Work out how the page is read. What `base` names is not looked for."""
    distinct = list({sample.question: sample for sample in reversed(samples)}.values())[::-1]
    trees = [tree for tree in (Tree(sample.tree) for sample in distinct) if tree.texts]
    end = base.end if base is not None and (base.end.gone or base.end.back) else learn_end([s.course for s in samples])
    if base is not None and base.answer.selector:
        return Learnt(joined(base, base.answer, end), [])
    if not trees or not Tree(distinct[-1].tree).texts:
        return Learnt(None, ["nothing new was on the page after a question"], has_text=False)
    classify(trees)
    if len(trees) > 1 and not any(tree.live() for tree in trees):
        return Learnt(None, ["the page shows the same text for different questions"], is_same=True)
    places = _picked(trees) or _find(trees)
    if places is None:
        return Learnt(None, ["no part of the page looks like an answer: there are only labels"], has_text=False)
    answer, doubts = _rule(places, trees)
    if answer is None:
        return Learnt(None, [*places.doubts, *doubts])
    return Learnt(joined(base, answer, end), [*places.doubts, *doubts])


def joined(base: Profile | None, answer: Answer, end: End, errors: tuple[str, ...] = ()) -> Profile:
    """What was given, and what is known beside it."""
    if base is None:
        return Profile(answer, end=end, errors=ERRORS)
    kept = base.answer
    both = Answer(
        kept.selector or answer.selector,
        answer.beside if kept.beside is None and not kept.selector else kept.beside,
        tuple(dict.fromkeys((*kept.ignore, *answer.ignore))),
        kept.prefixes or answer.prefixes,
        kept.suffixes or answer.suffixes,
        kept.thinking or answer.thinking,
        kept.sources or answer.sources,
        kept.more or answer.more,
    )
    return Profile(
        both, base.box, base.send, base.page, base.before, end, tuple(dict.fromkeys((*errors, *base.errors)))
    )


# -- where the answers are ---------------------------------------------------------------------------------------------


def _find(trees: Sequence[Tree]) -> _Places | None:
    """The messages of the answers, by what they have in common."""
    groups: list[dict[tuple[str, ...], list[Node]]] = [_messages(tree) for tree in trees]
    sizes: Counter[tuple[str, ...]] = Counter()
    seen: Counter[tuple[str, ...]] = Counter()
    for group in groups:
        for signature, nodes in group.items():
            sizes[signature] += sum(len(text.text) for node in nodes for text in node.live())
            seen[signature] += 1
    if not seen or not groups[-1]:  # the last one has only labels so far
        return None
    often = max(seen.values())
    ranked = sorted((s for s in seen if seen[s] == often), key=lambda s: -sizes[s])
    chosen, doubts = ranked[0], []
    if len(ranked) > 1 and len(trees) > 1 and sizes[ranked[1]] >= _ALSO * sizes[chosen]:
        both = " and ".join(_shown(_first(groups, signature)) for signature in ranked[:2])
        doubts.append(f"two parts of the page change with the question: {both}")
    messages = [node for group in groups for node in group.get(chosen, ())]
    if often < len(trees):
        doubts.append("not every answer is in the same kind of message")
    levels, small, more = _content(messages, several=len(trees) > 1)
    return _Places(levels, small, [*doubts, *more])


def _picked(trees: Sequence[Tree]) -> _Places | None:
    """Where the answers are that a person has clicked, if one was in each tree."""
    messages = []
    for tree in trees:
        message = next((node for node in tree.nodes if PICKED in node.flags), None)
        if message is None:
            return None
        while (outer := message.outer) is not None and NEW in outer.flags and not outer.has_beside(message):
            message = outer
        messages.append(message)
    return _Places(*_content(messages, several=len(messages) > 1))


def _first(groups: Sequence[dict[tuple[str, ...], list[Node]]], signature: tuple[str, ...]) -> Node:
    return next(group[signature][0] for group in groups if signature in group)


def _shown(node: Node) -> str:
    return _short(" ".join(text.text for text in node.live()))


def _short(words: str) -> str:
    return repr(words if len(words) <= 40 else words[:37] + "...")


def _messages(tree: Tree) -> dict[tuple[str, ...], list[Node]]:
    """The outermost new elements with a text that is not the question, nearest to the question."""
    live, echoes = tree.live(), [text for text in tree.texts if text.kind == QUESTION]
    around_echo = {id(node) for echo in echoes for node in echo.inside.lineage()}
    depths: dict[int, int] = {}
    tops: list[tuple[int, Node]] = []
    for text in live:
        top, meets = _top(text, around_echo)
        if id(top) not in depths:
            depths[id(top)] = meets
            tops.append((meets, top))
    if not tops:
        return {}
    nearest = _nearest(tops)
    near = [top for meets, top in tops if meets == nearest or not echoes]
    if echoes:
        last = (
            max((echo.order for echo in echoes if _depth_of_meeting(echo, near) == nearest), default=0) if near else 0
        )
        after = [top for top in near if top.order > last or any(text.order > last for text in top.live())]
        if after:
            near = after
            for text in live:
                if text.order < last and not any(top.holds(text.inside) for top in near):
                    text.kind = ABOVE
    found: dict[tuple[str, ...], list[Node]] = {}
    for top in near:
        found.setdefault(top.signature, []).append(top)
    return found


def _nearest(tops: Sequence[tuple[int, Node]]) -> int:
    """How deep the place of the answer is: as near to the question as can be, but for a name beside it."""
    sizes: Counter[int] = Counter()
    for meets, top in tops:
        sizes[meets] += sum(len(text.text) for text in top.live())
    depths = sorted(sizes, reverse=True)
    deepest = next(top for meets, top in tops if meets == depths[0])
    is_beside = deepest.outer is not None and NEW in deepest.outer.flags and sizes[depths[0]] <= _NAME
    return depths[1] if is_beside and len(depths) > 1 and sizes[depths[1]] >= sizes[depths[0]] else depths[0]


def _depth_of_meeting(echo: Text, tops: Sequence[Node]) -> int:
    outers = {id(node) for node in echo.inside.lineage()}
    return max((len(list(top.outer.lineage())) if top.outer and id(top.outer) in outers else 0) for top in tops)


def _top(text: Text, around_echo: set[int]) -> tuple[Node, int]:
    """The largest new element around a text that does not hold the question, and how deep its place is."""
    top = text.inside
    while top.outer is not None and id(top.outer) not in around_echo:
        if NEW not in top.outer.flags and (around_echo or NEW in top.flags):
            if not around_echo:
                break
            if top.outer.outer is None or top.outer.tag == "BODY":
                break
        if top.outer.tag in ("BODY", "HTML"):
            break
        top = top.outer
    meets = len(list(top.outer.lineage())) if top.outer is not None and id(top.outer) in around_echo else 0
    return _below_old(top, text), meets


def _below_old(top: Node, text: Text) -> Node:
    """An element that was there before is not the message, if a new one in it holds the text."""
    if NEW in top.flags:
        return top
    inner = [node for node in text.inside.lineage() if NEW in node.flags and top.holds(node)]
    return inner[-1] if inner else text.inside


def _content(messages: Sequence[Node], *, several: bool) -> tuple[list[list[Node]], int, list[str]]:
    """The parts of each message that may be the answer: as small as their labels require, smaller ones, larger ones.

    The number is that of those that are as small or smaller.
    """
    levels, doubts = [list(messages)], []
    while True:
        inner = [_only_part(node) for node in levels[-1]]
        if any(node is None for node in inner) or len({node.signature for node in inner if node}) != 1:
            break
        levels.append([node for node in inner if node is not None])
    parts = [{_part_kind(kid): kid for kid in node.nodes if kid.live()} for node in levels[-1]]
    common = set.intersection(*(set(part) for part in parts)) if several else set()
    if len(common) > 1 or (several and all(len(part.keys() - {_BLOCKS, _INLINE}) > 1 for part in parts)):
        both = [_shown(kid) for _, kid in sorted(parts[0].items())[:2]]
        doubts.append(f"a message has several parts that change with the question: {' and '.join(both)}")
    place = len(levels) - 1
    while place and not any(_has_labels(node) for node in levels[place - 1]):
        place -= 1
    return [*levels[place:], *levels[:place][::-1]], len(levels) - place, doubts


def _part_kind(node: Node) -> tuple[str, ...]:
    """What kind of part it is: paragraphs and the like, words beside them, or an element of its own."""
    return node.signature if not node.is_prose else _BLOCKS if BLOCK in node.flags else _INLINE


def _only_part(node: Node) -> Node | None:
    """The one part of an element that has all of its live text, if it is not a paragraph or the like."""
    inner = [kid for kid in node.nodes if kid.live()]
    is_cell = len(inner) == 1 and inner[0].tag in ("TD", "TH")
    if any(text.is_live for text in node.own) or len(inner) != 1 or (inner[0].is_prose and not is_cell):
        return None
    return inner[0]


def _has_labels(node: Node) -> bool:
    return any(not text.is_live for text in node.texts())


# -- the rule that reads them ------------------------------------------------------------------------------------------


def _rule(places: _Places, trees: Sequence[Tree]) -> tuple[Answer | None, list[str]]:
    doubts: list[str] = []
    others = [places.levels[0], *places.levels[places.small :]]
    for contents, allowed in [
        *((level, ()) for level in places.levels),
        *((level, (QUESTION,)) for level in others),
        *((level, (QUESTION, FIXED)) for level in others),
    ]:
        if selector := _selector(contents, trees, allowed):
            break
    else:
        return None, [f"no selector holds for the answers alone: name one with {option('answer_selector')}"]
    ours = {id(text) for node in contents for text in node.texts()}
    inside = {id(inner) for node in contents for inner in node.everything()}
    names = _Names(trees)
    prefixes: Counter[str] = Counter()
    suffixes: Counter[str] = Counter()
    for content in contents:
        unnamed = [part for part in _dead_parts(content) if not names.leave_out(part)]
        aside = [part for part in unnamed if all(text.kind in (SOURCE, THOUGHT) for text in part.texts())]
        doubts += [f"no selector holds for a part that is no answer: {_short(next(p.texts()).text)}" for p in aside]
        for words, at_start in _fixed_texts(content, names.named):
            (prefixes if at_start else suffixes)[with_numbers(words)] += 1
    outside = [text for tree in trees for text in tree.texts if id(text) not in ours and text.kind != QUESTION]
    size = sum(len(text.text) for node in contents for text in node.live())
    for text in outside:
        if text.kind == FIXED or not names.leave_out(_alone(text, inside)):
            names.beside[with_numbers(text.text)] = None
    other = [text for text in outside if text.is_live]
    if sum(len(text.text) for text in other) >= _ALSO * size:
        longest = max(other, key=lambda text: len(text.text))
        doubts.append(
            f"two parts of the page change with the question: {_shown(contents[0])} and {_short(longest.text)}"
        )
    return names.answer(selector, tuple(prefixes), tuple(suffixes)), doubts


def _selector(contents: Sequence[Node], trees: Sequence[Tree], allowed: tuple[str, ...]) -> str | None:
    """A selector for the answers. It may also match elements that have a text of each of the kinds that are allowed.

    The reader leaves out the question's own message, and what all answers have can be cut off.
    """
    inside = {id(inner) for node in contents for inner in node.everything()}
    around = {id(outer) for node in contents for outer in node.lineage()}

    def harms(node: Node) -> bool:  # a match in an answer is no second answer
        texts = [] if id(node) in inside else list(node.texts())
        is_known = any(text.kind in allowed for text in texts) and not any(text.is_live for text in texts)
        return bool(texts) and (id(node) in around or not is_known)

    return selector_for(contents, trees, harms)


class _Names:
    """What a profile names besides the answers: parts that are left out, and texts beside them."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.named: set[tuple[str, ...]] = set()
        self.beside: dict[str, None] = {}
        self._trees = trees
        self._ignore: dict[str, None] = {}
        self._thinking: dict[str, None] = {}
        self._sources = ""

    def leave_out(self, part: Node) -> bool:
        """Name a part by a selector; False if there is none that would not harm a later answer."""
        if part.signature in self.named:
            return True
        name = selector_for([part], self._trees, lambda node: any(text.is_live for text in node.texts()))
        if name is None or name.count(" ") > 2 or not _TELLING.search(re.split(r"[ >]", name)[-1]):
            return False
        self.named.add(part.signature)
        kind = next(part.texts()).kind
        (self._thinking if kind == THOUGHT else self._ignore)[name] = None
        if kind == SOURCE and not self._sources:
            self._sources = f"{name} a" if any(LINK in node.flags for node in part.everything()) else name
        return True

    def answer(self, selector: str, prefixes: tuple[str, ...], suffixes: tuple[str, ...]) -> Answer:
        """The answer's part of the profile."""
        ignore, thinking, beside = tuple(self._ignore), tuple(self._thinking), tuple(self.beside)
        return Answer(selector, beside, ignore, prefixes, suffixes, thinking, self._sources)


def _alone(text: Text, inside: set[int]) -> Node:
    """The largest new element around a text outside of the answers that has nothing else than such texts."""
    node = text.inside
    while (outer := node.outer) is not None and NEW in outer.flags and NEW in node.flags:
        if any(other.kind == QUESTION or other.is_live != text.is_live for other in outer.texts()):
            break
        if any(id(inner) in inside for inner in outer.everything()):
            break
        node = outer
    return node


def _dead_parts(content: Node) -> list[Node]:
    """The largest parts of an answer's element that hold labels only, one of each kind."""
    parts: dict[tuple[str, ...], Node] = {}

    def collect(node: Node) -> None:
        for kid in node.nodes:
            texts = list(kid.texts())
            if texts and not any(text.is_live for text in texts):
                if not kid.is_prose or kid.tokens:
                    kinds = {text.kind for text in texts}
                    parts.setdefault((*kid.signature, *sorted(kinds)), kid)
            else:
                collect(kid)

    collect(content)
    return list(parts.values())


def _fixed_texts(content: Node, named: set[tuple[str, ...]]) -> list[tuple[str, bool]]:
    """Labels before and after an answer that no selector leaves out, those that are farthest from it first."""
    texts = sorted(content.texts(), key=lambda text: text.order)
    live = [place for place, text in enumerate(texts) if text.is_live]
    if not live:
        return []
    left = [text for text in texts if not any(node.signature in named for node in text.inside.lineage())]
    left = [text for text in left if text.kind in (FIXED, LABEL)]
    before = [(text.text, True) for text in left if texts.index(text) < live[0]]
    return [*before, *((text.text, False) for text in reversed(left) if texts.index(text) > live[-1])]
