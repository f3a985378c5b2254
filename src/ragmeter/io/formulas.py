"""Cells that a spreadsheet would run as formulas when the CSV file is opened.

A cell that begins with =, +, - or @ is a formula to a spreadsheet. A formula can start a program (`cmd|'/C calc'!A0`),
call a function that sends the sheet's contents away (`HYPERLINK(...)`, `WEBSERVICE(...)`) or read another file
(`'file:///etc/passwd'#$x.A1`); each of these needs a call, a pipe or a reference to elsewhere. What begins with a sign
and has none of them runs nothing: a negative number, a bullet, an id.
"""

from __future__ import annotations

import re
import unicodedata

#: Invisible characters that a program may drop before it looks at a cell: controls, joiners, a BOM.
_UNSEEN = (
    r"\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{_UNSEEN}]+")
#: How a formula begins, in ASCII and in equivalent forms.
_FORMULA = re.compile(rf"[\s{_UNSEEN}]*[=+\-@\t\r|%＝＋－＠﹦﹢﹣﹫−]")
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
