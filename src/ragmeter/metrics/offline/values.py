"""One way to write a thing: numbers, dates, units, abbreviations and stems, chunk by chunk.

A chunk is what stands between white space. It becomes items: the word as it is read, and its root, which is what is
compared. `12`, `twelve`, `12th` and `XII` have one root, so have `May` and `mayo`, `km` and `kilometres`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import regex

from ragmeter.metrics.normalize import UNSPACED, words
from ragmeter.metrics.offline.tables import Mark, Table, plain

_DATE = regex.compile(r"\D{0,2}(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})\D{0,2}")
_DOTTED = regex.compile(r"\W*((?:\p{L}\.){2,}\p{L}?)\W*(?:'s)?\W*")
_NUMBER = regex.compile(r"(\p{Nd}+(?:[.,]\p{Nd}+)*)(\p{L}*)")
_GROUPED = regex.compile(r"(?!0)\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*(?:[.,]\d{1,2})?")
_POINTS = str.maketrans("", "", ".,")
_ROMAN = regex.compile(r"(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50}
_UPPER = regex.compile(r"\W*(\p{Lu}{2,6}s?|\p{Lu}(?:&\p{Lu})+)(?:'s|’s)?\W*")
_ENDS = regex.compile(r"""[.!?…。！？؟][\])"'’”»*]*$""")
_ASKS = regex.compile(r"""[?？؟][\])"'’”»*]*$""")
_PAUSES = regex.compile(r"""[,;:)\]–—-]["'’”»]*$""")
_PIECES = regex.compile(r"[^。！？；，、：,;]+[。！？；，、：,;]?")
_IN_ALPHABET = regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]")
_IN_UNSPACED = regex.compile(rf"[{UNSPACED}]", regex.VERSION1)
#: Words that were run together: bySonu, in1997.
_GLUED = regex.compile(r"(?<=\p{Ll})(?=\p{Lu}\p{Ll})")
_LETTERS_THEN_FIGURES = regex.compile(r"(\p{L}[\p{L}\p{M}']*)(\p{Nd}.*)")
_BELOW_ZERO = regex.compile(r"[-−]\p{Nd}")
_YEARS = regex.compile(r"\D*(\d{2})\d\d[-–—/](\d\d)\D*")
_ORDINAL_ENDINGS = frozenset(
    ("st", "nd", "rd", "th", "s", "e", "er", "eme", "a", "o", "ª", "º", "ro", "do", "to", "mo")
)
_SYMBOLS = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound_sterling", "¥": "yen", "°": "degree"}
_PLAIN_FIGURES = 15  # all of which a float keeps
_SCALES = {"k": 1e3, "mn": 1e6, "bn": 1e9, "tn": 1e12}
_DECADES = frozenset(range(20, 100, 10))
_CURRENCIES = frozenset("$€£¥")
_PERCENT_SIGNS = {"٪": "%", "％": "%"}
_FIRST_YEAR, _LAST_YEAR = 1000, 2100


class Item(NamedTuple):
    """A word: as it is read, what it is compared by, what it is, and its value if it is a number."""

    word: str
    root: str
    marks: int
    value: float = math.nan


def items(chunk: str, table: Table, stem: Callable[[str], str]) -> list[Item]:
    """The items of a chunk."""
    if chunk.isascii() and chunk.isdecimal() and len(chunk) <= _PLAIN_FIGURES:
        return _plain_figures(chunk)
    quick = _quick(chunk, table, stem)
    if quick is not None:
        return quick
    unspaced = len(chunk) > 3 and _IN_UNSPACED.search(chunk)
    pieces = _PIECES.findall(chunk) if unspaced else _GLUED.split(chunk)
    return [item for piece in pieces for item in _items(piece, table, stem)]


