"""The tables of several systems beside a baseline, for the terminal and for Markdown: their order, and every metric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ragmeter.analysis.comparing import Comparison, Pair
from ragmeter.analysis.comparing.comparison import table_cells
from ragmeter.wording import verdicts
from ragmeter.wording.metrics import titled
from ragmeter.wording.numbers import MISSING, deserved_decimals, number, percent


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
        first = verdicts.best_sentence(best, self.comparison.baseline, of_best, len(ranking.ranks))
        return [first, verdicts.apart_sentence(self.comparison.baseline, ranking.groups)]

    @property
    def order_titles(self) -> tuple[str, ...]:
        """The titles of the table of the order."""
        direction = next(pair.metrics[self.headline].direction for pair in self._with_headline())
        level = percent(self.comparison.level)
        return "system", "verdict", "rank", titled(self.headline, direction), "difference", f"{level} interval"

    def order(self) -> Iterator[list[Cell]]:
        """A row for each system: its rank, its mean by the headline metric, and the difference from the baseline."""
        for system in self.systems:
            if system == self.comparison.baseline:
                result = next(self._with_headline()).metrics[self.headline]
                mean = number(result.mean_a, decimals=deserved_decimals(result.interval))
                yield [Cell(system), Cell("baseline"), self._rank(system), Cell(mean), Cell(""), Cell("")]
            elif self.headline in self.pairs[system].metrics:
                result = self.pairs[system].metrics[self.headline]
                _, marked, _, mean, *difference = table_cells(self.headline, result)
                yield [Cell(system), Cell(marked, result.verdict), self._rank(system), *map(Cell, (mean, *difference))]

    def metrics(self) -> Iterator[list[Cell]]:
        """A row for each of the other metrics, with a mean for each system and the sign of its verdict."""
        names = dict.fromkeys(name for pair in self.pairs.values() for name in pair.metrics)
        for name in (name for name in names if name != self.headline):
            results = {run: pair.metrics[name] for run, pair in self.pairs.items() if name in pair.metrics}
            first = next(iter(results.values()))
            cells = {self.comparison.baseline: Cell(number(first.mean_a, decimals=deserved_decimals(first.interval)))}
            for run, result in results.items():
                mean = number(result.mean_b, decimals=deserved_decimals(result.interval))
                cells[run] = Cell(f"{verdicts.sign(result.verdict)} {mean}", result.verdict)
            yield [
                Cell(titled(name, first.direction)),
                *(cells.get(system, Cell(MISSING)) for system in self.systems),
            ]

    @property
    def signs(self) -> str:
        """What the signs stand for."""
        there = {result.verdict for pair in self.pairs.values() for result in pair.metrics.values()}
        return f"{verdicts.signs_explained(there)}: each beside the baseline {self.comparison.baseline}."

    def _with_headline(self) -> Iterator[Pair]:
        return (pair for pair in self.pairs.values() if self.headline in pair.metrics)

    def _rank(self, system: str) -> Cell:
        """The ranks that a system may have: 1, or 2–4."""
        if self.comparison.ranking is None:
            return Cell(MISSING)
        rank = next(rank for rank in self.comparison.ranking.ranks if rank.run == system)
        return Cell(f"{rank.first}" if rank.first == rank.last else f"{rank.first}–{rank.last}")
