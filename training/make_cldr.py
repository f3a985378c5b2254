"""Makes `cldr.toml` from CLDR data: months, number words that multiply, units, and countries with their languages.

`python training/make_cldr.py`, with Babel, which nothing else needs. The names are folded as the judge folds texts.
What CLDR does not have (abbreviations, the numbers from 0 to 99, function words) is in `words.toml`, by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import babel
from babel import Locale
from babel.languages import get_official_languages
from babel.localedata import exists
from babel.units import format_unit

from ragmeter.metrics.normalize import known_languages
from ragmeter.metrics.offline.reading.tables import plain

OUTPUT = Path(__file__).parent.parent / "src" / "ragmeter" / "metrics" / "offline" / "reading" / "cldr.toml"
#: The units that the judge knows, by the name that stands for all spellings.
UNITS = {
    "kilometer": "length-kilometer", "meter": "length-meter", "centimeter": "length-centimeter",
    "millimeter": "length-millimeter", "mile": "length-mile", "foot": "length-foot", "inch": "length-inch",
    "kilogram": "mass-kilogram", "pound": "mass-pound", "hour": "duration-hour", "minute": "duration-minute",
    "second": "duration-second", "year": "duration-year", "degree": "angle-degree", "percent": "concentr-percent",
}  # fmt: skip
_NUMBERS = (0, 1, 2, 3, 5, 11, 100, 1.5)  # one for each form of number that languages have
_NO_WORD = re.compile(r"[\d.,'%\s\u200e\u200f]+")
_SAME_BEGINNING = 4  # letters that a country and its language have in common: Frankreich, Französisch


def main() -> None:
    """Write the file."""
    lines = [
        f"# Made by training/make_cldr.py from CLDR, with Babel {babel.__version__}: Unicode License v3,",
        "# https://www.unicode.org/license.txt. Don't change it by hand; words.toml has what is added to it.",
    ]
    for language in sorted(code for code in known_languages() if len(code) == 2 and exists(code)):
        locale = Locale(language)
        lists = {"months": months(locale), "scales": scales(locale), "units": units(locale), "kin": kin(locale)}
        lines += ["", f"[{language}]", *(f"{name} = {words}" for name, words in lists.items() if words)]
    OUTPUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(OUTPUT)


def _single(names: Iterable[str]) -> list[str]:
    """The distinct names of one word, folded."""
    folded = [plain(name).strip(". ") for name in names]
    return list(dict.fromkeys(name for name in folded if len(name) > 1 and name.isalpha()))


def months(locale: Locale) -> str:
    """Twelve groups of names; nothing where months are numbered."""
    forms = [locale.months[use]["wide"] for use in ("stand-alone", "format")]
    return _quoted([_single(form[month] for form in forms) for month in range(1, 13)])


def scales(locale: Locale) -> str:
    """Words for thousand, million and so on, each with its value."""
    values: dict[str, float] = {}
    for by_power in locale.compact_decimal_formats.get("long", {}).values():
        for power, pattern in by_power.items():
            value = float(power) / 10 ** (pattern.pattern.count("0") - 1)
            if len(pattern.pattern.split()) == 2:  # "0 million", not "0 mil millones"
                values |= dict.fromkeys(_single([_NO_WORD.sub("", pattern.pattern)]), value)
    pairs = ", ".join(f'"{word}" = {value:.0f}' for word, value in values.items() if value >= 1000)
    return pairs and f"{{ {pairs} }}"


def units(locale: Locale) -> str:
    """The full names of the units, in all forms of number."""
    groups = []
    for name, unit in UNITS.items():
        forms = [format_unit(number, unit, "long", locale=locale) for number in _NUMBERS]
        if words := _single(_NO_WORD.sub("", form) for form in forms):
            groups.append([name, *(word for word in words if word != name)])
    return _quoted(groups)


def kin(locale: Locale) -> str:
    """Countries with the language that is named after them."""
    groups: list[list[str]] = []
    for territory, name in sorted(locale.territories.items()):
        country = _single([name])
        if country and len(territory) == 2:
            codes = get_official_languages(territory, de_facto=True)
            tongues = [word for word in _single(locale.languages.get(code, "") for code in codes) if word != country[0]]
            related = [word for word in tongues if _beginning(word) == _beginning(country[0])]
            if related and not any(word in group for group in groups for word in (*country, *related)):
                groups.append([country[0], *related])
    return _quoted(groups)


def _beginning(word: str) -> str:
    return word.removeprefix("ال")[:_SAME_BEGINNING]


def _quoted(groups: list[list[str]]) -> str:
    return f'"{" ".join(map("|".join, groups))}"' if groups and all(groups) else ""


if __name__ == "__main__":
    main()
