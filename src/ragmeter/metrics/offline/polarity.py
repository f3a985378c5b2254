"""Whether a gold answer and an answer say yes or no to the same thing: "Dogs are not allowed" and "Dogs are allowed".

A text is read as clauses. Each has a sign, by its negations, and concepts with a sign each: "allowed" and "banned" are
the two ends of one concept, in `words.toml`. Two texts are compared by the concepts that they share, or else by the
negations of the clauses that have words in common. Answers to a yes / no question are compared with the question too,
so that "No." and "Dogs are banned." agree. What can't be decided stays undecided.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import regex

from ragmeter.metrics.bags import Ids
from ragmeter.metrics.normalize import words
from ragmeter.metrics.offline.poles import Poles, poles
from ragmeter.metrics.offline.tables import Mark, plain
from ragmeter.metrics.offline.vocabulary import Bools, Chunked

_STOP = regex.compile(r"\.(?!\d)|[;:!?\n()—–…]|,(?!\d)|\s-\s")
_LEAD_ENDS = regex.compile(r"\s*(?:[.,;:!?—–-]|$)")
_FREE = regex.compile(r"(\w+)-free\b")
_NUMBER = regex.compile(r"\d")
_NAME = regex.compile(r"(?<=[\p{L}\p{N},;] )\p{Lu}\p{L}+")
_FEWEST = 3  # words of a clause between commas; a shorter part belongs to the clause before it
_FEW = 2  # content words: a shorter negation is an answer to the whole question, "it comes without one"
_TAKEN_UP = 0.5  # of the question's content words: an answer with these and without a negation says yes
_VERBATIM = 4  # words
_SHORT = 60  # words of an answer that is compared with the gold answer alone
_JOINED = 15  # words more, as some are joined to phrases
_MOST = 1500  # characters of a text that are read
_SAME_BEGINNING = 5  # letters of two words that count as forms of one word
_RESTATED = 0.5  # of the gold answer's other content words, so that the same polarity means the same answer


class Polarity(NamedTuple):
    """Pairs that say the opposite of the gold answer, and pairs that say the same in other words."""

    opposite: Bools
    same: Bools


@dataclass(frozen=True)
class Clause:
    """The content words of a clause, its sign by negations, and the sign of each concept in it."""

    content: frozenset[str]
    sign: int
    negates: bool
    concepts: Mapping[int, int]
    is_choice: bool  # it has both ends of a concept
    order: tuple[str, ...]  # all words

    def overall(self, poles: Poles) -> int:
        """The sign, with concepts of which one end says yes and the other no."""
        sign = self.sign
        for concept, end in self.concepts.items():
            if poles.affirms(concept):
                sign = sign * end * self.sign  # a concept's end has the sign of the clause in it already
        return sign


@dataclass(frozen=True)
class Statement:
    """A text as clauses, and whether it begins with a yes (1) or a no (-1)."""

    lead: int
    clauses: tuple[Clause, ...]

    @cached_property
    def clause_of(self) -> dict[int, Clause]:
        """The first clause with each concept."""
        first: dict[int, Clause] = {}
        for clause in self.clauses:
            for concept in clause.concepts:
                first.setdefault(concept, clause)
        return first

    @property
    def offers_both_ends(self) -> bool:
        """Whether a question names both ends of a concept: "before or after meals", "true or false"."""
        return any(clause.is_choice for clause in self.clauses)

    @cached_property
    def content(self) -> frozenset[str]:
        """The content words of all clauses."""
        return frozenset().union(*(clause.content for clause in self.clauses))

    @property
    def negates(self) -> bool:
        """Whether a clause has a negation."""
        return any(clause.negates for clause in self.clauses)

    @property
    def has_polarity(self) -> bool:
        """Whether there is anything to compare."""
        return bool(self.lead or self.negates or self.clause_of)


def polarities(questions: Chunked, references: Chunked, answers: Chunked, language: str) -> Polarity:
    """Compare each answer with its gold answer; only gold answers with a polarity take time."""
    n_rows = len(answers.of_row)
    polarity = Polarity(np.zeros(n_rows, bool), np.zeros(n_rows, bool))
    known = poles(language)
    if known is None:
        return polarity
    nothing = Statement(0, ())
    golds = [
        _statement(text[:_MOST], known) if known.may_have_polarity(words(plain(text[:_MOST]))) else nothing
        for text in references.texts
    ]
    candidate = np.array([gold.has_polarity for gold in golds], bool)[references.of_row]
    for row in np.flatnonzero(candidate).tolist():
        question, reference, answer = (
            side.texts[_number(side.of_row, row)][:_MOST] for side in (questions, references, answers)
        )
        relation = compare(question, golds[_number(references.of_row, row)], answer, known)
        polarity.opposite[row] = relation < 0 and not _has_verbatim(answer, reference)
        polarity.same[row] = relation > 0 and _adds_nothing(question, reference, answer)
    return polarity


def _has_verbatim(answer: str, reference: str) -> bool:
    """Whether the answer has a gold answer of some words, word for word; other guards say if it is negated there."""
    gold = words(plain(reference))
    return len(gold) >= _VERBATIM and f" {' '.join(gold)} " in f" {' '.join(words(plain(answer)))} "


def _number(of_row: Ids, row: int) -> int:
    return int(of_row[row])


def compare(question: str, gold: Statement, answer: str, poles: Poles) -> int:
    """1 if the answer says the same as the gold answer, -1 if it says the opposite, 0 if that is not clear."""
    is_polar = poles.is_polar(question)
    if not is_polar and answer.count(" ") > 2 * _SHORT:
        return 0
    order = words(plain(answer))
    if not is_polar and len(order) > _SHORT + _JOINED:
        return 0
    if not (is_polar or gold.negates or gold.lead) and not poles.may_share(order, _open_concepts(gold, order, poles)):
        return 0
    negated = poles.negated_forms(order, [*words(plain(question)), *gold.content])
    answered = _statement(answer, poles, negated)
    asked = _statement(question, poles)
    if not answered.clauses and not answered.lead:
        return 0
    if is_polar and not asked.offers_both_ends:
        signs = [_sign(side, asked, poles) for side in (gold, answered)]
        if all(signs):
            return signs[0] * signs[1]
    elif gold.lead and answered.lead:
        return gold.lead * answered.lead
    return _directly(asked, gold, answered, poles)


def _open_concepts(gold: Statement, order: Sequence[str], poles: Poles) -> Collection[int]:
    """The gold answer's concepts but those of words that the answer has too: a quick look, before a text is read.

    These are no opposites, see `_same_words`. Words that may be part of a phrase are left to it.
    """
    if any(poles.compares(clause.order) for clause in gold.clauses):
        return gold.clause_of
    both = {word for clause in gold.clauses for word in clause.order}.intersection(order) - poles.phrase_words
    same = {concept for word in both for concept in poles.concepts_of(word)}
    return [concept for concept in gold.clause_of if concept < 0 or concept not in same]


def _directly(asked: Statement, gold: Statement, answered: Statement, poles: Poles) -> int:
    """Compare a short answer with the gold answer, whatever the question."""
    if sum(len(clause.order) for clause in answered.clauses) > _SHORT:
        return 0
    pole_roots = {poles.root(word) for clause in gold.clauses for word in clause.order if poles.concepts_of(word)}
    rest = [word for word in gold.content - asked.content if word not in pole_roots]
    n_restated = len(_common(rest, answered.content))
    relation = _by_concepts(answered, gold, poles, _same_words(gold, answered, poles), frozenset(asked.clause_of))
    if relation < 0 and rest and not n_restated:
        return 0
    if not relation and gold.negates and len(_common(gold.content, answered.content)) >= _RESTATED * len(gold.content):
        relation = _by_negation(gold, answered, poles)
    if relation > 0 and not rest and not gold.negates and not any(map(poles.affirms, gold.clause_of)):
        return 0  # two words of one end are no synonyms: "risen" and "more"
    doubted = relation > 0 and _is_doubted(gold, answered, poles)
    return 0 if doubted or (relation > 0 and n_restated < _RESTATED * len(rest)) else relation


def _is_doubted(gold: Statement, answered: Statement, poles: Poles) -> bool:
    """Whether an answer denies something in other words than a negation: "A would be a mistake"."""
    own = {word for clause in answered.clauses for word in clause.order}.difference(
        *(clause.order for clause in gold.clauses)
    )
    own -= {
        word for word in own if word in poles.negators or not poles.concepts_of(word).keys().isdisjoint(gold.clause_of)
    }
    return any(poles.table.marks.get(word, 0) & Mark.DENIAL for word in own)


def _same_words(gold: Statement, answered: Statement, poles: Poles) -> frozenset[int]:
    """The concepts of words that both texts have, unless something is negated or compared: they are no opposites."""
    if gold.negates or any(poles.compares(clause.order) for clause in gold.clauses):
        return frozenset()
    roots = {poles.root(word) for clause in answered.clauses for word in clause.order}
    both = [word for clause in gold.clauses for word in clause.order if poles.root(word) in roots]
    return frozenset(concept for word in both for concept in poles.concepts_of(word))


def _sign(side: Statement, asked: Statement, poles: Poles) -> int:
    """Whether a text says yes (1) or no (-1) to a question."""
    if side.lead:
        return side.lead
    sign = _by_concepts(side, asked, poles)
    if not sign and side.clauses and (not side.content or (side.negates and len(side.content) < _FEW)):
        sign = side.clauses[0].overall(poles)  # "They are not."
    if not sign:
        sign = _by_negation(side, asked, poles)
        if sign > 0 and len(_common(asked.content, side.content)) < _TAKEN_UP * len(asked.content):
            return 0
    restricted = poles.restricts(side.clauses[0].order) and not any(
        poles.restricts(clause.order) for clause in asked.clauses
    )
    return 0 if sign > 0 and restricted else sign  # "Only guide dogs are allowed."


def _by_concepts(
    answered: Statement,
    other: Statement,
    poles: Poles,
    without: frozenset[int] = frozenset(),
    asked: frozenset[int] = frozenset(),
) -> int:
    """Compare the concepts that both have, in the first clause that has any; those that say yes or no come first.

    Quantities ("nobody") only decide where nothing else does.
    """
    shared = [(clause, _shared_concepts(clause, other, without)) for clause in answered.clauses]
    decisive = [(clause, both) for clause, both in shared if any(map(poles.affirms, both))]
    for clause, both in decisive or shared:
        if both:
            return min(_relation(clause, other.clause_of[concept], concept, asked, poles) for concept in both)
    for clause in answered.clauses:
        for concept in clause.concepts:
            if concept < 0 and concept in other.clause_of:
                opposite = other.clause_of[concept]
                if _common(clause.content, opposite.content) or not (clause.content and opposite.content):
                    return clause.concepts[concept] * opposite.concepts[concept]
    return 0


def _shared_concepts(clause: Clause, other: Statement, without: frozenset[int]) -> list[int]:
    """The clause's concepts, quantities left out, that the other text has too."""
    return [
        concept for concept in clause.concepts if concept > 0 and concept in other.clause_of and concept not in without
    ]


