"""`ragmeter compare`: is B better than A, by how much, and how sure is that?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmeter.cli import options
from ragmeter.cli.commands import PROJECT
from ragmeter.cli.judge_options import (
    judge_code,
    judge_options,
    print_judge,
    read_judge,
    settle_judge,
)
from ragmeter.cli.modes import COMPARE, refuse_idle
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import UsageError
from ragmeter.io.write import dumps

if TYPE_CHECKING:
    from ragmeter.analysis.comparing import Comparison
    from ragmeter.analysis.preferences import Preference
    from ragmeter.judges.asking.judge import Judge

_DESCRIPTION = """\
Is the candidate better than the baseline? By how much, how sure is that, where, and which rows are to be read:

  ragmeter compare before after
  ragmeter compare before after --metrics token_f1,ndcg@10 --worse 20
  ragmeter compare small medium large --baseline small
  ragmeter compare before after --markdown       # for a pull request; --latex for a paper

A report shows the comparison that was kept, and not one with the usual settings:
  ragmeter compare before after --test t --alpha 0.01 --keep
  ragmeter report before after

A language model may say which answers it prefers, asked in both orders:
  ragmeter compare before after --preference --judge-model gpt-4o --dry-run
"""


#: A row's score and what became of the second run's answer.
_SHARES = {"won": 1.0, "lost": 0.0, "tied": 0.5}


def run(chosen: argparse.Namespace) -> int:
    """Compare, and print the result."""
    is_set = _set_baseline(chosen)
    judge = _judge(chosen)
    if judge is not None and chosen.dry_run:
        return _estimate(chosen, judge)

    from ragmeter.runs.comparisons import comparison_file
    from ragmeter.runs.lookup import find_runs
    from ragmeter.show.terminal import console, printable
    from ragmeter.show.terminal.comparison import show_comparison
    from ragmeter.show.terminal.systems import show_order

    comparison = compared(chosen)
    preferred = None if judge is None else _preferred(chosen, judge, comparison)
    preference: dict[str, object] = {}
    sentence = ""
    if preferred is not None:
        comparison, sentence, figures = _preference(chosen, preferred, comparison)
        preference = {"preference": {**figures, "sentence": sentence}}
    looks = _looks(chosen, comparison)
    if chosen.json:
        print(dumps({**comparison.as_dict(), **preference, "looks": looks}, indent=2))
    elif chosen.markdown or chosen.latex:
        print(_document(chosen, comparison, sentence), end="")
        if preferred is not None and preferred.order is not None and chosen.markdown:
            from ragmeter.show.markdown import order_as_markdown

            print(order_as_markdown(preferred.order), end="")
    else:
        show_comparison(comparison)
        if is_set:
            words = f"{comparison.baseline} was set as baseline in the app; --baseline RUN takes another run"
            console().print(printable(words), soft_wrap=True)
        for line in looks:
            console().sentence(line, "yellow")
        if preferred is not None:
            if preferred.order is None:
                console().sentence(sentence)
            else:
                show_order(preferred.order, sentence)
            print_judge(preferred.summary, preferred.manifest, preferred.judging)
        if chosen.keep:
            named = find_runs(_runs_of(chosen, comparison), chosen.output_dir)
            path = comparison_file(named)
            console().print(printable(f"kept: {path}"), soft_wrap=True)
    return 0 if preferred is None else judge_code(chosen, preferred.run, list(preferred))


def _set_baseline(chosen: argparse.Namespace) -> bool:
    """Put the run first that was set as baseline of its questions, if one of those that are compared was."""
    from ragmeter.runs.baselines import read_baselines
    from ragmeter.runs.lookup import find_runs

    if len(chosen.runs) < 2 or _baseline(chosen) is not None:
        return False
    for name, run in zip(chosen.runs, find_runs(chosen.runs, chosen.output_dir), strict=True):
        if run.folder is not None and run.name in read_baselines(run.folder).values():
            chosen.runs = [name, *(other for other in chosen.runs if other != name)]
            chosen.baseline = name if len(chosen.runs) > 2 else None
            return True
    return False


def _looks(chosen: argparse.Namespace, comparison: Comparison) -> list[str]:
    """Says of two runs that others were compared with the same baseline before."""
    if len(comparison.runs) > 2:
        return []
    from ragmeter.runs.looks import earlier_looks
    from ragmeter.runs.lookup import find_runs
    from ragmeter.wording.gate import looked_before

    a, b = find_runs(_runs_of(chosen, comparison), chosen.output_dir)
    baseline, run = (b, a) if comparison.baseline == comparison.runs[1] else (a, b)
    return looked_before(baseline.name, earlier_looks(baseline, run), 1 - comparison.alpha, sequential=False)


def _document(chosen: argparse.Namespace, comparison: Comparison, more: str) -> str:
    """The comparison to paste: into a pull request, or a paper; `more` is a sentence that comes last."""
    if chosen.latex:
        from ragmeter.runs.lookup import find_runs
        from ragmeter.show.latex import comparison_as_latex

        return comparison_as_latex(comparison, find_runs(_runs_of(chosen, comparison), chosen.output_dir), more)
    from ragmeter.show.markdown import comparison_as_markdown

    return comparison_as_markdown(comparison, more)


def _runs_of(chosen: argparse.Namespace, comparison: Comparison) -> list[str]:
    """The runs as they were named; a baseline that was named by its option alone comes before them."""
    is_apart = len(comparison.runs) > len(chosen.runs)
    return [chosen.baseline, *chosen.runs] if is_apart else chosen.runs


def compared(chosen: argparse.Namespace) -> Comparison:
    """The comparison that the options ask for."""
    from ragmeter.analysis.comparing import compare

    return compare(
        chosen.runs,
        metrics=chosen.metrics,
        test=chosen.test,
        **options.read_statistics(chosen),
        slices=chosen.slice or None,
        where=_where(chosen.where),
        alpha=chosen.alpha,
        margin=chosen.margin,
        draws=chosen.draws,
        movers=chosen.movers,
        better=chosen.better,
        worse=chosen.worse,
        baseline=_baseline(chosen),
        all_pairs=chosen.all_pairs,
        keep=chosen.keep,
        output_dir=chosen.output_dir,
    )


def _where(given: list[str]) -> dict[str, str]:
    """The slice that was named, as `column=value`."""
    pairs = [rule.partition("=") for rule in given]
    if wrong := [column for column, equals, _ in pairs if not (column and equals)]:
        raise UsageError(f"can't read --where {wrong[0]}", hint="write it as COLUMN=VALUE, such as topic=science")
    return {column: value for column, _, value in pairs}


def _baseline(chosen: argparse.Namespace) -> str | None:
    """The baseline that was named; of several runs else that of the project in this folder, if it is one of them."""
    if chosen.baseline is not None or len(chosen.runs) < 3 or not Path(PROJECT).is_file():
        named: str | None = chosen.baseline
        return named
    from ragmeter.cli.project_tables import read_table

    of_project = read_table("compare").get("baseline")
    return of_project if isinstance(of_project, str) and of_project in chosen.runs else None


def _judge(chosen: argparse.Namespace) -> Judge | None:
    """The judge of two runs' answers, if one was asked for."""
    refuse_idle(chosen, COMPARE)
    if not chosen.preference:
        return None
    if chosen.where:
        raise UsageError("--preference is of all rows, and --where of a slice", hint="leave one of them out")
    from ragmeter.engine.metric_choice import choose_metrics

    settle_judge(chosen, choose_metrics("preference"))
    judge = read_judge(chosen)
    if judge is None:
        raise UsageError("--preference needs a judge", hint="name its model with --judge-model")
    return judge


