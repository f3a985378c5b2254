"""`ragmeter web`: ask a RAG that is only a web page, and score its answers."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
from collections.abc import Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmeter.cli.ask_options import choose_by_questions, read_ask_plan, read_dataset
from ragmeter.cli.gate_options import gate_json, gate_options, pass_gate, print_verdict, read_gate
from ragmeter.cli.judge_options import judge_options, metric_settings, print_judge, settle_judge
from ragmeter.cli.options import (
    asking_options,
    check_numbers,
    exit_code,
    formula_option,
    json_option,
    keeping_options,
    limit_option,
    read_reading,
    reading_options,
    reuse_options,
    runs_option,
)
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import UsageError
from ragmeter.io.locations import on_disk
from ragmeter.io.write import check_writable, dumps, table_format

if TYPE_CHECKING:
    from ragmeter.definition import Metric
    from ragmeter.engine.default_metrics import MetricChoice
    from ragmeter.engine.questions import Dataset
    from ragmeter.io.source import Source
    from ragmeter.runs.run_place import RunPlace
    from ragmeter.table import NewRow
    from ragmeter.targets.web.target import WebTarget

_DESCRIPTION = """\
Ask a chat page the questions of a file, as a person would, and score its answers. Begin with
`ragmeter web --url URL --learn page.toml`: it asks three questions, writes how the page is read, and shows it in a
picture.

