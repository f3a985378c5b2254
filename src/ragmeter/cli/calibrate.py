"""`ragmeter calibrate`: a run's verdicts against people's labels, and the accuracy that people would find."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.cli.options import Parser, command_parser, json_option
from ragmeter.errors import UsageError
from ragmeter.io.write import RUNS, dumps
from ragmeter.stats.confidence import percent

if TYPE_CHECKING:
    from ragmeter.analysis.people.calibration import Calibration
    from ragmeter.io.source import Reading
    from ragmeter.runs.run import Run
    from ragmeter.show.terminal.tables import Figures
    from ragmeter.stats.agreement import Estimate

_DESCRIPTION = """\
Compare a run's verdicts with people's labels: agreement, kappa, sensitivity and specificity; and estimate the accuracy
that people would find, from the judge's verdicts on all rows and people's on some. The interval includes the judge's
error. `ragmeter label` makes the file of labels.
"""


def run(argv: Sequence[str]) -> int:
    """Calibrate, keep what was found beside the run, and print it."""
    chosen = _parser().parse_args(list(argv))
    from ragmeter.analysis.people.calibration import calibrate
    from ragmeter.io.source import Reading
    from ragmeter.runs.finding import find_run

    folder = find_run(chosen.run, chosen.output_dir)
    delimiter = "\t" if chosen.delimiter in ("TAB", "\\t") else chosen.delimiter
    if chosen.offline_judge:
        return _recalibrate(chosen, folder, Reading(chosen.encoding, delimiter=delimiter))
    found = calibrate(
        folder,
        chosen.labels,
        metric=chosen.metric,
        threshold=chosen.threshold,
        level=chosen.level,
        encoding=chosen.encoding,
        delimiter=delimiter,
    )
    written = [found.keep(folder)] if chosen.keep else []
    if chosen.output is not None:
        found.write(chosen.output)
        written.append(chosen.output)
    if chosen.json:
        print(dumps(found.as_dict(), indent=2))
    else:
        _show(found, written)
    return 0


def _recalibrate(chosen: argparse.Namespace, folder: Run, reading: Reading) -> int:
    """Bend the offline judge's chances by the labels; the exit code is 1 where that is not shown to help."""
    from ragmeter.analysis.people.offline import recalibrate
    from ragmeter.show.numbers import interval, number
    from ragmeter.show.terminal import console, printable

    for name in ("metric", "threshold"):
        if getattr(chosen, name) is not None:
            raise UsageError(f"--{name} has no effect with --offline-judge", hint="leave it out")
    found = recalibrate(folder, chosen.labels, reading=reading)
    output = chosen.output or folder.path / "offline-judge.json"
    if found.helps:
        found.write(output)
    if chosen.json:
        print(dumps({**found.as_dict(), "output": str(output) if found.helps else None}, indent=2))
        return 0 if found.helps else 1
    gain, out = found.gain, console()
    out.print(
        f"labels: {gain.n:,} on {gain.n_groups:,} questions; on questions that had no part in it, by cross-validation:",
        soft_wrap=True,
    )
    for what, before, after in (
        ("log loss", gain.log_loss_before, gain.log_loss_after),
        ("calibration error", gain.calibration_error_before, gain.calibration_error_after),
        ("agreement with people", gain.agreement_before, gain.agreement_after),
    ):
        out.print(f"  {what}: {number(before)} as it is, {number(after)} adapted")
    out.print(f"  gain in log loss: {number(gain.gain)} ({interval(gain.interval)})")
    for warning in found.warnings:
        out.print(printable(f"beware: {warning}"), style="red", soft_wrap=True)
    if not found.helps:
        said = "adapting makes it worse" if gain.gain <= 0 else "the gain may be luck, and adapting by luck does harm"
        out.print(f"{said}, so nothing was written; more labels may help", style="red", soft_wrap=True)
        return 1
    out.print(printable(f"written: {output}"), soft_wrap=True)
    out.print(printable(f"use it: --metrics 'offline_correct[calibration=\"{output}\"]'"), soft_wrap=True)
    out.print(printable(f"or: ragmeter crag evaluate --judge cascade --offline-calibration {output}"), soft_wrap=True)
    return 0