def _estimate(chosen: argparse.Namespace, judge: Judge) -> int:
    from ragmeter.analysis.comparing.systems import open_systems
    from ragmeter.analysis.preferences import paired_answers
    from ragmeter.engine.judging.setup import JudgeSetup, journals_of
    from ragmeter.engine.metric_choice import choose_metrics
    from ragmeter.engine.plan import Plan
    from ragmeter.io.data import Data

    systems = open_systems(chosen.runs, _baseline(chosen), chosen.output_dir)
    cluster = options.read_statistics(chosen)["cluster"]
    rows, _ = paired_answers(systems, cluster, all_pairs=chosen.all_pairs)
    setup = JudgeSetup(judge, journals_of(chosen.output_dir))
    plan = Plan.of(Data.open(rows), choose_metrics("preference"), setup)
    return options.print_estimate(plan.estimate(), json=chosen.json)


def _preferred(chosen: argparse.Namespace, judge: Judge, comparison: Comparison) -> Preference:
    from ragmeter.analysis.preferences import prefer

    runs = _runs_of(chosen, comparison)
    several: dict[str, Any] = {"baseline": _baseline(chosen), "all_pairs": chosen.all_pairs} if len(runs) > 2 else {}
    return prefer(
        *runs,
        judge=judge,
        **options.read_statistics(chosen),
        **several,
        alpha=chosen.alpha,
        draws=chosen.draws,
        output_dir=chosen.output_dir,
        progress=True,
    )


