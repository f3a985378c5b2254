"""A small linear model of answers that decline, for those whose words no table of `languages/` has.

Each clause has two probabilities, by logistic regression on its words, on the classes of its words (`classes.toml`) and
on what the tables say of it: that it declines, and that it answers. An answer declines if some clause does and none
answers.
`training/train_refusals.py` learns both regressions together from whole answers, and writes `weights.json`.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:'(?=[^\W\d_]))?|[,:?()]|<quote>")
_NUMBER = "0"
_MOST_TOKENS = 60
_FAR, _NEAR = 8, 3  # words between two classes that make a pair
#: The model is not asked about a text without a word of these classes, nor about a very short one: the tables have the
#: short refusals. Words of the second set often mean something else (Spanish "su" is "his", too) and alone say little.
_TELLING = frozenset({"negation", "nothing", "speaker", "user_verb", "document", "sorry", "refer", "need", "policy"})
_HARDLY_TELLING = frozenset({"user", "information", "which"})
#: Probabilities above which a text declines: where few unseen answers are taken for refusals, and where words of the
#: second set alone speak for one. NEVER: the model is not asked.
LIKELY, VERY_LIKELY, NEVER = 0.5, 0.7, 1.0
_FEWEST_WORDS = 4
_LEAST_KNOWN = 0.25  # the share of words with a class: fewer have texts in a language that the classes don't know
BIAS = "bias"


class Clause(NamedTuple):
    """A clause of an answer, and what the tables say that it does."""

    text: str
    kind: str
    is_question: bool


@cache
def _weights() -> dict[str, tuple[float, float]]:
    table = json.loads((_FOLDER / "weights.json").read_text(encoding="utf-8"))
    return {name: (declines / 100, answers / 100) for name, (declines, answers) in table.items()}


@cache
def _classes() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """The classes of whole words, and of beginnings of words."""
    whole: dict[str, frozenset[str]] = {}
    beginnings: dict[str, frozenset[str]] = {}
    for name, text in tomllib.loads((_FOLDER / "classes.toml").read_text(encoding="utf-8")).items():
        for word in text.split():
            table, key = (beginnings, word[:-1]) if word.endswith("*") else (whole, word)
            table[key] = table.get(key, frozenset()) | {name}
    return whole, beginnings


@lru_cache(1 << 16)
def classes_of(word: str) -> frozenset[str]:
    """The classes of a folded word; none for most words."""
    if not word[0].isalpha():
        return frozenset(["number"] if word == _NUMBER else ())
    whole, beginnings = _classes()
    own = whole.get(word, frozenset()) | whole.get(word.rstrip("'"), frozenset())
    return own.union(*(beginnings.get(word[:end], ()) for end in range(3, len(word) + 1)))


def threshold_of(words: set[str], *, asks: bool) -> float:
    """The probability above which a text with these folded words declines: quick, for most never do."""
    classes = [own for own in map(classes_of, words) if own]
    if len(words) < _FEWEST_WORDS or len(classes) < _LEAST_KNOWN * len(words):
        return NEVER
    present = frozenset().union(*classes)
    if present.isdisjoint(_TELLING) and not asks:
        return NEVER if present.isdisjoint(_HARDLY_TELLING) else VERY_LIKELY
    return NEVER if present.isdisjoint(_TELLING | _HARDLY_TELLING) else LIKELY


def probability(clauses: Sequence[Clause]) -> float:
    """How likely an answer of these clauses declines to answer."""
    weights = _weights()
    none_declines = none_answers = 1.0
    for names in features(clauses):
        declines = answers = 0.0
        for name in names:
            pair = weights.get(name)
            if pair is not None:
                declines += pair[0]
                answers += pair[1]
        none_declines *= 1 / (1 + math.exp(min(declines, 30.0)))
        none_answers *= 1 / (1 + math.exp(min(answers, 30.0)))
    return (1 - none_declines) * none_answers


def features(clauses: Sequence[Clause]) -> Iterator[set[str]]:
    """The names of each clause's features."""
    questions = sum(clause.is_question for clause in clauses)
    before: frozenset[str] = frozenset()
    kind_before, asked_before = "", False
    for index, clause in enumerate(clauses):
        words = [_NUMBER if token[0].isdigit() else token for token in _TOKEN.findall(clause.text)[:_MOST_TOKENS]]
        classes = [classes_of(word) for word in words]
        present = frozenset().union(*classes)
        place = (
            "only" if len(clauses) == 1 else "first" if index == 0 else "last" if index == len(clauses) - 1 else "mid"
        )
        names = {BIAS, place, f"n {min(len(clauses), 6)}", f"kind {clause.kind}", f"kinds {kind_before} {clause.kind}"}
        names |= {f"kind {clause.kind} {place}", f"length {min(int(1.5 * math.log2(len(words) + 1)), 9)}"}
        if questions:
            names |= {"all ask"} if questions == len(clauses) else {"some ask"}
        if asked_before:
            names.add("after a question")
        if clause.is_question:
            names |= {"asks", f"asks {place}", *(f"asks {name}" for name in present)}
            names.add(f"asks: {words[0] if words else ''}")
        names |= _of_words(words) | _of_classes(classes)
        names.update(f"before {name}" for name in before)
        unknown = sum(not own and word[0].isalpha() for word, own in zip(words, classes, strict=True))
        names |= {f"unknown {min(unknown, 8)}", f"share unknown {5 * unknown // max(len(words), 1)}"}
        before, kind_before, asked_before = present, clause.kind, clause.is_question
        yield names


def _of_words(words: list[str]) -> set[str]:
    pairs = zip(["^", *words], [*words, "$"], strict=True)
    return {*(f"= {word}" for word in words), *(f"= {first} {second}" for first, second in pairs)}


def _of_classes(classes: list[frozenset[str]]) -> set[str]:
    """The classes, those of the first word, and the pairs of classes that stand near each other."""
    names = {f"begins {name}" for name in classes[0]} if classes else set()
    placed = [(place, name) for place, own in enumerate(classes) for name in own if name != "small"]
    names.update(name for _, name in placed)
    for index, (place, first) in enumerate(placed):
        for other, second in placed[index + 1 :]:
            if other - place > _FAR:
                break
            if first != second and other > place:
                names.add(f"{first} < {second}")
                if other - place <= _NEAR:
                    names.add(f"{first} << {second}")
    return names
