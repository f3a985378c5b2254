"""The normal forms of Unicode in linear time."""

from __future__ import annotations

import unicodedata
from functools import cache
from itertools import groupby
from typing import Literal

import regex

#: unicodedata sorts a run of marks by insertion, in quadratic time: a run of this length is sorted beforehand.
_LONG_RUN = 256
_MARKS = regex.compile(rf"\p{{M}}{{{_LONG_RUN},}}")


def normalized(form: Literal["NFC", "NFD"], text: str) -> str:
    """The result of `unicodedata.normalize`, in linear time also for a text of nothing but marks."""
    if len(text) >= _LONG_RUN and not text.isascii():
        text = _MARKS.sub(lambda run: _in_canonical_order(run[0]), text)
    return unicodedata.normalize(form, text)


def _in_canonical_order(marks: str) -> str:
    """A run of marks, decomposed, and sorted by combining class between marks of class 0, as in NFD."""
    decomposed = "".join(map(_decomposed, marks))
    parts = groupby(decomposed, lambda mark: unicodedata.combining(mark) > 0)
    return "".join("".join(sorted(part, key=unicodedata.combining)) for _, part in parts)


@cache
def _decomposed(mark: str) -> str:
    return unicodedata.normalize("NFD", mark)
