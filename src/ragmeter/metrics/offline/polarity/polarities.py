"""Whether a gold answer and an answer say yes or no to the same thing: "Dogs are not allowed" and "Dogs are allowed".

Both are read as clauses (`statements.py`). "Allowed" and "banned" are the two ends of one concept, in `poles.toml`.
Answers to a yes / no question are compared with the question, so that "No." and "Dogs are banned." agree; other answers
with the gold answer. Of several clauses, the one that is most about what was asked counts. What can't be decided stays
undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
import regex

from ragmeter.metrics.normalize import words_and_figures
from ragmeter.metrics.offline import thresholds as threshold
from ragmeter.metrics.offline.polarity.poles import DECIDES, Poles, poles_of
from ragmeter.metrics.offline.polarity.statements import NAME, Clause, Concepts, Roots, Statement, common, named, read
from ragmeter.metrics.offline.reading.tables import plain
from ragmeter.metrics.offline.reading.vocabulary import Chunked, Small

#: Spanish questions that ask for more than yes or no; it has no word that begins the others.
_ASKS_MORE = regex.compile(
    r"\b(?:qué|quién(?:es)?|cuándo|dónde|cuánt[oa]s?|cómo|cuál(?:es)?)\b|^\W*(?:(?:a|de|en|por|con|para|desde|hasta)\s+)?"
    r"(?:que|quien(?:es)?|cuando|donde|cuant[oa]s?|como|cual(?:es)?|adonde)\b",
    regex.IGNORECASE,
)
_NEGATED_QUESTION = regex.compile(
    r"^(\W*(?:\w+(?=n['’]t )|\w+ (?:i|you|s?he|it|we|they) (?=not )|(?=no |tampoco )))(?:n['’]t|not?|tampoco) ",
    regex.IGNORECASE,
)
_OF_THE_PAST = regex.compile(r"^\W*(?:did|was|were|ha[ds]|have|fue|fueron)\b|\w{2}(?:ó|aron|ieron)\b", regex.IGNORECASE)
_MOST = 1500  # characters of a text that are read


def polarities(questions: Chunked, references: Chunked, answers: Chunked, language: str) -> Small:
    """1 for each answer that says the same as its gold answer in other words, -1 for the opposite, else 0.

    Only gold answers with a polarity take time.
    """
    polarity = np.zeros(len(answers.of_row), np.int32)
    known = poles_of(language)
    if known is None:
        return polarity
    says = _says(references, known)[references.of_row]
    is_polar = np.array([_is_polar(text[:_MOST], known) for text in questions.texts], bool)[questions.of_row]
    is_short = (np.diff(answers.starts) <= threshold.SHORT_STATEMENT + 1)[answers.of_row]
    decides = is_polar | (says == DECIDES)
    for row in np.flatnonzero((says > 0) & (is_polar | is_short)).tolist():
        question, reference, answer = (side.text(row)[:_MOST] for side in (questions, references, answers))
        if decides[row] or _may_decide(reference, answer, known):
            relation = compare(question, reference, answer, known)
            polarity[row] = 0 if relation > 0 and _differs(question, reference, answer) else relation
    return polarity


def _says(side: Chunked, poles: Poles) -> Small:
    """What each text says of yes and no: the most that one of its chunks does."""
    # of numbers, which are many, and each is rare, nothing is kept
    of_chunk = np.array([0 if chunk.isdecimal() else poles.says(chunk) for chunk in side.distinct], np.int32)
    of_text = np.zeros(len(side.texts), np.int32)
    np.maximum.at(of_text, np.repeat(np.arange(len(side.texts)), np.diff(side.starts)), of_chunk[side.chunk_ids])
    return of_text


def _may_decide(reference: str, answer: str, poles: Poles) -> bool:
    """Whether it is worth reading the texts: words that both have are no opposites, unless two things are compared."""
    gold, concepts = _reach(reference, poles)
    if not concepts:
        return False
    shared = gold if poles.words["comparisons"].isdisjoint(gold) else frozenset()
    others = (own for word, own in poles.reach(words_and_figures(plain(answer))) if word not in shared)
    return not all(map(concepts.isdisjoint, others))


@lru_cache(maxsize=4_096)
def _reach(text: str, poles: Poles) -> tuple[frozenset[str], set[int]]:
    """The words of a gold answer, and the concepts that they may have."""
    order = words_and_figures(plain(text))
    return frozenset(order), set().union(*(concepts for _, concepts in poles.reach(order)))


def _differs(question: str, reference: str, answer: str) -> bool:
    """Whether the same polarity says little: the answer has a name in place of the gold one's."""
    known, answered = (frozenset(words_and_figures(plain(text))) for text in (f"{question} {reference}", answer))
    names, own_names = (set(map(plain, NAME.findall(text))) for text in (reference, answer))
    return len(common(names, answered)) < len(names) and len(common(own_names, known)) < len(own_names)


