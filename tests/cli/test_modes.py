"""The table of options and the modes in which they have an effect."""

from __future__ import annotations

import argparse

import pytest

from ragmeter.cli import modes
from ragmeter.cli.commands import COMMANDS
from ragmeter.cli.gate_options import gate_options
from ragmeter.cli.modes import Table, evaluate_table, refuse_idle
from ragmeter.cli.parser import destinations
from ragmeter.errors import UsageError

TABLES = {
    "evaluate": [evaluate_table(), modes.JUDGE, modes.METRIC_SETTINGS, modes.SETTLED],
    "ask": [modes.JUDGE, modes.METRIC_SETTINGS, modes.SETTLED],
    "web": [modes.JUDGE, modes.METRIC_SETTINGS, modes.SETTLED],
    "crag evaluate": [modes.JUDGE],
    "compare": [modes.COMPARE, modes.JUDGE, modes.SETTLED],
    "calibrate": [modes.CALIBRATE],
    "doctor": [modes.DOCTOR],
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_names_options_of_its_command(name: str) -> None:
    known = {action.dest for action in COMMANDS[name].parser()._actions}
    for table in TABLES[name]:
        assert set(table) - known == set()


def test_each_option_of_evaluate_has_its_modes() -> None:
    """A new option needs a line, or is one that always has an effect; the gate's have a message of their own."""
    files = {"results", "results_file", "reference_file"}
    always = {"help", "help_all", "evaluator", "metrics", *files, "output_dir", "json", *destinations(gate_options)}
    known = {action.dest for action in COMMANDS["evaluate"].parser()._actions}
    assert known - set(evaluate_table()) == always


def parsed(line: str) -> argparse.Namespace:
    chosen: argparse.Namespace = COMMANDS["evaluate"].parser().parse_args(line.split())
    return chosen


NEW = "--results x.csv --metrics token_f1"
ADDED = "--run x --metrics token_f1"
EVALUATOR = "--results x.csv --evaluator EditDistanceEvaluator"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{NEW} --output-format csv", "--output-format has no effect with --metrics"),
        (f"{NEW} --retry-failed", "--retry-failed has no effect without --judge-model"),
        (f"{EVALUATOR} --engine threads", "--engine has no effect with --evaluator EditDistanceEvaluator"),
        (f"{EVALUATOR} --language es", "--language has no effect with --evaluator EditDistanceEvaluator"),
        (f"{EVALUATOR} --no-judge-check", "--no-judge-check has no effect with --evaluator EditDistanceEvaluator"),
        (f"{EVALUATOR} --labels x", "--labels has no effect with --evaluator EditDistanceEvaluator"),
        (f"{EVALUATOR} --cluster none", "--cluster has no effect with --evaluator EditDistanceEvaluator"),
        (f"{ADDED} --level 0.95", "--level has no effect without --results: metrics are added"),
        (f"{ADDED} --no-quotes", "--no-quotes has no effect without --results: metrics are added"),
        (f"{ADDED} --skip-bad-parts", "--skip-bad-parts has no effect without --results: metrics are added"),
        (f"{ADDED} --output-prefix p", "--output-prefix has no effect without --results: metrics are added"),
    ],
)
def test_an_option_without_an_effect(line: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        refuse_idle(parsed(line), evaluate_table())
    assert refused.value.message == message


@pytest.mark.parametrize(
    "line",
    [
        f"{NEW} --level 0.95 --engine threads --skip-bad-parts",
        f"{NEW} --judge llm --judge-check",
        f"{EVALUATOR} --judge llm --judge-check --output-format csv",
        "--results x.csv --evaluator ResponseEvaluator --language es",
        f"{ADDED} --judge-model m --retry-failed --max-unscored 0.1 --embedding-model m --fail-under token_f1=1",
    ],
)
def test_options_with_an_effect_or_the_usual_value(line: str) -> None:
    refuse_idle(parsed(line), evaluate_table())


@pytest.mark.parametrize(
    ("line", "table", "message"),
    [
        ("--judge-seed 0", modes.JUDGE, "--judge-seed has no effect without --judge-model"),  # 0 is a value, too
        ("--judge cascade", modes.JUDGE, "--judge has no effect without --judge-model"),
        ("--judge offline --llm-share 0", modes.JUDGE, "--llm-share has no effect without --judge cascade"),
        ("--offline-calibration x", modes.JUDGE, "--offline-calibration has no effect with --judge llm"),
        ("--offline-calibration x", modes.SETTLED, "--offline-calibration has no effect without --judge cascade"),
        (
            "--judge offline --judge-model m",
            modes.METRIC_SETTINGS,
            "--judge-model has no effect with --judge offline",
        ),
    ],
)
def test_a_judge_s_option_without_an_effect(line: str, table: Table, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        refuse_idle(parsed(f"{NEW} {line}"), table)
    assert refused.value.message == message


def test_the_first_line_of_a_table_is_named_first() -> None:
    with pytest.raises(UsageError, match="--judge-model has no effect"):
        refuse_idle(parsed(f"{EVALUATOR} --reasons --judge cascade --judge-model m"), evaluate_table())
