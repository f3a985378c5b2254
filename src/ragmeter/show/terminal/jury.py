"""Shows a jury beside people's labels on the terminal."""

from __future__ import annotations

from ragmeter.analysis.people.estimates import AgainstPeople
from ragmeter.analysis.people.jury import JuryCalibration, PanelChoice
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.stats.agreement import Estimate
from ragmeter.wording.numbers import MISSING, money, percent, signed, signed_interval, with_interval
from ragmeter.wording.texts import printable


def show_jury(result: JuryCalibration) -> None:
    """Each juror and all together beside people, the jurors beside each other, the weights, and the panel."""
    out = console()
    level = f"{percent(result.level)} interval"
    heads = ("agreement", "kappa", level, "sensitivity", "specificity", "n", "cost")
    table = Figures.of(f"beside people: {result.n_labels:,} labels", *heads)
    for juror in result.jurors:
        cost = MISSING if juror.cost_usd is None else money(juror.cost_usd)
        table.add(printable(juror.name), *_cells(juror.against), cost)
    table.add("majority", *_cells(result.majority), "")
    table.add("weighted, cross-fitted", *_cells(result.weighted), "")
    out.print(table)
    between = Figures.of("jurors beside each other", "kappa", level, "n")
    for names, kappa in result.pairs.items():
        between.add(printable(names), *_value(kappa), f"{kappa.n:,}")
    out.print(between)
    gain = f"{signed(result.gain.value)} ({signed_interval(result.gain.interval)}) on rows left out"
    if result.weights_help:
        out.sentence(f"learnt weights agree with people more often than the majority: {gain}", "bold")
        out.sentence(f"use them: --metrics '{result.weighted_metric}'")
    else:
        out.sentence(f"learnt weights don't help by more than the standard error: {gain}")
    if result.panel is not None:
        out.sentence(_panel(result.panel), "bold" if result.panel.reaches else "red")


def _panel(panel: PanelChoice) -> str:
    """The panel that was chosen, and how it agrees with people on the labels that it was not chosen by."""
    cost = money(panel.cost) if panel.in_dollars else f"{int(panel.cost):,} tokens"
    names = printable(" + ".join(panel.jurors))
    chosen, reported = (
        f"{value} ({between}, n = {share.n:,})"
        for share in (panel.chosen_on, panel.reported)
        for value, between in [_value(share)]
    )
    wanted = f"agrees with people {percent(panel.target)} of the time"
    start = (
        f"the cheapest panel that {wanted}: {names}"
        if panel.reaches
        else f"no panel {wanted} on both halves; nearest: {names}"
    )
    return (
        f"{start}, {cost} a run; {chosen} on the half of the labels that it was chosen by, {reported} on the other half"
    )


def _cells(against: AgainstPeople) -> list[str]:
    agreement, *shares = (_value(share)[0] for share in (against.agreement, against.sensitivity, against.specificity))
    return [agreement, *_value(against.kappa), *shares, f"{against.agreement.n:,}"]


def _value(estimate: Estimate) -> tuple[str, str]:
    return with_interval(estimate.value, estimate.interval)
