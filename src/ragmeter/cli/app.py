"""`ragmeter app`: the runs of a folder in the browser."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

from ragmeter.cli.options import runs_option
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import MissingExtraError, UsageError

_DESCRIPTION = """\
Look at all runs in the browser, side by side and over time, and label their answers there.

  ragmeter app
  ragmeter app --output-dir nightly --no-open --port 8600

The server is for this machine only, and for the browser that opens the printed address. Ctrl-C ends it.
"""


def parser() -> Parser:
    """The parser of `ragmeter app`."""
    parser = command_parser("ragmeter app", _DESCRIPTION)
    add = parser.add_argument
    add("--port", metavar="N", type=int, default=0, help="default: any that is free")
    add("--host", metavar="ADDRESS", default="127.0.0.1", help="where to listen; default: this machine only")
    add("--no-open", action="store_true", help="print the address, and open no browser")
    add("--labels", metavar="DIR", type=Path, default=Path(), help="where files of labels are kept; default: here")
    add("--corpus", metavar="FILE", type=Path, help="all documents with their ids (_id, id or doc_id): the page of "
        "documents says which of them no question found")  # fmt: skip
    runs_option(parser)
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Serve the app until Ctrl-C."""
    if not 0 <= chosen.port <= 65_535:
        raise UsageError(f"--port must be from 0 to 65535, got {chosen.port}")
    if not chosen.output_dir.is_dir():
        raise UsageError(
            f"there is no folder {chosen.output_dir}/", hint="name the folder of the runs with --output-dir"
        )
    if chosen.corpus is not None and not chosen.corpus.is_file():
        raise UsageError(f"there is no file {chosen.corpus}", hint="name the file of all documents with --corpus")
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401

        from ragmeter.app.server import serve
    except ImportError:
        raise MissingExtraError("ragmeter app", "app") from None

    def opened(address: str) -> None:
        print(f"ragmeter app: {address}", flush=True)
        if not chosen.no_open:
            import webbrowser

            webbrowser.open(address)

    with suppress(KeyboardInterrupt):  # the usual end
        serve(chosen.output_dir, chosen.host, chosen.port, chosen.labels, opened, chosen.corpus)
    return 0
