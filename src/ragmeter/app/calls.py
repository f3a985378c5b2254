"""The calls behind a row: prompt, reply, tokens, dollars and latency."""

from __future__ import annotations

from collections.abc import Iterator

from ragmeter.analysis.calls import Call, calls_or_problem
from ragmeter.app import wording
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, element, joined, text
from ragmeter.table import Row
from ragmeter.wording import numbers

#: A message that is longer is cut, and says so.
_LONGEST = 20_000


def calls(run: Run, place: int, row: Row) -> Content:
    """The calls of a row, each folded to a line."""
    recorded, problem = calls_or_problem(run, place, row)
    return [*map(_call, recorded), element("p", text(problem), class_="soft") if problem else None]


def _call(call: Call) -> Markup:
    messages = [joined(element("h3", text(role)), _text(content)) for role, content in call.messages]
    judged = call.column != "answer"
    notes = [note for note, wanted in ((wording.PROMPT_CHANGED, call.changed), (wording.MARKERS, judged)) if wanted]
    return element(
        "details",
        element("summary", element("strong", text(call.column)), " ", text(" · ".join(_figures(call)))),
        messages,
        element("h3", wording.REPLY),
        _text(call.reply or call.note or wording.NO_REPLY),
        element("p", text(call.note), class_="lacking") if call.note and call.reply else None,
        element("p", " ".join(notes), class_="soft") if notes else None,
        class_="card call",
    )


def _figures(call: Call) -> Iterator[str]:
    if call.asked:
        yield call.asked
    if call.prompt_tokens is not None and call.completion_tokens is not None:
        yield f"{call.prompt_tokens:,} + {call.completion_tokens:,} tokens"
    if call.cost_usd is not None:
        yield numbers.money(call.cost_usd)
    if call.latency_ms is not None:
        yield f"{call.latency_ms:,.0f} ms"
    if call.attempts > 1:
        yield f"{call.attempts} attempts"
    yield call.at[:19].replace("T", " ")


def _text(content: str) -> Markup:
    cut = f" … ({len(content):,} characters)" if len(content) > _LONGEST else ""
    return element("p", text(content[:_LONGEST] + cut))
