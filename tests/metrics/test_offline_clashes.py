"""What clashes between a claim and a passage, rule by rule, with the true claim beside the false one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ragmeter.metrics.offline.reading.quantities import quantities
from ragmeter.metrics.offline.reading.vocabulary import chunked, vocabulary
from ragmeter.metrics.offline.support.contradictions import clashes
from ragmeter.metrics.offline.support.model import compare, supported, supported_of_rows

TRAINING = Path(__file__).parent.parent.parent / "training"

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
    ("bound", "The tenant must give at least 30 days' notice.", "The tenant must give a minimum of 30 days' notice.",
     "The tenant must give at most 30 days' notice."),
    ("bound", "La fianza será de hasta dos mensualidades para los locales.",
     "La fianza para los locales será de hasta dos mensualidades.",
     "La fianza será de al menos dos mensualidades para los locales."),
    ("value", "La nulidad se funda en el artículo 1301 y la restitución de prestaciones en el artículo 1303.",
     "La restitución de prestaciones se funda en el artículo 1303.",
     "La restitución de prestaciones se funda en el artículo 1301."),
    ("name", "Swabs go to the laboratory at St Bride's; bloods go to Northgate.",
     "Bloods go to the laboratory at Northgate.", "Bloods go to the laboratory at St Bride's."),
    ("order", "Striker Teo Vance was sold by Rivermouth to Calder City for a record fee.",
     "Striker Teo Vance was sold to Calder City by Rivermouth.",
     "Striker Teo Vance was sold by Calder City to Rivermouth."),
    ("roles", "La madre donó un riñón a su hijo en una intervención de siete horas.",
     "La madre donó a su hijo un riñón en una intervención.",
     "El hijo donó un riñón a su madre en una intervención de siete horas."),
    ("quantity", "Some SolarTrek panels can be linked in series; all can be linked in parallel.",
     "Some SolarTrek panels can be linked in series.", "All SolarTrek panels can be linked in series."),
]  # fmt: skip

#: True claims that a rule took for false: half of a list, a name in full, a slip of the pen, another voice.
TRUE = [
    ("Abandonaron el estudio 19 personas del grupo activo y 11 del grupo placebo.",
     "Abandonaron el estudio 11 personas del grupo placebo."),
    ("There is a table on one of the FIRE websites that shows income and years of work.",
     "There is a table on one of the FIRE (Financial Independent, Retire Early) websites that shows income and years."),
    ("A mortgage is a debt. It provides the mortage holder a secured interest in the property.",
     "It provides the mortgage holder a secured interest in the property."),
    ("Click Save, and then add the calculated cost to your estimate. A product has a price.",
     "Click Save to add the product to your estimate."),
    ("The commissioner is appointed by a resolution of the House for a term of five years.",
     "The commissioner is appointed for a term of five years."),
    ("Do not put personal information in your namespace names.",
     "Avoid putting personal information in your namespace names."),
    ("Visitors must be over 18. Dogs are not allowed.", "Visitors must not be under 18."),
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


@pytest.mark.parametrize(("passage", "claim"), TRUE)
def test_true_claims_close_to_the_passage_do_not_clash(passage: str, claim: str) -> None:
    assert rules(claim, passage) == []


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


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Acme bought Borealis in 2010.", "Borealis was bought by Acme in 2010."),
        ("América fue descubierta por Colón en 1492.", "Colón descubrió América en 1492."),
        ("The lake is 3 km wide and 12 km long.", "The lake is 12 km long and 3 km wide."),
        ("The law was repealed in 1990.", "The law was not repealed until 1990."),
        ("La ley se derogó en 1990.", "La ley no se derogó hasta 1990."),
        ("Seville has a metro.", "Not only Madrid but also Seville has a metro."),
        ("The shop is open on Sundays in December.", "The shop is closed on Sundays except in December."),
    ],
)
def test_other_words_for_the_same_do_not_clash(claim: str, passage: str) -> None:
    assert rules(claim, passage) == []


@pytest.mark.parametrize(("file", "kept", "caught"), [("support_blind", 69, 63), ("support_second", 75, 69)])
def test_pairs(file: str, kept: int, caught: int) -> None:
    """So many true claims are kept, and so many false ones are caught; half are true, in English and Spanish."""
    rows = [json.loads(line) for line in (TRAINING / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()]
    chances = np.concatenate(supported_of_rows([[row["claim"]] for row in rows], [[row["passage"]] for row in rows]))
    is_true = np.array([row["supported"] for row in rows])
    assert is_true.mean() == 0.5
    assert (chances[is_true] >= 0.5).sum() >= kept
    assert (chances[~is_true] < 0.5).sum() >= caught


def test_a_claim_that_is_longer_than_its_passage_is_scored() -> None:
    claim = "The bridge was designed by Anna Berg."
    assert 0 < supported([claim], ["Anna Berg designed the bridge."])[0] < 1
