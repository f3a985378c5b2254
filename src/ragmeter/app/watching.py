"""Runs that another process is at work on: a line for each, which goes on as they do."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from ragmeter.app import wording
from ragmeter.documents.status import RunUnderWay
from ragmeter.io.write import dumps
from ragmeter.runs.catalogue import run_stamps
from ragmeter.runs.status import under_way
from ragmeter.show.page.elements import Content, Markup, element, joined, text
from ragmeter.wording import numbers, times
from ragmeter.wording.causes import counted_causes

_EVERY = 1.0


def live(states: Sequence[RunUnderWay]) -> Markup:
    """The runs under way; the script asks for this part of the page again when they have gone on."""
    lines = [_line(state) for state in states]
    title = element("h2", wording.UNDER_WAY, class_="hidden") if lines else None
    return element("div", title, element("ul", lines) if lines else None, id="live", data_mark=_mark_of(states))


def _mark_of(states: Sequence[RunUnderWay]) -> str:
    """Changes when the runs under way have gone on."""
    return hashlib.sha256(repr(states).encode("utf-8", "replace")).hexdigest()[:16]


def _line(state: RunUnderWay) -> Markup:
    """How far a run is, how long it will take, its running mean, what it cost, its failures and its latest answer."""
    done, total = state.done, state.total
    seconds = max(time.time() - state.begun, 0.001)
    counted = f"{done:,}" if total is None else f"{done:,} of {total:,}"
    parts: list[Content] = [f"{state.what}: {counted}"]
    if total and 0 < done < total:
        parts.append(wording.TIME_LEFT.format(time=times.time_left((total - done) * seconds / done)))
    if state.right is not None:
        parts.append(wording.RIGHT_SO_FAR.format(share=numbers.rounded_percent(state.right, 0)))
    if state.cost_usd:
        parts.append(numbers.money(state.cost_usd))
    if state.failures:
        parts.append(element("span", counted_causes(state.failures), class_="lacking"))
    ends = {"max": total, "value": min(done, total)} if total else {}
    latest = None
    if state.latest:
        exchange = f"{state.latest[-1].question} → {state.latest[-1].answer}"
        latest = element("span", text(exchange), class_="soft latest", title=exchange)
    return element(
        "li",
        element("strong", text(state.run), title=state.run),
        element("progress", aria_label=state.run, **ends),
        element("span", [joined(" · " if at else None, part) for at, part in enumerate(parts)], class_="how-far"),
        latest,
    )


def _mark(folder: Path) -> str:
    """Changes when a run is added, replaced or removed: a run is complete some time after its questions are asked."""
    try:
        stamps = repr(run_stamps(folder))
    except OSError:  # the folder can't be read just now
        stamps = ""
    return hashlib.sha256(stamps.encode("utf-8", "replace")).hexdigest()[:16]


def events(folder: Path, request: Request) -> StreamingResponse:
    """Server-sent events: every second marks of the runs under way and of all runs.

    They are sent unchanged, too: the part of the page that shows the runs may be newer than the mark that it came by.
    """

    def look() -> str:
        return dumps({"runs": _mark_of(under_way(folder)), "list": _mark(folder)})

    async def stream() -> AsyncIterator[str]:
        while not await request.is_disconnected():
            yield f"data: {await run_in_threadpool(look)}\n\n"
            await asyncio.sleep(_EVERY)

    return StreamingResponse(stream(), media_type="text/event-stream")
