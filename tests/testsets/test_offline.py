"""Questions that are written without a language model."""

from __future__ import annotations

from ragmeter.testsets.offline import NOTHING_TO_ASK, write_offline
from ragmeter.testsets.questions import FACT, KEYWORDS, NoQuestion, Passage, PlannedQuestion, Question

TOWER = Passage("p1", "The tower of Lisbon was built in 1519. It guards the mouth of the river Tagus.", "towers.md")
BRIDGE = Passage("p2", "The bridge over the river was built in 1966 by an American company.", "bridges.md")
THIN = Passage("p3", "It is so.", "thin.md")
SPANISH = Passage("p4", "La torre de Lisboa fue construida en 1519 junto al río Tajo.", "torres.md", language="es")
ALL = [TOWER, BRIDGE, THIN, SPANISH]


def test_a_question_asks_with_words_of_the_passage_and_quotes_its_evidence() -> None:
    [question] = write_offline(ALL, [PlannedQuestion(KEYWORDS, (BRIDGE,))], seed=1)
    assert isinstance(question, Question)
    assert question.evidence == (BRIDGE.text,)
    assert set(question.text.split()) <= {"bridge", "river", "built", "1966", "american", "company"}
    assert question.reference == ""


def test_words_that_are_rare_among_all_passages_come_first() -> None:
    common = [Passage(f"c{n}", "The bridge over the river was built.", "c.md") for n in range(9)]
    text = "Workers built a splendid bridge over one river with granite, basalt, copper and bronze."
    [question] = write_offline(
        [*common, Passage("p", text, "p.md")], [PlannedQuestion(FACT, (Passage("p", text, "p.md"),))], seed=1
    )
    assert isinstance(question, Question)
    assert not {"bridge", "river", "built"} & set(question.text.split())


def test_function_words_of_the_language_are_left_out() -> None:
    [question] = write_offline(ALL, [PlannedQuestion(KEYWORDS, (SPANISH,))], seed=1)
    assert isinstance(question, Question)
    assert not {"la", "de", "fue", "en", "al"} & set(question.text.split())


def test_a_passage_that_says_nothing_gives_no_question() -> None:
    plan = [PlannedQuestion(FACT, (THIN,)), PlannedQuestion(FACT, (TOWER,))]
    nothing, question = write_offline(ALL, plan, seed=1)
    assert nothing == NoQuestion(plan[0], NOTHING_TO_ASK)
    assert isinstance(question, Question)


def test_the_same_seed_gives_the_same_questions() -> None:
    plan = [PlannedQuestion(KEYWORDS, (passage,)) for passage in ALL]
    assert write_offline(ALL, plan, seed=7) == write_offline(iter(ALL), plan, seed=7)
    assert len({str(write_offline(ALL, plan, seed)) for seed in range(8)}) > 1
