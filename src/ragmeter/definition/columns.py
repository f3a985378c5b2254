"""What a derived column is: a function from columns to a column, with the settings that it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ragmeter import naming
from ragmeter.naming import Settings


@dataclass(frozen=True)
class Derived:
    """A column made from other columns."""

    name: str
    function: Callable[..., Any]
    inputs: tuple[str, ...]
    settings: tuple[str, ...]
    may_lack: frozenset[str] = frozenset()
    only_with: tuple[str, Any] | None = None

    def is_used(self, settings: Settings) -> bool:
        """Whether a metric with these settings is computed from it."""
        return self.only_with is None or settings.get(self.only_with[0]) == self.only_with[1]

    def own(self, settings: Settings) -> Settings:
        """The settings of this column, out of a metric's settings."""
        return {key: settings[key] for key in self.settings}


@dataclass(frozen=True)
class Several(Derived):
    """A column that a judge fills, under several settings: a mapping of names to columns of values, None where empty.

    `of` is its name, and `each` returns the settings by their names, out of a metric's settings.
    """

    of: str = ""
    each: Callable[[Settings], Mapping[str, Settings]] = lambda settings: {}


class Embedded(Derived):
    """A column of vectors that an embedding model fills before any metric runs."""

    def key(self, settings: Settings) -> str:
        """The column's name with its settings, such as `embeddings[model=wordllama]`."""
        return naming.render(self.name, {key: value for key, value in self.own(settings).items() if value is not None})


def signature_of(function: Callable[..., Any]) -> tuple[tuple[str, ...], Settings]:
    """The columns a function takes, and its settings with their defaults."""
    parameters = inspect.signature(function).parameters.values()
    inputs = tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
    settings = {p.name: (None if p.default is p.empty else p.default) for p in parameters if p.kind is p.KEYWORD_ONLY}
    return inputs, settings
