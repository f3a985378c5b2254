"""The wire to any OpenAI-compatible endpoint: a request out, a reply or a typed failure back.

Servers differ in what they take. A parameter that one refuses by name is left out from then on, and `dropped` says so.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

from ragmeter.effects.caller import GiveUp, TryAgain
from ragmeter.effects.journal import Reply
from ragmeter.effects.pace import retry_after
from ragmeter.errors import EndpointError, MissingExtraError, UsageError
from ragmeter.io.write import dumps
from ragmeter.judges.prices import Price
from ragmeter.table import JUDGE_ERROR, TIMEOUT

OPENAI = "https://api.openai.com/v1"
_BIGGEST_REPLY = 8 << 20
_A_SECRET = 8  # a shorter key is a stopgap ("none", "test") and may well be a word of an answer
_PASSING = frozenset({408, 409, 425, 429})
_BUSY = frozenset({429, 503, 529})
#: What a server may refuse, and what to send in its place.
_OPTIONAL = {"response_format": None, "seed": None, "temperature": None, "max_tokens": "max_completion_tokens"}


class Secret:
    """A text that shows itself to nobody: it can't be joined, formatted or written as JSON, only revealed."""

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        self._text = text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "'***'"

    def reveal(self) -> str:
        """The text itself, for the one place that sends it."""
        return self._text


@dataclass(frozen=True)
class Endpoint:
    """Where to ask, which model, and with what key."""

    model: str
    base_url: str = OPENAI
    key: Secret = field(default_factory=Secret)
    timeout: float = 60.0

    @classmethod
    def of(cls, model: str, base_url: str | None = None, api_key: str | None = None, timeout: float = 60.0) -> Self:
        """What is not given is taken from OPENAI_BASE_URL and OPENAI_API_KEY."""
        url = (base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI).strip().rstrip("/")
        key = (api_key or os.environ.get("OPENAI_API_KEY") or "").strip()
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(
                f"{_public(url)!r} is not the address of an endpoint", hint="for example http://127.0.0.1:8000/v1"
            )
        if not model.strip():
            raise UsageError("the judge's model has no name", hint="for example --judge-model gpt-4o")
        if not key.isascii() or not key.isprintable():
            raise UsageError("the API key has characters that no key has", hint="look at OPENAI_API_KEY")
        return cls(model, url, Secret(key), timeout)

    def check_key(self) -> None:
        """Refuse to ask without a key where that can't work."""
        if not self.key and self.base_url == OPENAI:
            raise UsageError(
                "there is no key for the judge",
                hint="set OPENAI_API_KEY, name another endpoint with --base-url, "
                "or judge by exact match alone with --judge-model none",
            )

    @property
    def name(self) -> str:
        """The address as it may be written down: without what could be a password."""
        return _public(self.base_url)

    @property
    def loopback(self) -> bool:
        """Whether it is on this machine."""
        host = urlsplit(self.base_url).hostname or ""
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    def url(self, path: str) -> str:
        """The address of one of its services, before the query where there is one."""
        parts = urlsplit(self.base_url)
        return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path}"))


