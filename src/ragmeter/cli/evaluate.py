"""`ragmeter evaluate`: by named evaluators, or by metrics."""

from __future__ import annotations

import argparse
import ctypes
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmeter import compat
from ragmeter.cli.gate_options import as_json, asks_for_gate, gate_options, pass_gate, read_gate, tell
from ragmeter.cli.judge_options import judge_options, metric_settings, print_judge, read_cascade, read_judge
from ragmeter.cli.options import (
    Parser,
    class_options,
    input_options,
    read_input,
    read_statistics,
    statistics_options,
)
from ragmeter.errors import UsageError, errors_of
from ragmeter.io.write import EVALUATION_RESULTS, FORMATS, RUNS, dumps

if TYPE_CHECKING:
    from ragmeter.judges.judge import Judge

_DESCRIPTION = """\
Score a file of results.

With --evaluator, one of the named suites or a class of yours writes an aggregated file and a file of rows.
With --metrics, the scores go into a run folder: manifest.json, rows.parquet, summary.json.
"""


def run(argv: Sequence[str]) -> int:
    """Evaluate, print what was found, and say where it was written."""
    asked, _ = _parser(add_help=False).parse_known_args(list(argv))
    names = [name for group in asked.evaluator for part in group for name in part.split(",") if name]
    kinds = [compat.find(name) for name in names]
    parser = _parser(add_help=True)
    of_evaluators: set[str] = set()
    keywords = {kind: class_options(parser, kind, of_evaluators) for kind in kinds}
    chosen = parser.parse_args(list(argv))
    if kinds and chosen.metrics:
        raise UsageError("--evaluator and --metrics don't go together", hint="run the command once for each")
    if not kinds and not chosen.metrics:
        raise UsageError(
            "say what to compute: --evaluator or --metrics",
            hint="for example --evaluator EditDistanceEvaluator, or --metrics token_f1,ndcg@10",
        )
    if chosen.results is None and not (chosen.metrics and chosen.run):
        raise UsageError(
            "--results is missing: which file holds the system's answers?",
            hint="with --metrics and --run alone, metrics are added to a run that is there already",
        )
    if kinds and asks_for_gate(chosen):
        raise UsageError("the gate is for runs, and an evaluator makes none", hint="name metrics with --metrics")
    if chosen.results is None:
        return _add_metrics(chosen)
    _refuse_idle(chosen, {name for names in keywords.values() for name in names})
    if kinds:
        return _run_evaluators([(kind, _keywords(chosen, names)) for kind, names in keywords.items()], chosen)
    return _run_metrics(chosen)


def _parser(*, add_help: bool) -> Parser:
    parser = Parser(
        prog="ragmeter evaluate",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=add_help,
        allow_abbrev=False,
    )
    what = parser.add_argument_group("what to compute")
    what.add_argument(
        "--evaluator",
        metavar="NAME",
        nargs="+",
        action="append",
        default=[],
        help=f"{', '.join(compat.BUILTIN)}, or the dotted path of a class of yours; "
        "with --help, shows the options of that evaluator",
    )
    what.add_argument(
        "--metrics", metavar="NAME", nargs="+", help="for example token_f1,rouge_l_score,ndcg@10,recall@5"
    )
    what.add_argument("--language", help="the language for stemming, by code or name; auto tells it from the text")
    what.add_argument("--doc-id-pattern", metavar="REGEX", help="finds the document's id in a chunk's id (first group)")
    what.add_argument(
        "--embedding-model",
        metavar="MODEL",
        help="for semantic_similarity: a name on the hub, a folder, openai:NAME or wordllama; "
        "default: intfloat/multilingual-e5-base",
    )
    what.add_argument("--embedding-base-url", metavar="URL", help="the endpoint of an openai:NAME embedding model")
    what.add_argument(
        "--embedding-prefix",
        metavar="PREFIX",
        help="what stands before both texts: query, passage or a text of yours; default: query for e5 models",
    )
    what.add_argument(
        "--executor",
        choices=("threads", "processes"),
        help="who computes; processes are for metrics of yours in Python code; default: threads",
    )
    input_options(parser)
    statistics_options(parser)
    judge_options(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--output-dir", metavar="DIR", type=Path, help=f"default: {EVALUATION_RESULTS}/, or {RUNS}/ for --metrics"
    )
    output.add_argument(
        "--run", metavar="NAME", help="the run's name, for --metrics; default: the file's name and the time"
    )
    output.add_argument("--output-prefix", metavar="P", help="the beginning of the files' names, for --evaluator")
    output.add_argument("--output-format", choices=FORMATS, help="for --evaluator; default: tsv")
    output.add_argument(
        "--no-formula-guard",
        dest="guard",
        action="store_false",
        help="in csv and tsv, leave cells as they are that a spreadsheet would run as a formula",
    )
    output.add_argument(
        "--retry-failed", action="store_true", help="ask the judge again about rows that got no verdict"
    )
    output.add_argument("--json", action="store_true", help="print the result as JSON, for scripts")
    gate_options(parser)
    return parser


