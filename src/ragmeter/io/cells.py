"""Single cells: to text, to a number, to a list of texts."""

from __future__ import annotations

import ast
import io
import json
import math
import re
import tokenize
import warnings
from collections.abc import Sequence
from typing import Any

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
#: Under these keys an object that stands for a passage has its text.
TEXT_KEYS = ("text", "content", "page_content", "snippet")
_NO_COMMA = re.compile(r"""['"]\s+['"]""")


class NotAListError(Exception):
    """A cell that should be a list and is not. The message shows the cell."""


def is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN of any kind, or pandas' NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return hasattr(value, "is_integer") and value != value


def as_text(value: Any) -> str | None:
    """A cell as text. Numbers, truth values, lists and objects are written as JSON; a missing cell is None."""
    if is_missing(value):
        return None
    if not isinstance(value, str):
        value = value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value
        if isinstance(value, bytes):
            value = value.decode("utf-8", errors="replace")
        elif isinstance(value, bool | int | float | list | tuple | dict):
            value = json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)
        else:
            value = str(value)
    return whole(value)


def whole(text: str) -> str:
    """The text with lone surrogates replaced: a stream that was cut off may leave one, and UTF-8 can't encode it."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def as_number(value: Any) -> float | None:
    """A cell as a finite number, given as a number or as text; an empty cell is None."""
    if is_missing(value) or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = float(value)
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from None
    if isinstance(value, bool) or not math.isfinite(number):
        raise ValueError("not a finite number")
    return number


def as_texts(column: list[Any]) -> list[Any]:
    """A whole column by `as_text`; fast where there is nothing to change."""
    return column if is_clean(column) else [as_text(value) for value in column]


def is_clean(column: Sequence[Any]) -> bool:
    """Whether every cell is a text that UTF-8 can encode."""
    try:
        "".join(column).encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def as_list(value: Any, *, strict: bool = True) -> list[str] | None:
    """A cell as a list of texts: a list, or a list written as JSON or as a Python literal.

    If not strict, a text that is not a list becomes a list of one text.
    """
    if is_missing(value):
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
    elif isinstance(value, dict) and not strict:
        value = [value]
    elif not isinstance(value, list | tuple):
        value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list | tuple):
        raise NotAListError(f"{_shown(value)} is not a list")
    return texts_of(value, strict=strict)


def texts_of(items: Sequence[Any], *, strict: bool = True) -> list[str]:
    """The items of a list as texts, without missing ones. If strict, an object or a list inside is an error.

    If not, an object that has a text, as a passage does, is that text.
    """
    if is_clean(items):
        return list(items)
    texts = []
    for item in items:
        if strict and isinstance(item, dict | list | tuple | set):
            raise NotAListError(f"{_shown(item)} inside the list is not a text")
        if isinstance(item, dict):
            item = next((item[key] for key in TEXT_KEYS if isinstance(item.get(key), str)), item)
        if not is_missing(item):
            texts.append(as_text(item) or "")
    return texts


def _parse_list(text: str, strict: bool) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass  # not JSON: perhaps a Python literal
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes in the text
            items = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise NotAListError(f"{_shown(text)} is not a list") from None
    if strict and isinstance(items, list | tuple) and _NO_COMMA.search(text) and _strings_in(text) > len(items):
        raise NotAListError(f"{_shown(text)} has items without a comma between them, as numpy prints arrays")
    return items


def _strings_in(literal: str) -> int:
    """The number of strings in a Python literal; two without a comma between them make one item."""
    tokens = tokenize.generate_tokens(io.StringIO(literal.strip()).readline)
    return sum(token.type == tokenize.STRING for token in tokens)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return repr(text if len(text) <= 60 else text[:57] + "...")
