"""Short texts that a passage has word for word, in scripts that the support model knows less of."""

from __future__ import annotations

from collections import Counter

import pytest

from ragmeter import evaluate
from ragmeter.metrics.causes.mentions import has_mention


@pytest.mark.parametrize(
    ("text", "passage", "is_there"),
    [
        ("السويد", "تقع في السويد", True),
        ("السويد", "تقع بالسويد", True),
        ("سويد", "وللسويد تاريخ", True),
        ("والسويد", "سويد", True),
        ("الرئيس", "للرئيس", True),
        ("مدرسة", "المدرسه", True),  # the last letter is often written without its points
        ("كِتَاب", "الكتاب", True),
        ("ولد", "الد", False),
        ("باريس", "ريس", False),
        ("السويد والنرويج", "تقع السويد قرب النرويج", False),
        ("瑞典", "位于瑞典的公司", True),
        ("典瑞", "位于瑞典的公司", False),
        ("1891年", "他在1891年开展", True),
        ("1891年", "他在1892年开展", False),
        ("ไม่มี", "ที่นี่ไม่มีใคร", True),
        ("Paris", "In Paris.", False),  # of these the model is the judge
        ("", "瑞典", False),
        ("。", "瑞典。", False),
    ],
)
def test_by_hand(text: str, passage: str, is_there: bool) -> None:
    assert has_mention(text, passage) is is_there


@pytest.mark.parametrize(
    ("question", "reference", "passage", "refusal"),
    [
        ("Energiprojekt AB公司位于何处?", "瑞典", "Energiprojekt AB公司位于瑞典，制造蒸汽机。", "我不知道。"),
        ("أين تقع شركة إنرجي بروجكت؟", "السويد", "تقع شركة إنرجي بروجكت بالسويد وتصنع محركات.", "لا أعرف."),
    ],
)
def test_what_the_passage_has_was_retrieved(question: str, reference: str, passage: str, refusal: str) -> None:
    row = {"question": question, "reference": reference, "contexts": [passage]}
    evaluation = evaluate([{**row, "answer": reference}, {**row, "answer": refusal}], metrics="offline_correct")
    assert Counter(evaluation.rows["cause"].to_pylist()) == {"right": 1, "declined_though_retrieved": 1}