def _refuse_idle(chosen: argparse.Namespace, taken: set[str]) -> None:
    """An option that would do nothing is a misunderstanding, and better said than passed over."""
    if chosen.metrics:
        idle = {"output_prefix": chosen.output_prefix, "output_format": chosen.output_format}
    else:
        given = {
            "language": chosen.language,
            "doc_id_pattern": chosen.doc_id_pattern,
            "embedding_model": chosen.embedding_model,
            "embedding_base_url": chosen.embedding_base_url,
            "embedding_prefix": chosen.embedding_prefix,
            "judge_model": chosen.judge_model,
            "executor": chosen.executor,
            "run": chosen.run,
        }
        idle = {name: value for name, value in given.items() if name not in taken}
    for name, value in idle.items():
        if value is not None:
            with_what = "--metrics" if chosen.metrics else f"--evaluator {' '.join(chosen.evaluator[0])}"
            raise UsageError(f"--{name.replace('_', '-')} has no effect with {with_what}", hint="leave it out")


def _keywords(chosen: argparse.Namespace, names: dict[str, str]) -> dict[str, Any]:
    """The keywords that the user gave; the others keep the class's defaults."""
    return {
        name: getattr(chosen, destination)
        for name, destination in names.items()
        if getattr(chosen, destination, None) is not None
    }


def _run_evaluators(kinds: list[tuple[type[Any], dict[str, Any]]], chosen: argparse.Namespace) -> int:
    from ragmeter.compat.files import run_evaluators
    from ragmeter.show import terminal

    instances = []
    for kind, keywords in kinds:
        with errors_of(f"{kind.__name__}()"):
            instances.append(kind(**keywords))
    written = run_evaluators(
        instances,
        chosen.results,
        chosen.reference,
        **read_input(chosen),
        output_dir=chosen.output_dir or EVALUATION_RESULTS,
        output_prefix=chosen.output_prefix,
        output_format=chosen.output_format or "tsv",
        guard=chosen.guard,
    )
    if chosen.json:
        print(
            dumps(
                [
                    {
                        **each.result.aggregated(),
                        "not_scored": each.result.not_scored,
                        "join": each.join,
                        "files": [str(path) for path in each.files],
                    }
                    for each in written
                ],
                indent=2,
            )
        )
        return 0
    out = terminal.console()
    for each in written:
        out.print(terminal.evaluation_table(each.result))
        for path in each.files:
            out.print(terminal.printable(f"written: {path}"), soft_wrap=True)
        out.print()
    for line in terminal.unmatched(written[0].join):
        out.print(line, style="red", soft_wrap=True)
    return 0


def _run_metrics(chosen: argparse.Namespace) -> int:
    from ragmeter.engine.evaluation import choose_metrics, evaluate
    from ragmeter.engine.judged_rows import estimate_judging, rows_to_judge
    from ragmeter.io.names import plain_name, run_name
    from ragmeter.io.source import stem
    from ragmeter.show import terminal

    _keep_freed_memory()
    folder = chosen.output_dir or RUNS
    name = run_name(chosen.run or f"{plain_name(stem(Path(chosen.results)))}-{datetime.now():%Y%m%d-%H%M%S}", folder)
    replaced = (folder / name).exists()
    gate = None
    if asks_for_gate(chosen):
        gate = read_gate(chosen, folder, choose_metrics(chosen.metrics, **_settings(chosen)), folder / name)
    metrics = choose_metrics(chosen.metrics, **_settings(chosen))
    inputs = {"reference": chosen.reference, **read_input(chosen)}
    judge = _judge(chosen, lambda: rows_to_judge(chosen.results, **inputs))
    if chosen.dry_run:
        return _estimate(
            chosen, estimate_judging(chosen.results, metrics=metrics, judge=judge, output_dir=folder, **inputs)
        )
    found = evaluate(
        chosen.results,
        metrics=metrics,
        **inputs,
        **read_statistics(chosen),
        judge=judge,
        retry_failed=chosen.retry_failed,
        executor=chosen.executor or "threads",
        run=name,
        output_dir=folder,
        progress=True,
    )
    assert found.folder is not None  # noqa: S101 - a named run is always kept
    verdict = pass_gate(gate, chosen, found.folder)
    if chosen.json:
        embeddings = {"embeddings": list(found.embeddings)} if found.embeddings else {}
        print(dumps({**found.summary, **embeddings, "folder": str(found.folder.path), **as_json(verdict)}, indent=2))
        return tell(verdict, json=True)
    out = terminal.console()
    out.print(terminal.summary_table(found.summary["metrics"]))
    left_out = [
        f"column left out of rows.parquet, it appears late: {each}" for each in found.summary["columns_left_out"]
    ]
    for line in terminal.percentiles(found.summary["numbers"]):
        out.print(line, soft_wrap=True)
    unmatched, causes = terminal.unmatched(found.summary["join"]), terminal.causes(found.summary["metrics"])
    for line in (*unmatched, *causes, *terminal.truncated(found.embeddings), *left_out):
        out.print(line, style="red", soft_wrap=True)
    print_judge(found)
    instead = ", in place of an earlier run" if replaced else ""
    out.print(f"rows: {found.summary['n_rows']:,}, in {found.folder.path}/{instead}", soft_wrap=True)
    return tell(verdict, json=False)


