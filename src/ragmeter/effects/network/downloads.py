"""Fetches files whose addresses stand in somebody's data: over https, from public addresses only.

A dataset may name anything, an address of this machine or of its network too. So a host is resolved first, the
connection goes to an address that was checked, and a redirect is checked like the first address. The environment's
proxy is not used: it would resolve the host by itself. No password, cookie or .netrc is sent.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any
from urllib.parse import urljoin, urlsplit

from ragmeter.errors import MissingExtraError
from ragmeter.io.addresses import public

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 5
_PASSING = frozenset({408, 425, 429})
#: IPv6 addresses that stand for the IPv4 address in their last 32 bits (RFC 6052).
_TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))


class FetchError(Exception):
    """A file can't be fetched, and why. `passing`: it may work a moment later."""

    def __init__(self, cause: str, *, passing: bool = False) -> None:
        super().__init__(cause)
        self.passing = passing


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public Internet, whatever it is written as."""
    ip: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        if ip.teredo is not None:
            return False
        if ip.ipv4_mapped or ip.sixtofour:
            ip = ip.ipv4_mapped or ip.sixtofour or ip
        elif any(ip in network for network in _TRANSLATED):
            ip = IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


@dataclass(frozen=True)
class Fetcher:
    """Fetches files of at most `most_bytes`, each try within `timeout` seconds.

    `may_connect` says of an IP address whether a connection may go there; `tls` is how servers prove who they are.
    """

    most_bytes: int = 20_000_000
    timeout: float = 30.0
    tries: int = 3
    pause: float = 1.0
    may_connect: Callable[[str], bool] = is_public
    tls: ssl.SSLContext | None = None

    async def fetch(self, url: str) -> bytes:
        """The file at an address; a FetchError says why there is none. What may pass is tried again."""
        for attempt in range(1, self.tries + 1):
            try:
                return await self._try(url)
            except FetchError as error:
                if not error.passing or attempt == self.tries:
                    raise
            await asyncio.sleep(self.pause * attempt)
        raise AssertionError("the last try returns or raises")

    async def _try(self, url: str) -> bytes:
        try:
            async with asyncio.timeout(self.timeout), self._session() as session:
                for _ in range(1 + _MOST_REDIRECTS):
                    self._check(url)
                    file, leads_to = await self._get(session, url)
                    if leads_to is None:
                        return file
                    try:
                        url = urljoin(url, leads_to)
                    except ValueError:
                        raise FetchError("it leads to what is not an address") from None
        except TimeoutError:
            raise FetchError(f"no answer within {self.timeout:g} s", passing=True) from None
        raise FetchError(f"more than {_MOST_REDIRECTS} redirects")

    def _session(self) -> Any:
        import aiohttp

        fetcher = self

        class Checked:
            """Resolves a host once; the connection goes to what was checked, and asks no name server again."""

            async def resolve(self, host: str, port: int = 0, family: int = socket.AF_INET) -> Any:
                loop = asyncio.get_running_loop()
                resolved = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)
                addresses = [(kind, protocol, address[:2]) for kind, _, protocol, _, address in resolved]
                for _, _, (address, _) in addresses:
                    fetcher._check_ip(str(address), host)
                return [
                    {"hostname": host, "host": address, "port": number, "family": kind, "proto": protocol,
                     "flags": socket.AI_NUMERICHOST}
                    for kind, protocol, (address, number) in addresses
                ]  # fmt: skip

            async def close(self) -> None:
                """Do nothing: nothing is open."""

        connector = aiohttp.TCPConnector(
            resolver=Checked(), use_dns_cache=False, ssl=self.tls if self.tls is not None else True
        )
        return aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None),
            headers={"User-Agent": "ragmeter", "Accept-Encoding": "identity"},
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
        )

    def _check(self, url: str) -> None:
        """Refuse an address that isn't https, or is the number of an address that isn't public."""
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname or "", parts.port
        except ValueError:
            raise FetchError("this is not an address") from None
        if parts.scheme != "https" or not host:
            raise FetchError(f"only https is fetched, not {public(url)!r}")
        if parts.username is not None or parts.password is not None:
            raise FetchError("an address with a user name or password is not fetched")
        try:
            number = str(ip_address(host))
        except ValueError:
            return  # a name, which is checked when it is resolved
        self._check_ip(number, host)

    def _check_ip(self, address: str, host: str) -> None:
        if not self.may_connect(address):
            raise FetchError(f"{host} is not at a public address")

    async def _get(self, session: Any, url: str) -> tuple[bytes, str | None]:
        """The file, or where it is instead."""
        import aiohttp
        from yarl import URL

        try:
            async with session.get(URL(url), allow_redirects=False) as response:
                if response.status in _REDIRECTS and "Location" in response.headers:
                    return b"", response.headers["Location"]
                if response.status != 200:
                    passing = response.status >= 500 or response.status in _PASSING
                    raise FetchError(f"HTTP {response.status}", passing=passing)
                return await self._read(response), None
        except aiohttp.InvalidURL:
            raise FetchError("this is not an address") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if isinstance(error, TimeoutError):
                raise
            reason = getattr(getattr(error, "os_error", error), "strerror", None) or type(error).__name__
            certificate = isinstance(error, aiohttp.ClientConnectorCertificateError)
            raise FetchError(f"the connection failed: {reason}", passing=not certificate) from None

    async def _read(self, response: Any) -> bytes:
        too_large = FetchError(f"larger than {self.most_bytes:,} bytes")
        if (response.content_length or 0) > self.most_bytes:
            raise too_large
        file = bytearray()
        async for piece in response.content.iter_chunked(1 << 16):
            file += piece
            if len(file) > self.most_bytes:
                raise too_large
        return bytes(file)


def check_installed(feature: str, extra: str) -> None:
    """Raise if what fetches files is not installed."""
    try:
        import aiohttp  # noqa: F401
    except ImportError:
        raise MissingExtraError(feature, extra) from None
