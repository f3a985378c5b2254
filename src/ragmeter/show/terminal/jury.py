"""Shows a jury beside people's labels on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragmeter.analysis.people.estimates import AgainstPeople
from ragmeter.analysis.people.jury import JuryCalibration, PanelChoice
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.stats.agreement import Estimate
from ragmeter.wording.numbers import money, percent, signed, signed_interval, with_interval
from ragmeter.wording.texts import printable


def show_jury(result: JuryCalibration, written: Sequence[Path]) -> None:
    """Each juror and all together beside people, the jurors beside each other, the weights, and the panel."""
    out = console()
    heads = ("agreement", "kappa", f"{percent(result.level)} interval", "sensitivity", "specificity", "n", "cost")
    table = Figures.of(f"beside people: {result.n_labels:,} labels", *heads)
    for juror in result.jurors:
        cost = "–" if juror.cost_usd is None else money(juror.cost_usd)
        table.add(printable(juror.name), *_cells(juror.against), cost)
    table.add("majority", *_cells(result.majority), "")
    table.add("weighted, cross-fitted", *_cells(result.weighted), "")
    out.print(table)
    between = Figures.of("jurors beside each other", "kappa", f"{percent(result.level)} interval", "n")
    for pair in result.pairs:
        between.add(printable(f"{pair.first}, {pair.second}"), *_kappa(pair.kappa), f"{pair.kappa.n:,}")
    out.print(between)
    gain = f"{signed(result.gain.value)} ({signed_interval(result.gain.interval)})"
    if result.weights_help:
        out.sentence(f"learnt weights agree with people more often than the majority: {gain}, on rows left out", "bold")
        out.sentence(f"use them: --metrics '{result.weighted_metric}'")
    else:
        out.sentence(f"learnt weights don't help more than chance would: {gain} beside the majority, on rows left out")
    if result.panel is not None:
        out.sentence(panel_sentence(result.panel), "bold" if result.panel.reaches else "red")
    for path in written:
        out.sentence(f"written: {path}")


def panel_sentence(panel: PanelChoice) -> str:
    """The panel that was chosen, and how it agrees with people on the labels that it was not chosen by."""
    cost = money(panel.cost) if panel.in_dollars else f"{int(panel.cost):,} tokens"
    names = printable(" + ".join(panel.jurors))
    chosen, reported = _share(panel.chosen_on), _share(panel.reported)
    if panel.reaches:
        start = f"the cheapest panel that agrees with people {percent(panel.target)} of the time: {names}, {cost} a run"
    else:
        start = f"no panel agrees with people {percent(panel.target)} of the time; {names} comes nearest, {cost} a run"
    return f"{start}; {chosen} on the half of the labels that it was chosen by, {reported} on the other half"


def _share(estimate: Estimate) -> str:
    value, between = with_interval(estimate.value, estimate.interval)
    return f"{value} ({between}, n = {estimate.n:,})"


def _cells(against: AgainstPeople) -> list[str]:
    shares = [
        with_interval(share.value, share.interval)[0]
        for share in (against.agreement, against.sensitivity, against.specificity)
    ]
    return [shares[0], *_kappa(against.kappa), *shares[1:], f"{against.agreement.n:,}"]


def _kappa(kappa: Estimate) -> tuple[str, str]:
    return with_interval(kappa.value, kappa.interval)