def _settings(chosen: argparse.Namespace) -> dict[str, Any]:
    """The settings that go to those metrics that have them."""
    return {
        "language": chosen.language,
        "doc_id": chosen.doc_id_pattern,
        "model": chosen.embedding_model,
        "base_url": chosen.embedding_base_url,
        "prefix": chosen.embedding_prefix,
        **metric_settings(chosen),
    }


def _judge(chosen: argparse.Namespace, rows: Callable[[], tuple[list[str], list[str | None]]]) -> Judge | None:
    """The judge that was chosen, with its cascade; `rows` gives the qids and answers that labels are matched with."""
    if chosen.judge != "cascade":
        return read_judge(chosen)
    labels: dict[str, float] = {}
    if chosen.labels:
        from ragmeter.analysis.people.labels import read_labels
        from ragmeter.analysis.people.matching import random_labels

        labels = random_labels(read_labels(chosen.labels), *rows())
        if not labels:
            raise UsageError("--labels: nobody has labelled a row yet", hint="`ragmeter label` asks for them")
    return read_judge(chosen, cascade=read_cascade(chosen, labels))


def _estimate(chosen: argparse.Namespace, estimate: dict[str, Any]) -> int:
    from ragmeter.show.terminal.judging import estimated

    if chosen.json:
        print(dumps(estimate, indent=2))
    else:
        estimated(estimate)
    return 0


def _add_metrics(chosen: argparse.Namespace) -> int:
    """Metrics for a run that is there already; what it has is not computed again."""
    from ragmeter.engine.evaluation import add_metrics, choose_metrics
    from ragmeter.engine.judged_rows import estimate_adding, rows_of_run
    from ragmeter.io.names import run_name
    from ragmeter.show import terminal

    folder = chosen.output_dir or RUNS
    chosen.run = run_name(chosen.run, folder, latest=True)
    if not (folder / chosen.run).exists():
        from ragmeter.runs.files import unknown_run

        error = unknown_run(chosen.run, folder)
        raise UsageError(error.message, hint=f"{error.hint}; a new run needs --results")
    gate = None
    if asks_for_gate(chosen):
        from ragmeter.runs.finding import find_run

        held = find_run(folder / chosen.run, folder).measures.values()
        gate = read_gate(
            chosen, folder, [*choose_metrics(chosen.metrics, **_settings(chosen)), *held], folder / chosen.run
        )
    path = folder / chosen.run
    metrics = choose_metrics(chosen.metrics, **_settings(chosen))
    judge = _judge(chosen, lambda: rows_of_run(path))
    if chosen.dry_run:
        return _estimate(chosen, estimate_adding(path, metrics, judge=judge, output_dir=folder))
    found = add_metrics(
        path,
        metrics,
        judge=judge,
        retry_failed=chosen.retry_failed,
        executor=chosen.executor or "threads",
        output_dir=folder,
        progress=judge is not None,
    )
    assert found.folder is not None  # noqa: S101 - it was there
    verdict = pass_gate(gate, chosen, found.folder)
    if chosen.json:
        print(dumps({**found.summary, "folder": str(found.folder.path), **as_json(verdict)}, indent=2))
        return tell(verdict, json=True)
    out = terminal.console()
    out.print(terminal.summary_table(found.summary["metrics"]))
    for line in (*terminal.causes(found.summary["metrics"]), *terminal.truncated(found.embeddings)):
        out.print(line, style="red", soft_wrap=True)
    print_judge(found)
    out.print(f"rows: {found.summary['n_rows']:,}, in {found.folder.path}/", soft_wrap=True)
    return tell(verdict, json=False)


def _keep_freed_memory() -> None:
    """Have the allocator keep what one batch frees for the next: giving pages back and forth costs a tenth of the time.

    A setting of the whole process, so the library leaves it alone. Other systems than Linux with glibc do without.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    trim_threshold, mmap_threshold, arena_max = -1, -3, -8
    for parameter, value in ((trim_threshold, 1 << 30), (mmap_threshold, 1 << 30), (arena_max, 1)):
        mallopt(parameter, value)
