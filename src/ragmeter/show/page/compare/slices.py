"""Where? The difference by slice: where the candidate gains most and least, and surely more or less than elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from ragmeter.analysis.comparing import SliceDifference, differing_slices
from ragmeter.analysis.comparing.slices import FEWEST_LISTED
from ragmeter.show.page.charts.intervals import Bar, bars
from ragmeter.show.page.compare.view import CompareView, tone, turned, way
from ragmeter.show.page.elements import Content, Markup, element, joined, link, text
from ragmeter.wording.numbers import deserved_decimals, points, signed, signed_interval
from ragmeter.wording.verdicts import NO_SLICE_DIFFERS, SLICE_DIFFERS

WHERE, ALL_ROWS = "Where?", "all rows"
#: As many slices are shown of each end.
_MOST = 4


def where(view: CompareView, column: str = "") -> Markup:
    """The slices of a column, or those of any that are farthest from the whole; a click cuts the page to one."""
    pair = view.whole or view.pair
    parts = _ends(pair.headline_slices.get(column, [])) if column else differing_slices(pair, _MOST)
    if not parts:
        return Markup()
    is_mixed = not column and len(columns(view)) > 1
    turned_parts = [part for part in pair.slices if part.turns]
    says = SLICE_DIFFERS if any(part.differs for part in pair.slices) else f"{NO_SLICE_DIFFERS}."
    explained = element("p", says[0].upper() + says[1:], class_="soft")
    return joined(
        bars([_bar(view, part, is_mixed=is_mixed) for part in parts], WHERE),
        explained,
        element("ul", [element("li", text(part.sentence)) for part in turned_parts], class_="soft")
        if turned_parts
        else None,
    )


def about(view: CompareView, column: str = "") -> str:
    """What the bars show, beside the title."""
    headline = view.whole.metrics[view.whole.headline] if view.whole else view.headline
    what = "change in share right" if headline.binary else f"change in {view.pair.headline}"
    names = [column] if column else columns(view)
    return f"{what}{f' by {names[0]}' if len(names) == 1 else ''} (n ≥ {FEWEST_LISTED})"


def columns(view: CompareView) -> list[str]:
    """The columns whose slices can be shown."""
    return list((view.whole or view.pair).headline_slices)


def cut(view: CompareView) -> Content:
    """The slice that the page is cut to, with a cross that leads back."""
    for column, value in view.where.items():
        cross = view.addresses.cut_to("", "")
        words = joined(text(f"{column}: {value}"), " ", link("×", cross, aria_label=ALL_ROWS) if cross else None)
        return element("span", words, class_="chip")
    return None


def _ends(parts: Sequence[SliceDifference]) -> list[SliceDifference]:
    """Of many slices, which are sorted by their gain, the first and the last ones."""
    return list(parts) if len(parts) <= 2 * _MOST else [*parts[:_MOST], *parts[-_MOST:]]


def _bar(view: CompareView, part: SliceDifference, *, is_mixed: bool) -> Bar:
    pair = view.whole or view.pair
    result = pair.metrics[part.metric]
    factor = way(result.direction)
    if result.binary:
        amount = f"{points(part.difference, 0)} pts"
    else:
        amount = signed(part.difference, decimals=deserved_decimals(part.interval))
    return Bar(
        name=text(f"{part.column}: {part.value}" if is_mixed else part.value, title=part.value),
        value=factor * part.difference,
        interval=turned(part.interval, factor),
        tone=tone(part.verdict),
        words=f"{'≠ ' if part.differs else ''}{amount} · {part.n:,}",
        href=view.addresses.cut_to(part.column, part.value),
        about=f"{signed(part.difference)} ({signed_interval(part.interval)}), n {part.n:,}",
        is_chosen=view.where.get(part.column) == part.value,
    )
