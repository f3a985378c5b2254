"""The tables of several systems beside a baseline, for the terminal and for Markdown: their order, and every metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragmeter.analysis.comparing import Comparison, MetricDifference, Pair
from ragmeter.analysis.comparing.comparison import table_cells
from ragmeter.wording import orders, verdicts
from ragmeter.wording.metrics import titled
from ragmeter.wording.numbers import MISSING, deserved_decimals, number, percent, whole

if TYPE_CHECKING:
    from ragmeter.analysis.preferences import Order


@dataclass(frozen=True)
class Cell:
    """A cell's text, and the verdict that it shows, if it shows one."""

    text: str
    verdict: str = ""


@dataclass(frozen=True)
class SystemTables:
    """What is shown of a comparison of several systems with a baseline."""

    comparison: Comparison

    @property
    def pairs(self) -> dict[str, Pair]:
        """The comparison of each system with the baseline."""
        return {pair.b: pair for pair in self.comparison.pairs if pair.a == self.comparison.baseline}

    @property
    def headline(self) -> str:
        """The metric that the systems are ordered by."""
        ranking = self.comparison.ranking
        return ranking.metric if ranking else self.comparison.pairs[0].headline

    @property
    def systems(self) -> list[str]:
        """The systems, the best one first; as they were named where they have no order."""
        ranking = self.comparison.ranking
        return [rank.run for rank in ranking.ranks] if ranking else self.comparison.runs

    @property
    def first_sentences(self) -> list[str]:
        """Which system comes first, and which can't be told apart; where there is no order, the verdict on each."""
        ranking = self.comparison.ranking
        if ranking is None:
            return [pair.sentence for pair in self.pairs.values()]
        best = ranking.ranks[0].run
        of_best = self.pairs[best].sentence if best in self.pairs else ""
        first = orders.best_sentence(best, self.comparison.baseline, of_best, len(ranking.ranks))
        return [first, orders.apart_sentence(ranking.best, ranking.groups, self.comparison.baseline)]

    @property
    def first_place(self) -> str:
        """Which systems share first place, or how far the first is ahead; empty where there is no order."""
        ranking = self.comparison.ranking
        if ranking is None:
            return ""
        return orders.first_place_sentence(
            {rank.run: rank.mean for rank in ranking.ranks}, ranking.best, ranking.groups
        )

    @property
    def mean_of_baseline(self) -> str:
        """The baseline's mean by the headline metric, or from the least to the greatest on other rows each."""
        return _of_baseline(self._results(self.headline).values())

    @property
    def order_titles(self) -> tuple[str, ...]:
        """The titles of the table of the order."""
        direction = next(pair.metrics[self.headline].direction for pair in self._with_headline())
        level = percent(self.comparison.level)
        return "system", "verdict", "rank", titled(self.headline, direction), "difference", f"{level} interval", "n"

    def order(self) -> Iterator[list[Cell]]:
        """A row for each system: its rank, its mean by the headline metric, and the difference from the baseline.

        A difference is the system minus the baseline, on the n rows that both have a score for.
        """
        results = self._results(self.headline)
        for system in self.systems:
            if system == self.comparison.baseline:
                of_baseline = self.mean_of_baseline, "", "", _counts(results.values())
                yield [Cell(system), Cell("baseline"), self._rank(system), *map(Cell, of_baseline)]
            elif system in results:
                result = results[system]
                _, marked, _, mean, *difference = table_cells(self.headline, result)
                cells = mean, *difference, _counts([result])
                yield [Cell(system), Cell(marked, result.verdict), self._rank(system), *map(Cell, cells)]

    def metrics(self) -> Iterator[list[Cell]]:
        """A row for each of the other metrics: each system's mean with the sign of its verdict, and n."""
        names = dict.fromkeys(name for pair in self.pairs.values() for name in pair.metrics)
        for name in (name for name in names if name != self.headline):
            results = self._results(name)
            first = next(iter(results.values()))
            cells = {self.comparison.baseline: Cell(_of_baseline(results.values()))}
            for run, result in results.items():
                mean = number(result.mean_b, decimals=deserved_decimals(result.interval))
                cells[run] = Cell(f"{verdicts.sign(result.verdict)} {mean}", result.verdict)
            yield [
                Cell(titled(name, first.direction)),
                *(cells.get(system, Cell(MISSING)) for system in self.systems),
                Cell(_counts(results.values())),
            ]

    @property
    def signs(self) -> str:
        """What the signs stand for."""
        there = {result.verdict for pair in self.pairs.values() for result in pair.metrics.values()}
        return f"{verdicts.signs_explained(there)}: each beside the baseline {self.comparison.baseline}."

    @property
    def n_differs(self) -> str:
        """Says that systems are compared with the baseline on other rows each; an empty text where they are not."""
        names = {name for pair in self.pairs.values() for name in pair.metrics}
        alike = all(len({result.n for result in self._results(name).values()}) == 1 for name in names)
        return "" if alike else verdicts.n_differs(self.comparison.baseline)

    def _results(self, metric: str) -> dict[str, MetricDifference]:
        """Each system's difference from the baseline by a metric."""
        return {run: pair.metrics[metric] for run, pair in self.pairs.items() if metric in pair.metrics}

    def _with_headline(self) -> Iterator[Pair]:
        return (pair for pair in self.pairs.values() if self.headline in pair.metrics)

    def _rank(self, system: str) -> Cell:
        if self.comparison.ranking is None:
            return Cell(MISSING)
        rank = next(rank for rank in self.comparison.ranking.ranks if rank.run == system)
        return Cell(rank.places)


def _of_baseline(results: Iterable[MetricDifference]) -> str:
    """The baseline's mean; from the least to the greatest where it is compared with systems on other rows each."""
    results = list(results)
    decimals = deserved_decimals(results[0].interval)
    means = sorted(result.mean_a for result in results if result.mean_a is not None)
    ends = dict.fromkeys(number(mean, decimals=decimals) for mean in means[:1] + means[-1:])
    return "–".join(ends) or MISSING


def _counts(results: Iterable[MetricDifference]) -> str:
    """The number of rows that both have a score for: 200, or 180–200 where it is not the same for all systems."""
    counts = [result.n for result in results]
    return "–".join(dict.fromkeys(f"{count:,}" for count in (min(counts), max(counts))))


#: The columns of the ratings by a judge's preference.
ORDER_TITLES = ("system", "rank", "rating", "interval")


def order_rows(order: Order) -> list[tuple[str, str, str, str]]:
    """Each system with its rank and its rating, the best first."""
    return [
        (rank.run, rank.places, whole(rank.mean), " to ".join(map(whole, order.intervals[rank.run])))
        for rank in order.ranking.ranks
    ]
