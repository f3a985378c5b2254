"""What is installed: ragmeter, its dependencies and its extras. Nothing is imported for it."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

import ragmeter
from ragmeter import kernel
from ragmeter.hints import DISTRIBUTION

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?\s*\(?\s*(?:>=\s*([0-9][^,;)\s]*))?")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


@dataclass(frozen=True)
class Package:
    """A package that ragmeter uses: its version, None if it is not installed, and the least version that will do."""

    name: str
    version: str | None
    least: str | None = None
    extra: str | None = None

    @property
    def is_fine(self) -> bool:
        """Whether the package is installed, and new enough."""
        return self.version is not None and (self.least is None or _numbers(self.version) >= _numbers(self.least))


def packages() -> list[Package]:
    """The packages that ragmeter's own metadata names; empty where ragmeter is used without being installed."""
    try:
        requirements = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return []
    return list(_read(requirements))


def _read(requirements: list[str]) -> Iterator[Package]:
    for requirement in requirements:
        match = _REQUIREMENT.match(requirement)
        if match is not None:
            extra = _EXTRA.search(requirement)
            yield Package(match[1], version_of(match[1]), match[2], None if extra is None else extra[1])


def version_of(package: str) -> str | None:
    """The version of a package that is installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """The first numbers of a version, for a comparison: 3.10.1 is above 3.9."""
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def version_text() -> str:
    """The version of ragmeter, and below it those of Python, the system and all dependencies, for bug reports."""
    lines = [f"ragmeter {ragmeter.__version__}", f"python {platform.python_version()} ({platform.platform()})"]
    lines.append(f"kernel: {kernel.state()}")
    installed = {package.name: package.version for package in packages() if package.version is not None}
    return "\n".join([*lines, *(f"{name} {version}" for name, version in sorted(installed.items(), key=str))])
