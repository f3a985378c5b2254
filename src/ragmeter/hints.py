"""Messages that name a keyword in Python, and a flag on the command line.

A message is written once, with both spellings of a parameter:

    raise OutputError(f"can't write {path}", hint=f"choose another folder with {option('output_dir')}")

In Python, `str(error)` says `output_dir=...`; the command line prints `--output-dir`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

#: The package as an index knows it; the command and the import are `ragmeter`.
DISTRIBUTION = "ragmeter-eval"
#: The marks before, between and after the two spellings.
_BEGIN, _MIDDLE, _END = "\x02", "\x1f", "\x03"
_SPELLINGS = re.compile(f"{_BEGIN}([^{_BEGIN}{_MIDDLE}{_END}]*){_MIDDLE}([^{_BEGIN}{_MIDDLE}{_END}]*){_END}")
_MARKS = re.compile(f"[{_BEGIN}{_MIDDLE}{_END}]")


def by_caller(command_line: str, python: str) -> str:
    """Two spellings; the one for the caller is shown."""
    return f"{_BEGIN}{_MARKS.sub('', command_line)}{_MIDDLE}{_MARKS.sub('', python)}{_END}"


def parameter(name: str, *, of: str = "") -> str:
    """A parameter as the subject of a sentence: `--max-failed`, or `max_failed`; of the judge, `--judge-retries`."""
    return by_caller(_flag(name, of), name)


def option(name: str, value: Any = ..., *, of: str = "") -> str:
    """A parameter with a value, if one is given: `--cluster none`, or `cluster=None`."""
    if value is ...:
        return by_caller(_flag(name, of), f"{name}=...")
    literal = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    return by_caller(f"{_flag(name, of)} {'none' if value is None else value}", f"{name}={literal}")


def install_command(extra: str) -> str:
    """What installs an extra: from the clone or the file that ragmeter itself was installed from, or by its name."""
    from importlib.metadata import PackageNotFoundError, distribution  # as below: for an error alone
    from pathlib import Path
    from shlex import quote
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        origin = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    address = urlsplit(origin.get("url", ""))
    place = url2pathname(address.path)
    if address.scheme != "file" or not Path(place).exists():
        return f"pip install {quote(f'{DISTRIBUTION}[{extra}]')}"
    editable = "--editable " if origin.get("dir_info", {}).get("editable") else ""
    return f"pip install {editable}{quote(f'{place}[{extra}]')}"


def column_option(name: str, title: str) -> str:
    """The parameter that names a column of the user's file: `--column qid=ID`, or `columns={"qid": "ID"}`."""
    return columns_option({name: title})


def columns_option(titles: Mapping[str, str]) -> str:
    """The parameters that name columns of the user's file, in a form that can be copied."""
    from shlex import quote  # as above

    flags = " ".join(f"--column {quote(f'{name}={title}')}" for name, title in titles.items())
    return by_caller(flags, f"columns={json.dumps(dict(titles), ensure_ascii=False)}")


def for_command_line(text: str) -> str:
    """The text with flags."""
    return _SPELLINGS.sub(r"\1", text)


def for_python(text: str) -> str:
    """The text with keywords."""
    return _SPELLINGS.sub(r"\2", text)


def _flag(name: str, of: str) -> str:
    return "--" + f"{of}_{name}".strip("_").replace("_", "-")
