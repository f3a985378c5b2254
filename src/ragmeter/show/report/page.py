"""The page: a template, its style and its script, and the runs as data. It loads nothing.

No text of a run is part of the markup. Texts are in blocks of JSON, and the script inserts them as text. A content
security policy allows only the script and the style, by their hashes.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ragmeter
from ragmeter.analysis.comparing.comparison import table_cells
from ragmeter.documents.summary import Summary
from ragmeter.io.write import dumps
from ragmeter.runs.lookup import run_labels
from ragmeter.runs.run import Run
from ragmeter.show.page import elements
from ragmeter.show.page.shapes import axis_of_means, histogram, is_rate, relations
from ragmeter.show.report import page_texts, rows
from ragmeter.show.report.slices import slices
from ragmeter.show.system_tables import SystemTables
from ragmeter.table import ABSTAINED
from ragmeter.wording.answer_causes import cause_lines
from ragmeter.wording.causes import failures
from ragmeter.wording.document_list import TITLES, document_cells, list_lines
from ragmeter.wording.judging import CAUSE, judge_causes, judge_lines
from ragmeter.wording.limits import limit_lines
from ragmeter.wording.metrics import (
    FEW,
    about_intervals,
    better,
    explained,
    headline,
    headline_sentence,
    level,
    no_rates,
    result_unit,
    summary_sentence,
)
from ragmeter.wording.signs import ARROWS, OTHER, SIGNS

if TYPE_CHECKING:
    from ragmeter.analysis.comparing import Comparison

_STATIC = Path(__file__).with_name("static")
_SCRIPTS = (
    "numbers",
    "elements",
    "charts",
    "headline",
    "compare",
    "causes",
    "slices",
    "data",
    "claims",
    "detail",
    "rows",
    "chat",
    "main",
)
#: Rows are compressed if their JSON is longer than this. Smaller pages stay readable in an editor.
_PLAIN = 1_000_000
#: Documents on the page; `ragmeter documents` lists all.
_DOCUMENTS = 15
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class Page:
    """A page, and its number of rows."""

    html: str
    rows: int


def render(
    runs: Sequence[Run],
    *,
    title: str | None = None,
    max_rows: int,
    comparison: Comparison | None = None,
    kept: str = "",
    not_compared: str = "",
) -> Page:
    """The whole page, with at most `max_rows` rows of all runs together."""
    labels = run_labels(runs)
    texts = page_texts.Texts()
    chosen = rows.choose(runs, max_rows)
    columns = [rows.columns(run, chosen_rows, texts) for run, chosen_rows in zip(runs, chosen, strict=True)]
    shortened_texts, cut, limit = texts.cut()
    data = {
        "version": ragmeter.__version__,
        "made": datetime.now(UTC).isoformat(timespec="minutes"),
        "title": title or _title(labels),
        "interval": _about_means(runs),
        "few": FEW,
        "longest": limit if cut else None,
        "metrics": _metrics(runs),
        "runs": [_run(run, label) for run, label in zip(runs, labels, strict=True)],
        "comparison": None if comparison is None else _comparison(comparison, kept),
        "not_compared": not_compared,
        "labels": {**SIGNS, "": OTHER},
    }
    style, script = _style(), _script()
    encoded, encoding = _packed(embedded({"texts": shortened_texts, "cut": cut, "runs": columns}))
    parts = {
        "policy": html.escape(page_policy(style, script)),
        "title": html.escape(str(data["title"])),
        "style": style,
        "script": script,
        "data": embedded(data),
        "encoding": encoding,
        "rows": encoded,
    }
    template = (_STATIC / "report.html").read_text(encoding="utf-8")
    return Page(_PLACE.sub(lambda match: parts[match[1]], template), sum(map(len, chosen)))


def _about_means(runs: Sequence[Run]) -> str:
    """What an interval is, and which means are no rates."""
    metrics = {name: summary for run in runs for name, summary in run.metrics().items()}
    levels = [level(summary) for run in runs for summary in run.metrics().values()]
    return " ".join([about_intervals(levels), *(f"{line[0].upper()}{line[1:]}." for line in no_rates(metrics))])


def embedded(value: Any) -> str:
    """JSON that is safe inside a script element, with any texts in it."""
    text = dumps(value)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _packed(text: str) -> tuple[str, str]:
    if len(text) <= _PLAIN:
        return text, "json"
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode(), "gzip"


def _style() -> str:
    """What pages share, and what the report has besides."""
    shared = Path(elements.__file__).with_name("style.css")
    return "".join(file.read_text(encoding="utf-8") for file in (shared, _STATIC / "report.css"))


def _script() -> str:
    parts = [(_STATIC / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS]
    return "(() => {\n'use strict';\n" + "\n".join(parts) + "})();\n"


def page_policy(style: str, script: str) -> str:
    """The page's content security policy: this style and this script, and nothing else."""
    hashes = [base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() for content in (script, style)]
    return (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def _title(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _metrics(runs: Sequence[Run]) -> dict[str, dict[str, Any]]:
    """The properties of each metric that all runs share."""
    names = list(dict.fromkeys(name for run in runs for name in run.metrics()))
    meaning = explained(names)
    described = {}
    for name in names:
        runs_with_it = [run for run in runs if name in run.metrics()]
        summary = runs_with_it[0].metrics()[name]
        described[name] = {
            "direction": summary.direction,
            "better": better(summary.direction),
            "arrow": ARROWS.get(summary.direction, ""),
            "rate": is_rate(summary),
            "meaning": meaning[name],
            "axis": axis_of_means([run.metrics()[name] for run in runs_with_it]),
        }
    return described


def _comparison(comparison: Comparison, kept: str) -> dict[str, Any]:
    """The comparison as JSON, without the answers of its rows, which the page has; `kept` is said of it."""
    content = comparison.as_dict()
    pairs = [
        {
            **{key: value for key, value in pair.items() if key not in ("remarks", "warnings")},
            "metrics": {
                name: {**difference, "movers": [], "cells": table_cells(name, compared.metrics[name])}
                for name, difference in pair["metrics"].items()
            },
            "causes": {"lines": compared.causes.lines} if compared.causes else None,
            "better_rows": list(map(_without_answers, pair["better_rows"])),
            "worse_rows": list(map(_without_answers, pair["worse_rows"])),
        }
        for pair, compared in zip(content["pairs"], comparison.pairs, strict=True)
    ]
    tables = SystemTables(comparison)
    several = len(comparison.pairs) > 1
    return {
        **content,
        "kept": kept,
        "pairs": pairs,
        "first": tables.first_sentences if several else [comparison.pairs[0].sentence],
        "remarks": [] if several else comparison.pairs[0].remarks,
        "warnings": list(dict.fromkeys(warning for pair in comparison.pairs for warning in pair.warnings)),
        "test_sentence": comparison.test_sentence,
        "systems": _systems(tables) if several else None,
    }


def _without_answers(row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in ("qid", "question", "scores")}


def _systems(tables: SystemTables) -> dict[str, Any]:
    """The tables of several systems."""
    return {
        "names": tables.systems,
        "titles": tables.order_titles,
        "order": [[vars(cell) for cell in row] for row in tables.order()],
        "metrics": [[vars(cell) for cell in row] for row in tables.metrics()],
        "signs": tables.signs,
    }


def _answer_causes(summary: Summary) -> list[dict[str, Any]]:
    """The lines of the table of causes, with figures as they are shown."""
    keys = ("share", "interval", "n", "by")
    lines = cause_lines(summary.cause)
    return [
        {"words": line.words, "meaning": line.meaning, **dict(zip(keys, line.cells[1:], strict=True))} for line in lines
    ]


def _documents(run: Run) -> dict[str, Any] | None:
    """The documents that are missed most often, as they are shown; None for a run without ids of documents."""
    if not {"retrieved", "relevant"} <= set(run.columns):
        return None
    from ragmeter.analysis.document_list import list_documents

    documents = list_documents(run)
    if not len(documents):
        return None
    rows = [document_cells(document) for document in documents[:_DOCUMENTS]]
    return {"titles": TITLES, "rows": rows, "lines": list_lines(documents.useless, _DOCUMENTS)}


def _run(run: Run, label: str) -> dict[str, Any]:
    summary = run.summary()
    return {
        "name": label,
        "created": run.manifest().created,
        "n": run.n_rows,
        "headline": headline_sentence(run.metrics(), result_unit(run.manifest())),
        "metrics": {
            name: {
                **{
                    key: getattr(figures, key)
                    for key in ("mean", "sd", "min", "max", "interval", "n_scored", "n_total")
                },
                "median": None if figures.binary else figures.median,
                "bounds": figures.bounds_of_mean,
                "few": figures.is_few,
                "shown": headline(figures),
                "level": level(figures),
                "sentence": summary_sentence(name, figures),
                "histogram": histogram(run, name) if name in run.row_metrics else None,
            }
            for name, figures in run.metrics().items()
        },
        "row_metrics": run.row_metrics,
        "limit": limit_lines(run.manifest()),
        "failures": [{**vars(reason), "declined": reason.cause == ABSTAINED} for reason in failures(run.metrics())],
        "causes": {**(summary.causes or {}), **judge_causes(summary)},
        "answer_causes": _answer_causes(summary),
        "documents": _documents(run),
        "judge_model": run.manifest().judge_model,
        "judge": [line for line in judge_lines(summary, run.manifest()) if line[1] != CAUSE],
        "numbers": summary.numbers,
        "usage": summary.usage or {},
        "slices": slices(run),
        "relations": relations(run),
        "manifest": run.manifest(),
    }
