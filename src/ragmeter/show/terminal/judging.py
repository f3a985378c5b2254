"""Shows a judge's lines and the estimated cost of judging on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragmeter.show.numbers import money
from ragmeter.show.sentences.judging import CAUSE, PLAIN, STRONG, WARNING, Line
from ragmeter.show.terminal.console import console

_STYLES = {WARNING: "red", CAUSE: "red", STRONG: "bold", PLAIN: ""}


def print_lines(lines: Iterable[Line]) -> None:
    """Print each line in the style of its kind."""
    out = console()
    for line, kind in lines:
        out.sentence(line, _STYLES[kind])


def estimated(estimate: Mapping[str, Any], *, unit: str = "rows", note: str = "") -> None:
    """The estimated calls, tokens and cost of judging."""
    out = console()
    tokens = f"{estimate['prompt_tokens']:,} tokens in and {estimate['completion_tokens']:,} out"
    cost = estimate["cost_usd"]
    prices = f"prices of {estimate['prices_as_of']}" if estimate.get("prices_as_of") else "your prices"
    price = f"{money(cost or 0)} at {prices}" if cost is not None else "the price is not known (--prices)"
    calls = f"about {estimate['calls']:,}, and {estimate['recorded']:,} recorded before"
    out.print(
        f"{unit}: {estimate[unit]:,}; calls: {calls} ({note}more where a reply can't be read and is asked for again; "
        "--judge-budget and --judge-max-calls set limits)",
        soft_wrap=True,
    )
    if doubtful := estimate.get("if_in_doubt"):
        more = f"up to {doubtful:,} more in other words, where the model is in doubt (--judge-wordings)"
        out.print(f"{more}; what they cost is not in the line below", soft_wrap=True)
    if checks := estimate.get("check_calls"):
        out.print(f"{checks} calls more to try the judge on built-in cases (--no-judge-check)", soft_wrap=True)
    if notice := estimate.get("journal_notice"):
        out.sentence(notice, "red")
    out.print(f"about {tokens}; {price}", soft_wrap=True)
    out.print("nothing was asked", soft_wrap=True)
