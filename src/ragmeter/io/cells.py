"""Single cells: text that stays text, and lists that are written as text."""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from typing import Any

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_COMMA = re.compile(r"""['"]\s+['"]""")


class NotAListError(Exception):
    """A cell that should be a list and is none. The message says what was found."""


def as_text(value: Any) -> str | None:
    """A cell as text. What is not text is written as JSON writes it; missing stays missing."""
    if value is None or isinstance(value, str):
        # Half an emoji, as a cut-off stream leaves it, can't be written to any file.
        return _LONE_SURROGATE.sub("\ufffd", value) if value and not value.isascii() else value
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return json.dumps(value, ensure_ascii=False, default=str)


def as_texts(column: list[Any]) -> list[Any]:
    """A whole column by `as_text`, at native speed where there is nothing to do."""
    return column if is_clean(column) else [as_text(value) for value in column]


def is_clean(column: list[Any]) -> bool:
    """Whether every cell is a text that can be written as it stands."""
    try:
        "".join(column).encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def as_list(value: Any, *, strict: bool = True) -> list[str] | None:
    """A cell as a list of texts: a list, or a list written as JSON or as Python writes it.

    Where it is not strict, a text that is no list is a list of itself.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        if not value.strip():
            return []
        if not strict and not value.lstrip().startswith("["):
            return [as_text(value) or ""]
        try:
            value = _parse_list(value, strict)
        except NotAListError:
            if strict:
                raise
            value = [value]
    elif not isinstance(value, list | tuple):
        value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list | tuple):
        raise NotAListError(f"{_shown(value)} is not a list")
    return [as_text(item) or "" for item in value if item is not None]


def _parse_list(text: str, strict: bool) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass  # not JSON: perhaps as Python prints it
    if strict and _NO_COMMA.search(text):
        raise NotAListError(f"{_shown(text)} has items without a comma between them, as numpy prints arrays")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stray backslash in somebody's text is not our user's concern
            return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise NotAListError(f"{_shown(text)} is not a list") from None


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return repr(text if len(text) <= 60 else text[:57] + "...")
