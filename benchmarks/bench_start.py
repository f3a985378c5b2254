"""How long ragmeter takes to start, and what a core install weighs."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from statistics import median

from common import measure, progress, ragmeter_command, table
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from samples import Sample


def start(folder: Path, *, quick: bool) -> None:
    """Wall times of small commands, in turn, and the packages of a core install."""
    repetitions = 5 if quick else 15
    _times(folder, repetitions)
    _packages()


def _times(folder: Path, repetitions: int) -> None:
    progress("start")
    file = folder / "ten.tsv"
    Sample.load("evouna", "en").write(file, 10)
    ten = ["--metrics", "token_f1", "--results", str(file), "--run", "ten", "--output-dir", str(folder)]
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        'python -c "import ragmeter"': [sys.executable, "-c", "import ragmeter"],
        "ragmeter --help": ragmeter_command("--help"),
        "ragmeter evaluate, ten rows": ragmeter_command("evaluate", *ten),
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for command in commands.values():
        measure(command)  # the files come into the cache of the disk
    for _ in range(repetitions):
        for name, command in commands.items():
            seconds[name].append(measure(command).seconds)
    bare = median(seconds["python -c pass"])
    table(
        f"START  wall time; median of {repetitions}",
        ("command", "seconds", "over bare Python"),
        [(name, f"{median(series):.3f}", f"{median(series) - bare:+.3f}") for name, series in seconds.items()],
    )


def _packages() -> None:
    sizes = {name: _size(metadata.distribution(name)) for name in sorted(_requirements("ragmeter"))}
    sizes["ragmeter"] = _own_size()
    by_size = sorted(sizes.items(), key=lambda item: -item[1])
    lines = [(name, metadata.version(name), f"{size / 1e6:.1f}") for name, size in by_size]
    total = f"{sum(sizes.values()) / 1e6:.1f}"
    table(
        "INSTALL  the packages of a core install, without extras, as they lie on the disk",
        ("package", "version", "MB"),
        [*lines, (f"all {len(lines)}", "", total)],
    )


def _requirements(name: str) -> set[str]:
    """The distribution and all that it needs on this machine."""
    requirements: set[str] = set()
    waiting = [canonicalize_name(name)]
    while waiting:
        package = waiting.pop()
        if package in requirements:
            continue
        requirements.add(package)
        for text in metadata.requires(package) or []:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(canonicalize_name(requirement.name))
    return requirements


def _size(distribution: metadata.Distribution) -> int:
    paths = {Path(str(file.locate())) for file in distribution.files or []}
    return sum(path.stat().st_size for path in paths if path.is_file())


def _own_size() -> int:
    """An editable install lists none of its files, so ragmeter's own are looked up where they are imported from."""
    import ragmeter

    return sum(path.stat().st_size for path in Path(ragmeter.__file__).parent.rglob("*") if path.is_file())