def _preference(
    chosen: argparse.Namespace, preferred: Preference, comparison: Comparison
) -> tuple[Comparison, str, dict[str, object]]:
    """The comparison, whose p-values are corrected over this test as well, and the win rate of the second run.

    The win rate is a sentence, and figures for JSON, with what the judge did for it.
    """
    from ragmeter.analysis.comparing import with_another_test
    from ragmeter.analysis.comparing.significance import is_significant
    from ragmeter.judges.preference import INCONSISTENT
    from ragmeter.wording.comparison import Wording

    rows, summary = preferred.rows, preferred["preference"]
    counts = {value: rows["preference"].to_pylist().count(score) for value, score in _SHARES.items()}
    inconsistent = rows["preferred"].to_pylist().count(dumps(INCONSISTENT))
    judging = {"judges": preferred.summary.judges, "judge_usage": preferred.summary.judge_usage}
    if preferred.order is not None:
        from ragmeter.documents.record import plain
        from ragmeter.show.terminal.systems import order_lines

        lines = order_lines(preferred.order, summary.level)
        if inconsistent:
            lines.append(f"{inconsistent:,} of {len(rows):,} turned with the order of the answers, and count as ties")
        return comparison, " ".join(lines), {**plain(preferred.order), "inconsistent": inconsistent, **judging}
    before, after = _runs_of(chosen, comparison)
    p, p_holm, significant = preferred.p, None, None
    if p is not None:
        comparison, p_holm = with_another_test(comparison, p)
        excludes_half = preferred.test is not None and preferred.test.excludes_zero
        significant = is_significant(p_holm, comparison.alpha, excludes_zero=excludes_half)
    wording = Wording(comparison.level, comparison.alpha, comparison.tests.others)
    sentence = wording.preference(before, after, summary, counts, inconsistent, p_holm=p_holm, significant=significant)
    tested = {"p": p, "p_holm": p_holm, "significant": significant}
    return comparison, sentence, {**summary.as_dict(), **counts, "inconsistent": inconsistent, **tested, **judging}


def parser() -> Parser:
    """The parser of `ragmeter compare`."""
    from ragmeter.stats.confidence import TESTS

    parser = command_parser("ragmeter compare", _DESCRIPTION)
    parser.add_argument("runs", metavar="RUN", nargs="+", help="two runs or more, by folder or by name")
    default = "default: all columns of few values"
    options.part_options(parser, slices=f"by whose values to look for other verdicts; {default}")
    parser.add_argument(
        "--where",
        metavar="COLUMN=VALUE",
        action="append",
        default=[],
        help="compare the rows of this slice alone; may be repeated",
    )
    parser.add_argument("--baseline", metavar="RUN", help="default: the first of two runs, the oldest of more")
    parser.add_argument("--all-pairs", action="store_true", help="each run with each other one, not the baseline alone")
    for way in ("worse", "better"):
        options.number_option(parser, f"--{way}", "N", 3, f"rows to show that got {way}, by all metrics together")
    options.number_option(parser, "--movers", "N", 0, "rows to show for each metric by itself, those that moved most")
    parser.add_argument(
        "--keep", action="store_true", help="keep the comparison beside the last run, where `ragmeter report` finds it"
    )
    tests = parser.add_argument_group("tests")
    tests.add_argument(
        "--test",
        default=TESTS[0],
        choices=TESTS,
        help=f"default: {TESTS[0]}; mcnemar is for scores of 0 and 1, others get {TESTS[0]}",
    )
    options.number_option(
        tests, "--alpha", "SHARE", 0.05, "of a false alarm by the headline metric, and of any by the others"
    )
    tests.add_argument(
        "--margin",
        metavar="METRIC=X",
        nargs="+",
        help="a smaller difference does not matter: it is significant, but small; default: 1%% of the metric's range",
    )
    tests.add_argument("--draws", metavar="N", type=int, default=9_999, help="default: 9999")
    options.statistics_options(parser, cluster="what the runs themselves are clustered by")
    options.runs_option(parser)
    formats = parser.add_mutually_exclusive_group()
    options.json_option(formats)
    formats.add_argument("--markdown", action="store_true", help="print the verdict and the table, for a pull request")
    formats.add_argument("--latex", action="store_true", help="print a table and a paragraph on methods, for a paper")
    parser.add_argument(
        "--preference", action="store_true", help="ask a judge which run's answers are better, in both orders"
    )
    judge_options(parser)
    options.unscored_option(parser, "pairs of answers that have no score")
    return parser
