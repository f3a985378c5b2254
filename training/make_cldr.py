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
from babel.numbers import get_currency_name
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
#: What can be measured in several units: how much of the dimension each unit is.
MEASURES: dict[str, dict[str, float]] = {
    "time": {
        "duration-second": 1, "duration-minute": 60, "duration-hour": 3600, "duration-day": 86400,
        "duration-week": 604800, "duration-month": 2592000, "duration-year": 31104000,
    },
    "mass": {
        "mass-microgram": 1e-6, "mass-milligram": 1e-3, "mass-gram": 1, "mass-kilogram": 1e3, "mass-tonne": 1e6,
        "mass-pound": 453.59237, "mass-ounce": 28.349523125,
    },
    "length": {
        "length-millimeter": 1e-3, "length-centimeter": 1e-2, "length-meter": 1, "length-kilometer": 1e3,
        "length-inch": 0.0254, "length-foot": 0.3048, "length-yard": 0.9144, "length-mile": 1609.344,
    },
    "volume": {"volume-milliliter": 1e-3, "volume-centiliter": 1e-2, "volume-liter": 1, "volume-gallon": 3.785411784},
    "data": {
        "digital-byte": 1, "digital-kilobyte": 1e3, "digital-megabyte": 1e6, "digital-gigabyte": 1e9,
        "digital-terabyte": 1e12,
    },
    "power": {"power-watt": 1, "power-kilowatt": 1e3, "power-megawatt": 1e6, "power-gigawatt": 1e9},
    "share": {"concentr-percent": 0.01},
}  # fmt: skip
#: What the names of money end in, without the country: dollars, libras.
CURRENCIES = (
    "USD", "EUR", "GBP", "JPY", "CNY", "CHF", "INR", "RUB", "TRY", "SEK", "PLN", "CZK", "HUF", "BRL", "MXN", "KRW",
)  # fmt: skip
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
        lists |= {"measures": measures(locale), "money": money(locale), "weekdays": weekdays(locale)}
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


def measures(locale: Locale) -> str:
    """The names of units, each with its dimension and how much of it one is."""
    sizes: dict[str, str] = {}
    for dimension, of_units in MEASURES.items():
        for unit, size in of_units.items():
            forms = [format_unit(number, unit, "long", locale=locale) for number in _NUMBERS]
            for word in _single(_NO_WORD.sub("", form) for form in forms):
                sizes.setdefault(word, f"{dimension}:{size:.12g}")
    return f'"{" ".join(f"{word}={size}" for word, size in sizes.items())}"' if sizes else ""


def money(locale: Locale) -> str:
    """The words for money: of several words those that several currencies have, or that stand first or last."""
    groups = []
    for code in CURRENCIES:
        forms = [get_currency_name(code, count=number, locale=locale) for number in (1, 2, 5)]
        words = _single(word for form in forms for word in (form.split()[0], form.split()[-1]))
        groups.append([word for word in words if not any(word.startswith(name) for name in _adjectives(locale))])
    return _quoted([group for group in groups if group])


def _adjectives(locale: Locale) -> set[str]:
    """The beginnings of the names of countries and languages, which stand beside those of money: US, brasileño."""
    names = [*(locale.territories.get(code[:2], "") for code in CURRENCIES), *locale.languages.values(), "us", "uk"]
    return {plain(name)[:_SAME_BEGINNING] for name in names if name} | {"esterl", "sterling"}


def weekdays(locale: Locale) -> str:
    """Seven groups of names, from Monday on."""
    names = locale.days["format"]["wide"]
    return _quoted([_single([names[day]]) for day in range(7)])


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
