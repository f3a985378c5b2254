"""`ragmeter doctor`: what is installed, what can be used, and what is missing for the rest."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import ragmeter
from ragmeter import kernel
from ragmeter.cli.modes import DOCTOR, refuse_idle
from ragmeter.cli.options import json_option, runs_option
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.hints import install_command
from ragmeter.io.locations import Location
from ragmeter.io.write import dumps

_DESCRIPTION = """\
Say what is installed, which extras can be used, which plugins load, which models are on this machine, and what is
missing.

  ragmeter doctor
  ragmeter doctor --endpoint http://127.0.0.1:8000/v1/models
  ragmeter doctor --endpoint http://127.0.0.1:8000/v1 --judge-model my-model

Nothing is sent anywhere but a plain request, without a key, to the endpoints that are named; with --judge-model, ten
short calls too, with your key: how long one takes, and how many the server works on at once. Values of keys are not
shown. The exit code is 1 if ragmeter can't work, if a plugin does not load, or if an endpoint does not answer.
"""
_OK, _MISSING, _BROKEN = "ok", "missing", "broken"
#: The purpose of each extra.
_EXTRAS = {
    "http": "judges, models and systems over HTTP",
    "semantic": "semantic_similarity with transformers",
    "static": "semantic_similarity with wordllama",
    "web": "ragmeter web",
    "app": "ragmeter app",
    "cluster": "--engine tcp://...",
    "excel": ".xlsx files",
    "figures": "ragmeter report --figures",
    "images": "images in ragmeter crag generate",
    "languages": "--language auto",
    "pdf": "PDF files as documents of ragmeter questions",
}
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "HF_TOKEN")


@dataclass(frozen=True)
class Check:
    """The result of one check. `state` is ok, missing (only needed for some things) or broken."""

    name: str
    state: str
    what: str


def parser() -> Parser:
    """The parser of `ragmeter doctor`."""
    parser = command_parser("ragmeter doctor", _DESCRIPTION)
    endpoint = "an address to reach, for example of a judge or a system; may be given several times"
    parser.add_argument("--endpoint", metavar="URL", action="append", default=[], help=endpoint)
    parser.add_argument("--timeout", metavar="SECONDS", type=float, default=10.0, help="for an endpoint; default: 10")
    model = "a model behind the endpoints: measure how fast it judges, with ten calls"
    parser.add_argument("--judge-model", metavar="NAME", help=model)
    runs_option(parser)
    json_option(parser)
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Look at everything, and print a line for each."""
    refuse_idle(chosen, DOCTOR)
    checks = [*_checks(chosen.output_dir), *_endpoints(chosen.endpoint, chosen.timeout, chosen.judge_model)]
    if chosen.json:
        print(dumps([asdict(check) for check in checks], indent=2))
    else:
        from ragmeter.show.terminal.checks import show_checks

        show_checks([(check.name, check.state, check.what) for check in checks])
    return 1 if any(check.state == _BROKEN for check in checks) else 0


def _checks(output_dir: Location) -> Iterator[Check]:
    yield Check("ragmeter", _OK, f"{ragmeter.__version__}, in {Path(ragmeter.__file__).parent}")
    yield Check("python", _OK, f"{platform.python_version()}, {sys.executable}, {platform.platform()}")
    yield Check("kernel", _OK if kernel.library() else _MISSING, kernel.state())
    yield from _packages()
    yield from _plugins()
    yield _browser()
    yield from _models()
    given = [name for name in _KEYS if os.environ.get(name)]
    yield Check(
        "keys", _OK if given else _MISSING, f"set: {', '.join(given)}" if given else f"none of {', '.join(_KEYS)}"
    )
    yield _runs(output_dir)


def _packages() -> Iterator[Check]:
    """The core's packages in a line, and each extra in its own."""
    from ragmeter.cli.environment import packages

    known = packages()
    if not known:
        yield Check("core", _MISSING, "ragmeter is not installed as a package, so its dependencies are not known")
        return
    core = [package for package in known if package.extra is None]
    wrong = [package for package in core if not package.is_fine]
    lacking = ", ".join(f"{package.name} is {package.version or 'missing'}, needs {package.least}" for package in wrong)
    versions = ", ".join(f"{package.name} {package.version}" for package in core)
    yield Check("core", _BROKEN if wrong else _OK, lacking or versions)
    extras = dict.fromkeys(package.extra for package in known if package.extra is not None)
    for extra in extras:
        members = [package for package in known if package.extra == extra]
        missing = [package.name for package in members if not package.is_fine]
        purpose = _EXTRAS.get(extra, extra)
        versions = ", ".join(f"{package.name} {package.version}" for package in members)
        lacking = f"for {purpose}: {install_command(extra)} ({', '.join(missing)})"
        yield Check(f"extra {extra}", _MISSING if missing else _OK, lacking if missing else versions)


