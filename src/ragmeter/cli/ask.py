"""`ragmeter ask`: put a dataset's questions to a live system, and score what it answers."""

from __future__ import annotations

import argparse
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.cli import options
from ragmeter.cli.ask_options import choose_by_questions, read_ask_plan, read_dataset
from ragmeter.cli.gate_options import gate_json, gate_options, pass_gate, print_verdict, read_gate
from ragmeter.cli.judge_options import judge_options, print_judge, read_settings, settle_judge
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.cli.repeats import print_repeats, repeats_json
from ragmeter.errors import UsageError
from ragmeter.io.locations import on_disk
from ragmeter.io.write import dumps

if TYPE_CHECKING:
    from ragmeter.io.source import Source
    from ragmeter.runs.run_place import RunPlace
    from ragmeter.targets.port import Target

#: What --output writes besides the metrics that the questions and answers allow, as the tool did whose file it is.
_OF_RESULTS = ("semantic_similarity", "response_coverage_rate", "satisfaction_score")
#: The same where there is no embedding model.
_PLAIN = ("response_coverage_rate",)
_DESCRIPTION = """\
Ask a system every question of a dataset, and score its answers.

The target is a Python function or an object with query(question) (mypkg.rag:pipeline), a chain, engine, retriever or
pipeline of LangChain, LlamaIndex or Haystack (by the same kind of path), an address (http://127.0.0.1:8000/query), or a
model without retrieval (openai:MODEL, anthropic:MODEL, gemini:MODEL). Answers are kept in a journal beside the run: run
the same command again after a crash or Ctrl-C, and only what is missing is asked. A finished run is asked anew, since
it is the system that changes. Rows with the same session_id are asked one after another, in the order of turn_idx.
"""


def run(chosen: argparse.Namespace) -> int:
    """Ask, score, and print where the results are."""
    from ragmeter.engine.ask_plan import ASKS, default_name
    from ragmeter.io.source import open_source
    from ragmeter.runs.run_place import RunPlace

    _check(chosen)
    with options.prints_aside():
        target = _target(chosen)
    source = open_source(chosen.dataset, options.read_reading(chosen), what="dataset")
    wanted_name = default_name(source, target, chosen.limit) if chosen.run is None else chosen.run
    chosen.output_dir = on_disk(chosen.output_dir, "asking a system")
    latest, replace = chosen.resume or chosen.retry_failed, chosen.replace
    with RunPlace.named(wanted_name, chosen.output_dir, ASKS, asks=True, latest=latest, replace=replace) as place:
        return _ask(chosen, target, source, place)


def _ask(chosen: argparse.Namespace, target: Target, source: Source, place: RunPlace) -> int:
    """Make the run of this place."""
    from ragmeter.engine.ask import carry_out
    from ragmeter.engine.metric_choice import choose_metrics, read_fallback
    from ragmeter.show import terminal
    from ragmeter.table import SKIPPED_BUDGET

    dataset = cache(partial(read_dataset, chosen, source))
    choice = choose_by_questions(chosen, dataset)
    if choice is not None:
        chosen.metrics = [*choice.metrics, *(_of_results(chosen) if chosen.output is not None else ())]
    fallback = None if chosen.fallback is None else read_fallback(chosen.fallback)
    with options.prints_aside():
        metrics = choose_metrics(chosen.metrics, fallback=fallback, **read_settings(chosen))
    settle_judge(chosen, metrics)
    gate = read_gate(chosen, chosen.output_dir, metrics, place.path)
    with options.prints_aside():
        plan = read_ask_plan(chosen, dataset(), target, metrics, choice, output=chosen.output)
        evaluation = carry_out(plan.at(place))
    replies = evaluation.replies
    assert evaluation.folder is not None  # noqa: S101 - a named run is always kept
    verdict = pass_gate(gate, chosen, evaluation.folder)
    if chosen.json:
        result = {
            **evaluation.summary.as_dict(),
            "effort": replies.effort,
            **repeats_json(evaluation.folder),
            **gate_json(verdict),
        }
        print(dumps(result, indent=2))
    else:
        terminal.asked(evaluation, replies, chosen.output)
        print_repeats(evaluation.folder)
        print_judge(evaluation.summary, evaluation.manifest, evaluation.judging)
        terminal.show_place(evaluation.folder, evaluation.summary.n_rows)
    causes, total = replies.outcomes(), len(replies.in_order)
    code = print_verdict(verdict, json=chosen.json)
    return code or options.exit_code(
        chosen, causes.total(), total, "questions have no answer", skipped=causes[SKIPPED_BUDGET]
    )


