"""Kill a command before its n-th change of the file system, for each n until it comes to its end by itself."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.command import PATIENCE

#: What moves, replaces and removes files and folders.
CHANGES = ("rename", "replace", "unlink", "rmdir")


def killed_everywhere(before: Path, folder: Path, arguments: Sequence[str]) -> list[Path]:
    """Copies of the folder `before` in which the command was killed; in the last one it was not."""
    command = [sys.executable, "-m", "tests.hostile.killing", str(before), str(folder), json.dumps(list(arguments))]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 0, done.stderr
    return [folder / str(number) for number in range(int(done.stdout))]


def main(before: Path, folder: Path, arguments: Sequence[str]) -> int:
    """The process that forks the ones that are killed, so that Python starts once."""
    import ragmeter.cli.main
    import ragmeter.compat.crag.evaluator
    import ragmeter.engine.ask  # noqa: F401 - imported before forking

    number = 0
    while True:
        place = folder / str(number)
        shutil.copytree(before, place)
        child = os.fork()
        if child == 0:
            os._exit(_run(place, arguments, number))
        _, status = os.waitpid(child, 0)
        number += 1
        if not os.WIFSIGNALED(status):
            print(number)
            return os.WEXITSTATUS(status)


def _run(place: Path, arguments: Sequence[str], number: int) -> int:
    from ragmeter.cli.main import main as command

    os.chdir(place)
    sys.path.insert(0, str(place))
    sys.stdout = sys.stderr
    left = number

    def counted(original: Any) -> Any:
        def change(path: Any, *rest: Any, **more: Any) -> Any:
            nonlocal left
            if more.get("dir_fd") is not None or "runs" in (Path.cwd() / path).parts:
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
            return original(path, *rest, **more)

        return change

    for name in CHANGES:
        setattr(os, name, counted(getattr(os, name)))
    return command(list(arguments))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])))
