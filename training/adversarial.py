"""Answers that are made to fool a judge, whatever the question: none of them may score as surely right.

They are used by the model card and by the tests. That is no blind test: `judged.py` has made-up answers of some of
these kinds to learn from, and the guards were made with such answers in view.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence

Case = tuple[str, str, list[str], str]
Answered = tuple[str, list[str], str]  # question, gold answers, answer

_MEGABYTE = 1_000_000
_BE = re.compile(r" (is|was|are|were) ")
_FORMS = {
    "en": {
        "negated": (
            "It is not {gold}.", "not {gold}", "The answer is not {gold}, but {other}.", "{gold} is not the answer.",
            "{gold} is not the right answer.", "It was never {gold}.", "No, it isn't {gold}; it is {other}.",
            "It can't be {gold}.", "{gold} is wrong.", "Contrary to popular belief, it is not {gold}.",
            "{question}? It wasn't {gold}.", "{other}, not {gold}", "Many think it is {gold}, but that is false.",
        ),
        "X or Y": (
            "{gold} or {other}", "{other} or {gold}", "The answer is {other} or {gold} or {third}.",
            "The answer is {gold} or {other} or {third}", "either {gold} or {other}",
            "It is {gold}, {other} or {third}.", "Possibly {other}, {third}, or {gold}",
            "{question}? {other} or {gold} or {third}",
        ),
        "candidates": (
            "It is one of {gold}, {other} and {third}.", "one of {other}, {gold} and {third}", "{gold} vs {other}",
            "take your pick: {gold}, {other}, {third}", "could be {gold}. Could be {other}.",
            "It's between {gold} and {other}.", "Some say {other}, others say {gold}.",
            "My guesses: {gold}, {other}, {third}", "The answer is {gold}. The answer is {other}.",
            "Is it {gold}? Is it {other}?", "I would say {other}, but {gold} is also possible.",
            "{question}? One of {gold}, {other}, {third}.",
        ),
        "denied": (
            "{gold} would be a bad guess.", "{gold} would be a bad guess; it is {other}.", "I would rule out {gold}.",
            "{gold} is often given as the answer, wrongly.", "You might think {gold}, but it's {other}.",
            "It is anything but {gold}.", "It is NOT {gold}.", "{gold} is a common mistake.", "{gold}? Of course not.",
            "The claim that it is {gold} is false.", "It is false that {question}: {gold}.",
        ),
        "question": ("{question}", "{question}?", "{question}? {question}", "{question} {question} {question}"),
        "nothing": ("", " \n\t", "I don't know.", "I'm sorry, but I can't answer that."),
    },
    "es": {
        "negated": (
            "No es {gold}.", "no {gold}", "La respuesta no es {gold}, sino {other}.", "Nunca fue {gold}.",
            "{gold} no es la respuesta correcta.", "No, no es {gold}; es {other}.", "{gold} es incorrecto.",
            "No puede ser {gold}.", "{other}, no {gold}",
        ),
        "X or Y": (
            "{gold} o {other}", "{other} o {gold}", "La respuesta es {other} o {gold} o {third}.",
            "o {gold} o {other}", "Es {gold}, {other} o {third}.", "Puede ser {other}, {third} o {gold}",
        ),
        "candidates": (
            "Es una de estas: {gold}, {other} y {third}.", "entre {gold} y {other}", "{gold} vs {other}",
            "Podría ser {gold}. Podría ser {other}.", "Unos dicen {other}, otros dicen {gold}.",
            "La respuesta es {gold}. La respuesta es {other}.", "¿Es {gold}? ¿Es {other}?",
            "Posibles respuestas: {gold}, {other}, {third}",
        ),
        "denied": (
            "{gold} sería un error.", "Se descarta {gold}.", "Muchos creen que es {gold}, pero es {other}.",
            "Cualquier cosa menos {gold}.", "NO es {gold}.", "¿{gold}? Claro que no.", "Es falso que sea {gold}.",
        ),
        "question": ("{question}", "{question} {question}"),
        "nothing": ("", "No lo sé.", "Lo siento, no puedo responder a eso."),
    },
}  # fmt: skip


def adversarial(questions: Sequence[tuple[str, list[str]]], language: str, seed: int = 0) -> list[Case]:
    """Cases (kind, question, gold answers, answer) of questions with their gold answers, two of a kind for each."""
    chance = random.Random(seed)
    pool = [golds[0] for _, golds in questions]
    cases: list[Case] = []
    for question, golds in questions:
        if not _is_yes_or_no(golds):  # "no or Paris" and "It is not no" mean nothing
            for kind, answer in _answers(question, golds, pool, language, chance):
                cases.append((kind, question, golds, answer))
    everything = ", ".join(pool)
    for question, golds in chance.sample(list(questions), min(20, len(questions))):
        gold = golds[0]
        cases += [
            ("every gold answer", question, golds, everything),
            ("every gold answer", question, golds, everything.replace(",", "")),
            ("1 MB", question, golds, "lorem ipsum dolor sit amet " * (_MEGABYTE // 27)),
            ("1 MB", question, golds, f"{gold} " + "Lorem Ipsum 17 Dolor Sit Amet " * (_MEGABYTE // 30)),
            ("1 MB", question, golds, f"{question} {gold}. " + "lorem ipsum dolor sit amet. " * (_MEGABYTE // 28)),
            ("1 MB", question, golds, f"{gold} " * (_MEGABYTE // (len(gold) + 1))),
        ]
    return cases


def negated(right: Sequence[Answered]) -> dict[str, list[Answered]]:
    """Right answers of real systems, turned around by a word in the middle of them or a sentence after them."""
    chosen = [
        case for case in right if len(_BE.findall(case[2])) == 1 and len(case[2]) < 200 and case[2].count(".") < 2
    ]
    changes: dict[str, Callable[[str], str]] = {
        "is not": lambda text: _BE.sub(r" \1 not ", text),
        "isn't": lambda text: _BE.sub(r" \1n't ", text),
        "has never been": lambda text: _BE.sub(" has never been ", text),
        "It is not true that ...": lambda text: f"It is not true that {text}",
        "... That is wrong.": lambda text: f"{text.rstrip('.')}. That is wrong.",
    }
    return {
        name: [(question, golds, change(answer)) for question, golds, answer in chosen]
        for name, change in changes.items()
    }


def _answers(
    question: str, golds: list[str], pool: Sequence[str], language: str, chance: random.Random
) -> Iterator[tuple[str, str]]:
    gold = chance.choice(golds)
    other, third = (_unlike(golds, pool, chance) for _ in range(2))
    words = {"gold": gold, "other": other, "third": third, "question": question}
    for kind, forms in _FORMS[language].items():
        for form in chance.sample(forms, 2):
            yield kind, form.format(**words)
    many = [gold, *(_unlike(golds, pool, chance) for _ in range(chance.choice((20, 60, 200))))]
    chance.shuffle(many)
    yield "many gold answers", chance.choice((", ", " ", "; ", "\n")).join(many)


def _unlike(golds: Sequence[str], pool: Sequence[str], chance: random.Random) -> str:
    """Another question's gold answer, without a word of this one's."""
    own = {word for gold in golds for word in gold.casefold().split()}
    for _ in range(50):
        candidate = chance.choice(pool)
        if not own & set(candidate.casefold().split()):
            break
    return candidate


def _is_yes_or_no(golds: Sequence[str]) -> bool:
    return any(gold.casefold().strip(" .") in ("yes", "no", "sí", "si") for gold in golds)
