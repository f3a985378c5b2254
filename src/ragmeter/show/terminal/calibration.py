"""Shows a judge's calibration by people's labels on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ragmeter.analysis.people.align import Alignment
from ragmeter.analysis.people.calibration import BetweenPeople, Calibration
from ragmeter.analysis.people.offline import Recalibration
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.stats.agreement import Estimate
from ragmeter.wording.numbers import given, interval, number, percent, whole, with_interval
from ragmeter.wording.texts import printable


def show_calibration(result: Calibration, written: Sequence[Path]) -> None:
    """The agreement of judge and people, and among people, the corrected accuracy, and warnings."""
    out = console()
    judge = result.judge
    out.print(_confusion(result))
    rates = {
        "agreement": judge.agreement,
        "Cohen's kappa": judge.kappa,
        "sensitivity": judge.sensitivity,
        "specificity": judge.specificity,
        "precision": judge.precision,
    }
    out.print(_estimates("judge against people", rates, result.level))
    if result.between_people is not None:
        for line in _people(result, result.between_people):
            out.sentence(line)
        out.print()
    accuracies = {
        "judge, as it is": result.raw,
        "labels alone": result.labels_alone,
        "corrected (PPI++)": result.corrected,
        "Rogan–Gladen": result.rogan_gladen,
    }
    out.print(_estimates(result.share, accuracies, result.level))
    for name, estimate in (("corrected", result.corrected), ("Rogan–Gladen", result.rogan_gladen)):
        if estimate.undefined is not None:
            out.sentence(f"{name}: there is none, because {estimate.undefined}", "red")
    if result.effective_labels is not None:
        labels, worth = result.corrected.n, whole(result.effective_labels)
        out.sentence(f"these {labels:,} labels with the judge are worth {worth} labels without it")
    out.sentence(result.sentence, "bold")
    for warning in result.warnings:
        out.sentence(f"beware: {warning}", "red")
    for path in written:
        out.sentence(f"written: {path}")


def _confusion(result: Calibration) -> Figures:
    """The confusion table of judge and people."""
    judge = result.judge
    limit = "" if result.threshold is None else f", threshold {given(result.threshold)}"
    name = printable(f"{result.metric}{limit}")
    units = "rows" if result.unit == "answer" else "claims"
    good, bad = result.kinds
    labels = f"labels: {result.labels.labelled:,} of {result.labels.listed:,} {units}"
    table = Figures.of(labels, f"people: {good}", bad)
    table.add(f"{name}: {good}", f"{judge.both_correct:,}", f"{judge.judge_alone_correct:,}")
    table.add(f"{name}: {bad}", f"{judge.people_alone_correct:,}", f"{judge.both_wrong:,}")
    return table


def _estimates(title: str, estimates: dict[str, Estimate], level: float) -> Figures:
    table = Figures.of(title, "value", f"{percent(level)} interval", "n")
    for name, estimate in estimates.items():
        table.add(name, *with_interval(estimate.value, estimate.interval), f"{estimate.n:,}")
    return table


def _people(result: Calibration, between: BetweenPeople) -> Iterator[str]:
    """The agreement among people."""
    yield f"people: {len(result.raters):,} ({', '.join(rater or 'unnamed' for rater in result.raters)})"
    yield from agreement_lines(between)
    yield f"what most of them say counts; split evenly, and left out: {result.labels.tied:,}"


def agreement_lines(between: BetweenPeople) -> Iterator[str]:
    """How well people agree: Krippendorff's alpha, pairs that agree, and between two Cohen's kappa."""
    alpha, kappa = between.alpha, between.kappa
    undefined = f" ({alpha.undefined})" if alpha.undefined else ""
    n = f"n = {alpha.n_units:,} rows, {alpha.n_values:,} labels"
    yield f"Krippendorff's alpha: {number(alpha.value)}, {n}{undefined}"
    yield f"pairs that agree: {number(between.agreement)}, n = {between.pairs:,}"
    if kappa is not None:
        value, ends = with_interval(kappa.value, kappa.interval)
        yield f"Cohen's kappa between them: {value} ({ends}), n = {kappa.n:,}"


def show_recalibration(result: Recalibration, output: Path) -> None:
    """The effect of recalibrating the offline judge on held-out rows, and how to use the result."""
    gain, out = result.gain, console()
    out.sentence(
        f"labels: {gain.n:,} on {gain.n_groups:,} questions (or conversations); by cross-validation, on those that had "
        "no part in it:"
    )
    for title, before, after in (
        ("log loss", gain.log_loss_before, gain.log_loss_after),
        ("calibration error", gain.calibration_error_before, gain.calibration_error_after),
        ("agreement with people", gain.agreement_before, gain.agreement_after),
    ):
        out.print(f"  {title}: {number(before)} as it is, {number(after)} adapted")
    out.print(f"  gain in log loss: {number(gain.gain)} ({interval(gain.interval)})")
    if not result.helps:
        why = "adapting makes it worse" if gain.gain <= 0 else "the gain may be luck, and adapting by luck does harm"
        out.sentence(f"{why}, so nothing was written; more labels may help", "red")
        return
    out.sentence(f"written: {output}")
    metric = result.verdicts_with(output)
    out.sentence(f"use it: --metrics '{metric}'")
    out.sentence(f"or: ragmeter crag evaluate --judge cascade --offline-calibration {output}")


def show_alignment(result: Alignment, output: Path) -> None:
    """Whether examples in the prompt help, and where they are."""
    out = console()
    out.print(f"kappa of {printable(result.model)} with people, on {result.n:,} rows that no example was chosen from:")
    out.print(f"  {number(result.kappa_before)} without examples, {number(result.kappa_after)} with them")
    out.print(f"  gain: {number(result.gain)}, standard error {number(result.standard_error)}")
    if result.n_unread:
        out.sentence(f"on {result.n_unread:,} labelled rows no verdict could be read: they are left out", "yellow")
    if not result.helps:
        out.sentence("the examples don't help by more than the standard error, so nothing was written", "red")
        return
    out.sentence(f"written: {output}, {len(result.examples)} examples", "bold")
    out.sentence(f"use it: --judge-examples {output}; the verdicts are those of another prompt, and asked for anew")
