"""Options that commands share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, redirect_stdout
from typing import TYPE_CHECKING, Any, TypedDict

from ragmeter.errors import UsageError
from ragmeter.io.limits import MAX_FIELD
from ragmeter.io.locations import location
from ragmeter.io.progress import show_notice
from ragmeter.io.write import RUNS, dumps
from ragmeter.stats.confidence import AUTO, METHODS, Confidence
from ragmeter.wording.numbers import given, percent

if TYPE_CHECKING:
    from ragmeter.io.reading import Reading

#: The exit code when too many rows have no score.
UNSCORED = 3


def number_option(parser: argparse._ActionsContainer, flag: str, metavar: str, default: float, text: str) -> None:
    """Add an option that takes a number; the help says its default."""
    shown = f"{text}; default: {given(default)}"
    parser.add_argument(flag, metavar=metavar, type=type(default), default=default, help=shown)


def asking_options(parser: argparse._ActionsContainer, unit: str, *, retries: int) -> None:
    """Add --retries, --give-up-after and --max-unscored."""
    number_option(parser, "--retries", "N", retries, "how often a call that failed is made again")
    patience = "stop when no call has succeeded for so long; the same command goes on later"
    number_option(parser, "--give-up-after", "SECONDS", 300.0, patience)
    unscored_option(parser, unit)


def unscored_option(parser: argparse._ActionsContainer, unit: str) -> None:
    """Add --max-unscored: the share of `unit` that may be missing."""
    text = f"the share of {unit} beyond which the exit code is {UNSCORED}"
    number_option(parser, "--max-unscored", "SHARE", 0.05, text)


def reuse_options(parser: argparse._ActionsContainer, unit: str) -> None:
    """Add --resume and --retry-failed: without them, all questions of a finished run are asked again."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--resume",
        action="store_true",
        help=f"reuse the answers of a finished {unit}, and ask only what is missing; without it a finished {unit} "
        "is asked anew, and an interrupted one is continued",
    )
    group.add_argument(
        "--retry-failed",
        action="store_true",
        help=f"ask a finished {unit} again only for what failed or timed out, and keep the other answers",
    )


def keeping_options(parser: argparse._ActionsContainer, default: str = "") -> None:
    """Add --run and --replace: the options of a run that is kept, the same on all commands that make one."""
    parser.add_argument(
        "--run",
        metavar="NAME",
        help=f"the run's name; {{n}} in it is the next free number, {{date}} and {{time}} say when; default: {default}",
    )
    replace_option(parser)


def replace_option(parser: argparse._ActionsContainer, though: str = "it has a judge's replies in it") -> None:
    """Add --replace."""
    text = f"replace an older run of this name even if {though}; its journal stays"
    parser.add_argument("--replace", action="store_true", help=text)


def limit_option(parser: argparse._ActionsContainer) -> None:
    """Add --limit."""
    parser.add_argument(
        "--limit", metavar="N", type=int, help="ask only the first N questions, to try a system out; the run says so"
    )


def max_calls_option(parser: argparse._ActionsContainer) -> None:
    """Add --max-calls."""
    parser.add_argument(
        "--max-calls",
        metavar="N",
        type=int,
        help="make no more calls than this in all, retries included; the rest is skipped_budget",
    )


def prints_aside() -> AbstractContextManager[Any]:
    """Redirect what the user's code prints to standard error: standard output has the command's result alone."""
    return redirect_stdout(sys.stderr)


def json_option(parser: argparse._ActionsContainer) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON, for scripts")


def runs_option(parser: argparse._ActionsContainer) -> None:
    """Add --output-dir: where runs are found by name."""
    parser.add_argument(
        "--output-dir",
        metavar="DIR",
        type=location,
        default=RUNS,
        help=f"where runs are kept, a folder or an address such as s3://bucket/runs; default: {RUNS}/",
    )


def part_options(parser: argparse.ArgumentParser, *, slices: str) -> None:
    """Add --metrics and --slice; `slices` is the end of the latter's help."""
    parser.add_argument("--metrics", metavar="NAME", nargs="+", help="some of the run's metrics; default: all")
    parser.add_argument(
        "--slice",
        metavar="COLUMN[,COLUMN]",
        action="append",
        default=[],
        help=f"a column, or two, {slices}; may be repeated",
    )


#: The settings of intervals, unless others are asked for.
_USUAL_STATISTICS: Mapping[str, object] = {"interval": AUTO, "level": 0.95, "seed": 0}


