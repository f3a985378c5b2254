"""Columns that a judge fills: what they are, and how they are declared. `judges/` has them, one file for each.

    verdict = asked("verdict", words="... {question} ... {reference} ... {answer} ...", form=Choice(...))

Declaring one asks nothing: the engine fills it, through `effects/`, when a metric needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ragmeter import naming

#: What has been declared so far, by name.
ASKED: dict[str, Asked] = {}

#: A column that the words for a model show: `{answer}`.
FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Form(Protocol):
    """How a model shall reply, and the strict reading of its reply. `sent` is what it was shown."""

    def instruction(self, *, reasons: bool) -> str:
        """What the model is told about the form of its reply."""

    def response_format(self, *, reasons: bool) -> dict[str, Any] | None:
        """The same for a server that can hold its model to a form."""

    def read(self, reply: str, sent: Mapping[str, str]) -> dict[str, str] | None:
        """The values of the filled columns, the first of them by the name "value"; None if the reply can't be read."""

    def probability(self, logprobs: Mapping[str, float]) -> float | None:
        """The probability of the higher value, from the log-probabilities of the first token."""


@dataclass(frozen=True)
class Asked:
    """A column that a judge fills, one row at a time.

    `words` is what the model is asked, with a `{field}` for each column that it is shown; those in `optional` may be
    empty. `fills` are the columns that a reply fills: the value itself, then the reason, who decided, and how probable
    the value is. A row for which `known` returns a value needs no model. `configure` says what of all this a setting
    changes.
    """

    name: str
    words: str
    form: Form
    fills: tuple[str, ...]
    optional: frozenset[str] = frozenset()
    settings: Mapping[str, Any] = field(default_factory=dict)
    known: Callable[[Mapping[str, Any]], str | None] | None = None
    configure: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that the model is shown."""
        return tuple(dict.fromkeys(FIELD.findall(self.words)))

    @property
    def required(self) -> list[str]:
        """Those without which a row can't be judged."""
        return [name for name in self.needs if name not in self.optional]


@dataclass(frozen=True)
class AskedColumn:
    """An asked column with settings, and the columns of the table that it fills."""

    asked: Asked
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, node: Asked, settings: Mapping[str, Any]) -> AskedColumn:
        """With those of the settings that the column has."""
        own = {key: settings.get(key, default) for key, default in node.settings.items()}
        return cls(node if node.configure is None else replace(node, **node.configure(own)), own)

    @property
    def name(self) -> str:
        """The column's name in the table."""
        return self.column(self.asked.name)

    def column(self, filled: str) -> str:
        """The name in the table of one of the columns that are filled."""
        changed = {key: value for key, value in self.settings.items() if value != self.asked.settings[key]}
        return naming.render(filled, changed)


def asked(
    name: str,
    *,
    words: str,
    form: Form,
    fills: Iterable[str] = (),
    optional: Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
    known: Callable[[Mapping[str, Any]], str | None] | None = None,
    configure: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None,
) -> Asked:
    """Declare a column that a judge fills: what a model is asked, and how its reply is read. See `Asked`."""
    node = Asked(name, words, form, (name, *fills), frozenset(optional), dict(settings or {}), known, configure)
    ASKED[name] = node
    return node
