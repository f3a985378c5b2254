"""Where a new run is put: its name is settled once, and an older run of that name is replaced only if it may be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import chain

from ragmeter.io.locations import Location
from ragmeter.io.names import next_names, run_name
from ragmeter.runs.numbering import hold_free, hold_name
from ragmeter.runs.replacing import hold_for_new_run
from ragmeter.runs.run import Run


@dataclass(frozen=True)
class Place:
    """The folder of a new run.

    `doing` is what a process that waits for it is told, `asks` whether that takes calls to a server. `replace`: an
    older run gives way even if paid replies in it are lost.
    """

    path: Location
    doing: str
    asks: bool = False
    replace: bool = False

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
    ) -> Iterator[Place]:
        """The place of this name, in which {n} is the next free number, or with `latest` the last one in use.

        A name that nobody gave is the `usual` one: if a run has it, the new one gets a number.
        """
        if usual:
            held = hold_free(chain([name], next_names(f"{name}-{{n}}", folder)), folder, doing, asks=asks)
        else:
            held = hold_name(name, folder, doing, asks=asks, latest=latest)
        with held as settled:
            yield cls(folder / settled, doing, asks, replace)

    @classmethod
    def planned(cls, name: str, folder: Location, doing: str) -> Place:
        """The place that a run of this name would have now; nobody is kept from it."""
        return cls(folder / run_name(name, folder), doing)

    def hold(
        self, judged_again: Callable[[Run], bool], *, limited: bool = False, instead: str = ""
    ) -> AbstractContextManager[None]:
        """Hold the place while the run is made, as `hold_for_new_run` says."""
        return hold_for_new_run(
            self.path,
            self.doing,
            asks=self.asks,
            replace=self.replace,
            limited=limited,
            judged_again=judged_again,
            instead=instead,
        )
