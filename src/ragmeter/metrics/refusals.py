"""Does an answer say "I don't know"? `refusals.toml` has how people and models say it, by language.

A phrase counts at the beginning of a sentence or clause ("Sorry, I don't know"), not in its middle ("the song is called
I Don't Know"). It does not count where it leads up to an answer ("I don't know if you knew, but it is Paris"; "I'm not
sure, but I think it is Paris"), unless what comes after "but" is no answer either ("but you could ask the museum").
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import regex

from ragmeter.metrics.normalize import fold

#: Languages whose words are not kept apart by spaces: there a phrase need not end where a word does.
_UNSPACED = frozenset({"zh", "ja", "th"})
_SIGHT = 300  # how far an answer may be from the phrase that leads up to it
_KINDS = ("unknown", "unsure", "lead", "friend", "contrast", "offer")
#: A phrase begins where a text, a sentence or a clause does.
_BREAK = r"(?:^|[.!?;:,\-–—…\n()\[\]。！？；：，、؟،]\s*)"
_END = regex.compile(r"[.!?。！？\n]")


def is_miss(answer: str) -> bool:
    """Whether the answer declines to answer, in any language of the table; an empty one does."""
    text = regex.sub(r"[ \t]+", " ", fold(answer)).strip(" \n\"'*_")
    return not text or any(_declines(text, language) for language in _languages().values())


@dataclass(frozen=True)
class _Language:
    begins: regex.Pattern[str]
    friend: regex.Pattern[str]
    contrast: regex.Pattern[str]
    offer: regex.Pattern[str]


def _declines(text: str, language: _Language) -> bool:
    for match in language.begins.finditer(text):
        if match["unsure"] is not None and match.start() > 0:
            continue
        rest = text[match.end() : match.end() + _SIGHT]
        if language.friend.match(rest):
            continue
        sentence = _END.split(rest, maxsplit=1)[0]
        turn = language.contrast.search(sentence)
        after = sentence[turn.end() :].strip(" ,，、") if turn else ""
        if after and not language.offer.match(after):
            continue
        return True
    return False


@cache
def _languages() -> dict[str, _Language]:
    """The table, compiled when the first answer is looked at."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {code: _compiled(code, phrases) for code, phrases in table.items()}


def _compiled(code: str, phrases: dict[str, list[str]]) -> _Language:
    edge, space = ("", r"\s*") if code in _UNSPACED else (r"\b", r"\s+")
    # what a language has no phrases for matches nothing
    either = {kind: "|".join(map(fold, phrases.get(kind, []))) or "(?!)" for kind in _KINDS}
    lead = rf"(?:(?:{either['lead']})(?:{space}|[,.:!…、，。]\s*)){{0,4}}"
    declined = rf"(?:(?P<unknown>{either['unknown']})|(?P<unsure>{either['unsure']}))"
    return _Language(
        begins=regex.compile(rf"{_BREAK}['\"]?{lead}{declined}{edge}"),
        friend=regex.compile(rf"\s*(?:{either['friend']})"),
        contrast=regex.compile(rf"{edge}(?:{either['contrast']}){edge}"),
        offer=regex.compile(rf"\s*(?:{either['offer']})"),
    )
