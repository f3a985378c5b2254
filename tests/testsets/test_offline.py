"""Questions that are written without a language model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.testsets.frames import FRAMES
from ragmeter.testsets.offline import (
    KIND_NEEDS_MODEL,
    LANGUAGE_NEEDS_MODEL,
    NOTHING_TO_ASK,
    write_offline,
)
from ragmeter.testsets.questions import (
    COMPARISON,
    FACT,
    FALSE_PREMISE,
    HOW_WHY,
    KEYWORDS,
    UNANSWERABLE,
    NoQuestion,
    Passage,
    PlannedQuestion,
    Question,
)

TOWER = Passage("p1", "The tower of Lisbon was built in 1519. It guards the mouth of the river Tagus.", "towers.md")
BRIDGE = Passage("p2", "The bridge over the river was built in 1966 by an American company.", "bridges.md")
THIN = Passage("p3", "It is so.", "thin.md")
SPANISH = Passage("p4", "La torre de Lisboa fue construida en 1519 junto al río Tajo.", "torres.md", language="es")
ALPS = Passage("p5", "The Alps are the coldest part of Victoria because they lie high in the east.", "alps.md")
ALL = [TOWER, BRIDGE, THIN, SPANISH, ALPS]
SEEDS = range(40)


def write(kind: str, passage: Passage, seed: int = 1) -> Question | NoQuestion:
    [result] = write_offline(ALL, [PlannedQuestion(kind, (passage,))], seed)
    return result


def written(kind: str, passage: Passage) -> list[Question]:
    """Questions of many seeds."""
    results = write_offline(ALL, [PlannedQuestion(kind, (passage,)) for _ in SEEDS], seed=3)
    questions = [result for result in results if isinstance(result, Question)]
    assert len(questions) == len(SEEDS)
    return questions


def test_keywords_are_no_sentence_and_have_no_function_words() -> None:
    for question in written(KEYWORDS, SPANISH):
        assert not {"la", "de", "fue", "en", "al"} & set(question.text.split())
        assert not {"¿", "?"} & set(question.text)
        assert question.evidence == (SPANISH.text,)
        assert question.reference == ""


@pytest.mark.parametrize(("passage", "language"), [(BRIDGE, "en"), (SPANISH, "es")])
def test_a_question_has_an_opening_of_its_language(passage: Passage, language: str) -> None:
    frames = FRAMES[language]
    openings = {*frames.year, *frames.amount, *frames.name, *frames.thing}
    for question in written(FACT, passage):
        assert question.text.endswith("?")
        bare = question.text.removeprefix(frames.opening)
        assert bare != question.text or not frames.opening
        assert any((bare[0].lower() + bare[1:]).startswith(opening) for opening in openings)


def test_what_is_asked_for_is_not_in_the_question() -> None:
    frames = FRAMES["en"]
    asking = [question.text for question in written(FACT, TOWER) if question.text.lower().startswith(frames.year)]
    assert asking
    assert not any("1519" in text for text in asking)


def test_questions_do_not_quote_their_passage() -> None:
    texts = [question.text for question in written(FACT, BRIDGE)]
    assert any("construct" in text or "erect" in text for text in texts)
    quoting = [text for text in texts if "bridge over the river was built in 1966" in text]
    assert len(quoting) <= len(texts) / 10  # a word stays now and then


def test_names_and_figures_stay_as_they_are() -> None:
    texts = " ".join(question.text for question in written(KEYWORDS, BRIDGE))
    assert {"1966", "American"} <= set(texts.split())


def test_a_reason_is_asked_for_with_what_comes_before_it() -> None:
    for question in written(HOW_WHY, ALPS):
        assert (question.text[0].lower() + question.text[1:]).startswith(FRAMES["en"].reason)
        assert not {"because", "they", "lie", "east"} & set(question.text.rstrip("?").split())


def test_without_a_reason_or_a_means_nothing_is_asked_how_or_why() -> None:
    result = write(HOW_WHY, TOWER)
    assert isinstance(result, NoQuestion)
    assert result.cause == NOTHING_TO_ASK


def test_the_heading_may_stand_in_a_question() -> None:
    headed = Passage("p6", BRIDGE.text, "b.md", heading="Sights\nSalazar Bridge")
    texts = [question.text for question in written(KEYWORDS, headed)]
    assert any("Salazar Bridge" in text for text in texts)
    assert not any("Sights" in text for text in texts)


def test_a_passage_that_says_nothing_gives_no_question() -> None:
    plan = [PlannedQuestion(FACT, (THIN,)), PlannedQuestion(FACT, (TOWER,))]
    nothing, question = write_offline(ALL, plan, seed=1)
    assert nothing == NoQuestion(plan[0], NOTHING_TO_ASK)
    assert isinstance(question, Question)


@pytest.mark.parametrize("kind", [COMPARISON, FALSE_PREMISE, UNANSWERABLE])
def test_other_kinds_need_a_model(kind: str) -> None:
    result = write(kind, TOWER)
    assert isinstance(result, NoQuestion)
    assert result.cause == KIND_NEEDS_MODEL


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Der Turm von Lissabon wurde im Jahr 1519 am Ufer des Flusses Tajo gebaut."),
        ("ru", "Башня в Лиссабоне была построена в 1519 году у реки Тежу."),
        ("th", "หอคอยแห่งลิสบอนสร้างขึ้นในปี 1519 ใกล้แม่น้ำเทกัส"),
        ("zh", "里斯本的塔建于1519年，位于塔霍河口。"),
    ],
)
def test_other_languages_need_a_model(language: str, text: str) -> None:
    for kind in (KEYWORDS, FACT, HOW_WHY):
        result = write(kind, Passage("x", text, "x.md", language=language))
        assert isinstance(result, NoQuestion)
        assert result.cause == LANGUAGE_NEEDS_MODEL


def test_the_same_seed_gives_the_same_questions() -> None:
    plan = [PlannedQuestion(KEYWORDS, (passage,)) for passage in ALL]
    assert write_offline(ALL, plan, seed=7) == write_offline(iter(ALL), plan, seed=7)
    assert len({str(write_offline(ALL, plan, seed)) for seed in range(8)}) > 1


def test_a_question_does_not_depend_on_the_rest_of_the_plan_after_it() -> None:
    plan = [PlannedQuestion(FACT, (TOWER,)), PlannedQuestion(FACT, (BRIDGE,))]
    assert write_offline(ALL, plan, seed=2)[0] == write_offline(ALL, plan[:1], seed=2)[0]


@given(
    text=st.text(max_size=300)
    | st.lists(st.sampled_from("The U.S. 3,5 by Ángel. of 1990 -- ¿ because\n")).map("".join),
    kind=st.sampled_from([KEYWORDS, FACT, HOW_WHY]),
    language=st.sampled_from(["en", "es", "tlh"]),
)
def test_any_text_gives_a_question_with_evidence_or_a_cause(text: str, kind: str, language: str) -> None:
    passage = Passage("x", text, "x.md", heading=text[:40], language=language)
    [result] = write_offline([passage], [PlannedQuestion(kind, (passage,))], seed=0)
    if isinstance(result, Question):
        assert result.text.strip("¿? ")
        assert result.evidence[0] in text
    else:
        assert result.cause in {NOTHING_TO_ASK, LANGUAGE_NEEDS_MODEL}
