"""Whether a gold answer and an answer say yes or no to the same thing: "Dogs are not allowed" and "Dogs are allowed".

A text is read as clauses. Each has a sign, by its negations, and concepts with a sign each: "allowed" and "banned" are
the two ends of one concept, in `poles.toml`. Answers to a yes / no question are compared with the question, so that
"No." and "Dogs are banned." agree; other answers with the gold answer. What can't be decided stays undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import prod
from typing import NamedTuple

import numpy as np
import regex

from ragmeter.metrics.normalize import words
from ragmeter.metrics.offline.poles import Poles, poles
from ragmeter.metrics.offline.tables import Mark, plain
from ragmeter.metrics.offline.vocabulary import Bools, Chunked

_STOP = regex.compile(r"\.(?!\d)|[;:!?\n()—–…]|,(?!\d)|\s-\s")
_LEAD_ENDS = regex.compile(r"\s*(?:[.,;:!?—–-]|$)")
_FREE = regex.compile(r"(\w+)-free\b")
_NAME = regex.compile(r"(?<=[\p{L}\p{N},;] )\p{Lu}\p{L}+")
#: Spanish questions that ask for more than yes or no; it has no word that begins the others.
_ASKS_MORE = regex.compile(
    r"\b(?:qué|quién(?:es)?|cuándo|dónde|cuánt[oa]s?|cómo|cuál(?:es)?)\b|^\W*(?:(?:a|de|en|por|con|para|desde|hasta)\s+)?"
    r"(?:que|quien(?:es)?|cuando|donde|cuant[oa]s?|como|cual(?:es)?|adonde)\b",
    regex.IGNORECASE,
)
_FEWEST = 3  # words of a clause between commas; a shorter part belongs to the clause before it
_TAKEN_UP = 0.5  # of the question's content words: an answer with these and without a negation says yes
_VERBATIM = 4  # words
_SHORT = 60  # words of an answer that is compared with the gold answer alone
_MOST = 1500  # characters of a text that are read
_SAME_BEGINNING = 5  # letters of two words that count as forms of one word
_RESTATED = 0.5  # of the gold answer's other content words, so that the same polarity means the same answer


class Polarity(NamedTuple):
    """Pairs that say the opposite of the gold answer, and pairs that say the same in other words."""

    opposite: Bools
    same: Bools


@dataclass(frozen=True)
class Clause:
    """The words of a clause, its content words, its sign by negations, and the sign of each concept in it."""

    order: tuple[str, ...]
    content: frozenset[str]
    sign: int
    concepts: Mapping[int, int]
    has_both_ends: bool

    def overall(self, poles: Poles) -> int:
        """The sign, with concepts of which one end says yes and the other no."""
        ends = [end * self.sign for concept, end in self.concepts.items() if poles.affirms(concept)]
        return self.sign * min(ends, default=1)


@dataclass(frozen=True)
class Statement:
    """A text as clauses, and whether it begins with a yes (1) or a no (-1)."""

    lead: int
    clauses: tuple[Clause, ...]

    @cached_property
    def content(self) -> frozenset[str]:
        """The content words of all clauses."""
        return frozenset().union(*(clause.content for clause in self.clauses))

    @cached_property
    def concepts(self) -> frozenset[int]:
        """The concepts of all clauses."""
        return frozenset().union(*(clause.concepts for clause in self.clauses))

    @cached_property
    def negates(self) -> bool:
        """Whether a clause is negated."""
        return any(clause.sign < 0 for clause in self.clauses)

    def compares(self, poles: Poles) -> bool:
        """Whether two things are compared, whose order matters."""
        return any(not poles.words["comparisons"].isdisjoint(clause.order) for clause in self.clauses)


def polarities(questions: Chunked, references: Chunked, answers: Chunked, language: str) -> Polarity:
    """Compare each answer with its gold answer; only gold answers with a polarity take time."""
    polarity = Polarity(np.zeros(len(answers.of_row), bool), np.zeros(len(answers.of_row), bool))
    known = poles(language)
    if known is None:
        return polarity
    glances = [_glance(text, known) for text in references.texts]
    is_candidate = np.array([glance.decides or bool(glance.reach) for glance in glances], bool)
    for row in np.flatnonzero(is_candidate[references.of_row]).tolist():
        question, reference, answer = (
            side.texts[side.of_row[row]][:_MOST] for side in (questions, references, answers)
        )
        if not _may_decide(question, glances[references.of_row[row]], answer, known):
            continue
        relation = compare(question, reference, answer, known)
        polarity.opposite[row] = relation < 0 and not _has_verbatim(answer, reference)
        polarity.same[row] = relation > 0 and not _differs(question, reference, answer)
    return polarity


class _Glance(NamedTuple):
    """A quick look at a gold answer, before any text is read."""

    words: frozenset[str]
    decides: bool  # it has a negation, a yes or a no
    reach: set[int]  # the concepts that it may have


def _glance(text: str, poles: Poles) -> _Glance:
    order = words(plain(text[:_MOST]))
    decides = any(poles.concepts[word].decides for word in order)
    return _Glance(frozenset(order), decides, poles.reach(order))


def _may_decide(question: str, gold: _Glance, answer: str, poles: Poles) -> bool:
    """Whether it is worth reading the texts: words that both have are no opposites, unless two things are compared."""
    if gold.decides or _is_polar(question, poles):
        return True
    if answer.count(" ") > _SHORT:
        return False
    shared = frozenset() if gold.words & poles.words["comparisons"] else gold.words
    return not poles.reach(words(plain(answer)), shared).isdisjoint(gold.reach)


def _has_verbatim(answer: str, reference: str) -> bool:
    """Whether the answer has a gold answer of some words, word for word; other guards say if it is negated there."""
    gold = words(plain(reference))
    return len(gold) >= _VERBATIM and f" {' '.join(gold)} " in f" {' '.join(words(plain(answer)))} "


def _differs(question: str, reference: str, answer: str) -> bool:
    """Whether the answer has a number or a name of its own in place of one of the gold answer's."""
    known, answered = (set(words(plain(text))) for text in (f"{question} {reference}", answer))
    numbers = [{word for word in words(plain(text)) if word[0].isdigit()} for text in (reference, answer)]
    names = [set(map(plain, _NAME.findall(text))) for text in (reference, answer)]
    return any(gold - answered and own - known for gold, own in (numbers, names))


