"""What people's labels say of a run's metric of 0 and 1: its agreement with them, and its corrected mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ragmeter.analysis.people.calibration import calibrate
from ragmeter.analysis.people.verdicts import binary_metrics
from ragmeter.app import wording
from ragmeter.errors import RagmeterError
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, address, element, joined, link, text
from ragmeter.show.page.parts import section


def calibration_part(run: Run, files: Sequence[Path], page: str, query: Mapping[str, str], *more: Content) -> Content:
    """The section of a page; where several metrics can be compared with people, links choose one."""
    metrics = binary_metrics(run)
    chosen = query.get("metric", "") if query.get("metric", "") in metrics else None
    choices = [
        joined(link(text(name), address("run", run.name, page, **{**query, "metric": name})), " ") for name in metrics
    ]
    choice = element("p", wording.BY, " ", choices) if len(metrics) > 1 else None
    try:
        result = calibrate(run, list(files), metric=chosen)
    except RagmeterError as error:
        reason = wording.CHOOSE_METRIC if choice and chosen is None else str(error)
        return section(
            wording.CALIBRATION, choice, element("p", text(reason), class_="soft"), *more, name="calibration"
        )
    warnings = [element("li", text(warning)) for warning in result.warnings]
    return section(
        wording.CALIBRATION,
        choice,
        element("p", text(result.sentence), class_="verdict"),
        element("ul", warnings, class_="soft") if warnings else None,
        *more,
        name="calibration",
    )
