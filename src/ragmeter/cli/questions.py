"""`ragmeter questions`: a test set from documents."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.cli import options
from ragmeter.cli.judge_options import read_writer, writer_options
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import UsageError
from ragmeter.io.locations import on_disk
from ragmeter.io.write import dumps

if TYPE_CHECKING:
    from ragmeter.engine.testsets.plan import TestSetPlan
    from ragmeter.runs.run_place import RunPlace

_NAME = "questions"
_DESCRIPTION = """\
Make a test set from documents: questions, answers, and the passages that answer them.

Documents are texts, Markdown, HTML or PDF, in folders or by patterns; or chunks of your own in JSONL, JSON, Parquet,
CSV or TSV, whose ids stay the gold ids; or the corpus of a BEIR folder. Without a model a plan is made: which passages,
which kinds of questions (--dry-run stops there). Then each question takes one call, is checked, and is replaced by one
of another passage if it is none. Replies are kept: run the same command again after a crash, and nothing is paid twice.

The result is a run: `ragmeter ask --dataset runs/questions --target ...` asks it. Its card says what it is good for.
"""


def run(chosen: argparse.Namespace) -> int:
    """Make the plan, and carry it out; or look at a test set that is there."""
    from ragmeter.engine.testsets.plan import WRITES
    from ragmeter.runs.run_place import RunPlace

    chosen.output_dir = on_disk(chosen.output_dir, "making a test set")
    if not chosen.documents:
        return _look(chosen)
    options.check_numbers(chosen)
    plan = _plan(chosen)
    if chosen.dry_run:
        return _estimate(plan, json=chosen.json)
    name = chosen.run or _NAME
    with RunPlace.named(name, chosen.output_dir, WRITES, asks=not chosen.offline, replace=chosen.replace) as place:
        return _make(chosen, plan, place)


def parser() -> Parser:
    """The parser of `ragmeter questions`."""
    parser = command_parser("ragmeter questions", _DESCRIPTION)
    add = parser.add_argument
    add("documents", metavar="DOCUMENTS", nargs="*", help="folders, files, patterns; without any, --run is looked at")
    add("--n", metavar="N", type=int, default=100, help="how many questions; default: 100")
    add("--offline", action="store_true", help="ask no model: questions for rankings of retrievers alone")
    wanted = parser.add_argument_group("what is asked")
    add = wanted.add_argument
    add(
        "--kinds",
        metavar="KIND=SHARE[,...]",
        help="keywords, fact, how_why, comparison, false_premise, unanswerable; default: some of each",
    )
    add("--categories", metavar="FILE", type=Path, help="JSON: categories of users and of questions as DataMorgana has "
        "them, with names, descriptions and probabilities")  # fmt: skip
    add("--turns", metavar="N", type=int, default=1, help="conversations of N turns, which need what was said before")
    add("--language", metavar="CODE", help="of the documents and questions, such as es; default: each passage's own")
    add("--closed-book", action="store_true", help="leave out what the model answers without the passage; a call more "
        "for each question")  # fmt: skip
    add("--column", metavar="NAME=YOURS", action="append", default=[], help="what a column of your chunks is called: "
        "id, text, title, source, language; may be repeated")  # fmt: skip
    options.number_option(wanted, "--seed", "N", 0, "of everything that is drawn")
    card = parser.add_argument_group("the card")
    card.add_argument("--like", metavar="FILE", help="real questions, to show how far the new ones are like them")
    text = "runs of the same systems over these questions and over real ones: do both rank the systems alike?"
    card.add_argument("--check", metavar="RUN", nargs="+", help=text)
    card.add_argument("--metric", metavar="NAME", help="for --check; default: the first that all runs have")
    writer_options(parser, "the model", "a language model that writes the questions, and checks them in doubt")
    output = parser.add_argument_group("output")
    options.keeping_options(output, _NAME)
    options.runs_option(output)
    options.unscored_option(output, "questions that are missing")
    options.json_option(output)
    return parser


def _plan(chosen: argparse.Namespace) -> TestSetPlan:
    """The plan that the options ask for."""
    from ragmeter.engine.judging.setup import JudgeSetup
    from ragmeter.engine.testsets.plan import TestSetPlan, check_wish
    from ragmeter.metrics.normalize import Language
    from ragmeter.testsets.categories import Categories, read_categories
    from ragmeter.testsets.documents import Documents
    from ragmeter.testsets.planning import OFFLINE_SHARES, SHARES, TURN_SHARES, Wish, read_shares

    usual = OFFLINE_SHARES if chosen.offline else TURN_SHARES if chosen.turns > 1 else SHARES
    shares = read_shares(chosen.kinds) if chosen.kinds else usual
    categories = read_categories(chosen.categories) if chosen.categories else Categories()
    wish = Wish(chosen.n, shares, categories, chosen.turns, chosen.seed)
    writer = read_writer(chosen)
    check_wish(wish, writer, offline=chosen.offline)
    language = None if chosen.language in (None, "auto") else str(Language.parse(chosen.language))
    documents = Documents.open(chosen.documents, columns=options.read_columns(chosen.column), language=language)
    judging = JudgeSetup(writer, chosen.output_dir, progress=True)
    return TestSetPlan(documents, wish, judging, closed_book=chosen.closed_book)


def _estimate(plan: TestSetPlan, *, json: bool) -> int:
    """Print what is planned, and what it costs."""
    from ragmeter.show.terminal.judging import print_lines
    from ragmeter.wording.testsets import cost_lines, plan_lines

    estimate = plan.described() if plan.judge is None else plan.estimate()
    if json:
        print(dumps(estimate, indent=2))
    else:
        print_lines([*plan_lines(estimate), *(cost_lines(estimate) if plan.judge is not None else ())])
    return 0


def _make(chosen: argparse.Namespace, plan: TestSetPlan, place: RunPlace) -> int:
    """Write the questions, and print the card."""
    from ragmeter.engine.testsets.like import texts_like
    from ragmeter.engine.testsets.run import carry_out
    from ragmeter.io.progress import show_notice
    from ragmeter.show import terminal
    from ragmeter.show.terminal.judging import print_lines
    from ragmeter.wording.testsets import card_lines, lacking_line, shortfall

    like = None if chosen.like is None else texts_like(chosen.like, plan.documents)
    if line := lacking_line(plan.lacking):
        show_notice(line)
    test_set = carry_out(plan, place, like)
    card, summary = test_set.card, test_set.evaluation.summary
    if chosen.json:
        print(dumps(summary.as_dict(), indent=2))
    else:
        print_lines(card_lines(card, summary.judge_usage))
        terminal.show_place(test_set.run, summary.n_rows)
    missing = card.wanted - card.written
    if missing > 0:
        show_notice(shortfall(card))
    return options.UNSCORED if missing > chosen.max_unscored * card.wanted else 0


def _look(chosen: argparse.Namespace) -> int:
    """Show the card of a test set, with what --like and --check add to it."""
    from ragmeter.runs.lookup import find_run
    from ragmeter.show.terminal.judging import print_lines
    from ragmeter.wording.testsets import card_lines

    if chosen.run is None:
        hint = (
            "for example `ragmeter questions docs/ --judge-model gpt-4o`, or --run NAME to see the card of a test set"
        )
        raise UsageError("which documents?", hint=hint)
    run = find_run(chosen.run, chosen.output_dir)
    summary = run.summary()
    if summary.test_set is None:
        raise UsageError(f"{run.name} is no test set that ragmeter has made")
    if chosen.check:
        from ragmeter.analysis.testsets import add_check

        summary = add_check(
            run, [find_run(name, chosen.output_dir) for name in chosen.check], chosen.metric, chosen.seed
        )
    if summary.test_set is None or chosen.json:
        print(dumps(summary.as_dict(), indent=2))
    else:
        print_lines(card_lines(summary.test_set, summary.judge_usage))
    return 0