def compare(question: str, reference: str, answer: str, poles: Poles) -> int:
    """1 if the answer says the same as the gold answer, -1 if it says the opposite, 0 if that is not clear."""
    is_polar = _is_polar(question, poles)
    if not is_polar and answer.count(" ") > _SHORT:
        return 0
    gold, asked = read(reference, poles), read(question, poles)
    answered = _read(answer, poles, gold.content | asked.content)
    if is_polar and not any(clause.has_both_ends for clause in asked.clauses):
        signs = _answer_to(asked, gold, poles) * _answer_to(asked, answered, poles)
        if signs:
            return abs(signs) if _restricts(gold, poles) and _restricts(answered, poles) else signs
    elif gold.lead and answered.lead:
        return gold.lead * answered.lead
    return _directly(asked, gold, answered, poles)


def _is_polar(question: str, poles: Poles) -> bool:
    """Whether a question asks for a yes or a no."""
    if not poles.words["polar"]:
        return _ASKS_MORE.search(question) is None
    beginnings = [part.split()[:1] for part in question.casefold().replace("’", "'").split(",")]
    return any(begin and begin[0].strip("\"'¿") in poles.words["polar"] for begin in beginnings)


def _answer_to(asked: Statement, statement: Statement, poles: Poles) -> int:
    """Whether a text says yes (1) or no (-1) to a question."""
    if statement.lead or not statement.clauses:
        return statement.lead
    first = statement.clauses[0]
    sign = _relation(statement, asked, poles)
    # "They are not.", "You may bring them along.", "Pets are welcome."
    is_reply = first.order[0] in poles.words["subjects"] or any(map(poles.affirms, statement.concepts))
    if not sign and (is_reply or statement.negates or not statement.content):
        sign = min(clause.overall(poles) for clause in statement.clauses)
    elif sign > 0 and not is_reply and not asked.concepts & statement.concepts:
        sign = int(len(_common(asked.content, statement.content)) >= _TAKEN_UP * len(asked.content))
    return -1 if sign > 0 and _restricts(statement, poles) and not _restricts(asked, poles) else sign


