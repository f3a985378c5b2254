"""What `ask` and `web` ask for, read from their options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.cli.gate_options import asks_for_gate
from ragmeter.cli.judge_options import read_judge_of_answers, read_models
from ragmeter.cli.options import read_columns

if TYPE_CHECKING:
    from ragmeter.definition import Metric
    from ragmeter.engine.ask_plan import AskPlan
    from ragmeter.engine.default_metrics import MetricChoice
    from ragmeter.engine.questions import Dataset
    from ragmeter.io.source import Source
    from ragmeter.targets.port import Target


def read_dataset(chosen: argparse.Namespace, source: Source) -> Dataset:
    """The questions to be asked; `web` asks each once."""
    from ragmeter.engine.questions import Dataset

    return Dataset.read(source, read_columns(chosen.column), getattr(chosen, "repeats", 1), chosen.limit)


def choose_by_questions(chosen: argparse.Namespace, dataset: Callable[[], Dataset]) -> MetricChoice | None:
    """The metrics that the questions allow, where none are named. Otherwise the dataset is not read yet."""
    from ragmeter.engine.default_metrics import RETURNED, USUALLY_RETURNED, MetricChoice

    if chosen.metrics is not None:
        return None
    returned = USUALLY_RETURNED if asks_for_gate(chosen) else RETURNED  # for a gate nothing is left out later
    return MetricChoice.before_asking(dataset().batches, read_models(chosen), returned=returned)


def read_ask_plan(
    chosen: argparse.Namespace,
    dataset: Dataset,
    target: Target,
    metrics: Sequence[Metric],
    choice: MetricChoice | None = None,
    *,
    output: Path | None = None,
) -> AskPlan:
    """The plan of asking the system these questions; `web` has no limits of calls."""
    from ragmeter.effects.limits.calls import Limits
    from ragmeter.effects.replies.rounds import Reuse
    from ragmeter.engine.ask_plan import AskPlan
    from ragmeter.engine.judging.setup import JudgeSetup

    if choice is not None and asks_for_gate(chosen):  # a rule may name any of these metrics: all are kept
        dataset.source.say(choice.sentence())
        choice = None
    judge = read_judge_of_answers(chosen)
    most, budget = getattr(chosen, "max_calls", None), getattr(chosen, "budget", None)
    return AskPlan.of(
        dataset,
        target,
        metrics,
        JudgeSetup(judge, chosen.output_dir, chosen.retry_failed, progress=True),
        Limits(chosen.workers, chosen.retries, most, budget, chosen.give_up_after),
        Reuse(chosen.resume, chosen.retry_failed),
        output=output,
        allow_failures=True,  # which the table and the exit code say
        choice=choice,
    )
