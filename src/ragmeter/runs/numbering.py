"""The number of a run whose name has {n}: taken under the lock of the run, so that no other process has the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ragmeter.errors import BusyError
from ragmeter.io.locations import Location
from ragmeter.io.names import is_numbered, next_names, run_name
from ragmeter.io.write import check_writable
from ragmeter.runs.places import hold


@contextmanager
def hold_name(
    name: str, output_dir: Location, doing: str, *, asks: bool = False, latest: bool = False
) -> Iterator[str]:
    """The name of a run with its fields filled in. Where {n} is the next free number, its run is held meanwhile.

    A number is taken if a run has it, or if another process holds its place. With `latest` it is the highest one in
    use. A store has no locks, so that there two processes may still take the same.
    """
    if latest or not is_numbered(name):
        yield run_name(name, output_dir, latest=latest)
        return
    with hold_free(next_names(name, output_dir), output_dir, doing, asks=asks) as free:
        yield free


@contextmanager
def hold_free(names: Iterable[str], output_dir: Location, doing: str, *, asks: bool = False) -> Iterator[str]:
    """Hold the place of the first of these names that no run has, and no process is at work on."""
    if isinstance(output_dir, Path):
        check_writable(output_dir)
    for name in names:
        path = output_dir / name
        with ExitStack() as stack:
            try:
                stack.enter_context(hold(path, doing, asks=asks, wait=False))
            except BusyError:
                continue
            if not path.exists():  # otherwise it was finished after the folder was listed
                yield name
                return
