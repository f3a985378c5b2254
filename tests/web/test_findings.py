"""What all answers of a run show about how they were read."""

from __future__ import annotations

from ragmeter.targets.web.findings import findings

GOOD = [("a", "Paris."), ("b", "In 2019.\nBy Ann Lee."), ("c", "- apples\n- cherries"), ("d", "It is\nso.")]


def test_good_answers_show_nothing() -> None:
    assert findings(GOOD) == []
    assert findings([]) == []


def test_the_same_text_for_different_questions() -> None:
    assert findings([("a", "Hello."), ("b", "Hello."), ("c", "No.")]) == [
        "2 different questions have the same answer: 'Hello.'"
    ]
    assert findings([("a", "Hello."), ("a", "Hello.")]) == []


def test_the_same_line_in_most_answers() -> None:
    answers = [(str(n), f"Answer {n}.\nWas this helpful?") for n in range(4)]
    assert findings(answers) == ["4 of 4 answers have the same last line: 'Was this helpful?'"]


def test_answers_that_end_in_the_midst_of_a_sentence() -> None:
    whole = "The archive is in the old harbour, behind the market."
    answers = [("a", whole), ("b", whole + " It was"), ("c", whole + " Yes.")]
    (finding,) = findings(answers)
    assert finding.startswith("1 of 3 answers may end in the midst of a sentence: ...")
