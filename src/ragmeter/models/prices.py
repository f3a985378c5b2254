"""What models cost, in US dollars for a million tokens. A user's own table goes before ours."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragmeter.effects.network.vendors import split_model
from ragmeter.errors import InputError

#: When the table below was last looked at.
AS_OF = "2025-10"
_TABLE = {
    "gpt-4o": (2.50, 10.00),
    "gpt-4o-2024-05-13": (5.00, 15.00),
    "gpt-4o-mini": (0.15, 0.60),
    "gpt-4.1": (2.00, 8.00),
    "gpt-4.1-mini": (0.40, 1.60),
    "gpt-4.1-nano": (0.10, 0.40),
    "gpt-5": (1.25, 10.00),
    "gpt-5-mini": (0.25, 2.00),
    "gpt-5-nano": (0.05, 0.40),
    "o3": (2.00, 8.00),
    "o4-mini": (1.10, 4.40),
    # For prompts of up to 200,000 tokens, where longer ones cost more.
    "claude-opus-4-1": (15.00, 75.00),
    "claude-sonnet-4-5": (3.00, 15.00),
    "claude-sonnet-4": (3.00, 15.00),
    "claude-haiku-4-5": (1.00, 5.00),
    "claude-3-5-haiku": (0.80, 4.00),
    "claude-3-haiku": (0.25, 1.25),
    "gemini-2.5-pro": (1.25, 10.00),
    "gemini-2.5-flash": (0.30, 2.50),
    "gemini-2.5-flash-lite": (0.10, 0.40),
}
_DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8})$")
_FORM = '{"my-model": {"input": 0.5, "output": 1.5}}, in dollars for a million tokens'


@dataclass(frozen=True)
class Price:
    """Dollars for a million tokens; `as_of` is when our own table was last looked at, empty for a user's price."""

    input: float
    output: float
    as_of: str = field(default="", compare=False)

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """What that many tokens cost."""
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1e6


def price_of(model: str, own: Mapping[str, Price] | None = None) -> Price | None:
    """The price of a model, or of the one that it is a dated version of; None where nobody has said it."""
    known = {name: Price(*both, AS_OF) for name, both in _TABLE.items()} | dict(own or {})
    names = (model, _DATED.sub("", model), bare := split_model(model)[1], _DATED.sub("", bare))
    return next((known[name] for name in names if name in known), None)


def read_prices(path: str | Path) -> dict[str, Price]:
    """A user's table from a JSON file."""
    name = str(path)
    try:
        table = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=name) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is not JSON: {error}", file=name, hint=f"it should look like {_FORM}") from None
    if not isinstance(table, dict):
        raise InputError("a table of prices is an object", file=name, hint=f"it should look like {_FORM}")
    return {model: _price(model, entry, name) for model, entry in table.items()}


def _price(model: str, entry: Any, name: str) -> Price:
    prices = [entry.get(side) for side in ("input", "output")] if isinstance(entry, dict) else [None]
    if not all(isinstance(x, int | float) and not isinstance(x, bool) and 0 <= x < math.inf for x in prices):
        raise InputError(f"the price of {model!r} is not a pair of numbers", file=name, hint=f"for example {_FORM}")
    return Price(float(entry["input"]), float(entry["output"]))
