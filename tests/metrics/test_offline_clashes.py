"""What clashes between a claim and a passage, rule by rule, with the true claim beside the false one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ragmeter.metrics.offline.reading.quantities import quantities
from ragmeter.metrics.offline.reading.vocabulary import chunked, vocabulary
from ragmeter.metrics.offline.support.contradictions import clashes
from ragmeter.metrics.offline.support.model import compare, supported

BLIND = Path(__file__).parent.parent.parent / "training" / "support_blind.jsonl"

PAIRS = [
    ("unit", "The free plan holds files of up to 25 MB.", "The free plan holds files of up to 25 MB.",
     "The free plan holds files of up to 25 GB."),
    ("unit", "El plazo para reclamar es de dos semanas desde el siniestro.", "El plazo para reclamar es de 14 días.",
     "El plazo para reclamar es de dos meses."),
    ("value", "The Basic plan costs 10 euros per month, while the Pro plan costs 30 euros per month.",
     "The Pro plan costs 30 euros per month.", "The Basic plan costs 30 euros per month."),
    ("place", "Lawyers for Denise Farrow filed the complaint in Denver. A similar suit is pending in Boise.",
     "Lawyers for Denise Farrow filed the complaint in Denver.",
     "Lawyers for Denise Farrow filed the complaint in Boise."),
    ("place", "La marca Nordal demandó a Fresquita por copiar la botella.",
     "La marca Nordal demandó a Fresquita por copiar la botella.",
     "La marca Fresquita demandó a Nordal por copiar la botella."),
    ("order", "Trains leave from Lyon to Paris every hour.", "There are trains from Lyon to Paris every hour.",
     "Trains leave from Paris to Lyon every hour."),
    ("roles", "El alcalde acusó a la concejala de ocultar facturas.",
     "La concejala fue acusada por el alcalde de ocultar facturas.",
     "La concejala acusó al alcalde de ocultar facturas."),
    ("except", "The warranty covers parts but not labour.", "The warranty covers parts.",
     "The warranty covers labour."),
    ("quantity", "Some models include a charger.", "Some models include a charger.", "All models include a charger."),
    ("quantity", "Only administrators can delete a workspace.", "Administrators can delete a workspace.",
     "Members can delete a workspace."),
    ("opposite", "The watch is water-resistant but is not suitable for diving.",
     "The watch is not suitable for diving.", "The watch is suitable for diving."),
    ("opposite", "The tenant must give at least 30 days' notice.", "The tenant must give a minimum of 30 days' notice.",
     "The tenant must give at most 30 days' notice."),
]  # fmt: skip


def rules(claim: str, passage: str) -> list[str]:
    return [
        clash.rule
        for block in compare([([claim], [passage])])
        for clash in clashes(block.compared, np.ones(block.compared.pairs.count, bool)).values()
    ]


@pytest.mark.parametrize(("rule", "passage", "true", "false"), PAIRS)
def test_each_rule_finds_its_clash_and_spares_the_true_claim(rule: str, passage: str, true: str, false: str) -> None:
    assert rules(true, passage) == []
    assert rules(false, passage) == [rule]
    assert supported([false], [passage])[0] <= 0.25


def test_a_clash_counts_only_where_no_other_passage_supports() -> None:
    claim = "The office in Lyon opened in 2015."
    passages = ["The office in Lyon opened in 2012.", "The office in Lyon opened in 2015."]
    assert supported([claim], passages[:1])[0] < 0.5
    assert supported([claim], passages)[0] == supported([claim], passages[1:])[0] > 0.5


def test_a_number_that_stands_nowhere_is_not_supported() -> None:
    passage = "The new plant near the old harbour of the town employs 340 people in three shifts all year."
    claim = "The new plant near the old harbour of the town employs 580 people in three shifts all year."
    assert supported([claim.replace("580", "340"), claim], [passage])[0] > 0.5
    assert supported([claim], [passage])[0] <= 0.36


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("en", "It takes 48 hours.", "It takes two days."),
        ("en", "25% of the staff", "a quarter of the staff"),
        ("en", "half an hour", "30 minutes"),
        ("en", "300g", "0.3 kilograms"),
        ("es", "medio kilo", "500 gramos"),
        ("es", "18 millones de dólares", "$18,000,000"),
        ("de", "zwei Wochen", "14 Tage"),
        ("fr", "deux semaines", "14 jours"),
        ("tr", "iki saat", "120 dakika"),
    ],
)
def test_equal_quantities_have_equal_keys(language: str, first: str, second: str) -> None:
    vocab = vocabulary(language)
    keys = []
    for text in (first, second):
        texts = vocab.texts(chunked([text]))
        keys.append(quantities(texts, vocab.properties.words, vocab.table).keys().tolist())
    assert keys[0] == keys[1]
    assert len(keys[0]) == 1


def test_blind_pairs() -> None:
    """The half of the pairs that the rules were developed on: English and Spanish, half of them true."""
    rows = [json.loads(line) for line in BLIND.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 160
    right = [(supported([row["claim"]], [row["passage"]])[0] >= 0.5) == row["supported"] for row in rows]
    kept, caught = (
        [ok for ok, row in zip(right, rows, strict=True) if row["supported"] == kind] for kind in (True, False)
    )
    assert sum(kept) >= 69  # of 80
    assert sum(caught) >= 64


def test_a_claim_that_is_longer_than_its_passage_is_scored() -> None:
    claim = "The bridge was designed by Anna Berg."
    assert 0 < supported([claim], ["Anna Berg designed the bridge."])[0] < 1
