"""The order of several systems in sentences: which is best, and which can't be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragmeter.hints import by_caller
from ragmeter.wording.numbers import number, percent


def apart_sentence(best: Sequence[str], groups: Sequence[Sequence[str]], baseline: str = "") -> str:
    """Which system the others are compared with, which may be the best one, and which can't be told apart."""
    apart = "can't be told apart"
    parts = [f"the baseline is {baseline}"] if baseline else []
    if len(best) > 1:
        parts.append(f"the best is among {_and(best)}{f', which {apart}' if best in groups else ''}")
    elif not baseline:
        parts.append(f"the best is {best[0]}")
    text = "; ".join([*parts, *(f"{_and(group)} {apart}" for group in groups if group != best)])
    return f"{text[0].upper()}{text[1:]}."


def first_place_sentence(order: Mapping[str, float], best: Sequence[str], groups: Sequence[Sequence[str]]) -> str:
    """Which systems share first place, or how far the first is ahead; `order` has the means, the best one first."""
    if best in groups:
        first = f"{_and(best)} share first place: no test tells them apart."
    elif len(best) > 1:
        first = f"The best is among {_and(best)}."
    else:
        (name, mean), (next_name, next_mean), *_ = order.items()
        first = f"{name} is first, {number(abs(mean - next_mean), 0.0, 3)} ahead of {next_name}."
    return " ".join([first, *(f"{_and(group)} can't be told apart." for group in groups if group != best)])


def _and(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def order_sentences(
    best: Sequence[str], groups: Sequence[Sequence[str]], pair: Sequence[str] | None, level: float, *, asked: bool
) -> list[str]:
    """The order by a judge's preference, what ratings are, and about which pair more questions would help most."""
    lines = [
        f"By the judge's preference: {apart_sentence(best, groups)}",
        "Ratings by Bradley and Terry, a tie is half a win each: 100 points more win 64% of the questions; the "
        f"{percent(level)} intervals hold all at once, and so does what is told apart.",
    ]
    if pair is None:
        return lines
    how = (
        f"more questions about {_and(pair)}"
        if asked
        else f"asking about {_and(pair)} ({by_caller('--all-pairs', 'all_pairs=True')})"
    )
    return [*lines, f"What would make the order clearer: {how}."]


def best_sentence(best: str, baseline: str, of_best: str, systems: int) -> str:
    """The verdict on the first of several systems; `of_best` compares it with the baseline."""
    if best != baseline and of_best.startswith(f"{best} is "):
        return f"{of_best.removesuffix('.')}, compared with {baseline}."
    return of_best if best != baseline else f"None of {systems - 1:,} systems comes before the baseline {baseline}."
