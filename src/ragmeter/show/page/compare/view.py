"""What a page of Compare shows: two runs of a comparison, their paired rows, and where its parts lead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ragmeter.analysis.comparing import Comparison, MetricDifference, Pair
from ragmeter.analysis.comparing.row_pairs import Pairing, Where, pair
from ragmeter.documents.comparison import BETTER, WORSE
from ragmeter.documents.metrics import MetricSummary
from ragmeter.runs.run import Run
from ragmeter.show.page.charts import intervals
from ragmeter.show.page.elements import Content, Markup, element, joined, text
from ragmeter.show.page.parts import swatch, tints
from ragmeter.stats.summary import summarise
from ragmeter.wording.comparison import Wording

#: What happened to a row by the headline metric, from its score in the baseline to that in the candidate.
GOT_BETTER, GOT_WORSE, SAME, BOTH_RIGHT, BOTH_WRONG = "better", "worse", "same", "right", "wrong"
#: Runs have letters on the page, the baseline the first.
LETTERS = "ABCDE"


class Addresses:
    """Where the parts of a page lead. This one has no server behind it: nothing leads anywhere."""

    def rows(self, change: str) -> str | None:
        """The rows that changed in this way."""

    def cut_to(self, column: str, value: str) -> str | None:
        """The same page, cut to a slice."""

    def caused(self, letter: str, cause: str) -> str | None:
        """The rows that have this cause in the run with this letter."""

    def candidate(self, name: str) -> str | None:
        """The same page about another candidate."""

    def run(self, name: str) -> str | None:
        """A run's own page."""

    def row(self, name: str, place: int) -> str | None:
        """The page of a row of a run."""


@dataclass(frozen=True)
class CompareView:
    """Two of the runs that were compared: the baseline, and the candidate that the page is about.

    `times` are the differences in latency, which have a comparison of their own: they are no metrics. `slices` has the
    differences of all rows by slice, also where the comparison is cut to one, `where`. For an owner, runs have their
    names in place of letters, and nothing is said of methods.
    """

    comparison: Comparison
    pair: Pair
    runs: Mapping[str, Run]
    addresses: Addresses = field(default_factory=Addresses)
    times: Mapping[str, MetricDifference] = field(default_factory=dict)
    whole: Pair | None = None
    where: Where = field(default_factory=dict)
    for_owner: bool = False

    @property
    def headline(self) -> MetricDifference:
        """The difference by the metric that the verdict goes by."""
        return self.pair.metrics[self.pair.headline]

    @property
    def baseline(self) -> Run:
        """The run that is compared with."""
        return self.runs[self.pair.a]

    @property
    def candidate(self) -> Run:
        """The run that is compared."""
        return self.runs[self.pair.b]

    @property
    def names(self) -> list[str]:
        """All runs, the baseline first."""
        baseline = self.comparison.baseline
        return [baseline, *(name for name in self.comparison.runs if name != baseline)]

    @property
    def letters(self) -> dict[str, str]:
        """The letter of each run, or for an owner its name."""
        return dict(zip(self.names, self.names if self.for_owner else LETTERS, strict=False))

    @cached_property
    def tints(self) -> dict[str, str]:
        """The class of each run's colour."""
        return dict(zip(self.names, tints([self.runs[name] for name in self.names]), strict=True))

    @cached_property
    def pairing(self) -> Pairing:
        """The rows of both runs, those of the slice alone."""
        return pair(self.baseline, self.candidate, self.where)

    def summary(self, name: str, metric: str) -> MetricSummary | None:
        """A run's mean by a metric or of a time, on the rows of the slice; None where the run has no such column."""
        run = self.runs[name]
        if not self.where and metric in run.metrics():
            return run.metrics()[metric]
        if metric not in run.measures:
            return None
        rows = pair(self.baseline, run, self.where).b if self.where else slice(None)
        measure, (_, clusters) = run.measure(metric), run.clusters(run.confidence)
        return summarise(
            run.scores(metric)[rows], {}, binary=measure.binary, direction=measure.direction, bounds=measure.bounds,
            confidence=run.confidence, codes=None if clusters is None else clusters[rows],
        )  # fmt: skip

    @property
    def wording(self) -> Wording:
        """Sentences about the headline metric."""
        comparison = self.comparison
        return Wording(
            comparison.level, comparison.alpha, comparison.tests.headline, margins=frozenset(comparison.margins)
        )

    def lettered(self, name: str) -> Markup:
        """A run by its colour and letter."""
        return joined(swatch(self.tints[name]), text(self.letters.get(name, "")))

    def named(self, name: str, shown: Content = None) -> Markup:
        """A run by its colour, letter and name, which leads to its page, or to where `shown` does."""
        where = self.addresses.run(name)
        link = shown or (element("a", text(name), href=where) if where else text(name))
        return joined(swatch(self.tints[name]) if self.for_owner else joined(self.lettered(name), " "), link)


def tone(verdict: str) -> str:
    """The colour of a verdict: better and worse have one, all others are grey."""
    return {BETTER: intervals.BETTER, WORSE: intervals.WORSE}.get(verdict, intervals.EVEN)


def way(direction: str) -> int:
    """-1 for a metric of which less is better, so that more is better once it is multiplied."""
    return -1 if direction == "lower" else 1


def turned(interval: Sequence[float] | None, factor: float) -> tuple[float, float] | None:
    """An interval multiplied, the lower end first."""
    if interval is None:
        return None
    low, high = sorted(factor * end for end in interval)
    return low, high
