"""The answers that people have judged, those that are made up beside them, and how both are split."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

DATA = Path(__file__).with_name("evouna_nq.jsonl.gz")
#: What a made-up answer counts beside a person's verdict. Negations, alternatives and refusals are left to the guards:
#: trees that learnt from made-up ones were worse on systems and questions that they had not seen.
_WEIGHTS = {"right": 0.02, "echo": 0.1, "all at once": 0.06, "heap": 0.06}


@dataclass(frozen=True)
class Judged:
    """An answer with its verdict."""

    number: int  # of the question
    system: str
    question: str
    golds: tuple[str, ...]
    answer: str
    right: bool
    weight: float = 1.0


def judged() -> list[Judged]:
    """Every answer that a person has judged."""
    rows = []
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            for system, (answer, right) in row["answers"].items():
                rows.append(Judged(number, system, row["question"], tuple(row["golds"]), answer, right))
    return rows


def is_held_out(question: str) -> bool:
    """One question in ten is kept from the packaged model, so that a test can hold it to answers it has never seen."""
    return _hash(question) % 10 == 0


def fold(question: str, folds: int = 5) -> int:
    """Which fold of the cross-validation a question is in."""
    return _hash(f"fold {question}") % folds


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def made_up(rows: Sequence[Judged], seed: int = 0) -> list[Judged]:
    """Answers whose verdict is plain, of kinds that systems rarely write and judges must not fall for."""
    chance = random.Random(seed)
    by_question = {row.number: row for row in rows}
    golds = [gold for row in by_question.values() for gold in row.golds[:1]]
    texts = [row.answer for row in rows if len(row.answer) > 100]
    others: list[Judged] = []
    for row in by_question.values():
        for kind, answer, right in _about(row, golds, texts, chance):
            system, weight = f"made up: {kind}", _WEIGHTS[kind]
            others.append(replace(row, system=system, answer=answer, right=right, weight=weight))
    return others


_FORMS = {
    "right": (
        "{gold}",
        "{gold}.",
        "The answer is {gold}.",
        "It is {gold}",
        "{question}? {gold}",
        "I believe it was {gold}.",
    ),
    "echo": ("{question}", "{question}?", "{question}? {question}"),
}


def _about(
    row: Judged, golds: Sequence[str], texts: Sequence[str], chance: random.Random
) -> Iterator[tuple[str, str, bool]]:
    gold = chance.choice(row.golds)
    for kind, forms in _FORMS.items():
        yield kind, chance.choice(forms).format(gold=gold, question=row.question), kind == "right"
    if chance.random() < 0.5:  # everything that could be right, all at once
        many = [_unlike(row, golds, chance) for _ in range(int(20 * 1.3 ** chance.randrange(12)))] + [gold]
        chance.shuffle(many)
        yield "all at once", chance.choice((", ", " ", "; ", "\n", " or ")).join(many), False
    if chance.random() < 0.1:  # somewhere in a heap of text about other things
        heap = [chance.choice(texts) for _ in range(chance.randrange(30, 80))]
        heap[chance.randrange(len(heap))] += f" {gold}."
        yield "heap", " ".join(heap), False


def _unlike(row: Judged, golds: Sequence[str], chance: random.Random) -> str:
    """Another question's gold answer of about the same kind, without a word of this one's."""
    own = {word for gold in row.golds for word in gold.casefold().split()}
    number = any(c.isdigit() for c in row.golds[0])
    candidate = chance.choice(golds)
    for _ in range(50):
        if any(c.isdigit() for c in candidate) == number and not own & set(candidate.casefold().split()):
            break
        candidate = chance.choice(golds)
    return candidate