def _restricts(statement: Statement, poles: Poles) -> bool:
    """Whether a text is about a part: "Only guide dogs are allowed."."""
    return not poles.words["only"].isdisjoint(word for clause in statement.clauses for word in clause.order)


def _relation(statement: Statement, other: Statement, poles: Poles, without: frozenset[int] = frozenset()) -> int:
    """The relation of the first clause that has a concept in common with the other text, or else of the most alike."""
    by_words = (0, 0)
    for clause in statement.clauses:
        by_concepts = (0, 0, 0)
        for mate in other.clauses:
            shared = clause.concepts.keys() & mate.concepts.keys() - without - {-1}
            n_words = len(_common(clause.content, mate.content))
            if shared and (len(shared), n_words) > by_concepts[:2]:
                by_concepts = len(shared), n_words, _by_concepts(clause, mate, shared, poles)
            if n_words > by_words[0]:
                by_words = n_words, clause.overall(poles) * mate.overall(poles)
        if by_concepts[0]:
            return by_concepts[2]
    return by_words[1]


def _by_concepts(clause: Clause, other: Clause, shared: Iterable[int], poles: Poles) -> int:
    """1 where two clauses agree on the concepts that they share, else -1; "support was dropped" turns one around."""
    turned = prod(
        end * clause.sign for concept, end in clause.concepts.items() if poles.turns(concept) and concept not in shared
    )
    agree = min(clause.concepts[concept] * other.concepts[concept] for concept in shared)
    return agree * turned * _swapped(clause, other, poles)


def _swapped(first: Clause, other: Clause, poles: Poles) -> int:
    """-1 where the two sides of a comparison have changed places: "A is older than B" and "B is younger than A"."""
    sides = []
    for clause in (first, other):
        at = next((place for place, word in enumerate(clause.order) if word in poles.words["comparisons"]), None)
        if at is None:
            return 1
        halves = clause.order[:at], clause.order[at:]
        sides += [
            {word for word in half if poles.is_content(word) and not poles.concepts[word].ends} for half in halves
        ]
    crossed = sides[0] & sides[3] and sides[1] & sides[2]
    return -1 if crossed and not sides[0] & sides[2] and not sides[1] & sides[3] else 1


def _directly(asked: Statement, gold: Statement, answered: Statement, poles: Poles) -> int:
    """Compare a short answer with the gold answer, whatever the question."""
    order = [word for clause in gold.clauses for word in clause.order]
    own = [word for clause in answered.clauses for word in clause.order]
    poles_of_gold = {poles.roots[word] for word in order if poles.concepts[word].ends}
    rest = gold.content - asked.content - poles_of_gold
    n_restated = len(_common(rest, answered.content))
    without: frozenset[int] = frozenset()
    if not gold.negates and not gold.compares(poles):  # words that both texts have are no opposites
        roots = {poles.roots[word] for word in own}
        without = frozenset(c for word in order if poles.roots[word] in roots for c in poles.concepts[word].ends)
    if gold.concepts & answered.concepts - without - {-1}:
        relation = _relation(answered, gold, poles, without)
    elif gold.negates and len(_common(gold.content, answered.content)) >= _RESTATED * len(gold.content):
        relation = _relation(answered, gold, poles, gold.concepts)
    else:
        relation = _by_quantity(answered, gold)
    if relation < 0 and rest and not n_restated:
        return 0
    if relation > 0:
        is_about = bool(rest) or bool(_common(gold.content - poles_of_gold, answered.content))
        is_synonym = is_about or gold.negates or any(map(poles.affirms, gold.concepts))  # "risen" and "more" are none
        denies = any(
            poles.table.marks.get(word, 0) & Mark.DENIAL and word not in poles.words["negators"]
            for word in set(own) - set(order)
            if not poles.concepts[word].ends.keys() & gold.concepts
        )  # "A would be a mistake"
        return int(is_synonym and not denies and n_restated >= _RESTATED * len(rest))
    return relation


