"""The words of each language from `words.toml` and `cldr.toml`, as look-up tables."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from ragmeter.metrics.normalize import fold, strip_accents


class Mark:
    """The properties of a word, as bits. They are plain integers, because an enumeration is ten times slower.

    All 31 bits of a 32-bit integer are in use. One more kind of word is a list in `_LISTS`, as `titles` is, whose roots
    `Vocabulary.roots_of` finds.
    """

    FUNCTION = 1 << 0
    NEGATION = 1 << 1
    EITHER = 1 << 2
    ALSO = 1 << 3
    HEDGE = 1 << 4
    SORRY = 1 << 5
    YES = 1 << 6
    NO = 1 << 7
    NUMBER = 1 << 8
    MONTH = 1 << 9
    SPELLED = 1 << 10  # a number in letters
    SCALE = 1 << 11  # a number that multiplies the one before it
    WEAK = 1 << 12  # a number that is often just a word: one, first, II
    ACRONYM = 1 << 13
    CAPITAL = 1 << 14
    LETTER = 1 << 15  # one letter: an initial
    CLAUSE = 1 << 16  # a comma or the like follows
    SENTENCE = 1 << 17  # a sentence ends after it
    UNIT = 1 << 18
    # For the guards only: a negation, an "or", a hedge in other words, or in another language.
    DENIAL = 1 << 19
    CHOICE = 1 << 20
    DOUBT = 1 << 21
    TURN = 1 << 22  # what follows is meant, not what comes before: but
    SEVERAL = 1 << 23  # there is more than one candidate, if nothing else is said
    AGAIN = 1 << 24  # the same if it occurs twice: "The answer is X. The answer is Y."
    ASKS = 1 << 25  # a question ends after it
    DECADE = 1 << 26  # a decade: the 1990s
    CENTURY = 1 << 27  # the word for a century
    NAMED = 1 << 28  # the last word of a name of two words that has related words: United Kingdom
    TONGUE = 1 << 29  # in a question: it asks for a language
    UNTIL = 1 << 30  # "not until" is not a negation


_FOLDED_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"})
_FOLDED_LETTERS |= {ord("₀") + figure: str(figure) for figure in range(10)}  # CO₂; superscripts are footnotes
_FOLDED_LETTERS |= {ord("½"): ".5", ord("¼"): ".25", ord("¾"): ".75"}  # 3½

#: The kinds of questions, and last any other.
QUESTIONS = ("who", "when", "where", "count", "why", "what")
_LENGTHS = (3, 2, 1)  # words of a phrase that begins a question
_LISTS = (
    "ambiguous",
    "capitals",
    "untitled",
    "titles",
    "plural",
    "asks_list",
    "which",
    "term",
    "winner",
    "loser",
    "agent",
    "articles",
    "merged",
    "least",
    "most",
    "over",
    "under",
    "except",
    "every",
    "part",
    "only",
    "alone",
)
#: The lists whose words have the mark of the same name; those of "plain" have none.
_MARKED = {"plain": 0} | {
    name: getattr(Mark, name.upper())
    for name in (
        *("function", "negation", "either", "also", "hedge", "sorry", "denial", "choice", "doubt", "turn", "several"),
        *("again", "century", "until", "tongue", "yes", "no"),
    )
}


@dataclass(frozen=True)
class Table:
    """One language's words."""

    words: dict[str, frozenset[str]]  # lists that are looked up as they are
    marks: dict[str, int]
    numbers: dict[str, tuple[float, int]]
    months: dict[str, int]
    units: dict[str, str]
    short: dict[str, tuple[str, ...]]  # the words of a short form
    kin: dict[str, int]  # related words, or pairs of words, have the same number
    beats: tuple[str, ...]  # what stands before one who was beaten
    beaten: tuple[str, ...]  # and after one
    asks: dict[str, str]  # the kind of question that a word or phrase begins
    measures: dict[str, tuple[str, float]]  # of a unit or a currency: its dimension, and how much of it one is
    fractions: dict[str, float]  # a quarter, half
    weekdays: frozenset[str]

    def knows(self, word: str) -> bool:
        """Whether the table has the word."""
        return any(word in words for words in (self.marks, self.numbers, self.months, self.units))

    def asks_for_several(self, words: list[str]) -> bool:
        """Whether the question asks for more than one: "what are", "name all", "which countries"."""
        if not self.words["plural"].isdisjoint(words) or not self.words["asks_list"].isdisjoint(words[:1]):
            return True
        nouns = (word for question_word, word in pairwise(words) if question_word in self.words["which"])
        return any(
            word[-1] == "s" and len(word) > 3 and word[-2] not in "sui" and not self.marks.get(word, 0) & Mark.FUNCTION
            for word in nouns
        )

    def asks_for_winner(self, words: list[str]) -> bool:
        """Whether the question asks who won, and not whom somebody beat."""
        return not self.words["winner"].isdisjoint(words) and self.words["loser"].isdisjoint(words)

    def kind_of_question(self, words: list[str]) -> str:
        """The kind of the question, by its first question word; longer phrases are tried first."""
        phrases = (" ".join(words[at : at + length]) for at in range(len(words)) for length in _LENGTHS)
        return next((self.asks[phrase] for phrase in phrases if phrase in self.asks), QUESTIONS[-1])


