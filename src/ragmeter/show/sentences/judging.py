"""Lines about a judge: its result on known cases, who decided, what failed, what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragmeter.asked import LLM
from ragmeter.judges.cascade import NO_MODEL
from ragmeter.show.numbers import interval, money, number, whole
from ragmeter.show.sentences.causes import abstained_sentence

_MOST_CAUSES = 5
_FEW_LONG = 0.05  # a smaller share of long references is not worth a warning
_FOR_SHORT = "offline_correct has learnt from answers of a few words; offline_quality is for long ones"
#: The kinds of lines: a warning, an important line, a cause of missing verdicts, any other.
WARNING, STRONG, CAUSE, PLAIN = "warning", "strong", "cause", ""
#: A line, and its kind.
Line = tuple[str, str]


def judge_lines(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> Iterator[Line]:
    """Everything about the columns that a judge has filled and their cost, from a run's summary and manifest."""
    yield from long_reference_lines(summary)
    if abstained := abstained_sentence(summary.get("abstained")):
        yield abstained, PLAIN
    judges = _judges(summary)
    if not judges:
        return
    if check := summary.get("judge_check"):
        yield check_line(check), PLAIN
    for name, column in judges.items():
        prefix = f"{name}: " if len(judges) > 1 else ""
        if column["judged_by"] and (not prefix or column["judged_by"].keys() != {LLM}):
            yield prefix + decided_by(column["judged_by"]), PLAIN
        if "cascade" in column:
            yield from ((prefix + line, kind) for line, kind in cascade_lines(column["cascade"]))
        yield from ((f"  {prefix}{line.strip()}", kind) for line, kind in cause_lines(column["causes"]))
        if column["flip_rate"] is not None:
            yield f"{prefix}flip rate: {number(column['flip_rate'])}, n = {column['n_judged_repeatedly']:,}", PLAIN
        for warning in column["warnings"]:
            yield prefix + warning, WARNING
    usage, effort = (
        (summary.get("judge_usage"), manifest.get("judging"))
        if "judges" in summary
        else (summary.get("usage"), manifest.get("effort"))
    )
    if usage and effort:
        yield from effort_lines(usage, effort)


def long_reference_lines(summary: Mapping[str, Any]) -> Iterator[Line]:
    """A warning where the offline judge of short answers was given long references."""
    long, rows = summary.get("long_references", 0), summary.get("n_rows", 0)
    if long > _FEW_LONG * rows:
        yield f"{long:,} of {rows:,} references are longer than a sentence: {_FOR_SHORT}", WARNING


