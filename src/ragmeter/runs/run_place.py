"""Where a new run is put. Its name is settled once; a number in it is taken under the lock of the run's folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ragmeter.errors import BusyError
from ragmeter.io.locations import Location
from ragmeter.io.names import is_numbered, next_names, run_name
from ragmeter.io.write import check_writable
from ragmeter.runs.places import hold


@dataclass(frozen=True)
class RunPlace:
    """The folder of a new run.

    `doing` is what a process that waits for it is told, `asks` whether that takes calls to a server. `replace`: an
    older run gives way even if paid replies in it are lost. `lasts`: the same command would have this place again.
    """

    path: Location
    doing: str
    asks: bool = False
    replace: bool = False
    lasts: bool = True

    @classmethod
    @contextmanager
    def named(
        cls,
        name: str,
        folder: Location,
        doing: str,
        *,
        asks: bool,
        replace: bool = False,
        latest: bool = False,
        usual: bool = False,
    ) -> Iterator[RunPlace]:
        """The place of a run of this name. {n} in it is the next free number, and the run is held meanwhile.

        A number is taken if a run has it, or if another process holds its place. With `latest` it is the highest one in
        use. A name that nobody gave is the `usual` one: if a run has it, the new one gets a number as well. A store has
        no locks, so that there two processes may still take the same.
        """
        names: Iterable[str]
        if usual:
            names = chain([name], next_names(f"{name}-{{n}}", folder))
        elif latest or not is_numbered(name):
            yield cls(folder / run_name(name, folder, latest=latest), doing, asks, replace)
            return
        else:
            names = next_names(name, folder)
        with _held(names, folder, doing, asks=asks) as path:
            yield cls(path, doing, asks, replace, lasts=False)

    @classmethod
    def planned(cls, name: str, folder: Location, doing: str) -> RunPlace:
        """The place that a run of this name would have now; nobody is kept from it."""
        return cls(folder / run_name(name, folder), doing)


@contextmanager
def _held(names: Iterable[str], folder: Location, doing: str, *, asks: bool) -> Iterator[Location]:
    """Hold the place of the first of these names that no run has, and no process is at work on."""
    if isinstance(folder, Path):
        check_writable(folder)
    for name in names:
        path = folder / name
        with ExitStack() as stack:
            try:
                stack.enter_context(hold(path, doing, asks=asks, wait=False))
            except BusyError:
                continue
            if not path.exists():  # otherwise it was finished after the folder was listed
                yield path
                return