def _by_quantity(statement: Statement, other: Statement) -> int:
    """Compare "everybody" and "nobody", which only decide where nothing else does."""
    for clause in statement.clauses:
        for mate in other.clauses:
            both = clause.concepts.get(-1, 0) * mate.concepts.get(-1, 0)
            if both and (_common(clause.content, mate.content) or not (clause.content and mate.content)):
                return both
    return 0


def _common(first: Iterable[str], second: frozenset[str]) -> list[str]:
    """The words of `first` that `second` has, in any form."""
    beginnings = {word[:_SAME_BEGINNING] for word in second if len(word) >= _SAME_BEGINNING}
    return [word for word in first if word in second or word[:_SAME_BEGINNING] in beginnings]


@lru_cache(maxsize=4_096)
def read(text: str, poles: Poles) -> Statement:
    """A gold answer or a question as a statement."""
    return _read(text, poles, frozenset())


def _read(text: str, poles: Poles, known: frozenset[str]) -> Statement:
    names = frozenset(words(plain(" ".join(_NAME.findall(text)))))
    folded = _FREE.sub(r"without \1", plain(text)).strip(" \"'¿¡*")
    lead, rest = _lead(folded, text, poles)
    parts: list[list[str]] = []
    begin = 0
    for stop in [*_STOP.finditer(rest), None]:
        piece = words(rest[begin : stop.start()] if stop else rest[begin:])
        begin = stop.end() if stop else begin
        is_comma = stop is None or stop[0] == ","
        if parts and (len(piece) < _FEWEST or len(parts[-1]) < _FEWEST) and is_comma:
            parts[-1] += piece
        elif piece:
            parts.append(piece)
    clauses: list[list[str]] = []
    for part in parts:
        clauses.append([])
        for word in poles.joined(part, known):
            if word in poles.words["joins"] or word in poles.words["ahead"]:
                clauses.append([])
            if word not in poles.words["joins"]:
                clauses[-1].append(word)
    return Statement(lead, tuple(_clause(clause, names, poles) for clause in clauses if clause))


def _lead(folded: str, text: str, poles: Poles) -> tuple[int, str]:
    """The yes or no at the beginning, or after one word and a comma ("Typically, no"); and what follows it."""
    hedge, comma, after = folded.partition(", ")
    if comma and " " not in hedge and hedge not in poles.leads:
        folded = after
    begin = words(folded[:40])
    for length in range(min(4, len(begin)), 0, -1):
        phrase = " ".join(begin[:length])
        sign = poles.leads.get(phrase, 0)
        rest = folded[len(phrase) :]
        if sign and folded.startswith(phrase):
            is_accented = phrase == "si" and "í" in text[:4].lower()
            is_followed = begin[length : length + 1] != [] and begin[length] in poles.words["subjects"]
            if _LEAD_ENDS.match(rest) or is_accented or is_followed:
                return sign, folded if poles.concepts[phrase].ends else rest  # "False" is a concept too
    return 0, folded


def _clause(order: list[str], names: frozenset[str], poles: Poles) -> Clause:
    """A clause of these words. Names are no concepts and no negations: New York, No Country for Old Men."""
    own = [word for word in order if word not in names]
    sign = poles.sign(own)
    concepts: dict[int, int] = {}
    ends: set[tuple[int, int]] = set()
    for word, following in pairwise([*own, ""]):
        if word in poles.table.months and following.isdecimal():
            continue  # May 2017
        ends |= set(poles.concepts[word].ends.items())
        for concept, end in poles.concepts[word].ends.items():
            if concept > 0:
                concepts[concept] = sign * min(end, concepts.get(concept, sign) * sign)
            elif concept not in concepts:  # "not everybody", but "nobody" is no negation of itself
                concepts[concept] = end * (-1 if "not" in order else 1)
    content = frozenset(poles.roots[word] for word in order if poles.is_content(word))
    has_both_ends = any((concept, -end) in ends for concept, end in ends if concept > 0)
    return Clause(tuple(order), content, sign, concepts, has_both_ends)
