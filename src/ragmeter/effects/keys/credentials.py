"""Finds credentials in a JSON document that is kept: by what their fields are called, and by how they are written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from ragmeter.effects.keys.headers import Secret

HIDDEN = "***"
#: Words of a field's name that say that its value is a credential.
_NAMES = frozenset(
    {"pass", "passwd", "passphrase", "pwd", "pw", "auth", "authorization", "bearer", "credentials", "cookie", "jwt"}
)
#: The ends of such words, which are often written as one (`authtoken`).
_ENDS = ("token", "secret", "password", "apikey", "credential")
#: Words that a `key` may follow: a `key` alone may be anything.
_KEYS = frozenset({"api", "access", "secret", "private", "auth", "subscription", "account", "shared", "x"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
#: Credentials by their form: after a scheme, with a vendor's prefix, or letters and digits mixed without a pause, which
#: no name of a model has.
_CREDENTIAL = re.compile(
    r"(?i:\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}"
    r"|\b(?:sk|pk|rk|hf|ghp|gho|ghs|github_pat|glpat|xox[a-z]|AIza|AKIA|eyJ)[-_A-Za-z0-9][\w.~+/=-]{14,}"
    r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
    r"|(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{20,}(?![A-Za-z0-9])"
)
_FEWEST_DIGITS = 6  # of a number: a shorter one is a limit or a setting


def hide_credentials(document: Any, fields: re.Pattern[str]) -> tuple[Any, list[Secret]]:
    """The document with asterisks in place of its credentials, and the credentials.

    `fields` are what is filled in for each question, in one group; a text that has nothing else is no credential.
    """
    secrets: list[Secret] = []

    def hide(value: Any, is_secret: bool) -> Any:
        if isinstance(value, Mapping):
            return {hide(name, False): hide(part, is_secret or _is_name(name)) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [hide(part, is_secret) for part in value]
        if isinstance(value, str):
            return hide_all(value) if is_secret else _CREDENTIAL.sub(lambda match: hide_all(match[0]), value)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return hide_all(str(value)) if is_secret and is_number and len(str(value)) >= _FEWEST_DIGITS else value

    def hide_all(text: str) -> str:
        literals = [part for part in fields.split(text)[::2] if part.strip()]
        if not literals:
            return text
        secrets.extend(Secret(literal.strip()) for literal in (text, *literals))
        return HIDDEN

    return hide(document, False), secrets


def _is_name(name: Any) -> bool:
    """Whether a field of this name holds a credential."""
    words = [word.lower() for word in _WORD.findall(str(name))]
    return (
        not _NAMES.isdisjoint(words)
        or any(word.endswith(_ENDS) for word in words)
        or any(second == "key" and first in _KEYS for first, second in pairwise(words))
    )
