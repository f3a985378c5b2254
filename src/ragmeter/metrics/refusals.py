"""Detects answers that say "I don't know". `refusals.toml` has the phrases by language.

A phrase counts at the beginning of a line or a sentence, also after introductory words ("Sorry, I don't know", "Final
answer: I don't know") and in brackets, quotation marks or markup. It does not count in the middle of a sentence ("the
song is called I Don't Know", "It is a Monet, I can't say which one"), as a title ('"I Don't Know" is a song'), or if an
answer follows ("I don't know if you knew, but it is Paris"; "I'm not sure, I think it is Paris"; "I don't know the
exact number: about 500"), unless what follows is not an answer ("but you could ask the museum"). Doubtful cases do not
count, and go to the judge.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import regex

from ragmeter.metrics.markup import bare, without_thoughts
from ragmeter.metrics.normalize import fold

#: Languages without spaces between words: there a phrase need not end at a word boundary.
_UNSPACED = frozenset({"zh", "ja", "th"})
_KINDS = ("unknown", "unsure", "lead", "label", "announce", "harmless", "contrast", "answer", "offer")
_LONGEST = 4000  # characters of the answer that are searched
_SIGHT = 300  # characters after a phrase in which an answer may follow
_MOST_LEADS = 8
#: A phrase begins where a line or a sentence does; a line may begin with a bullet, a bracket or a quotation mark.
_BREAK = re.compile(r"(?:^|\n)[^\w\n]*|[.!?;…。！？；؟।] *[(\[（]*")
_ITEM = re.compile(r"\n[-*+•·|–—]+ ")  # an item of a list that began before
_END = r"(?=[.!?,;…\n。！？；，؟،।\"')\]}）」』】*]|$)"
#: What follows a label: a colon, a dash or the end of its bracket or line; then opening brackets or quotation marks.
_COLON = r"[^\w\n:：=—–)\]}）】>|-]{0,4}[\n:：=—–)\]}）】>|-]\W*"
#: Brackets and quotation marks after folding, with their closing marks. `*` is for italics.
_CLOSING = dict(zip("([{（「『【《〈\"'*", ")]}）」』】》〉\"'*", strict=True))
_FULL_STOPS = (".", "!", "?", "…", "。", "！", "？", "؟", "।")
_WRAPPING = re.compile(r"[()\[\]{}（）「」『』【】《》〈〉\"*]|(?<!\w)'|'(?!\w)")
_ONLY_WRAPPING = "\"'*_~> \n"
_Expression = re.Pattern[str] | regex.Pattern[str]
_NUMBER = re.compile(r"(?<![\w'-])\d")


def is_miss(answer: str, languages: Collection[str] | None = None) -> bool:
    """Whether the answer declines to answer, in any language of the table or in these; an empty answer does."""
    text = bare(without_thoughts(answer)[:_LONGEST])
    if not text.strip(_ONLY_WRAPPING):
        return True
    breaks = [(match.start(), match.end()) for match in _BREAK.finditer(text) if match.end() < len(text)]
    is_ascii = text.isascii()
    return any(
        _declines(text, breaks, table)
        for code, table in _languages().items()
        if (languages is None or code in languages) and not (is_ascii and table.has_own_script)
    )


@dataclass(frozen=True)
class _Language:
    """The expressions of a language. One that `has_own_script` has no ASCII letter in its phrases."""

    has_own_script: bool
    begins: _Expression
    harmless: _Expression
    contrast: _Expression
    answer: _Expression
    offer: _Expression


def _declines(text: str, breaks: Sequence[tuple[int, int]], language: _Language) -> bool:
    end = 0
    for start, begin in breaks:
        match = language.begins.match(text, begin) if begin >= end else None
        if match is None:
            continue
        end = match.end()
        may_be_beside_an_answer = start > 0 and (match["unsure"] is not None or _ITEM.match(text, start))
        if may_be_beside_an_answer and match["announced"] is None:
            continue
        rest = text[end : end + _SIGHT]
        if language.harmless.match(rest) or _is_title(text[start : match.start("phrase")], rest):
            continue
        if not _answers(rest, language):
            return True
    return False


def _is_title(before: str, rest: str) -> bool:
    """Whether the phrase is in brackets or quotation marks, and the sentence goes on after them."""
    awaited: list[str] = []
    for mark in _WRAPPING.findall(before):
        _close_or_open(mark, awaited)
    around = len(awaited)
    for mark in _WRAPPING.finditer(rest):
        _close_or_open(mark[0], awaited)
        if len(awaited) < around:
            around = len(awaited)
            ends_a_sentence = rest[: mark.start()].endswith(_FULL_STOPS)
            if not ends_a_sentence and re.match(r"[ ,，、]*\w", rest[mark.end() :]):
                return True
    return False


def _close_or_open(mark: str, awaited: list[str]) -> None:
    """Update the list of closing marks that are awaited, the innermost last."""
    if awaited and mark == awaited[-1]:
        awaited.pop()
    elif mark in _CLOSING:
        awaited.append(_CLOSING[mark])


def _answers(rest: str, language: _Language) -> bool:
    """Whether an answer follows a phrase: after a "but", by its first words, or by a number in it."""
    sentence, *later = re.split(r"[.!?\n。！？]", rest, maxsplit=2)
    contrast = language.contrast.search(sentence)
    after = sentence[contrast.end() :].strip(" ,，、") if contrast else ""
    if after:
        return not language.offer.match(after)
    following = later[0].strip() if later else ""
    contrast = language.contrast.match(following)  # "I don't have access to live data. However, it is on ESPN."
    after = following[contrast.end() :].strip(" ,，、") if contrast else ""
    if after and not language.offer.match(after):
        return True
    match = language.answer.search(rest)
    return match is not None or _NUMBER.search(rest) is not None


@cache
def _languages() -> dict[str, _Language]:
    """The table, compiled when it is first used."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    labels = table["en"]["label"]  # labels come from prompts, which are often in English even if the answer is not
    return {
        code: _compiled(code, phrases | {"label": list(dict.fromkeys([*phrases.get("label", []), *labels]))})
        for code, phrases in table.items()
    }