def compare(question: str, reference: str, answer: str, poles: Poles) -> int:
    """1 if the answer says the same as the gold answer, -1 if it says the opposite, 0 if that is not clear."""
    is_polar = _is_polar(question, poles)
    plain_question = _NEGATED_QUESTION.sub(r"\1 ", question)  # "Isn't it closed?" asks if it is closed
    asked = read(plain_question, poles)
    gold, answered = read(reference, poles, named(answer, poles)), read(answer, poles)
    if is_polar and _OF_THE_PAST.search(question) and asked.concepts.isdisjoint(poles.verdicts):
        answered = answered.without(poles.concepts("present") - asked.concepts - gold.concepts)
    if any(c.begins("or") and poles.leads.keys() & c.order[1:3] for c in answered.clauses):
        return 0  # "Yes, or maybe no."
    if relation := _by_restriction(asked, gold, answered, is_polar=is_polar):
        return relation
    if is_polar and not asked.both_ends and (gold.lead or gold.negates or not asked.has("or")):
        signs = 1
        for text, topic in ((gold, asked.content), (answered, asked.content | gold.content)):
            lead = text.lead if plain_question == question else min(text.lead, 0)  # "yes" says little
            signs *= _answer_to(asked, replace(text, lead=lead), topic, is_gold=text is gold) or text.lead
        is_missed = gold.negates and all(clause.overall() > 0 for clause in answered.clauses)  # "They never met."
        return signs or -int(is_missed)
    if _denies(asked, gold):  # "Who came?" "Nobody."
        return -_answer_to(asked, answered, asked.content)
    return _directly(asked, gold, answered)


def related(statement: str, claim: str, poles: Poles) -> int:
    """1 where a claim says the same of yes and no as a statement, -1 where it says the opposite, 0 if unclear."""
    asked, said, claimed = (read(text, poles) for text in ("", statement, claim))
    restricted = _by_restriction(asked, said, claimed, is_polar=False)
    return min(restricted, _directly(asked, said, claimed)) or max(restricted, 0)


@lru_cache(maxsize=4_096)
def _is_polar(question: str, poles: Poles) -> bool:
    """Whether a question asks for a yes or a no."""
    if not poles.words["polar"]:
        return _ASKS_MORE.search(question) is None
    beginnings = [part.split()[:1] for part in question.casefold().replace("’", "'").split(",")]
    return any(begin and begin[0].strip("\"'¿") in poles.words["polar"] for begin in beginnings)


def _denies(asked: Statement, gold: Statement) -> bool:
    """Whether a gold answer says that what was asked for does not exist, and nothing else."""
    negated = [clause.content for clause in gold.main if clause.sign < 0]
    says_more = all(len(common(content, asked.content)) < len(content) for content in negated)
    says_more |= gold.restriction(asked)[0] != 0  # "Nobody, except the staff."
    return not says_more and _answer_to(asked, gold, asked.content) < 0


def _answer_to(asked: Statement, statement: Statement, topic: Roots, *, is_gold: bool = False) -> int:
    """Whether a text says yes (1) or no (-1) to a question."""
    if statement.lead or not statement.clauses:
        return statement.lead
    first = statement.main[0]
    if not first.content and " ".join(first.order) not in asked.poles.leads:  # "It does not."
        return first.sign
    if asked.has("all") and any(clause.begins("exceptions") for clause in statement.clauses):
        return -1
    if asked.has("only") and statement.has("more"):
        return -1
    sign, clause = _relation(statement, asked, topic, asked.both_ends, text_is_gold=is_gold)
    if clause is None and (not statement.concepts.isdisjoint(asked.poles.verdicts) or statement.negates):
        first, *others = statement.main  # "They are not.", "You may bring them along.", "Pets are welcome."
        telling = [first, *(clause for clause in others if not clause.begins("ahead"))]
        sign = asked.bias * min(clause.overall(is_gold=is_gold) for clause in telling)
    is_only = (clause or statement).has("only") and not asked.has("only")
    return -1 if sign > 0 and is_only else sign


class _Mates(NamedTuple):
    """A clause, one of another text, the concepts that they share, and how much they are about what was asked."""

    clause: Clause
    mate: Clause
    shared: set[int]
    rank: tuple[bool, bool, float]  # both are no asides, they decide something, and the sum of words and concepts


def _mates(text: Statement, other: Statement, topic: Roots, without: Concepts) -> Iterator[_Mates]:
    """The clauses of two texts that have a word or a concept in common."""
    for clause in text.clauses:
        n_topic = len(common(clause.content, topic)) + clause.begins("pronouns")
        for mate in other.clauses:
            shared, is_reworded = _shared(clause, mate, without)
            n_words = len(common(clause.content, mate.content))
            if not shared and not n_words:
                continue
            about = n_topic + threshold.OTHER_WORD * len(clause.content) + threshold.SHARED_WORD * n_words
            about += (
                threshold.AFFIRMING * (not shared.isdisjoint(clause.poles.affirms)) + threshold.REWORDED * is_reworded
            )
            decides = bool(shared) or clause.overall() < 0
            yield _Mates(clause, mate, shared, (not (clause.is_side or mate.is_side), decides, about))


