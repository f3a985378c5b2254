"""The comparison of runs on their page: any test and alpha, kept with the runs if wanted, and the command for it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ragmeter.analysis.comparing import ChangedRow, Pair, compare
from ragmeter.analysis.comparing.comparison import table_cells
from ragmeter.app import wording
from ragmeter.documents.comparison import ComparisonSettings
from ragmeter.errors import RagmeterError, UsageError
from ragmeter.io.decoding import JsonObject
from ragmeter.io.write import RUNS
from ragmeter.runs.comparisons import KeptComparison, kept_comparison
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, address, breakable, element, joined, link, text
from ragmeter.show.page.parts import command, field, options, table
from ragmeter.show.terminal.catalogue import day
from ragmeter.stats.confidence import AUTO, TESTS
from ragmeter.wording import numbers
from ragmeter.wording.numbers import given
from ragmeter.wording.texts import shortened
from ragmeter.wording.verdicts import TITLES

#: Runs with more rows are compared only where that is asked for: it may take seconds.
_QUICK = 20_000
_LONGEST = 200
#: The fields of an address that choose rows.
_ROWS_FIELDS = ("metric", "change", "low")
#: What `ragmeter compare` does unless something else is chosen.
_USUAL = ComparisonSettings(
    metrics=None, test=TESTS[0], interval=AUTO, cluster=AUTO, slices=None, level=0.95, alpha=0.05, seed=0,
    draws=9_999, movers=0, better=3, worse=3, margin=None, baseline=None, all_pairs=False,
)  # fmt: skip


def settings_fields(query: Any) -> dict[str, str]:
    """The settings of a comparison in an address, so that other links of the page have them too."""
    return {name: query.get(name) for name in ("test", "alpha", "compute") if query.get(name)}


def comparison_part(runs: Sequence[Run], query: Any) -> Content:
    """The settings, the verdicts, slices that turn, and the rows that moved most; as kept, unless others are chosen."""
    kept = _kept(runs)
    chosen = settings_fields(query)
    settings = _settings(chosen) if chosen or kept is None or not kept.current else kept.settings
    names = [run.name for run in runs]
    form = _form(names, settings, query)
    same = command(_command(runs, settings))
    if max(run.n_rows for run in runs) > _QUICK and not chosen:
        return joined(form, link(wording.COMPUTE, address("side-by-side", run=names, compute=1)), same)
    try:
        comparison = compare(list(runs), **settings.as_dict())
    except RagmeterError as error:
        return joined(form, element("p", text(error), class_="note"), same)
    pairs = [_pair(pair, comparison.level) for pair in comparison.pairs]
    about = element("p", text(comparison.test_sentence), class_="soft")
    return joined(form, _kept_note(kept, settings), pairs, about, same)


def keep(runs: Sequence[Run], form: JsonObject) -> str:
    """Compare, and write the comparison beside the runs; returns the address that shows it with the same rows."""
    if not runs:
        raise UsageError("choose the runs to compare")
    chosen = {name: str(form.get(name, "")) for name in ("test", "alpha")}
    compare(list(runs), **_settings(chosen).as_dict(), keep=True)
    rows = {name: str(form.get(name, "")) for name in _ROWS_FIELDS}
    return address("side-by-side", run=[run.name for run in runs], **rows, **chosen)


def _settings(chosen: Mapping[str, str]) -> ComparisonSettings:
    """The settings as they were typed; what they may be is for `compare` to say."""
    try:
        return replace(_USUAL, test=chosen.get("test", _USUAL.test), alpha=float(chosen.get("alpha", _USUAL.alpha)))
    except ValueError:
        raise UsageError(f"alpha must be between 0 and 1, got {chosen['alpha'][:40]!r}") from None


def _kept(runs: Sequence[Run]) -> KeptComparison | None:
    try:
        return kept_comparison(runs)
    except RagmeterError:  # a damaged file is no reason to show nothing
        return None


def _kept_note(kept: KeptComparison | None, settings: ComparisonSettings) -> Content:
    if kept is None:
        return None
    if not kept.current:
        return element("p", wording.KEPT_BEFORE, class_="note")
    is_shown = kept.settings == settings
    return element("p", wording.KEPT.format(day=day(kept.created)), class_="note good") if is_shown else None


def _form(names: Sequence[str], settings: ComparisonSettings, query: Any) -> Markup:
    """The form for the test and alpha, with a button to keep the result."""
    hidden = [element("input", type="hidden", name="run", value=name) for name in names]
    hidden += [
        element("input", type="hidden", name=name, value=query.get(name)) for name in _ROWS_FIELDS if query.get(name)
    ]
    alpha = element("input", type="number", name="alpha", value=given(settings.alpha), min="0", max="1", step="any")
    return element(
        "form",
        hidden,
        field(wording.TEST, options("test", wording.TESTS, settings.test)),
        field(wording.ALPHA, alpha),
        element("button", wording.COMPARE, class_="quiet"),
        element("button", wording.KEEP, type="button", id="keep", class_="quiet"),
        action="/side-by-side#comparison-title",
        method="get",
        id="comparison",
        class_="filter",
    )


def _command(runs: Sequence[Run], settings: ComparisonSettings) -> str:
    """The command that makes and keeps the same comparison."""
    arguments: list[str] = []
    for name, value in settings.as_dict().items():
        if value == getattr(_USUAL, name):
            continue
        if name == "slices":
            arguments += [part for column in value for part in ("--slice", column)]
        elif name == "metrics":
            arguments += ["--metrics", *value]
        elif name == "margin":
            arguments += ["--margin", *(f"{metric}={given(margin)}" for metric, margin in value.items())]
        elif name == "all_pairs":
            arguments.append("--all-pairs")
        else:
            shown = "none" if value is None else value if isinstance(value, str) else given(value)
            arguments += [f"--{name}", shown]
    folder = [] if runs[0].path.parent == RUNS else ["--output-dir", str(runs[0].path.parent)]
    return shlex.join(["ragmeter", "compare", *(run.name for run in runs), *arguments, *folder, "--keep"])


def _pair(pair: Pair, level: float) -> Markup:
    """Two runs: the verdict, each metric's difference, slices that say otherwise, and the rows that changed."""
    cells = [table_cells(name, result) for name, result in pair.metrics.items()]
    rows = [[breakable(name), *others] for name, *others in cells]
    titles = [wording.METRIC, *TITLES[1:]]
    titles[2:4] = text(pair.a), text(pair.b)
    titles[-1] = TITLES[-1].format(numbers.percent(level))
    turned = [element("li", text(part.sentence)) for part in pair.slices if part.turns]
    caption = f"{wording.COMPARISON}: {pair.a}, {pair.b}"
    return joined(
        element("p", text(pair.sentence), class_="verdict"),
        [element("p", text(remark), class_="soft") for remark in pair.remarks],
        [element("p", text(warning), class_="note bad") for warning in pair.warnings],
        table(titles, rows, caption=caption, figures=(2, 3, 4, 5)),
        element("ul", turned) if turned else None,
        [element("p", text(line), class_="soft") for line in pair.causes.lines] if pair.causes else None,
        _changed(pair, pair.worse_rows, wording.GOT_WORSE),
        _changed(pair, pair.better_rows, wording.GOT_BETTER),
    )


def _changed(pair: Pair, rows: Sequence[ChangedRow], title: str) -> Content:
    """The rows that changed most, with both answers."""
    if not rows:
        return None
    titles = ["qid", wording.QUESTION, wording.REFERENCE, text(pair.a), text(pair.b)]
    cells = [
        [
            text(row.qid),
            *(
                text(shortened(of_row or "", _LONGEST))
                for of_row in (row.question, " | ".join(row.reference or []), row.answer_a, row.answer_b)
            ),
        ]
        for row in rows
    ]
    return element(
        "details",
        element("summary", title),
        table(titles, cells, caption=f"{title}: {pair.a}, {pair.b}", texts=(1, 2, 3, 4)),
    )
