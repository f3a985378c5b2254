"""What a person sees of answered and judged conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragmeter.judges.cascade import NO_MODEL
from ragmeter.judges.prices import AS_OF
from ragmeter.show.numbers import interval, money, number, whole
from ragmeter.show.terminal import console, printable
from ragmeter.show.terminal.tables import Figures

#: Which of the summary's metrics has the interval of a score.
_INTERVALS = {
    "accuracy": "is_correct",
    "exact_match": "is_exact_match",
    "missing": "is_miss",
    "hallucination_rate": "is_hallucination",
    "mean_multi_turn_conversation_score": "multi_turn_conversation_score",
}
_MOST_CAUSES = 5


def judged(
    scores: Mapping[str, Mapping[str, float | None]],
    summary: Mapping[str, Any],
    effort: Mapping[str, Any],
    folder: Path,
    *,
    has_judge: bool,
) -> None:
    """The scores with their intervals, what could not be scored, what it cost, and where it is."""
    out = console()
    table = Figures.of("score", "all", "95% interval", "ego")
    for name, value in scores["all"].items():
        is_count = name in ("total", "correct_exact", "correct", "miss", "hallucination")
        found = summary["metrics"].get(_INTERVALS.get(name, ""))
        between = interval(found["interval"]) if found else ""
        table.add(name, _shown(value, is_count), between, _shown(scores["ego"][name], is_count))
    out.print(table)
    total, failed = summary["n_rows"], sum(summary["metrics"]["is_correct"]["n_not_scored"].values())
    if failed:
        low, high = summary["accuracy_bounds"]
        out.sentence(
            f"not scored: {failed:,} of {total:,} turns; accuracy is between {number(low)} (all of them wrong) and "
            f"{number(high)} (all right)",
            "bold red",
        )
        _causes(out, summary["causes"])
    if not has_judge and "cascade" not in summary:
        out.print("no judge: an answer is correct only where it matches exactly", soft_wrap=True)
    elif has_judge and (effort["made"] or effort["from_journal"]):
        out.print(_spent(summary["usage"], effort))
        if effort["parameters_the_server_refused"]:
            refused = ", ".join(effort["parameters_the_server_refused"])
            out.print(f"the server does not take {refused}: left out", style="red", soft_wrap=True)
    if "cascade" in summary:
        for line, style in _cascade(summary["cascade"], summary["judged_by"]):
            out.print(line, style=style, soft_wrap=True)
    if summary["flip_rate"] is not None:
        out.print(f"flip rate: {number(summary['flip_rate'])}, n = {summary['n_judged_repeatedly']:,}", soft_wrap=True)
    out.print(
        printable(f"turns: {total:,} of {summary['n_conversations']:,} conversations, in {folder}/"), soft_wrap=True
    )


def _cascade(found: Mapping[str, Any], judged_by: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Where the verdicts came from, what that saved, and what the accuracy is without the offline judge's mistakes."""
    yield "verdicts by: " + ", ".join(f"{name} {count:,}" for name, count in judged_by.items()), ""
    if found["calls_saved"]:
        saved = f", about {money(found['saved_usd'])}" if found["saved_usd"] is not None else ""
        yield f"calls saved: {found['calls_saved']:,}{saved}", ""
    if found["basis"] != NO_MODEL:
        limit = "nothing is sure enough" if found["threshold"] is None else f"sure from {number(found['threshold'])} on"
        yield f"threshold: {limit}, set by {found['basis']}", ""
    checked = found["audited"]
    if checked["n"]:
        agreement = f"{number(checked['agreement'])} ({interval(checked['interval'])}), n = {checked['n']:,}"
        yield f"agreement of the model with the offline judge where that was sure: {agreement}", ""
    accuracy = found["accuracy"]
    if accuracy["mean"] is not None:
        shown = f"{number(accuracy['mean'])} ({interval(accuracy['interval'])}), n = {accuracy['n']:,}"
        yield f"accuracy as the model would find it: {shown}", "bold"
    for warning in found["warnings"]:
        yield warning, "red"


def generated(result: Mapping[str, Any]) -> None:
    """How many turns were answered, and why the others were not."""
    out = console()
    effort = result["effort"]
    out.print(
        f"turns: {result['turns']:,}, answered: {result['answered']:,} ({effort['from_journal']:,} of them earlier), "
        f"shortened: {result['shortened']:,}",
        soft_wrap=True,
    )
    _causes(out, result["causes"])
    out.print(printable(f"written: {result['output']}"), soft_wrap=True)


def estimated(estimate: Mapping[str, Any]) -> None:
    """What it would take."""
    out = console()
    tokens = f"{estimate['prompt_tokens']:,} tokens in and {estimate['completion_tokens']:,} out"
    cost = estimate["cost_usd"]
    price = f"{money(cost or 0)} at prices of {AS_OF}" if cost is not None else "the price is not known (--prices)"
    calls = f"about {estimate['calls']:,}, and {estimate['recorded']:,} recorded before"
    out.print(
        f"turns: {estimate['turns']:,}; calls: {calls} (fewer where conversations end early, more where a reply can't "
        "be read and is asked for again; --budget and --max-calls set limits)"
    )
    out.print(f"about {tokens}; {price}", soft_wrap=True)
    out.print("nothing was asked", soft_wrap=True)


def _shown(value: float | None, is_count: bool) -> str:
    return number(int(value)) if is_count and value is not None else number(value)


def _causes(out: Any, causes: Mapping[str, int]) -> None:
    for cause, count in list(causes.items())[:_MOST_CAUSES]:
        out.sentence(f"  {count:,} {cause}", "red")
    if len(causes) > _MOST_CAUSES:
        out.sentence(f"  and {len(causes) - _MOST_CAUSES:,} other causes: summary.json has them", "red")


def _spent(usage: Mapping[str, Any], effort: Mapping[str, Any]) -> str:
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
