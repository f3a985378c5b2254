"""Where a model is asked: whose wire format, which address and model, and with which key and headers."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ragmeter.effects.keys.headers import Secret, read_headers
from ragmeter.effects.network.vendors import OPENAI, Vendor
from ragmeter.effects.network.wire import Wire, check_address, load_aiohttp
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller, option, parameter
from ragmeter.io.addresses import public
from ragmeter.naming import Signature

#: The options for headers, by what the options of those who ask begin with; embedding models have none.
_HEADERS = {"": (by_caller("--header", "headers=..."),), "judge": (by_caller("--judge-header", "headers=..."),)}
#: So many times the time limit a server of models may take, once it has exceeded it.
_PATIENCE = 4
#: Headers that say who asks. What a model replies does not depend on them.
_CREDENTIALS = frozenset({"authorization", "api-key", "x-api-key", "x-goog-api-key"})


@dataclass(frozen=True)
class Endpoint:
    """Where to ask, which model, and with which key and headers. Its repr shows neither key nor values."""

    model: str
    base_url: str = field(default=OPENAI.base_url, repr=False)  # its query may hold a key
    key: Secret = field(default_factory=Secret)
    timeout: float = 60.0
    vendor: Vendor = OPENAI
    headers: Mapping[str, Secret] = field(default_factory=dict, hash=False)
    api_version: str = ""
    asked_by: str = field(default="", repr=False, compare=False)

    @classmethod
    def of(
        cls,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        *,
        vendor: Vendor = OPENAI,
        headers: Iterable[str] | Mapping[str, str] = (),
        api_version: str | None = None,
        asked_by: str = "",
    ) -> Self:
        """What is not given is taken from the vendor's variables in the environment, or is the vendor's own. An empty
        `api_key` is given: there is none.

        `headers` are `Name: value` texts or a mapping; `$NAME` in a value is taken from the environment. `asked_by` is
        how the options begin that name all this: `judge` has `--judge-base-url`.
        """
        url = (base_url or os.environ.get(vendor.url_variable) or vendor.base_url).strip().rstrip("/")
        variables = [os.environ.get(name) for name in vendor.key_variables]
        key = (next(filter(None, variables), "") if api_key is None else api_key).strip()
        version = (api_version or vendor.api_version).strip()
        check_address(
            url, "http://127.0.0.1:8000/v1", " or ".join((*vendor.key_variables, *_HEADERS.get(asked_by, ())))
        )
        if not model.strip():
            raise UsageError("the model has no name", hint="for example gpt-4o")
        if not key.isascii() or not key.isprintable():
            names = " or ".join(vendor.key_variables)
            raise UsageError("the API key has characters that are not allowed in a header", hint=f"check {names}")
        if not re.fullmatch(r"[\w.-]*", version):
            raise UsageError(
                f"{parameter('api_version', of=asked_by)} is not a version: {version!r}", hint="for example 2024-10-21"
            )
        return cls(model, url, Secret(key), timeout, vendor, read_headers(headers), version, asked_by)

    def check(self) -> None:
        """Refuse to begin where it can't work: without the library, or without a key for the vendor's own address."""
        load_aiohttp()
        if not self.key and not self._key_headers() and self.base_url == self.vendor.base_url:
            raise UsageError(
                f"there is no key for {self.model}",
                hint=f"set {self.key_source}, or name another endpoint with {option('base_url', of=self.asked_by)}",
            )

    @property
    def name(self) -> str:
        """The address as it may be written down: without what could be a password."""
        return public(self.base_url)

    @property
    def key_source(self) -> str:
        """Where the key comes from, for messages."""
        headers = self._key_headers()
        return f"the header {headers[0]}" if headers else " or ".join(self.vendor.key_variables)

    def _key_headers(self) -> list[str]:
        return [name for name in self.headers if name.lower() in _CREDENTIALS]

    def signature(self) -> Signature:
        """What replies depend on and may be written down. Only what is out of the ordinary is added to two keys."""
        shown: dict[str, object] = {"model": self.model, "endpoint": self.name}
        if self.vendor != OPENAI:
            shown["provider"] = self.vendor.name
        if self.api_version:
            shown["api_version"] = self.api_version
        if names := self._other_headers():
            shown["headers"] = names
        return shown

    def _other_headers(self) -> list[str]:
        """The names of the headers that are no keys."""
        return sorted(set(self.headers) - set(self._key_headers()))

    def digests(self) -> dict[str, str]:
        """What replies depend on and may not be written down as it is: the whole address, and headers' values.

        A value from the environment is a secret, which may change while the system stays the same: it is left out.
        """
        headers = {name: self.headers[name] for name in self._other_headers()}
        written = {name: value.reveal() for name, value in headers.items() if not value.from_environment}
        return {"url": digest(self.base_url)} | ({"headers": digest(written)} if written else {})

    def wire(self, outcome: str, headers: Mapping[str, str] | None = None) -> Wire:
        """Connections to it, with its key and its headers; `headers` are more of them, which are no secrets."""
        own = {name.lower() for name in self.headers}
        sent: dict[str, Secret | str] = {
            name: value for name, value in (headers or {}).items() if name.lower() not in own
        }
        sent |= self.headers
        if self.key and not self._key_headers():
            sent[self.vendor.key_header] = Secret(self.vendor.key_prefix + self.key.reveal())
        return Wire(self.base_url, outcome=outcome, timeout=self.timeout, headers=sent, patience=_PATIENCE)

    def url(self, path: str, query: Mapping[str, str] | None = None) -> str:
        """The address of one of its services. `query` is added to the address's own, and goes before it."""
        parts = urlsplit(self.base_url)
        together = parts.query
        if query:
            own = [(name, value) for name, value in parse_qsl(parts.query, True) if name not in query]
            together = urlencode([*own, *query.items()])
        return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path}", query=together))


#: One for all: `json.dumps` would make a new one for each.
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def digest(value: Any) -> str:
    """A hash of a JSON document, the same on every machine."""
    return hashlib.sha256(_CANONICAL.encode(value).encode()).hexdigest()