def _compiled(code: str, phrases: dict[str, list[str]]) -> _Language:
    edge, gap = ("", r"\W*") if code in _UNSPACED else (r"\b", r"\W+")
    # a kind without phrases matches nothing
    any_of = {kind: "|".join(map(_pattern, phrases.get(kind, []))) or "(?!)" for kind in _KINDS}
    announced = rf"(?:{any_of['label']}){_COLON}|(?:{any_of['announce']}){gap}"
    leads = rf"(?:(?:{any_of['lead']}){gap}|(?P<announced>{announced})){{0,{_MOST_LEADS}}}"
    phrase = rf"(?P<phrase>{any_of['unknown']}|(?P<unsure>{any_of['unsure']}))"
    compiled = _compiler("".join(any_of.values()))
    return _Language(
        has_own_script=not re.search("[A-Za-z]", "".join([*phrases.get("unknown", []), *phrases.get("unsure", [])])),
        begins=compiled(rf"{leads}{phrase}{edge}"),
        harmless=compiled(rf" *(?:{any_of['harmless']}){edge}"),
        contrast=compiled(rf"{edge}(?:{any_of['contrast']}){edge}"),
        answer=compiled(rf"[,.;:!…\n。，；：、—–-] *(?:(?:{any_of['answer']}){edge}|{announced}(?=\w))"),
        offer=compiled(rf" *(?:{any_of['offer']})"),
    )


def _compiler(phrases: str) -> Callable[[str], _Expression]:
    """`re` is twice as fast as `regex`, but takes a vowel sign (Hindi, Thai) for the end of a word."""
    has_signs = any(unicodedata.category(character).startswith("M") for character in phrases)
    return regex.compile if has_signs else re.compile


def _pattern(phrase: str) -> str:
    """A phrase of the table as a pattern; `$` is the end of a sentence."""
    return fold(phrase).removesuffix("$") + (_END if phrase.endswith("$") else "")