def plain(text: str) -> str:
    """A text folded, without accents, and with letters like ø replaced."""
    folded = strip_accents(fold(text))
    return folded if folded.isascii() else folded.translate(_FOLDED_LETTERS)


#: The lists of a language as its file has them: of words, with spaces or bars between them; `scales` is a table.
Lists: TypeAlias = Mapping[str, Any]


@cache
def _read() -> dict[str, Lists]:
    """The lists of `words.toml`, and beside them those of `cldr.toml`; a language's own words come first."""
    by_hand, from_cldr = (
        tomllib.loads(plain(Path(__file__).with_name(name).read_text(encoding="utf-8")))
        for name in ("words.toml", "cldr.toml")
    )
    for language, lists in from_cldr.items():
        words = by_hand.setdefault(language, {})
        words["months"] = lists.get("months", "")
        words["scales"] = lists.get("scales", {}) | words.get("scales", {})
        words["units"] = f"{lists.get('units', '')} {words.get('units', '')}"
        words.setdefault("kin", lists.get("kin", ""))
        words |= {name: lists[name] for name in ("measures", "money", "weekdays") if name in lists}
    return by_hand


@cache
def tables() -> dict[str, Table]:
    """Every language that has a table."""
    by_language = {code: _table(words) for code, words in _read().items()}
    _mark_foreign(by_language)
    return by_language


def _mark_foreign(tables: dict[str, Table]) -> None:
    """Mark the negations, alternatives and hedges of other languages, for the guards: detection fails on short texts.

    Words of one letter, which may be initials, and words that the language has itself are left out.
    """
    guard_mark_of = {Mark.NEGATION: Mark.DENIAL, Mark.NO: Mark.DENIAL, Mark.EITHER: Mark.CHOICE, Mark.HEDGE: Mark.DOUBT}
    foreign: dict[str, int] = {}
    for language in tables.values():
        for word, marks in language.marks.items():
            for mark, guard_mark in guard_mark_of.items():
                if marks & mark and len(word) > 1:
                    foreign[word] = foreign.get(word, 0) | guard_mark
    for language in tables.values():
        language.marks.update({word: marks for word, marks in foreign.items() if not language.knows(word)})


def table(language: str) -> Table:
    """The table of a language; an empty one if there is none."""
    return tables().get(language) or _table({})


