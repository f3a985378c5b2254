"""Normal forms in linear time, the same as unicodedata's."""

from __future__ import annotations

import random
import sys
import unicodedata
from typing import Literal

import pytest

from ragmeter.io.normal_form import normalized

FORMS: tuple[Literal["NFC"], Literal["NFD"]] = ("NFC", "NFD")
_EVERYTHING = [chr(code) for code in range(sys.maxunicode + 1)]
MARKS = [mark for mark in _EVERYTHING if unicodedata.category(mark)[0] == "M"]
#: Letters that compose with marks, or decompose into some.
BASES = [*"aeo", "é", "ǘ", "ᾂ", "क", "が", "각", "ᄀ", "ᅡ", "ཀ", "ό", "中", "-"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(4))
def test_long_runs_of_any_marks_are_the_same_as_by_unicodedata(form: Literal["NFC", "NFD"], seed: int) -> None:
    random_text = random.Random(seed)
    text = "".join(
        random_text.choice(BASES) + "".join(random_text.choices(MARKS, k=random_text.choice((0, 1, 255, 256, 600))))
        for _ in range(40)
    )
    assert normalized(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
def test_every_mark_in_a_long_run_of_two_others(form: Literal["NFC", "NFD"]) -> None:
    text = "".join(f"e{mark}" + "\u0301\u0323" * 130 + mark for mark in MARKS)
    assert normalized(form, text) == unicodedata.normalize(form, text)


def test_a_run_of_marks_takes_linear_time() -> None:
    text = "a" + "\u0301\u0323" * 500_000  # hours with unicodedata alone
    assert normalized("NFC", text) == "ạ" + "\u0323" * 499_999 + "\u0301" * 500_000
