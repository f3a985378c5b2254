"""From what a user names to a target: an address, a model, a dotted path, a function, or an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragmeter.errors import UsageError
from ragmeter.targets.port import Target
from ragmeter.targets.python import PythonTarget

MODEL = "openai:"
_PATHS = ("answer", "retrieved", "contexts", "latency", "conversation", "delta")
#: The options of an address, and those of a model.
ADDRESS_OPTIONS = ("request", "method", "headers", *(f"{name}_path" for name in _PATHS))
MODEL_OPTIONS = ("base_url", "max_tokens", "prices")


def open_target(target: Any, *, timeout: float = 60.0, **options: Any) -> Target:
    """A target of whatever kind, ready to be asked.

    An address (`http://...`) takes `request`, `method`, `headers` ("NAME: VALUE", with $VARIABLE from the environment)
    and `answer_path`, `retrieved_path`, `contexts_path`, `latency_path`, `conversation_path`, `delta_path`; a model
    (`openai:NAME`) takes `base_url`, `max_tokens` and `prices`. Everything else is Python, and takes none.
    """
    given = {name: value for name, value in options.items() if value is not None}
    known: tuple[str, ...] = ()
    if isinstance(target, str):
        known = MODEL_OPTIONS if target.startswith(MODEL) else ADDRESS_OPTIONS if "://" in target else ()
    for name in given:
        if name not in known:
            hint = f"there are {', '.join(known)}" if known else "only addresses and models have options"
            raise UsageError(f"{name} has no effect on {target}", hint=hint)
    if isinstance(target, str):
        if target.startswith(MODEL):
            return _model(target.removeprefix(MODEL), timeout, given)
        return _address(target, timeout, given) if "://" in target else PythonTarget.load(target, timeout)
    if all(hasattr(type(target), name) for name in ("answer", "signature", "identity", "__aenter__")):
        opened: Target = target
        return opened
    return PythonTarget.of(target, timeout)


def _address(url: str, timeout: float, options: Mapping[str, Any]) -> Target:
    from ragmeter.targets.http import HttpTarget, Paths
    from ragmeter.targets.json_path import Path, read_request

    request = options.get("request")
    headers = options.get("headers", ())
    if isinstance(headers, Mapping):
        headers = [f"{name}: {value}" for name, value in headers.items()]
    return HttpTarget(
        url,
        request=read_request(request) if isinstance(request, str) else request,
        method=options.get("method", "POST"),
        headers=headers,
        paths=Paths(**{name: Path.parse(options[f"{name}_path"]) for name in _PATHS if f"{name}_path" in options}),
        timeout=timeout,
    )


def _model(name: str, timeout: float, options: Mapping[str, Any]) -> Target:
    from ragmeter.effects.endpoint import Endpoint
    from ragmeter.judges.prices import price_of, read_prices
    from ragmeter.targets.model import ModelTarget

    prices = options.get("prices")
    price = price_of(name, None if prices is None else read_prices(prices))
    endpoint = Endpoint.of(name, options.get("base_url"), None, timeout)
    return ModelTarget(endpoint, price, max_tokens=options.get("max_tokens", 1024))
