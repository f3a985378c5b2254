"""Does an answer say "I don't know"? `refusals.toml` has how people and models say it, by language.

A phrase counts at the beginning of a sentence ("Sorry, I don't know"), not in its middle ("the song is called I Don't
Know", "It is a Monet, I can't say which one"). It does not count where it leads up to an answer ("I don't know if you
knew, but it is Paris"; "I'm not sure, I think it is Paris"; "I don't know the exact number: about 500"), unless what
follows is no answer either ("but you could ask the museum"). Where it is doubtful, it is left to the judge.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import regex

from ragmeter.metrics.normalize import fold

#: Languages whose words are not kept apart by spaces: there a phrase need not end where a word does.
_UNSPACED = frozenset({"zh", "ja", "th"})
_KINDS = ("unknown", "unsure", "lead", "harmless", "contrast", "answer", "offer")
_LONGEST = 4000  # nobody declines after that many characters
_SIGHT = 300  # how far an answer may be from the phrase that leads up to it
#: A phrase begins where a text or a sentence does.
_BREAK = r"(?:^|[.!?;…\n。！？；؟] *)"
_END = r"(?=[.!?,;…\n。！？；，؟،]|$)"
_Expression = re.Pattern[str] | regex.Pattern[str]
_NUMBER = re.compile(r"(?<![\w'-])\d")


def is_miss(answer: str, languages: Collection[str] | None = None) -> bool:
    """Whether the answer declines to answer, in any language of the table or in these; an empty one does."""
    text = _plain(answer[:_LONGEST])
    tables = [table for code, table in _languages().items() if languages is None or code in languages]
    return not text or any(_declines(text, table) for table in tables)


def _plain(answer: str) -> str:
    """The answer folded, with single spaces and line breaks, and without what only dresses it up."""
    lines = (" ".join(line.split()) for line in fold(answer).splitlines())
    text = "\n".join(line for line in lines if line).strip("*_ >")
    if text[:1] in "\"'" and text[:1] == text[-1:] and text.count(text[:1]) == 2:
        text = text[1:-1]
    return text.strip("\"' ") if not text.strip("\"'. ") else text.strip()


@dataclass(frozen=True)
class _Language:
    begins: _Expression
    harmless: _Expression
    contrast: _Expression
    answer: _Expression
    offer: _Expression


def _declines(text: str, language: _Language) -> bool:
    for match in language.begins.finditer(text):
        if match["unsure"] is not None and match.start() > 0:
            continue
        rest = text[match.end() : match.end() + _SIGHT]
        if not language.harmless.match(rest) and not _answers(rest, language):
            return True
    return False


def _answers(rest: str, language: _Language) -> bool:
    """Whether what comes after a phrase is an answer: after a "but", by its first words, or with a number in it."""
    sentence, *later = re.split(r"[.!?\n。！？]", rest, maxsplit=2)
    turn = language.contrast.search(sentence)
    after = sentence[turn.end() :].strip(" ,，、") if turn else ""
    if after:
        return not language.offer.match(after)
    following = later[0].strip() if later else ""
    turn = language.contrast.match(following)  # "I don't have access to live data. However, it is on ESPN."
    after = following[turn.end() :].strip(" ,，、") if turn else ""
    if after and not language.offer.match(after):
        return True
    found = language.answer.search(rest)
    return found is not None or _NUMBER.search(rest) is not None


@cache
def _languages() -> dict[str, _Language]:
    """The table, compiled when the first answer is looked at."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {code: _compiled(code, phrases) for code, phrases in table.items()}


def _compiled(code: str, phrases: dict[str, list[str]]) -> _Language:
    edge, space = ("", " *") if code in _UNSPACED else (r"\b", " +")
    # what a language has no phrases for matches nothing
    either = {kind: "|".join(map(_pattern, phrases.get(kind, []))) or "(?!)" for kind in _KINDS}
    lead = rf"(?:(?:{either['lead']})(?:{space}|[,.:!…、，。،] *)){{0,4}}"
    declined = rf"(?:(?P<unknown>{either['unknown']})|(?P<unsure>{either['unsure']}))"
    compiled = _compiler("".join(either.values()))
    return _Language(
        begins=compiled(rf"{_BREAK}{lead}{declined}{edge}"),
        harmless=compiled(rf" *(?:{either['harmless']}){edge}"),
        contrast=compiled(rf"{edge}(?:{either['contrast']}){edge}"),
        answer=compiled(rf"[,.;:!…\n。，；：、—–-] *(?:{either['answer']}){edge}"),
        offer=compiled(rf" *(?:{either['offer']})"),
    )


def _compiler(phrases: str) -> Callable[[str], _Expression]:
    """Python's own expressions are twice as quick, but take a vowel sign (Hindi, Thai) for the end of a word."""
    has_signs = any(unicodedata.category(each).startswith("M") for each in phrases)
    return regex.compile if has_signs else re.compile


def _pattern(phrase: str) -> str:
    """A phrase of the table as a pattern; `$` is the end of a sentence."""
    return fold(phrase).removesuffix("$") + (_END if phrase.endswith("$") else "")
