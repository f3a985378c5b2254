"""The offline judge: worked cases, answers that try to fool it, and the figures that must not fall."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import get_metric
from ragmeter.metrics.normalize import words
from ragmeter.metrics.offline.evidence import explain_answer, explain_answers
from ragmeter.metrics.offline.features import NAMES, features
from ragmeter.metrics.offline.guards import capped, guard_of
from ragmeter.metrics.offline.reading.tables import Mark, table, tables
from ragmeter.metrics.offline.reading.values import Item, items
from ragmeter.metrics.offline.reading.vocabulary import Floats, Vocabulary, chunked, languages_of
from ragmeter.metrics.offline.trees import MODEL, trees
from tests.conftest import DATA

TRAINING = Path(__file__).parents[2] / "training" / "evouna_nq.jsonl.gz"
#: Above this the cascade would not ask anybody else.
SURE = 0.9


def probability(question: str, golds: str | list[str], answer: str) -> float:
    return float(get_metric("offline_correct_probability")([question], [golds], [answer])[0])


def roots(text: str, language: str = "en") -> list[str]:
    vocabulary = Vocabulary(language)
    return [vocabulary.item(value).root for value in vocabulary.texts(chunked([text])).ids.tolist()]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12", "twelve"),
        ("12", "12th"),
        ("2", "II"),
        ("1,000", "1.000"),
        ("1,000", "1000"),
        ("1,234,567.5", "1.234.567,5"),
        ("3.5", "3,5"),
        ("3 million", "3,000,000"),
        ("3.5 million", "3,500,000"),
        ("twenty-one", "21"),
        ("one hundred and five", "105"),
        ("two hundred fifty thousand", "250,000"),
        ("nineteen ninety", "1990"),
        ("5km", "5 kilometres"),
        ("50%", "percent 50"),
        ("U.S.", "US"),
        ("J.K. Rowling", "JK Rowling"),
        ("cities", "city"),
        ("Röntgen's", "rontgen"),
        ("1951–52", "1951 1952"),
    ],
)
def test_one_way_to_write_a_thing(one: str, other: str) -> None:
    assert roots(one) == roots(other)


def test_dates_have_the_same_parts_in_any_form() -> None:
    expected = {"month:5", "#18", "#2018"}
    for text in (
        "May 18, 2018",
        "18 May 2018",
        "18/05/2018",
        "05/18/2018",
        "2018-05-18",
        "18.05.2018",
        "18th of May 2018",
    ):
        assert expected <= set(roots(text)), text
    assert expected <= set(roots("18 de mayo de 2018", "es"))
    assert expected <= set(roots("18. Mai 2018", "de"))


def test_may_is_a_month_only_with_a_capital() -> None:
    assert roots("it may be") == ["it", "may", "be"]
    assert roots("in May") == ["in", "month:5"]


@given(st.text(alphabet="abAB.,;:!?'18-é ", max_size=12))
def test_the_short_cut_for_plain_words_is_the_long_way(chunk: str) -> None:
    from ragmeter.metrics.offline.reading import values

    for piece in chunk.split():
        quick = values._quick(piece, table("en"), str)
        if quick is not None:
            assert quick == values._items(piece, table("en"), str)


def test_the_language_is_told_from_the_function_words() -> None:
    questions = [
        "who was the king of Spain",
        "¿Quién fue el rey de España?",
        "Wer war der König von Spanien?",
        "Madrid",
    ]
    assert languages_of(chunked(questions)) == ["en", "es", "de", "en"]


def test_every_table_has_what_it_needs() -> None:
    for code, own in tables().items():
        assert len(set(own.months.values())) in (0, 12), code
        if any(marks & Mark.FUNCTION for marks in own.marks.values()):  # not from CLDR alone
            assert any(marks & Mark.NEGATION for marks in own.marks.values()), code


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("pl", "12 maja 2018", "12.05.2018"),
        ("sv", "3 miljoner", "3.000.000"),
        ("nl", "5 kilometer", "5 kilometers"),
        ("fi", "tammikuu 1990", "tammikuuta 1990"),
    ],
)
def test_months_units_and_large_numbers_of_more_languages(language: str, first: str, second: str) -> None:
    (line,) = features(["?"], [first], [second], language)
    assert line[NAMES.index("recall_exact")] == 1


def test_a_country_and_its_language_are_kin_in_more_languages() -> None:
    table_of = {code: table(code) for code in ("de", "fr", "pl", "es")}
    for code, country, tongue in (("de", "frankreich", "franzosisch"), ("fr", "allemagne", "allemand")):
        assert table_of[code].kin[country] == table_of[code].kin[tongue]
    assert table_of["es"].kin["francia"] == table_of["es"].kin["francesa"]  # by hand, and left as it is


def test_the_kind_of_a_question() -> None:
    english = table("en")
    for question, kind in (
        ("who wrote it", "who"), ("in which year did it end", "when"), ("how many are there", "count"),
        ("how did he do it", "why"), ("what is it", "what"), ("in what country is it", "where"),
    ):  # fmt: skip
        assert english.kind_of_question(words(question)) == kind


RIGHT = [
    ("how much memory does it have", "64 GB", "It has 64 gigabytes of memory."),
    ("what is it written in", "C++", "It is written in C++, mostly."),
    ("what grade did she get", "A-", "She got an A minus."),
    ("what blood group is it", "O negative", "The blood group is O-."),
    ("what is the dose", "5 mg", "The dose is 5 milligrams."),
    ("when was the release", "March 3, 2021", "The release was on 3/3/2021."),
    ("when was the release", "March 4, 2021", "The release was on 3/4/2021."),
    ("which virus was it", "hepatitis A", "It was hepatitis A."),
    ("what is the dose", "20 µg", "The dose is 20 mcg."),
    ("what did he draw", "A dog", "He drew a dog, and got an A+ for it."),
    (
        "who got the first nobel prize in physics",
        "Wilhelm Conrad Röntgen",
        "It went to Wilhelm Rontgen in 1901.",
    ),
    ("who wrote harry potter", "J. K. Rowling", "Joanne Rowling wrote Harry Potter."),
    ("who wrote harry potter", "Joanne Rowling", "J.K. Rowling"),
    ("how many apostles were there", "12", "There were twelve apostles."),
    ("how many apostles were there", "twelve", "12"),
    ("how many people live there", "3 million", "About 3,000,000 people live there."),
    ("how many soldiers marched", "1,000", "1.000 soldiers"),
    ("what is 7 divided by 2", "3.5", "3½"),
    ("who founded rome", "Romulus and Remus", "Remus and Romulus, though it was only the latter who reigned"),
    ("when was the film released", "May 18, 2018", "It was released on 18 May 2018."),
    ("when was the film released", "May 18, 2018", "18/05/2018"),
    ("when was the film released", "18/05/2018", "The film came out on May 18, 2018."),
    ("which country won", "United States", "The U.S. won the cup."),
    ("which league is it", "National Basketball Association", "It is the NBA."),
    ("which league is it", "NBA", "It is the National Basketball Association."),
    ("what do bees make", "honey", "Bees make honey."),
    ("what are the parts of an atom", "protons, neutrons and electrons", "Electrons, protons and neutrons."),
    ("what hero is it", "Spider-Man", "Spiderman"),
    ("who was president in 1962", "John F. Kennedy", "John Kennedy was president in 1962."),
    ("is the earth round", "yes", "Yes."),
    ("who did the united states fight in 1812", "United Kingdom", "The United States fought Great Britain in 1812."),
    ("what is the vapour pressure of water at 100 c", "759.9625", "It is approximately 760 torr."),
    ("which war was it", "World War II", "WWII"),
    ("which novel is it", "1984", "Nineteen Eighty-Four"),
    ("what did it cost", "$5 million", "It cost $5m."),
    ("when did it begin", "1960s", "It began in the sixties."),
    ("which super bowl was it", "Super Bowl XLII", "Super Bowl 42"),
    ("how often did she win", "twice", "She won 2 times."),
    # Two names of one thing are no choice.
    ("what is the inner sanctuary of the parthenon known as", "cella", "naos or cella."),
    ("which farmers gave away their crops", "sharecroppers", "They were known as tenant farmers or sharecroppers."),
    ("what is the probability of a type I error", "5%", "5%, or 0.05."),
    ("¿qué país lanzó la sonda?", "Estados Unidos", "EE. UU."),
    ("¿cuál es la capital del perú?", "Lima", "Lima, y no Cuzco."),
    ("what colour was it", "crimson", "The colour was crimson, not blue."),
    ("which city is the capital of france", "Paris", "Not Lyon but Paris."),
    ("which city is the capital of france", "Paris", "Paris, not Lyon."),
]
WRONG = [
    ("how much memory does it have", "64 GB", "It has 64 MB of memory."),
    ("what is it written in", "C", "It is written in C++."),
    ("what is it written in", "C++", "It is written in C."),
    ("what grade did she get", "A-", "She got an A+."),
    ("what blood group is it", "AB+", "The blood group is AB negative."),
    ("what is the dose", "5 mg", "The dose is 5 g."),
    ("what is the dose", "20 mg", "The dose is 20 mcg."),
    ("how much of it", "10 ml", "10 mg of it."),
    ("which virus was it", "hepatitis A", "It was hepatitis B."),
    ("which plug is it", "USB-A", "It is USB-C."),
    ("when is it significant", "p < 0.05", "It is at p > 0.05."),
    ("when was the release", "March 3, 2021", "The release was on 3/4/2021."),
    ("¿qué día fue la boda?", "3 de marzo de 2021", "La boda fue el 4/3/2021."),
    ("what is the cross on a letter t called", "crossbar", "Wisconsin or crossbar"),
    ("which act was it", "National Industrial Recovery Act", "either NIRA or Windows Easy Transfer"),
    ("who got the first nobel prize in physics", "Wilhelm Conrad Röntgen", "Marie Curie got the first Nobel Prize."),
    ("how many apostles were there", "12", "There were thirteen apostles."),
    ("how many people live there", "3 million", "About 3 billion people live there."),
    ("when was the film released", "May 18, 2018", "It was released on June 1, 2016."),
    ("when did the war end", "1945", "The war ended in 1918."),
    ("which city is the capital of france", "Paris", "I don't know."),
    ("which city is the capital of france", "Paris", "Lyon"),
    ("which city is the capital of france", "Paris", "It is not Paris."),
    ("which city is the capital of france", "Paris", "Paris is not the capital."),
    ("which city is the capital of france", "Paris", "The answer is Lyon or Paris or Nice."),
    ("which city is the capital of france", "Paris", "which city is the capital of france"),
    ("which city is the capital of france", "Paris", ""),
    ("is the earth flat", "no", "Yes."),
    ("which city is the capital of france", "Paris", "It is NOT Paris."),
    ("which city is the capital of france", "Paris", "Lyon, not Paris."),
    ("what are the parts of an atom", "protons, neutrons and electrons", "Quarks."),
    ("what are the parts of an atom", "protons, neutrons and electrons", "protons and neutrons"),
    ("which colours has the flag", "blue, white and red", "The flag has the colours blue and white."),
    ("who were the two who wrote it", "Lennon and McCartney", "Lennon"),
    ("¿qué colores tiene la bandera?", "azul, blanco y rojo", "La bandera tiene los colores azul y blanco."),
    ("which language do they speak in france", "French", "They speak German in France."),
    ("which war was it", "World War I", "It was World War II."),
    ("which king was it", "Henry VIII", "King Henry VII"),
    ("which mission was it", "Apollo 11", "Apollo 13"),
    ("how much did it cost", "$15", "It cost 15 euros."),
    ("how long is it", "42 km", "It is 42 miles long."),
    ("when did caesar die", "44 BC", "He died in 44 AD."),
    ("¿cuánto costó el puente?", "20 millones de euros", "Costó 20 millones de dólares."),
    ("what is the zip code", "90210", "90211"),
    ("what is the temperature", "-18 °C", "It is 18 degrees."),
    ("which super bowl was it", "Super Bowl XLII", "Super Bowl XLIII"),
    ("what are the states of matter", "solid, liquid, gas", "solid, liquid and plasma"),
    ("which countries signed it", "Germany and Italy", "Germany signed it."),
    ("what language do they speak", "French", "France"),
    ("which city is the capital of france", "Paris", "The capital of France has never been Paris."),
    ("who composed the opera", "Mozart", "Mozart did not compose the opera; Salieri did."),
    ("¿cuál es la capital del perú?", "Lima", "Lima no es la capital del Perú."),
    ("who was president in 1905", "Theodore Roosevelt", "Franklin Roosevelt was president in 1905."),
    ("when did the show first air in australia", "1998", "It first aired in Australia in the 1980s."),
]


@pytest.mark.parametrize(("question", "gold", "answer"), RIGHT)
def test_right_answers(question: str, gold: str, answer: str) -> None:
    assert probability(question, gold, answer) >= 0.5
    assert get_metric("offline_correct")([question], [gold], [answer])[0] == 1


def test_a_date_that_is_only_told_roughly_is_in_doubt() -> None:
    answer = "It first aired in Australia in the late 1990s."
    assert 0.4 <= probability("when did the show first air in australia", "Fall 1998", answer) <= 0.6


@pytest.mark.parametrize(("question", "gold", "answer"), WRONG)
def test_wrong_answers(question: str, gold: str, answer: str) -> None:
    assert probability(question, gold, answer) < 0.5
    assert get_metric("offline_correct")([question], [gold], [answer])[0] == 0


def test_a_list_needs_its_parts() -> None:
    question, gold = "what are the parts of an atom", "protons, neutrons and electrons"
    whole = probability(question, gold, "protons, neutrons and electrons")
    assert whole > probability(question, gold, "protons and neutrons") > probability(question, gold, "quarks")
    # One of a pair is half right, and people are of two minds; a place is no list.
    assert probability("who wrote it", "Lennon and McCartney", "Lennon") <= 0.8
    (line,) = features(["where was it filmed"], ["Toronto, Ontario, Canada"], ["Toronto, Canada"])
    assert guard_of(line[-1]) is None


def real_rows() -> list[dict[str, object]]:
    with gzip.open(TRAINING, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def spanish_rows() -> list[dict[str, Any]]:
    with gzip.open(DATA / "controlled.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if row["language"] == "es"]


def is_held_out(question: str) -> bool:
    """As training/judged.py has it: these questions had no part in the packaged model."""
    return int.from_bytes(hashlib.sha256(question.encode()).digest()[:8]) % 10 == 0


def adversarial() -> Any:
    """The module of training/ that makes such answers."""
    spec = importlib.util.spec_from_file_location("adversarial", TRAINING.with_name("adversarial.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def adversarial_cases(language: str) -> list[tuple[str, str, list[str], str]]:
    """To held-out questions and to as many that the model has seen; in Spanish to those of XQuAD."""
    if language == "es":
        chosen = [(row["question"], [row["gold"]]) for row in spanish_rows() if row["kind"] == "gold alone"]
    else:
        rows = [(str(row["question"]), list(row["golds"])) for row in real_rows()]  # type: ignore[call-overload]
        held_out = [row for row in rows if is_held_out(row[0])]
        chosen = held_out + [row for row in rows if not is_held_out(row[0])][: len(held_out)]
    adversarial_cases: list[tuple[str, str, list[str], str]] = adversarial().adversarial(chosen, language, seed=3)
    return adversarial_cases


@pytest.mark.parametrize("language", ["en", "es"])
def test_answers_that_try_to_fool_the_judge(language: str) -> None:
    cases = adversarial_cases(language)
    assert len(cases) > 3_000
    scores = get_metric("offline_correct_probability")(*([case[part] for case in cases] for part in (1, 2, 3)))
    by_kind: dict[str, list[float]] = {}
    for (kind, *_), chance in zip(cases, scores.tolist(), strict=True):
        by_kind.setdefault(kind, []).append(chance)
    assert len(by_kind) == 9
    # Candidates without an "or" and denials in other words: few get through, and people call most such lists right.
    for kind in ("candidates", "denied"):
        assert np.mean(np.array(by_kind.pop(kind)) >= SURE) <= 0.02, kind
    for kind, chances in by_kind.items():
        assert max(chances) < SURE, kind
        # Lists of twenty candidates are what people call right where a cast is asked for.
        assert np.mean(np.array(chances) >= 0.5) <= (0.35 if kind == "many gold answers" else 0.2), kind
        assert np.mean(chances) < 0.3, kind


def test_right_answers_turned_around_are_no_longer_right() -> None:
    right = [
        (row["question"], row["golds"], answer)
        for row in real_rows()
        if is_held_out(str(row["question"]))
        for answer, is_right in row["answers"].values()  # type: ignore[attr-defined]
        if is_right
    ]
    for name, cases in adversarial().negated(right).items():
        scores = get_metric("offline_correct_probability")(*([case[part] for case in cases] for part in range(3)))
        assert len(cases) > 200
        assert np.mean(scores >= SURE) <= 0.03, name
        assert np.mean(scores >= 0.5) <= 0.2, name


@pytest.mark.parametrize(
    ("answer", "because"),
    [
        ("The capital of France is the city Paris or Lyon.", "alternatives"),
        ("The capital of France is not the city Paris.", "negat"),
        ("Is the capital city of France Paris? No.", "negat"),
        ("Paris? Of course not.", "negat"),
        ("It is false that the large and beautiful city that is the capital of France is Paris.", "negat"),
        ("It is anything but Paris.", "negat"),
        ("You might think Paris, but it is Lyon.", "but"),
        ("One of Paris, Lyon and Nice.", "alternatives"),
        ("Paris vs Lyon", "alternatives"),
        ("Could be Paris. Could be Lyon.", "alternatives"),
        ("Paris? Lyon?", "asked about"),
        ("Paris and Lyon", "alternatives"),
        ("I'm sorry, I don't know the capital city of France.", "declines"),
        ("which city is the capital of france", "question back"),
        ("Paris " + "Lorem Ipsum Dolor " * 2_000, "heap"),
        ("Paris " * 2_000, "longer"),
    ],
)
def test_what_forbids_being_sure(answer: str, because: str) -> None:
    (line,) = features(["which city is the capital of france"], ["Paris"], [answer])
    guard = guard_of(line[-1])
    assert guard is not None
    assert because in guard.because
    assert capped(np.array([0.99, 0.1]), np.array([line[-1]] * 2)).tolist() == [guard.cap, 0.1]


@pytest.mark.parametrize(
    "answer",
    [
        "Paris is the capital of France.",
        "It is not Lyon. The capital city of France is Paris.",
        "Lyon or Nice? The capital is Paris.",
        "No, the capital is not Lyon. It is Paris.",
        "Paris",
        "I do not have access to maps, but the capital of France is Paris.",
        "The capital of France, Paris, is the city that the song 'Don't Look Back' is about.",
        "The capital of France or of the Republic is a city on the Seine that all the world knows as Paris.",
        "Paris, not Lyon",
        "Not Lyon but Paris",
        "Paris, 75001",
        "Paris, 48.9 N/2.4 E",
    ],
)
def test_a_mention_that_nothing_is_wrong_with_is_enough(answer: str) -> None:
    (line,) = features(["which city is the capital of france"], ["Paris"], [answer])
    assert guard_of(line[-1]) is None


def test_the_own_or_and_not_of_a_gold_answer_are_no_alternative_and_no_negation() -> None:
    for gold in ("trick or treat", "not guilty"):
        (line,) = features(["what did they say"], [gold], [f"They said {gold}."])
        assert guard_of(line[-1]) is None
        (line,) = features(["what did they say"], [gold], [f"not {gold}, or nothing"])
        assert guard_of(line[-1]) is not None


def test_a_cap_is_a_piece_of_evidence() -> None:
    answer = "The capital of France is the city Paris or Lyon."
    explanation = explain_answer("which city is the capital of france", ["Paris"], answer)
    (cap,) = [piece for piece in explanation.evidence if piece.about == "cap"]
    assert explanation.probability == 0.8
    assert cap.says == "the chance is capped at 0.8 because the gold words stand only among alternatives"
    assert cap.weight < 0
    total = explanation.prior + sum(piece.weight for piece in explanation.evidence)
    assert 1 / (1 + np.exp(-total)) == pytest.approx(0.8)


def test_many_explanations_are_those_of_each_answer_alone() -> None:
    rows = [(question, [gold, "Vienna"], answer) for question, gold, answer in (RIGHT + WRONG) * 9]
    together = explain_answers([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
    assert len(together) == len(rows) > 256
    for row, result in list(zip(rows, together, strict=True))[:: len(RIGHT)]:
        alone = explain_answer(*row)
        assert alone.probability == result.probability
        assert [(piece.about, piece.says) for piece in alone.evidence] == [(e.about, e.says) for e in result.evidence]
    assert explain_answers([], [], []) == []
    with pytest.raises(ValueError, match="no reference"):
        explain_answers(["where"], [[]], ["there"])


def test_the_best_reference_counts_and_their_order_does_not() -> None:
    question, golds = "where is it", ["Rome", "Paris", "New York City"]
    results = [probability(question, golds, "It is in Paris."), probability(question, golds[::-1], "It is in Paris.")]
    assert results[0] == results[1] == max(probability(question, gold, "It is in Paris.") for gold in golds)


texts = st.text(
    alphabet=st.one_of(
        st.sampled_from("aAbB áéñ İı '’\".,-–/_ 0123456789\t\n中。กาำ%$IVX"), st.characters(exclude_categories=["Cs"])
    ),
    max_size=40,
)


@given(rows=st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3), texts), min_size=1, max_size=5))
def test_any_text_has_a_probability(rows: list[tuple[str, list[str], str]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    scores = get_metric("offline_correct_probability")(*columns)
    assert np.all((scores >= 0) & (scores <= 1))
    turned = get_metric("offline_correct_probability")(columns[0], [golds[::-1] for golds in columns[1]], columns[2])
    np.testing.assert_array_equal(scores, turned)
    alone = [get_metric("offline_correct_probability")(*([cell] for cell in row))[0] for row in rows]
    np.testing.assert_allclose(scores, alone, atol=1e-12)


@given(row=st.tuples(texts, texts, texts))
def test_half_characters_are_no_crash(row: tuple[str, str, str]) -> None:
    question, gold, answer = row
    assert 0 <= probability(question, gold, f"{answer}\ud800") <= 1


@given(row=st.tuples(texts, texts, texts))
def test_the_weights_add_up_to_the_log_odds(row: tuple[str, str, str]) -> None:
    explanation = explain_answer(row[0], [row[1]], row[2])
    total = explanation.prior + sum(piece.weight for piece in explanation.evidence)
    assert 1 / (1 + np.exp(-total)) == pytest.approx(explanation.probability, abs=1e-6)
    assert explanation.probability == pytest.approx(probability(*row))


def worked_features() -> Floats:
    questions, golds, answers = ([row[part] for row in RIGHT + WRONG] for part in range(3))
    return features(questions, golds, answers)


def test_the_trees_are_what_a_plain_walk_says() -> None:
    values = trees()
    lines = worked_features()
    for line, score in zip(lines, values.scores(lines), strict=True):
        total = values.bias
        for tree in range(len(values.feature)):
            leaf = 0
            for bit in range(values.feature.shape[1]):
                leaf += (line[values.feature[tree, bit]] > values.threshold[tree, bit]) * 2**bit
            total += values.value[tree, leaf]
        assert score == pytest.approx(total, abs=1e-9)


def test_contributions_are_what_a_plain_walk_says() -> None:
    result = trees()

    def mean(tree: int, leaves: list[int]) -> float:
        weight = result.weight[tree, leaves].sum()
        values = result.value[tree, leaves]
        return float(values @ result.weight[tree, leaves] / weight if weight else values.mean())

    lines = worked_features()[::7]
    for line, moved in zip(lines, result.contributions(lines), strict=True):
        expected = np.zeros(len(NAMES))
        for tree in range(len(result.feature)):
            leaves = list(range(1 << result.depth))
            for bit, (column, than) in enumerate(zip(result.feature[tree], result.threshold[tree], strict=True)):
                before = mean(tree, leaves)
                leaves = [leaf for leaf in leaves if (leaf >> bit & 1) == (line[column] > than)]
                expected[column] += mean(tree, leaves) - before
        np.testing.assert_allclose(moved, expected * result.slope, atol=1e-9)


def test_a_row_has_one_score_however_many_are_beside_it() -> None:
    lines = np.tile(worked_features(), (40, 1))
    together = trees().scores(lines)
    for count in (1, 2, 3, 511, 512, 513, 1025):
        np.testing.assert_array_equal(trees().scores(lines[:count]), together[:count])


def test_more_evidence_never_counts_against_an_answer() -> None:
    from ragmeter.metrics.offline.features import FEATURES

    lines = worked_features()
    before = trees().scores(lines)
    for place, feature in enumerate(FEATURES):
        if feature.direction:
            for step in (0.1, 0.5, 1.0, 3.0):
                more = lines.copy()
                more[:, place] += step
                change = (trees().scores(more) - before) * feature.direction
                assert change.min() >= -1e-3, feature.name


def test_the_model_is_a_small_plain_file() -> None:
    from importlib.resources import files

    packed = files("ragmeter.metrics.offline").joinpath(MODEL).read_bytes()
    assert len(packed) < 2_000_000
    content = json.loads(gzip.decompress(packed))
    assert content["features"] == list(NAMES), "the features have changed: run `make train`"


def cohen(said: np.ndarray, right: np.ndarray) -> float:
    chance = said.mean() * right.mean() + (1 - said.mean()) * (1 - right.mean())
    return float(((said == right).mean() - chance) / (1 - chance))


def test_the_figures_on_questions_that_the_model_has_never_seen() -> None:
    rows = [row for row in real_rows() if is_held_out(str(row["question"]))]
    judged = [
        (row["question"], row["golds"], answer, right)
        for row in rows
        for answer, right in row["answers"].values()  # type: ignore[attr-defined]
    ]
    scores = get_metric("offline_correct_probability")(
        *([judgement[part] for judgement in judged] for part in range(3))
    )
    right = np.array([judgement[3] for judgement in judged])
    said = scores >= 0.5
    assert len(judged) > 1_300
    assert (said == right).mean() >= 0.91  # a tenth of the questions, and a harder one: on all, cross-validated, 0.931
    assert cohen(said, right) >= 0.78
    order = np.argsort(np.abs(scores - 0.5))[len(scores) // 4 :]  # the surest three quarters
    assert (said == right)[order].mean() >= 0.96
    parts = np.array_split(np.argsort(scores), 10)
    assert sum(abs(scores[part].mean() - right[part].mean()) * len(part) for part in parts) / len(scores) <= 0.04


def test_in_spanish_it_is_better_than_token_f1_with_its_best_threshold() -> None:
    rows = spanish_rows()
    questions, golds, answers = ([row[name] for row in rows] for name in ("question", "gold", "answer"))
    right = np.array([row["right"] for row in rows])
    ours = (get_metric("offline_correct_probability")(questions, golds, answers) >= 0.5) == right
    f1 = get_metric("token_f1")(golds, answers)
    best = max(((f1 >= threshold) == right).mean() for threshold in np.unique(f1))
    assert len(rows) > 3_000
    assert ours.mean() >= 0.85
    assert ours.mean() > best + 0.05


def test_evidence_in_words() -> None:
    explanation = explain_answer("when was the film released", ["May 18, 2018"], "It was not released in 2019.")
    said = {piece.about: piece.says for piece in explanation.evidence}
    assert not explanation.correct
    assert "missing: may, 18, 2018" in said["numbers"]
    assert "the answer has: 2019" in said["numbers"]
    assert "contradict" in said["numbers"]
    assert "not" in said["negation"]
    explanation = explain_answer("who was it", ["Ada Lovelace", "Ada King"], "Ada Lovelase")
    said = {piece.about: piece.says for piece in explanation.evidence}
    assert explanation.reference == "Ada Lovelace"
    assert said["gold words"].startswith("found: ada")
    assert "another spelling or form: lovelace" in said["gold words"]
    explanation = explain_answer("who was it", ["Ada"], "I don't know.")
    assert {piece.about: piece.says for piece in explanation.evidence}["refusal"] == "the answer declines to answer"


def test_an_item_knows_what_surrounds_it() -> None:
    (item,) = items("Paris.", table("en"), str)
    assert item == Item("paris", "paris", Mark.CAPITAL | Mark.SENTENCE, item.value)
    assert items("Mr.", table("en"), str)[0].marks & Mark.SENTENCE == 0
    assert items("Paris,", table("en"), str)[0].marks & Mark.CLAUSE


def test_another_number_in_the_place_of_the_gold_one_is_wrong() -> None:
    """Whatever else of the gold answer is there: the unit, the words around it."""
    question = "At what temperature does water boil at sea level?"
    answers = ["Water boils at 100 degrees Celsius.", "Water boils at 90 degrees Celsius."]
    scores = get_metric("offline_correct_probability")([question] * 2, [["100 degrees Celsius"]] * 2, answers)
    assert scores[0] > 0.9
    assert scores[1] <= 0.3


@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [
        ("3", "There are five lakes [3].", False),
        ("3", "There are three lakes [1].", True),
        ("3", "[3]", True),
        ("[0, 1]", "The interval is [0, 1].", True),
    ],
)
def test_the_number_of_a_citation_is_no_answer(gold: str, answer: str, right: bool) -> None:
    (probability,) = get_metric("offline_correct_probability")(["How many lakes are there?"], [[gold]], [answer])
    assert (probability >= 0.5) == right


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("~~Paris~~ Lyon", False),
        ("The capital of France is ~~Paris~~ Lyon.", False),
        ("The capital of France is ~~the city of Paris~~ Lyon.", False),
        ("~~Paris~~", False),
        ("~~Lyon~~ Paris", True),
        ("~~Paris~~ Lyon? No: the capital of France is Paris.", True),
        ("~~~\nParis\n~~~", True),  # a block of code
        ("Paris (~~ 2 million people), Lyon (~~ 0.5 million)", True),  # about
    ],
)
def test_struck_out_words_are_not_said(answer: str, right: bool) -> None:
    assert (probability("which city is the capital of france", "Paris", answer) >= 0.5) == right


@pytest.mark.parametrize("reference", ["I don't know", "The documents don't say.", "No lo sé"])
def test_where_the_reference_declines_an_answer_is_right_that_declines(reference: str) -> None:
    answers = ["I do not know.", "No lo sé.", "Berlin", ""]
    rows = ["Who was mayor in 3000?"] * len(answers), [reference] * len(answers), answers
    assert get_metric("offline_correct")(*rows).tolist() == [1, 1, 0, 0]
