"""Lines about what judging would take: calls, tokens and dollars, the most of them, and what a limit cuts off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragmeter.wording.judging import PLAIN, WARNING, Line
from ragmeter.wording.numbers import given, money


def estimate_lines(estimate: Mapping[str, Any], unit: str, note: str) -> Iterator[Line]:
    """The estimate in words; `note` is said of the calls."""
    calls = f"about {estimate['calls']:,}, and {estimate['recorded']:,} recorded before"
    yield (
        f"{unit}: {estimate[unit]:,}; calls: {calls} ({note}more where a reply can't be read and is asked for again; "
        "--judge-budget and --judge-max-calls set limits)",
        PLAIN,
    )
    if checks := estimate.get("check_calls"):
        yield f"{checks} calls more to try the judge on built-in cases (--no-judge-check)", PLAIN
    if skipped := estimate.get("check_skipped"):
        yield f"the judge will not be tried on built-in cases: {skipped}", PLAIN
    if notice := estimate.get("journal_notice"):
        yield notice, WARNING
    cost = estimate["cost_usd"]
    prices = f"prices of {estimate['prices_as_of']}" if estimate.get("prices_as_of") else "your prices"
    price = f"{money(cost)} at {prices}" if cost is not None else "the price is not known (--prices)"
    tokens = f"{estimate['prompt_tokens']:,} tokens in and {estimate['completion_tokens']:,} out"
    yield f"in all about {_all_calls(estimate):,} calls, {tokens}; {price}", PLAIN
    if doubtful := estimate.get("if_in_doubt"):
        most = f"{estimate['most_calls']:,} calls" + (f" and {money(estimate['most_cost_usd'])}" if cost else "")
        yield (
            f"up to {doubtful:,} more in other words, where the model is in doubt (--judge-wordings): at most {most}",
            PLAIN,
        )
    yield from _limit_lines(estimate)
    for name, own in estimate.get("jurors", {}).items():
        of_price = "" if own["cost_usd"] is None else f", {money(own['cost_usd'])}"
        yield f"{name}: about {own['calls']:,} calls{of_price}", PLAIN


def _limit_lines(estimate: Mapping[str, Any]) -> Iterator[Line]:
    """What the limits of calls and dollars cut off, if they do."""
    left = estimate.get("calls_left")
    if left is None or left >= estimate["most_calls"]:
        return
    calls = _all_calls(estimate)
    enough = (
        f"--judge-budget of ${given(estimate['limit'])} lets about {left:,} calls begin"
        if estimate["limited_by"] == "budget"
        else f"--judge-max-calls leaves {left:,} calls"
    )
    if left < calls:
        yield f"{enough}: about {calls - left:,} are not made, and what they are about is skipped_budget", WARNING
    else:
        yield f"{enough}: up to {estimate['most_calls'] - left:,} are not made if the model is often in doubt", WARNING


def _all_calls(estimate: Mapping[str, Any]) -> int:
    return int(estimate["calls"] + estimate.get("check_calls", 0))
