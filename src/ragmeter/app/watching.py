"""Runs that another process is at work on, told to the list of all runs as they go on."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from ragmeter.app import wording
from ragmeter.documents.status import RunUnderWay
from ragmeter.io.write import dumps
from ragmeter.runs.catalogue import run_stamps
from ragmeter.runs.status import under_way
from ragmeter.show.page.elements import Markup, element
from ragmeter.wording import numbers

_EVERY = 1.0


def live() -> Markup:
    """The place on the page; the script fills it."""
    return element("div", id="live", aria_live="polite", data_title=wording.UNDER_WAY)


def described(state: RunUnderWay) -> dict[str, Any]:
    """A run under way in words: how far it is, how long it will take, what it cost, failures by cause."""
    done, total = state.done, state.total
    seconds = max(time.time() - state.begun, 0.001)
    counted = f"{done:,}" if total is None else f"{done:,} of {total:,}"
    parts = [counted, f"{done / seconds:,.1f} a second"]
    if total and 0 < done < total:
        parts.append(wording.TIME_LEFT.format(seconds=(total - done) * seconds / done))
    if state.cost_usd:
        parts.append(numbers.money(state.cost_usd))
    parts += [f"{count:,} {cause}" for cause, count in state.failures.items()]
    return {
        "run": state.run,
        "what": f"{state.what}: {' · '.join(parts)}",
        "done": done,
        "total": total,
        "latest": [[pair.question, pair.answer] for pair in state.latest],
    }


def _mark(folder: Path) -> str:
    """Changes when a run is added, replaced or removed: a run is complete some time after its questions are asked."""
    try:
        stamps = repr(run_stamps(folder))
    except OSError:  # the folder can't be read just now
        stamps = ""
    return hashlib.sha256(stamps.encode("utf-8", "replace")).hexdigest()[:16]


def events(folder: Path, request: Request) -> StreamingResponse:
    """Server-sent events: every second, the runs under way and a mark of the list of all runs, if that has changed."""

    def look() -> str:
        return dumps({"runs": [described(state) for state in under_way(folder)], "list": _mark(folder)})

    async def stream() -> AsyncIterator[str]:
        sent = ""
        while not await request.is_disconnected():
            states = await run_in_threadpool(look)
            if states != sent:
                sent = states
                yield f"data: {states}\n\n"
            await asyncio.sleep(_EVERY)

    return StreamingResponse(stream(), media_type="text/event-stream")
