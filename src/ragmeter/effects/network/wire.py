"""HTTP connections to servers: send a request, return the response, or raise a typed failure.

What is sent, and what a response means, is up to the adapters. Whether a failure may pass is decided here, from the
status, the connection or the timeout.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Self, TypeVar
from urllib.parse import parse_qsl, urlsplit

from ragmeter.effects.keys.headers import Secret, password_of
from ragmeter.effects.keys.redaction import Cleaner
from ragmeter.effects.limits.caller import GiveUp, TryAgain
from ragmeter.effects.limits.pace import retry_after
from ragmeter.effects.network.body import ENCODINGS, UnreadableError, read_lines, read_text
from ragmeter.errors import EndpointError, MissingExtraError, UsageError
from ragmeter.io.addresses import public
from ragmeter.table import TIMEOUT

_LONGEST_ERROR = 4096  # characters of an error's body that are read
_LONGEST_MESSAGE = 200
_NO_MONEY = re.compile("insufficient_quota|credit balance is too low")
_PASSING = frozenset({408, 409, 425, 429})
_BUSY = frozenset({429, 503, 529})
_LARGE = 1 << 16  # characters: reading more than this takes longer than other calls should wait
_Result = TypeVar("_Result")


def check_address(url: str, example: str, instead: str) -> None:
    """Raise for what is not an address, and for one with a password: that belongs into the environment, and `instead`
    says how it is taken from there.
    """
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port or bracket
        good = False
    if not good:
        raise UsageError(f"{public(url)!r} is not an address", hint=f"for example {example}")
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"the address of {parts.hostname} has a user name or password in it",
            hint=f"take it from the environment: {instead}",
        )


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True)
class Response:
    """A server's response, of any status. A stream has no text: its lines were passed on as they arrived.

    `size` are the characters that came, in the text or in lines; `arrived` is when the last did, by `perf_counter()`.
    """

    status: int
    headers: Mapping[str, str]
    text: str
    size: int
    arrived: float

    @property
    def has_end(self) -> bool:
        """Whether it says where it ends. Without that, a connection that is cut looks like the end."""
        return "Content-Length" in self.headers or "Transfer-Encoding" in self.headers


class Wire:
    """Connections to one server. Use it as a context.

    `outcome` is the outcome of a call that failed for good. Secret headers, the values of the address's query, the
    proxy's password and other `secrets` are removed from everything that is written. After a time-out the next calls
    have twice as long, up to `patience` times the `timeout`: a call may have waited in the server's queue. The
    environment's proxy is used, but not for addresses on this machine. No password is sent that was not given: no
    .netrc is read.
    """

    def __init__(
        self,
        url: str,
        *,
        outcome: str,
        timeout: float,
        headers: Mapping[str, Secret | str] | None = None,
        patience: int = 1,
        secrets: Iterable[Secret] = (),
    ) -> None:
        self.name = public(url)
        self.outcome = outcome
        self._limit, self._longest = timeout, timeout * patience
        self._url = url
        self._proxy: Any = None
        self._headers = dict(headers or {})
        query = [Secret(value) for name, value in parse_qsl(urlsplit(url).query) if name != "api-version"]
        self._secrets = [*secrets, *query, *(value for value in self._headers.values() if isinstance(value, Secret))]
        self._cleaner = _cleaner(self._secrets)
        self._large_text = asyncio.Lock()
        self._session: Any = None
        self._parsed: tuple[str, Any] = "", None

    async def __aenter__(self) -> Self:
        aiohttp = load_aiohttp()
        headers = {"Accept-Encoding": ENCODINGS, **self._headers}
        if not is_loopback(self._url):
            self._proxy, password = await asyncio.to_thread(_proxy_for, self._url)
            self._cleaner = _cleaner([*self._secrets, password])
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),  # no limit here: Pace has it
            headers={name: value.reveal() if isinstance(value, Secret) else value for name, value in headers.items()},
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,  # it would send the passwords of a .netrc, and nobody would know what to hide
        )
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._session.close()

    async def request(
        self, method: str, url: str, body: bytes | None = None, *, on_line: Callable[[str], None] | None = None
    ) -> Response:
        """Send a request and read the reply to its end. Redirects are not followed: they would get the key.

        With `on_line`, server-sent events of a successful reply are passed on line by line as they arrive.
        """
        aiohttp = load_aiohttp()
        headers = {} if body is None else {"Content-Type": "application/json"}
        limit = self._limit
        how = {"allow_redirects": False, "proxy": self._proxy, "timeout": aiohttp.ClientTimeout(total=limit)}
        try:
            async with self._session.request(method, self._address(url), data=body, headers=headers, **how) as response:
                return await self._read(response, on_line)
        except UnreadableError as problem:
            cause = self.clean(str(problem))
            failure = TryAgain(self.outcome, cause, billed=True) if problem.passing else GiveUp(self.outcome, cause)
            raise failure from None
        except TimeoutError:
            self._limit = max(self._limit, min(2 * limit, self._longest))
            raise TryAgain(TIMEOUT, f"no answer within {limit:g} s", slow=True, billed=True) from None
        except aiohttp.ClientConnectorError as error:
            cause = f"can't connect to {self.name}: {_reason(error)}"
            hint = "is the server running, and is this its address? Replies so far are recorded"
            raise TryAgain(self.outcome, cause, fatal=EndpointError(cause, hint=hint)) from None
        except (aiohttp.ClientError, aiohttp.http_exceptions.HttpProcessingError, OSError, ValueError) as error:
            raise TryAgain(self.outcome, f"the connection broke: {self.clean(_reason(error))}", billed=True) from None

    def _address(self, url: str) -> Any:
        """The parsed address, cached for the next call."""
        if url != self._parsed[0]:
            from yarl import URL

            self._parsed = url, URL(url)
        return self._parsed[1]

    async def _read(self, response: Any, on_line: Callable[[str], None] | None) -> Response:
        """Read the body. The library takes a reset for the end of a body that has none; the connection knows better."""
        protocol = None if response.connection is None else response.connection.protocol
        is_stream = response.content_type == "text/event-stream" and 200 <= response.status < 300
        text, size = "", 0

        def on_clean_line(line: str) -> None:
            nonlocal size
            size += len(line)
            if on_line is not None:
                on_line(self.clean(line))

        if on_line is not None and is_stream:
            await read_lines(response, on_clean_line)
            arrived = time.perf_counter()
        else:
            raw = await read_text(response)
            arrived, size = time.perf_counter(), len(raw)
            text = await self.aside(size, lambda: self.clean(raw))
        reply = Response(response.status, response.headers, text, size, arrived)
        broken = None if protocol is None or reply.has_end else protocol.exception()
        if isinstance(broken, OSError):
            raise broken
        return reply

    def failure(self, response: Response, hints: Mapping[int, str]) -> TryAgain | GiveUp:
        """The failure for an unsuccessful response. A status in `hints` ends the run if no call has succeeded."""
        message = self.clean(_message(response.text[:_LONGEST_ERROR]))[:_LONGEST_MESSAGE]
        if 300 <= response.status < 400:
            location = self.clean(public(response.headers.get("Location", "nowhere")))
            message = f"it leads to {location}, which is not followed"
        cause = f"HTTP {response.status}" + (f": {message}" if message else "")
        if response.status in (400, 402, 429) and _NO_MONEY.search(response.text[:_LONGEST_ERROR]):
            return GiveUp(self.outcome, cause, fatal=EndpointError(f"{self.name}: {cause}"))
        if response.status in _PASSING or response.status >= 500:
            pause = retry_after(response.headers.get("Retry-After"))
            return TryAgain(self.outcome, cause, overloaded=response.status in _BUSY, after=pause)
        hint = hints.get(response.status, "")
        error = EndpointError(f"{self.name} answered {cause}", hint=hint)
        return GiveUp(self.outcome, cause, fatal=error if hint or response.status < 400 else None)

    async def aside(self, size: int, work: Callable[[], _Result]) -> _Result:
        """The result of `work`, which reads a text of this size: a large one in another thread.

        A large text is read beside the event loop, so that other calls don't wait, and one after another, so that
        memory stays within limits.
        """
        if size < _LARGE:
            return work()
        async with self._large_text:
            return await asyncio.to_thread(work)

    def clean(self, text: str) -> str:
        """The text without secrets, in case a server repeats one, in whatever form."""
        return self._cleaner(text)


def _cleaner(secrets: Iterable[Secret]) -> Cleaner:
    return Cleaner(text for secret in secrets for text in secret.pieces())


def _proxy_for(url: str) -> tuple[Any, Secret]:
    """The environment's proxy for an address, if there is one, and its user and password.

    The library would look for it anew for each request, which takes longer than the request itself.
    """
    from urllib.request import getproxies, proxy_bypass  # late: it imports much

    from yarl import URL

    address = URL(url)
    proxy = URL(getproxies().get(address.scheme, ""))
    if not proxy.host or proxy.scheme == "https" or proxy_bypass(address.host or ""):
        return None, Secret()
    return proxy, password_of(proxy.user or "", proxy.password or "")


def _message(text: str) -> str:
    """The message in an error's body, in one line."""
    try:
        document = json.loads(text)
        error = document.get("error", document) if isinstance(document, dict) else document
        text = str(error.get("message", error.get("detail", error)) if isinstance(error, dict) else error)
    except (ValueError, RecursionError):
        text = re.sub(r"<[^>]*>", " ", text)
    return " ".join(text.split())


def _reason(error: BaseException) -> str:
    """The system's error message. The library's own message may contain the whole address."""
    inner = getattr(error, "os_error", error)
    return getattr(inner, "strerror", None) or type(error).__name__


def load_aiohttp() -> Any:
    """The HTTP library; it comes with the extra `http`."""
    try:
        import aiohttp
    except ImportError:
        raise MissingExtraError("asking a server", "http") from None
    return aiohttp
