"""Texts that must not be shown, and request headers that hold them."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Mapping

from ragmeter.errors import UsageError

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
#: A shorter key is a placeholder ("none", "test") and may be a word of an answer, unless it mixes letters and digits.
_SHORTEST, _SHORTEST_MIXED = 8, 6
#: How a credential begins in a header: the secret is what follows.
_SCHEME = re.compile(r"(?:bearer|basic|token|key|api-?key)\s+", re.IGNORECASE)


class Secret:
    """A text that must not be shown: it can't be joined, formatted or written as JSON, only revealed.

    `parts` are the pieces of it that came from the environment, `forms` other texts that give it away.
    """

    __slots__ = ("_forms", "_parts", "_text")

    def __init__(self, text: str = "", parts: Iterable[str] = (), forms: Iterable[str] = ()) -> None:
        self._text = text
        self._parts = tuple(parts)
        self._forms = frozenset(forms)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "'***'"

    @property
    def from_environment(self) -> bool:
        """Whether any piece of it came from the environment."""
        return bool(self._parts)

    def reveal(self) -> str:
        """The text itself, for the one place that sends it."""
        return self._text

    def pieces(self) -> set[str]:
        """What to take out of texts that are kept: the whole, and the pieces that are long enough to be a secret."""
        texts = {self._text, _without_scheme(self._text), *self._parts, *_basic(self._text)}
        return {text for text in texts if _is_long_enough(text)} | self._forms


def _is_long_enough(text: str) -> bool:
    is_mixed = any(map(str.isdigit, text)) and any(map(str.isalpha, text))
    return len(text) >= (_SHORTEST_MIXED if is_mixed else _SHORTEST)


def password_of(user: str, password: str) -> Secret:
    """A user's password. With its user it is hidden however short it is: together they are no word of an answer."""
    if not password:
        return Secret()
    pair = f"{user}:{password}"
    encodings = ("latin-1", "utf-8")  # the HTTP library takes the first
    headers = {base64.b64encode(pair.encode(encoding, "replace")).decode() for encoding in encodings}
    return Secret(password, forms={pair, *headers})


def _without_scheme(text: str) -> str:
    scheme = _SCHEME.match(text)
    return text[scheme.end() :] if scheme else text


def _basic(text: str) -> list[str]:
    """The user with the password, and the password, of an `Authorization: Basic ...`."""
    if not text.lower().startswith("basic "):
        return []
    try:
        decoded = base64.b64decode(text[6:].strip(), validate=True).decode()
    except ValueError:
        return []
    return [decoded, decoded.partition(":")[2]]


def read_headers(headers: Iterable[str] | Mapping[str, str]) -> dict[str, Secret]:
    """Headers from `Name: value` texts or a mapping. `$NAME` in a value is taken from the environment."""
    lines = [f"{name}: {value}" for name, value in headers.items()] if isinstance(headers, Mapping) else headers
    return dict(map(_header, lines))


def _header(line: str) -> tuple[str, Secret]:
    name, colon, value = line.partition(":")
    name = name.strip()
    if not colon or not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        problem = "whose name has other characters than letters, digits, - and _" if colon else "without a colon"
        raise UsageError(  # without the text: it may be the key
            f"a header is written 'Name: value', and there is one {problem}", hint="'X-Api-Key: $MY_KEY'"
        )
    variables = [match[1] or match[2] for match in _VARIABLE.finditer(value)]
    for variable in variables:
        if variable not in os.environ:
            raise UsageError(f"the header {name} uses ${variable}, which is not set")
    filled = _VARIABLE.sub(lambda match: os.environ[match[1] or match[2]], value).strip()
    if not filled.isprintable():
        raise UsageError(f"the header {name} has characters that are not allowed in a header")
    return name, Secret(filled, [os.environ[variable] for variable in variables])