def _parser() -> Parser:
    parser = command_parser("ragmeter calibrate", _DESCRIPTION)
    add = parser.add_argument
    add("run", metavar="RUN", help="a run's folder, or its name")
    add("--output-dir", metavar="DIR", type=Path, default=RUNS, help=f"where runs are kept; default: {RUNS}/")
    add(
        "--labels",
        metavar="FILE",
        nargs="+",
        required=True,
        help="as `ragmeter label` writes them; one for each person",
    )
    add("--metric", metavar="NAME", help="what is compared with people; default: the run's only metric of 0 and 1")
    add("--threshold", metavar="SCORE", type=float, help="from this score on (or down) an answer counts as correct")
    add("--level", metavar="SHARE", type=float, default=0.95, help="of the intervals; default: 0.95")
    add(
        "--offline-judge",
        action="store_true",
        help="adapt the offline judge to these labels instead, if that helps, and write --output for calibration=",
    )
    add("--delimiter", metavar="CHARACTER", help="between the labels' columns; TAB for a tab")
    add("--encoding", help="the labels' encoding, if it is not UTF-8")
    output = parser.add_argument_group("output")
    output.add_argument("--output", metavar="FILE", type=Path, help="write the result there too, as JSON")
    output.add_argument(
        "--no-keep", dest="keep", action="store_false", help="don't write calibration.json into the run's folder"
    )
    json_option(output)
    return parser


def _show(found: Calibration, written: Sequence[Path]) -> None:
    from ragmeter.show.terminal import console, printable

    out = console()
    out.print(_confusion(found))
    out.print(_rates(found))
    if found.between_people is not None:
        for line in _people(found):
            out.print(line, soft_wrap=True)
        out.print()
    out.print(_accuracy(found))
    for name, each in (("corrected", found.corrected), ("Rogan–Gladen", found.rogan_gladen)):
        if each.undefined is not None:
            out.print(printable(f"{name}: there is none, because {each.undefined}"), style="red", soft_wrap=True)
    if found.effective_labels is not None:
        alone = found.corrected.n
        out.print(
            f"with the judge, {alone:,} labels tell as much as {found.effective_labels:,.0f} labels alone",
            soft_wrap=True,
        )
    out.sentence(found.sentence, "bold")
    for warning in found.warnings:
        out.print(printable(f"beware: {warning}"), style="red", soft_wrap=True)
    for path in written:
        out.print(printable(f"written: {path}"), soft_wrap=True)


def _table(*titles: str) -> Figures:
    from ragmeter.show.terminal.tables import Column, Figures

    return Figures([Column(titles[0], figures=False), *map(Column, titles[1:])])


def _confusion(found: Calibration) -> Figures:
    """How often judge and people said what."""
    from ragmeter.show.terminal import printable

    judge = found.judge
    limit = "" if found.threshold is None else f", threshold {found.threshold:g}"
    table = _table(f"labels: {found.labels.labelled:,} of {found.labels.listed:,} rows", "people: correct", "wrong")
    name = printable(f"{found.metric}{limit}")
    table.add(f"{name}: correct", f"{judge.both_correct:,}", f"{judge.judge_alone_correct:,}")
    table.add(f"{name}: wrong", f"{judge.people_alone_correct:,}", f"{judge.both_wrong:,}")
    return table


def _rates(found: Calibration) -> Figures:
    table = _table("judge against people", "value", f"{percent(found.level)} interval", "n")
    judge = found.judge
    for name, each in (
        ("agreement", judge.agreement),
        ("Cohen's kappa", judge.kappa),
        ("sensitivity", judge.sensitivity),
        ("specificity", judge.specificity),
    ):
        table.add(name, *_cells(each))
    return table


def _accuracy(found: Calibration) -> Figures:
    table = _table("accuracy", "value", f"{percent(found.level)} interval", "n")
    table.add("judge, as it is", *_cells(found.raw))
    table.add("labels alone", *_cells(found.labels_alone))
    table.add("corrected (PPI++)", *_cells(found.corrected))
    table.add("Rogan–Gladen", *_cells(found.rogan_gladen))
    return table


def _cells(each: Estimate) -> tuple[str, str, str]:
    from ragmeter.show.numbers import interval, number

    return number(each.value), interval(each.interval), f"{each.n:,}"


def _people(found: Calibration) -> list[str]:
    """How far people agree among themselves."""
    from ragmeter.show.numbers import interval, number
    from ragmeter.show.terminal import printable

    between = found.between_people
    assert between is not None  # noqa: S101 - asked for only then
    alpha = between.alpha
    said = [
        printable(f"people: {len(found.raters):,} ({', '.join(each or 'unnamed' for each in found.raters)})"),
        f"Krippendorff's alpha: {number(alpha.value)}, n = {alpha.n_units:,} rows, {alpha.n_values:,} labels"
        + (f" ({alpha.undefined})" if alpha.undefined else ""),
        f"pairs that agree: {number(between.agreement)}, n = {between.pairs:,}",
    ]
    if between.kappa is not None:
        kappa = between.kappa
        said.append(f"Cohen's kappa between them: {number(kappa.value)} ({interval(kappa.interval)}), n = {kappa.n:,}")
    said.append(f"what most of them say counts; split evenly, and left out: {found.labels.tied:,}")
    return said
