"""What is kept of a page to find out later why it failed: a screenshot, its text and its console."""

from __future__ import annotations

import asyncio
import hashlib
import re
from pathlib import Path

from ragmeter.io.cells import whole
from ragmeter.targets.port import Question
from ragmeter.targets.web.page import OpenPage, first_line

#: Seconds for a screenshot and for the texts of all frames; generous, for a busy machine.
_SCREENSHOT, _READ = 30.0, 10.0
#: Characters of a frame's text that are kept, and frames.
_LONGEST, _FRAMES = 1_000_000, 20
#: The text with that of shadow roots, as our script reads it; else what the browser has.
_TEXT = """longest => { const own = window.__ragmeter ? window.__ragmeter.allText(longest).value : null;
    return own || (document.body ? document.body.innerText.slice(0, longest) : ''); }"""


async def keep_evidence(folder: Path, question: Question, page: OpenPage, error: type[Exception]) -> None:
    """Write a screenshot, the page's text and its console output. A page that does not respond shows nothing."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    screenshot, text_file = _files(folder, question)
    screenshot.unlink(missing_ok=True)  # from an earlier attempt
    try:
        text = "(the page does not respond)" if page.frozen else await _read(page, screenshot)
    except TimeoutError:
        text = "(the page can't be read: it does not respond)"
    except error as problem:  # a crashed page shows nothing
        text = f"(the page can't be read: {first_line(problem)})"
    console = "\n".join(page.events.console)
    content = f"{whole(question.text)}\n\n-- page --\n{whole(text)}\n\n-- console --\n{whole(console)}\n"
    text_file.write_text(content, encoding="utf-8")


async def _read(page: OpenPage, screenshot: Path) -> str:
    async with asyncio.timeout(_SCREENSHOT + _READ):
        await page.page.screenshot(path=str(screenshot), timeout=_SCREENSHOT * 1000)
        texts = [await frame.evaluate(_TEXT, _LONGEST) for frame in page.page.frames[:_FRAMES]]
    return "\n\n-- frame --\n".join(str(text)[:_LONGEST] for text in texts)


def drop_evidence(folder: Path, question: Question) -> None:
    """Remove what was kept of a question."""
    for path in _files(folder, question):
        path.unlink(missing_ok=True)


def _files(folder: Path, question: Question) -> tuple[Path, Path]:
    name = re.sub(r"[^\w.-]+", "_", question.qid)[:80]
    if name != question.qid:  # two qids may have become equal
        name += "-" + hashlib.sha256(question.qid.encode("utf-8", "replace")).hexdigest()[:8]
    return folder / f"{name}.png", folder / f"{name}.txt"
