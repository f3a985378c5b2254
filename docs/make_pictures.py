"""Makes the pictures of README.md and the site from real runs of the example files: `make pictures`.

The terminal is an SVG by rich; the report and the app are photographed in a headless Chromium.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parent.parent
TARGET = Path(__file__).with_name("pictures")
_EVALUATE = "ragmeter evaluate examples/nq/{run}.jsonl examples/nq/reference.jsonl --run {run}"
#: What the terminal shows; the other runs are for the report and the app.
SHOWN = (_EVALUATE.format(run="search"), "ragmeter compare reader search --better 0")
HIDDEN = (
    _EVALUATE.format(run="reader"),
    "ragmeter ask --dataset examples/agenda_qa.jsonl --target examples.rag_app:Agenda "
    "--metrics token_f1,offline_correct,faithfulness[judge=offline] --run agenda",
)
#: Real answers, and what a person says of each.
PEOPLE = ROOT / "tests" / "data" / "evouna_people.jsonl.gz"
WIDTH = 98
#: rich's own template without its fonts, which a browser would fetch from another host.
_SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px;
  line-height: {line_height}px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main() -> None:
    """All pictures."""
    TARGET.mkdir(exist_ok=True)
    with workplace() as folder:
        for command in HIDDEN:
            run(command, folder)
        (TARGET / "terminal.svg").write_text(terminal(folder), encoding="utf-8")
        run("ragmeter report reader search --output report.html", folder)
        photograph((folder / "report.html").as_uri(), TARGET / "report.png", 1440, 900)
        label(folder)
        with app(folder) as address:
            photograph(address, TARGET / "app.png", 1280, 860)
            photograph(address, TARGET / "label.png", 1280, 800, "/run/agenda/label?rater=Ana&blind=1&place=5")
            photograph(address, TARGET / "judge.png", 1280, 900, "/run/chatgpt/agreement?metric=offline_correct")
            photograph(address, TARGET / "claims.png", 1280, 1000, "/run/agenda/row/5")
            photograph(address, TARGET / "documents.png", 1280, 700, "/run/agenda/documents")
            photograph(address, TARGET / "compare.png", 1440, 900, "/compare?baseline=reader&run=search")


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder with the examples in it."""
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "examples").symlink_to(ROOT / "examples")
        yield Path(scratch)


def run(command: str, folder: Path) -> str:
    """What a command prints in a terminal with colours."""
    environment = _environment(folder) | {"FORCE_COLOR": "1", "COLUMNS": str(WIDTH)}
    done = subprocess.run(  # noqa: S603 - our own commands
        _arguments(command), cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=True
    )
    return done.stdout


def terminal(folder: Path) -> str:
    """The commands and what they print, as an SVG; the runs that they compare must be there."""
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    for number, command in enumerate(SHOWN):
        if number:
            console.print()
        console.print(Text(f"$ {command}", style="bold"))
        console.print(Text.from_ansi(run(command, folder).strip("\n")))
    return console.export_svg(title="ragmeter", code_format=_SVG, unique_id="ragmeter")


@contextmanager
def app(folder: Path) -> Iterator[str]:
    """The address of the app over the folder's runs."""
    process = subprocess.Popen(  # noqa: S603 - our own command
        _arguments("ragmeter app --no-open"),
        cwd=folder, env=_environment(folder), stdout=subprocess.PIPE, text=True, encoding="utf-8",
    )  # fmt: skip
    assert process.stdout is not None  # noqa: S101
    try:
        yield next(word for line in process.stdout for word in line.split() if word.startswith("http://"))
    finally:
        process.terminate()
        process.communicate()


def label(folder: Path) -> None:
    """Labels for the pictures of the app: a person's of real answers, and a sample that nobody has labelled."""
    answers = [json.loads(line) for line in gzip.decompress(PEOPLE.read_bytes()).decode().splitlines()]
    given = {f"q{place}": answer.pop("correct") for place, answer in enumerate(answers)}
    rows = ({"qid": qid, **answer} for qid, answer in zip(given, answers, strict=True))
    (folder / "chatgpt.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run("ragmeter evaluate chatgpt.jsonl --metrics offline_correct,offline_correct_probability --run chatgpt", folder)
    run("ragmeter label chatgpt --n 200 --rater Ana --blank", folder)
    run("ragmeter label agenda --n 10 --rater Ana --blank", folder)
    sheet = folder / "labels-chatgpt-Ana.csv"
    with sheet.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows({**line, "label": "correct" if given[line["qid"]] else "wrong"} for line in lines)


def photograph(address: str, target: Path, width: int, height: int, path: str = "") -> None:
    """A page as it is seen on a screen of this size; `path` is another page of the same server."""
    from playwright.sync_api import sync_playwright

    from ragmeter.targets.web.browser import QUIET, installed

    with sync_playwright() as playwright:
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        browser = playwright.chromium.launch(
            executable_path=installed(playwright),
            args=[*QUIET, *(["--no-sandbox"] if root else [])],
        )
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
        page.goto(address)
        if path:
            page.goto(urljoin(address, path))
        page.wait_for_load_state("networkidle")
        page.screenshot(path=str(target))
        browser.close()


def _arguments(command: str) -> list[str]:
    return [sys.executable, "-m", *shlex.split(command)]


def _environment(folder: Path) -> dict[str, str]:
    paths = [str(folder), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUTF8": "1"}


if __name__ == "__main__":
    main()
