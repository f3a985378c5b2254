"""The strict reading of what a model replies."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.judges.asking.forms import Scale
from ragmeter.judges.verdict import CORRECT, OWN_FORM, WRONG, verdict

FORM = verdict.form
GRADES = Scale("grade", 1, 5)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"reason": "same", "verdict": "CORRECT"}', (CORRECT, "same")),
        ('{"verdict": "WRONG"}', (WRONG, "")),
        ('  {"verdict": "wrong", "reason": ""}\n', (WRONG, "")),
        ('```json\n{"verdict": "CORRECT"}\n```', (CORRECT, "")),
        ("CORRECT", (CORRECT, "")),
        ("Yes", (CORRECT, "")),
        ("no.", (WRONG, "")),
        ("**Yes**", (CORRECT, "")),
        ('{"verdict": "No", "reason": "another city"}', (WRONG, "another city")),
        ("wrong.", (WRONG, "")),
        ("**CORRECT**", (CORRECT, "")),
        ("**Verdict:** WRONG", (WRONG, "")),
        ("\ufeffWRONG", (WRONG, "")),
        ('```JSON\n{"verdict": "CORRECT", "reason": null}\n```', (CORRECT, "")),
        ('{"reason": "two\nlines", "verdict": "WRONG"}', (WRONG, "two\nlines")),
        ("Verdict: WRONG", (WRONG, "")),
        ("<think>It says CORRECT, but no.</think>\nWRONG", (WRONG, "")),
        ('<think>hm</think>{"verdict": "CORRECT", "reason": "ok", "score": 1}', (CORRECT, "ok")),
    ],
)
def test_a_verdict(reply: str, expected: tuple[str, str]) -> None:
    assert FORM.read(reply, {}) == {"value": expected[0], "reason": expected[1]}


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " ",
        "CORRECT or WRONG",
        "INCORRECT",
        "Yes, it does",
        "Yes No",
        "No\nYes",
        "Not sure",
        "Y",
        "Yesno",
        "Oui",
        '{"verdict": "Yes", "verdict": "No"}',
        "NOT CORRECT",
        "The answer is CORRECT",
        "CORRECT, because it says so",
        "CORRECT\nWRONG",
        'It is {"verdict": "CORRECT"}',
        '{"verdict": "CORRECT"} {"verdict": "WRONG"}',
        '{"verdict": "WRONG", "verdict": "CORRECT"}',
        '{"verdict": "CORRECT"',
        '{"verdict": true}',
        '{"verdict": ["CORRECT"]}',
        '{"verdict": null}',
        '{"verdict": "CORRECT", "reason": 3}',
        '{"verdict": "MAYBE"}',
        '{"answer": "CORRECT"}',
        '["CORRECT"]',
        '"CORRECT and WRONG"',
        "true",
        "1",
        "null",
        "<think>CORRECT",
        "<think>CORRECT</think>",
        "The candidate wrote </think> CORRECT",
        'The candidate wrote "CORRECT". WRONG',
        "[" * 100_000,
    ],
)
def test_no_verdict(reply: str) -> None:
    assert FORM.read(reply, {}) is None


@given(st.text())
def test_any_text_is_a_verdict_or_none(reply: str) -> None:
    columns = FORM.read(reply, {})
    assert columns is None or columns["value"] in (CORRECT, WRONG)


@given(st.text(min_size=1).filter(lambda text: text.strip() and not re.fullmatch(r"[\s*_\"'`.!:=]*", text)))
def test_a_word_among_others_is_none(words: str) -> None:
    reply = f"{words} CORRECT"
    assert FORM.read(reply, {}) is None or re.match(r"\s*(verdict|<think>|```)", words, re.IGNORECASE)


@pytest.mark.parametrize(
    ("logprobs", "expected"),
    [
        ({"Yes": math.log(0.9), "No": math.log(0.1)}, 0.9),
        ({" yes": math.log(0.6), "Yes": math.log(0.2), "NO": math.log(0.2)}, 0.8),
        ({"Y": math.log(0.5), "No": math.log(0.25), "Maybe": math.log(0.25)}, 2 / 3),
        ({"Maybe": 0.0}, None),
        ({"<think>": math.log(0.99), "Yes": math.log(0.01)}, None),
        ({"": 0.0, " ": 0.0}, None),
        ({}, None),
    ],
)
def test_the_probability_of_a_verdict(logprobs: dict[str, float], expected: float | None) -> None:
    assert FORM.probability(logprobs) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("reply", "grade", "reason"),
    [
        ("4", "4", ""),
        ("**5**.", "5", ""),
        ("Grade: 1", "1", ""),
        ("3.0", "3", ""),
        ('{"grade": 2, "reason": "half of it"}', "2", "half of it"),
        ('{"grade": "2"}', "2", ""),
        ("<think>4?</think>3", "3", ""),
    ],
)
def test_a_grade(reply: str, grade: str, reason: str) -> None:
    assert GRADES.read(reply, {}) == {"value": grade, "reason": reason}


@pytest.mark.parametrize(
    "reply",
    ["", "0", "6", "-3", "4.5", "4/5", "4 of 5", "four", "1 2", '{"grade": true}', '{"grade": null}', '{"grade": 2.5}',
     '{"grade": 3, "grade": 4}', '{"grade": 3, "reason": 1}', "[3]", "9" * 5000],
)  # fmt: skip
def test_no_grade(reply: str) -> None:
    assert GRADES.read(reply, {}) is None


@given(st.text())
def test_any_text_is_a_grade_or_none(reply: str) -> None:
    columns = GRADES.read(reply, {})
    assert columns is None or 1 <= int(columns["value"]) <= 5


@pytest.mark.parametrize("form", [FORM, OWN_FORM, GRADES])
def test_what_the_model_is_told_shows_no_reply_that_could_be_copied(form: Scale) -> None:
    """A small model copies an example: what it is told is not a reply, with a reason or without."""
    for reasons in (False, True):
        assert form.read(form.instruction(reasons=reasons), {}) is None
        assert "{" not in form.instruction(reasons=reasons)
    assert form.response_format(reasons=False) is None
    schema = form.response_format(reasons=True)
    assert schema is not None
    assert list(schema["json_schema"]["schema"]["properties"])[1] == "reason"  # the verdict first
