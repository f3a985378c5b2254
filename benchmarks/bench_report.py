"""A page of 50,000 rows: how long it takes to make, to open in a real browser, and to search, filter and sort."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from typing import Any

from common import BenchmarkError, measure, progress, ragmeter_command, table
from samples import Sample

_METRICS = "token_f1,token_recall,rouge_l_score,exact_match,cosine_similarity,edit_distance"
_REPEATS = 5
_OPEN_MS, _FILTER_MS = 3000, 200
#: Does something to the page, and says how many milliseconds later it is on the screen, and what the page says then.
_DO = """([what, id, value]) => new Promise((done) => {
  const status = document.getElementById('status');
  const begin = performance.now();
  const seen = new MutationObserver(() => { seen.disconnect(); requestAnimationFrame(() => setTimeout(() => done(
    [performance.now() - begin, status.textContent]))); });
  seen.observe(status, { childList: true, characterData: true, subtree: true });
  const node = document.querySelector(id);
  if (what === 'click') node.click();
  else { node.value = value; node.dispatchEvent(new Event(what)); }
})"""
_ACTIONS = (
    ("search for a word", "input", "#search", "nobel"),
    ("search for two words", "input", "#search", "first war"),
    ("search for what is not there", "input", "#search", "xyzzy"),
    ("search for nothing again", "input", "#search", ""),
    ("filter by outcome", "change", "#only", "failed"),
    ("no filter", "change", "#only", "all"),
    ("sort by a score", "click", 'th[data-key="token_f1"] button', ""),
    ("sort by the question", "click", 'th[data-key="question"] button', ""),
)


def report(folder: Path, *, quick: bool) -> None:
    """Make the page, open it several times, and do what a reader does."""
    count = 5_000 if quick else 50_000
    progress(f"report, {count:,} rows")
    source, page = folder / "report.tsv", folder / "report.html"
    Sample.load("evouna", "en").write(source, count)
    runs = ("--output-dir", str(folder / "runs"))
    measure(
        ragmeter_command(
            "evaluate", "--results", str(source), "--metrics", _METRICS, "--language", "en", "--run", "r", *runs
        )
    )
    made = measure(ragmeter_command("report", "r", "--output", str(page), *runs))
    opened, actions = _in_a_browser(page, count)
    lines = [
        ("make the page", f"{1000 * made.seconds:,.0f}", "", ""),
        ("open it, until its rows can be used", f"{median(opened):,.0f}", _range(opened), f"{_OPEN_MS:,}"),
    ]
    for name, *_ in _ACTIONS:
        target = "" if name.startswith("sort") else f"{_FILTER_MS}"
        lines.append((name, f"{median(actions[name]):,.0f}", _range(actions[name]), target))
    table(
        f"REPORT  {count:,} rows, six metrics, {page.stat().st_size / 1e6:.1f} MB; milliseconds, median of {_REPEATS}; "
        f"{made.peak_bytes / 1e6:,.0f} MB to make it",
        ("what", "ms", "(range)", "target"),
        lines,
    )


def _range(values: list[float]) -> str:
    return f"{min(values):,.0f}-{max(values):,.0f}"


def _in_a_browser(page: Path, count: int) -> tuple[list[float], dict[str, list[float]]]:
    import asyncio

    from ragmeter.targets.web.browser import launch, playwright_api

    async def look() -> tuple[list[float], dict[str, list[float]]]:
        async with playwright_api().async_playwright() as playwright:
            browser = await launch(playwright, None, headed=False)
            opened: list[float] = []
            actions: dict[str, list[float]] = {name: [] for name, *_ in _ACTIONS}
            for _ in range(_REPEATS):
                await _once(browser, page, count, opened, actions)
            await browser.close()
            return opened, actions

    return asyncio.run(look())


async def _once(browser: Any, page: Path, count: int, opened: list[float], actions: dict[str, list[float]]) -> None:
    tab = await browser.new_page(viewport={"width": 1280, "height": 900})
    begin = time.perf_counter()
    await tab.goto(page.as_uri(), wait_until="commit")
    await tab.wait_for_selector("html[data-ready=yes]")
    opened.append(1000 * (time.perf_counter() - begin))
    if await tab.text_content("#status") != f"{count:,} rows":
        raise BenchmarkError(f"the page shows {await tab.text_content('#status')}, not {count:,} rows")
    await tab.wait_for_timeout(500)  # a person has not typed a word before that
    for name, *action in _ACTIONS:
        took, said = await tab.evaluate(_DO, action)
        actions[name].append(took)
        if name == "search for what is not there" and said != f"0 of {count:,} rows":
            raise BenchmarkError(f"{name}: the page says {said!r}")
    await tab.close()
