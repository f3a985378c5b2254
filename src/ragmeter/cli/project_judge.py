"""The judge of a project: the table `[judge]` in the ragmeter.toml of the current folder, which every command reads."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ragmeter.cli.parser import Parser
from ragmeter.cli.project_keys import check_keys, table_keys
from ragmeter.cli.project_tables import read_table

_TABLE = "judge"


def with_judge_of_project(parser: Parser, arguments: Sequence[str], chosen: argparse.Namespace) -> argparse.Namespace:
    """The options with those of the project's judge, where the command needs a judge and names no other.

    A metric that a model judges has to be named, so that nothing is paid for that nobody asked for.
    """
    if not _needs_judge(chosen):
        return chosen
    table = read_table(_TABLE)
    named = chosen.given_flags.get("judge_model") and chosen.judge_model
    model = table.get("model")
    if not table or named not in (None, *(model if isinstance(model, list) else [model])):
        return chosen
    flags = {flag for action in parser._actions for flag in action.option_strings}
    keys = table_keys(_TABLE)
    check_keys(table, keys, f"[{_TABLE}]")
    own = [
        text
        for name, value in table.items()
        if flags.intersection(keys[name].action.option_strings) and keys[name].action.dest not in chosen.given_flags
        for text in keys[name].arguments(value, f"{_TABLE}.{name}")
    ]
    completed: argparse.Namespace = parser.parse_args([*own, *arguments])
    completed.given_flags = chosen.given_flags  # an option of the file that has no effect here is no mistake
    return completed


def _needs_judge(chosen: argparse.Namespace) -> bool:
    """Whether the command asks a model, if one is named."""
    if not hasattr(chosen, "judge_header") or "judge_model" not in vars(chosen):  # `doctor` has a model, and no judge
        return False
    if hasattr(chosen, "closed_book"):  # questions
        return bool(chosen.documents) and not chosen.offline
    if hasattr(chosen, "align"):
        return bool(chosen.align)
    if hasattr(chosen, "turns"):  # crag evaluate
        return True
    if hasattr(chosen, "preference"):
        return bool(chosen.preference)
    if not chosen.metrics:
        return "judge_model" in chosen.given_flags or chosen.judge == "cascade"
    from ragmeter.engine.metric_choice import choose_metrics

    return any(metric.judge_columns for metric in choose_metrics(chosen.metrics))
