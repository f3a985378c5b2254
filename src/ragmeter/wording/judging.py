"""Lines about a judge: its result on known cases, who decided, what failed, what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragmeter.definition.judge_columns import LLM
from ragmeter.documents.judging import ENOUGH_RIGHT, FEWEST_RIGHT, NO_MODEL, CascadeSummary, JudgeCheck
from ragmeter.documents.manifest import Manifest
from ragmeter.documents.record import Interval
from ragmeter.documents.summary import Summary
from ragmeter.documents.usage import Calls, Effort, Usage, total_usage
from ragmeter.wording.causes import abstained_sentence
from ragmeter.wording.numbers import interval, money, number, whole

_MOST_CAUSES = 5
_FEW_LONG = 0.05  # a smaller share of long references is not worth a warning
_FOR_SHORT = "offline_correct has learnt from answers of a few words; offline_quality is for long ones"
#: The kinds of lines: a warning, an important line, a cause of missing verdicts, any other.
WARNING, STRONG, CAUSE, PLAIN = "warning", "strong", "cause", ""
#: A line, and its kind.
Line = tuple[str, str]


def judge_lines(summary: Summary, manifest: Manifest, now: Calls | None = None) -> Iterator[Line]:
    """Everything about the columns that a judge has filled and their cost, from a run's summary and manifest.

    `now` are the calls of this command, if it has asked a judge.
    """
    yield from long_reference_lines(summary)
    yield from unknown_language_lines(summary)
    if abstained := abstained_sentence(summary.abstained):
        yield abstained, PLAIN
    judges = summary.judges
    if not judges:
        return
    usages = _usages(summary, manifest)
    if summary.judge_check is not None:
        yield check_line(summary.judge_check, is_named=len(usages) > 1)
    for name, column in judges.items():
        prefix = f"{name}: " if len(judges) > 1 else ""
        if column.judged_by and (not prefix or column.judged_by.keys() != {LLM}):
            yield prefix + decided_by(column.judged_by), PLAIN
        if column.cascade:
            yield from ((prefix + line, kind) for line, kind in cascade_lines(column.cascade))
        causes = cause_lines(column.causes, column.unreadable or {})
        yield from ((f"  {prefix}{line.strip()}", kind) for line, kind in causes)
        if column.flip_rate is not None:
            yield (
                prefix + flip_rate_line(column.flip_rate, column.flip_rate_interval, column.n_judged_repeatedly),
                PLAIN,
            )
        yield from ((prefix + line, kind) for line, kind in one_wording_lines(column.n_without_second_wording or 0))
        for warning in column.warnings:
            yield prefix + warning, WARNING
    if now is not None:
        yield from effort_lines(now.usage, now.effort)
    yield from _spent_lines(usages, manifest.judging, now)
    if now is None and summary.judge_usage is not None:
        yield from _uncounted_lines(summary.judge_usage)


def _usages(summary: Summary, manifest: Manifest) -> dict[str, Usage]:
    """What each judge's calls have taken in all, by its model and the columns that it has filled."""
    usages: dict[str, list[Usage]] = {}
    columns: dict[str, list[str]] = {}
    for name, judge in summary.judges.items():
        model = str((manifest.judged_columns.get(name) or {}).get("model", ""))
        columns.setdefault(model, []).append(name)
        usages.setdefault(model, []).append(judge.usage)
    return {f"{model} ({', '.join(columns[model])})": total_usage(of) for model, of in usages.items()}


def _spent_lines(usages: Mapping[str, Usage], effort: Effort | None, now: Calls | None) -> Iterator[Line]:
    """What the calls for a run have taken in all, and if there are several judges each one's."""
    total = total_usage(usages.values())
    if now is not None and total.calls == now.usage.calls:
        return  # this command has made the whole run, and said so
    if len(usages) > 1:
        for judge, usage in usages.items():
            yield f"{judge}: {spent(usage)}", PLAIN
    if len(usages) > 1 or now is not None:
        yield f"in all: {spent(total)}", PLAIN
    elif total.calls:
        yield spent(total) + _latency(effort), PLAIN
    if now is None and effort is not None:
        yield from _refused_lines(effort)


