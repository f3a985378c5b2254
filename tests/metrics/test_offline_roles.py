"""Gold answers judged together, and the order of scores and roles."""

from __future__ import annotations

import resource
from collections.abc import Sequence

import pytest

from ragmeter import get_metric

DATED = ["2006", "March 30, 2006"]


def probability(question: str, golds: Sequence[str], answer: str) -> float:
    return float(get_metric("offline_correct_probability")([question], [list(golds)], [answer])[0])


@pytest.mark.parametrize(
    ("question", "golds", "answer"),
    [
        ("when was it released", DATED, "February 14, 2006"),
        ("when was it released", DATED[::-1], "It was released in February 2006."),
        ("¿Cuándo salió?", ["2006", "30 de marzo de 2006"], "el 14 de febrero de 2006"),
        ("what was the final score", ["1-3"], "3-1"),
        ("what was the final score", ["1–3"], "It ended 3 to 1."),
        ("who won the 2018 world cup", ["France"], "Croatia, who beat France"),
        ("which emoji", ["🙂"], "🙁"),
        ("¿Quién ganó el mundial de 2018?", ["Francia"], "Croacia, que venció a Francia"),
        ("who won the final", ["Brazil"], "Brazil was beaten by Germany"),
        ("who won the final", ["Brazil"], "Brazil lost to Germany."),
        ("¿Quién ganó la final?", ["Brasil"], "Brasil perdió contra Alemania"),
    ],
)
def test_wrong_by_another_gold_answer_or_by_the_order(question: str, golds: list[str], answer: str) -> None:
    assert probability(question, golds, answer) < 0.5


@pytest.mark.parametrize(
    ("question", "golds", "answer"),
    [
        ("when was it released", DATED, "in 2006"),
        ("when was it released", DATED, "March 2006"),
        ("when was it released", DATED, "It was released on 30 March 2006, and again on February 14, 2010."),
        ("when was it released", ["2006"], "February 14, 2006"),
        ("when was it released", ["2006", "March 30, 2007"], "February 14, 2006"),
        ("what was the final score", ["1-3"], "It ended 1-3, after 3-1 in the first leg."),
        ("who won the 2018 world cup", ["France"], "France, who beat Croatia"),
        ("who did France beat in the final", ["Croatia"], "France beat Croatia"),
        ("who won the final", ["Germany"], "Brazil lost to Germany"),
        ("who won the final", ["Brazil"], "Brazil, who had lost to Germany before, won."),
        ("which operator is it", [">="], ">="),
        ("which emoji", ["🙂"], " 🙂 "),
    ],
)
def test_right_all_the_same(question: str, golds: list[str], answer: str) -> None:
    assert probability(question, golds, answer) >= 0.5


def test_other_rows_have_no_say() -> None:
    alone = probability("when was it released", ["2006"], "February 14, 2006")
    rows = [("when was it released", ["2006"], "February 14, 2006"), ("when", ["x"], "y")]
    rows.append(("when was it released", DATED, "February 14, 2006"))
    chances = get_metric("offline_correct_probability")(*(list(side) for side in zip(*rows, strict=True)))
    assert chances[0] == alone
    assert chances[2] < 0.5


def test_thousands_of_words_and_gold_answers_take_little_memory() -> None:
    def letters(number: int) -> str:
        return "".join(chr(97 + number // 26**place % 26) for place in range(3))

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    alike = (" ".join(f"abcd{letters(number)}{end}" for number in range(2_000)) for end in "xy")
    assert probability("who", [next(alike)], next(alike)) < 0.5
    assert probability("who", [f"gold number {number}" for number in range(500)], "lorem ipsum " * 1_500) < 0.5
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert kilobytes < 300_000
