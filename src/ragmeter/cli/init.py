"""`ragmeter init`: writes a ragmeter.toml by looking at the file with the questions."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmeter.cli import options
from ragmeter.cli.commands import PROJECT
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import UsageError
from ragmeter.io.write import dumps, replacing

if TYPE_CHECKING:
    from ragmeter.table import Column

SCHEMA = "ragmeter.schema.json"
#: Pairs of columns that can be scored as they are.
_SCORED = ({"answer", "reference"}, {"retrieved", "relevant"})
#: The options of reading that are written into the file.
_READING = ("delimiter", "decimal", "encoding", "split")
#: The target in the file until the user names a system.
_TARGET = "mypkg.rag:pipeline"
_DESCRIPTION = f"""\
Look at a file of questions, or of answers, and write a {PROJECT} for it; beside it {SCHEMA}, by which editors complete
and check its keys.

  ragmeter init qa.jsonl --target mypkg.rag:pipeline
  ragmeter run
"""


def parser() -> Parser:
    """The parser of `ragmeter init`."""
    parser = command_parser("ragmeter init", _DESCRIPTION)
    add = parser.add_argument
    add("data", metavar="DATA", help="questions and gold answers, or answers: csv, tsv, json, jsonl or parquet")
    add("--target", metavar="TARGET", help="the system to ask, for example mypkg.rag:pipeline or http://...")
    add("--output", metavar="FILE", type=Path, default=Path(PROJECT), help=f"default: {PROJECT}")
    add("--replace", action="store_true", help="replace a file that is there")
    options.reading_options(parser)
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Write both files, and say what comes next."""
    if chosen.output.exists() and not chosen.replace:
        raise UsageError(f"{chosen.output} is there already", hint="--replace replaces it, --output names another one")
    from ragmeter.cli.project_keys import schema

    mapping = options.read_columns(chosen.column)
    columns = _columns(chosen, mapping, has_answers=True)
    filled = {name for name, column in columns.items() if any(column)}
    has_answers = chosen.target is None and any(needed <= filled for needed in _SCORED)
    if not has_answers:
        columns = _columns(chosen, mapping, has_answers=False)
    text = _text(chosen, columns, mapping, has_answers=has_answers)
    with replacing(chosen.output, chosen.output.with_name(SCHEMA)) as (project, described):
        project.write_text(text, encoding="utf-8")
        described.write_text(dumps(schema(), indent=2) + "\n", encoding="utf-8")
    print(f"written: {chosen.output}, {chosen.output.with_name(SCHEMA)}")
    next_step = "next" if chosen.target or has_answers else f"name your system in it, in place of {_TARGET}, then"
    print(f"{next_step}: ragmeter run")
    return 0


def _columns(chosen: argparse.Namespace, mapping: dict[str, str], *, has_answers: bool) -> Mapping[str, Column]:
    """The first cells of the columns; in a file of answers `answer` is the system's, else it is the gold."""
    from ragmeter.io.columns import Typed
    from ragmeter.io.source import open_source

    source = open_source(chosen.data, options.read_reading(chosen), what="data")
    batch = next(Typed(source, "both" if has_answers else "reference", mapping).batches(), None)
    return {} if batch is None else batch.columns


def _text(
    chosen: argparse.Namespace, columns: Mapping[str, Column], mapping: dict[str, str], *, has_answers: bool
) -> str:
    metrics = _metrics(columns, has_answers=has_answers)
    data = [] if has_answers else [f"dataset = {_toml(chosen.data)}"]
    data += [f"{key} = {_toml(value)}" for key in _READING if (value := getattr(chosen, key)) is not None]
    data += [] if chosen.quotes else ["no_quotes = true"]
    data += [f"column = {{ {', '.join(f'{_toml(k)} = {_toml(v)}' for k, v in mapping.items())} }}"] if mapping else []
    kind = f"results = {_toml(chosen.data)}" if has_answers else f"target = {_toml(chosen.target or _TARGET)}"
    lines = [
        f"#:schema ./{SCHEMA}",
        "# `ragmeter run` does all of this. Each option of the commands has its key: --workers is workers. At the top",
        "# of the file, keys are for all systems; in [systems.NAME], for that one.",
        "",
        f"metrics = {_toml(metrics)}",
        "",
        *(["[data]", *data, ""] if data else []),
        "[systems.first]",
        kind,
        "",
        "# Another one to compare it with. A list of settings makes a run for each value: a Python target gets them as",
        "# keywords, and {top_k} stands for them in any other text, such as an address.",
        "# [systems.second]",
        '# target = "mypkg.rag:build"',
        "# settings = { top_k = [3, 10] }",
        "",
        "# A language model as the judge, for metrics such as llm_correct:",
        "# [judge]",
        '# model = "gpt-4o-mini"',
        "",
        "# What a run has to reach, or else the exit code is 1:",
        "# [gate]",
        f"# fail_under = {{ {_toml(metrics[0])} = 0.6 }}",
        "",
    ]
    return "\n".join(lines)


def _metrics(columns: Mapping[str, Column], *, has_answers: bool) -> tuple[str, ...]:
    """Metrics that the columns of the file allow; a system that is asked brings answers and what it retrieved."""
    from ragmeter.engine.default_metrics import MetricChoice, filled_columns, has_long_references

    filled = filled_columns(columns) | (set() if has_answers else {"answer", "retrieved"})
    choice = MetricChoice.of(filled, long_references=has_long_references(columns))
    if not choice.metrics:
        raise UsageError(
            "the file has neither gold answers nor gold documents",
            hint=f"the columns are {', '.join(sorted(columns))}; name the right one: --column reference=ITS_NAME, or "
            "--column relevant=ITS_NAME",
        )
    return choice.metrics


def _toml(value: Any) -> str:
    """A value as TOML writes it: texts and lists of texts as JSON does."""
    return json.dumps(value, ensure_ascii=False)
