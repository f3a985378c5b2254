"""Questions that are written without a language model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def write(kind: str, passage: Passage, seed: int = 1) -> Question | str:
    [result] = write_offline(ALL, [PlannedQuestion(kind, (passage,))], seed)
    return result


def written(kind: str, passage: Passage) -> list[Question]:
    """Questions of many seeds."""
    results = write_offline(ALL, [PlannedQuestion(kind, (passage,)) for _ in SEEDS], seed=3)
    questions = [result for result in results if isinstance(result, Question)]
    assert len(questions) == len(SEEDS)
    return questions


def test_a_query_has_its_sentence_as_evidence_and_no_answer() -> None:
    for question in written(KEYWORDS, SPANISH):
        assert not {"¿", "?"} & set(question.text)
        assert question.evidence == (SPANISH.text,)
        assert question.reference == ""


def test_a_query_is_a_part_of_a_sentence_without_small_words_around_it() -> None:
    for question in written(KEYWORDS, BRIDGE):
        assert "?" not in question.text
        assert not {question.text.split()[0], question.text.split()[-1]} & {"the", "over", "was", "in", "by", "an"}


def test_queries_do_not_quote_their_passage() -> None:
    texts = [question.text for question in written(KEYWORDS, BRIDGE)]
    assert any("construct" in text or "erect" in text for text in texts)
    quoting = [text for text in texts if "bridge over the river was built in 1966" in text]
    assert len(quoting) <= len(texts) / 10  # a word stays now and then


def test_names_and_figures_stay_as_they_are() -> None:
    texts = " ".join(question.text for question in written(KEYWORDS, BRIDGE))
    assert {"1966", "American"} <= set(texts.split())


def test_the_heading_may_stand_in_a_question() -> None:
    headed = Passage("p6", BRIDGE.text, "b.md", heading="Sights\nSalazar Bridge")
    texts = [question.text for question in written(KEYWORDS, headed)]
    assert any("Salazar Bridge" in text for text in texts)
    assert not any("Sights" in text for text in texts)


def test_a_passage_that_says_nothing_gives_no_question() -> None:
    plan = [PlannedQuestion(KEYWORDS, (THIN,)), PlannedQuestion(KEYWORDS, (TOWER,))]
    nothing, question = write_offline(ALL, plan, seed=1)
    assert nothing == NOTHING_TO_ASK
    assert isinstance(question, Question)


@pytest.mark.parametrize("kind", [FACT, HOW_WHY, COMPARISON, FALSE_PREMISE, UNANSWERABLE])
def test_other_kinds_need_a_model(kind: str) -> None:
    result = write(kind, TOWER)
    assert result == KIND_NEEDS_MODEL


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
    assert write(KEYWORDS, Passage("x", text, "x.md", language=language)) == LANGUAGE_NEEDS_MODEL


def test_the_same_seed_gives_the_same_questions() -> None:
    plan = [PlannedQuestion(KEYWORDS, (passage,)) for passage in ALL]
    assert write_offline(ALL, plan, seed=7) == write_offline(iter(ALL), plan, seed=7)
    assert len({str(write_offline(ALL, plan, seed)) for seed in range(8)}) > 1


def test_a_question_does_not_depend_on_the_rest_of_the_plan_after_it() -> None:
    plan = [PlannedQuestion(KEYWORDS, (TOWER,)), PlannedQuestion(KEYWORDS, (BRIDGE,))]
    assert write_offline(ALL, plan, seed=2)[0] == write_offline(ALL, plan[:1], seed=2)[0]


@given(
    text=st.text(max_size=300)
    | st.lists(st.sampled_from("The U.S. 3,5 by Ángel. of 1990 -- ¿ because\n")).map("".join),
    language=st.sampled_from(["en", "es", "tlh"]),
)
def test_any_text_gives_a_query_with_evidence_or_a_cause(text: str, language: str) -> None:
    passage = Passage("x", text, "x.md", heading=text[:40], language=language)
    [result] = write_offline([passage], [PlannedQuestion(KEYWORDS, (passage,))], seed=0)
    if isinstance(result, Question):
        assert result.text.strip()
        assert result.evidence[0] in text
    else:
        assert result in {NOTHING_TO_ASK, LANGUAGE_NEEDS_MODEL}