def _judges(summary: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The summary of each column that a judge has filled. Conversations have one, at the top level of the summary."""
    if "judges" in summary or "judged_by" not in summary:
        judges: Mapping[str, Mapping[str, Any]] = summary.get("judges") or {}
        return judges
    counts = {name: summary[name] for name in ("judged_by", "flip_rate", "n_judged_repeatedly")}
    cascade = {"cascade": summary["cascade"]} if "cascade" in summary else {}
    warnings = summary.get("judge_warnings") or []
    return {"verdict": {**counts, **cascade, "causes": summary.get("causes") or {}, "warnings": warnings}}


def judge_model(manifest: Mapping[str, Any]) -> str:
    """The judge's model, or an empty text."""
    asked = [*(manifest.get("asked") or {}).values(), manifest.get("judge") or {}]
    return next((str(entry["model"]) for entry in asked if entry.get("model")), "")


def judge_causes(summary: Mapping[str, Any]) -> dict[str, int]:
    """Why rows have no verdict, over all columns that a judge has filled."""
    causes: dict[str, int] = {}
    for column in _judges(summary).values():
        for cause, count in column["causes"].items():
            causes[cause] = causes.get(cause, 0) + count
    return causes


def check_line(check: Mapping[str, Any]) -> str:
    """The judge's result on the built-in cases."""
    if check["skipped"]:
        return f"this judge was not tried on built-in cases: {check['skipped']}"
    missed = f"; it missed: {'; '.join(check['missed'])}" if check["missed"] else ""
    return f"this judge got {check['right']} of {check['n']} built-in cases right{missed}"


def decided_by(judged_by: Mapping[str, int]) -> str:
    """Where the verdicts came from."""
    return "verdicts by: " + ", ".join(f"{name} {count:,}" for name, count in judged_by.items())


def cascade_lines(cascade: Mapping[str, Any]) -> Iterator[Line]:
    """What a cascade saved, and the accuracy corrected for the offline judge's mistakes."""
    if cascade["calls_saved"]:
        saved = f", about {money(cascade['saved_usd'])}" if cascade["saved_usd"] is not None else ""
        yield f"calls saved: {cascade['calls_saved']:,}{saved}", PLAIN
    if cascade["basis"] != NO_MODEL:
        yield _threshold(cascade), PLAIN
    audited = cascade["audited"]
    if audited["n"]:
        agreement = f"{number(audited['agreement'])} ({interval(audited['interval'])}), n = {audited['n']:,}"
        yield f"agreement of the model with the offline judge where that was sure: {agreement}", PLAIN
    accuracy = cascade["accuracy"]
    if accuracy["mean"] is not None:
        estimate = f"{number(accuracy['mean'])} ({interval(accuracy['interval'])}), n = {accuracy['n']:,}"
        yield f"accuracy as the model would find it: {estimate}", STRONG
    for warning in cascade["warnings"]:
        yield warning, WARNING


def _threshold(cascade: Mapping[str, Any]) -> str:
    """From where on the offline judge decides, and what became of rows that are exactly so sure."""
    threshold, tied = cascade["threshold"], cascade.get("tied")
    limit = "nothing is sure enough" if threshold is None else f"sure from {number(threshold)} on"
    split = f"; of {tied['n']:,} that are exactly so sure, {tied['asked']:,} go to the model, by qid" if tied else ""
    return f"threshold: {limit}, set by {cascade['basis']}{split}"


def cause_lines(causes: Mapping[str, int]) -> Iterator[Line]:
    """Why there is no verdict, most frequent first."""
    for cause, count in list(causes.items())[:_MOST_CAUSES]:
        yield f"  {count:,} {cause}", CAUSE
    if len(causes) > _MOST_CAUSES:
        yield f"  and {len(causes) - _MOST_CAUSES:,} other causes: summary.json has them", CAUSE


def effort_lines(usage: Mapping[str, Any], effort: Mapping[str, Any]) -> Iterator[Line]:
    """Calls and cost, if anything was asked, and notices about the journal and the server."""
    if notice := effort.get("journal_notice"):
        yield notice, WARNING
    if effort["made"] or effort["from_journal"]:
        yield spent(usage, effort), PLAIN
        if uncounted := usage.get("calls_without_token_counts"):
            yield _uncounted(uncounted, usage), WARNING
        if refused := ", ".join(effort.get("parameters_the_server_refused", ())):
            yield f"the server does not take {refused}: left out", WARNING


def _uncounted(calls: int, usage: Mapping[str, Any]) -> str:
    """That a server does not count tokens, and what that does to a budget."""
    missing = (
        f"the server gave no token counts for {calls:,} of {usage['calls']:,} calls: they are not in these figures"
    )
    if (charged := usage.get("charged_usd")) is None:
        return missing
    return f"{missing}; each is charged to the budget at the most that it can cost: {money(charged)} in all"


def spent(usage: Mapping[str, Any], effort: Mapping[str, Any]) -> str:
    """Calls, tokens, dollars and latency."""
    parts = [
        f"calls: {usage['calls']:,} ({effort['from_journal']:,} recorded before, {effort['made']:,} made now, "
        f"{effort['retried']:,} of them again)",
        f"tokens: {usage['prompt_tokens']:,} in, {usage['completion_tokens']:,} out",
    ]
    if usage["cost_usd"] is not None:
        parts.append(f"cost: {money(usage['cost_usd'])}")
    if latency := effort.get("latency_ms"):
        parts.append(f"latency: {whole(latency['p50'])} ms median, {whole(latency['p95'])} ms p95")
    return "; ".join(parts)
