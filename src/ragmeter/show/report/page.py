"""The page: a template, its style and its script, and the runs as data. Nothing is loaded from anywhere.

No text of a run is ever part of the markup. It stands in blocks of JSON, and the script writes it as text. A content
security policy allows the one script and the one style by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ragmeter
from ragmeter.io.write import dumps
from ragmeter.runs.finding import run_labels
from ragmeter.runs.run import Run
from ragmeter.show.report import rows
from ragmeter.show.report.shapes import axis_of_means, histogram, is_rate, relations
from ragmeter.show.report.slices import slices
from ragmeter.show.sentences.causes import failures
from ragmeter.show.sentences.metrics import about_intervals, better, explained, level, summary_sentence
from ragmeter.stats.intervals import SMALL

_STATIC = Path(__file__).with_name("static")
_SCRIPTS = ("numbers", "elements", "charts", "headline", "compare", "slices", "data", "detail", "rows", "chat", "main")
#: Rows are compressed when their text is longer than this. Below it, a page that an editor can show is worth more.
_PLAIN = 1_000_000
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class Page:
    """A page, and how many rows it has."""

    html: str
    rows: int


def render(
    runs: Sequence[Run],
    *,
    title: str | None = None,
    max_rows: int,
    comparison: Mapping[str, Any] | None = None,
    not_compared: str = "",
) -> Page:
    """The whole page. It has room for `max_rows` rows of all runs together."""
    labels = run_labels(runs)
    texts = rows.Texts()
    chosen = rows.choose(runs, max_rows)
    columns = [rows.columns(run, held, texts) for run, held in zip(runs, chosen, strict=True)]
    kept, cut, limit = texts.cut()
    data = {
        "version": ragmeter.__version__,
        "made": datetime.now(UTC).isoformat(timespec="minutes"),
        "title": title or _title(labels),
        "interval": about_intervals([level(each) for run in runs for each in run.metrics().values()]),
        "few": SMALL,
        "longest": limit if cut else None,
        "metrics": _metrics(runs),
        "runs": [_run(run, label) for run, label in zip(runs, labels, strict=True)],
        "comparison": comparison and _comparison(comparison),
        "not_compared": not_compared,
    }
    style, script = _style(), _script()
    encoded, encoding = _packed(embedded({"texts": kept, "cut": cut, "runs": columns}))
    parts = {
        "policy": html.escape(_policy(style, script)),
        "title": html.escape(str(data["title"])),
        "style": style,
        "script": script,
        "data": embedded(data),
        "encoding": encoding,
        "rows": encoded,
    }
    template = (_STATIC / "report.html").read_text(encoding="utf-8")
    return Page(_PLACE.sub(lambda match: parts[match[1]], template), sum(map(len, chosen)))


def embedded(value: Any) -> str:
    """JSON that can stand inside a script element, whatever the texts in it say."""
    text = dumps(value)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _packed(text: str) -> tuple[str, str]:
    if len(text) <= _PLAIN:
        return text, "json"
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode(), "gzip"


def _style() -> str:
    return (_STATIC / "report.css").read_text(encoding="utf-8")


def _script() -> str:
    parts = [(_STATIC / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS]
    return "(() => {\n'use strict';\n" + "\n".join(parts) + "})();\n"


def _policy(style: str, script: str) -> str:
    hashes = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in (script, style)]
    return (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def _title(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _metrics(runs: Sequence[Run]) -> dict[str, dict[str, Any]]:
    """What is true of a metric in every run."""
    names = list(dict.fromkeys(name for run in runs for name in run.metrics()))
    meaning = explained(names)
    found = {}
    for name in names:
        having = [run for run in runs if name in run.metrics()]
        held = having[0].metrics()[name]
        found[name] = {
            "direction": held["direction"],
            "better": better(held["direction"]),
            "rate": is_rate(held),
            "meaning": meaning[name],
            "axis": axis_of_means([run.metrics()[name] for run in having]),
        }
    return found


def _comparison(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """The comparison as it is, but for the answers of its movers: the rows have them."""
    kept = ("qid", "a", "b", "difference", "question")
    pairs = [
        {
            **pair,
            "metrics": {
                name: {**each, "movers": [{key: mover[key] for key in kept} for mover in each["movers"]]}
                for name, each in pair["metrics"].items()
            },
        }
        for pair in comparison["pairs"]
    ]
    return {**comparison, "pairs": pairs}


def _run(run: Run, label: str) -> dict[str, Any]:
    summary = run.summary()
    return {
        "name": label,
        "created": run.manifest().get("created"),
        "n": run.n_rows,
        "metrics": {
            name: {
                **{key: each[key] for key in ("mean", "sd", "median", "min", "max", "interval", "n_scored", "n_total")},
                "level": level(each),
                "sentence": summary_sentence(name, each),
                "histogram": histogram(run, name) if name in run.row_metrics else None,
            }
            for name, each in run.metrics().items()
        },
        "row_metrics": run.row_metrics,
        "failures": failures(run.metrics()),
        "causes": summary.get("causes") or {},
        "numbers": summary.get("numbers") or {},
        "usage": summary.get("usage") or {},
        "slices": slices(run),
        "relations": relations(run),
        "manifest": run.manifest(),
    }
