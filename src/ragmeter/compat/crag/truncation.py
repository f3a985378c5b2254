"""Cuts answers to a number of tokens, with the user's tokenizer or a built-in one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import regex

from ragmeter.errors import InputError, UsageError, errors_of
from ragmeter.metrics.normalize import UNSPACED
from ragmeter.registry import import_object

#: The built-in tokens: words, single marks, and single characters of scripts without spaces between words.
_TOKEN = regex.compile(
    rf"[{UNSPACED}]|[[\p{{L}}\p{{M}}\p{{N}}_]--[{UNSPACED}]]+|[^\s\p{{L}}\p{{M}}\p{{N}}_]", regex.VERSION1
)


class Tokenizer(Protocol):
    """The interface that tiktoken, tokenizers and transformers share."""

    def encode(self, text: str) -> Any:
        """The token ids, or an object that has them as `ids`."""

    def decode(self, ids: list[int]) -> str:
        """The text of token ids."""


def cut(text: str, limit: int, tokenizer: Tokenizer | None = None) -> str:
    """The text, cut after `limit` tokens."""
    if tokenizer is None:
        for count, token in enumerate(_TOKEN.finditer(text), 1):
            if count > limit:
                return text[: token.start()].rstrip()
        return text
    with errors_of(f"the tokenizer {type(tokenizer).__name__}"):
        encoded = tokenizer.encode(text)
        ids = list(getattr(encoded, "ids", encoded))
        # an incomplete character at the end decodes to the replacement character
        return text if len(ids) <= limit else str(tokenizer.decode(ids[:limit])).rstrip("\ufffd")


def load_tokenizer(spec: str) -> Tokenizer:
    """A tokenizer from a `tokenizer.json`, or by the dotted path of an object with encode() and decode()."""
    if spec.endswith(".json"):
        try:
            from tokenizers import Tokenizer as Loaded
        except ImportError:
            raise UsageError("reading a tokenizer.json needs a package", hint="pip install tokenizers") from None
        if not Path(spec).is_file():
            raise InputError("there is no such file", file=spec)
        with errors_of(f"reading {spec}"):
            read: Tokenizer = Loaded.from_file(spec)
            return read
    loaded = import_object(spec, "tokenizer")
    if isinstance(loaded, type) or not hasattr(loaded, "encode"):
        with errors_of(spec):
            loaded = loaded()
    if not callable(getattr(loaded, "encode", None)) or not callable(getattr(loaded, "decode", None)):
        raise UsageError(f"{spec!r} is not a tokenizer", hint="it must have encode(text) and decode(ids)")
    tokenizer: Tokenizer = loaded
    return tokenizer
