"""`ragmeter label`: choose some of a run's rows, and have a person say which answers are correct."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.cli.options import Parser, command_parser
from ragmeter.errors import UsageError
from ragmeter.io.write import RUNS

if TYPE_CHECKING:
    from ragmeter.analysis.people.labels import Sheet
    from ragmeter.runs.run import Run

_WAYS = ("random", "stratified", "disagreement")
_OF_SAMPLES = ("n", "by", "strata", "metric", "seed")
_DESCRIPTION = """\
Choose some of a run's rows, and label them: is the answer correct?

In a terminal the rows are shown one by one, and a key is a label; each is on the disk before the next row is shown.
Run the same command again to go on. With --blank, or without a terminal, the file is written to be filled in
elsewhere: write correct or wrong (1, 0, yes, no) into its column `label`. What the judge said is not shown, so as not
to talk anybody into it. `ragmeter calibrate` says what the labels are worth.
"""


def run(argv: Sequence[str]) -> int:
    """Choose the rows, or take those of a file that was begun; then label."""
    chosen = _parser().parse_args(list(argv))
    from ragmeter.runs.finding import find_run
    from ragmeter.show.terminal.labelling import show_sheet

    folder = find_run(chosen.run, chosen.output_dir)
    begun = chosen.output.exists()
    sheet = _begun(folder, chosen) if begun else _new(folder, chosen)
    if chosen.blank or not (sys.stdin.isatty() and sys.stdout.isatty()):
        show_sheet(sheet, begun=begun)
        return 0
    from ragmeter.cli.label_session import Session

    return Session(folder, sheet, chosen.rater, contexts=chosen.contexts, scores=chosen.show_scores).run()


def _parser() -> Parser:
    parser = command_parser("ragmeter label", _DESCRIPTION)
    add = parser.add_argument
    add("run", metavar="RUN", help="a run's folder, or its name")
    add("--output-dir", metavar="DIR", type=Path, default=RUNS, help=f"where runs are kept; default: {RUNS}/")
    add("--output", metavar="FILE", type=Path, default=Path("labels.csv"), help="csv or tsv; default: labels.csv")
    add("--rater", metavar="NAME", default="", help="who labels; several people need a file each")
    add("--blank", action="store_true", help="only write the file")
    add("--contexts", action="store_true", help="show what was retrieved, too")
    add("--show-scores", action="store_true", help="show the metrics' scores; they may talk a person into agreeing")
    sample = parser.add_argument_group("which rows (of a new file)")
    add = sample.add_argument
    add("--n", metavar="N", type=int, help="how many; default: 100")
    add("--by", choices=_WAYS, help="default: random; disagreement: half of them where metrics disagree")
    add("--strata", metavar="COLUMN", nargs="+", help="for --by stratified: at least two rows of each value")
    add(
        "--metric",
        metavar="NAME",
        nargs="+",
        action="extend",
        help="only rows with a score of it; for --by disagreement: which ones; default: those of 0 and 1",
    )
    add("--seed", metavar="N", type=int, help="of the draw; the same seed draws the same rows; default: 0")
    return parser


def _new(folder: Run, chosen: argparse.Namespace) -> Sheet:
    from ragmeter.analysis.people.labels import Sheet
    from ragmeter.analysis.people.sampling import choose_sample

    if chosen.output.suffix.lower() not in (".csv", ".tsv"):
        raise UsageError(f"labels go into a .csv or .tsv file, not {chosen.output}")
    sample = choose_sample(
        folder,
        100 if chosen.n is None else chosen.n,
        by=chosen.by or "random",
        strata=chosen.strata or (),
        metrics=chosen.metric or (),
        seed=chosen.seed or 0,
    )
    sheet = Sheet.of(sample, chosen.output, contexts=chosen.contexts)
    sheet.write()
    return sheet


def _begun(folder: Run, chosen: argparse.Namespace) -> Sheet:
    """A file that is there already: of this run and this person, and of the sample that is asked for."""
    from ragmeter.analysis.people.labels import Sheet, read_labels
    from ragmeter.analysis.people.matching import match
    from ragmeter.analysis.people.sampling import choose_sample
    from ragmeter.analysis.people.verdicts import Answers, read_columns

    sheet = Sheet.read(chosen.output)
    match(read_labels(chosen.output), read_columns(folder, ["qid"])["qid"], Answers(folder))
    others = {row["rater"] for row in sheet.rows if row["label"]} - {chosen.rater}
    if others and not chosen.blank:
        raise UsageError(
            f"{chosen.output} holds the labels of {', '.join(sorted(other or 'somebody' for other in others))}",
            hint="go on with that --rater, or give the other person a file of their own with --output",
        )
    if any(getattr(chosen, name) is not None for name in _OF_SAMPLES):
        asked = choose_sample(
            folder,
            len(sheet.rows) if chosen.n is None else chosen.n,
            by=chosen.by or "random",
            strata=chosen.strata or (),
            metrics=chosen.metric or (),
            seed=chosen.seed or 0,
        )
        if {row.qid for row in asked.rows} != {label.qid for label in read_labels(chosen.output)}:
            raise UsageError(
                f"{chosen.output} is there already, with another sample",
                hint="leave out --n, --by, --strata, --metric and --seed to go on with it, or choose another --output",
            )
    return sheet
