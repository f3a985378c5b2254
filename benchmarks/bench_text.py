"""All six text metrics, from a file to a run folder, beside the seeds' stack; and how that grows with the file."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from common import BenchmarkError, Usage, Values, check, cores, measure, progress, ragmeter_command, table, timed
from samples import Row, Sample, spread


@dataclass(frozen=True)
class Case:
    """One kind of rows: how many ragmeter gets, how many of them the peer, and how many times as fast we want to be."""

    title: str
    sample: str
    language: str
    rows: int
    peer_rows: int
    target: int


CASES = (
    Case("short", "evouna", "en", 350_000, 400, 400),
    Case("long", "ragchecker", "en", 20_000, 60, 300),
    Case("Spanish", "xquad_es", "es", 200_000, 400, 450),
)
SCALES = (1_000_000, 3_000_000)
_SCALE_CHECKED = 400


def text(folder: Path, *, quick: bool) -> None:
    """ragmeter's whole command and the peer's loop in turn; the peer gets a few rows of the same file."""
    repetitions = 2 if quick else 5
    lines = [_compare(case, folder, case.rows // 10 if quick else case.rows, repetitions) for case in CASES]
    table(
        f"TEXT  six metrics, TSV file to run folder, whole command on {cores()} cores; median of {repetitions}\n"
        "      peer: the seeds' stack, its loop alone on one core: no start, no file\n"
        "      by CPU: the ratio of rows per second of CPU time, where a second core does not help",
        (
            "rows",
            "number",
            "words",
            "seconds",
            "rows/s",
            "peer rows/s",
            "ratio",
            "(range)",
            "target",
            "by CPU",
            "off by",
        ),
        lines,
    )


def scale(folder: Path, *, quick: bool) -> None:
    """Time and memory of the same command on longer and longer files."""
    sample = Sample.load("evouna", "en")
    lines = []
    for rows in SCALES:
        count = rows // 10 if quick else rows
        progress(f"scale: {count:,} rows")
        file = folder / f"scale-{count}.tsv"
        sample.write(file, count)
        usage = _evaluate(sample, file, folder)
        numbers = spread(count, _SCALE_CHECKED)
        difference = _check(sample, numbers, count, folder / file.stem)
        lines.append(
            (
                f"{count:,}",
                f"{file.stat().st_size / 1e6:,.0f} MB",
                f"{usage.seconds:.1f}",
                f"{usage.cpu_seconds:.1f}",
                f"{count / usage.seconds:,.0f}",
                f"{usage.peak_bytes / 1e6:,.0f} MB",
                f"{difference:.0e}",
            )
        )
        file.unlink()
    table(
        f"SCALE  six metrics on short rows, TSV file to run folder, whole command on {cores()} cores; one run each",
        ("rows", "file", "seconds", "CPU s", "rows/s", "peak memory", "off by"),
        lines,
    )


def _compare(case: Case, folder: Path, count: int, repetitions: int) -> tuple[str, ...]:
    from seeds_stack import as_installed

    sample = Sample.load(case.sample, case.language)
    file = folder / f"{case.sample}.tsv"
    progress(f"text: {count:,} {case.title} rows")
    sample.write(file, count)
    numbers = spread(count, case.peer_rows)
    rows = [sample.row(number) for number in numbers]
    halves = rows[::2], rows[1::2]
    peer = as_installed(case.language)
    peer.score_rows(rows[:2])
    ours, theirs = [], []
    for _ in range(repetitions):  # half of the peer's rows before ours and half after, so that noise meets both
        before, _ = timed(lambda: peer.score_rows(halves[0]))
        ours.append(_evaluate(sample, file, folder))
        after, _ = timed(lambda: peer.score_rows(halves[1]))
        theirs.append(Usage(before.seconds + after.seconds, before.cpu_seconds + after.cpu_seconds))
    difference = _check(sample, numbers, count, folder / file.stem)
    file.unlink()
    pairs = list(zip(ours, theirs, strict=True))
    ratios = [(count / a.seconds) / (len(rows) / b.seconds) for a, b in pairs]
    cpu_ratios = [(count / a.cpu_seconds) / (len(rows) / b.cpu_seconds) for a, b in pairs]
    seconds = median(run.seconds for run in ours)
    return (
        case.title,
        f"{count:,}",
        sample.words(),
        f"{seconds:.2f}",
        f"{count / seconds:,.0f}",
        f"{len(rows) / median(run.seconds for run in theirs):,.0f}",
        f"{median(ratios):,.0f}x",
        f"{min(ratios):,.0f}-{max(ratios):,.0f}",
        f"{case.target}x",
        f"{median(cpu_ratios):,.0f}x",
        f"{difference:.0e}",
    )


def _evaluate(sample: Sample, file: Path, folder: Path) -> Usage:
    """The command that a user types; the run is called like the file."""
    from seeds_stack import METRICS

    what = ["--metrics", ",".join(METRICS), "--language", sample.language]
    return measure(
        ragmeter_command("evaluate", *what, "--results", str(file), "--run", file.stem, "--output-dir", str(folder))
    )


def _check(sample: Sample, numbers: list[int], count: int, run: Path) -> float:
    """Hold the run's scores of these rows to the oracle's; every row of the run must have been scored."""
    from seeds_stack import METRICS, as_oracle

    from ragmeter import Run
    from ragmeter.registry import get_all

    folder = Run.at(run)
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    expected = as_oracle(sample.language).score_rows(_nfc(sample.row(number)) for number in numbers)
    difference = 0.0
    for place, metric in enumerate(get_all(METRICS, language=sample.language)):
        scored = summary["metrics"][metric.name]["n_scored"]
        if scored != count:
            raise BenchmarkError(f"{metric.name}: {scored:,} of {count:,} rows were scored")
        ours: Values = folder.scores(metric.name)[np.array(numbers)]
        difference = max(difference, check(f"{metric.name} of {sample.name}", ours, expected[:, place]))
    return difference


def _nfc(row: Row) -> Row:
    return Row(row.question, *(unicodedata.normalize("NFC", item) for item in (row.reference, row.answer)))
