"""Single cells: to text, to a number, to a list of texts."""

from __future__ import annotations

import ast
import base64
import io
import json
import math
import re
import tokenize
import warnings
from collections.abc import Sequence
from typing import Any

from ragmeter.errors import InputError
from ragmeter.io.decoding import MAX_DEPTH, is_too_deep
from ragmeter.passages import is_object, passage_text

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
#: Whole numbers beyond these may have more digits than Python writes.
_SMALLEST, _LARGEST = -(10**18), 10**18
_THOUSANDS = re.compile(r"\s*[-+]?\d{1,3}(\.\d{3})+\s*")
_NO_COMMA = re.compile(r"""['"]\s+['"]""")


#: The longest list that is read as a Python literal, in characters: Python takes a hundred times as much to read it.
_LONGEST_LITERAL = 16_000_000


class CellError(InputError):
    """A cell that can't be read. The message says why."""


class NotAListError(CellError):
    """A cell that should be a list and is not. The message shows the cell."""


#: How the files of pictures begin that models can see, and what they are.
_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


def is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN of any kind, or pandas' NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return hasattr(value, "is_integer") and value != value


def as_text(value: Any) -> str | None:
    """A cell as text. Numbers, truth values, lists and objects are written as JSON; a missing cell is None."""
    kind = type(value)
    if (kind is int and _SMALLEST < value < _LARGEST) or (kind is float and math.isfinite(value)):
        return repr(value)  # as JSON writes it, in a tenth of the time
    if is_missing(value):
        return None
    if not isinstance(value, str):
        value = value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value
        if isinstance(value, dict) and isinstance(value.get("bytes"), bytes):  # a picture, as Hugging Face stores it
            value = value["bytes"]
        if isinstance(value, bytes):
            value = picture_address(value) or value.decode("utf-8", errors="replace")
        elif isinstance(value, bool | int | float | list | tuple | dict):
            value = _as_json(value)
        else:
            value = str(value)
    return whole(value)


def picture_address(content: bytes) -> str | None:
    """The file of a picture as a data address; None for what is no PNG, JPEG, GIF or WebP."""
    is_webp = content[:4] == b"RIFF" and content[8:12] == b"WEBP"
    kind = "image/webp" if is_webp else next((kind for head, kind in _PICTURES.items() if content.startswith(head)), "")
    return f"data:{kind};base64,{base64.b64encode(content).decode()}" if kind else None


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)
    except RecursionError:
        raise CellError("lists or objects are nested too deeply") from None
    except ValueError as error:  # a whole number of thousands of digits, or a list that contains itself
        raise CellError(f"{type(value).__name__} that can't be written as text: {error}") from None


def whole(text: str) -> str:
    """The text with lone surrogates replaced: a stream that was cut off may leave one, and UTF-8 can't encode it."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def as_number(value: Any, decimal: str = ".") -> float | None:
    """A cell as a finite number, given as a number or as text; an empty cell is None.

    With a comma as the decimal mark, points are between thousands: `1.234,5`.
    """
    if is_missing(value) or (isinstance(value, str) and not value.strip()):
        return None
    if decimal == "," and isinstance(value, str):
        if "," not in value and not _THOUSANDS.fullmatch(value):
            return as_number(value)
        value = value.replace(".", "").replace(",", ".")
    try:
        number = float(value)
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from None
    if isinstance(value, bool) or not math.isfinite(number):
        raise ValueError("not a finite number")
    return number


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
    items = items_of(value, strict=strict)
    return None if items is None else texts_of(items, strict=strict)


def items_of(value: Any, *, strict: bool = True) -> list[Any] | None:
    """The items of such a cell as they are."""
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
    elif not strict and is_object(value):
        value = [value]
    elif not isinstance(value, list | tuple):
        value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list | tuple):
        raise NotAListError(f"{shown(value)} is not a list")
    return value if isinstance(value, list) else list(value)


def texts_of(items: Sequence[Any], *, strict: bool = True) -> list[str]:
    """The items of a list as texts, without missing ones. If strict, an object or a list inside is an error.

    If not, an object that has a text, as a passage does, is that text.
    """
    if is_clean(items):
        return list(items)
    texts = []
    for item in items:
        if strict and isinstance(item, dict | list | tuple | set):
            raise NotAListError(f"{shown(item)} inside the list is not a text")
        if not is_missing(item):
            text = passage_text(item) if not strict else None
            texts.append(as_text(item if text is None else text) or "")
    return texts


def _parse_list(text: str, strict: bool) -> Any:
    try:
        items = json.loads(text)
    except RecursionError:
        raise _too_deep(text) from None
    except ValueError:  # not JSON: perhaps a Python literal
        items = _literal(text, strict)
    if len(text) > 2 * MAX_DEPTH and is_too_deep(items):
        raise _too_deep(text)
    return items


def _too_deep(text: str) -> NotAListError:
    return NotAListError(f"{shown(text)} is nested more than {MAX_DEPTH} levels deep")


def _literal(text: str, strict: bool) -> Any:
    if len(text) > _LONGEST_LITERAL:
        raise CellError(f"{shown(text)} is not JSON, and too long for a list as Python writes it")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes in the text
            items = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise NotAListError(f"{shown(text)} is not a list") from None
    if strict and isinstance(items, list | tuple) and _NO_COMMA.search(text) and _strings_in(text) > len(items):
        raise NotAListError(f"{shown(text)} has items without a comma between them, as numpy prints arrays")
    return items


def _strings_in(literal: str) -> int:
    """The number of strings in a Python literal; two without a comma between them make one item."""
    tokens = tokenize.generate_tokens(io.StringIO(literal.strip()).readline)
    return sum(token.type == tokenize.STRING for token in tokens)


def shown(value: Any) -> str:
    """The beginning of a cell, for a message."""
    text = value if isinstance(value, str) else _as_json(value)
    return repr(text if len(text) <= 60 else text[:57] + "...")
