"""What `ask` and `web` ask for, read from their options."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.cli.judge_options import read_judge_of_answers
from ragmeter.cli.options import read_columns

if TYPE_CHECKING:
    from ragmeter.definition import Metric
    from ragmeter.engine.ask_plan import AskPlan
    from ragmeter.io.source import Source
    from ragmeter.targets.port import Target


def read_ask_plan(
    chosen: argparse.Namespace, source: Source, target: Target, metrics: Sequence[Metric], *, output: Path | None = None
) -> AskPlan:
    """The plan of asking the system about this dataset; `web` has neither repeats nor limits of calls."""
    from ragmeter.effects.calls import Limits
    from ragmeter.effects.rounds import Reuse
    from ragmeter.engine.ask_plan import AskPlan
    from ragmeter.engine.judging.setup import JudgeSetup
    from ragmeter.engine.questions import Dataset

    judge = read_judge_of_answers(chosen)
    repeats, most = getattr(chosen, "repeats", 1), getattr(chosen, "max_calls", None)
    budget = getattr(chosen, "budget", None)
    return AskPlan.of(
        Dataset.read(source, read_columns(chosen.column), repeats, chosen.limit),
        target,
        metrics,
        JudgeSetup(judge, chosen.output_dir, chosen.retry_failed, progress=True),
        Limits(chosen.workers, chosen.retries, most, budget, chosen.give_up_after),
        Reuse(chosen.resume, chosen.retry_failed),
        output=output,
        allow_failures=True,  # which the table and the exit code say
    )
