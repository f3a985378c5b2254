"""The page: a template, the parts that Python writes, and an appendix that a script makes of the runs' rows.

It loads nothing. Texts of a run are escaped, or they are in blocks of JSON, and the script inserts them as text. A
content security policy allows only the script and the style, by their hashes.
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
from ragmeter.io.write import dumps
from ragmeter.runs.lookup import run_labels
from ragmeter.runs.run import Run
from ragmeter.show.page import elements
from ragmeter.show.page.compare.view import CompareView
from ragmeter.show.page.elements import Content, Markup, element, joined, text
from ragmeter.show.page.parts import tints
from ragmeter.show.page.shapes import histogram, is_rate, relations
from ragmeter.show.report import figures, page_texts, rows
from ragmeter.show.report.compared import charts, compared, report_view
from ragmeter.show.report.figures import Named, contents, labelled
from ragmeter.show.report.slices import slices
from ragmeter.wording.metrics import FEW, headline
from ragmeter.wording.signs import OTHER, SIGNS
from ragmeter.wording.texts import in_html

if TYPE_CHECKING:
    from ragmeter.analysis.comparing import Comparison

_STATIC = Path(__file__).with_name("static")
_SCRIPTS = (
    "numbers",
    "elements",
    "charts",
    "distributions",
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
NOT_COMPARED = "The runs are not compared: "
CHARTS = "Charts"
OF_ALL_ROWS = "From here on, all figures are of all rows of each run, and not of the slice that was compared."
_FOOT = "Made by ragmeter {version}, {made}. This file holds everything that it shows, and asks nothing of the network."
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
    with_appendix: bool = True,
) -> Page:
    """The whole page, with at most `max_rows` rows of all runs together; without the appendix it has no rows."""
    labels = run_labels(runs)
    by_label = labelled(runs, labels)
    view = None if comparison is None else report_view(comparison, by_label, for_owner=not with_appendix)
    named = Named(by_label, dict(zip(labels, tints(runs), strict=True)) if view is None else view.tints)
    shown_title = title or (_title(labels) if view is None else "")
    chosen = rows.choose(runs, max_rows) if with_appendix else []
    style, script = _style(), _script()
    content = _content(
        named, view, shown_title, kept if with_appendix else "", not_compared, for_owner=not with_appendix
    )
    parts = {
        "policy": html.escape(page_policy(style, script)),
        "title": in_html(shown_title or _title(labels)),
        "style": style,
        "script": script,
        "content": content,
        "contents": "",
        "appendix": _appendix(named, view) if with_appendix else "",
        "foot": _FOOT.format(version=ragmeter.__version__, made=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
        "data": "{}",
        "rows": "",
    }
    parts["contents"] = joined(contents(_sections(content + parts["appendix"])))
    if with_appendix:
        texts = page_texts.Texts()
        columns = [rows.columns(run, chosen_rows, texts) for run, chosen_rows in zip(runs, chosen, strict=True)]
        shortened_texts, cut, limit = texts.cut()
        data = {
            "few": FEW,
            "longest": limit if cut else None,
            "metrics": _metrics(runs),
            "runs": [_run(run, label, named.tints[label]) for label, run in by_label.items()],
            "labels": {**SIGNS, "": OTHER},
        }
        encoded, encoding = _packed(embedded({"texts": shortened_texts, "cut": cut, "runs": columns}))
        parts["data"] = embedded(data)
        parts["rows"] = f'<script type="application/json" id="rows" data-encoding="{encoding}">{encoded}</script>'
    template = (_STATIC / "report.html").read_text(encoding="utf-8")
    return Page(_PLACE.sub(lambda match: parts[match[1]], template), sum(map(len, chosen)))


def _content(
    named: Named, view: CompareView | None, title: str, kept: str, not_compared: str, *, for_owner: bool
) -> Markup:
    """All before the appendix: the verdict, or of a single run its result and causes; then all metrics."""
    failed = figures.unscored(named)
    if view is None:
        note = element("p", NOT_COMPARED, text(not_compared), ".", class_="note bad") if not_compared else None
        first: Content = [
            element("h1", text(title), id="title"),
            figures.lead(named),
            note,
            figures.unanswered(named),
            figures.doubts(named),
            failed,
        ]
    else:
        about = element("p", text(title), id="title") if title else None
        said = element("p", text(kept), class_="about") if kept else None
        of_all = [charts(view), element("p", OF_ALL_ROWS, class_="note")] if view.where else None
        known = [figures.lead(named), figures.unanswered(named), figures.doubts(named), failed]
        first = [about, compared(view), said, of_all, known]
    return joined(
        element("section", first, id="headline", aria_label="Headline"),
        figures.causes(named) if view is None else None,
        figures.all_metrics(named, for_owner=for_owner),
    )


def _sections(content: str) -> list[tuple[str, str]]:
    """The sections that links at the top lead to."""
    words = {"headline": "Headline", "causes": "Causes", "scores": "Metrics"}
    words |= {"appendix": "Appendix", "charts": CHARTS, "documents": "Documents"}
    places = {name: content.find(f' id="{name}"') for name in words}
    return [(name, words[name]) for name in sorted(words, key=lambda name: places[name]) if places[name] >= 0]


def _appendix(named: Named, view: CompareView | None) -> str:
    """What the script fills, after what Python writes of it."""
    template = (_STATIC / "appendix.html").read_text(encoding="utf-8")
    of_pair = charts(view) if view is not None and not view.where else None
    drawn = [of_pair, figures.causes(named)] if view is not None else []
    shown = joined(figures.part(CHARTS, *drawn, name="charts"), figures.documents(named))
    return _PLACE.sub(lambda _: shown, template)


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
    summaries = [item for run in runs for item in run.metrics().items()]
    return {name: {"direction": summary.direction, "rate": is_rate(summary)} for name, summary in summaries}


def _run(run: Run, label: str, tint: str) -> dict[str, Any]:
    return {
        "name": label,
        "tint": tint,
        "n": run.n_rows,
        "metrics": {
            name: {
                **{key: getattr(summary, key) for key in ("mean", "n_scored")},
                "median": None if summary.binary else summary.median,
                "shown": headline(summary),
                "histogram": histogram(run, name) if name in run.row_metrics else None,
            }
            for name, summary in run.metrics().items()
        },
        "row_metrics": run.row_metrics,
        "slices": slices(run),
        "relations": relations(run),
        "manifest": run.manifest(),
    }