def _table(words: Lists) -> Table:
    marks: dict[str, int] = {}
    for kind, mark in _MARKED.items():
        for word in words.get(kind, "").split():
            marks[word] = marks.get(word, 0) | mark
    for name in words.get("kin", "").replace("|", " ").split():
        if "_" in name:
            last = name.split("_")[-1]
            marks[last] = marks.get(last, 0) | Mark.NAMED
    return Table(
        words={name: frozenset(words.get(name, "").split()) for name in _LISTS},
        marks=marks,
        numbers=_numbers(words),
        months={
            name: number for number, names in enumerate(words.get("months", "").split(), 1) for name in names.split("|")
        }
        | words.get("more_months", {}),
        units={name: names.split("|")[0] for names in words.get("units", "").split() for name in names.split("|")},
        short={
            name: tuple(long.split("_"))
            for name, _, long in (pair.partition("=") for pair in words.get("short", "").split())
        },
        kin={
            name.replace("_", " "): number
            for number, names in enumerate(words.get("kin", "").split(), 1)
            for name in names.split("|")
        },
        beats=tuple(words["beats"].split("|")) if "beats" in words else (),
        beaten=tuple(words["beaten"].split("|")) if "beaten" in words else (),
        asks={phrase: kind for kind in QUESTIONS[:-1] for phrase in words.get(kind, "").split("|") if phrase},
        measures=_measures(words),
        fractions=dict(words.get("fractions", {})),
        weekdays=frozenset(words.get("weekdays", "").replace("|", " ").split()),
    )


#: Units as all languages write them, and the signs of money, by their roots.
_SYMBOLS = (
    "s=time:1 min=time:60 h=time:3600 ug=mass:1e-06 µg=mass:1e-06 mcg=mass:1e-06 mg=mass:1e-03 g=mass:1 "
    "kg=mass:1e3 t=mass:1e6 mm=length:1e-3 cm=length:1e-2 m=length:1 km=length:1e3 ml=volume:1e-3 cl=volume:1e-2 "
    "l=volume:1 b=data:1 kb=data:1e3 mb=data:1e6 gb=data:1e9 tb=data:1e12 w=power:1 kw=power:1e3 mw=power:1e6 "
    "gw=power:1e9 percent=share:1e-2 litre=volume:1 litres=volume:1 millilitre=volume:1e-3 "
    "millilitres=volume:1e-3 tonne=mass:1e6 tonnes=mass:1e6 second=time:1 minute=time:60 hour=time:3600 "
    "year=time:31104000 kilogram=mass:1e3 millimeter=length:1e-3 centimeter=length:1e-2 meter=length:1 "
    "kilometer=length:1e3 inch=length:0.0254 foot=length:0.3048 mile=length:1609.344 %=share:1e-2 $=dollar:1 "
    "€=euro:1 £=pound:1 ¥=yen:1 dollar=dollar:1 euro=euro:1 "
)

_MONEY = {"dolar": "dollar", "libra": "pound"}  # in the languages whose signs these are not called by


def _measures(words: Lists) -> dict[str, tuple[str, float]]:
    """The dimension and the size of each unit, by its names and its symbols; each currency is a dimension."""
    measures: dict[str, tuple[str, float]] = {}
    for pair in f"{_SYMBOLS} {words.get('measures', '')}".split():
        name, _, measure = pair.partition("=")
        dimension, _, size = measure.partition(":")
        measures[name] = dimension, float(size)
    for names in words.get("money", "").split():
        first, *others = names.split("|")
        money = _MONEY.get(first, first)
        measures |= dict.fromkeys((first, *others), (money, 1.0))
    return measures


def _numbers(words: Lists) -> dict[str, tuple[float, int]]:
    """The values of numbers in words. "One" is weak: in many languages it is an article."""
    spelled = Mark.NUMBER | Mark.SPELLED
    values: dict[str, tuple[float, int]] = {}
    for name in ("ordinals", "times"):
        values |= {word: (value, Mark.WEAK) for value, word in enumerate(words.get(name, "").split(), 1)}
    for value, word in enumerate(words.get("numbers", "").split()):
        values[word] = value, spelled | Mark.WEAK if value == 1 else spelled
    for value, word in enumerate(words.get("tens", "").split(), 2):
        values[word] = value * 10, spelled
    for word, value in words.get("scales", {}).items():
        values[word] = value, spelled | Mark.SCALE
    return values
