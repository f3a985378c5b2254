"""Addresses as they may be shown: they may have passwords, keys and signatures in them."""

from __future__ import annotations

import re

_USER = re.compile(r"[^/?#]*@")
#: A host, and a port if there is one. What is written otherwise may be a password with characters that end a host.
_HOST = re.compile(r"(?:\[[^\]]*\]|[^:@]*)(?::\d*)?")


def public(url: str) -> str:
    """An address without parts that could be secret: user, password, query and fragment."""
    scheme, slashes, rest = url.partition("//") if "//" in url else ("", "", url)
    if user := _USER.match(rest):
        rest = rest[user.end() :]
    elif not _HOST.fullmatch(re.split("[/?#]", rest, maxsplit=1)[0]):
        rest = rest.rpartition("@")[2]
    plain = scheme + slashes + re.split("[?#]", rest, maxsplit=1)[0]
    return plain.rstrip("/") if plain.count("/") > 3 else plain