def long_reference_lines(summary: Summary) -> Iterator[Line]:
    """A warning where the offline judge of short answers was given long references."""
    long, rows = summary.long_references or 0, summary.n_rows
    if long > _FEW_LONG * rows:
        yield f"{long:,} of {rows:,} references are longer than a sentence: {_FOR_SHORT}", WARNING


def unknown_language_lines(summary: Summary) -> Iterator[Line]:
    """A warning where rows say a language that is not known."""
    if rows := summary.unknown_languages:
        which = "1 row has" if rows == 1 else f"{rows:,} rows have"
        yield (
            f"{which} a language in the column language that is not known here: it is detected from the texts",
            WARNING,
        )


def flip_rate_line(rate: float, between: Interval | None, n: int) -> str:
    """The share of the `n` rows judged twice or more whose verdicts differ, with its interval."""
    return f"flip rate: {number(rate)} (95%: {interval(between)}), n = {n:,}"


def judge_causes(summary: Summary) -> dict[str, int]:
    """Why rows have no score, over all columns that a judge has filled."""
    causes: dict[str, int] = {}
    for column in summary.judges.values():
        for cause, count in column.causes.items():
            causes[cause] = causes.get(cause, 0) + count
    return causes


def cases_right(check: JudgeCheck, judge: str = "this judge") -> str:
    """How many of the built-in cases a judge got right."""
    return f"{judge} got {check.right} of {check.n} built-in cases right"


def check_caution(check: JudgeCheck) -> str:
    """A warning about a judge that was not refused and is hardly to be trusted; empty if there is none."""
    if check.right >= ENOUGH_RIGHT or not check.n:
        return ""
    return f"that is more than chance ({FEWEST_RIGHT - 1}), and fewer than the {ENOUGH_RIGHT} of a judge to rely on"


def check_line(check: JudgeCheck, *, is_named: bool = False) -> Line:
    """The judge's result on the built-in cases; it is named where there are several."""
    judge = f"the judge {check.model}" if is_named and check.model else "this judge"
    if check.skipped:
        return f"{judge} was not tried on built-in cases: {check.skipped}", PLAIN
    missed = f"; it missed: {first_missed(check)}" if check.missed else ""
    caution = check_caution(check)
    what = f"{cases_right(check, judge)}{caution and ': '}{caution}{missed}"
    return what, WARNING if caution else PLAIN


def first_missed(check: JudgeCheck) -> str:
    """The first cases that a judge missed, and how many more there are."""
    more = f" and {len(check.missed) - _MOST_CAUSES:,} more" if len(check.missed) > _MOST_CAUSES else ""
    return f"{'; '.join(check.missed[:_MOST_CAUSES])}{more}"


def decided_by(judged_by: Mapping[str, int]) -> str:
    """Where the verdicts came from."""
    return "verdicts by: " + ", ".join(f"{name} {count:,}" for name, count in judged_by.items())


def cascade_lines(cascade: CascadeSummary) -> Iterator[Line]:
    """What a cascade saved, and the accuracy corrected for the offline judge's mistakes."""
    if cascade.calls_saved:
        saved = f", about {money(cascade.saved_usd)}" if cascade.saved_usd is not None else ""
        yield f"calls saved: {cascade.calls_saved:,}{saved}", PLAIN
    if cascade.basis != NO_MODEL:
        yield _threshold(cascade), PLAIN
    audited = cascade.audited
    if audited.n:
        agreement = f"{number(audited.agreement)} ({interval(audited.interval)}), n = {audited.n:,}"
        yield f"agreement of the model with the offline judge where that was sure: {agreement}", PLAIN
    accuracy = cascade.accuracy
    if accuracy.mean is not None:
        estimate = f"{number(accuracy.mean)} ({interval(accuracy.interval)}), n = {accuracy.n:,}"
        yield f"accuracy as the model would find it: {estimate}", STRONG
    for warning in cascade.warnings:
        yield warning, WARNING


