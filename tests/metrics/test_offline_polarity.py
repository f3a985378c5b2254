"""Answers that say the opposite of the gold answer are wrong, and those that say the same in other words are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ragmeter import get_metric
from ragmeter.metrics.offline.evidence import explain_answer
from ragmeter.metrics.offline.guards import GUARDS, capped
from ragmeter.metrics.offline.matching import comparison
from ragmeter.metrics.offline.polarity.polarities import polarities
from ragmeter.metrics.offline.polarity.poles import _read, poles_of
from ragmeter.metrics.offline.reading.vocabulary import Floats, chunked

SAME = [
    ("Are dogs allowed on the beach?", "Dogs are not allowed.", "No, dogs are banned from the beach."),
    ("Are dogs allowed on the beach?", "Dogs are not allowed.", "Dogs are prohibited."),
    ("Does the card work abroad?", "No, it only works in Germany.", "It does not work abroad."),
    ("Does the card work abroad?", "No, it only works in Germany.", "No."),
    ("Is the museum open on Mondays?", "No", "The museum is closed on Mondays."),
    ("Is the museum open on Mondays?", "It is closed on Mondays.", "It isn't open on Mondays."),
    ("Who attended the meeting?", "Nobody attended.", "No one attended the meeting."),
    ("Is the service available?", "The service is no longer available.", "It has been discontinued."),
    ("What happened to the service?", "The service is no longer available.", "The service is not available any more."),
    ("Can you enter without a ticket?", "You cannot enter without a ticket.", "No, a ticket is required."),
    ("When should the pill be taken?", "before meals", "Take it before meals."),
    ("Is the new phone heavier than the old one?", "No, it is lighter.", "The new phone weighs less, so no."),
    ("Did prices rise?", "Prices fell.", "No, they went down."),
    ("Is it possible to cancel?", "It is not impossible.", "Yes, it is possible."),
    ("What is the rule on smoking?", "Smoking is prohibited.", "You may not smoke."),
    ("Is a password needed?", "No password is required.", "A password is optional."),
    ("Is a password needed?", "No password is required.", "You can log in without a password."),
    ("How many people must sign?", "at least three", "a minimum of three"),
    ("Did he ever win an Oscar?", "He never won an Oscar.", "No, never."),
    ("Is the water safe to drink?", "Yes, it is safe.", "It is not dangerous to drink."),
    ("Is the file available?", "It is unavailable.", "The file is not available."),
    ("Who is older, Ann or Ben?", "Ann is older than Ben.", "Ben is younger than Ann."),
    ("¿Se permiten perros en la playa?", "No se permiten perros.", "Los perros están prohibidos."),
    ("¿Está abierto el museo los lunes?", "No, cierra los lunes.", "Los lunes no abre."),
    ("¿Está abierto el museo los lunes?", "Sí", "El museo abre los lunes."),
    ("¿Quién vino a la reunión?", "No vino nadie.", "Nadie vino."),
    ("¿Sigue vigente la ley?", "La ley ya no está vigente.", "No, fue derogada."),
    ("¿Se puede entrar sin entrada?", "No se puede entrar sin entrada.", "No, hace falta una entrada."),
    ("¿Cuándo se toma la pastilla?", "antes de comer", "Se toma antes de comer."),
    ("¿Subieron los precios?", "Los precios bajaron.", "No, cayeron."),
    ("¿Es obligatorio el casco?", "El casco no es obligatorio.", "No, es opcional."),
    ("¿Es gratis la entrada?", "Sí, es gratis.", "La entrada es gratuita."),
    ("¿Es imposible cancelar?", "No es imposible.", "Se puede cancelar."),
    # The clause that is about what was asked counts, and not what is said in passing.
    ("Are dogs let in?", "No dogs are let in.", "While cats are welcome, dogs must be left outside: they are banned."),
    ("Is the lift working?", "It is out of order.", "The escalator runs, but the lift is broken."),
    ("Can I pay by card?", "Yes, by credit card.", "You can. Cheques, however, are not accepted."),
    ("Must I reset it?", "Yes, it is necessary.", "You have to reset it; if you don't, the update is not applied."),
    ("¿Aceptan gatos?", "No se aceptan gatos.", "Aunque los perros sí están permitidos, los gatos no pueden entrar."),
    # Exceptions, restrictions, what nobody does without.
    ("Who may enter?", "Only the director.", "Nobody may enter except the director."),
    ("Is the gym open to all?", "No, it is for members only.", "The gym is reserved for members."),
    ("Who may drive the van?", "Nobody, except employees.", "Only employees may drive the van."),
    ("May bikes be locked here?", "No, except in the yard.", "Locking bikes is forbidden here, except in the yard."),
    ("When does the ferry run?", "Every day except Sunday.", "The ferry runs daily, but not on Sundays."),
    ("Is the road closed?", "Yes, except in summer.", "The road is closed, except in summer."),
    ("Can I cancel my order?", "Yes, except in July.", "You can cancel your order, but not in July."),
    ("Has the law changed?", "No, it has not changed.", "Up to now, the law has not changed."),
    ("¿Ha llegado el paquete?", "No.", "Por ahora, no."),
    # Negations that both have, where all gold words are there too.
    ("What did the search find?", "It found no mistakes.", "The search did not find any mistakes."),
    ("¿Cuántas veces ganó el equipo la copa?", "Nunca la ganó.", "El equipo no ganó nunca la copa."),
    ("¿Qué encontraron?", "No encontraron nada.", "Hasta ahora no encontraron nada."),
    ("Who can enter without a pass?", "Nobody can enter without a pass.", "Everybody needs a pass to enter."),
    (
        "Do the trains run every day?",
        "Every day except Monday.",
        "On Monday they do not run.",
    ),
    ("Can I climb the tower?", "Not without a guide.", "Yes, but only if a guide comes with you."),
    ("When is the fee refunded?", "Only if the trip is cancelled.", "It isn't refunded unless the trip is cancelled."),
    ("¿Se puede pescar?", "No sin licencia.", "Sí, siempre que se tenga licencia."),
    ("When did the tram start?", "In 1931.", "It did not start until 1931."),
    ("Did they really sell it?", "Yes.", "There is no doubt about it."),
    ("Is it impossible to open it?", "No, it is possible.", "There is a way: turn the key while switching it on."),
    ("Isn't Ann older than Ben?", "Yes, she is older.", "Right, Ben is much younger."),
    # What was asked for does not exist.
    ("When did she visit Rome?", "She never visited Rome.", "She didn't travel to Rome at any point in her life."),
    ("Who lives on the island?", "Nobody.", "The island is uninhabited."),
    # "Neither" is about what was said before; "or" asks for one of two; a question may be negated.
    ("Ann failed. What about Ben?", "He did not succeed either.", "Ben flunked as well."),
    ("Is the motor louder or quieter?", "It is quieter.", "It makes less noise, so it is more silent."),
    ("Isn't the shop closed on Sundays?", "No, it is open on Sundays.", "It's open that day."),
    ("¿No hay trenes a Lisboa?", "No, no hay.", "Correcto, no existe ningún tren a Lisboa."),
]

OPPOSITE = [
    ("Who may drive the van?", "Nobody, except employees.", "Nobody, except guests."),
    ("Is the road closed?", "No, except in winter.", "It is closed, except in winter."),
    ("Can I cancel my order?", "Yes, except in July.", "You can't cancel it, except in July."),
    ("Has the law changed?", "Yes.", "So far, no."),
    ("¿Ha llegado el paquete?", "Sí.", "Hasta la fecha, no ha llegado."),
    ("What does the policy not pay for?", "The policy does not cover floods.", "The policy does not cover fires."),
    ("¿Qué norma hay?", "No se permiten perros.", "No se permiten gatos."),
    ("Who may drive the van?", "Nobody, except employees.", "Everybody may drive the van, except employees."),
    ("When does the ferry run?", "Every day except Sunday.", "The ferry runs on Sundays only."),
    ("What did the search find?", "It found no mistakes.", "The search did find mistakes."),
    ("Are dogs allowed on the beach?", "Dogs are not allowed.", "Dogs are allowed."),
    ("Are dogs allowed on the beach?", "Dogs are not allowed.", "Yes, you can bring your dog."),
    ("Does the card work abroad?", "No, it only works in Germany.", "Yes, it works abroad."),
    ("Does the card work abroad?", "No, it only works in Germany.", "No, it only works in France."),
    ("Is the museum open on Mondays?", "No", "The museum opens on Mondays."),
    ("Is the museum open on Mondays?", "It is closed on Mondays.", "It is open on Mondays."),
    ("Who attended the meeting?", "Nobody attended.", "Everybody attended."),
    ("Who attended the meeting?", "Nobody", "Everyone did"),
    ("Is the service available?", "The service is no longer available.", "It is still available."),
    ("What happened to the service?", "The service is no longer available.", "The service is available."),
    ("Can you enter without a ticket?", "You cannot enter without a ticket.", "You can enter without a ticket."),
    ("When should the pill be taken?", "before meals", "after meals"),
    ("Is the new phone heavier than the old one?", "It is lighter.", "It is heavier."),
    ("Did prices rise?", "Prices fell.", "Prices rose."),
    ("Is it possible to cancel?", "It is not impossible.", "No, it is impossible."),
    ("What is the rule on smoking?", "Smoking is prohibited.", "Smoking is permitted."),
    ("Is a password needed?", "No password is required.", "A password is required."),
    ("How many people must sign?", "at least three", "at most three"),
    ("Did he ever win an Oscar?", "He never won an Oscar.", "He won an Oscar."),
    ("Is the water safe to drink?", "Yes, it is safe.", "No, it is unsafe."),
    ("Is the file available?", "It is unavailable.", "The file is available."),
    ("Who is older, Ann or Ben?", "Ann is older than Ben.", "Ben is older than Ann."),
    ("¿Se permiten perros en la playa?", "No se permiten perros.", "Se permiten perros."),
    ("¿Se permiten perros en la playa?", "No se permiten perros.", "Sí, se permiten."),
    ("¿Está abierto el museo los lunes?", "No, cierra los lunes.", "Sí, abre los lunes."),
    ("¿Quién vino a la reunión?", "No vino nadie.", "Vinieron todos."),
    ("¿Sigue vigente la ley?", "La ley ya no está vigente.", "La ley sigue vigente."),
    ("¿Se puede entrar sin entrada?", "No se puede entrar sin entrada.", "Se puede entrar sin entrada."),
    ("¿Cuándo se toma la pastilla?", "antes de comer", "después de comer"),
    ("¿Subieron los precios?", "Los precios bajaron.", "Los precios subieron."),
    ("¿Es obligatorio el casco?", "El casco no es obligatorio.", "El casco es obligatorio."),
    ("¿Es gratis la entrada?", "Sí, es gratis.", "No, hay que pagar."),
    ("¿Es imposible cancelar?", "No es imposible.", "Es imposible."),
    ("Is the lift working?", "It is out of order.", "The escalator is broken, but the lift works."),
    ("Is swimming allowed here?", "It is prohibited.", "You can swim here; only fishing is prohibited."),
    ("Is the new bike lighter?", "No, it is heavier.", "It weighs less than the old one."),
    ("Is tin denser than zinc?", "Yes.", "Tin is less dense than zinc."),
    ("Isn't the lake deep?", "Yes, it is deep.", "No, it is still a year away."),
    ("How many may come?", "No more than six.", "At least six."),
    ("When did it open?", "Not until 1990.", "It was open until 1990."),
    ("¿Desde cuándo vale?", "A partir del 3 de mayo.", "Vale hasta el 3 de mayo."),
    ("Who may enter?", "Only the director.", "Everybody may enter except the director."),
    ("Are all lines running?", "All lines except the blue one.", "All lines are running, also the blue one."),
    ("Does it have a lift?", "It has no lift.", "Unlike the house next door, which has no lift, it has one."),
    ("Who was hurt?", "Nobody was hurt.", "Several people were injured, none of them seriously."),
    ("Did the town grow?", "The town shrank.", "The town's population increased."),
    ("¿Dejó testamento el pintor?", "No dejó testamento.", "Dejó un testamento en el que no mencionaba a sus hijos."),
    ("¿Quién conoce la clave?", "Solo el director.", "La conocen todos menos el director."),
]


#: Plain answers, as people write them: the question, the gold answer, the answer, and whether it is right.
PLAIN = [
    # A "no" without a comma.
    ("Is it open?", "No.", "No it isn't.", True),
    ("Is it open?", "Yes.", "No it isn't.", False),
    ("Can I bring my dog?", "No.", "No you can't bring dogs.", True),
    ("Can I bring my dog?", "Yes.", "No you can't bring dogs.", False),
    # A negation with a "than" in its sentence that is about the gold words.
    ("¿Cuál es la ciudad más grande de España?", "Madrid", "Madrid no es la ciudad más grande de España.", False),
    ("Which is larger, Paris or Lyon?", "Paris", "Paris is not larger than Lyon.", False),
    # The gold answer's limit without its "only".
    ("When can I enter?", "Only until 6 pm.", "Until 6 pm.", True),
    ("Can I enter?", "Only until 6 pm.", "Until 6 pm.", True),
    ("When can I enter?", "Only before noon.", "Before noon.", True),
    ("¿Hasta qué hora se puede entrar?", "Solo hasta las 6.", "Hasta las 6.", True),
    # What has ended is a no to the present, and no answer to a question about the past.
    ("Did the company relocate to Texas?", "Yes", "It moved to Texas in 2020.", True),
    ("Did Zayn leave One Direction?", "Yes", "He left the band in 2015.", True),
    ("Is Zayn in One Direction?", "No", "He left the band in 2015.", True),
    ("Was Obama president?", "Yes", "He is a former president.", True),
    ("Is Obama president?", "No", "He is a former president.", True),
    ("Did he serve in the army?", "Yes", "He left the army in 1946.", True),
    ("Did she leave the party?", "Yes", "She left the party in 2021.", True),
    ("Has the store moved?", "Yes", "It moved to a new building.", True),
    ("Was the treaty signed in Paris?", "Yes", "It was signed there after the war ended.", True),
    ("Did the show have ten seasons?", "Yes", "It ended after ten seasons.", True),
    ("Did he play for Barcelona?", "Yes", "He played there before he moved to Paris.", True),
    ("Did they finish the tunnel?", "No", "It was abandoned in 1975.", True),
    ("Did the festival take place?", "No", "It was cancelled.", True),
    ("¿Emigró a México?", "Sí", "Se fue a México en 1939.", True),
    ("¿Vivió en París?", "Sí", "Se marchó a París en 1925.", True),
    ("¿Se fue de casa?", "Sí", "Se marchó a los dieciocho años.", True),
    ("¿Fue presidente?", "Sí", "Fue presidente antiguamente, de 1920 a 1924.", True),
    # Words that look like an opposite or a restriction.
    ("Did prices fall?", "Prices fell to 5 euros.", "Yes, they fell.", True),
    ("Is he an expert on bees?", "Yes", "He is the only expert on bees in town.", True),
    ("Was anyone hurt?", "No", "Everyone was fine.", True),
    ("¿Mide dos metros?", "Sí", "Mide más o menos dos metros.", True),
    ("¿Tiene hijos?", "Sí", "Tiene una hija única.", True),
    # The same yes or no with another number or month, in letters too, or with an "or".
    ("Is parking free?", "No, it costs 5 euros a day.", "No, it costs twenty euros a day.", False),
    ("Is parking free?", "No, it costs 5 euros a day.", "No, it costs five euros a day.", True),
    ("¿Abre en abril?", "No, abre en mayo.", "No, abre en junio.", False),
    ("¿Abre en abril?", "No, abre en mayo.", "No, en abril está cerrado.", True),
    ("Are dogs allowed?", "Yes, dogs are allowed.", "Yes, or maybe no.", False),
    # A negation that the question has already; a gold answer that negates; guesses; a pronoun within a verb.
    (
        "According to the report, which of the company's four regional divisions did not make a profit?",
        "Asia",
        "Asia did not make one.",
        True,
    ),
    ("¿Cuál de las cuatro divisiones regionales de la empresa no obtuvo beneficios?", "Asia", "Asia no obtuvo.", True),
    ("Which planet has no moons?", "Venus", "Venus has no moons.", True),
    ("Did they ever meet?", "They never met.", "The two leaders met in Vienna.", False),
    ("Who wrote it?", "Ann Lee", "Possibly Ann Lee, perhaps Bob Ray", False),
    ("What is the boiling point?", "100 C", "Probably 100 C, maybe 90 C", False),
    ("Was the event cancelled?", "Yes", "They called it off.", True),
    ("Did he give up smoking?", "Yes", "He gave it up.", True),
    ("Is it allowed?", "Yes", "un" * 490 + "xyzw", False),  # hundreds of prefixes
]


#: Gold answers with a negation in a name: the question, the gold answer, the answer, and whether it is right.
NAMED = [
    ("What did Bush sign?", "No Child Left Behind Act", "Bush signed the No Child Left Behind Act.", True),
    ("What did Bush sign?", "No Child Left Behind Act", "Bush did not sign the No Child Left Behind Act.", False),
    ("What did Bush sign?", "no child left behind act", "Bush signed the No Child Left Behind Act.", True),
    ("Which song did he sing?", "Nowhere Man", "It is Nowhere Man.", True),
    ("Which song did he sing?", "Nowhere Man", "He didn't sing Nowhere Man.", False),
    ("Which song did he sing?", "Can't Buy Me Love", "The song is Can't Buy Me Love.", True),
    ("Which song did he sing?", "Can't Buy Me Love", "The song is not Can't Buy Me Love.", False),
    ("What was the first Bond film?", "Dr. No", "The first Bond film was Dr. No.", True),
    ("What was the first Bond film?", "Dr. No", "The first Bond film was not Dr. No.", False),
    ("What is the name?", "None of the above", "The name is None of the above.", True),
    ("What is the right choice?", "None of the above", "The right choice is none of the above.", True),
    ("What is the right choice?", "None of the above", "The right choice is one of the above.", False),
    ("¿Qué película ganó?", "No Country for Old Men", "La ganadora fue No Country for Old Men.", True),
    ("¿Qué película ganó?", "No Country for Old Men", "La ganadora no fue No Country for Old Men.", False),
    ("¿Cómo se llama la novela?", "Nadie es perfecto", "La novela se llama Nadie es perfecto.", True),
    # A sentence is no name.
    ("What is the rule for dogs?", "Dogs are not allowed.", "The rule that dogs are not allowed was dropped.", False),
    ("What is the rule for dogs?", "Dogs are not allowed.", "The sign says Dogs Are Allowed.", False),
    ("Are dogs allowed?", "No dogs", "You can ignore the no dogs sign, dogs are allowed.", False),
]


def probabilities(rows: list[tuple[str, str, str]]) -> Floats:
    questions, golds, answers = zip(*rows, strict=True)
    return get_metric("offline_correct_probability")(list(questions), list(golds), list(answers))


def test_the_same_in_other_words_is_right() -> None:
    low = [row for row, chance in zip(SAME, probabilities(SAME).tolist(), strict=True) if chance < 0.5]
    assert low == []


@pytest.mark.xfail(reason="the linear model of refusals takes the answer for one that declines", strict=True)
def test_only_these_may_is_nobody_but_these() -> None:
    row = ("¿Quién puede subir a la torre?", "Nadie, salvo los guías.", "Solo los guías pueden subir a la torre.")
    assert probabilities([row])[0] >= 0.5


def test_the_opposite_is_wrong() -> None:
    high = [row for row, chance in zip(OPPOSITE, probabilities(OPPOSITE).tolist(), strict=True) if chance >= 0.5]
    assert high == []


@pytest.mark.parametrize(("question", "gold", "answer", "is_right"), [*PLAIN, *NAMED])
def test_plain_answers(question: str, gold: str, answer: str, *, is_right: bool) -> None:
    assert (probabilities([(question, gold, answer)])[0] >= 0.5) == is_right


@pytest.mark.parametrize(
    ("question", "gold", "answer"),
    [
        ("When is it refunded?", "Only if the firm cancels the trip.", "Only if you cancel the trip a week before."),
        ("who wrote it", "Old Tom North", "It was written by New York's Tom South."),  # names have no opposite
        ("what are they called", "Dead Men Tell No Tales", "They are called Dead Men and tales."),
        ("when did it start", "May 2017", "It could not start in June 2017."),
        ("who may enter", "only dogs", "Bananas are yellow."),
        ("Was Obama president?", "Yes", "In the past, from 2009 to 2017."),
        ("Did the bridge fall?", "Yes", "It collapsed in 1940."),
        ("Was the launch successful?", "Yes", "The only problem was a short delay."),
        ("Did he drop out of college?", "Yes", "He left Harvard in 1975."),
        ("Did they reach the summit?", "No", "They turned back."),
        ("Did the king abdicate?", "Yes", "He gave up the throne in 1936."),
        ("Was the painting stolen?", "Yes", "It disappeared in 1990."),
        ("Was there a fire?", "Yes", "It destroyed the roof."),
        ("¿Merece la pena el museo?", "Sí", "Es un lugar único en el mundo."),
        ("Is it safe?", "No", "Bananas are yellow."),
        ("Is it safe?", "No", ""),
        ("wer darf hinein", "niemand", "alle"),  # a language without a table of opposites
    ],
)
def test_what_is_not_clear_stays_undecided(question: str, gold: str, answer: str) -> None:
    language = "de" if question.startswith("wer") else "es" if question.startswith("¿") else "en"
    polarity = polarities(chunked([question]), chunked([gold]), chunked([answer]), language)
    assert polarity[0] == 0


def test_another_number_or_name_is_not_the_same_whatever_its_polarity() -> None:
    question, gold = "Is it open today?", "No, it opens on 3 May."
    assert probabilities([(question, gold, "No, it opens on 4 May.")])[0] < 0.5
    assert probabilities([(question, gold, "No, it is closed.")])[0] >= 0.5


def test_a_refusal_agrees_with_nothing() -> None:
    assert probabilities([("Are dogs allowed?", "Dogs are not allowed.", "I don't know if dogs are allowed.")])[0] < 0.5


def test_an_explanation_names_the_polarity() -> None:
    explanation = explain_answer("Are dogs allowed?", ["Dogs are not allowed."], "Dogs are allowed.")
    assert GUARDS["opposite"].because in " ".join(piece.says for piece in explanation.evidence)
    explanation = explain_answer("Are dogs allowed?", ["No"], "Dogs are banned.")
    assert GUARDS["same polarity"].because in " ".join(piece.says for piece in explanation.evidence)


def test_a_floor_lifts_and_a_cap_lowers() -> None:
    number = float(list(GUARDS).index("same polarity") + 1)
    floor = GUARDS["same polarity"].floor
    assert capped(np.array([0.1, 0.9]), np.array([number, number])).tolist() == [floor, GUARDS["same polarity"].cap]


@pytest.mark.parametrize("language", sorted(_read()))
def test_a_word_is_at_one_end_of_a_concept(language: str) -> None:
    table = poles_of(language)
    assert table is not None
    assert table.words["concord"] <= table.words["negators"]
    for name in ("need", "can", "present"):  # words of concepts
        assert table.words[name]
        assert all(table.word(word).ends for word in table.words[name]), name
    assert all(end in (-1, 1) for ends in table.ends.values() for end in ends.values())
    assert table.words["negators"]


def test_what_is_known_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.metrics.offline.polarity.poles._MOST_KEPT", 5)
    table = poles_of.__wrapped__("en")
    assert table is not None
    for number in range(20):
        assert table.says(f"word{number}") == 0
    caches: list[Any] = [table.root, table.word, table.says]
    assert max(known.cache_info().currsize for known in caches) <= 5


def test_of_a_long_question_only_the_beginning_is_kept() -> None:
    before = comparison._asks.cache_info().currsize
    probabilities([("Is it open? " * times, "Yes", "No") for times in (200, 300, 400)])
    assert comparison._asks.cache_info().currsize <= before + 1
