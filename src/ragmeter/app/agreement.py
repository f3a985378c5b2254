"""Agreement among the people who have labelled a run, and the rows on which they differ."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from ragmeter.analysis.people.agreement import PeopleAgreement, people_agreement
from ragmeter.app import wording
from ragmeter.app.calibration import calibration_part
from ragmeter.io.write import RUNS
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, address, element, link, text
from ragmeter.show.page.parts import command, section, table
from ragmeter.show.terminal.calibration import agreement_lines

_MOST_ROWS = 200


def agreement_link(run: Run, files: Sequence[Path]) -> Content:
    """A link to the page, if several people may have labelled. It shows nobody's labels, so that they stay blind."""
    if len(files) < 2:
        return None
    return element("p", link(wording.AGREEMENT, address("run", run.name, "agreement")))


def agreement_page(run: Run, files: Sequence[Path], query: Mapping[str, str]) -> list[Content]:
    """The page's content."""
    agreement = people_agreement(run, files)
    if agreement is None:
        return [element("p", wording.NO_LABELS, class_="note")]
    people = [[text(rater), f"{count:,}"] for rater, count in agreement.raters.items()]
    lines = [wording.ONE_RATER] if agreement.between is None else list(agreement_lines(agreement.between))
    return [
        element("ul", [element("li", text(line)) for line in lines], class_="note"),
        table([wording.RATERS, wording.LABELS], people, caption=wording.RATERS, figures=(1,)),
        section(wording.DISAGREEMENTS, _disagreements(run, agreement), name="disagreements"),
        calibration_part(run, agreement.files, "agreement", query, _command(run, agreement.files)),
    ]


def _disagreements(run: Run, agreement: PeopleAgreement) -> Content:
    if not agreement.disagreements:
        return None
    raters = list(agreement.raters)
    shown = agreement.disagreements[:_MOST_ROWS]
    records = run.records([row.place for row in shown], ["question"])
    rows = [
        [
            link(text(row.qid), address("run", run.name, "row", row.place)),
            text((record.get("question") or "")[:200]),
            *(text(row.labels.get(rater, "")) for rater in raters),
        ]
        for row, record in zip(shown, records, strict=True)
    ]
    more = len(agreement.disagreements) - len(shown)
    titles = ["qid", wording.QUESTION, *(text(rater) for rater in raters)]
    return [
        table(titles, rows, caption=wording.DISAGREEMENTS),
        element("p", wording.MORE_ROWS.format(count=more), class_="soft") if more else None,
    ]


def _command(run: Run, files: Sequence[Path]) -> Content:
    """The command that calibrates by all labels together."""
    folder = [] if run.path.parent == RUNS else ["--output-dir", str(run.path.parent)]
    return command(shlex.join(["ragmeter", "calibrate", run.name, "--labels", *map(str, files), *folder]))
