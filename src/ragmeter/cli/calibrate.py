"""`ragmeter calibrate`: a run's verdicts against people's labels, and the accuracy that people would find."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.cli.judge_options import writer_options
from ragmeter.cli.modes import CALIBRATE, refuse_idle
from ragmeter.cli.options import json_option, number_option, read_delimiter, runs_option
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import UsageError
from ragmeter.io.write import dumps

if TYPE_CHECKING:
    from ragmeter.io.reading import Reading
    from ragmeter.runs.run import Run

_DESCRIPTION = """\
Compare a run's verdicts with people's labels: agreement, kappa, sensitivity and specificity. Then estimate the accuracy
that people would find, from the judge's verdicts on all rows and people's labels on some. The interval includes the
judge's error. `ragmeter label` makes the file of labels.
"""


def run(chosen: argparse.Namespace) -> int:
    """Calibrate, write the result into the run's folder, and print it."""
    refuse_idle(chosen, CALIBRATE)
    from ragmeter.analysis.people.calibration import calibrate
    from ragmeter.io.reading import Reading
    from ragmeter.runs.inputs import check_no_input
    from ragmeter.runs.lookup import find_run
    from ragmeter.show.terminal.calibration import show_calibration

    folder = find_run(chosen.run, chosen.output_dir)
    delimiter = read_delimiter(chosen)
    if chosen.output is not None:
        if chosen.output in map(Path, chosen.labels):
            raise UsageError(f"{chosen.output} has the labels, and is not overwritten", hint="choose another name")
        check_no_input([chosen.output], [folder], "choose another name")
    if chosen.offline_judge:
        return _recalibrate(chosen, folder, Reading(chosen.encoding, delimiter=delimiter))
    if chosen.align:
        return _align(chosen, folder, Reading(chosen.encoding, delimiter=delimiter))
    if chosen.jury or chosen.panel is not None:
        return _calibrate_jury(chosen, folder, Reading(chosen.encoding, delimiter=delimiter))
    result = calibrate(
        folder,
        chosen.labels,
        metric=chosen.metric,
        threshold=chosen.threshold,
        level=chosen.level,
        encoding=chosen.encoding,
        delimiter=delimiter,
    )
    written = [result.keep(folder)] if chosen.keep else []
    if chosen.output is not None:
        result.write(chosen.output)
        written.append(chosen.output)
    if chosen.json:
        print(dumps(result.as_dict(), indent=2))
    else:
        show_calibration(result, written)
    return 0


def _align(chosen: argparse.Namespace, folder: Run, reading: Reading) -> int:
    """See whether examples from the labels help a judge, and write them; the exit code is 1 if they don't."""
    from ragmeter.analysis.people.align import align
    from ragmeter.cli.judge_options import read_writer
    from ragmeter.io.locations import on_disk
    from ragmeter.show.terminal.calibration import show_alignment

    judge = read_writer(chosen)
    if judge is None:
        raise UsageError("which judge is to see examples?", hint="name it with --judge-model")
    result = align(folder, chosen.labels, judge, output_dir=chosen.output_dir, reading=reading)
    output = chosen.output or on_disk(folder.location, "keeping examples") / "judge-examples.json"
    if result.helps:
        result.write(output)
    if chosen.json:
        print(dumps({**asdict(result), "helps": result.helps, "output": str(output) if result.helps else None}))
    else:
        show_alignment(result, output)
    return 0 if result.helps else 1


def _calibrate_jury(chosen: argparse.Namespace, folder: Run, reading: Reading) -> int:
    """Compare a jury with the labels; the exit code is 1 if no panel reaches the agreement that was asked for."""
    from ragmeter.analysis.people.jury import calibrate_jury
    from ragmeter.io.write import replacing
    from ragmeter.show.terminal.jury import show_jury

    result = calibrate_jury(
        folder, chosen.labels, metric=chosen.metric, panel=chosen.panel, level=chosen.level, reading=reading
    )
    document = dumps(result.as_dict(), indent=2)
    if chosen.output is not None:
        with replacing(chosen.output) as (temporary,):
            temporary.write_text(document + "\n", encoding="utf-8")
    print(document) if chosen.json else show_jury(result)
    return 1 if result.panel is not None and not result.panel.reaches else 0


def _recalibrate(chosen: argparse.Namespace, folder: Run, reading: Reading) -> int:
    """Recalibrate the offline judge with the labels; the exit code is 1 if that does not help."""
    from ragmeter.analysis.people.offline import recalibrate
    from ragmeter.io.locations import on_disk
    from ragmeter.show.terminal.calibration import show_recalibration

    result = recalibrate(folder, chosen.labels, language=chosen.language, reading=reading)
    output = chosen.output or on_disk(folder.location, "keeping a calibration") / "offline-judge.json"
    if result.helps:
        result.write(output)
    if chosen.json:
        print(dumps({**result.as_dict(), "output": str(output) if result.helps else None}, indent=2))
    else:
        show_recalibration(result, output)
    return 0 if result.helps else 1


def parser() -> Parser:
    """The parser of `ragmeter calibrate`."""
    parser = command_parser("ragmeter calibrate", _DESCRIPTION)
    add = parser.add_argument
    add("run", metavar="RUN", help="a run's folder, or its name")
    runs_option(parser)
    add(
        "--labels",
        metavar="FILE",
        nargs="+",
        required=True,
        help="as `ragmeter label` writes them; one for each person",
    )
    add("--metric", metavar="NAME", help="what is compared with people; default: the run's only metric of 0 and 1")
    add("--threshold", metavar="SCORE", type=float, help="from this score on (or down) an answer counts as correct")
    number_option(parser, "--level", "SHARE", 0.95, "of the intervals")
    add(
        "--offline-judge",
        action="store_true",
        help="adapt the offline judge to these labels instead, if that helps, and write --output for calibration=",
    )
    add(
        "--jury",
        action="store_true",
        help="compare each juror of the run and all together with the labels, and learn what each vote weighs",
    )
    add(
        "--panel",
        metavar="SHARE",
        type=float,
        help="also name the cheapest jurors whose majority agrees with people so often, such as 0.95",
    )
    add("--language", metavar="CODE", help="of the offline judge; default: as the run's own offline metrics have it")
    add("--delimiter", metavar="CHARACTER", help="between the labels' columns; TAB for a tab")
    add("--encoding", help="the labels' encoding, if it is not UTF-8")
    writer_options(
        parser, "--align", "put a few labelled answers into the prompt of this model, if that helps", dry_run=False
    )
    add(
        "--align",
        action="store_true",
        help="ask a model about the labelled rows, with and without examples from others",
    )
    output = parser.add_argument_group("output")
    output.add_argument("--output", metavar="FILE", type=Path, help="write the result there too, as JSON")
    output.add_argument(
        "--no-keep", dest="keep", action="store_false", help="don't write calibration.json into the run's folder"
    )
    json_option(output)
    return parser
