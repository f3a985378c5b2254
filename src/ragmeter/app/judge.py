"""How good a run's judge is: its verdicts beside people's labels, what they cost, and how well people agree."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from ragmeter.analysis.people.agreement import Disagreement, PeopleAgreement
from ragmeter.analysis.people.calibration import Calibration, calibrate
from ragmeter.analysis.people.judged_rows import CELLS, JudgedRows, judged_rows
from ragmeter.analysis.people.verdicts import binary_metrics
from ragmeter.app import wording
from ragmeter.app.fields import in_folder
from ragmeter.app.labelling import queue_link
from ragmeter.app.queries import Database
from ragmeter.documents.judging import JudgeSummary
from ragmeter.errors import RagmeterError
from ragmeter.runs.run import Run
from ragmeter.show.page.charts.drawing import Axis
from ragmeter.show.page.charts.intervals import whisker
from ragmeter.show.page.charts.planes import Bin, reliability
from ragmeter.show.page.elements import Content, Markup, address, element, joined, link, text
from ragmeter.show.page.parts import command, meaning, section, table, worded
from ragmeter.show.terminal.calibration import agreement_lines
from ragmeter.stats.agreement import Estimate
from ragmeter.wording.numbers import deserved_decimals, interval, money, number, percent
from ragmeter.wording.texts import shortened

_MOST_ROWS, _LONGEST = 200, 200


def judge_page(
    run: Run, agreement: PeopleAgreement | None, database: Database, query: Mapping[str, str]
) -> list[Content]:
    """The page's content."""
    return [
        _people_against_judge(run, agreement, database, query),
        section(wording.COST_AND_STABILITY, _costs(run), name="costs"),
        section(wording.AGREEMENT, _people(agreement, run), name="people"),
    ]


def _people_against_judge(
    run: Run, agreement: PeopleAgreement | None, database: Database, query: Mapping[str, str]
) -> Content:
    if agreement is None:
        to_label = link(wording.LABEL_ROWS, address("run", run.name, "label"))
        return element("p", wording.NO_LABELS, " ", to_label, class_="note")
    metrics = binary_metrics(run)
    wanted = query.get("metric", "")
    chosen = wanted if wanted in metrics else None
    choices = [
        link(
            text(name),
            address("run", run.name, "agreement", metric=name),
            aria_current="true" if name == chosen else None,
        )
        for name in metrics
    ]
    choice = element("p", wording.BY, " ", [joined(choice, " ") for choice in choices]) if len(metrics) > 1 else None
    try:
        result = calibrate(run, list(agreement.files), metric=chosen)
        rows = judged_rows(run, agreement.files, result.metric)
    except RagmeterError as error:
        reason = wording.CHOOSE_METRIC if choice and chosen is None else str(error)
        return section(wording.AGAINST_PEOPLE, choice, element("p", text(reason), class_="note"), name="judge")
    warnings = element("ul", [element("li", text(warning)) for warning in result.warnings], class_="soft")
    return [
        choice,
        element("p", text(result.sentence), class_="verdict"),
        element(
            "div",
            section(wording.AGAINST_PEOPLE, _two_by_two(run, result), _agreement(result), name="judge"),
            section(
                wording.SHARE_WRONG if result.counts_wrong else wording.SHARE_RIGHT,
                _accuracies(result),
                name="corrected",
            ),
            section(wording.RELIABILITY, _reliability(rows), name="reliability"),
            class_="judge-parts",
        ),
        warnings if result.warnings else None,
        _command(run, agreement.files, result.metric),
        _rows(run, database, rows, query.get("cell", "")),
    ]


def _two_by_two(run: Run, result: Calibration) -> Markup:
    """What judge and people say; each count is a link to its rows."""

    def count(cell: str) -> Content:
        n: int = getattr(result.judge, cell)
        where = address("run", run.name, "agreement", metric=result.metric, cell=cell) + "#cell-title"
        return link(f"{n:,}", where, aria_label=f"{n:,} {wording.CELLS[cell]}") if n else "0"

    good, bad = result.kinds
    rows = [
        [f"{wording.JUDGE}: {good}", count("both_correct"), count("judge_alone_correct")],
        [f"{wording.JUDGE}: {bad}", count("people_alone_correct"), count("both_wrong")],
    ]
    titles = [text(result.metric), f"{wording.RATERS}: {good}", f"{wording.RATERS}: {bad}"]
    return table(titles, rows, caption=wording.AGAINST_PEOPLE, figures=(1, 2), cards=False)


def _agreement(result: Calibration) -> Markup:
    judge = result.judge
    shown = {
        "agreement": judge.agreement,
        "precision": judge.precision,
        "recall": judge.sensitivity,
        "specificity": judge.specificity,
        "kappa": judge.kappa,
    }
    return _estimates({meaning(*wording.OF_A_JUDGE[name]): estimate for name, estimate in shown.items()}, result)


def _accuracies(result: Calibration) -> Markup:
    shown = {
        wording.AS_IT_IS: result.raw,
        wording.LABELS_ALONE: result.labels_alone,
        element("strong", wording.CORRECTED): result.corrected,
    }
    return _estimates(shown, result)