def _relation(clause: Clause, other: Clause, concept: int, asked: frozenset[int], poles: Poles) -> int:
    """1 where two clauses agree on a concept; what turns the first one around counts too: "support was dropped"."""
    relation = clause.concepts[concept] * other.concepts[concept] * _swapped(clause, other, concept, poles)
    for extra, end in clause.concepts.items():
        if poles.turns(extra) and extra not in other.concepts and extra not in asked:
            relation *= end * clause.sign
    return relation


def _swapped(first: Clause, other: Clause, concept: int, poles: Poles) -> int:
    """-1 where the two sides of a comparison have changed places: "A is older than B" and "B is younger than A"."""
    if not (poles.compares(first.order) and poles.compares(other.order)):
        return 1
    sides = []
    for clause in (first, other):
        at = next(place for place, word in enumerate(clause.order) if concept in poles.concepts_of(word))
        around = clause.order[:at], clause.order[at + 1 :]
        sides.append([{poles.root(word) for word in part} & clause.content for part in around])
    (before, after), (other_before, other_after) = sides
    crossed = before & other_after and after & other_before
    return -1 if crossed and not before & other_before and not after & other_after else 1


def _by_negation(first: Statement, second: Statement, poles: Poles) -> int:
    """Compare the signs of the two clauses that have most words in common."""
    best, sign = 0, 0
    for clause in first.clauses:
        for other in second.clauses:
            n_shared = len(_common(clause.content, other.content))
            if n_shared > best:
                best, sign = n_shared, clause.overall(poles) * other.overall(poles)
    return sign