def statistics_options(
    parser: argparse.ArgumentParser,
    *,
    cluster: str = "session_id, or qid, where some rows share one",
    own: bool = False,
) -> None:
    """Add the options of intervals. `cluster` says what the default of --cluster is; `own`: others are the run's."""
    group = parser.add_argument_group("intervals")
    usual = dict.fromkeys(_USUAL_STATISTICS) if own else _USUAL_STATISTICS
    shown = {name: "the run's own" if value is None else value for name, value in usual.items()}
    auto = "auto is Wilson's for scores of 0 and 1, and Student's for the rest"
    group.add_argument(
        "--interval", default=usual["interval"], choices=METHODS, help=f"default: {shown['interval']}; {auto}"
    )
    group.add_argument(
        "--cluster",
        metavar="COLUMN",
        default=AUTO,
        help=f"rows with the same value here belong together; none: no rows do; default: {cluster}",
    )
    group.add_argument(
        "--level", metavar="SHARE", type=float, default=usual["level"], help=f"default: {shown['level']}"
    )
    drawn = f"of everything that is drawn; default: {shown['seed']}"
    group.add_argument("--seed", metavar="N", type=int, default=usual["seed"], help=drawn)


class Statistics(TypedDict):
    """How intervals are made: keywords of the api. A command that takes a run's own settings has None by default."""

    interval: str
    cluster: str | None
    level: float
    seed: int


def read_confidence(chosen: argparse.Namespace) -> Confidence:
    """The options of intervals."""
    settings = read_statistics(chosen)
    return Confidence(settings["interval"], settings["cluster"], settings["level"], settings["seed"])


def read_statistics(chosen: argparse.Namespace) -> Statistics:
    """The options of intervals, as the keywords of the api."""
    cluster = None if chosen.cluster == "none" else chosen.cluster
    return {"interval": chosen.interval, "cluster": cluster, "level": chosen.level, "seed": chosen.seed}


_LEAST = {
    "workers": 1,
    "agent_workers": 1,
    "limit": 1,
    "repeats": 1,
    "retries": 0,
    "max_calls": 0,
    "budget": 0,
    "max_tokens": 1,
    "num_conversations": 1,
}


def check_numbers(chosen: argparse.Namespace) -> None:
    """Refuse numbers out of range before anything is asked."""
    for name, least in _LEAST.items():
        value = getattr(chosen, name, None)
        if value is not None and not value >= least:
            raise UsageError(f"--{name.replace('_', '-')} must be at least {least}, got {given(value)}")
    for name in ("timeout", "give_up_after"):
        if not (seconds := getattr(chosen, name, 1)) > 0:
            raise UsageError(f"--{name.replace('_', '-')} must be above 0, got {given(seconds)}")
    if not 0 <= chosen.max_unscored <= 1:
        raise UsageError(f"--max-unscored must be between 0 and 1, got {given(chosen.max_unscored)}")


#: The options that limit calls; a command has some of them.
_LIMITS = ("max_calls", "budget", "judge_max_calls", "judge_budget")


def exit_code(
    chosen: argparse.Namespace, failed: int, total: int, problem: str, *, skipped: int = 0, tied: int = 0
) -> int:
    """0, or UNSCORED if too many have failed, which is said on standard error: `problem` is what they lack.

    `skipped` of them were not asked about, because a limit was reached; `tied` have all their verdicts, and are not
    asked about again.
    """
    from ragmeter.show.terminal.summary import asks_again

    if failed <= chosen.max_unscored * total:
        return 0
    most = f"more than {percent(chosen.max_unscored)} (--max-unscored)"
    limits = [f"--{name.replace('_', '-')}" for name in _LIMITS if getattr(chosen, name, None) is not None]
    again = "" if tied == failed else asks_again(failed, skipped, limits, retries=hasattr(chosen, "retry_failed"))
    show_notice(f"{failed:,} of {total:,} {problem}, {most}: the exit code is {UNSCORED}{again and '; '}{again}")
    return UNSCORED


_RESULTS = (
    "the system's answers: csv, tsv, json, jsonl, parquet or a TREC run; a file, a folder, a pattern or an address "
    "(s3://...)"
)


def input_options(parser: argparse.ArgumentParser) -> argparse._ActionsContainer:
    """Add the options of the input files, in a group of their own."""
    group = parser.add_argument_group("input")
    group.add_argument("--results", metavar="FILE", help=_RESULTS)
    group.add_argument(
        "--reference",
        metavar="FILE",
        help="the gold answers or documents, joined by qid; also TREC qrels, or a BEIR folder",
    )
    reading_options(group)
    return group


