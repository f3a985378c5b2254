"""Shows several systems beside a baseline on the terminal: their order, and every metric of each."""

from __future__ import annotations

from rich.text import Text

from ragmeter.analysis.comparing import Comparison
from ragmeter.analysis.preferences import Order
from ragmeter.show.system_tables import ORDER_TITLES, Cell, SystemTables, order_rows
from ragmeter.show.terminal.comparison import STYLES, cautions, show_table, show_turned, show_verdict
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.wording import orders
from ragmeter.wording.texts import printable


def show_systems(comparison: Comparison) -> None:
    """The verdict on the first system, the order of all, each metric of each, and then what is to be said of pairs."""
    out, tables = console(), SystemTables(comparison)
    first, *others = tables.first_sentences
    out.sentence(first, "bold")
    for sentence in others:
        out.sentence(sentence)
    for warning in dict.fromkeys(warning for pair in tables.pairs.values() for warning in pair.warnings):
        out.sentence(warning, "red")
    order = Figures.of(*map(printable, tables.order_titles), names=2)
    for row in tables.order():
        order.add(*map(_styled, row))
    out.print(order)
    metrics = Figures.of("metric", *map(printable, tables.systems), "n")
    for row in tables.metrics():
        metrics.add(*map(_styled, row))
    if metrics.rows:
        out.print(metrics)
    out.sentence(tables.signs)
    if tables.n_differs:
        out.sentence(tables.n_differs, "yellow")
    out.sentence(comparison.test_sentence)
    for pair in comparison.pairs:
        if pair.a != comparison.baseline:
            show_verdict(pair)
            show_table(pair, comparison.level)
    _show_cautions(comparison)


def show_order(order: Order, sentence: str) -> None:
    """What is to be said of the ratings, and the systems by a judge's preference."""
    out = console()
    out.sentence(sentence, "bold")
    table = Figures.of(*ORDER_TITLES)
    for name, *cells in order_rows(order):
        table.add(printable(name), *cells)
    out.print(table)


def order_lines(order: Order, level: float) -> list[str]:
    """What is to be said of the ratings, the best system first."""
    asked = order.next_pair is not None and {*order.next_pair} in map(set, order.pairs_asked)
    return orders.order_sentences(order.ranking.best, order.ranking.groups, order.next_pair, level, asked=asked)


def _styled(cell: Cell) -> Text:
    return Text(printable(cell.text), style=STYLES.get(cell.verdict, ""))


def _show_cautions(comparison: Comparison) -> None:
    """What is to be said of each pair; and where to look further."""
    out = console()
    for pair in comparison.pairs:
        for line in cautions(pair):
            out.sentence(f"{pair.b}: {line}", "yellow")
        if pair.causes and pair.causes.sentence:
            out.sentence(f"{pair.b}: {pair.causes.sentence}")
        show_turned(pair, f"{pair.b}: ")
    out.sentence(f"which rows changed: ragmeter compare {comparison.baseline} SYSTEM")