With --page that file says how the page is read: where the answer is, what beside it is no part of it, and what its end
looks like. Without it a run learns that first, and prints it. Answers are kept beside the run: run the same command
again after a crash or Ctrl-C, and only what is missing is asked; a finished run is asked anew. Rows with the same
session_id are one conversation on one page, in the order of turn_idx.
"""
#: The columns of scores in the CSV file where no metrics are named, as the tool wrote them whose file it is.
_OF_RESULTS = ("cosine_similarity", "rouge_l_score", "exact_match", "token_f1", "meteor_score", "average_score")
_AVERAGE = "average_score"


def run(chosen: argparse.Namespace) -> int:
    """Ask the page, score, and write the CSV file."""
    from ragmeter.cli.web_window import without_run
    from ragmeter.engine.ask_plan import ASKS
    from ragmeter.io.names import limited_name, plain_name
    from ragmeter.runs.run_place import RunPlace

    if (code := without_run(chosen, partial(_target, chosen, None))) is not None:
        return code
    if missing := [f"--{name}" for name in ("input", "output") if getattr(chosen, name) is None]:
        parser().error(f"the following arguments are required: {', '.join(missing)}")
    _check(chosen)
    usual = limited_name(plain_name(f"web-{chosen.input.stem}"), chosen.limit)
    wanted_name = usual if chosen.run is None else chosen.run
    chosen.output_dir = on_disk(chosen.output_dir, "asking a system")
    latest = chosen.resume or chosen.retry_failed
    with RunPlace.named(
        wanted_name, chosen.output_dir, ASKS, asks=True, latest=latest, replace=chosen.replace
    ) as place:
        return _ask(chosen, place)


def _ask(chosen: argparse.Namespace, place: RunPlace) -> int:
    """Make the run of this place."""
    from ragmeter.cli.web_learning import keep_learnt, learn_first
    from ragmeter.compat.web import write_scored
    from ragmeter.engine.ask import carry_out
    from ragmeter.engine.metric_choice import choose_metrics
    from ragmeter.io.source import open_source
    from ragmeter.show import terminal
    from ragmeter.table import SKIPPED_BUDGET

    evidence = chosen.output_dir / f"{place.path.name}.evidence"
    target = _target(chosen, evidence)
    source = open_source(chosen.input, read_reading(chosen), what="dataset")
    dataset = cache(partial(read_dataset, chosen, source))
    choice = choose_by_questions(chosen, dataset)
    named = choose_metrics(chosen.metrics or _OF_RESULTS, language=chosen.language, **metric_settings(chosen))
    metrics = named if choice is None else list(dict.fromkeys([*_by_questions(chosen, choice), *named]))
    settle_judge(chosen, metrics)
    gate = read_gate(chosen, chosen.output_dir, metrics, place.path)
    if chosen.page is None:
        learn_first(chosen, target, dataset().questions, on_disk(place.path, "asking a system"))
    service = carry_out(read_ask_plan(chosen, dataset(), target, metrics, choice).at(place))
    folder = service.folder
    assert folder is not None  # noqa: S101 - a named run is always kept
    has_evidence = _keep_evidence(evidence, on_disk(folder.location, "keeping screenshots"))
    profile = chosen.page or keep_learnt(
        on_disk(place.path, "asking a system"), on_disk(folder.location, "keeping the page's profile")
    )
    write_scored(chosen.output, _rows(chosen, source, service, named), guard=chosen.guard)
    verdict = pass_gate(gate, chosen, folder)
    if chosen.json:
        summary, read = service.summary, target.reading.profile
        selector = chosen.answer_selector if read is None else read.answer.selector
        blocked = {"blocked_connections": dict(target.blocked)} if chosen.same_origin_only else {}
        print(
            dumps(
                {**summary.as_dict(), "answer_selector": selector, **blocked, **gate_json(verdict)},
                indent=2,
            )
        )
    else:
        terminal.asked(service, service.replies, chosen.output)
        print_judge(service.summary, service.manifest, service.judging)
        _show_what_was_seen(chosen, target, profile)
        _show_findings(dataset(), service)
        if has_evidence:
            pages = "pages" if chosen.evidence == "always" else "pages that failed"
            print(f"screenshots and texts of {pages}: {folder.path}/evidence/")
        terminal.show_place(folder, service.summary.n_rows)
    causes, total = service.replies.outcomes(), len(service.replies.in_order)
    skipped = causes[SKIPPED_BUDGET]
    return print_verdict(verdict, json=chosen.json) or exit_code(
        chosen, causes.total(), total, "questions have no answer", skipped=skipped
    )


def _by_questions(chosen: argparse.Namespace, choice: MetricChoice) -> list[Metric]:
    """The chosen metrics. --language is for them only where it was given: without it, they tell it from the texts."""
    from ragmeter.engine.metric_choice import choose_metrics

    language = chosen.language if "language" in chosen.given_flags else None
    return choose_metrics(choice.metrics, language=language, **metric_settings(chosen))


def _keep_evidence(evidence: Path, run: Path) -> bool:
    """Move screenshots and texts of pages into the run's folder; says whether there are any."""
    from ragmeter.runs.places import hold

    if not evidence.exists():
        return False
    if not any(evidence.iterdir()):
        evidence.rmdir()
        return False
    with hold(run, "keeps screenshots"):
        shutil.move(str(evidence), str(run / "evidence"))
    return True


def _show_what_was_seen(chosen: argparse.Namespace, target: WebTarget, profile: Path | None) -> None:
    """Print where questions were typed and answers read, so that both can be fixed; and what was blocked."""
    from ragmeter.show import terminal

    if target.found_box:
        box = terminal.printable(target.found_box)
        print(f"questions were typed into {box}; to fix that: --input-selector {shlex.quote(box)}")
    if chosen.answer_selector is None and target.reading.profile is not None:
        selector = terminal.printable(target.reading.profile.answer.selector)
        again = f"; to read it so again: --page {profile}" if profile is not None else ""
        print(f"the answer was read from {selector}{again}")
    if target.blocked:
        hosts = ", ".join(f"{host} ({count})" for host, count in target.blocked.most_common(8))
        print(f"connections to other origins were blocked: {terminal.printable(hosts)}")


def _show_findings(dataset: Dataset, service: Any) -> None:
    """Print what the answers of the whole run show about how they were read."""
    from ragmeter.show import terminal
    from ragmeter.targets.port import Answer
    from ragmeter.targets.web.findings import findings

    replies = zip(dataset.questions, service.replies.in_order, strict=True)
    answers = [(question.text, reply.answer) for question, reply in replies if isinstance(reply, Answer)]
    for finding in findings(answers):
        print(f"look at this: {terminal.printable(finding)}")


