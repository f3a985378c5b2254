"""What a run under way says of itself, in a small file beside the runs."""

from __future__ import annotations

from typing import Annotated

from ragmeter.documents.record import Meta, Record

_LARGEST = 10**15
Number = Annotated[int, Meta(ge=0, le=_LARGEST)]
Amount = Annotated[float, Meta(ge=-_LARGEST, le=_LARGEST)]


class Exchange(Record, frozen=True):
    """A question that was answered, both shortened."""

    question: str
    answer: str


class RunUnderWay(Record, frozen=True):
    """How far a run is."""

    run: str
    what: str  # what is being done
    total: Number | None  # rows; None where nobody knows
    begun: Amount  # when, in seconds since 1970
    pid: int  # the process that is at work, on the machine `host`
    done: Number
    failures: dict[str, Number]  # rows by cause
    latest: list[Exchange]
    cost_usd: Amount  # so far
    host: str
    right: Annotated[float, Meta(ge=0, le=1)] | None = None  # of the verdicts so far