def _quick(chunk: str, table: Table, stem: Callable[[str], str]) -> list[Item] | None:
    """The short cut for a plain word or number with perhaps a mark after it, which most chunks are."""
    bare = chunk.rstrip(".,;:!?")
    if len(chunk) > len(bare) + 1 or not bare.isascii():
        return None
    if not (bare.isdecimal() or (bare.isalpha() and len(bare) > 1 and bare[1:].islower())):
        return None
    found = _item(bare.lower(), Mark.CAPITAL if bare[0].isupper() else 0, table, stem, False)
    if len(chunk) > len(bare):
        found[-1] = found[-1]._replace(marks=found[-1].marks | _after(chunk, found[-1], table))
    return found


def _items(chunk: str, table: Table, stem: Callable[[str], str]) -> list[Item]:
    folded = plain(chunk)
    found = _date(folded) or _dotted(chunk, folded, table) or _words(chunk, folded, table, stem)
    if found:
        around = _after(folded, found[-1], table)
        if around:
            found[-1] = found[-1]._replace(marks=found[-1].marks | around)
    return found


def number(value: float, word: str, marks: int = Mark.NUMBER) -> Item:
    """A number. Equal values have one root, however they are written; one past all floats is a word like another."""
    if not math.isfinite(value):
        return Item(word, f"#{word}", marks)
    return Item(word, f"#{value:.15g}", marks, value)  # all digits that a float keeps: of an ISBN the last one counts


def is_year(value: float) -> bool:
    """Whether a number looks like a year."""
    return _FIRST_YEAR <= value <= _LAST_YEAR and value == int(value)


def _month(value: int, word: str) -> Item:
    return Item(word, f"month:{value}", Mark.MONTH, value)


def _date(folded: str) -> list[Item]:
    """A date in figures. Where day and month could be either, the month may be both."""
    match = _DATE.fullmatch(folded)
    if match is None:
        return []
    first, middle, last = (int(match[group]) for group in (1, 3, 4))
    if len(match[1]) == 4:
        year, days = first, [(last, middle)]
    elif len(match[4]) == 4:
        year, days = last, [(first, middle), (middle, first)]
    else:
        return []
    fitting = [(day, month) for day, month in dict.fromkeys(days) if 1 <= month <= 12 and 1 <= day <= 31]
    if not fitting:
        return []
    word = match[0].strip("()[],;")
    found = [item for day, month in fitting for item in (_month(month, word), number(day, word))]
    return [*found, number(year, word)]


def _dotted(chunk: str, folded: str, table: Table) -> list[Item]:
    """`U.S.` and `J.K.`: letters with points are an abbreviation, written without them."""
    match = _DOTTED.fullmatch(folded)
    if match is None:
        return []
    word = match[1].replace(".", "")
    return [Item(word, table.units.get(word, word), Mark.ACRONYM | Mark.CAPITAL if chunk.upper() == chunk else 0)]


def _words(chunk: str, folded: str, table: Table, stem: Callable[[str], str]) -> list[Item]:
    upper = _UPPER.fullmatch(chunk)
    found: list[Item] = []
    if _IN_ALPHABET.search(folded):
        return _threes(words(folded), table)
    years = _YEARS.fullmatch(folded)
    for place, word in enumerate(words(folded)):
        if years is not None and place == 1:
            word = years[1] + word  # 1951–52
        capital = Mark.CAPITAL if _is_capital(chunk, folded, word) else 0
        if word[-1] == "m" and word[:-1].isdecimal() and _CURRENCIES.intersection(folded):
            word += "n"  # $5m are millions, and 5m are metres
        found += _item(word, capital, table, stem, upper is not None and place == 0)
    if upper is not None and found and folded.strip(".,;:!?") not in table.short:
        letters = upper[1].rstrip("s").replace("&", "")
        value = _roman(letters)
        if value:
            found[0] = number(value, found[0].word, Mark.WEAK | Mark.CAPITAL)
        else:  # capitals make an abbreviation, and no small word: US is not us
            found[0] = found[0]._replace(marks=_as_acronym(found[0].marks))
    if found and _BELOW_ZERO.match(folded) and found[0].marks & Mark.NUMBER:
        found[0] = number(-found[0].value, f"-{found[0].word}", found[0].marks)
    if not folded.isalnum():
        signs = dict.fromkeys(_PERCENT_SIGNS.get(each, each) for each in folded)
        # before the number, so that "$3 million" is still a number in two words
        found[:0] = [Item(sign, _SYMBOLS[sign], Mark.UNIT) for sign in signs if sign in _SYMBOLS]
    return found