def _threshold(cascade: CascadeSummary) -> str:
    """The probability from which on the offline judge decides, and what became of rows that have just that."""
    threshold, tied = cascade.threshold, cascade.tied
    limit = "nothing is sure enough" if threshold is None else f"sure from {number(threshold)} on"
    split = f"; of {tied.n:,} that are exactly so sure, {tied.asked:,} go to the model, by qid" if tied else ""
    return f"threshold: {limit}, set by {cascade.basis}{split}"


def cause_lines(causes: Mapping[str, int], unreadable: Mapping[str, str] | None = None) -> Iterator[Line]:
    """Why there is no verdict, most frequent first; `unreadable` has a reply for each cause that is one."""
    for cause, count in list(causes.items())[:_MOST_CAUSES]:
        example = f', for example "{unreadable[cause]}"' if unreadable and cause in unreadable else ""
        yield f"  {count:,} {cause}{example}", CAUSE
    if len(causes) > _MOST_CAUSES:
        yield f"  and {len(causes) - _MOST_CAUSES:,} other causes: summary.json has them", CAUSE


def one_wording_lines(halves: int) -> Iterator[Line]:
    """How many verdicts a limit has left with one wording, if any."""
    if halves:
        were = "verdict that is in doubt rests" if halves == 1 else "verdicts that are in doubt rest"
        yield f"{halves:,} {were} on one wording: the limit left no call for the second", WARNING


def effort_lines(usage: Usage, effort: Effort) -> Iterator[Line]:
    """What a command's calls took, if anything was asked, and notices about the journal and the server."""
    if effort.journal_notice:
        yield effort.journal_notice, WARNING
    if effort.made or effort.from_journal:
        before = effort.from_journal
        new = usage.calls - before
        failed = f", and {effort.made - new:,} more that failed" if effort.made > new else ""
        calls = f" ({before:,} recorded before, {new:,} made now{failed})"
        yield spent(usage, calls) + _latency(effort), PLAIN
        yield from _uncounted_lines(usage)
        yield from _refused_lines(effort)


def _refused_lines(effort: Effort) -> Iterator[Line]:
    if refused := ", ".join(effort.parameters_the_server_refused or ()):
        yield f"the server does not take {refused}: left out", WARNING


def _uncounted_lines(usage: Usage) -> Iterator[Line]:
    """A line if a server does not count tokens, and what that does to a budget."""
    if calls := usage.calls_without_token_counts:
        missing = f"the server gave no token counts for {calls:,} of {usage.calls:,} calls"
        charged = usage.charged_usd
        at_worst = "; each is charged to the budget at the most that it can cost: "
        yield (
            f"{missing}: they are not in these totals" + (at_worst + f"{money(charged)} in all" if charged else ""),
            WARNING,
        )


def spent(usage: Usage, calls: str = "") -> str:
    """Calls with a reply, their tokens and dollars; `calls` says more of the former."""
    parts = [
        f"calls: {usage.calls:,}{calls}",
        f"tokens: {usage.prompt_tokens:,} in, {usage.completion_tokens:,} out",
    ]
    if usage.cost_usd is not None:
        unknown = usage.calls_without_price
        more = f", and {unknown:,} calls whose price is not known" if unknown else ""
        parts.append(f"cost: {money(usage.cost_usd)}{more}")
    return "; ".join(parts)


def _latency(effort: Effort | None) -> str:
    latency = None if effort is None else effort.latency_ms
    return "" if latency is None else f"; latency: {whole(latency.p50)} ms median, {whole(latency.p95)} ms p95"
