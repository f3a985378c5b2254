"""What a person sees of a judge: how it did on known cases, who decided, what failed, what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragmeter.judges.cascade import NO_MODEL
from ragmeter.judges.prices import AS_OF
from ragmeter.show.numbers import interval, money, number, whole
from ragmeter.show.terminal.console import console

_MOST_CAUSES = 5
#: A line, and how it is printed.
Line = tuple[str, str]


def judge_lines(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> Iterator[Line]:
    """All that there is to say of the columns that a judge has filled, and of what that took."""
    judges = summary.get("judges", {})
    if check := summary.get("check"):
        yield check_line(check), ""
    for name, column in judges.items():
        prefix = f"{name}: " if len(judges) > 1 else ""
        if "cascade" in column:
            yield from cascade_lines(column["cascade"], column["judged_by"])
        elif column["judged_by"]:
            yield prefix + decided_by(column["judged_by"]), ""
        yield from cause_lines(column["causes"])
        if column["flip_rate"] is not None:
            yield f"{prefix}flip rate: {number(column['flip_rate'])}, n = {column['n_judged_repeatedly']:,}", ""
        for warning in column["warnings"]:
            yield prefix + warning, "red"
    effort = manifest.get("judging")
    if judges and effort and (effort["made"] or effort["from_journal"]):
        yield spent(summary["judge_usage"], effort), ""
        if refused := ", ".join(effort["parameters_the_server_refused"]):
            yield f"the server does not take {refused}: left out", "red"


def check_line(check: Mapping[str, Any]) -> str:
    """How the judge did on the built-in cases."""
    if check["skipped"]:
        return f"this judge was not tried on built-in cases: {check['skipped']}"
    missed = f"; it missed: {'; '.join(check['missed'])}" if check["missed"] else ""
    return f"this judge got {check['right']} of {check['n']} built-in cases right{missed}"


def decided_by(judged_by: Mapping[str, int]) -> str:
    """Where the verdicts came from."""
    return "verdicts by: " + ", ".join(f"{name} {count:,}" for name, count in judged_by.items())


def cascade_lines(cascade: Mapping[str, Any], judged_by: Mapping[str, int]) -> Iterator[Line]:
    """Where the verdicts came from, what that saved, and what the accuracy is without the offline judge's mistakes."""
    yield decided_by(judged_by), ""
    if cascade["calls_saved"]:
        saved = f", about {money(cascade['saved_usd'])}" if cascade["saved_usd"] is not None else ""
        yield f"calls saved: {cascade['calls_saved']:,}{saved}", ""
    if cascade["basis"] != NO_MODEL:
        threshold = cascade["threshold"]
        limit = "nothing is sure enough" if threshold is None else f"sure from {number(threshold)} on"
        yield f"threshold: {limit}, set by {cascade['basis']}", ""
    checked = cascade["audited"]
    if checked["n"]:
        agreement = f"{number(checked['agreement'])} ({interval(checked['interval'])}), n = {checked['n']:,}"
        yield f"agreement of the model with the offline judge where that was sure: {agreement}", ""
    accuracy = cascade["accuracy"]
    if accuracy["mean"] is not None:
        shown = f"{number(accuracy['mean'])} ({interval(accuracy['interval'])}), n = {accuracy['n']:,}"
        yield f"accuracy as the model would find it: {shown}", "bold"
    for warning in cascade["warnings"]:
        yield warning, "red"


def cause_lines(causes: Mapping[str, int]) -> Iterator[Line]:
    """Why there is no verdict, most frequent first."""
    for cause, count in list(causes.items())[:_MOST_CAUSES]:
        yield f"  {count:,} {cause}", "red"
    if len(causes) > _MOST_CAUSES:
        yield f"  and {len(causes) - _MOST_CAUSES:,} other causes: summary.json has them", "red"


def spent(usage: Mapping[str, Any], effort: Mapping[str, Any]) -> str:
    """Calls, tokens, dollars and latency."""
    parts = [
        f"calls: {usage['calls']:,} ({effort['from_journal']:,} recorded before, {effort['made']:,} made now, "
        f"{effort['retried']:,} of them again)",
        f"tokens: {usage['prompt_tokens']:,} in, {usage['completion_tokens']:,} out",
    ]
    if usage["cost_usd"] is not None:
        parts.append(f"cost: {money(usage['cost_usd'])}")
    if effort["latency_ms"]:
        latency = effort["latency_ms"]
        parts.append(f"latency: {whole(latency['p50'])} ms median, {whole(latency['p95'])} ms p95")
    return "; ".join(parts)


def estimated(estimate: Mapping[str, Any], *, unit: str = "rows", note: str = "") -> None:
    """What judging would take."""
    out = console()
    tokens = f"{estimate['prompt_tokens']:,} tokens in and {estimate['completion_tokens']:,} out"
    cost = estimate["cost_usd"]
    price = f"{money(cost or 0)} at prices of {AS_OF}" if cost is not None else "the price is not known (--prices)"
    calls = f"about {estimate['calls']:,}, and {estimate['recorded']:,} recorded before"
    out.print(
        f"{unit}: {estimate[unit]:,}; calls: {calls} ({note}more where a reply can't be read and is asked for again; "
        "--judge-budget and --judge-max-calls set limits)",
        soft_wrap=True,
    )
    if checks := estimate.get("check_calls"):
        out.print(f"{checks} calls more to try the judge on built-in cases (--no-judge-check)", soft_wrap=True)
    out.print(f"about {tokens}; {price}", soft_wrap=True)
    out.print("nothing was asked", soft_wrap=True)