def _as_acronym(marks: int) -> int:
    """The marks of a word that is written in capitals. The guards still take NOT and OR for what they may be."""
    shouted = (Mark.DENIAL if marks & Mark.NEGATION else 0) | (Mark.CHOICE if marks & Mark.EITHER else 0)
    return marks & ~(Mark.FUNCTION | Mark.NEGATION | Mark.EITHER) | shouted | Mark.ACRONYM | Mark.CAPITAL


def _threes(letters: list[str], table: Table) -> list[Item]:
    """Words that nothing parts, letter by letter: three at a time say something, where one would stand anywhere."""
    found = []
    for place in range(max(1, len(letters) - 2) if letters else 0):  # a mark that ends a sentence, alone, has none
        word = "".join(letters[place : place + 3])
        match = _NUMBER.fullmatch(letters[place])
        if match is not None:
            found.append(number(_value(match[1]), letters[place]))
            continue
        marks = table.marks.get(word, 0) | table.marks.get("".join(letters[place : place + 2]), 0)
        found.append(Item(word, word, marks))
    return found


def _is_capital(chunk: str, folded: str, word: str) -> bool:
    if len(folded) != len(chunk):
        return chunk[:1].isupper()
    place = folded.find(word)
    return chunk[place : place + 1].isupper()


def _item(word: str, capital: int, table: Table, stem: Callable[[str], str], is_upper: bool) -> list[Item]:
    if word.isdecimal():
        return _figures(word, word, "", table)
    match = _NUMBER.fullmatch(word) if not word[0].isalpha() else None
    if match is not None:
        return _figures(word, match[1], match[2], table)
    glued = None if word.isalpha() else _LETTERS_THEN_FIGURES.fullmatch(word)
    if glued is not None:
        return [
            *_item(glued[1], capital, table, stem, False),
            *(each._replace(marks=each.marks | Mark.WEAK) for each in _item(glued[2], 0, table, stem, False)),
        ]
    bare = word.removesuffix("'s") if word not in table.marks else word
    if bare in table.short:
        return [item for part in table.short[bare] for item in _item(part, capital, table, stem, False)]
    if bare in table.months and (capital or bare not in table.ambiguous):
        return [_month(table.months[bare], word)]
    if bare in table.numbers:
        value, marks = table.numbers[bare]
        return [number(value, word, marks | capital)]
    marks = table.marks.get(bare, 0) | capital
    if len(bare) == 1 and bare.isalpha() and not _IN_UNSPACED.match(bare) and not marks & Mark.FUNCTION:
        marks |= Mark.LETTER
    if bare in table.units and (not is_upper or bare in table.capitals):
        return [Item(word, table.units[bare], marks | Mark.UNIT)]
    return [Item(bare, stem(bare), marks)]


def _plain_figures(figures: str) -> list[Item]:
    """The short cut for a number in a few figures, which most new chunks are."""
    found = [Item(figures, "#" + (figures.lstrip("0") or "0"), Mark.NUMBER, float(figures))]
    return [*_footnoted(figures, figures), *found] if len(figures) in (5, 6) else found


def _footnoted(word: str, figures: str) -> list[Item]:
    """The year of a year with a footnote run into it: 19841."""
    year = float(figures[:4])
    return [number(year, word, Mark.NUMBER | Mark.WEAK)] if is_year(year) else []


def _figures(word: str, figures: str, letters: str, table: Table) -> list[Item]:
    """A number in figures, and what its letters say if they are no ending."""
    value, marks = _value(figures), Mark.NUMBER
    if letters in _SCALES:
        value *= _SCALES[letters]
        letters = ""
    elif letters == "s":
        value += 1900 if value in _DECADES else 0
        marks |= Mark.DECADE if is_year(value) and value % 10 == 0 else 0
    found = [number(value, word, marks)]
    if len(figures) in (5, 6) and figures.isdecimal():
        found[:0] = _footnoted(word, figures)
    if letters and letters not in _ORDINAL_ENDINGS:
        found.append(Item(letters, table.units.get(letters, letters), Mark.UNIT))
    return found


