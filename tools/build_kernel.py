"""Compiles the kernel, `src/ragmeter/kernel/*.c`: for a clone, and into the wheel of a platform.

`python tools/build_kernel.py` makes the library of this machine where a clone looks for it, with the C compiler that is
here (`CC`, or `cc`). An editable install does the same. A wheel has the library of this machine, or, with
`RAGMETER_WHEEL=NAME`, that of a platform of the table below, made by Zig's compiler, which makes them all anywhere;
`RAGMETER_WHEEL=any` is a wheel without one. Where there is no compiler, ragmeter works without the library.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # neither the tests nor the command need hatchling
    BuildHookInterface = object

ROOT = Path(__file__).parent.parent
KERNEL = ROOT / "src" / "ragmeter" / "kernel"
WHEEL = "RAGMETER_WHEEL"
PURE = "any"
FLAGS = ("-std=c11", "-O2", "-shared", "-fvisibility=hidden", "-s")


class Platform(NamedTuple):
    """What a platform is called by Zig, by `sys.platform`, and in the names of wheels."""

    zig: str
    system: str
    tag: str


PLATFORMS = {
    "linux-x86_64": Platform("x86_64-linux-gnu.2.17", "linux", "manylinux_2_17_x86_64.manylinux2014_x86_64"),
    "linux-aarch64": Platform("aarch64-linux-gnu.2.17", "linux", "manylinux_2_17_aarch64.manylinux2014_aarch64"),
    "musl-x86_64": Platform("x86_64-linux-musl", "linux", "musllinux_1_1_x86_64"),
    "musl-aarch64": Platform("aarch64-linux-musl", "linux", "musllinux_1_1_aarch64"),
    "macos-x86_64": Platform("x86_64-macos.11.0", "darwin", "macosx_11_0_x86_64"),
    "macos-arm64": Platform("aarch64-macos.11.0", "darwin", "macosx_11_0_arm64"),
    "windows-x86_64": Platform("x86_64-windows-gnu", "win32", "win_amd64"),
}


def kernel() -> Any:
    """The package's module, which says what the library is called and made of; the package need not be installed."""
    spec = importlib.util.spec_from_file_location("ragmeter_kernel", KERNEL / "__init__.py")
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]  # the file is there
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def compiler() -> list[str] | None:
    """The C compiler of this machine."""
    command = shlex.split(os.environ.get("CC", "")) or ["cc"]
    return command if shutil.which(command[0]) else None


def compile_kernel(folder: Path, platform: Platform | None = None) -> Path | None:
    """Make the library in a folder, of this machine or of a platform; None if there is no compiler that can."""
    module = kernel()
    command = [sys.executable, "-m", "ziglang", "cc", "-target", platform.zig] if platform else compiler()
    if command is None:
        return None
    system = platform.system if platform else sys.platform
    library = folder / str(module.library_name(system))
    position = [] if system == "win32" else ["-fPIC"]
    with tempfile.TemporaryDirectory(dir=folder) as scratch:  # a process that uses the old one keeps it
        made = Path(scratch) / library.name
        sources = [str(path) for path in module.sources() if path.suffix == ".c"]
        digest = f'-DKERNEL_SOURCES="{module.digest()}"'
        done = subprocess.run(
            [*command, *FLAGS, *position, digest, "-o", str(made), *sources],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            print(f"the kernel was not compiled: {done.stderr.strip()}", file=sys.stderr)
            return None
        return made.replace(library)


class KernelHook(BuildHookInterface):  # type: ignore[misc, unused-ignore]  # hatchling may be missing
    """Puts the library into wheels, and beside its sources for an editable install."""

    _scratch: tempfile.TemporaryDirectory[str] | None = None

    def dependencies(self) -> list[str]:
        """Called by hatchling: Zig is needed only for the wheel of a named platform."""
        return ["ziglang"] if os.environ.get(WHEEL, PURE) != PURE else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a wheel is built."""
        name = os.environ.get(WHEEL)
        if version == "editable":
            compile_kernel(KERNEL)
            return
        if name == PURE:
            return
        platform = PLATFORMS[name] if name else None
        self._scratch = tempfile.TemporaryDirectory(prefix="ragmeter-kernel-")  # until the wheel is built
        library = compile_kernel(Path(self._scratch.name), platform)
        if library is None and platform is not None:
            raise RuntimeError(f"no library for {name}")
        if library is not None:
            own = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform.tag if platform else own}"
            build_data["force_include"][str(library)] = f"ragmeter/kernel/{library.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called by hatchling after a wheel is built. Where a build fails, the folder goes with this object."""
        if self._scratch is not None:
            self._scratch.cleanup()


if __name__ == "__main__":
    made = compile_kernel(KERNEL)
    sys.exit(0 if made is not None else "no library was made: ragmeter works without it, in plain Python")
