"""The words of a claim and of a passage that clash, as they are written."""

from __future__ import annotations

import regex

from ragmeter.metrics.normalize import words_and_figures
from ragmeter.metrics.offline.reading.tables import plain
from ragmeter.metrics.offline.support.features import clashes
from ragmeter.metrics.offline.support.model import compare

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+|[$€£¥%]")
_LONGEST = 200  # characters of a passage that are shown


def clashing_words(claim: str, passage: str) -> tuple[str, str] | None:
    """The words of both that clash, if they do.

    Where the passage says the opposite, or leaves out what the claim includes, the claim's words are empty.
    """
    for block in compare([([claim], [passage])]):
        for clash in clashes(block.compared).values():
            return _as_written(clash.claim, claim), _as_written(clash.passage, passage)
    return None


def _as_written(words: str, text: str) -> str:
    """These folded words as they stand in the text; as they are, where they stand there in another form."""
    wanted = words.split()
    spans = [match.span() for match in _WORD.finditer(text)]
    folded = ["".join(words_and_figures(plain(text[begin:end]))) or text[begin:end] for begin, end in spans]
    for at in range(len(folded) - len(wanted) + 1):
        if wanted and folded[at : at + len(wanted)] == wanted:
            words = text[spans[at][0] : spans[at + len(wanted) - 1][1]]
            break
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
