"""Providers by the prefix of a model's name: `anthropic:NAME`, `gemini:NAME`, `openai:NAME` or a plain name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from ragmeter.effects.network.endpoint import Endpoint
from ragmeter.effects.network.vendors import ANTHROPIC, GEMINI, OPENAI, Vendor, split_model
from ragmeter.errors import UsageError
from ragmeter.models.anthropic import AnthropicProvider
from ragmeter.models.gemini import GeminiProvider
from ragmeter.models.http import HttpProvider
from ragmeter.models.openai import OpenAIProvider
from ragmeter.models.prices import Price
from ragmeter.table import JUDGE_ERROR

#: Who speaks the wire format of each vendor.
ADAPTERS: dict[Vendor, type[HttpProvider]] = {
    OPENAI: OpenAIProvider,
    ANTHROPIC: AnthropicProvider,
    GEMINI: GeminiProvider,
}


def split_address(model: str) -> tuple[str, str | None, str | None]:
    """The name, the address and the key of `NAME@URL#VARIABLE`; a name alone has neither address nor key.

    A server of its own gets no key but that in its own variable, so that none goes to a server that it is not for.
    """
    name, _, rest = model.partition("@http")
    if name.startswith(("http://", "https://")):
        raise UsageError("a model's name is missing before its address", hint="write NAME@http://127.0.0.1:8000/v1")
    if not rest:
        return name, None, None
    address, hash_sign, variable = rest.partition("#")
    if not hash_sign:
        return name, f"http{address}", ""
    key = os.environ.get(variable, "") if re.fullmatch(r"[A-Za-z_]\w*", variable) else ""
    if not key:
        raise UsageError(
            f"the address of {name} names a variable for its key that the environment does not have",
            hint="after # comes the variable's name, never the key: NAME@https://HOST/v1#MY_KEY",
        )
    return name, f"http{address}", key


def endpoint_of(
    model: str,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float = 60.0,
    *,
    headers: Iterable[str] | Mapping[str, str] = (),
    api_version: str | None = None,
    asked_by: str = "",
) -> Endpoint:
    """Where a model is asked, from its name."""
    vendor, name = split_model(model)
    address = (name, base_url, api_key, timeout)
    return Endpoint.of(*address, vendor=vendor, headers=headers, api_version=api_version, asked_by=asked_by)


def open_provider(endpoint: Endpoint, price: Price | None = None, *, outcome: str = JUDGE_ERROR) -> HttpProvider:
    """The provider that speaks the endpoint's wire format. `outcome` is what a call that failed for good comes to."""
    return ADAPTERS[endpoint.vendor](endpoint, price, outcome=outcome)
