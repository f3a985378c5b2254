"""The expressions of each language, from `languages/`, compiled when they are first used.

A file has the words that are used in several places (`<DOC>` stands for one of them), the `cues` without one of which a
text in this language declines nothing, and by kind the expressions, over folded text, separated by `|` or line breaks:

| kind | what it says |
|---|---|
| lead | words before what is said: "sorry", "unfortunately", "based on the text," |
| label, announce | the answer comes now: "Answer:", "the answer is" |
| person | declines anywhere in a clause, in the first person: "I don't have", "that is beyond my remit" |
| begins | declines where a clause begins with it: "unable to say", "no information about" |
| declines | declines anywhere in a clause: "the text does not mention", "there is no information" |
| whole | declines where the answer is nothing else: "n/a", "not specified" |
| filler | says nothing of what was asked: thanks, offers, who could help |
| coverage | says what the documents are about; a clause with a `negation` after it, that they lack something |
| asks | in a question: asks the user for something |
| contrast, weak | begins another clause; `weak` after a comma only |
| hedge | after a comma, begins an answer: "I think", "about 5" |
| finite | a verb, by which a part between commas says something of its own |
| subordinate | begins a part between commas that says nothing of its own |
| reports | somebody else says what follows: "the minister replied", "the text says that" |
| except | an answer in the form of a refusal: "nothing cheaper than" |
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import regex

from ragmeter.metrics.normalize import fold

Expression = re.Pattern[str] | regex.Pattern[str]
#: Languages without spaces between words: there an expression need not end at a word boundary.
_UNSPACED = frozenset({"zh", "ja", "th"})
_FOLDER = Path(__file__).with_name("languages")
_NAME = re.compile(r"<([A-Z]+)>")
_ESCAPE = re.compile(r"\\.|[^\\]+")
#: What follows a label: a colon, a dash or the end of its bracket or line; then opening brackets or quotation marks.
_COLON = r"[^\w\n:：=—–)\]}）】>|-]{0,4}[\n:：=—–)\]}）】>|-]\W*"
_MOST_LEADS = 8


@dataclass(frozen=True)
class Language:
    """The expressions of a language; None for a kind that it has none of."""

    cues: frozenset[str]
    has_own_script: bool
    announced: Expression
    lead: Expression
    person: Expression | None
    begins: Expression
    declines: Expression | None
    whole: Expression
    filler: Expression | None
    coverage: Expression | None
    negation: Expression | None
    asks: Expression | None
    finite: Expression | None
    subordinate: Expression | None
    reports: Expression | None
    other: Expression | None


@cache
def languages() -> dict[str, Language]:
    """All languages."""
    return {code: _compiled(code, *_read(code)) for code in codes()}


@cache
def codes() -> tuple[str, ...]:
    """The languages that there are tables for."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


@cache
def cues() -> frozenset[str]:
    """The cues of all languages."""
    return frozenset().union(*(language.cues for language in languages().values()))


@cache
def joints(*, folded: bool = True) -> re.Pattern[str]:
    """Where a sentence is split into clauses: before a contrast, and before the words that begin a guess."""
    own: dict[str, list[str]] = {"contrast": [], "weak": [], "hedge": [], "unspaced": []}
    for code in codes():
        for kind, expression in _read(code)[1].items():
            name = "unspaced" if kind == "contrast" and code in _UNSPACED else kind
            if name in own:
                own[name].append(expression)
    contrast, weak, hedge, unspaced = ("|".join(expressions) for expressions in own.values())
    return re.compile(
        rf"[,،;] ?(?:(?:{contrast}|{weak})\b[, ]*|(?=(?:{hedge})(?![a-zà-ÿ])))| (?:{contrast})\b[, ]*"
        rf"|[、，](?=(?:{hedge}))|[,、，]?(?:{unspaced})[,、，]?",
        0 if folded else re.IGNORECASE,
    )


def _read(code: str) -> tuple[frozenset[str], dict[str, str]]:
    """The cues of a language and its expressions by kind, the words in their places."""
    table = tomllib.loads((_FOLDER / f"{code}.toml").read_text(encoding="utf-8"))
    words: dict[str, str] = {}
    for name, text in table.get("words", {}).items():
        words[name] = f"(?:{_with(words, text)})"
    kinds = {kind: _folded(_with(words, "|".join(text.strip().splitlines()))) for kind, text in table["kinds"].items()}
    return frozenset(fold(table.get("cues", "")).split()), kinds


def _with(words: dict[str, str], text: str) -> str:
    return _NAME.sub(lambda match: words[match[1]], text)


def _folded(expression: str) -> str:
    """The expression with its letters folded as texts are, but not those of its escapes."""
    return _ESCAPE.sub(lambda match: match[0] if match[0].startswith("\\") else fold(match[0]), expression)


def _compiled(code: str, own_cues: frozenset[str], kinds: dict[str, str]) -> Language:
    edge, gap = ("", r"\W*") if code in _UNSPACED else (r"(?!\w)", r"\W+")
    english = _read("en")[1]["label"]  # labels come from prompts, often in English even if the answer is not
    none = "(?!)"
    labels = f"(?:{kinds.get('label', none)}|{english}){_COLON}|(?:{kinds.get('announce', none)}){gap}"
    compiled = _compiler("".join(kinds.values()))

    def expression(kind: str, before: str = "", after: str = edge) -> Expression | None:
        return compiled(f"{before}(?:{kinds[kind]}){after}") if kind in kinds else None

    return Language(
        cues=own_cues,
        has_own_script=not own_cues,
        announced=compiled(
            rf"(?:^|[\n.!?;？。])[^\w\n]*(?:{kinds.get('label', none)}|{english})[^\w\n:：]{{0,4}}[:：]"
        ),
        lead=compiled(rf"\W*(?:(?:{kinds.get('lead', none)})(?:{gap}|$)|{labels}){{0,{_MOST_LEADS}}}"),
        person=expression("person", r"(?<!\w)"),
        begins=compiled(f"(?:{kinds['begins']}){edge}"),
        declines=expression("declines", r"(?<!\w)", ""),
        whole=compiled(f"(?:{kinds.get('whole', none)})"),
        filler=expression("filler", r"\W*", ""),
        coverage=expression("coverage", r"\W*", ""),
        negation=expression("negation", "", ""),
        asks=expression("asks", "", ""),
        finite=expression("finite", r"(?<!\w)"),
        subordinate=expression("subordinate", r"\W*"),
        reports=expression("reports", "", ""),
        other=expression("except", "", ""),
    )


def _compiler(expressions: str) -> Any:
    """`re` is twice as fast as `regex`, but takes a vowel sign (Hindi, Thai) for the end of a word."""
    has_signs = any(unicodedata.category(character).startswith("M") for character in expressions)
    return regex.compile if has_signs else re.compile
