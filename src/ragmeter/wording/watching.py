"""Sentences about a metric over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from ragmeter.documents.record import Interval
from ragmeter.wording.numbers import (
    MISSING,
    deserved_decimals,
    given,
    interval,
    number,
    percent,
    signed,
    signed_interval,
)


class WatchedLook(Protocol):
    """A look, as a sentence needs it."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> float | None: ...
    @property
    def interval(self) -> Interval | None: ...
    @property
    def level(self) -> float: ...


class WatchedMetric(Protocol):
    """What was watched, as sentences need it."""

    @property
    def metric(self) -> str: ...
    @property
    def margin(self) -> float: ...
    @property
    def level(self) -> float: ...
    @property
    def baseline(self) -> str | None: ...
    @property
    def target(self) -> float | None: ...
    @property
    def n_clipped(self) -> int: ...
    @property
    def is_dated(self) -> bool: ...
    @property
    def looks(self) -> Sequence[WatchedLook]: ...
    @property
    def beyond(self) -> Sequence[WatchedLook]: ...
    @property
    def without_scores(self) -> Sequence[WatchedLook]: ...


def watched_lines(watched: WatchedMetric) -> Iterator[str]:
    """The verdict, and then what it rests on."""
    n, margin = len(watched.looks), f"the margin of {given(watched.margin)}" if watched.margin else ""
    against = f"the baseline {watched.baseline}" if watched.target is None else f"the target {given(watched.target)}"
    if watched.beyond:
        look = watched.beyond[0]
        more = f", and {len(watched.beyond) - 1:,} more" if len(watched.beyond) > 1 else ""
        beyond = f"by more than {margin}" if margin else "for sure"
        yield f"{watched.metric} left {against} {beyond}: {look.name} ({_figures(watched, look)}){more}."
    elif watched.without_scores:
        names = ", ".join(look.name for look in watched.without_scores)
        yield f"{watched.metric} has too few scores to say anything: {names}."
    else:
        yield (
            f"{watched.metric} is not seen to leave {against}{f' by more than {margin}' if margin else ''}: "
            f"{n:,} look{'' if n == 1 else 's'}."
        )
    yield (
        f"All looks together hold at {percent(watched.level)}, however often you look: the last one has "
        f"{percent(watched.looks[-1].level)} for itself."
    )
    if watched.n_clipped:
        yield f"clipped to the bounds: {watched.n_clipped:,} scores"
    if not watched.is_dated and n > 1:
        yield "some have no date, so they are in the order in which they were named"


def _figures(watched: WatchedMetric, look: WatchedLook) -> str:
    decimals = deserved_decimals(look.interval)
    if watched.target is not None:
        figures = number(look.value, decimals=decimals), interval(look.interval, decimals=decimals)
    else:
        figures = signed(look.value, decimals=decimals), signed_interval(look.interval, decimals)
    return f"{figures[0] or MISSING}, {percent(look.level)}: {figures[1]}"
