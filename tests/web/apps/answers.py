"""Fourteen questions and their known answers, for chat applications that other people wrote.

Standard library only: each application runs it in an environment of its own. An answer has parts in Markdown, and
seconds of silence between them.
"""

# ruff: noqa: E501 - answers are long
from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Iterator

CODE = 'def greet(name):\n    if name:\n        return f"Hello, {name}"\n    return "Hello"'
RIVERS = [
    f"River number {i} rises in the hills above village {i * 7}, flows past {i + 2} mills, and reaches the sea after "
    f"{i * 13} kilometres. Its water is {'clear' if i % 2 else 'brown'}, and {i * 3} kinds of fish live in it."
    for i in range(1, 71)
]
SAME = "Both places open at nine in the morning."
ERROR = "the index is down"

#: The parts of each answer: texts, and seconds of silence.
ANSWERS: dict[str, list[str | float]] = {
    "What is the capital of France?": ["The capital of France is **Paris**."],
    "Which fruits are red?": ["These fruits are red:\n\n", "- apples\n- cherries\n- strawberries\n\n", "All of them are sweet."],
    "How do I greet somebody in Python?": ["Use a function:\n\n", f"```python\n{CODE}\n```\n\n", "Call it with a name."],
    "How large are the planets?": [
        "Here are two of them:\n\n", "| planet | km |\n|---|---|\n| Mars | 6779 |\n| Venus | 12104 |\n\n", "Both are small."
    ],
    "Tell me about all the rivers.": ["\n\n".join(RIVERS)],
    "Who wrote the report?": ["The report was written", 3.0, " by Ann Lee in 2019."],
    "Where is the archive?": [8.0, "The archive is in the old harbour."],
    "What does the survey say?": ["I looked at the survey.", 3.0, " It has three parts", 5.0, " and 120 answers in all."],
    "When does the museum open?": [SAME],
    "When does the library open?": [SAME],
    "At what time does the train leave?": ["10:30"],
    "What is the energy of a mass?": ["The energy is $E = mc^2$ in joules, and not less."],
    "Where is the manual?": ["Read [the manual](https://example.org/manual) first, then ask again."],
    "What happens without an index?": [],
}  # fmt: skip
QUESTIONS = list(ANSWERS)
FAILS = QUESTIONS[-1]


def pieces(question: str) -> Iterator[str | float]:
    """Words and silences, in the order in which they are sent; $ANSWER_TIMES is a file for when it began and ended."""
    begun = time.time()
    try:
        yield from _pieces(question)
    finally:
        if path := os.environ.get("ANSWER_TIMES"):
            with open(path, "a", encoding="utf-8") as times:  # noqa: PTH123 - one line at a time
                times.write(f"{question.strip()}\t{begun!r}\t{time.time()!r}\n")


def _pieces(question: str) -> Iterator[str | float]:
    """The last question fails."""
    if question.strip() == FAILS:
        time.sleep(0.5)
        raise RuntimeError(ERROR)
    for part in ANSWERS.get(question.strip(), ["I have no answer to that."]):
        if isinstance(part, float):
            yield part
            continue
        words = re.findall(r"\S+\s*|\s+", part)
        step = max(1, len(words) // 60)
        for start in range(0, len(words), step):
            yield "".join(words[start : start + step])
            yield 0.03


def stream(question: str) -> Iterator[str]:
    """The answer word by word, with its silences."""
    for piece in pieces(question):
        if isinstance(piece, float):
            time.sleep(piece)
        else:
            yield piece


async def astream(question: str) -> AsyncIterator[str]:
    """The same, without blocking."""
    for piece in pieces(question):
        if isinstance(piece, float):
            await asyncio.sleep(piece)
        else:
            yield piece


def silence(question: str) -> float:
    """Seconds of pauses in an answer."""
    return sum(part for part in ANSWERS[question] if isinstance(part, float))


def plain(text: str) -> str:
    """A text without the marks of Markdown and with single spaces: how answers are compared."""
    text = re.sub(r"^\|?[-|: ]+\|?$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^\]]+)\]\(https?:[^)]+\)", r"\1", text)
    text = re.sub(r"```\w*|^[ ]*[-*•] |\||\$", " ", text.replace("**", ""), flags=re.MULTILINE)
    return " ".join(text.split())


def expected(question: str) -> str:
    """What must be read from the page, in the form of `plain`."""
    return plain("".join(part for part in ANSWERS[question] if isinstance(part, str)))
