"""A verdict as Markdown, for a pull request or the summary of a CI job."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from ragmeter.analysis.gating.verdict import Verdict
from ragmeter.show.numbers import MISSING, interval, number, scored
from ragmeter.stats.confidence import percent
from ragmeter.stats.summary import MetricSummary

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_MARKS = re.compile(r"([\\`*_{}\[\]()#+!|~$])")
#: What GitHub makes a link, or a message to somebody, without being told to. A space of no width keeps it from that.
_LIVELY = re.compile(r"(?<!\w)@(?=\w)|(?<=http)s?:(?=//)|(?<=www)\.", re.IGNORECASE)


def markdown(verdict: Verdict) -> str:
    """Whether the gate passed, every check with its reason, what the baselines say, and the run's figures."""
    outcome = "passed" if verdict.passed else "failed"
    lines = [f"## {'✅' if verdict.passed else '❌'} Gate {outcome}: {escaped(verdict.run)}", ""]
    checks = [("✅" if each.passed else "❌", escaped(each.rule), escaped(each.reason)) for each in verdict.checks]
    lines += [*_table(("", "asked", "found"), (":-:", "---", "---"), checks), ""]
    for sentence in verdict.sentences:
        lines += [escaped(sentence), ""]
    figures = [_figures(name, each) for name, each in verdict.metrics.items()]
    lines += _table(("metric", "mean", "interval", "n", "not scored"), ("---", "--:", "--:", "--:", "---"), figures)
    return "\n".join(lines) + "\n"


def _figures(name: str, each: MetricSummary) -> tuple[str, ...]:
    arrow = {"higher": " ↑", "lower": " ↓"}.get(each.direction, "")
    between = MISSING if each.interval is None else f"{interval(each.interval)} ({percent(each.level)})"
    causes = ", ".join(f"{count:,} {escaped(cause)}" for cause, count in each.n_not_scored.items())
    return f"{escaped(name)}{arrow}", number(each.mean), between, scored(each.n_scored, each.n_total), causes


def _table(titles: Iterable[str], rules: Iterable[str], rows: Iterable[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (titles, rules, *rows)]


def escaped(text: str) -> str:
    """A text that Markdown shows as it stands, in a table too: no markup, no HTML, no link, no mention of anybody."""
    quiet = _LIVELY.sub("\\g<0>\u200b", _CONTROL.sub(" ", text))
    return _MARKS.sub(r"\\\1", html.escape(quiet, quote=False))
