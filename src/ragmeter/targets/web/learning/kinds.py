"""What a text in a message may be besides the answer: a name, a clock, a tool, a thought, a source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from ragmeter.targets.web.learning.tree import ASIDE, BUTTON, ECHO, FLOATS, NEW, PROSE, ROUND, Node, Text, Tree

QUESTION, ABOVE = "question", "above the question"
FIXED, LABEL, TOOL, THOUGHT, SOURCE = "fixed", "label", "tool", "thought", "source"
#: The most characters of a label; minutes in which a clock shows the time of a message.
_LABEL, _RECENT = 80, 3
_MONTHS = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = rf"(\w+, )?{_MONTHS} \d{{1,2}}(, \d{{4}})?|\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{1,4}}"
_AGO = r"just now|now|today|(a|an|one|a few|\d+) ?(s|sec|seconds?|m|min|minutes?|h|hours?) ago"
_CLOCK = re.compile(
    rf"\W*((sent|posted|received|today|yesterday|now)\W*)?(at\W*)?(({_DAY})\W*(at\W*)?)?"
    rf"\d{{1,2}}[:.]\d{{2}}([:.]\d{{2}})?\s*([ap]\.?m\.?)?\W*|\W*({_AGO})\W*",
    re.IGNORECASE,
)
_SPEAKER = re.compile(
    r"\W*((\w+ )?(bot|chatbot|assistant|copilot|agent|helper)|ai|gpt\S*|chatgpt|claude\S*|gemini\S*|llama\S*|"
    r"mistral\S*|qwen\S*|you|me|user)(\s+(said|says))?\W*",
    re.IGNORECASE,
)
_TOOL = re.compile(
    r"\W*(copy( code)?|copied|regenerate|retry|like|dislike|share|edit|read aloud|good( response)?|bad( response)?|"
    r"yes|no|was this (answer |response )?(helpful|useful)\?.*|helpful|not helpful|👍|👎|sources?|references?|"
    r"citations?|related( questions)?|kopieren|copiar|copier)\W*",
    re.IGNORECASE,
)
_SOURCES = re.compile(
    r"\W*(sources?|references|citations|related( (questions|articles|topics))?|see also|further reading|learn more|"
    r"you (may|might) also ask|follow-?ups?|fuentes|quellen|nachweise|références|fonti)\b[^a-z]*",
    re.IGNORECASE,
)
_COUNTS = re.compile(r".{0,40}\b\d[\d.,]*\s*(tokens?|tok/s|ms|seconds?|sec|s|words?)\b.{0,20}", re.IGNORECASE)
_MARKS = re.compile(r"[\s●○•◦∙·▌▍▎▋▊▉█▮▯■□◼◻⬤⏺…⋯⋮|_✓✔✗×]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAMES = {
    LABEL: _words(
        "avatar avatars username nickname initials byline timestamp timestamps datetime stamp timeago watermark "
        "disclaimer spinner progress eta loader loading skeleton shimmer caret sr tooltip linenos lineno"
    ),
    TOOL: _words(
        "toolbar actions feedback rating suggestion suggestions chip chips followup followups related reactions footer "
        "quickreplies quick"
    ),
    THOUGHT: _words("thinking thought thoughts reasoning think steps toolcall chain"),
    SOURCE: _words("source sources citation citations reference references refs"),
}
#: Words that say it only at the end of a name.
_LAST = _words("name time date meta metadata dot dots typing sender author role persona status")
_SIDES = _words("sent received left right small sm text label user bot assistant ai human me you system")
_HAS = _words("has have with without no show hide is parent")
_SENTENCE = _words("P LI TD TH PRE CODE BLOCKQUOTE")


def name_kind(name: str) -> str:
    """What a class or a test id says that an element is; nothing if it does not."""
    value = name.partition("=")[2] if name.startswith("[") else name
    words = [w for w in re.split(r"[^a-z]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", value).lower()) if w]
    if not words or len(words) > 6 or any(word in _HAS for word in words):
        return ""
    for kind, known in _NAMES.items():
        if any(word in known for word in words):
            return kind
    if words[-2:-1] == ["role"] and words[-1] in _SIDES:
        return ""  # it says whose message it is
    ends = [word for word in words if word not in _SIDES]
    return LABEL if ends and ends[-1] in _LAST else ""


def classify(trees: Sequence[Tree]) -> None:
    """Say of each text what it is. What all trees have at the same place is no part of an answer.

    Numbers may differ in it, unless they are all that answers differ in.
    """
    for key in (_masked_key, _key):
        constants: set[tuple[tuple[str, ...], str]] = set()
        if len(trees) > 1:
            constants = set.intersection(*({key(text) for text in tree.texts} for tree in trees))
        for tree in trees:
            for text in tree.texts:
                text.kind = FIXED if key(text) in constants and ECHO not in text.flags else _kind(text)
            _beside_question(tree)
            _join_emphasis(tree)
            _below_headings(tree)
        if all(tree.live() for tree in trees):
            return


def _beside_question(tree: Tree) -> None:
    """What the question's own message has beside the question, a name or a clock, other messages have at that place."""
    own: set[int] = set()
    for echo in (text for text in tree.texts if text.kind == QUESTION):
        node = echo.inside
        while node.outer is not None and NEW in node.outer.flags:
            if sum(len(text.text) for text in node.outer.texts()) > len(echo.text) + 2 * _LABEL:
                break
            node = node.outer
        own |= {id(text) for text in node.texts()}
    asked = {_place(text) for text in tree.texts if text.kind == QUESTION}
    mine = {_place(text) for text in tree.texts if id(text) in own} - asked
    theirs = {_place(text) for text in tree.texts if id(text) not in own}
    for text in tree.live():
        if len(text.text) <= _LABEL and _place(text) in mine & theirs:
            text.kind = LABEL


