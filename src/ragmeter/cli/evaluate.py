"""`ragmeter evaluate`: by named evaluators, or by metrics."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter import compat
from ragmeter.cli import options
from ragmeter.cli.class_options import EvaluatorParser
from ragmeter.cli.gate_options import asks_for_gate, gate_json, gate_options, pass_gate, print_verdict, read_gate
from ragmeter.cli.judge_options import (
    judge_code,
    judge_options,
    print_judge,
    read_cascade,
    read_judge,
    read_models,
    read_settings,
    settle_judge,
)
from ragmeter.cli.modes import evaluate_table, refuse_idle
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import UsageError, errors_of
from ragmeter.hints import for_command_line
from ragmeter.io.locations import location, on_disk
from ragmeter.io.write import EVALUATION_RESULTS, FORMATS, RUNS, dumps
from ragmeter.naming import Settings

if TYPE_CHECKING:
    from ragmeter.analysis.gating import Gate
    from ragmeter.definition import Metric
    from ragmeter.engine.plan import Plan
    from ragmeter.engine.results import Evaluation
    from ragmeter.io.data import Data
    from ragmeter.judges.asking.judge import Judge
    from ragmeter.runs.run_place import RunPlace

_DESCRIPTION = """\
Score a file of answers. What is measured follows from its columns, unless --metrics says it. The scores go into a run
folder (manifest.json, rows.parquet, summary.json). --evaluator is for the suites of earlier tools, and for classes of
yours like them: it writes an aggregated file and a file of rows.
"""


def run(chosen: argparse.Namespace) -> int:
    """Evaluate, print the results, and say where they were written."""
    _read_files(chosen)
    _check(chosen)
    if chosen.results is None:
        return _add_metrics(chosen)
    if chosen.evaluators:
        return _run_evaluators(chosen)
    return _run_metrics(chosen)


def _read_files(chosen: argparse.Namespace) -> None:
    """Take the files that stand without an option for --results and --reference."""
    for name in ("results", "reference"):
        file = getattr(chosen, f"{name}_file")
        if file is not None and getattr(chosen, name) is not None:
            raise UsageError(f"{file} and --{name} {getattr(chosen, name)}: which is it?", hint="leave one of them out")
        if file is not None:
            setattr(chosen, name, file)
            chosen.given_flags.setdefault(name, file)
    for name in chosen.metrics or ():
        if chosen.results is None and Path(name).is_file():  # --metrics takes all that follows
            raise UsageError(f"{name} is a file, and no metric", hint=f"name it first: ragmeter evaluate {name} ...")


def _check(chosen: argparse.Namespace) -> None:
    """Refuse what can't be done, and options without effect."""
    if chosen.evaluators and chosen.metrics:
        raise UsageError("--evaluator and --metrics don't go together", hint="run the command once for each")
    if chosen.results is None and not (chosen.metrics and chosen.run):
        raise UsageError(
            "which file holds the system's answers?",
            hint="for example `ragmeter evaluate answers.jsonl`, or with gold answers in another file `ragmeter "
            "evaluate answers.jsonl reference.tsv`; with --metrics and --run alone, metrics are added to a run",
        )
    if chosen.evaluators and asks_for_gate(chosen):
        raise UsageError("the gate is for runs, and an evaluator makes none", hint="name metrics with --metrics")
    refuse_idle(chosen, evaluate_table())


def parser() -> Parser:
    """The parser of `ragmeter evaluate`; the options of the evaluators that are named become known when it parses."""
    parser = command_parser("ragmeter evaluate", _DESCRIPTION, kind=EvaluatorParser)
    group = parser.add_argument_group("what to compute")
    group.add_argument(
        "--evaluator",
        metavar="NAME",
        nargs="+",
        action="append",
        default=[],
        help=f"{', '.join(compat.BUILTIN)}, or the dotted path of a class of yours; "
        "with --help, shows the options of that evaluator",
    )
    group.add_argument(
        "--metrics",
        metavar="NAME",
        nargs="+",
        help="for example token_f1,ndcg@10 (`ragmeter metrics` lists them); default: what the columns allow",
    )
    options.language_option(group)
    options.doc_id_option(group)
    options.embedding_options(group)
    group.add_argument(
        "--engine",
        metavar="ENGINE",
        help="who computes: threads, processes (local, or three of them: local:3), or a Dask cluster "
        "(tcp://HOST:8786); default: auto, processes for all cores where there is much to do, else threads",
    )
    group.add_argument("--executor", help=argparse.SUPPRESS)
    group.add_argument(
        "--skip-bad-parts",
        action="store_true",
        help="leave out files, or parts of them, that can't be read, and name them",
    )
    files = options.input_options(parser)
    files.add_argument("results_file", metavar="ANSWERS", nargs="?", help="the system's answers, as --results")
    files.add_argument("reference_file", metavar="REFERENCE", nargs="?", help="the gold answers, as --reference")
    options.keep_option(parser)
    options.missing_option(parser)
    options.statistics_options(parser)
    judge_options(parser, offline=True, encoder=True, jury=True)
    options.unscored_option(parser, "rows that have no score by the judge")
    output = parser.add_argument_group("output")
    output.add_argument(
        "--output-dir",
        metavar="DIR",
        type=location,
        help=f"the folder of runs, also an address such as s3://bucket/runs; default: {RUNS}/, with --evaluator "
        f"{EVALUATION_RESULTS}/",
    )
    options.keeping_options(output, "the file's name and the time")
    output.add_argument("--output-prefix", metavar="P", help="the beginning of the files' names, for --evaluator")
    output.add_argument("--output-format", choices=FORMATS, help="for --evaluator; default: tsv")
    options.formula_option(output)
    output.add_argument("--retry-failed", action="store_true", help="ask the judge again about rows with no score")
    options.json_option(output)
    gate_options(parser)
    return parser


