"""What `--help` shows of a command: the options that people use, in groups, and examples. `--help-all` shows all.

A command without groups here has few options, and shows all of them. The judge's stand once: `ragmeter help judge`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

#: The groups of options that only `ragmeter help judge` shows in full, and what stands for them elsewhere.
JUDGE_GROUPS = ("the judge", "the cascade")
_OF_JUDGE = ("--judge", "--judge-model", "--judge-budget", "--dry-run")
#: How the titles of groups begin that become known when a command line is read: the options of named classes.
NAMED_LATER = "options of "


@dataclass(frozen=True)
class HelpPage:
    """A command's help: its examples, and under headings the options that are shown; without headings, all."""

    examples: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    usage: str = ""


PAGES = {
    "ragmeter evaluate": HelpPage(
        (
            "ragmeter evaluate answers.jsonl reference.tsv --run before",
            "ragmeter evaluate answers.jsonl --metrics llm_correct --judge-model gpt-4o-mini --dry-run",
        ),
        {
            "files": ("ANSWERS", "REFERENCE", "--column"),
            "what to measure": ("--metrics", "--language", "--judge-model", "--judge", "--dry-run", "--evaluator"),
            "the run": ("--run", "--output-dir", "--json"),
            "the result's limits, for CI": ("--fail-under", "--no-worse-than"),
        },
        "ANSWERS [REFERENCE] [options]",
    ),
    "ragmeter questions": HelpPage(
        (
            "ragmeter questions docs/ --n 100 --judge-model gpt-4o-mini --dry-run",
            "ragmeter questions chunks.jsonl --n 300 --judge-model gpt-4o-mini --budget 2.00 --run questions",
        ),
        {
            "documents and questions": ("DOCUMENTS", "--n", "--kinds", "--categories", "--turns", "--language"),
            "who writes them": ("--judge-model", "--judge-base-url", "--judge-budget", "--dry-run", "--offline"),
            "the card": ("--like", "--check"),
            "the run": ("--run", "--json"),
        },
        "DOCUMENTS [DOCUMENTS ...] [options]",
    ),
    "ragmeter ask": HelpPage(
        (
            "ragmeter ask --dataset qa.jsonl --target mypkg.rag:pipeline --run after",
            "ragmeter ask --dataset qa.jsonl --target http://127.0.0.1:8000/query --answer-path data.text --limit 5",
        ),
        {
            "questions and the system": ("--dataset", "--target", "--limit", "--workers", "--repeats"),
            "an address as the system": ("--request", "--header", "--answer-path", "--retrieved-path",
                                         "--contexts-path"),
            "what to measure": ("--metrics", "--judge-model"),
            "the run": ("--run", "--resume", "--json"),
        },
        "--dataset FILE --target TARGET [options]",
    ),
    "ragmeter web": HelpPage(
        (
            "ragmeter web --url http://127.0.0.1:8000/ --learn page.toml",
            "ragmeter web --url http://127.0.0.1:8000/ --input qa.csv --output results.csv",
        ),
        {
            "questions and the page": ("--url", "--learn", "--page", "--input", "--output", "--limit"),
            "where the page has them": ("--click", "--input-selector", "--submit-selector", "--answer-selector",
                                        "--same-page", "--storage-state"),
            "what to measure": ("--metrics", "--language", "--judge-model"),
            "the run": ("--run", "--resume"),
        },
        "--url URL [--learn FILE | --input FILE --output FILE] [options]",
    ),
    "ragmeter compare": HelpPage(
        ("ragmeter compare before after", "ragmeter compare small medium large --baseline small --metrics llm_correct"),
        {
            "what to compare": ("RUN", "--baseline", "--metrics", "--slice"),
            "rows to read": ("--worse", "--better"),
            "how sure": ("--alpha", "--margin"),
            "a judge's preference": ("--preference", "--judge-model", "--dry-run"),
            "output": ("--markdown", "--latex", "--keep", "--output-dir", "--json"),
        },
        "RUN RUN [RUN ...] [options]",
    ),
    "ragmeter crag evaluate": HelpPage(
        (
            "ragmeter crag evaluate --turns turns.jsonl --judge-model gpt-4o --output-dir runs/judged --dry-run",
            "ragmeter crag evaluate --turns turns.jsonl --judge-model none --output-dir runs/judged",
        ),
        {
            "turns and results": ("--turns", "--output-dir", "--replace", "--json"),
            "who judges": ("--judge-model", "--judge", "--judge-budget", "--dry-run", "--retry-failed",
                           "--max-unscored"),
            "the result's limits, for CI": ("--fail-under", "--no-worse-than"),
        },
        "--turns FILE --output-dir DIR [options]",
    ),
    "ragmeter label": HelpPage(("ragmeter label after --n 100", "ragmeter label after --blank --output new.csv")),
    "ragmeter calibrate": HelpPage(
        (
            "ragmeter calibrate after --labels labels.csv",
            "ragmeter calibrate after --labels labels.csv --metric llm_correct --json",
        )
    ),
    "ragmeter explain": HelpPage(("ragmeter explain after q17", "ragmeter explain after q17 --json")),
    "ragmeter report": HelpPage(
        ("ragmeter report before after", "ragmeter report after --output after.html --title 'Release 7'")
    ),
    "ragmeter gate": HelpPage(
        (
            "ragmeter gate after --fail-under offline_correct=0.6",
            "ragmeter gate after --no-worse-than before:offline_correct:0.02 --junit gate.xml",
        )
    ),
    "ragmeter runs remove": HelpPage(("ragmeter runs remove before", "ragmeter runs remove try-1 try-2 --yes")),
    "ragmeter runs tag": HelpPage(("ragmeter runs tag after baseline", "ragmeter runs tag after baseline --remove")),
    "ragmeter runs rename": HelpPage(("ragmeter runs rename after release-2", "ragmeter runs rename try-1 bm25")),
    "ragmeter runs prune": HelpPage(("ragmeter runs prune", "ragmeter runs prune --older-than 90 --yes")),
    "ragmeter summary": HelpPage(("ragmeter summary after --slice domain", "ragmeter summary after --json")),
    "ragmeter metrics": HelpPage(("ragmeter metrics", "ragmeter metrics ndcg@10")),
    "ragmeter init": HelpPage(("ragmeter init qa.jsonl --target mypkg.rag:pipeline", "ragmeter init answers.jsonl")),
    "ragmeter crag generate": HelpPage(
        (
            "ragmeter crag generate --dataset data.jsonl --agent mypkg.agents:Agent --output turns.jsonl",
            "ragmeter crag generate --dataset data.jsonl --agent mypkg.agents:Agent --no-images --output turns.jsonl",
        )
    ),
}  # fmt: skip


