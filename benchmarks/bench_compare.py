"""Two runs compared: ragmeter's test beside scipy's on the same differences, and the command on a million rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from common import BenchmarkError, Values, check, measure, progress, ragmeter_command, table, timed

_METRICS = ("right", "score", "f1", "rouge", "recall", "slowness")
_DRAWS = 9_999


def compare(folder: Path, *, quick: bool) -> None:
    """The randomisation test beside scipy's; then `ragmeter compare` whole, with texts in the files."""
    _tests(2_000 if quick else 10_000)
    rows = 100_000 if quick else 1_000_000
    _bootstrap(rows)
    progress(f"compare, {rows:,} rows")
    for seed, name in enumerate(("a", "b")):
        _run(folder / name, rows, seed)
    usage = measure(ragmeter_command("compare", str(folder / "a"), str(folder / "b"), "--json"))
    table(
        f"COMPARE  two runs of {rows:,} rows, {len(_METRICS)} metrics, with texts; target: 30 s and 2 GiB",
        ("", "seconds", "CPU seconds", "MiB at the peak"),
        [("ragmeter compare", f"{usage.seconds:.1f}", f"{usage.cpu_seconds:.1f}", f"{usage.peak_bytes / 2**20:,.0f}")],
    )


def _tests(rows: int) -> None:
    from scipy import stats

    from ragmeter.stats.distributions import t_two_sided
    from ragmeter.stats.paired_tests import randomisation_p

    progress("compare, against scipy")
    differences = np.random.default_rng(0).normal(0.01, 0.5, rows)
    ours, p = timed(lambda: randomisation_p(differences, _DRAWS))
    theirs, oracle = timed(
        lambda: stats.permutation_test(
            (differences,), np.sum, permutation_type="samples", n_resamples=_DRAWS, batch=200, rng=1
        )
    )
    if abs(p - oracle.pvalue) > 0.02:
        raise BenchmarkError(f"our p is {p}, and scipy's {oracle.pvalue}")
    student: Values = np.array([t_two_sided(stats.ttest_1samp(differences, 0).statistic, rows - 1)])
    check("Student's p", student, np.array([stats.ttest_1samp(differences, 0).pvalue]))
    table(
        f"RANDOMISATION TEST  of {rows:,} differences, {_DRAWS:,} draws",
        ("", "seconds", "p", "ratio"),
        [
            ("ragmeter", f"{ours.seconds:.2f}", f"{p:.4f}", "1"),
            ("scipy.stats.permutation_test", f"{theirs.seconds:.2f}", f"{oracle.pvalue:.4f}",
             f"{theirs.seconds / ours.seconds:.1f}"),
        ],
    )  # fmt: skip


def _bootstrap(rows: int) -> None:
    """Percentile intervals of one metric: with all the draws, in 20 s."""
    from ragmeter.stats.bootstrap import bootstrap_means, percentile_interval
    from ragmeter.stats.clusters import Clustered

    progress(f"compare, bootstrap of {rows:,} rows")
    scores = np.random.default_rng(0).beta(2, 5, rows)
    units = Clustered(scores, np.ones(rows))
    usage, interval = timed(lambda: percentile_interval(units, 0.95, _DRAWS, 0))
    draws = len(bootstrap_means(units, _DRAWS, 1))
    margin = 1.96 * float(scores.std()) / rows**0.5  # of so many rows, a mean is normal
    if draws != _DRAWS or interval is None or abs((interval[1] - interval[0]) / (2 * margin) - 1) > 0.05:
        raise BenchmarkError(f"bootstrap: {interval} of {draws:,} draws, where the mean is {scores.mean()} ± {margin}")
    table(
        f"BOOTSTRAP  of {rows:,} rows; target: 20 s",
        ("", "draws", "seconds", "CPU seconds"),
        [("percentile_interval", f"{draws:,}", f"{usage.seconds:.2f}", f"{usage.cpu_seconds:.2f}")],
    )


def _run(path: Path, rows: int, seed: int) -> None:
    """A run as ragmeter writes it, in batches: scores of six metrics, questions, references and answers."""
    from ragmeter.io.write import dumps
    from ragmeter.runs.layout import MANIFEST, ROWS, SUMMARY
    from ragmeter.runs.writer import RowsWriter, Scored
    from ragmeter.stats.confidence import Confidence
    from ragmeter.table import SCORED, Batch, Measure

    path.mkdir()
    random = np.random.default_rng(seed)
    measures = [Measure(name, name == "right", "lower" if name == "slowness" else "higher") for name in _METRICS]
    writer = RowsWriter(path / ROWS, measures)
    for begin in range(0, rows, 16_384):
        numbers = range(begin, min(begin + 16_384, rows))
        columns: dict[str, list[object]] = {
            "qid": [f"question-{number}" for number in numbers],
            "question": [f"what is the {number}th thing that anybody would like to know?" for number in numbers],
            "reference": [[f"the answer {number}"] for number in numbers],
            "answer": [f"It is well known that the answer is {number + seed}, or so it is said." for number in numbers],
            "domain": [f"domain {number % 7}" for number in numbers],
        }
        outcomes = [SCORED] * len(numbers)
        scores = {name: random.random(len(numbers)) for name in _METRICS}
        scores["right"] = np.round(scores["right"])
        writer.write(Scored(Batch(columns), {name: (values, outcomes) for name, values in scores.items()}))
    writer.close()
    scored = writer.summary(Confidence())
    summary = {"n_rows": rows, "metrics": scored.metrics}
    (path / SUMMARY).write_text(dumps(summary), encoding="utf-8")
    (path / MANIFEST).write_text(dumps({"run": path.name, "statistics": scored.statistics}), encoding="utf-8")
