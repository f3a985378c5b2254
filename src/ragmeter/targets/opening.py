"""Targets from what a user names, by a registry of kinds: an address, a model, a dotted path, or an object.

A package can bring another kind as an entry point in the group `ragmeter.targets` (`ragmeter.registry.Kind`).
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

from ragmeter.effects.network.vendors import OPENAI, VENDORS, Vendor
from ragmeter.errors import UnknownNameError, UsageError, did_you_mean
from ragmeter.hints import by_caller, parameter
from ragmeter.naming import Settings
from ragmeter.registry import Kind, find_kind
from ragmeter.targets.port import Target
from ragmeter.targets.python import PythonTarget

_GROUP = "ragmeter.targets"
_PATHS = ("answer", "retrieved", "contexts", "latency", "conversation", "delta")


def open_target(target: Any, *, timeout: float = 60.0, **options: Any) -> Target:
    """A target of whatever kind, ready to be asked.

    Args:
        target: an address (`http://...`), a model (`openai:NAME`, `anthropic:NAME`, `gemini:NAME`), a dotted path, or a
            Python object.
        timeout: seconds for each question.
        options: for an address `request`, `method`, `headers` ("NAME: VALUE", with $VARIABLE from the environment),
            `answer_path`, `retrieved_path`, `contexts_path`, `latency_path`, `conversation_path` and `delta_path`; for
            a model `base_url`, `headers`, `api_version`, `max_tokens` and `prices`. Python takes none.
    """
    kind = kind_of(target)
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in kind.options:
            if isinstance(kind, _Python):
                _check_prefix(target)
            known = ", ".join(map(_parameter, kind.options))
            hint = f"there are {known}" if known else "only addresses and models have options"
            raise UsageError(f"{_parameter(name)} has no effect on {target}", hint=f"leave it out: {hint}")
    return kind.open(target, {"timeout": timeout, **given})


def kind_of(target: Any) -> Kind[Target]:
    """The kind that opens what the user named."""
    return find_kind(target, KINDS, _GROUP)


#: A host with a port or a path: 127.0.0.1:8000/q, localhost:8000, rag.example.com/query.
_ADDRESS = re.compile(r"\w[\w.-]*:\d{2,5}(/.*)?|(localhost|\w[\w-]*(\.[\w-]+)+)/.*(?<!\.py)")
#: A model as its vendor calls it, or as a local server does: gpt-4o, qwen2.5:7b.
_MODEL = re.compile(r"[A-Za-z][\w.]*-[\w.-]*|[A-Za-z][\w.-]*:(\d+[A-Za-z][\w.-]*|latest)")


def _check_prefix(given: Any) -> None:
    """Refuse `opnai:NAME`, `ftp://...`, an address without http:// and a model without its kind: none is a module."""
    if isinstance(given, str) and _ADDRESS.fullmatch(given):
        raise UsageError(f"{given!r} is not the path of a target", hint=f"if it is an address, write http://{given}")
    if isinstance(given, str) and _MODEL.fullmatch(given):
        kind = next((v.prefix for v in VENDORS.values() if given.lower().startswith(v.family)), OPENAI.prefix)
        raise UsageError(f"{given!r} is not the path of a target", hint=f"if it is a model, write {kind}{given}")
    prefix, _, rest = given.partition(":") if isinstance(given, str) else ("", "", "")
    prefixes = [kind.prefix for kind in KINDS if kind.prefix]
    misspelt = prefix.isidentifier() and did_you_mean(f"{prefix}:", prefixes) and find_spec(prefix) is None
    if misspelt or rest.startswith("//"):
        hint = "write http://..., openai:MODEL, or package.module:name"
        raise UnknownNameError("kind of target", f"{prefix}:", prefixes, hint=hint) from None


def _parameter(name: str) -> str:
    return by_caller("--header", name) if name == "headers" else parameter(name)


class _Opened(Kind[Target]):
    """A target that is one already."""

    def opens(self, given: Any) -> bool:
        return isinstance(given, Target)

    def open(self, given: Any, settings: Settings) -> Target:
        target: Target = given
        return target


class _Model(Kind[Target]):
    """A chat model without retrieval: `openai:NAME`, `anthropic:NAME` or `gemini:NAME`."""

    options = ("base_url", "headers", "api_version", "max_tokens", "prices")

    def __init__(self, vendor: Vendor) -> None:
        self.prefix = vendor.prefix

    def open(self, given: Any, settings: Settings) -> Target:
        from ragmeter.models.prices import price_of, read_prices
        from ragmeter.models.registry import endpoint_of
        from ragmeter.targets.model import ModelTarget

        prices = settings.get("prices")
        price = price_of(given, None if prices is None else read_prices(prices))
        endpoint = endpoint_of(
            given,
            settings.get("base_url"),
            timeout=settings["timeout"],
            headers=settings.get("headers", ()),
            api_version=settings.get("api_version"),
        )
        return ModelTarget(endpoint, price, max_tokens=settings.get("max_tokens", 1024))


class _Address(Kind[Target]):
    """A server: `http://...` or `https://...`."""

    prefix = "http://"
    options = ("request", "method", "headers", *(f"{name}_path" for name in _PATHS))

    def opens(self, given: Any) -> bool:
        return isinstance(given, str) and given.lower().startswith(("http://", "https://"))

    def open(self, given: Any, settings: Settings) -> Target:
        from ragmeter.targets.http import HttpTarget, Paths
        from ragmeter.targets.json_path import JsonPath, read_request

        request = settings.get("request")
        paths = {name: JsonPath.parse(settings[f"{name}_path"]) for name in _PATHS if f"{name}_path" in settings}
        return HttpTarget(
            given,
            request=read_request(request) if isinstance(request, str) else request,
            method=settings.get("method", "POST"),
            headers=settings.get("headers", ()),
            paths=Paths(**paths),
            timeout=settings["timeout"],
        )


class _Python(Kind[Target]):
    """A dotted path, a function, or an object that can be asked: whatever no other kind opens."""

    def open(self, given: Any, settings: Settings) -> Target:
        if not isinstance(given, str):
            return PythonTarget.of(given, settings["timeout"])
        try:
            return PythonTarget.load(given, settings["timeout"])
        except UsageError:
            _check_prefix(given)
            raise


#: The kinds that come with ragmeter; the last one takes what no other and no plugin opens.
KINDS: tuple[Kind[Target], ...] = (
    _Opened(),
    *map(_Model, VENDORS.values()),
    _Address(),
    _Python(),
)