def _relation(
    text: Statement,
    other: Statement,
    topic: Roots,
    without: Concepts,
    *,
    text_is_gold: bool = False,
    other_is_gold: bool = False,
) -> tuple[int, Clause | None]:
    """How the clause that is most about the topic is related to the most alike one of another text; and that clause."""
    best = max(_mates(text, other, topic, without), key=lambda mates: mates.rank, default=None)
    if best is None or best.rank <= (False, False, 0.0):
        return 0, None
    clause, mate, shared, _ = best
    if shared:
        return _by_concepts(clause, mate, shared.intersection(clause.poles.affirms) or shared), clause
    by_sign = clause.overall(is_gold=text_is_gold) * (mate.overall(is_gold=True) if other_is_gold else mate.sign)
    return -by_sign if clause.has("less") != mate.has("less") else by_sign, clause


def _shared(clause: Clause, other: Clause, without: Concepts) -> tuple[set[int], bool]:
    """The concepts that two clauses share, by different words if possible; and whether it is by those.

    "Winter" in both says neither yes nor no, but "older than" does.
    """
    is_compared = clause.has("comparisons") and other.has("comparisons")
    same = frozenset() if is_compared else _same_words(clause.order, other.order, clause.poles)
    shared = clause.concepts.keys() & other.concepts.keys() - without
    return shared - same or shared.intersection(clause.poles.affirms), not shared <= same


def _same_words(first: Iterable[str], other: Iterable[str], poles: Poles) -> Concepts:
    """The concepts of words that both texts have: these are no opposites."""
    roots = set(map(poles.root, other))
    return frozenset(concept for word in first if poles.root(word) in roots for concept in poles.word(word).ends)


def _by_concepts(clause: Clause, other: Clause, shared: set[int]) -> int:
    """1 where two clauses agree on the concepts that they share, else -1; "support was dropped" turns one around."""
    poles = clause.poles
    free = [ends for ends in (poles.word(word).ends for word in clause.order) if ends.keys().isdisjoint(shared)]
    own = clause.concepts.keys() - other.concepts.keys()
    turning = {c: end for ends in free for c, end in ends.items() if c in poles.turns and c in own}
    turned = prod(turning.values()) if shared.intersection(poles.affirms) else 1
    agree = min(clause.concepts[concept] * other.concepts[concept] for concept in shared)
    return agree * turned * _swapped(clause, other)


def _swapped(first: Clause, other: Clause) -> int:
    """-1 where the two sides of a comparison have changed places: "A is older than B" and "B is younger than A"."""
    poles = first.poles
    places = [clause.place("comparisons") or len(clause.order) for clause in (first, other)]
    halves = (first.order[: places[0]], first.order[places[0] :], other.order[: places[1]], other.order[places[1] :])
    sides = [[word for word in half if poles.word(word).is_content and not poles.word(word).ends] for half in halves]
    subject, standard, its_subject, its_standard = map(set, (sides[0][: None if sides[1] else 1], *sides[1:]))
    is_swapped = standard & its_subject if standard else its_subject - subject  # "B is younger"
    return -1 if subject & its_standard and is_swapped else 1


def _directly(asked: Statement, gold: Statement, answered: Statement) -> int:
    """Compare a short answer with the gold answer, whatever the question."""
    poles = gold.poles
    poles_of_gold = {poles.root(word) for word in gold.words if poles.word(word).ends}
    rest = gold.content - asked.content - poles_of_gold
    n_restated = len(common(rest, answered.content))
    topic = gold.content | asked.content
    is_plain = not gold.negates and not gold.has("comparisons")
    without = _same_words(gold.words, answered.words, poles) if is_plain else frozenset()
    is_asked_for = all(clause.overall() > 0 for clause in asked.clauses)  # and not "what is prohibited"
    is_shared = bool(gold.concepts & answered.concepts - without)
    if not is_shared and not (gold.negates and is_asked_for):
        return 0
    without = without if is_shared else gold.concepts
    relation = _relation(answered, gold, topic, without, other_is_gold=True)[0]
    return int(n_restated >= threshold.RESTATED * len(rest)) if relation > 0 else relation


def _by_restriction(asked: Statement, gold: Statement, answered: Statement, *, is_polar: bool) -> int:
    """Compare "only with a permit" with "not without a permit", "nobody but Ann" and "everybody but Ann"."""
    sign, restricted = gold.restriction(asked)
    own_sign, own = answered.restriction(asked)
    if shared := common(restricted, own):
        differ = len(shared) < len(restricted) and len(common(own, restricted)) < len(own)
        return min(sign * own_sign, 0) if differ else sign * own_sign
    if sign < 0 or answered.has("all"):
        return 0
    limiting = gold.poles.words["limits"]
    limits = {word for clause in gold.clauses if clause.sign > 0 for word in clause.order} & limiting
    signs = []
    for clause in (clause for clause in answered.clauses if common(restricted, clause.content)):
        if clause.sign > 0 and (own_limits := limiting.intersection(clause.order)):
            signs.append(1 if own_limits <= limits else -1)  # "until", and not "not until"
        else:
            signs.append(clause.concepts.get(gold.poles.need, 0 if is_polar else clause.sign))
    return min(signs, default=0)
