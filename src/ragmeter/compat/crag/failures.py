"""Turns that failed are heard of: by a warning, and where all failed, by an error."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ragmeter.compat.crag.evaluation import JudgedTurns
from ragmeter.errors import AllFailedError, RagmeterWarning
from ragmeter.hints import option
from ragmeter.targets.replies import failures

_HINT = f"{option('allow_failures', True)} goes on all the same"


def check_turns(turns: Iterable[Mapping[str, Any]]) -> None:
    """Warn of turns without an answer; if no turn has one, raise."""
    rows = list(turns)
    failed = [f"{row['outcome']}: {row['error']}" for row in rows if row["agent_response"] is None]
    if not failed:
        return
    problem = failures(dict(Counter(failed).most_common()), len(rows), "turns")
    if len(failed) == len(rows):
        raise AllFailedError(problem, hint=_HINT)
    warnings.warn(problem, RagmeterWarning, stacklevel=3)


def check_scored(judged: JudgedTurns) -> None:
    """Raise if no turn has a score."""
    causes = Counter(judged.not_scored())
    if causes.total() == len(judged.turns):
        raise AllFailedError(f"no turn has a score, mostly {causes.most_common(1)[0][0]}", hint=_HINT)
