"""An answer's text without its markup: Markdown, tags, code fences, LaTeX boxes, citations, a model's thoughts.

Lines stay lines, for a refusal is looked for at their beginnings. Italics become `*` around the text, however they were
written: they may mark a title, as quotation marks do.
"""

from __future__ import annotations

import re

from ragmeter.metrics.normalize import fold

#: Models that reason end their thoughts with such a tag, and not all of them begin with one.
_END_OF_THOUGHTS = re.compile(r"</ ?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad) ?>", re.I)
_FENCE = re.compile(r"(?:'{3,}|~+) *[\w+-]{0,20}")  # folding has made apostrophes of the backquotes
_FIRST_NUMBER = re.compile(r"^[^\w\n]{0,8}(?:\d{1,3}|[a-h])[.)] +(?=\S)")
#: What a text has to have for a replacement to be tried, the pattern, and what it becomes.
_REPLACEMENTS = tuple(
    (sign, re.compile(pattern), replacement)
    for sign, pattern, replacement in (
        ("<", r"</?(?:i|em|cite|q|dfn|var)(?: [^<>]{0,200})?>", "*"),
        ("<", r"</?(?:b|strong|u|s|a|span|mark|small|big|font|code|tt|kbd|sub|sup)(?: [^<>]{0,200})?>", ""),
        ("<", r"<[/|!]?[a-z_][^<>]{0,200}>", "\n"),  # any other tag holds a block of its own
        ("**", r"\*\*", ""),
        ("~~", "~~", ""),
        ("_", "__", ""),
        ("_", r"(?<![^\W_])_|_(?![^\W_])", "*"),
        ("{", r"\\(?:boxed|fbox|text\w{0,4}|mathrm|mathbf) ?(?=\{)", ""),
        ("$", r"\$", ""),
        ("[", r" ?\[\^?\d{1,3}(?:[,;–-] ?\d{1,3}){0,20}\]", ""),  # citations, whose numbers are no answer
    )
)


def without_thoughts(answer: str) -> str:
    """What comes after a model's thoughts; the whole where nothing does."""
    if "</" not in answer:
        return answer
    after = 0
    for end in _END_OF_THOUGHTS.finditer(answer):
        after = end.end()
    rest = answer[after:]
    return rest if rest.strip() else answer


def bare(answer: str) -> str:
    """The answer folded, with single spaces and line breaks, and without its markup."""
    text = fold(answer)
    for sign, pattern, replacement in _REPLACEMENTS:
        if sign in text:
            text = pattern.sub(replacement, text)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return _FIRST_NUMBER.sub("", "\n".join(line for line in lines if line and not _FENCE.fullmatch(line)))