def _public(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


class ChatClient:
    """Sends chat requests. Use it as a context: it holds the connections."""

    def __init__(self, endpoint: Endpoint, price: Price | None = None) -> None:
        self.endpoint = endpoint
        self.price = price
        self.dropped: set[str] = set()
        self._url = endpoint.url("chat/completions")
        self._session: Any = None

    async def __aenter__(self) -> Self:
        aiohttp = _aiohttp()
        key = self.endpoint.key
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),  # the pace limits, nobody else
            timeout=aiohttp.ClientTimeout(total=self.endpoint.timeout),
            headers={"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key.reveal()}"} if key else {}),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=not self.endpoint.loopback,  # a proxy, where the environment names one
        )
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._session.close()

    async def send(self, messages: list[dict[str, str]], parameters: Mapping[str, Any]) -> Reply:
        """One chat completion. The reply's body is JSON: `content`, `finish_reason` and `refusal`."""
        given = {
            (_OPTIONAL[name] or name) if name in self.dropped else name: value
            for name, value in parameters.items()
            if name not in self.dropped or _OPTIONAL[name]
        }
        payload = {"model": self.endpoint.model, "messages": messages, **given}
        status, headers, text = await self._post(dumps(payload).encode("utf-8", "replace"))
        if status == 200:
            return self._read(text)
        if status in (400, 422) and (refused := _refused(text, given)):
            self.dropped.add(refused)
            raise TryAgain(JUDGE_ERROR, f"the server does not take {refused}", at_once=True)
        raise self._failure(status, headers, text)

    async def _post(self, body: bytes) -> tuple[int, Mapping[str, str], str]:
        aiohttp = _aiohttp()
        try:
            async with self._session.post(self._url, data=body, allow_redirects=False) as response:
                content = await response.content.read(_BIGGEST_REPLY)
                if not response.content.at_eof():
                    more = await response.content.read(1)
                    if more:
                        raise TryAgain(JUDGE_ERROR, "the reply is too long to be one", billed=True)
                return response.status, response.headers, content.decode("utf-8", "replace")
        except TimeoutError:
            raise TryAgain(TIMEOUT, f"no answer within {self.endpoint.timeout:g} s", billed=True) from None
        except aiohttp.ClientConnectorError as error:
            raise TryAgain(JUDGE_ERROR, f"can't connect to {self.endpoint.name}: {_reason(error)}") from None
        except (aiohttp.ClientError, OSError) as error:
            raise TryAgain(JUDGE_ERROR, f"the connection broke: {self._clean(_reason(error))}", billed=True) from None

    def _failure(self, status: int, headers: Mapping[str, str], text: str) -> TryAgain | GiveUp:
        said = _message(text)
        cause = self._clean(f"HTTP {status}" + (f": {said}" if said else ""))
        if status == 429 and "insufficient_quota" in text:
            return GiveUp(JUDGE_ERROR, cause, fatal=EndpointError(f"{self.endpoint.name}: {cause}"))
        if status in _PASSING or status >= 500:
            pause = retry_after(headers.get("Retry-After"))
            return TryAgain(JUDGE_ERROR, cause, overloaded=status in _BUSY, after=pause)
        hints = {
            401: "the key was not accepted: look at OPENAI_API_KEY",
            403: "the key may not use this model: look at OPENAI_API_KEY and --judge-model",
            404: "there is no such model or address: look at --judge-model and --base-url",
        }
        hint = hints.get(status, "")
        fatal = EndpointError(f"{self.endpoint.name} answered {cause}", hint=hint) if hint or status < 400 else None
        return GiveUp(JUDGE_ERROR, cause, fatal=fatal)

    def _read(self, text: str) -> Reply:
        """What the server said, if it is a chat completion at all."""
        try:
            document = json.loads(text)
            choice = document["choices"][0]
            message = choice["message"]
            content = _text(message.get("content"))
            kept = {
                "content": self._clean(content) if content is not None else None,
                "finish_reason": choice.get("finish_reason"),
                "refusal": message.get("refusal") or None,
            }
            usage = document.get("usage") or {}
            asked, answered = (_count(usage.get(f"{kind}_tokens")) for kind in ("prompt", "completion"))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
            raise TryAgain(
                JUDGE_ERROR, f"the reply is not a chat completion: {type(error).__name__}", billed=True
            ) from None
        cost = self.price.of(asked, answered) if self.price and asked is not None and answered is not None else None
        return Reply(dumps(kept), asked, answered, cost)

    def _clean(self, text: str) -> str:
        """The text without the key, should a server say it back to us."""
        key = self.endpoint.key.reveal()
        return text.replace(key, "***") if len(key) >= _A_SECRET else text


def _refused(text: str, sent: Mapping[str, Any]) -> str:
    """The optional parameter that a server does not take, if that is what its error says."""
    for name in _OPTIONAL:
        if name in sent and (re.search(rf"\b{name}\b", text) or (name == "response_format" and "json_schema" in text)):
            return name
    return ""


def _text(content: Any) -> str | None:
    if content is None or isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _message(text: str) -> str:
    """The words in an error's body, in one line and not too many."""
    try:
        document = json.loads(text)
        error = document.get("error", document) if isinstance(document, dict) else document
        text = str(error.get("message", error) if isinstance(error, dict) else error)
    except (ValueError, RecursionError):
        text = re.sub(r"<[^>]*>", " ", text)
    return " ".join(text.split())[:200]


def _reason(error: BaseException) -> str:
    inner = getattr(error, "os_error", None)
    return (getattr(inner, "strerror", None) or getattr(error, "strerror", None) or str(error)) or type(error).__name__


def _aiohttp() -> Any:
    try:
        import aiohttp
    except ImportError:
        raise MissingExtraError("asking a model", "http") from None
    return aiohttp
