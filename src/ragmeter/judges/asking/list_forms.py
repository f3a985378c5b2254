"""Forms of a reply that is a list, and their strict readers: a list with a line that is no item is no list.

What is read of a list becomes JSON, which is what the column of the table holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragmeter.definition.judge_columns import Form
from ragmeter.io.write import dumps
from ragmeter.judges.asking.forms import bare_reply

_ITEM = re.compile(r"(?:[-*•–]|\(?\d{1,3}[.):])\s+(.*)")  # of a line without spaces around it
_NO_ITEMS = re.compile(r"[\[(]?\s*(?:none|no claims?|ninguna?)\s*[\])]?[.!]?", re.IGNORECASE)
_LABEL = re.compile(r"\s*(?:claim\s+)?\(?(\d{1,4})[.:)]+\s*[*_\"'`]*([^\W\d_]+(?: [^\W\d_]+)?)[*_\"'`]*[.!]?\s*", re.I)
_ALONE = re.compile(r"[*_\"'`]*([^\W\d_]+(?: [^\W\d_]+)?)[*_\"'`]*[.!]?")
#: About so many tokens has a label with its number.
LABEL_TOKENS = 6
#: Items of a list. Each is asked about again, and no answer of this size says more: a longer list is a model in a loop.
MOST_ITEMS = 500


@dataclass(frozen=True)
class Items(Form):
    """A list of short texts, one to a line, about the text in the column `source`. One of over 500 is no list."""

    name: str
    source: str

    def instruction(self, *, reasons: bool) -> str:
        """One line for each; a reason has no place in a list."""
        return (
            f'Reply with nothing but the {self.name}, each on a line that begins with "- ". '
            "Reply None if there are none."
        )

    def read(self, reply: str, sent: Mapping[str, str]) -> dict[str, str] | None:
        """The items: of lines that are all items, after a heading at most, or of a JSON list of texts."""
        text = bare_reply(reply)
        items = _json_list(text)
        if items is None:
            items = _lines(text)
        if (
            items is None
            or len(items) > MOST_ITEMS
            or not all(isinstance(item, str) and item.strip() for item in items)
        ):
            return None
        return {"value": dumps([" ".join(item.split()) for item in items])}

    def reply_tokens(self, sent: Mapping[str, str], *, reasons: bool) -> int:
        """A list is about half as long again as the text that it is made from."""
        return len(sent.get(self.source, "").encode("utf-8", "replace")) * 3 // 8 + 8


def _lines(text: str) -> list[Any] | None:
    if not text:
        return None
    if _NO_ITEMS.fullmatch(text):
        return []
    lines = [line for line in text.split("\n") if line.strip()]
    matches = [_ITEM.fullmatch(line.strip()) for line in lines]
    if matches[0] is None and lines[0].rstrip().endswith(":") and len(lines) > 1:
        matches = matches[1:]
    return [match[1] for match in matches if match] if all(matches) else None


def _json_list(text: str) -> list[Any] | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, list) else None


@dataclass(frozen=True)
class Labels(Form):
    """A label for each of several numbered texts. Those of `sent` count: a reply that leaves one out is no reply.

    `words` maps what the model is asked to say to the labels that stand for it, `also` other words that are understood.
    `alone`: there is one text, and the reply is one word. `noun` is what messages call a text.
    """

    words: Mapping[str, str]
    also: Mapping[str, str] = field(default_factory=dict)
    alone: bool = False
    noun: str = "claim"

    def instruction(self, *, reasons: bool) -> str:
        """One line for each, or one word."""
        *first, last = self.words
        words = f"{', '.join(first)} or {last}"
        if self.alone:
            return f"Reply with one word: {words}."
        return f"Reply with one line for each: its number, a colon, and one of the words {words}."

    def choices(self, *, reasons: bool) -> tuple[str, ...]:
        """The labels, where there is one text."""
        return tuple(self.words) if self.alone else ()

    def read(self, reply: str, sent: Mapping[str, str]) -> dict[str, str] | None:
        """The labels, in the order of the texts."""
        words = self._words(bare_reply(reply), self._count(sent))
        labels = [self._label(word) for word in words or ()]
        return None if words is None or None in labels else {"value": dumps(labels)}

    def problem(self, reply: str, sent: Mapping[str, str]) -> str:
        """A sentence that there are more labels than texts, or fewer; empty if that is not what is wrong."""
        lines = [line for line in bare_reply(reply).split("\n") if line.strip()]
        matches = [_LABEL.fullmatch(line) or _ALONE.fullmatch(line) for line in lines]
        labels = [self._label(match[match.lastindex or 0]) for match in matches if match]
        return "" if len(labels) < len(lines) or None in labels else self._of_another_length(len(lines), sent)

    def _of_another_length(self, n: int, sent: Mapping[str, str]) -> str:
        """A sentence that there are so many labels, if these are more than texts, or fewer."""
        count = self._count(sent)
        if n in (0, count):
            return ""
        return f"{n} {'label' if n == 1 else 'labels'} for {count} {self.noun}{'' if count == 1 else 's'}"

    def _count(self, sent: Mapping[str, str]) -> int:
        """How many texts are to be labelled."""
        return 1 if self.alone else len(sent["claims"].split("\n"))

    def _words(self, text: str, count: int) -> list[str] | None:
        match = _ALONE.fullmatch(text) if count == 1 else None
        if match is not None:
            return [match[1]]
        matches = [_LABEL.fullmatch(line) for line in text.split("\n") if line.strip()]
        numbered = [(int(match[1]), match[2]) for match in matches if match]
        complete = len(numbered) == len(matches) and [number for number, _ in numbered] == list(range(1, count + 1))
        return [word for _, word in numbered] if complete else None

    def _label(self, word: str) -> str | None:
        labels = {name.casefold(): label for name, label in {**self.also, **self.words}.items()}
        return labels.get(word.casefold())

    def reply_tokens(self, sent: Mapping[str, str], *, reasons: bool) -> int:
        """A line for each."""
        return LABEL_TOKENS * self._count(sent)


def listed(texts: Sequence[str]) -> str:
    """Texts to be labelled, each on a line with its number; a single one needs none."""
    if len(texts) == 1:
        return texts[0]
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))


def unlisted(claims: str) -> list[str]:
    """The texts that `listed` has made one of."""
    lines = claims.split("\n")
    return lines if len(lines) == 1 else [line.partition(". ")[2] for line in lines]


def groups_of(texts: Sequence[str], most: int) -> list[Sequence[str]]:
    """The texts that are labelled in one call: in their order, at most so many."""
    return [texts[begin : begin + most] for begin in range(0, len(texts), most)]


def is_single(sent: Mapping[str, str]) -> bool:
    """Whether one text is to be labelled: none of them has several lines."""
    return "\n" not in sent["claims"]