def _value(figures: str) -> float:
    """A number in figures: points and commas part thousands where they can, and else decimals."""
    if figures.isdecimal():
        return float(figures)
    if _GROUPED.fullmatch(figures):
        separator = next(each for each in figures if not each.isdigit())
        whole, _, rest = figures.rpartition(separator)
        part = rest.replace(",", ".").split(".")
        figures = whole.replace(separator, "") + part[0] + ("." + part[1] if len(part) > 1 else "")
    elif figures.count(",") + figures.count(".") == 1:
        figures = figures.replace(",", ".")
    else:
        figures = figures.translate(_POINTS)
    try:
        return float(figures)
    except (OverflowError, ValueError):  # figures that float() does not know
        return math.nan


def as_numeral(item: Item) -> Item:
    """A letter after a name, read as a Roman numeral: World War I."""
    around = item.marks & (Mark.CAPITAL | Mark.CLAUSE | Mark.SENTENCE | Mark.ASKS)
    return number(_ROMAN_DIGITS[item.word.upper()], item.word, Mark.WEAK | around)


def _roman(letters: str) -> int:
    """The value of a Roman numeral of at least two letters; one letter is mostly just that."""
    if len(letters) < 2 or not _ROMAN.fullmatch(letters):
        return 0
    values = [_ROMAN_DIGITS[each] for each in letters]
    return sum(
        -value if value < following else value for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def _after(folded: str, last: Item, table: Table) -> int:
    """What punctuation follows the last word."""
    if _ENDS.search(folded):
        initial = bool(last.marks & Mark.ACRONYM) or (len(last.word) == 1 and last.word.isalpha())
        if folded[-1:] == "." and (initial or last.word in table.untitled):
            return 0
        return Mark.SENTENCE | Mark.ASKS if _ASKS.search(folded) else Mark.SENTENCE
    return Mark.CLAUSE if _PAUSES.search(folded) else 0


def _tens_and_ones(values: Sequence[float]) -> list[float]:
    """Eighty and four, one after the other, as one number."""
    found: list[float] = []
    for value in values:
        if found and found[-1] >= 20 and found[-1] % 10 == 0 and 0 < value < 10:
            found[-1] += value
        else:
            found.append(value)
    return found


def together(parts: Sequence[Item]) -> list[Item]:
    """Consecutive numbers as one where that is how they are meant: `3 million`, `twenty one`, `nineteen ninety`."""
    parts = [each for each in parts if bool(each.marks & Mark.NUMBER)]
    values = [each.value for each in parts]
    spelled = [bool(each.marks & Mark.SPELLED) for each in parts]
    scale = [bool(each.marks & Mark.SCALE) for each in parts]
    word = " ".join(each.word for each in parts)
    around = parts[-1].marks & (Mark.CLAUSE | Mark.SENTENCE | Mark.ASKS)
    if not any(scale):
        whole = _tens_and_ones(values) if all(spelled) else values
        if len(whole) == 2 and all(spelled) and all(10 <= value < 100 for value in whole):
            whole = [whole[0] * 100 + whole[1]]  # nineteen eighty-four
        return [number(whole[0], word, Mark.NUMBER | around)] if len(whole) == 1 else parts
    if not all(spelled[1:]) or (len(parts) > 1 and not spelled[0] and not scale[1]):
        return parts
    total = current = 0.0
    for value, multiplies in zip(values, scale, strict=True):
        if multiplies and value >= 1000:
            total, current = total + max(current, 1) * value, 0.0
        elif multiplies and value in (100, 12):
            current = max(current, 1) * value
        else:
            current += value
    return [number(total + current, word, Mark.NUMBER | around)]
