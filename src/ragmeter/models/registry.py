"""Providers by the prefix of a model's name: `anthropic:NAME`, `gemini:NAME`, `openai:NAME` or a plain name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ragmeter.effects.endpoint import OPENAI, Endpoint, Vendor
from ragmeter.models.anthropic import ANTHROPIC, AnthropicProvider
from ragmeter.models.gemini import GEMINI, GeminiProvider
from ragmeter.models.http import HttpProvider
from ragmeter.models.openai import OpenAIProvider
from ragmeter.models.prices import Price
from ragmeter.table import JUDGE_ERROR

_ADAPTERS: dict[str, tuple[Vendor, type[HttpProvider]]] = {
    vendor.name: (vendor, adapter)
    for vendor, adapter in ((OPENAI, OpenAIProvider), (ANTHROPIC, AnthropicProvider), (GEMINI, GeminiProvider))
}
#: How the name of a model begins that says which wire format its server speaks.
PREFIXES = tuple(f"{name}:" for name in _ADAPTERS)


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
    """Where a model is asked, from its name. A colon after any other word belongs to the name (`llama3:8b`)."""
    prefix, colon, rest = model.partition(":")
    name, vendor = (rest, _ADAPTERS[prefix][0]) if colon and prefix in _ADAPTERS else (model, OPENAI)
    address = (name, base_url, api_key, timeout)
    return Endpoint.of(*address, vendor=vendor, headers=headers, api_version=api_version, asked_by=asked_by)


def open_provider(endpoint: Endpoint, price: Price | None = None, *, outcome: str = JUDGE_ERROR) -> HttpProvider:
    """The provider that speaks the endpoint's wire format. `outcome` is what a call that failed for good comes to."""
    return _ADAPTERS[endpoint.vendor.name][1](endpoint, price, outcome=outcome)