def reading_options(parser: argparse._ActionsContainer) -> None:
    """Add the options that say how a file is read."""
    parser.add_argument(
        "--column",
        metavar="NAME=YOURS",
        action="append",
        default=[],
        help="what a column is called in your file, for example answer=generated_answer; may be repeated",
    )
    parser.add_argument("--delimiter", metavar="CHARACTER", help="between columns of csv and tsv files; TAB for a tab")
    parser.add_argument("--decimal", metavar="MARK", help="in numbers of csv and tsv files, a point or a comma: ,")
    parser.add_argument("--encoding", help="the files' encoding, if it is not UTF-8")
    parser.add_argument(
        "--no-quotes",
        dest="quotes",
        action="store_false",
        help="in csv and tsv files, a double quote is just a character",
    )
    parser.add_argument(
        "--max-field",
        metavar="MIB",
        type=float,
        default=MAX_FIELD,
        help="refuse a row, a JSON document or an unpacked .xlsx file that is larger; default: 256",
    )
    text = (
        "of a BEIR folder: which qrels to read; default: test. Of a JSON object with several lists of rows, "
        "or a workbook with several sheets: which one"
    )
    parser.add_argument("--split", metavar="NAME", help=text)


def keep_option(parser: argparse._ActionsContainer) -> None:
    """Add --keep-columns."""
    text = "of a folder, a pattern or an address: columns to keep beside those that the metrics need, or all"
    parser.add_argument("--keep-columns", metavar="NAME[,NAME]", help=text)


def language_option(parser: argparse._ActionsContainer) -> None:
    """Add --language."""
    text = "the language for stemming, by code or name; auto: that of each row, in a column `language`, else detected"
    parser.add_argument("--language", help=text)


def doc_id_option(parser: argparse._ActionsContainer) -> None:
    """Add --doc-id-pattern."""
    text = "finds the document's id in a chunk's id (first group)"
    parser.add_argument("--doc-id-pattern", metavar="REGEX", help=text)


def missing_option(parser: argparse._ActionsContainer) -> None:
    """Add --missing."""
    text = (
        "a question of --reference that no result answers scores 0 in metrics of what was retrieved, as with "
        "trec_eval's -c; without it, it is in no mean"
    )
    parser.add_argument("--missing", choices=("zero",), help=text)


def read_reading(chosen: argparse.Namespace) -> Reading:
    """The options that say how a file is read."""
    from ragmeter.io.reading import Reading

    settings = {name: getattr(chosen, name) for name in ("encoding", "quotes", "max_field", "split", "decimal")}
    return Reading(delimiter=read_delimiter(chosen), **settings)


def read_delimiter(chosen: argparse.Namespace) -> str | None:
    """`--delimiter`, where TAB stands for a tab."""
    return "\t" if chosen.delimiter in ("TAB", "\\t") else chosen.delimiter


def embedding_options(parser: argparse._ActionsContainer) -> None:
    """Add the options of the embedding model."""
    parser.add_argument(
        "--embedding-model",
        metavar="MODEL",
        help="for semantic_similarity: a name on the hub, such as intfloat/multilingual-e5-base, a folder, openai:NAME "
        "or wordllama; default: wordllama, which needs no network",
    )
    parser.add_argument("--embedding-base-url", metavar="URL", help="the endpoint of an openai:NAME embedding model")
    parser.add_argument(
        "--embedding-prefix",
        metavar="PREFIX",
        help="what stands before both texts: query, passage or a text of yours; default: query for e5 models",
    )


def formula_option(parser: argparse._ActionsContainer) -> None:
    """Add --no-formula-guard."""
    parser.add_argument(
        "--no-formula-guard",
        dest="guard",
        action="store_false",
        help="in csv and tsv, leave cells as they are that a spreadsheet would run as a formula; "
        "in xlsx, do not mark them",
    )


def read_columns(pairs: Iterable[str]) -> dict[str, str]:
    """`--column name=yours`, as a mapping."""
    mapping = {}
    for pair in pairs:
        name, separator, yours = pair.partition("=")
        if not separator or not name or not yours:
            raise UsageError(f"--column {pair}: write it as NAME=YOURS, for example answer=generated_answer")
        mapping[name.strip()] = yours.strip()
    return mapping


def read_random_labels(
    files: Sequence[str] | None, rows: Callable[[], tuple[Sequence[str], Sequence[str | None]]]
) -> dict[str, float]:
    """The verdicts in --labels by qid, of a random sample; `rows` gives the qids and answers to match them with."""
    if not files:
        return {}
    from ragmeter.analysis.people.label_matches import random_labels
    from ragmeter.analysis.people.labels import read_labels

    labels = random_labels(read_labels(files), *rows())
    if not labels:
        raise UsageError("--labels: no row is labelled yet", hint="`ragmeter label` asks for them")
    return labels


def print_estimate(estimate: Mapping[str, Any], *, json: bool, **words: str) -> int:
    """Print what judging would cost; return the exit code."""
    from ragmeter.show.terminal.judging import estimated

    print(dumps(estimate, indent=2)) if json else estimated(estimate, **words)
    return 0
