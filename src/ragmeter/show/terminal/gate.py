"""What a gate says of a run, as a person reads it."""

from __future__ import annotations

import sys

from ragmeter.analysis.gating import Verdict
from ragmeter.show.terminal.console import console
from ragmeter.show.texts import printable


def show_passed(verdict: Verdict) -> None:
    """The checks that passed, and what the baselines say."""
    out = console()
    for check in verdict.checks:
        if check.passed:
            out.sentence(f"passed: {check.reason}", "green")
    for sentence in verdict.sentences:
        out.sentence(sentence)


def show_failed(verdict: Verdict) -> None:
    """The checks that failed, on standard error."""
    sys.stdout.flush()
    reasons = "".join(f"  {printable(check.rule)}\n    {printable(check.reason)}\n" for check in verdict.failed)
    failed = f"the gate failed, {len(verdict.failed):,} of {len(verdict.checks):,} checks"
    print(f"ragmeter: {failed}:\n{reasons}", end="", file=sys.stderr)