def _below_headings(tree: Tree) -> None:
    """What follows a heading such as "Sources" in a message is no part of the answer."""
    for heading in [text for text in tree.texts if _SOURCES.fullmatch(text.text)]:
        around = heading.inside.outer
        if around is not None and NEW in around.flags and not any(t.kind == QUESTION for t in around.texts()):
            for text in around.texts():
                if text.order >= heading.order and text.is_live:
                    text.kind = SOURCE


def masked(text: str) -> str:
    """A text whose numbers count as the same, but for a formula."""
    return text if text.startswith("$") else re.sub(r"\d+", "0", text.casefold())


def with_numbers(text: str) -> str:
    """A text with # for each number."""
    return re.sub(r"\d[\d.,:]*", "#", text)


def _place(text: Text, levels: int = 2) -> tuple[str, ...]:
    return tuple(part for node in islice(text.inside.lineage(), levels) for part in node.signature)


def _key(text: Text) -> tuple[tuple[str, ...], str]:
    return _place(text, 3), text.text


def _masked_key(text: Text) -> tuple[tuple[str, ...], str]:
    return _place(text, 3), masked(text.text)


def _kind(text: Text) -> str:
    if ECHO in text.flags:
        return QUESTION
    if FLOATS in text.flags or ASIDE in text.flags:
        return TOOL
    if _MARKS.fullmatch(text.text):
        return LABEL
    for node in text.inside.lineage():
        if BUTTON in node.flags and text.inside.tag not in PROSE:
            return TOOL
        if node.tag in ("DETAILS", "SUMMARY"):
            return THOUGHT
        if node.tag in ("TIME", "BUTTON", "NAV"):
            return LABEL
        kind = next(filter(None, map(name_kind, node.tokens)), "")
        if kind and NEW in node.flags and not _in_sentence(node):
            return kind
    return _by_words(text)


def _by_words(text: Text) -> str:
    """What a text says that it is, where it stands alone in its element."""
    if len(text.text) > _LABEL or _in_sentence(text.inside) or len(text.inside.own) > 1:
        return ""
    alone = not text.inside.nodes
    if _SPEAKER.fullmatch(text.text) and alone:
        return LABEL
    has_neighbours = text.inside.outer is not None and len(list(text.inside.outer.texts())) > 1
    if alone and has_neighbours and _CLOCK.fullmatch(text.text) and (not text.text[:1].isdigit() or _is_now(text.text)):
        return LABEL
    if alone and has_neighbours and (_is_tool(text) or _COUNTS.fullmatch(text.text)):
        return TOOL
    if any(ROUND in node.flags for node in (text.inside, text.inside.outer) if node) and len(text.text) <= 2:
        return LABEL
    return ""


def _is_tool(text: Text) -> bool:
    """Whether it is the caption of a tool; "Yes" and "No" are one together only: alone, each is an answer."""
    words = text.text.casefold().strip(" .!")
    others = {other.text.casefold() for other in text.inside.outer.texts()} if text.inside.outer is not None else set()
    return bool(_TOOL.fullmatch(text.text)) and (words not in ("yes", "no") or {"yes", "no"} <= others)


def _is_now(text: str) -> bool:
    """Whether a text is the time that it is now, or was a moment ago."""
    digits = re.search(r"(\d{1,2})[:.](\d{2})", text)
    if digits is None:
        return False
    now = datetime.now()
    apart = abs(int(digits[1]) % 12 * 60 + int(digits[2]) - (now.hour % 12 * 60 + now.minute))
    return min(apart, 720 - apart) <= _RECENT


def is_label(text: str) -> bool:
    """Whether a text is a clock, a name, a tool or a mark."""
    return len(text) <= _LABEL and any(known.fullmatch(text) for known in (_CLOCK, _SPEAKER, _TOOL, _COUNTS, _MARKS))


def looks_like_a_label(text: str) -> str:
    """What an answer looks like if it can hardly be one: a clock, a label; nothing if it may be one."""
    if len(text) > _LABEL:
        return ""
    if _SPEAKER.fullmatch(text) or (_TOOL.fullmatch(text) and text.casefold().strip(" .!") not in ("yes", "no")):
        return "a label"
    worded = re.match(r"\W*(sent|posted|received|today|yesterday|just now|now|an?|\d+ ?\w* ago)\b", text, re.IGNORECASE)
    return "a clock" if _CLOCK.fullmatch(text) and worded else ""


def _in_sentence(node: Node) -> bool:
    return any(outer.tag in _SENTENCE for outer in islice(node.lineage(), 4))


def _join_emphasis(tree: Tree) -> None:
    """A word in the midst of a sentence is no label, even if all answers have it: only what stands first or last is."""
    for node in tree.nodes:
        if node.tag in _SENTENCE and NEW in node.flags:
            texts = list(node.texts())
            for text in texts[1:-1] if any(text.is_live for text in texts) else ():
                if text.kind == FIXED:
                    text.kind = ""
