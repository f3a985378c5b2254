"""Cells that a spreadsheet would run as formulas when the CSV file is opened.

A cell that begins with =, +, - or @ is a formula to a spreadsheet. A formula can start a program (`cmd|'/C calc'!A0`),
call a function that sends the sheet's contents away (`HYPERLINK(...)`, `WEBSERVICE(...)`) or read another file
(`'file:///etc/passwd'#$x.A1`); each of these needs a call, a pipe or a reference to elsewhere. What begins with a sign
and has none of them runs nothing: a negative number, a bullet, an id.
"""

from __future__ import annotations

import re
import unicodedata

import regex

#: Characters that a program may drop before it looks at a cell, since nothing is seen of them: controls and formats (a
#: BOM, joiners, directions), spaces, marks without a letter, what fonts ignore, what Unicode has not assigned.
_UNSEEN = r"\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800"
_INVISIBLE = regex.compile(rf"[{_UNSEEN}--\p{{Z}}--\s]+", regex.VERSION1)
#: How a formula begins, in ASCII and in equivalent forms.
_FORMULA = regex.compile(rf"[\s{_UNSEEN}]*[=+\-@\t\r|%＝＋－＠﹦﹢﹣﹫−]")
#: Marks that begin no formula, and that are seen. The empty text is among them.
_PLAIN = "!\"#$&'()*,./:;<>?[\\]^_`{}~"
#: Letters that fonts don't show.
_FILLERS = "\u115f\u1160\u3164\uffa0"
_NUMBER = re.compile(r"[+-](?:\d+(?:[.,]\d+)*\.?|[.,]\d+)(?:[eE][+-]?\d+)?\s?%?")
#: A call, a pipe, a reference to another sheet or file.
_REACHES_OUT = re.compile(r"""\|| \w\s*\( | !\s*[\w$'"\[(] | ['"]\s*\#""", re.VERBOSE)
_BULLET = re.compile(r"[-+]+(?:\s|$)")
_CELL = r"\$?[A-Za-z]{1,3}\$?\d{1,7}"
_VALUE = rf"(?:{_CELL}|[\d.,]+(?:[eE][+-]?\d+)?)[\s%]*"
#: What a spreadsheet would compute: one of its cells, or several numbers or cells with signs between them.
_ARITHMETIC = re.compile(rf"[-+\s]*(?:{_CELL}\s*|{_VALUE}(?:[-+*/^&<>=:][-+*/^&<>=:\s]*{_VALUE})+)")
_ID = re.compile(r"[-+]+(?=.*[^\W\d_])(?=.*[\d_])[\w.:/~+-]*")  # letters, and a digit or an underscore


def guarded(text: str) -> str:
    """The text, with a quote in front if a spreadsheet might run it."""
    first = text[:1]
    if first in _PLAIN or (first.isalnum() and first not in _FILLERS):
        return text
    start = _FORMULA.match(text)
    return text if start is None or _runs_nothing(text, start.end() - 1) else f"'{text}"


def _runs_nothing(text: str, begin: int) -> bool:
    """Whether what looks like a formula is a number, a bullet or an id."""
    if "\t" in text[: begin + 1] or "\r" in text[: begin + 1]:
        return False
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text[begin:]).replace("−", "-")).rstrip()
    if plain[0] not in "+-":
        return False
    if _NUMBER.fullmatch(plain):
        return True
    if _REACHES_OUT.search(plain) or (":/" in plain and "#" in plain) or _ARITHMETIC.fullmatch(plain):
        return False
    return bool(_BULLET.match(plain) or _ID.fullmatch(plain))
