"""Times as people say them: `yesterday 17:02`."""

from __future__ import annotations

from datetime import datetime, timedelta

from ragmeter.wording.numbers import number, whole


def local(written: str) -> datetime | None:
    """A time in ISO 8601, on this machine's clock; None for anything else."""
    try:
        return datetime.fromisoformat(written).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def clock() -> datetime:
    """What time it is, on this machine's clock."""
    return datetime.now().astimezone()


def spoken(written: str, now: datetime | None = None) -> str:
    """A time in short: today and yesterday by their names, with the year where it is another one."""
    moment = local(written)
    if moment is None:
        return written
    now = now or clock()
    minute = f"{moment:%H:%M}"
    if moment.date() == now.date():
        return f"today {minute}"
    if moment.date() == (now - timedelta(days=1)).date():
        return f"yesterday {minute}"
    return f"{moment.day} {moment:%b} {minute if moment.year == now.year else moment.year}"


def exact(written: str) -> str:
    """A time to the second, with its zone."""
    moment = local(written)
    return written if moment is None else f"{moment:%Y-%m-%d %H:%M:%S %Z}".rstrip()


def day(written: str) -> str:
    """The day of a time, such as `17 Nov 2026`."""
    moment = local(written)
    return written if moment is None else f"{moment.day} {moment:%b} {moment.year}"


def time_left(seconds: float) -> str:
    """How long something will still take: `3 min`."""
    if seconds < 90:
        return f"{whole(seconds)} s"
    return f"{whole(seconds / 60)} min" if seconds < 90 * 60 else f"{number(seconds / 3600, decimals=1)} h"
