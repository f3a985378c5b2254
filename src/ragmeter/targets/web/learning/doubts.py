"""What is doubtful about answers that were read, whatever the page is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragmeter.targets.web.learning.kinds import looks_like_a_label, with_numbers

#: How the doubt begins that is one of words alone: answers of a kind may well share some.
IN_COMMON = "all answers"
#: Words of an error, in a text of at most so many characters; after a word such as "if", they are advice.
_SHORT = 240
_APOLOGY = re.compile(
    r"^\W*(undefined|null|nan|none|\[object \w+\])\W*$|"
    r"\b(something|it)( has)? (went|gone) wrong|\b(an?|internal|unexpected|unknown|network|server) error\b|"
    r"\berror \d{3}\b|\b(try|come back) (it |this |that )?(again|later)\b|\bask (again )?later\b|"
    r"\b(temporarily|currently) (un|not )available|"
    r"\b(could|can|did) ?n[o']t (be )?(process|reach|connect|complete|load|handle|generate|get)\w*|"
    r"\bunable to (process|reach|connect|complete|load|generate|respond)|\b(too many requests|rate limit|quota)\b|"
    r"\b(timed out|time-?out|overloaded|service unavailable|bad gateway|not responding|(request|query) failed)\b|"
    r"\bhaving (some |a )?(trouble|difficult\w+|problems?)|\brefresh the page|\bsession (has )?expired|"
    r"\bservers? (is|are) (busy|down)|\bconnection (was )?(lost|refused|reset|error)|"
    r"\b(inténtalo|inténtelo|intente de nuevo|erneut versuchen|später (noch ?mal|erneut)|réessaye[rz]|riprova)\b|"
    r"\b(ocurrió|producido|ocorreu|s'est produite|aufgetreten|verificato)\b|ошибк|エラー|错误|出错|稍后再试|오류",
    re.IGNORECASE,
)
_ADVICE = re.compile(r"\b(if|when|whenever|should|in case|si|cuando|wenn|falls|quand)\b", re.IGNORECASE)


def common_lines(texts: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines that begin all texts, but for their numbers, and those that end them, the outermost first."""
    lists = [[line.strip() for line in with_numbers(text).splitlines() if line.strip()] for text in texts]
    if len(set(texts)) < 2:
        return (), ()
    first = _shared([lines[:-1] for lines in lists])
    return tuple(first), tuple(_shared([lines[len(first) + 1 :][::-1] for lines in lists]))


def common_words(texts: Sequence[str]) -> tuple[str, str]:
    """The words that begin all texts, and those that end them; nothing if the texts are the same."""
    lists = [text.split() for text in texts]
    if len(lists) < 2 or len(set(texts)) < 2:
        return "", ""
    return " ".join(_shared(lists)), " ".join(reversed(_shared([words[::-1] for words in lists])))


def _shared(lists: Sequence[Sequence[str]]) -> list[str]:
    """What all lists begin with."""
    shared = []
    for words in zip(*lists, strict=False):
        if len(set(words)) > 1:
            break
        shared.append(words[0])
    return shared


def doubt_of(question: str, text: str) -> str:
    """What is doubtful about one answer, whatever the others are."""
    if not text.strip():
        return "the answer is empty"
    if what := looks_like_a_label(text):
        return f"the answer looks like {what}: {text[:60]!r}"
    asked = letters(question)
    if asked and any(letters(line.partition(":")[2] or line) == asked for line in text.splitlines()):
        return f"the question is a line of the answer: {text[:60]!r}"
    words = _APOLOGY.search(text) if len(text) <= _SHORT else None
    if words and words[0].casefold() not in question.casefold() and not _ADVICE.search(text[: words.start()]):
        return f"the answer sounds like an error: {text[:60]!r}"
    return ""


def letters(text: str) -> str:
    """The letters and figures of a text alone."""
    return re.sub(r"[\W_]+", "", text.casefold())


def doubts_of(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """What is doubtful about questions and the answers that were read to them, before anything is scored."""
    texts = [text for _, text in pairs]
    doubts = [doubt for question, text in pairs if (doubt := doubt_of(question, text))]
    first, last = common_words([text for text in texts if text.strip()])
    for words, where in ((first, "begin"), (last, "end")):
        if len(words.split()) >= 2:
            doubts.append(f"{IN_COMMON} {where} with the same words: {words[:60]!r}")
    if len(texts) > 1 and len({text.strip() for text in texts}) == 1:
        doubts.append("the same text was read for different questions")
    return doubts