def _keywords(chosen: argparse.Namespace, names: dict[str, str]) -> Settings:
    """The keywords that the user gave; the others keep the class's defaults."""
    return {
        name: getattr(chosen, destination)
        for name, destination in names.items()
        if getattr(chosen, destination, None) is not None
    }


def _run_evaluators(chosen: argparse.Namespace) -> int:
    from ragmeter.compat.files import run_evaluators
    from ragmeter.show import terminal

    instances = []
    for kind, names in chosen.evaluators.items():
        with errors_of(f"{kind.__name__}()"):
            instances.append(kind(**_keywords(chosen, names)))
    written = run_evaluators(
        instances,
        chosen.results,
        chosen.reference,
        columns=options.read_columns(chosen.column),
        reading=options.read_reading(chosen),
        output_dir=on_disk(chosen.output_dir or EVALUATION_RESULTS, "an evaluator"),
        output_prefix=chosen.output_prefix,
        output_format=chosen.output_format or "tsv",
        guard=chosen.guard,
    )
    if chosen.json:
        records = [
            {
                **outcome.result.aggregated(),
                "not_scored": outcome.result.not_scored,
                "join": outcome.join,
                "files": [str(path) for path in outcome.files],
            }
            for outcome in written
        ]
        print(dumps(records, indent=2))
        return 0
    out = terminal.console()
    for outcome in written:
        out.print(terminal.evaluation_table(outcome.result))
        for path in outcome.files:
            out.print(terminal.printable(f"written: {path}"), soft_wrap=True)
        out.print()
    for line in written[0].notes:
        out.print(terminal.printable(line), style="dim", soft_wrap=True)
    for line in terminal.unmatched(written[0].join):
        out.print(line, style="red", soft_wrap=True)
    return 0


def _run_metrics(chosen: argparse.Namespace) -> int:
    from ragmeter.engine.evaluation import EVALUATES
    from ragmeter.io.names import plain_name
    from ragmeter.io.source import stem
    from ragmeter.runs.run_place import RunPlace

    folder = chosen.output_dir or RUNS
    usual = f"{plain_name(stem(location(chosen.results)))}-{datetime.now():%Y%m%d-%H%M%S}"
    name = usual if chosen.run is None else chosen.run
    if chosen.dry_run:
        return _make_run(chosen, RunPlace.planned(name, folder, EVALUATES))
    is_usual = chosen.run is None  # there may be two runs in a second
    asks, replace = chosen.judge_model is not None, chosen.replace
    with RunPlace.named(name, folder, EVALUATES, asks=asks, replace=replace, usual=is_usual) as place:
        return _make_run(chosen, place)


def _make_run(chosen: argparse.Namespace, place: RunPlace) -> int:
    """Evaluate into the run of this place, or say what it would take."""
    from ragmeter.engine.default_metrics import choose_by_columns
    from ragmeter.engine.evaluation import carry_out
    from ragmeter.engine.metric_choice import choose_metrics

    replaced = place.path.exists()
    data = cache(partial(_data, chosen))
    with options.prints_aside():
        if chosen.metrics is None:
            chosen.metrics = choose_by_columns(data(), read_models(chosen)).metrics
        metrics = choose_metrics(chosen.metrics, **read_settings(chosen))
    settle_judge(chosen, metrics)
    gate = read_gate(chosen, place.path.parent, metrics, place.path)
    with options.prints_aside():
        plan = _plan(chosen, data, metrics, place)
        done = plan.estimate() if chosen.dry_run else carry_out(plan)
    if isinstance(done, dict):
        return options.print_estimate(done, json=chosen.json)
    return _show(chosen, done, metrics, gate, replaced=replaced)


def _data(chosen: argparse.Namespace) -> Data:
    """The files, opened."""
    from ragmeter.engine.plan import read_missing
    from ragmeter.io.data import Data

    return Data.open(
        chosen.results,
        chosen.reference,
        columns=options.read_columns(chosen.column),
        reading=options.read_reading(chosen),
        missing_as_zero=read_missing(chosen.missing, chosen.reference),
        rereads=chosen.judge_model is not None,
    )