def _of_results(chosen: argparse.Namespace) -> tuple[str, ...]:
    """The metrics of a results.json; without an embedding model those that need none, and a notice says so."""
    from ragmeter.embedders.port import SEEDS_MODEL, has_default_model
    from ragmeter.hints import install_command
    from ragmeter.io.progress import show_notice

    if chosen.embedding_model is not None or has_default_model():
        return _OF_RESULTS
    lacking = " and ".join(name for name in _OF_RESULTS if name not in _PLAIN)
    show_notice(
        f"{chosen.output} is without {lacking}: no embedding model was named, and none is installed; for them: "
        f"{install_command('static')}, or --embedding-model {SEEDS_MODEL}"
    )
    return _PLAIN


def parser() -> Parser:
    """The parser of `ragmeter ask`."""
    parser = command_parser("ragmeter ask", _DESCRIPTION)
    add = parser.add_argument
    add("--dataset", metavar="FILE", required=True, help="questions and gold answers: csv, tsv, json, jsonl or parquet")
    add("--target", metavar="TARGET", required=True, help="for example mypkg.rag:pipeline, http://... or openai:MODEL")
    add(
        "--metrics",
        metavar="NAME",
        nargs="+",
        help="for example llm_correct,ndcg@10; default: what the questions and the answers allow",
    )
    options.reading_options(parser)
    options.language_option(parser)
    options.doc_id_option(parser)
    add("--fallback", metavar="FILE", help="phrases that say nothing was found: one a line, or TOML lists by language")
    options.embedding_options(parser)
    asking = parser.add_argument_group("asking")
    add = asking.add_argument
    add("--workers", metavar="N", type=int, default=4, help="questions under way at once; default: 4")
    add("--timeout", metavar="SECONDS", type=float, default=60.0, help="for an answer; default: 60")
    options.limit_option(asking)
    options.number_option(
        asking, "--repeats", "N", 1, "ask each question N times, of a system that does not always answer the same"
    )
    options.max_calls_option(asking)
    options.reuse_options(asking, "run")
    options.asking_options(asking, "questions without an answer", retries=3)
    _http_options(parser)
    _model_options(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--output", metavar="FILE", type=Path, help="a results.json with every question, its answer and its scores"
    )
    options.keeping_options(output, "from the dataset and the target")
    options.runs_option(output)
    options.json_option(output)
    judge_options(parser, offline=True, encoder=True, jury=True, dry_run=False)
    gate_options(parser)
    return parser


def _http_options(parser: Parser) -> None:
    http = parser.add_argument_group("an address as the target")
    add = http.add_argument
    add(
        "--request",
        metavar="JSON",
        help="""default: {"question": "{question}"}; also {qid}, {session_id}, {conversation_id}, {history}""",
    )
    add("--method", choices=("POST", "GET", "PUT"), help="default: POST; GET sends the request's keys as a query")
    add(
        "--header",
        metavar="'NAME: VALUE'",
        dest="headers",
        action="append",
        help="$VARIABLE is taken from the environment; values are written down nowhere. Also for a model",
    )
    add("--answer-path", metavar="PATH", help="where the answer is in the reply; default: answer")
    add("--retrieved-path", metavar="PATH", help="what was retrieved, for example events[*].id")
    add("--contexts-path", metavar="PATH", help="the texts of what was retrieved, for example events[*].text")
    add("--latency-path", metavar="PATH", help="milliseconds, if the reply has them; otherwise they are measured")
    add(
        "--conversation-path", metavar="PATH", help="the id by which the server knows a session from its first reply on"
    )
    add("--delta-path", metavar="PATH", help="where pieces of a streamed answer are; default: the usual places")


def _model_options(parser: Parser) -> None:
    model = parser.add_argument_group("a model as the target")
    add = model.add_argument
    add("--base-url", metavar="URL", help="another address of the model; default: OPENAI_BASE_URL, or the vendor's own")
    add("--api-version", metavar="VERSION", help="for Azure, for example 2024-10-21; --header takes its api-key")
    add("--max-tokens", metavar="N", type=int, help="the longest answer; default: 1024")
    add("--budget", metavar="DOLLARS", type=float, help="the most that the run may cost; the rest is skipped_budget")
    add(
        "--prices",
        metavar="FILE",
        help='JSON: {"my-model": {"input": 0.5, "output": 1.5}}, dollars for a million tokens',
    )


def _check(chosen: argparse.Namespace) -> None:
    """Check the options before anything is asked; `open_target` refuses options without effect."""
    from ragmeter.targets.opening import kind_of

    options.check_numbers(chosen)
    if chosen.budget is not None and "prices" not in kind_of(chosen.target).options:
        raise UsageError(f"--budget has no effect on {chosen.target}", hint="leave it out")


def _target(chosen: argparse.Namespace) -> Target:
    from ragmeter.targets.opening import KINDS, open_target

    options = {name: getattr(chosen, name) for kind in KINDS for name in kind.options}
    return open_target(chosen.target, timeout=chosen.timeout, **options)
