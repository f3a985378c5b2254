"""`ragmeter label`: choose some of a run's rows, and have a person say which answers are correct."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.cli.options import runs_option
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import UsageError

if TYPE_CHECKING:
    from ragmeter.analysis.people.sample import Sample
    from ragmeter.analysis.people.sheets import Sheet
    from ragmeter.runs.run import Run

_WAYS = ("random", "stratified", "disagreement")
_SAMPLE_OPTIONS = ("n", "by", "strata", "metric", "seed", "claims")
_DESCRIPTION = """\
Choose some of a run's rows, and label them: is the answer correct? Or with --claims some of its claims: is the claim
supported? Of a test set: would a user ask this, is the answer right, is it in the passage?

In a terminal the rows are shown one by one, and one key labels a row; each label is saved before the next row is shown.
Run the same command again to continue. With --blank, or without a terminal, the file is written for you to fill in
elsewhere: write correct or wrong, or for a claim supported or unsupported (1, 0, yes, no), into its column `label`. The
judge's verdict is hidden, so that it does not influence you. `ragmeter calibrate` compares the labels with the judge.
"""


def run(chosen: argparse.Namespace) -> int:
    """Choose the rows, or take those of an existing file; then label."""
    from ragmeter.analysis.people.label_files import labels_path
    from ragmeter.runs.lookup import find_run
    from ragmeter.show.terminal.labelling import show_sheet

    folder = find_run(chosen.run, chosen.output_dir)
    if chosen.output is None:
        chosen.output = labels_path(Path(), folder.name, chosen.rater) if chosen.rater else Path("labels.csv")
    if folder.manifest().test_set is not None:
        from ragmeter.cli.label_questions import label_questions

        return label_questions(folder, chosen)
    if chosen.output.suffix.lower() not in (".csv", ".tsv", ".tab"):
        raise UsageError(f"labels go into a .csv or .tsv file, not {chosen.output}")
    sheet = None if chosen.output.exists() else _new_sheet(folder, chosen)
    is_new = sheet is not None
    if sheet is None:  # or another process has made it meanwhile
        sheet = _existing_sheet(folder, chosen)
    if chosen.blank and chosen.rater:
        sheet.sign(chosen.rater)
    if chosen.blank or not (sys.stdin.isatty() and sys.stdout.isatty()):
        show_sheet(sheet, begun=not is_new)
        return 0
    from ragmeter.cli.label_session import Session

    return Session(folder, sheet, chosen.rater, contexts=chosen.contexts, scores=chosen.show_scores).run()


def parser() -> Parser:
    """The parser of `ragmeter label`."""
    parser = command_parser("ragmeter label", _DESCRIPTION)
    add = parser.add_argument
    add("run", metavar="RUN", help="a run's folder, or its name")
    runs_option(parser)
    add("--output", metavar="FILE", type=Path, help="csv or tsv; default: labels.csv, or with --rater a file of this "
        "person's that the app goes on with: labels-RUN-NAME.csv")  # fmt: skip
    add("--rater", metavar="NAME", default="", help="who labels: several people have a file each")
    add("--blank", action="store_true", help="only write the file")
    add("--claims", action="store_true", default=None, help="label claims, not answers: are they supported? --metric "
        "says by what, faithfulness: by the passages; default: the run's only metric over claims")  # fmt: skip
    add("--contexts", action="store_true", help="show what was retrieved, too")
    add("--show-scores", action="store_true", help="show the metrics' scores; they may influence the person")
    sample = parser.add_argument_group("which rows (of a new file)")
    add = sample.add_argument
    add("--n", metavar="N", type=int, help="how many; default: 100, of a test set 20")
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


def _sample(run: Run, chosen: argparse.Namespace, n: int) -> Sample:
    """The sample of the options; `n` is the default number of rows."""
    from ragmeter.analysis.people.sample import choose_sample

    return choose_sample(
        run,
        n if chosen.n is None else chosen.n,
        by=chosen.by or "random",
        strata=chosen.strata or (),
        metrics=chosen.metric or (),
        claims=bool(chosen.claims),
        seed=chosen.seed or 0,
    )


def _new_sheet(run: Run, chosen: argparse.Namespace) -> Sheet | None:
    """A new file; None if another process has made it meanwhile."""
    from ragmeter.analysis.people.sheets import Sheet

    sheet = Sheet.of(_sample(run, chosen, 100), chosen.output, contexts=chosen.contexts)
    return sheet if sheet.create() else None


def _existing_sheet(run: Run, chosen: argparse.Namespace) -> Sheet:
    """An existing file, which must belong to this run, this person and the sample of the options."""
    from ragmeter.analysis.people.label_matches import labelled_claims, match, match_claims
    from ragmeter.analysis.people.labels import read_labels
    from ragmeter.analysis.people.sheets import Sheet
    from ragmeter.analysis.people.verdicts import Answers, read_columns

    sheet = Sheet.read(chosen.output)
    labels = read_labels(chosen.output)
    claims = labelled_claims(run, labels, None)
    if claims is None:
        match(labels, read_columns(run, ["qid"])["qid"], Answers(run))
    else:
        match_claims(labels, claims)
    if not chosen.blank:
        sheet.check_rater(chosen.rater)
    if any(getattr(chosen, name) is not None for name in _SAMPLE_OPTIONS):
        sample = _sample(run, chosen, len(sheet.rows))
        if {(row.qid, row.claim) for row in sample.rows} != {(label.qid, label.claim) for label in labels}:
            raise UsageError(
                f"{chosen.output} exists already, with another sample",
                hint="leave out --n, --by, --strata, --metric and --seed to go on with it, or choose another --output",
            )
    return sheet