def page(parser: argparse.ArgumentParser) -> str:
    """The help of a command, as `--help` shows it."""
    chosen = PAGES.get(parser.prog, HelpPage(()))
    if not chosen.groups:
        return _written(parser, _all_groups(parser), chosen)
    by_name = {name: action for action in parser._actions for name in _names(action)}
    groups = [(title, [by_name[name] for name in names]) for title, names in chosen.groups.items()]
    named_later = [group for group in parser._action_groups if (group.title or "").startswith(NAMED_LATER)]
    more = [(group.title or "", group._group_actions, group.description) for group in named_later]
    judge = ", `ragmeter help judge` those of the judge" if _has_judge(parser) else ""
    rest = f"`{parser.prog} --help-all` shows all options{judge}."
    return _written(parser, [*((title, actions, None) for title, actions in groups), *more], chosen, rest)


def whole_page(parser: argparse.ArgumentParser) -> str:
    """The help of a command with all options, but of the judge's those alone that people use."""
    rest = "`ragmeter help judge` shows all options of the judge." if _has_judge(parser) else ""
    return _written(parser, _all_groups(parser), PAGES.get(parser.prog, HelpPage(())), rest)


def every_option(parser: argparse.ArgumentParser) -> str:
    """The description of a parser and all of its options."""
    formatter = parser._get_formatter()
    formatter.add_text(parser.description)
    for group in parser._action_groups[2:]:  # without those of argparse itself
        formatter.start_section(group.title)
        formatter.add_arguments(group._group_actions)
        formatter.end_section()
    return formatter.format_help()


Group = tuple[str, Sequence[argparse.Action], str | None]


def _all_groups(parser: argparse.ArgumentParser) -> list[Group]:
    groups: list[Group] = []
    for group in parser._action_groups:
        actions: Iterable[argparse.Action] = group._group_actions
        if group.title in JUDGE_GROUPS:
            actions = [action for action in actions if {*_OF_JUDGE}.intersection(action.option_strings)]
        groups.append((group.title or "", list(actions), group.description))
    return groups


def _written(parser: argparse.ArgumentParser, groups: Iterable[Group], chosen: HelpPage, rest: str = "") -> str:
    formatter = parser._get_formatter()
    formatter.add_usage(f"{parser.prog} {chosen.usage or _usage(parser)}", [], [])
    formatter.add_text(parser.description)
    for title, actions, description in groups:
        formatter.start_section(title)
        formatter.add_text(description)
        formatter.add_arguments(actions)
        formatter.end_section()
    if chosen.examples and not all(example in (parser.description or "") for example in chosen.examples):
        formatter.add_text("examples:\n" + "\n".join(f"  {example}" for example in chosen.examples))
    formatter.add_text(rest)
    return formatter.format_help()


def _usage(parser: argparse.ArgumentParser) -> str:
    """What a command takes in short: its files or runs, and the options that it can't do without."""
    places = [_place(action) for action in parser._actions if not action.option_strings]
    needed = [
        f"{action.option_strings[0]} {action.metavar}"
        for action in parser._actions
        if action.option_strings and action.required
    ]
    return " ".join([*places, *needed, "[options]"])


def _place(action: argparse.Action) -> str:
    """An argument without a flag, as a usage line writes it."""
    name = str(action.metavar or action.dest)
    forms = {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} [{name} ...]"}
    return forms.get(str(action.nargs), name)


def _names(action: argparse.Action) -> list[str]:
    return list(action.option_strings) or [str(action.metavar)]


def _has_judge(parser: argparse.ArgumentParser) -> bool:
    return any(group.title in JUDGE_GROUPS for group in parser._action_groups)
