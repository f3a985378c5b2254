"""`ragmeter crag generate` and `ragmeter crag evaluate`: conversations answered by an agent, and judged."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.cli import options
from ragmeter.cli.gate_options import gate_json, gate_options, pass_gate, print_verdict, read_gate
from ragmeter.cli.judge_options import judge_options, read_cascade, read_judge
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import UsageError, errors_of
from ragmeter.io.write import check_writable, dumps

if TYPE_CHECKING:
    from ragmeter.analysis.gating import Gate
    from ragmeter.compat.crag.turns import TurnTable
    from ragmeter.judges.asking.cascade import Cascade

_DESCRIPTIONS = {
    "generate": "Have an agent answer the turns of conversations, and save them.\n\n"
    "What was answered is kept in a journal beside the output: run the same command again after a crash or Ctrl-C,\n"
    "and only what is missing is asked. Once the output is written, the same command asks everything anew.",
    "evaluate": "Judge saved turns: a miss, an exact match, or what a language model says.\n\n"
    "Writes turn_evaluation_results_all.csv, turn_evaluation_results_ego.csv, scores_dictionary.json and the files of\n"
    "a run folder. Verdicts are kept in journal.sqlite there: run the same command again after a crash or Ctrl-C, and\n"
    "only what is missing is asked. The exit code is 3 if too many turns could not be scored.",
}


def generate_parser() -> Parser:
    """The parser of `ragmeter crag generate`."""
    parser = command_parser("ragmeter crag generate", _DESCRIPTIONS["generate"])
    add = parser.add_argument
    add("--dataset", metavar="FILE", required=True, help="conversations: jsonl, json or parquet")
    add("--agent", metavar="PATH", required=True, help="the agent's class, for example mypkg.agents:MyAgent")
    add("--output", metavar="FILE", type=Path, required=True, help="where the turns go, as JSON lines")
    add("--num-conversations", metavar="N", type=int, help="the first N conversations; default: all")
    add(
        "--agent-workers",
        "--workers",
        dest="agent_workers",
        metavar="N",
        type=int,
        default=1,
        help="from how many threads the agent is called; default: 1, one batch after another",
    )
    add(
        "--tokenizer",
        metavar="PATH",
        help="what cuts answers: a tokenizer.json, or mypkg:tokenizer; default: words and marks",
    )
    add(
        "--no-images",
        dest="fetch_images",
        action="store_false",
        help="fetch no image: the agent gets the image_url itself; default: images are fetched over https",
    )
    options.reuse_options(parser, "generation")
    options.max_calls_option(parser)
    options.asking_options(parser, "turns without an answer", retries=3)
    options.json_option(parser)
    return parser


def evaluate_parser() -> Parser:
    """The parser of `ragmeter crag evaluate`."""
    parser = command_parser("ragmeter crag evaluate", _DESCRIPTIONS["evaluate"])
    add = parser.add_argument
    add("--turns", metavar="FILE", required=True, help="turn data, as `ragmeter crag generate` writes it")
    add("--output-dir", metavar="DIR", type=Path, required=True, help="where the results go")
    judge_options(parser, offline=True, default_model="gpt-4o")
    options.replace_option(parser, "a judge's columns were added to it")
    parser.add_argument("--retry-failed", action="store_true", help="ask again about turns with no score")
    options.unscored_option(parser, "turns without a score")
    options.json_option(parser)
    options.formula_option(parser)
    gate_options(parser)
    return parser


def run_generate(chosen: argparse.Namespace) -> int:
    """Have the agent answer, and say what became of the turns."""
    from ragmeter.cli import crag_results as show_crag
    from ragmeter.compat.crag.evaluator import CRAGEvaluator
    from ragmeter.compat.crag.truncation import load_tokenizer
    from ragmeter.io.progress import both, progress_bar
    from ragmeter.registry import import_object
    from ragmeter.runs.places import hold
    from ragmeter.runs.status import Status
    from ragmeter.table import SKIPPED_BUDGET

    options.check_numbers(chosen)
    _check_output(chosen)
    agent = import_object(chosen.agent, "agent")
    if isinstance(agent, type) or not hasattr(agent, "batch_generate_response"):  # a class, or a factory
        with errors_of(chosen.agent):
            agent = agent()
    with (
        hold(chosen.output, "asks an agent", asks=True),
        progress_bar(True, "answering", "turns") as advance,
        Status(chosen.output, "asking an agent", None) as status,
    ):
        evaluator = CRAGEvaluator(
            chosen.dataset,
            agent,
            num_conversations=chosen.num_conversations,
            agent_workers=chosen.agent_workers,
            fetch_images=chosen.fetch_images,
            tokenizer=None if chosen.tokenizer is None else load_tokenizer(chosen.tokenizer),
            agent_name=chosen.agent,
            journal=chosen.output.with_name(f"{chosen.output.name}.journal.sqlite"),
            max_calls=chosen.max_calls,
            retries=chosen.retries,
            give_up_after=chosen.give_up_after,
            progress=both(advance, status.advance),
            resume=chosen.resume,
            retry_failed=chosen.retry_failed,
        )
        evaluator.initialize_for_generation()
        turns = evaluator.generate_agent_responses(finish=False, heard=status.heard)
        evaluator.save_turn_data(chosen.output)
        evaluator.finish_generation()
    failed = [turn for turn in turns if turn["agent_response"] is None]
    result = {
        "turns": len(turns),
        "answered": len(turns) - len(failed),
        "shortened": evaluator.shortened,
        "not_answered": dict(Counter(turn["outcome"] for turn in failed)),
        "causes": dict(Counter(f"{turn['outcome']}: {turn['error']}" for turn in failed).most_common()),
        "effort": evaluator.effort,
        "output": str(chosen.output),
    }
    if chosen.json:
        print(dumps(result, indent=2))
    else:
        show_crag.generated(result)
    skipped = sum(turn["outcome"] == SKIPPED_BUDGET for turn in failed)
    return options.exit_code(chosen, len(failed), len(turns), "turns have no answer", skipped=skipped)


def run_evaluate(chosen: argparse.Namespace) -> int:
    """Judge the turns, keep the scores, and print them."""
    from ragmeter.cli import crag_results as show_crag
    from ragmeter.compat.crag.evaluator import CRAGEvaluator
    from ragmeter.compat.crag.files import refuse_added
    from ragmeter.effects.limits.calls import Limits
    from ragmeter.engine.judging.setup import OWN_JOURNAL
    from ragmeter.io.progress import progress_bar
    from ragmeter.runs.places import hold
    from ragmeter.runs.run import Run
    from ragmeter.table import SKIPPED_BUDGET

    options.check_numbers(chosen)
    check_writable(chosen.output_dir)
    judge = read_judge(chosen)
    gate = _gate(chosen)
    limits = Limits() if judge is None else judge.limits
    evaluator = CRAGEvaluator(
        judge=judge,
        num_workers=limits.workers,
        budget=limits.budget,
        max_calls=limits.max_calls,
        journal=chosen.judge_journal or chosen.output_dir / OWN_JOURNAL,
        retry_failed=chosen.retry_failed,
    )
    turns = evaluator.read_turns(chosen.turns)
    evaluator.cascade = _cascade(chosen, turns)
    if chosen.dry_run:
        words = {"unit": "turns", "note": "fewer where conversations end early, "}
        return options.print_estimate(evaluator.estimate(turns), json=chosen.json, **words)
    with hold(chosen.output_dir, "judges conversations", asks=judge is not None):
        if not chosen.replace:
            refuse_added(chosen.output_dir)
        watched = chosen.output_dir if judge is not None else None
        bar = progress_bar(True, evaluator.watch.title, "turns", len(turns))
        with bar as advance, evaluator.watch.over(watched, len(turns)):
            evaluator.progress = advance
            rows, scores = evaluator.evaluate_agent_responses(turns)
        evaluator.save_results(rows, scores, chosen.output_dir, guard=chosen.guard, replace=True)
    report = evaluator.report
    assert report is not None  # noqa: S101 - evaluate_agent_responses() sets it
    verdict = pass_gate(gate, chosen, Run(chosen.output_dir))
    if chosen.json:
        result = {"scores": scores, **report.summary, "effort": report.effort, "folder": str(chosen.output_dir)}
        print(dumps({**result, **gate_json(verdict)}, indent=2))
    else:
        show_crag.judged(scores, report, chosen.output_dir)
    unscored = Counter(report.judged.not_scored())
    code = print_verdict(verdict, json=chosen.json)
    return code or options.exit_code(
        chosen, unscored.total(), len(turns), "turns have no score", skipped=unscored[SKIPPED_BUDGET]
    )


def _gate(chosen: argparse.Namespace) -> Gate | None:
    """The gate of the options."""
    from ragmeter.compat.crag.evaluation import metrics_of

    metrics = metrics_of(is_cascade=chosen.judge == "cascade")
    return read_gate(chosen, chosen.output_dir.parent, metrics, chosen.output_dir)


def _cascade(chosen: argparse.Namespace, turns: TurnTable) -> Cascade | None:
    """The cascade of the options: how the offline judge and the model share the work, if they do."""
    from ragmeter.judges.asking.cascade import Cascade

    if chosen.judge != "cascade":
        return Cascade(calibration=chosen.offline_calibration) if chosen.judge == "offline" else None

    def rows() -> tuple[list[str], list[str | None]]:
        return list(turns.qids), [row.get("agent_response") for row in turns.rows]

    return read_cascade(chosen, options.read_random_labels(chosen.labels, rows))


def _check_output(chosen: argparse.Namespace) -> None:
    """Refuse an output that can't be written, or that would overwrite the dataset."""
    output = chosen.output
    if output.is_dir() or output.suffix.lower() not in (".jsonl", ".ndjson"):
        raise UsageError(
            f"--output {output}: turns are written as JSON lines", hint="for example --output turn_data.jsonl"
        )
    if output.exists() and Path(chosen.dataset).exists() and output.samefile(chosen.dataset):
        raise UsageError("--output is the dataset itself, which it would replace", hint="choose another name")
    check_writable(output.parent)