def _estimates(shown: Mapping[str, Estimate], result: Calibration) -> Markup:
    """Values with their intervals, as figures and on one axis from 0 to 1."""
    rows = [
        [
            name,
            number(estimate.value, decimals=deserved_decimals(estimate.interval)),
            interval(estimate.interval, decimals=deserved_decimals(estimate.interval))
            or text(estimate.undefined or ""),
            None if estimate.value is None else whisker(estimate.value, estimate.interval, Axis(0.0, 1.0)),
            f"{estimate.n:,}",
        ]
        for name, estimate in shown.items()
    ]
    metric, drawn = (element("span", words, class_="hidden") for words in (wording.METRIC, wording.DRAWING))
    titles = [metric, wording.VALUE, f"{percent(result.level)} interval", drawn, "n"]
    return table(titles, rows, caption=wording.ESTIMATES, figures=(1, 2, 4), cards=False)


def _reliability(rows: JudgedRows) -> Content:
    """How often people call an answer correct where the judge says how probable that is."""
    bins = [Bin(bin_.said, bin_.observed, bin_.interval, bin_.n) for bin_ in rows.reliability()]
    if not bins:
        return element("p", worded(wording.NO_PROBABILITY), class_="soft")
    names = (wording.JUDGE_SAYS, wording.PEOPLE_SAY)
    counts = ", ".join(
        f"{percent(bin_.said, decimals=0)} → {percent(bin_.observed, decimals=0)} (n {bin_.n:,})" for bin_ in bins
    )
    return [
        reliability(bins, names, f"{wording.RELIABILITY}: {counts}"),
        element("p", wording.ON_THE_DIAGONAL, class_="soft"),
    ]


def _rows(run: Run, database: Database, judged: JudgedRows, cell: str) -> Content:
    """The rows of a cell of the two by two."""
    if cell not in CELLS:
        return None
    places = judged.cell(cell)
    shown = places[:_MOST_ROWS]
    records = database.records(run, shown, ["qid", "question", "answer"])
    cells = [
        [
            link(text(record.get("qid") or place + 1), address("run", run.name, "row", place)),
            text(shortened(record.get("question") or "", _LONGEST)),
            text(shortened(record.get("answer") or "", _LONGEST)),
        ]
        for place, record in zip(shown, records, strict=True)
    ]
    titles = ["qid", wording.QUESTION, wording.ANSWER]
    listed = table(titles, cells, caption=wording.CELLS[cell], texts=(1, 2)) if cells else None
    return section(f"{len(places):,} {wording.CELLS[cell]}", listed, _more(len(places)), name="cell")


def _costs(run: Run) -> Content:
    """What a verdict costs, and how often the judge changes its mind."""
    rows = [_cost(name, column) for name, column in run.summary().judges.items()]
    if not rows:
        return element("p", wording.NO_JUDGE, class_="soft")
    titles = [wording.COLUMN, wording.VERDICTS, wording.COST, wording.A_VERDICT, wording.FLIP_RATE, wording.NO_VERDICT]
    return table(titles, rows, caption=wording.COST_AND_STABILITY, figures=(1, 2, 3))


def _cost(name: str, column: JudgeSummary) -> list[Content]:
    verdicts, cost = sum(column.judged_by.values()), column.usage.cost_usd
    flips: Content = element("span", wording.ASKED_ONCE, class_="soft")
    if column.flip_rate is not None:
        digits = deserved_decimals(column.flip_rate_interval)
        between = interval(column.flip_rate_interval, decimals=digits)
        flips = f"{number(column.flip_rate, decimals=digits)} ({between}), n {column.n_judged_repeatedly:,}"
    causes = ", ".join(f"{cause}: {count:,}" for cause, count in column.causes.items())
    return [
        text(name),
        f"{verdicts:,}",
        wording.NO_PRICE if cost is None else money(cost),
        wording.NO_PRICE if cost is None or not verdicts else money(cost / verdicts),
        flips,
        text(causes) if causes else "0",
    ]


def _people(agreement: PeopleAgreement | None, run: Run) -> Content:
    if agreement is None:
        return None
    counts = [[text(rater or wording.NAMELESS), f"{count:,}"] for rater, count in agreement.raters.items()]
    lines = [wording.ONE_RATER] if agreement.between is None else list(agreement_lines(agreement.between))
    return [
        element("ul", [element("li", text(line)) for line in lines], class_="note"),
        table([wording.RATERS, wording.LABELS], counts, caption=wording.RATERS, figures=(1,)),
        section(
            wording.DISAGREEMENTS,
            queue_link(run, agreement),
            _disagreements(run, agreement.disagreements, list(agreement.raters)),
            name="disagreements",
        ),
    ]


def _disagreements(run: Run, disagreements: Sequence[Disagreement], raters: Sequence[str]) -> Content:
    if not disagreements:
        return None
    rows = []
    for row in disagreements[:_MOST_ROWS]:
        labels = {label.rater: label.label or "" for label in row.labels}
        where = address("run", run.name, "disagreements", place=row.place)
        agreed = row.agreed.label if row.agreed and row.is_settled else None
        rows.append(
            [link(text(row.qid), where), *(labels.get(rater, "") for rater in raters), agreed or wording.NOT_YET]
        )
    titles = ["qid", *(text(rater or wording.NAMELESS) for rater in raters), wording.AGREED]
    return [table(titles, rows, caption=wording.DISAGREEMENTS), _more(len(disagreements))]


def _more(count: int) -> Content:
    more = count - _MOST_ROWS
    return element("p", wording.MORE_ROWS.format(count=more), class_="soft") if more > 0 else None


def _command(run: Run, files: Sequence[Path], metric: str) -> Content:
    """The command that calibrates by all labels together."""
    chosen = ["--metric", metric] if len(binary_metrics(run)) > 1 else []
    return command(
        shlex.join(["ragmeter", "calibrate", run.name, "--labels", *map(str, files), *chosen, *in_folder(run)])
    )
