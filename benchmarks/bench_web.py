"""A chat page that streams its answers for a second each: ragmeter's workers beside one question at a time."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from common import BenchmarkError, progress, table

_SITE = Path(__file__).parents[1] / "tests" / "web" / "site.py"
_SECONDS, _WORKERS = 1.0, 4


def web(folder: Path, *, quick: bool) -> None:
    """Wall time of many questions, over the time that the answers themselves take."""
    from ragmeter.targets.web.visit import Page

    progress("web")
    number = 20 if quick else 200
    process = subprocess.Popen([sys.executable, str(_SITE)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address = f"http://127.0.0.1:{process.stdout.readline().strip()}/streamed?seconds={_SECONDS:g}"
        plain = Page(address, "#query-input", "#submit-button", same_page=True)
        with_selector = Page(
            address, "#query-input", "#submit-button", same_page=True, ready_selector="#submit-button:enabled"
        )
        lines = []
        for name, page, workers, questions in (
            (f"ragmeter, {_WORKERS} pages, --ready-selector", with_selector, _WORKERS, number),
            (f"ragmeter, {_WORKERS} pages, the page says nothing", plain, _WORKERS, number),
            ("one question at a time", plain, 1, number // 10),
        ):
            seconds = _asked(page, workers, questions)
            ideal = questions * _SECONDS / workers
            lines.append(
                (name, f"{questions}", f"{seconds:.1f}", f"{questions / seconds:.2f}", f"{seconds / ideal:.2f}")
            )
    finally:
        process.terminate()
        process.communicate()
    table(
        f"WEB  answers of {_SECONDS:g} s, streamed; the browser's start included; target for the first line: 1.25",
        ("how", "questions", "seconds", "questions/s", "over the ideal"),
        lines,
    )


def _asked(page: object, workers: int, questions: int) -> float:
    from ragmeter.effects.limits.calls import Limits
    from ragmeter.targets.port import Answer, Question
    from ragmeter.targets.replies import ask
    from ragmeter.targets.web.target import WebTarget
    from ragmeter.targets.web.visit import Page

    assert isinstance(page, Page)
    begin = time.perf_counter()
    asked = [Question(str(i), f"question {i}") for i in range(questions)]
    replies = ask(WebTarget(page), asked, Limits(workers), None, lambda count: None).in_order
    seconds = time.perf_counter() - begin
    for number, reply in enumerate(replies):
        good = isinstance(reply, Answer) and reply.answer.startswith(f"Answer to question {number}:")
        if not good or not str(getattr(reply, "answer", "")).endswith("end."):
            raise BenchmarkError(f"question {number} was lost, swapped or cut: {reply}")
    return seconds
