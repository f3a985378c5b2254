"""Categories of users and of questions in DataMorgana's form: names, descriptions and probabilities.

{"user_categories": [{"categorization_name": "expertise", "categories": [
    {"name": "novice", "description": "a regular user", "probability": 0.6}, ...]}],
 "question_categories": [...]}
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ragmeter.errors import InputError
from ragmeter.io.decoding import decode
from ragmeter.testsets.questions import Category

_LISTS = ("user_categories", "question_categories")
#: What the name of a group of categories may be called, as versions of the tool write it.
_GROUP_NAMES = ("categorization_name", "name")


@dataclass(frozen=True)
class Group:
    """A group of categories of which each question gets one."""

    name: str
    categories: tuple[Category, ...]
    probabilities: tuple[float, ...]

    def draw(self, rng: np.random.Generator) -> Category:
        """One of them, by their probabilities."""
        return self.categories[int(rng.choice(len(self.categories), p=self.probabilities))]


@dataclass(frozen=True)
class Categories:
    """Who asks, and in which manner."""

    users: tuple[Group, ...] = ()
    questions: tuple[Group, ...] = ()

    @property
    def groups(self) -> tuple[Group, ...]:
        """All groups."""
        return (*self.users, *self.questions)

    def draw(self, rng: np.random.Generator) -> tuple[tuple[Category, ...], tuple[Category, ...]]:
        """One category of each group: of the users, and of the questions."""
        return tuple(group.draw(rng) for group in self.users), tuple(group.draw(rng) for group in self.questions)


def read_categories(path: Path) -> Categories:
    """The categories of a file; an error that says what is missing where."""
    try:
        document = decode(path.read_text(encoding="utf-8-sig"), str(path))
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=str(path)) from None
    except UnicodeDecodeError as error:
        raise InputError(f"this is not UTF-8: {error.reason}", file=str(path)) from None
    if not isinstance(document, dict) or not any(document.get(name) for name in _LISTS):
        raise InputError(f"there should be a list {' or '.join(_LISTS)}", file=str(path))
    users, questions = (tuple(_groups(document.get(name) or [], f"{name}", str(path))) for name in _LISTS)
    groups = [group.name for group in (*users, *questions)]
    if twice := next((name for name in groups if groups.count(name) > 1), None):
        raise InputError(f"the group {twice!r} stands twice", file=str(path))
    return Categories(users, questions)


def _groups(entries: Any, where: str, file: str) -> Iterable[Group]:
    if not isinstance(entries, list):
        raise InputError(f"{where} should be a list", file=file)
    if entries and isinstance(entries[0], dict) and "categories" not in entries[0]:
        entries = [{"name": where.removesuffix("_categories"), "categories": entries}]  # a single group, without a name
    for number, entry in enumerate(entries):
        place = f"{where}[{number}]"
        categories = entry.get("categories") if isinstance(entry, dict) else None
        name = next((entry[key] for key in _GROUP_NAMES if entry.get(key)), None) if isinstance(entry, dict) else None
        if not isinstance(name, str) or not isinstance(categories, list) or not categories:
            raise InputError(f"{place} should have a name and a list of categories", file=file)
        yield _group(name, categories, place, file)


def _group(name: str, entries: list[Any], place: str, file: str) -> Group:
    categories, weights = [], []
    for number, entry in enumerate(entries):
        where = f"{place}.categories[{number}]"
        texts = [entry.get(key) for key in ("name", "description")] if isinstance(entry, dict) else [None]
        if not all(isinstance(text, str) and text.strip() for text in texts):
            raise InputError(f"{where} should have a name and a description", file=file)
        weight = entry.get("probability", 1 / len(entries))
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1:
            raise InputError(f"{where}.probability should be a number from 0 to 1, not {weight!r}", file=file)
        categories.append(Category(name, *texts))
        weights.append(float(weight))
    if not abs(sum(weights) - 1) < 0.01:
        raise InputError(f"the probabilities of {place} make {sum(weights):.3g}, not 1", file=file)  # noqa: RUF100
    total = sum(weights)
    return Group(name, tuple(categories), tuple(weight / total for weight in weights))
