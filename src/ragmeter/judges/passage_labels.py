"""Labels of claims by several passages that are shown together: the reply names the passage that a label comes from."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ragmeter.io.write import dumps
from ragmeter.judges.asking.forms import bare_reply
from ragmeter.judges.asking.list_forms import LABEL_TOKENS, Labels, unlisted
from ragmeter.judges.asking.prompt import count_texts, several_texts

#: So many characters of passages are shown together, about 3,000 tokens: a server for small models takes 4,096.
MOST_CHARACTERS = 12_000
#: About so many tokens more has a label with the number of a passage.
_NUMBER_TOKENS = 4
_MARKS = "*_\"'`"
_LINE = re.compile(rf"\s*(?:claim\s+)?\(?(\d{{1,4}})[.:)]+\s*[{_MARKS}]*(\S.*)", re.IGNORECASE)
#: What may stand behind a label: "2", ": passage 2", "by passages 1 and 3", "[1, 3]".
_NUMBERS = re.compile(
    r"[\s:,(\[–-]*(?:(?:by|in|from)\s+)?(?:the\s+)?(?:passages?\s*)?[(\[]*"
    r"(\d{1,4}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*)(?:passage\s+)?\d{1,4})*)?[)\]]*[.!]?\s*",
    re.IGNORECASE,
)


def shown(passages: Sequence[str], most: int) -> list[dict[str, str]]:
    """The texts of each call by which it shows passages: one by itself, or up to so many together."""
    if most == 1:
        return [{"text": passage} for passage in passages]
    return [several_texts("passages", group) for group in groups_of_passages(passages, most)]


def are_together(sent: Mapping[str, str]) -> bool:
    """Whether a call shows passages together."""
    return "text" not in sent


def groups_of_passages(passages: Sequence[str], most: int) -> list[list[str]]:
    """The passages that are shown together: in their order, at most so many, as long as they are not too long."""
    groups: list[list[str]] = []
    size = 0
    for passage in passages:
        size += len(passage)
        if not groups or len(groups[-1]) == most or size > MOST_CHARACTERS:
            groups.append([])
            size = len(passage)
        groups[-1].append(passage)
    return groups


@dataclass(frozen=True)
class PassageLabels(Labels):
    """For each of several claims a label, and the passages that it comes from: a label for each claim and passage.

    `none` is the label of a passage that says nothing of a claim. A label without the number of a passage, as it is
    where a reply is one word, and as small models reply, counts for the passage that is nearest to the claim: the
    offline support model says which.
    """

    none: str = ""

    def instruction(self, *, reasons: bool) -> str:
        """The label first, then the passages. For a single claim it is one word."""
        if self.alone:
            return super().instruction(reasons=reasons)
        *first, last = self.words
        words = f"one of the words {', '.join(first)} or {last}"
        named = " or ".join(word for word, label in self.words.items() if label != self.none)
        passage = f"after {named} the numbers of the passages that say so"
        return f"Reply with one line for each claim: its number, a colon, {words}, and {passage}."

    def read(self, reply: str, sent: Mapping[str, str]) -> dict[str, str] | None:
        """For each claim a label for each passage, in their order."""
        rows = self._rows(reply, sent)
        labels = [None if isinstance(row, str) else row for row in rows or ()]
        return None if rows is None or None in labels else {"value": dumps(labels)}

    def problem(self, reply: str, sent: Mapping[str, str]) -> str:
        """A sentence on a passage that there is not, or on labels for more claims, or for fewer."""
        rows = self._rows(reply, sent)
        if rows is None:
            labels = [self._named(text) for _, text in self._numbered_texts(reply) or ()]
            return "" if None in labels else self._of_another_length(len(labels), sent)
        return next((row for row in rows if isinstance(row, str) and row), "")

    def agreed(self, values: Sequence[str | None]) -> str | None:
        """What more than half of the replies say of each claim and passage; None if they disagree on one."""
        replies = [json.loads(value) for value in values if value]
        if not replies:
            return None
        agreed = [
            [_majority([reply[claim][passage] for reply in replies], len(values)) for passage in range(len(row))]
            for claim, row in enumerate(replies[0])
        ]
        return None if any(None in row for row in agreed) else dumps(agreed)

    def reply_tokens(self, sent: Mapping[str, str], *, reasons: bool) -> int:
        """A line for each, with a passage."""
        return (LABEL_TOKENS + _NUMBER_TOKENS) * self._count(sent)

    def _rows(self, reply: str, sent: Mapping[str, str]) -> list[list[str] | str] | None:
        """For each claim a label for each passage, or what is wrong; None if the reply has another form."""
        n_claims, text = self._count(sent), bare_reply(reply)
        if n_claims == 1 and "\n" not in text and self._named(text.lstrip(_MARKS)) is not None:
            return [self._row(text.lstrip(_MARKS), 1, sent)]
        texts = self._numbered_texts(reply)
        if texts is None or [number for number, _ in texts] != list(range(1, n_claims + 1)):
            return None
        return [self._row(text, number, sent) for number, text in texts]

    def _numbered_texts(self, reply: str) -> list[tuple[int, str]] | None:
        """What stands behind the number of each line; None if a line has none."""
        matches = [_LINE.fullmatch(line) for line in bare_reply(reply).split("\n") if line.strip()]
        texts = [(int(match[1]), match[2]) for match in matches if match]
        return texts if texts and len(texts) == len(matches) else None

    def _row(self, text: str, claim: int, sent: Mapping[str, str]) -> list[str] | str:
        """A claim's label for each passage, or what is wrong; empty where that is no label at all."""
        named = self._named(text)
        if named is None:
            return ""
        label, numbers = named
        all_numbers = range(1, count_texts("passages", sent) + 1)
        if not numbers <= set(all_numbers):
            return f"passage {max(numbers)} of {len(all_numbers)} named for {self.noun} {claim}"
        if label != self.none and not numbers:
            numbers = {_nearest(unlisted(sent["claims"])[claim - 1], [sent[f"passages {n}"] for n in all_numbers])}
        return [label if number in numbers else self.none for number in all_numbers]

    def _named(self, text: str) -> tuple[str, set[int]] | None:
        """The label at the beginning of a text, and the passages behind it; None if there is anything else."""
        match = self._labelled.match(text)
        label = None if match is None else self._label(" ".join(match[1].split()))
        rest = None if match is None else _NUMBERS.fullmatch(text[match.end() :])
        if label is None or rest is None:
            return None
        return label, set() if label == self.none else {int(number) for number in re.findall(r"\d+", rest[1] or "")}

    @cached_property
    def _labelled(self) -> re.Pattern[str]:
        """A label at the beginning of a text."""
        names = sorted({*self.words, *self.also}, key=len, reverse=True)
        words = "|".join(r"\s+".join(map(re.escape, name.split())) for name in names)
        return re.compile(rf"({words})\b[{_MARKS}]*", re.IGNORECASE)


def _nearest(claim: str, passages: Sequence[str]) -> int:
    """The number of the passage that supports a claim most, or is nearest to it, by the offline support model."""
    from ragmeter.metrics.offline.support.model import support  # here, for it takes time to load

    return int(support([claim], passages)[0].argmax()) + 1


def _majority(labels: Sequence[Any], count: int) -> Any:
    return next((label for label in labels if 2 * labels.count(label) > count), None)