def _rows(chosen: argparse.Namespace, source: Source, evaluation: Any, metrics: Sequence[Metric]) -> list[NewRow]:
    """The input's own columns, the response and the scores; a missing score is an empty cell."""
    bases = [metric.base for metric in metrics]
    titles = [metric.name if bases.count(metric.base) > 1 else metric.base for metric in metrics]
    averaged = [] if _AVERAGE in bases else [metric.name for metric in metrics if _is_share(metric)]
    scored_rows = evaluation.rows.select(["answer", *(metric.name for metric in metrics)]).to_pylist()
    return [
        {
            **row,
            "actual_response": scored["answer"],
            **{title: _number(scored[metric.name]) for title, metric in zip(titles, metrics, strict=True)},
            **({_AVERAGE: _mean([_number(scored[name]) for name in averaged])} if averaged else {}),
        }
        for (_, row), scored in zip(islice(source.records(), chosen.limit), scored_rows, strict=True)
    ]


def _is_share(metric: Metric) -> bool:
    """Whether its scores are at most 1 and higher is better; others, such as distances and times, are not averaged."""
    return metric.direction == "higher" and -1 <= metric.bounds[0] < metric.bounds[1] <= 1


def _mean(scores: Sequence[float | None]) -> float | None:
    """The mean of a row's scores; None if one of them is missing."""
    present = [score for score in scores if score is not None]
    return sum(present) / len(present) if len(present) == len(scores) else None


def _number(value: float | None) -> float | None:
    return None if value is None or value != value else value