def _plugins() -> Iterator[Check]:
    """A line for each plugin, of metrics, targets or embedding models."""
    from ragmeter import registry

    registry.load_builtin()  # a plugin's metric may have a name that is taken
    for group in ("metrics", "targets", "embedders"):
        for plugin in registry.plugins(f"ragmeter.{group}"):
            if plugin.error is not None:
                yield Check("plugin", _BROKEN, f"{plugin.error.message}; {plugin.error.hint}")
            else:
                yield Check("plugin", _OK, f"{plugin.name} ({plugin.path}), for {group}")


def _browser() -> Check:
    from ragmeter.targets.web.browser import NAMES, SHELL

    path = next(filter(None, map(shutil.which, (SHELL, *NAMES))), None)
    own = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or "~/.cache/ms-playwright").expanduser()
    playwrights = sorted(own.glob("chromium[-_]*")) if path is None else []
    if path is None and not playwrights:
        return Check("browser", _MISSING, "for ragmeter web: playwright install chromium, or your system's chromium")
    return Check("browser", _OK, path or str(playwrights[-1]))


def _models() -> Iterator[Check]:
    from ragmeter.embedders.cache import cache_file
    from ragmeter.embedders.models import cached_models, hub_cache
    from ragmeter.wording.numbers import about

    models = cached_models()
    shown = ", ".join(f"{name} ({about(size / 1e6)} MB)" for name, size in models.items())
    yield Check("models", _OK if models else _MISSING, shown or f"none in {hub_cache()}; wordllama needs none")
    file = cache_file()
    state = f"{about(file.stat().st_size / 1e6)} MB" if file.is_file() else "empty"
    yield Check("embeddings", _OK, f"{state}, {file}")


def _runs(output_dir: Location) -> Check:
    from ragmeter.io.locations import folders_in

    if not isinstance(output_dir, Path):
        return Check("runs", _OK, f"{output_dir}")
    place = output_dir if output_dir.exists() else output_dir.absolute().parent
    if not os.access(place, os.W_OK):
        return Check("runs", _BROKEN, f"can't write into {output_dir}/; choose another folder with --output-dir")
    number = sum((output_dir / name / "manifest.json").is_file() for name in folders_in(output_dir))
    return Check("runs", _OK, f"{number:,} in {output_dir}/")


def _endpoints(urls: Sequence[str], timeout: float, model: str | None) -> Iterator[Check]:
    from ragmeter.effects.network.reachable import reach
    from ragmeter.wording.numbers import hundredths

    for url in urls:
        reached = reach(url, timeout)
        what = f"{reached.url}: {reached.what}, after {hundredths(reached.seconds)} s"
        yield Check("endpoint", _OK if reached.is_reached else _BROKEN, what)
        if model is not None and reached.is_reached:
            yield _speed(url, reached.url, model)


def _speed(url: str, shown: str, model: str) -> Check:
    """The check of how fast a model judges, and the options that suit it."""
    from ragmeter.errors import RagmeterError
    from ragmeter.io.progress import show_notice
    from ragmeter.judges.asking.speed import AT_ONCE, measure_speed
    from ragmeter.wording.numbers import hundredths

    show_notice(f"{shown}: ten calls to {model}, of which {AT_ONCE} at once")
    try:
        speed = measure_speed(model, url)
    except RagmeterError as error:
        return Check("speed", _BROKEN, f"{model}: {error}")
    alone, slowest = hundredths(speed.alone), hundredths(speed.slowest)
    times = f"a call takes {alone} s alone, the slowest of {speed.n} at once {slowest} s"
    slots = f"about {speed.slots} at a time" if speed.slots < speed.n else f"{speed.n} at a time or more"
    options = f"--judge-workers {speed.slots}" if speed.slots < speed.n else ""
    if speed.timeout > 60:
        options += f"{' or ' if options else ''}--judge-timeout {speed.timeout}"
    return Check("speed", _OK, f"{model}: {times}: it works on {slots}{options and '; '}{options}")