def _common(first: Sequence[str] | frozenset[str], second: frozenset[str]) -> list[str]:
    """The words of `first` that `second` has, in any form."""
    beginnings = {word[:_SAME_BEGINNING] for word in second if len(word) >= _SAME_BEGINNING}
    return [word for word in first if word in second or word[:_SAME_BEGINNING] in beginnings]


def _adds_nothing(question: str, reference: str, answer: str) -> bool:
    """Whether the answer has no number or name of its own in place of one of the gold answer's."""
    known = plain(f"{question} {reference}")
    answered = plain(answer)
    for pattern in (_NUMBER, _NAME):
        is_number = pattern is _NUMBER
        gold, own = (
            {word for word in words(plain(text)) if _NUMBER.search(word)}
            if is_number
            else set(map(plain, _NAME.findall(text)))
            for text in (reference, answer)
        )
        missing = {word for word in gold if word not in words(answered)}
        if missing and {word for word in own if word not in words(known)}:
            return False
    return True


@lru_cache(maxsize=16_384)
def _statement(text: str, poles: Poles, negated: frozenset[str] = frozenset()) -> Statement:
    names = frozenset(words(plain(" ".join(_NAME.findall(text)))))
    folded = _FREE.sub(r"without \1", plain(text)).strip(" \"'¿¡*")
    lead, rest = _lead(folded, text, poles)
    parts: list[list[str]] = []
    begin = 0
    for stop in [*_STOP.finditer(rest), None]:
        piece = words(rest[begin : stop.start()] if stop else rest[begin:])
        begin = stop.end() if stop else begin
        comma = stop is None or stop[0] == ","
        if parts and parts[-1] and (len(piece) < _FEWEST or len(parts[-1]) < _FEWEST) and comma:
            parts[-1] += piece
        elif piece:
            parts.append(piece)
    clauses = [clause for part in parts for clause in poles.split(poles.joined(part, negated))]
    return Statement(lead, tuple(_clause(clause, names, poles) for clause in clauses))