def _plan(chosen: argparse.Namespace, data: Callable[[], Data], metrics: Sequence[Metric], place: RunPlace) -> Plan:
    """What the options ask for."""
    from ragmeter.engine.executors import executor_of
    from ragmeter.engine.judging.rows import qids_and_answers
    from ragmeter.engine.judging.setup import JudgeSetup, journals_of
    from ragmeter.engine.plan import Plan, Workers

    judge = _judge(chosen, lambda: qids_and_answers(data().batches()))
    confidence = options.read_confidence(chosen)
    workers = Workers(executor_of(chosen.engine or "auto"), chosen.skip_bad_parts)
    setup = JudgeSetup(judge, journals_of(place.path.parent), chosen.retry_failed, progress=True)
    return Plan.of(data(), metrics, setup, confidence, workers, keep_columns=chosen.keep_columns or ()).at(place)


def _show(
    chosen: argparse.Namespace,
    evaluation: Evaluation,
    metrics: Sequence[Metric],
    gate: Gate | None,
    *,
    replaced: bool = False,
) -> int:
    """Print the results, the gate's verdict included; return the exit code, which is about these metrics."""
    from ragmeter.show import terminal
    from ragmeter.wording.ids import id_lines, never_match_lines
    from ragmeter.wording.metrics import cautions

    folder, summary = evaluation.folder, evaluation.summary
    assert folder is not None  # noqa: S101 - a named run is always kept
    verdict = pass_gate(gate, chosen, folder)
    judged = [metric.name for metric in metrics if metric.judge_columns and metric.name in summary.metrics]
    if chosen.json:
        embeddings = {"embeddings": list(evaluation.embeddings)} if evaluation.embeddings else {}
        print(
            dumps({**summary.as_dict(), **embeddings, "folder": str(folder.location), **gate_json(verdict)}, indent=2)
        )
        return print_verdict(verdict, json=True) or judge_code(chosen, folder, judged)
    out = terminal.console()
    for line in never_match_lines(summary):
        out.sentence(for_command_line(line), "red")
    terminal.show_headline(summary.metrics, evaluation.manifest, summary)
    terminal.show_causes(summary.cause)
    out.print(terminal.summary_table(summary.metrics))
    for line in (*map(for_command_line, id_lines(summary)), *cautions(summary.metrics)):
        out.sentence(line)
    problems = terminal.truncated(evaluation.embeddings)
    if chosen.results is not None:  # a run that is only extended has shown these before
        for line in summary.notes:
            out.print(terminal.printable(line), style="dim", soft_wrap=True)
        for line in terminal.percentiles(summary.numbers):
            out.print(line, soft_wrap=True)
        late = [f"column left out of rows.parquet, it appears late: {name}" for name in summary.columns_left_out]
        skipped = [f"part skipped: {reason}" for reason in summary.parts_skipped]
        problems = [*terminal.unmatched(summary.join), *problems, *late, *map(terminal.printable, skipped)]
    for line in problems:  # a row without a partner is why it has no score
        out.print(line, style="red", soft_wrap=True)
    terminal.show_not_scored(summary.metrics)
    print_judge(evaluation.summary, evaluation.manifest, evaluation.judging)
    instead = ", in place of an earlier run" if replaced else ""
    terminal.show_place(folder, summary.n_rows, instead)
    return print_verdict(verdict, json=False) or judge_code(chosen, folder, judged)


def _judge(chosen: argparse.Namespace, rows: Callable[[], tuple[list[str], list[str | None]]]) -> Judge | None:
    """The judge that was chosen, with its cascade; `rows` gives the qids and answers to match labels with."""
    if chosen.judge != "cascade":
        return read_judge(chosen)
    return read_judge(chosen, cascade=read_cascade(chosen, options.read_random_labels(chosen.labels, rows)))


def _add_metrics(chosen: argparse.Namespace) -> int:
    """Add metrics to an existing run."""
    from ragmeter.engine.added_metrics import Addition
    from ragmeter.engine.evaluation import add
    from ragmeter.engine.executors import executor_of
    from ragmeter.engine.judging.rows import rows_of_run
    from ragmeter.engine.judging.setup import JudgeSetup
    from ragmeter.engine.metric_choice import choose_metrics
    from ragmeter.io.names import run_name
    from ragmeter.runs.lookup import find_run

    folder = chosen.output_dir or RUNS
    chosen.run = run_name(chosen.run, folder, latest=True)
    path = folder / chosen.run
    if not path.exists():
        from ragmeter.runs.layout import unknown_run

        error = unknown_run(chosen.run, folder)
        raise UsageError(error.message, hint=f"{error.hint}; a new run needs --results")
    with options.prints_aside():
        metrics = choose_metrics(chosen.metrics, **read_settings(chosen))
    settle_judge(chosen, metrics)
    existing = find_run(path, folder).measures.values() if asks_for_gate(chosen) else ()
    gate = read_gate(chosen, folder, [*metrics, *existing], path)
    judge = _judge(chosen, lambda: rows_of_run(path))
    setup = JudgeSetup(judge, None, chosen.retry_failed, progress=judge is not None)
    with options.prints_aside():
        addition = Addition.of(find_run(path, folder), metrics, setup, executor_of(chosen.engine or "auto"), folder)
        done = addition.estimate() if chosen.dry_run else add(addition)
    if isinstance(done, dict):
        return options.print_estimate(done, json=chosen.json)
    return _show(chosen, done, metrics, gate)
