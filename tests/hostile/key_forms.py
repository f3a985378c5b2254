"""The forms in which a server may write a key that it repeats."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable
from urllib.parse import quote

KEY = "sk-abc/DEF+ghi=JKL_012.345"


def _json_escaped(key: str) -> str:
    return json.dumps(key)[1:-1].replace("/", "\\/")


def _escapes(key: str, write: str) -> str:
    return "".join(write.format(ord(character)) for character in key)


def _in_lines(key: str, width: int, end: str) -> str:
    """In base64, with a line's end in the midst of the key."""
    whole = base64.b64encode(f"{'?' * 47}{key} and more of it".encode()).decode()
    return end.join(re.findall(f".{{1,{width}}}", whole))


#: What a server writes in a text. A form that is JSON's own stands in the text itself, so that it is escaped once more.
FORMS: dict[str, Callable[[str], str]] = {
    "as it is": lambda key: key,
    "in a header": lambda key: f"Authorization: Bearer {key}",
    "slashes": _json_escaped,
    "slashes twice": lambda key: _json_escaped(_json_escaped(key)).replace("\\/", "\\\\/"),
    "\\u": lambda key: _escapes(key, "\\u{:04x}"),
    "\\u in capitals": lambda key: _escapes(key, "\\u{:04X}"),
    "\\u twice": lambda key: _escapes(key, "\\\\u{:04x}"),
    "\\u now and then": lambda key: key.replace("a", "\\u0061").replace("/", "\\u002F"),
    "\\x": lambda key: _escapes(key, "\\x{:02x}"),
    "percent": lambda key: quote(key, safe=""),
    "percent in small letters": lambda key: re.sub("%..", lambda match: match[0].lower(), quote(key, safe="")),
    "percent everywhere": lambda key: _escapes(key, "%{:02X}"),
    "percent twice": lambda key: quote(quote(key, safe=""), safe=""),
    "HTML": lambda key: html.escape(key).replace("/", "&#x2F;").replace("=", "&equals;").replace("+", "&plus;"),
    "HTML decimal": lambda key: _escapes(key, "&#{};"),
    "HTML hexadecimal": lambda key: _escapes(key, "&#x{:X};"),
    "HTML twice": lambda key: _escapes(key, "&amp;#{};"),
    "HTML in JSON": lambda key: key.replace("/", "\\u0026#47;"),
    "percent in JSON": lambda key: key.replace("/", "\\u00252f"),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 for addresses": lambda key: base64.urlsafe_b64encode(key.encode()).decode(),
    "base64 of a pair": lambda key: base64.b64encode(f"user:{key}".encode()).decode(),
    "base64 of more": lambda key: base64.b64encode(f"the key is {key} and nothing else".encode()).decode(),
    "base64 with slashes": lambda key: base64.b64encode(f"??>{key}??>".encode()).decode().replace("/", "\\/"),
    "base64 in lines": lambda key: _in_lines(key, 76, "\n"),
    "base64 in lines of e-mail": lambda key: _in_lines(key, 76, "\r\n"),
    "base64 in lines of 64": lambda key: _in_lines(key, 64, "\n  "),
    "base64 in lines in JSON": lambda key: _in_lines(key, 76, "\\n"),
    "base64 in lines in JSON in JSON": lambda key: _in_lines(key, 76, "\\\\r\\\\n"),
    "base64 in lines in HTML": lambda key: _in_lines(key, 76, "&#10;"),
    "base64 in lines with slashes": lambda key: _in_lines(key, 76, "\\n").replace("/", "\\/"),
    "hexadecimal": lambda key: key.encode().hex(),
    "hexadecimal in capitals": lambda key: key.encode().hex().upper(),
}