def _lead(folded: str, text: str, poles: Poles) -> tuple[int, str]:
    """The yes or no at the beginning, or after one word and a comma ("Typically, no"); and what follows it."""
    hedge, comma, after = folded.partition(", ")
    if comma and " " not in hedge and hedge not in poles.leads:
        folded = after
    for phrase, sign in poles.leads.get((words(folded[:40]) or [""])[0], ()):
        rest = folded[len(phrase) :]
        if folded.startswith(phrase) and not rest[:1].isalnum():
            following = words(rest[:40])[:1]
            accented = phrase == "si" and "í" in text[:4].lower()
            if _LEAD_ENDS.match(rest) or accented or (rest[:1] == " " and following and following[0] in poles.subjects):
                return sign, folded if poles.concepts_of(phrase) else rest  # "False" is a concept too
    return 0, folded


def _clause(order: Sequence[str], names: frozenset[str], poles: Poles) -> Clause:
    """A clause of these words. Names are no concepts and no negations: New York, No Country for Old Men."""
    n_negations = poles.negations(word for word in order if word not in names)
    sign = -1 if n_negations % 2 else 1
    concepts: dict[int, int] = {}
    ends: set[tuple[int, int]] = set()
    for place, word in enumerate(order):
        if word in names or (
            word in poles.table.months and order[place + 1 : place + 2][:1] and order[place + 1].isdecimal()
        ):
            continue  # a name, or May 2017
        ends |= set(poles.concepts_of(word).items())
        for concept, end in poles.concepts_of(word).items():
            if concept > 0:
                concepts[concept] = sign * min(end, concepts.get(concept, sign) * sign)
            elif concept not in concepts:  # "not everybody", but "nobody" is no negation of itself
                concepts[concept] = end * (-1 if "not" in order else 1)
    content = frozenset(poles.root(word) for word in order if poles.is_content(word))
    is_choice = any((concept, -end) in ends for concept, end in ends if concept > 0)
    return Clause(content, sign, n_negations > 0, concepts, is_choice, tuple(order))
