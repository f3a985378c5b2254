"""Removes an answer's markup: Markdown, tags, code fences, LaTeX boxes, citations, a model's thoughts.

Line breaks are kept, because refusals are searched at the beginnings of lines. Italics of any markup become `*` around
the text: they may mark a title, as quotation marks do.
"""

from __future__ import annotations

import re

from ragmeter.metrics.normalize import fold

#: Reasoning models end their thoughts with such a tag; not all begin them with one.
_END_OF_THOUGHTS = re.compile(r"</ ?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad) ?>", re.I)
_FENCE = re.compile(r"(?:'{3,}|~+) *[\w+-]{0,20}")  # folding turns backquotes into apostrophes
_FIRST_NUMBER = re.compile(r"[^\w\n]{0,8}(?:\d{1,3}|[a-h])[.)] +(?=\S)")
#: A sign that a text must contain for a replacement to be tried, the pattern, and its replacement.
_REPLACEMENTS = tuple(
    (sign, re.compile(pattern), replacement)
    for sign, pattern, replacement in (
        ("<", r"</?(?:i|em|cite|q|dfn|var)(?: [^<>]{0,200})?>", "*"),
        ("<", r"</?(?:b|strong|u|s|a|span|mark|small|big|font|code|tt|kbd|sub|sup)(?: [^<>]{0,200})?>", ""),
        ("<", r"<[/|!]?[a-z_][^<>]{0,200}>", "\n"),  # any other tag begins or ends a block
        ("**", r"\*\*", ""),
        ("~~", "~~", ""),
        ("_", "__", ""),
        ("_", r"(?<![^\W_])_|_(?![^\W_])", "*"),
        ("{", r"\\(?:boxed|fbox|text\w{0,4}|mathrm|mathbf) ?(?=\{)", ""),
        ("$", r"\$", ""),
        ("[", r" ?\[\^?\d{1,3}(?:[,;–-] ?\d{1,3}){0,20}\]", ""),  # citations: their numbers are not part of the answer
    )
)


def without_thoughts(answer: str) -> str:
    """The text after a model's thoughts; the whole text if nothing follows them."""
    if "</" not in answer:
        return answer
    after = 0
    for end in _END_OF_THOUGHTS.finditer(answer):
        after = end.end()
    answer_alone = answer[after:]
    return answer_alone if answer_alone.strip() else answer


def bare(answer: str) -> str:
    """The answer folded, with single spaces and line breaks, and without its markup."""
    text = fold(answer)
    for sign, pattern, replacement in _REPLACEMENTS:
        if sign in text:
            text = pattern.sub(replacement, text)
    lines = (" ".join(line.split()) for line in text.splitlines())
    text = "\n".join(line for line in lines if line and not _FENCE.fullmatch(line))
    number = _FIRST_NUMBER.match(text)
    return text[number.end() :] if number else text
