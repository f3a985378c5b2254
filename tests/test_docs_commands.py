"""Commands on pages whose data, models or servers the tests don't have: their options and metrics are there.

The tutorials, the tour and the pages for those who come from other tools are run whole (tests/test_tutorials.py).
"""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from ragmeter.cli.options import Parser
from ragmeter.registry import get_all

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
_FENCE = re.compile(r"^```(?:sh)?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"(?:\$ )?ragmeter (.+)")


class Parsed(BaseException):
    """The options were understood."""


def commands(page: Path) -> list[list[str]]:
    """The commands in a page's blocks, without what is for the reader: comments and `…`."""
    blocks = _FENCE.findall(page.read_text(encoding="utf-8"))
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    matches = filter(None, map(_COMMAND.match, lines))
    return [[word for word in shlex.split(match[1], comments=True) if word != "…"] for match in matches]


def test_commands_are_seen() -> None:
    assert ["compare", "before", "after"] in commands(ROOT / "docs" / "statistics.md")
    assert sum(len(commands(page)) for page in PAGES) > 60


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_s_commands_are_understood(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parse = Parser.parse_args

    def parse_only(parser: Parser, arguments: list[str]) -> None:
        for name in getattr(parse(parser, arguments), "metrics", None) or []:
            get_all(name)
        raise Parsed

    monkeypatch.setattr(Parser, "parse_args", parse_only)
    for name, *arguments in commands(page):
        with pytest.raises(Parsed):  # UsageError where an option or a metric is not there
            import_module(f"ragmeter.cli.{name}").run(arguments)