def parser() -> Parser:
    """The parser of `ragmeter web`."""
    parser = command_parser("ragmeter web", _DESCRIPTION)
    add = parser.add_argument
    add("--url", required=True, help="the page")
    add("--input", metavar="FILE", type=Path, help="a file with query and ground_truth")
    add(
        "--output",
        metavar="FILE",
        type=Path,
        help="where the results go, as CSV, or for Excel: results.xlsx",
    )
    add(
        "--page",
        metavar="FILE",
        type=Path,
        help="how the page is read, as --learn writes it: nothing is guessed. Without it, a run learns that first",
    )
    add(
        "--learn",
        metavar="FILE",
        type=Path,
        help="ask three questions (the first of --input, if it is given), one of them twice; write how the page is "
        "read to FILE, a picture of it beside it, and print what would be read; nothing is scored",
    )
    add(
        "--record",
        metavar="FILE",
        type=Path,
        help="learn it from you: in a window, ask two or three questions and click each answer, then close the window",
    )
    add("--input-selector", metavar="CSS", help="the box that takes the question; without it, it is looked for")
    add("--submit-selector", metavar="CSS", help="the button that sends it; without it, Enter does")
    add(
        "--metrics",
        metavar="NAME",
        nargs="+",
        help="metrics, or the dotted path of a scorer of yours (mypkg.MyNewScorer), in place of those that the "
        "questions allow and the usual five of the CSV file; average_score is the mean of those that are named",
    )
    reading_options(parser)
    limit_option(parser)
    page = parser.add_argument_group("the page")
    add = page.add_argument
    add("--answer-selector", metavar="CSS", help="where answers appear; the last one that matches counts")
    add("--ready-selector", metavar="CSS", help="what can be seen when the page has finished an answer")
    add("--sources-selector", metavar="CSS", help="the sources that the page shows for an answer")
    add("--ignore-selector", metavar="CSS", action="append", default=[], help="no part of an answer; repeatable")
    add(
        "--click",
        metavar="SELECTOR",
        action="append",
        default=[],
        help="clicked before the box is looked for, also in frames: a banner, a chat bubble; repeatable",
    )
    add("--timeout", metavar="SECONDS", type=float, default=60.0, help="for an answer; default: 60")
    pages = page.add_mutually_exclusive_group()
    pages.add_argument("--fresh-page", action="store_true", help="a new page for every question; the default")
    pages.add_argument("--same-page", action="store_true", help="one question after another on the same page")
    hosts = page.add_mutually_exclusive_group()
    hosts.add_argument("--any-host", action="store_true", help="follow the page to other hosts than that of --url")
    hosts.add_argument(
        "--same-origin-only",
        action="store_true",
        help="block all that the page sends to other origins: frames, requests, web sockets, workers, navigation",
    )
    _browser_options(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--language", default="es", help="for stemming; default: es")
    keeping_options(output, "from the input file")
    runs_option(output)
    formula_option(output)
    reuse_options(output, "run")
    asking_options(output, "questions without an answer", retries=1)
    json_option(output)
    judge_options(parser, jury=True, dry_run=False)
    gate_options(parser)
    return parser


def _browser_options(parser: Parser) -> None:
    login = parser.add_argument_group("getting in")
    add = login.add_argument
    add("--login", metavar="FILE", type=Path, help="open a window to log in by hand; FILE is for --storage-state")
    add("--storage-state", metavar="FILE", help="cookies and storage, as --login or Playwright saves them")
    add("--http-user", metavar="NAME", help="for HTTP authentication; the password is in RAGMETER_HTTP_PASSWORD")
    add(
        "--cookie",
        metavar="NAME=VARIABLE",
        action="append",
        default=[],
        help="a cookie, its value from the environment",
    )
    browser = parser.add_argument_group("the browser")
    add = browser.add_argument
    add("--workers", metavar="N", type=int, default=4, help="pages at once; default: 4")
    add("--headed", action="store_true", help="show the browser")
    add("--browser-path", metavar="FILE", help="a Chromium of your own")
    add(
        "--evidence",
        choices=("on-failure", "always", "never"),
        default="on-failure",
        help="when to keep a screenshot, the page's text and its console; default: on-failure",
    )


def _check(chosen: argparse.Namespace) -> None:
    check_numbers(chosen)
    if chosen.output.exists() and chosen.input.exists() and chosen.output.samefile(chosen.input):
        raise UsageError("--output is the input itself, which it would replace", hint="choose another name")
    if chosen.output.is_dir():
        raise UsageError(f"--output {chosen.output} is a folder", hint="name a file, for example results.csv")
    check_writable(chosen.output.parent)
    table_format(chosen.output)


def _target(chosen: argparse.Namespace, evidence: Path | None) -> Any:
    from ragmeter.targets.web.page import Page
    from ragmeter.targets.web.profile import read_profile
    from ragmeter.targets.web.target import Login, WebTarget

    credentials = None
    if chosen.http_user is not None:
        credentials = (chosen.http_user, _variable("RAGMETER_HTTP_PASSWORD"))
    cookies = []
    for cookie in chosen.cookie:
        name, equals, variable = cookie.partition("=")
        if not equals:
            raise UsageError(f"--cookie {cookie}: write it as NAME=VARIABLE", hint="the value is taken from $VARIABLE")
        cookies.append({"name": name, "value": _variable(variable)})
    page = Page(
        chosen.url,
        chosen.input_selector,
        chosen.submit_selector,
        chosen.answer_selector,
        chosen.ready_selector,
        chosen.sources_selector,
        chosen.timeout,
        chosen.same_page,
        chosen.any_host,
        chosen.same_origin_only,
        tuple(chosen.click),
        tuple(chosen.ignore_selector),
    )
    return WebTarget(
        page,
        Login(chosen.storage_state, credentials, cookies),
        profile=None if chosen.page is None else read_profile(chosen.page),
        browser_path=chosen.browser_path,
        headed=chosen.headed,
        evidence=evidence,
        evidence_when=chosen.evidence,
    )


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise UsageError(f"${name} is not set")
    return value
