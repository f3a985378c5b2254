"""Normalises chunks: numbers, dates, units, abbreviations and stems.

A chunk is a text between white space. It becomes items: the word itself, and its root, which is compared. `12`,
`twelve`, `12th` and `XII` have the same root, and so have `May` and `mayo`, `km` and `kilometres`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import regex

from ragmeter.metrics.normalize import UNSPACED, words_and_figures
from ragmeter.metrics.offline.reading.tables import Mark, Table, plain

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
_PLAIN_FIGURES = 15  # the digits that a float keeps
_SCALES = {"k": 1e3, "mn": 1e6, "bn": 1e9, "tn": 1e12}
_DECADES = frozenset(range(20, 100, 10))
_CURRENCIES = frozenset("$€£¥")
_PERCENT_SIGNS = {"٪": "%", "％": "%"}
_FIRST_YEAR, _LAST_YEAR = 1000, 2100


class Item(NamedTuple):
    """A word, the root that it is compared by, its marks, and its value if it is a number."""

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
    """A short cut for most chunks: a plain word or number, perhaps followed by a punctuation mark."""
    bare = chunk.rstrip(".,;:!?")
    if len(chunk) > len(bare) + 1 or not bare.isascii():
        return None
    if not (bare.isdecimal() or (bare.isalpha() and len(bare) > 1 and bare[1:].islower())):
        return None
    chunk_items = _item(bare.lower(), Mark.CAPITAL if bare[0].isupper() else 0, table, stem, False)
    return _ended(chunk_items, chunk, table) if len(chunk) > len(bare) else chunk_items


def _items(chunk: str, table: Table, stem: Callable[[str], str]) -> list[Item]:
    folded = plain(chunk)
    chunk_items = _date(folded) or _dotted(chunk, folded, table) or _words(chunk, folded, table, stem)
    return _ended(chunk_items, folded, table)


def _ended(chunk_items: list[Item], folded: str, table: Table) -> list[Item]:
    """The items of a chunk, the last one with the marks of the punctuation after it."""
    if chunk_items and (marks := _after(folded, chunk_items[-1], table)):
        chunk_items[-1] = chunk_items[-1]._replace(marks=chunk_items[-1].marks | marks)
    return chunk_items


def number(value: float, word: str, marks: int = Mark.NUMBER) -> Item:
    """A number. Equal values have the same root; one that is too large for a float is treated as a word."""
    if not math.isfinite(value):
        return Item(word, f"#{word}", marks)
    # all digits that a float keeps, because the last digit of an ISBN matters
    return Item(word, f"#{value:.15g}", marks, value)


def is_year(value: float) -> bool:
    """Whether a number looks like a year."""
    return _FIRST_YEAR <= value <= _LAST_YEAR and value == int(value)


def _month(value: int, word: str) -> Item:
    return Item(word, f"month:{value}", Mark.MONTH, value)


def _date(folded: str) -> list[Item]:
    """A date in figures. If day and month are ambiguous, both readings are included."""
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
    date_items = [item for day, month in fitting for item in (_month(month, word), number(day, word))]
    return [*date_items, number(year, word)]


def _dotted(chunk: str, folded: str, table: Table) -> list[Item]:
    """`U.S.` and `J.K.`: letters with points are an abbreviation, written without them."""
    match = _DOTTED.fullmatch(folded)
    if match is None:
        return []
    word = match[1].replace(".", "")
    return [Item(word, table.units.get(word, word), Mark.ACRONYM | Mark.CAPITAL if chunk.upper() == chunk else 0)]


def _words(chunk: str, folded: str, table: Table, stem: Callable[[str], str]) -> list[Item]:
    upper = _UPPER.fullmatch(chunk)
    chunk_items: list[Item] = []
    if _IN_ALPHABET.search(folded):
        return _threes(words_and_figures(folded), table)
    years = _YEARS.fullmatch(folded)
    for place, word in enumerate(words_and_figures(folded)):
        if years is not None and place == 1:
            word = years[1] + word  # 1951–52
        capital = Mark.CAPITAL if _is_capital(chunk, folded, word) else 0
        if word[-1] == "m" and word[:-1].isdecimal() and _CURRENCIES.intersection(folded):
            word += "n"  # $5m are millions, and 5m are metres
        chunk_items += _item(word, capital, table, stem, upper is not None and place == 0)
    if upper is not None and chunk_items and folded.strip(".,;:!?") not in table.short:
        letters = upper[1].rstrip("s").replace("&", "")
        value = _roman(letters)
        if value:
            chunk_items[0] = number(value, chunk_items[0].word, Mark.WEAK | Mark.CAPITAL)
        else:  # a word in capitals is an abbreviation, not a function word: US is not us
            chunk_items[0] = chunk_items[0]._replace(marks=_as_acronym(chunk_items[0].marks))
    if chunk_items and _BELOW_ZERO.match(folded) and chunk_items[0].marks & Mark.NUMBER:
        if len(chunk_items) > 1 and chunk_items[1].word == chunk_items[0].word:
            del chunk_items[0]  # no year with a footnote is below zero
        chunk_items[0] = number(-chunk_items[0].value, f"-{chunk_items[0].word}", chunk_items[0].marks)
    if not folded.isalnum():
        signs = dict.fromkeys(_PERCENT_SIGNS.get(character, character) for character in folded)
        # before the number, so that "$3 million" is still a number in two words
        chunk_items[:0] = [Item(sign, _SYMBOLS[sign], Mark.UNIT) for sign in signs if sign in _SYMBOLS]
    return chunk_items


def _as_acronym(marks: int) -> int:
    """The marks of a word in capitals. For the guards, NOT and OR stay a denial and a choice."""
    shouted = (Mark.DENIAL if marks & Mark.NEGATION else 0) | (Mark.CHOICE if marks & Mark.EITHER else 0)
    return marks & ~(Mark.FUNCTION | Mark.NEGATION | Mark.EITHER) | shouted | Mark.ACRONYM | Mark.CAPITAL


def _threes(letters: list[str], table: Table) -> list[Item]:
    """Scripts without spaces, letter by letter: overlapping groups of three, because single letters occur anywhere."""
    chunk_items = []
    for place in range(max(1, len(letters) - 2) if letters else 0):  # a punctuation mark alone has no letters
        word = "".join(letters[place : place + 3])
        match = _NUMBER.fullmatch(letters[place])
        if match is not None:
            chunk_items.append(number(read_number(match[1]), letters[place]))
            continue
        marks = table.marks.get(word, 0) | table.marks.get("".join(letters[place : place + 2]), 0)
        chunk_items.append(Item(word, word, marks))
    return chunk_items


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
            *(item._replace(marks=item.marks | Mark.WEAK) for item in _item(glued[2], 0, table, stem, False)),
        ]
    bare = word.removesuffix("'s") if word not in table.marks else word
    if bare in table.short:
        return [item for long_word in table.short[bare] for item in _item(long_word, capital, table, stem, False)]
    if bare in table.months and (capital or bare not in table.words["ambiguous"]):
        return [_month(table.months[bare], word)]
    if bare in table.numbers:
        value, marks = table.numbers[bare]
        return [number(value, word, marks | capital)]
    marks = table.marks.get(bare, 0) | capital
    if len(bare) == 1 and bare.isalpha() and not _IN_UNSPACED.match(bare) and not marks & Mark.FUNCTION:
        marks |= Mark.LETTER
    if bare in table.units and (not is_upper or bare in table.words["capitals"]):
        return [Item(word, table.units[bare], marks | Mark.UNIT)]
    return [Item(bare, stem(bare), marks)]


def _plain_figures(figures: str) -> list[Item]:
    """A short cut for plain numbers of a few figures."""
    figure_items = [Item(figures, "#" + (figures.lstrip("0") or "0"), Mark.NUMBER, float(figures))]
    return [*_footnoted(figures, figures), *figure_items] if len(figures) in (5, 6) else figure_items


def _footnoted(word: str, figures: str) -> list[Item]:
    """The year in a year with a footnote attached: 19841."""
    year = int(figures[:4])
    return [Item(word, f"#{year}", Mark.NUMBER | Mark.WEAK, float(year))] if is_year(year) else []


def _figures(word: str, figures: str, letters: str, table: Table) -> list[Item]:
    """A number in figures, and its letters as a unit if they are not an ordinal ending."""
    value, marks = read_number(figures), Mark.NUMBER
    if letters in _SCALES:
        value *= _SCALES[letters]
        letters = ""
    elif letters == "s":
        value += 1900 if value in _DECADES else 0
        marks |= Mark.DECADE if is_year(value) and value % 10 == 0 else 0
    figure_items = [number(value, word, marks)]
    if len(figures) in (5, 6) and figures.isdecimal():
        figure_items[:0] = _footnoted(word, figures)
    if letters and letters not in _ORDINAL_ENDINGS:
        figure_items.append(Item(letters, table.units.get(letters, letters), Mark.UNIT))
    return figure_items


def read_number(figures: str) -> float:
    """A number in figures: points and commas are thousands separators if possible, or else decimal points."""
    if figures.isdecimal():
        return float(figures)
    if _GROUPED.fullmatch(figures):
        separator = next(character for character in figures if not character.isdigit())
        whole, _, rest = figures.rpartition(separator)
        digits = rest.replace(",", ".").split(".")
        figures = whole.replace(separator, "") + digits[0] + ("." + digits[1] if len(digits) > 1 else "")
    elif figures.count(",") + figures.count(".") == 1:
        figures = figures.replace(",", ".")
    else:
        figures = figures.translate(_POINTS)
    try:
        return float(figures)
    except (OverflowError, ValueError):  # digits that float() can't read
        return math.nan


def as_numeral(item: Item) -> Item:
    """A letter after a name, read as a Roman numeral: World War I."""
    around = item.marks & (Mark.CAPITAL | Mark.CLAUSE | Mark.SENTENCE | Mark.ASKS)
    return number(_ROMAN_DIGITS[item.word.upper()], item.word, Mark.WEAK | around)


def _roman(letters: str) -> int:
    """The value of a Roman numeral of at least two letters; 0 for anything else."""
    if len(letters) < 2 or not _ROMAN.fullmatch(letters):
        return 0
    values = [_ROMAN_DIGITS[letter] for letter in letters]
    return sum(
        -value if value < following else value for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def _after(folded: str, last: Item, table: Table) -> int:
    """The marks for the punctuation after the last word."""
    if _ENDS.search(folded):
        initial = bool(last.marks & Mark.ACRONYM) or (len(last.word) == 1 and last.word.isalpha())
        if folded[-1:] == "." and (initial or last.word in table.words["untitled"]):
            return 0
        return Mark.SENTENCE | Mark.ASKS if _ASKS.search(folded) else Mark.SENTENCE
    return Mark.CLAUSE if _PAUSES.search(folded) else 0


def _tens_and_ones(values: Sequence[float]) -> list[float]:
    """Eighty and four, in a row, as one number."""
    merged: list[float] = []
    for value in values:
        if merged and merged[-1] >= 20 and merged[-1] % 10 == 0 and 0 < value < 10:
            merged[-1] += value
        else:
            merged.append(value)
    return merged


def together(parts: Sequence[Item]) -> list[Item]:
    """Consecutive numbers that mean one number, as one: `3 million`, `twenty one`, `nineteen ninety`."""
    parts = [item for item in parts if bool(item.marks & Mark.NUMBER)]
    values = [item.value for item in parts]
    spelled = [bool(item.marks & Mark.SPELLED) for item in parts]
    scale = [bool(item.marks & Mark.SCALE) for item in parts]
    word = " ".join(item.word for item in parts)
    around = parts[-1].marks & (Mark.CLAUSE | Mark.SENTENCE | Mark.ASKS)
    if not any(scale):
        merged = _tens_and_ones(values) if all(spelled) else values
        if len(merged) == 2 and all(spelled) and all(10 <= value < 100 for value in merged):
            merged = [merged[0] * 100 + merged[1]]  # nineteen eighty-four
        return [number(merged[0], word, Mark.NUMBER | around)] if len(merged) == 1 else parts
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
