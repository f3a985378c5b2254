"""Builds a release and tries it: `make release`.

The source distribution, a wheel for each usual platform with the compiled kernel and one for all others without it are
built and checked. The one of this machine and the one for all others are installed in a clean environment of each
Python that is here, and evaluate an example there. Then the changelog's section gets its date, and stands by itself in
build/release-notes.md. Nothing is uploaded: a tag does that (.github/workflows/release.yml).
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
NOTES = ROOT / "build" / "release-notes.md"
BUILDING = runpy.run_path(str(ROOT / "tools" / "build_kernel.py"))
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
#: The mean that README shows, and of which files.
EXAMPLE = ("token_f1", 0.4308)
EXAMPLE_FILES = {"results": "english_BasicRAG.tsv", "reference": "english_reference.tsv"}


def main() -> None:
    """Build, check, try, and write the notes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="leave CHANGELOG.md as it is; its section must have a date"
    )
    check = parser.parse_args().check
    version = package_version()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    dated = changelog if check else with_date(changelog, version, today)
    notes = section(dated, version)
    wheels, source = build()
    for name, wheel in wheels.items():
        check_files(wheel, source, "" if name == BUILDING["PURE"] else library_of(name))
    tried = [python for python in PYTHONS if try_wheels(wheels, python)]
    if not tried:
        sys.exit(f"none of Python {', '.join(PYTHONS)} is here: no wheel was tried")
    NOTES.parent.mkdir(exist_ok=True)
    NOTES.write_text(notes, encoding="utf-8")
    (ROOT / "CHANGELOG.md").write_text(dated, encoding="utf-8")
    print(f"ragmeter {version}: {len(wheels)} wheels and {source.name} in dist/, tried with Python {', '.join(tried)}")
    print(f"the changelog's section is in build/release-notes.md; commit CHANGELOG.md, then: git tag v{version}")


def package_version() -> str:
    """The version in the package."""
    text = (ROOT / "src" / "ragmeter" / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    if match is None:
        sys.exit("src/ragmeter/__init__.py has no __version__")
    return match[1]


def with_date(changelog: str, version: str, date: str) -> str:
    """The changelog with a date in place of `(unreleased)` for this version."""
    return changelog.replace(f"## {version} (unreleased)\n", f"## {version} ({date})\n", 1)


def section(changelog: str, version: str) -> str:
    """What the changelog says of a version, which must be its first section and have a date."""
    first = re.search(r"^## (\S+) \((.+?)\)\n(.*?)(?=^## |\Z)", changelog, re.DOTALL | re.MULTILINE)
    if first is None or first[1] != version:
        sys.exit(f"the first section of CHANGELOG.md must be that of {version}")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", first[2]):
        sys.exit(f"the section of {version} in CHANGELOG.md has no date: run `make release`")
    return first[3].strip() + "\n"


def build() -> tuple[dict[str, Path], Path]:
    """The wheel of each platform and the source distribution, in an empty dist/."""
    shutil.rmtree(DIST, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--outdir", str(DIST), str(ROOT))
    wheels: dict[str, Path] = {}
    for name in (BUILDING["PURE"], *BUILDING["PLATFORMS"]):
        command = (sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(DIST), str(ROOT))
        _run(*command, **{BUILDING["WHEEL"]: name})
        (wheels[name],) = set(DIST.glob("*.whl")) - set(wheels.values())
        print(f"{name}: {wheels[name].name}")
    (source,) = DIST.glob("*.tar.gz")
    _run(sys.executable, "-m", "twine", "check", "--strict", *map(str, wheels.values()), str(source))
    return wheels, source


def library_of(name: str) -> str:
    """What the library of a platform is called in its wheel."""
    system = BUILDING["PLATFORMS"][name].system
    return f"ragmeter/kernel/{BUILDING['kernel']().library_name(system)}"


def check_files(wheel: Path, source: Path, library: str = "") -> None:
    """The wheel has every file of the package, its library and nothing else; the source distribution no tests' data."""
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
        digest = BUILDING["kernel"]().digest().encode()
        if library in packed and digest not in archive.read(library):
            sys.exit(f"{wheel.name}: {library} was made of other sources")
    listed = subprocess.run(
        ["git", "ls-files", "src/ragmeter", "examples/nq"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    expected = {f"ragmeter/{name}" if name.startswith("examples") else name.removeprefix("src/") for name in listed}
    expected |= {library} if library else set()
    if packed != expected:
        sys.exit(f"the wheel lacks {sorted(expected - packed)}, and should not have {sorted(packed - expected)}")
    with tarfile.open(source) as archive:
        foreign = [name for name in archive.getnames() if re.match(r"[^/]+/(tests|benchmarks|training)(/|$)", name)]
    if foreign:
        sys.exit(f"the source distribution should not have {foreign[:5]}")


def try_wheels(wheels: Mapping[str, Path], version: str) -> bool:
    """Try the wheel of this machine, if it is among them, and the one for all; whether that Python is here."""
    own = f"{sys.platform}-{platform.machine()}"
    wanted = {name: "compiled" for name in wheels if name == own} | {BUILDING["PURE"]: "plain Python"}
    return all(try_wheel(wheels[name], version, kernel) for name, kernel in wanted.items())


def try_wheel(wheel: Path, version: str, kernel: str) -> bool:
    """Install it for a Python of this version and evaluate an example; whether that Python is here."""
    python = shutil.which(f"python{version}")
    if python is None or subprocess.run([python, "-V"], capture_output=True, check=False).returncode:
        print(f"Python {version} is not here: not tried")
        return False
    with tempfile.TemporaryDirectory() as scratch:
        _run(python, "-m", "venv", f"{scratch}/venv")
        binaries = Path(scratch) / "venv" / ("Scripts" if os.name == "nt" else "bin")
        _run(str(binaries / "python"), "-m", "pip", "install", "--quiet", str(wheel))
        ragmeter = str(binaries / "ragmeter")
        versions = _run(ragmeter, "--version", cwd=scratch).splitlines()
        if not any(line.startswith(f"kernel: {kernel}") for line in versions):
            sys.exit(f"{wheel.name} on Python {version}: {versions[2]}, and {kernel} was expected")
        print(f"{versions[0]} on Python {version}, {versions[2]}")
        files = [f"--{name}={ROOT}/examples/{file}" for name, file in EXAMPLE_FILES.items()]
        shown = _run(ragmeter, "evaluate", *files, "--metrics", EXAMPLE[0], "--json", cwd=scratch)
    mean = json.loads(shown)["metrics"][EXAMPLE[0]]["mean"]
    if abs(mean - EXAMPLE[1]) > 0.0001:
        sys.exit(f"Python {version}: {EXAMPLE[0]} is {mean}, and {EXAMPLE[1]} was expected")
    return True


def _run(*command: str, cwd: str | Path = ROOT, **variables: str) -> str:
    """What a command prints; its failure ends the release. Nothing of the clone's is imported."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
