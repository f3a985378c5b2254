"""`ragmeter explain RUN QID`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from ragmeter.cli.options import json_option, runs_option
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import ColumnError, UsageError
from ragmeter.io.write import RUNS, dumps

if TYPE_CHECKING:
    from ragmeter.analysis.claim_support import ClaimSet
    from ragmeter.analysis.explanation import RowCause
    from ragmeter.metrics.offline.evidence import Explanation, RunVerdict

_DESCRIPTION = """\
Show where a row's answer failed, what the run's judge said about it, why the offline judge calls it right or wrong,
and what supports each of its claims. If the run has a verdict, its scores come from that verdict; the offline judge's
is a second opinion.

Each piece of evidence is shown with its weight: by how much it moved the log-odds. A weight above 0 is evidence for the
answer. If the run has metrics over claims, each claim is shown with its label and the passages that support it;
with judge=offline, words that no passage supports are in brackets. What the run has metrics for comes first.
"""


def parser() -> Parser:
    """The parser of `ragmeter explain`."""
    parser = command_parser("ragmeter explain", _DESCRIPTION)
    parser.add_argument("run", metavar="RUN", help=f"a run's folder, or its name in {RUNS}/")
    parser.add_argument("qid", metavar="QID", help="the row's qid")
    runs_option(parser)
    parser.add_argument(
        "--language", help="the texts' language, by code or name; default: as in the run, or detected from the question"
    )
    parser.add_argument(
        "--calibration",
        metavar="FILE",
        help="as `ragmeter calibrate --offline-judge` writes it; default: as in the run, or none",
    )
    json_option(parser)
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Explain a row's verdict, and print it."""
    from ragmeter.analysis.claim_support import explain_claims
    from ragmeter.analysis.explanation import abstained, explain, is_judged, row_causes, run_verdicts
    from ragmeter.show.terminal.results import show_abstained, show_cause, show_run_verdicts

    claims = explain_claims(chosen.run, chosen.qid, output_dir=chosen.output_dir)
    judged = run_verdicts(chosen.run, chosen.qid, chosen.output_dir)
    declined = abstained(chosen.run, chosen.qid, chosen.output_dir)
    causes = row_causes(chosen.run, chosen.qid, chosen.output_dir)
    settings = {"language": chosen.language, "calibration": chosen.calibration}
    try:
        explanations = explain(chosen.run, chosen.qid, output_dir=chosen.output_dir, **settings)
    except (UsageError, ColumnError):  # the offline judge needs a reference, claims and other judges don't
        if not any([*claims, *judged, *declined, *causes]) or any(settings.values()):
            raise
        explanations = []
    if chosen.json:
        print(dumps(_records(chosen.qid, explanations, claims, judged, declined, causes), indent=2))
        return 0
    for of_row, metrics, cause in zip(judged, declined, causes, strict=True):
        show_cause(chosen.qid, cause)
        show_run_verdicts(chosen.qid, of_row)
        show_abstained(chosen.qid, metrics)
    parts = [partial(_show_evidence, chosen.qid, explanations), partial(_show_claims, chosen.qid, claims)]
    for show in parts if is_judged(chosen.run, chosen.output_dir) else reversed(parts):
        show()
    return 0


def _show_evidence(qid: str, explanations: Sequence[Explanation]) -> None:
    from ragmeter.show.terminal.results import show_explanation

    for explanation in explanations:
        show_explanation(qid, explanation)


def _show_claims(qid: str, claims: Sequence[Sequence[ClaimSet]]) -> None:
    from ragmeter.show.terminal.claim_table import show_claims

    for of_row in claims:
        show_claims(qid, of_row)


def _records(
    qid: str,
    explanations: Sequence[Explanation],
    claims: Sequence[Sequence[ClaimSet]],
    judged: Sequence[Sequence[RunVerdict]],
    declined: Sequence[Sequence[str]],
    causes: Sequence[RowCause | None],
) -> list[Any]:
    """The JSON record of each row: its cause, the judge's verdicts, the offline judge's evidence and the claims."""
    records: list[dict[str, object]] = [
        {"qid": qid, "judged": [asdict(verdict) for verdict in of_row]} for of_row in judged
    ]
    for record, explanation in zip(records, explanations, strict=False):
        record |= explanation.as_dict()
    for record, of_row, metrics, cause in zip(records, claims, declined, causes, strict=True):
        if cause is not None:
            record |= {"cause": cause.cause, "cause_evidence": cause.evidence}
            record |= {} if cause.hop is None else {"hop": asdict(cause.hop)}
        if of_row:
            record["claims"] = [claim_set.as_dict() for claim_set in of_row]
        if metrics:
            record["abstained"] = list(metrics)
    return records
