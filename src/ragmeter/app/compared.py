"""Comparisons of runs for the app: with any test, cut to a slice, remembered while the runs stay as they are."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from msgspec.structs import replace

from ragmeter.analysis.comparing import Comparison, compare
from ragmeter.app.compare_query import CompareQuery
from ragmeter.app.fields import in_folder
from ragmeter.app.latest import Latest
from ragmeter.documents.comparison import ComparisonSettings
from ragmeter.errors import RagmeterError, UsageError
from ragmeter.io.write import dumps
from ragmeter.runs.comparisons import KeptComparison, kept_comparison
from ragmeter.runs.layout import stamps_of
from ragmeter.runs.run import Run
from ragmeter.show.page.compare.systems import best_candidate
from ragmeter.show.page.compare.view import Addresses, CompareView
from ragmeter.stats.confidence import AUTO, MCNEMAR, TESTS
from ragmeter.table import NUMBER_COLUMNS
from ragmeter.wording.numbers import given

#: Runs with more rows are compared in a request of its own, since it may take seconds.
QUICK = 20_000
#: Comparisons that are remembered.
_MOST = 12
#: What `ragmeter compare` does unless something else is chosen.
USUAL = ComparisonSettings(
    metrics=None, test=TESTS[0], interval=AUTO, cluster=AUTO, slices=None, level=0.95, alpha=0.05, seed=0,
    draws=9_999, movers=0, better=3, worse=3, margin=None, baseline=None, all_pairs=False,
)  # fmt: skip
T = TypeVar("T")


@dataclass(frozen=True)
class Chosen:
    """The settings of a comparison, and the kept comparison of the runs, if there is one."""

    settings: ComparisonSettings
    kept: KeptComparison | None

    @property
    def is_kept(self) -> bool:
        """Whether this is the comparison that was kept."""
        return self.kept is not None and self.kept.current and self.kept.settings == self.settings


class Comparisons:
    """The latest comparisons, each made once."""

    def __init__(self) -> None:
        self._latest = Latest(_MOST)

    def view(self, runs: Sequence[Run], chosen: Chosen, candidate: str, addresses: Addresses) -> CompareView:
        """The comparison of the runs, the baseline first, with what the page shows besides."""
        settings = chosen.settings
        comparison = self._compared(runs, settings)
        whole = self._compared(runs, replace(settings, where=None)) if settings.where else comparison
        name = candidate or best_candidate(whole)
        (pair,) = (pair for pair in comparison.pairs if pair.b == name and pair.a == runs[0].name)
        (of_all,) = (pair for pair in whole.pairs if pair.b == name and pair.a == runs[0].name)
        by_name = {run.name: run for run in runs}
        times = self._once(("times", runs[0].name, name), runs, settings, lambda: _times(by_name, pair.b, settings))
        return CompareView(
            comparison, pair, by_name, addresses, times.pairs[0].metrics if times else {}, of_all, settings.where or {}
        )

    def all_pairs(self, view: CompareView, runs: Sequence[Run], chosen: Chosen) -> Comparison | None:
        """Every pair of runs by the headline metric and by latency; None where some run has no latency."""
        metrics = [view.pair.headline, NUMBER_COLUMNS[0]]
        if len(runs) < 2 or any(name not in run.measures for run in runs for name in metrics):
            return None
        settings = replace(chosen.settings, metrics=metrics, all_pairs=True, slices=[], better=0, worse=0, margin=None)
        return self._compared(runs, settings)

    def is_known(self, runs: Sequence[Run], chosen: Chosen) -> bool:
        """Whether the comparison is there already."""
        return self._key("comparison", runs, chosen.settings) in self._latest

    def _compared(self, runs: Sequence[Run], settings: ComparisonSettings) -> Comparison:
        return self._once("comparison", runs, settings, lambda: compare(list(runs), **settings.as_dict()))

    def _key(self, what: Hashable, runs: Sequence[Run], settings: ComparisonSettings) -> Hashable:
        return what, dumps(settings), *((run.path, stamps_of(run.path)) for run in runs)

    def _once(self, what: Hashable, runs: Sequence[Run], settings: ComparisonSettings, make: Callable[[], T]) -> T:
        """What `make` returns, made once while the runs stay as they are."""
        return self._latest.once(self._key(what, runs, settings), make)


def chosen_settings(runs: Sequence[Run], query: CompareQuery) -> Chosen:
    """The settings as they were typed, or those of the comparison that was kept; `compare` says what they may be."""
    kept = _kept(runs)
    if not (query.test or query.alpha or query.margin):
        settings = kept.settings if kept is not None and kept.current else USUAL
    else:
        margins = [rule.rpartition("=") for rule in query.margin.replace(",", " ").split()]
        try:
            settings = replace(
                USUAL,
                test=query.test or USUAL.test,
                alpha=float(query.alpha or USUAL.alpha),
                margin={name: float(number) for name, _, number in margins} or None,
            )
        except ValueError:
            shown = query.alpha if not _is_number(query.alpha or "0") else query.margin
            raise UsageError(f"{shown[:60]!r} is no number", hint="alpha is 0.05, a margin token_f1=0.02") from None
    baseline = runs[0].name if len(runs) > 2 else None  # of two, the first is it
    return Chosen(replace(settings, where=query.cut_to or settings.where, baseline=baseline), kept)


def command_of(runs: Sequence[Run], chosen: Chosen) -> str:
    """The command that makes the same comparison, and keeps it where it is kept."""
    arguments: list[str] = []
    for name, value in chosen.settings.as_dict().items():
        if value == getattr(USUAL, name):
            continue
        if name == "slices":
            arguments += [part for column in value for part in ("--slice", column)]
        elif name == "where":
            arguments += [part for column, of in value.items() for part in ("--where", f"{column}={of}")]
        elif name == "metrics":
            arguments += ["--metrics", *value]
        elif name == "margin":
            arguments += ["--margin", *(f"{metric}={given(margin)}" for metric, margin in value.items())]
        elif name == "all_pairs":
            arguments.append("--all-pairs")
        else:
            shown = "none" if value is None else value if isinstance(value, str) else given(value)
            arguments += [f"--{name}", shown]
    arguments += [*in_folder(runs[0]), *(["--keep"] if chosen.is_kept else [])]
    return shlex.join(["ragmeter", "compare", *(run.name for run in runs), *arguments])


def keep(runs: Sequence[Run], settings: ComparisonSettings) -> None:
    """Compare, and write the comparison beside the runs."""
    compare(list(runs), **settings.as_dict(), keep=True)


def _times(runs: dict[str, Run], candidate: str, settings: ComparisonSettings) -> Comparison | None:
    """The differences in latency, which are tested by themselves; None where a run has none."""
    baseline, other = next(iter(runs.values())), runs[candidate]
    names = [name for name in NUMBER_COLUMNS if name in baseline.measures and name in other.measures]
    if not names:
        return None
    test = TESTS[0] if settings.test == MCNEMAR else settings.test  # which is of scores of 0 and 1
    alone = replace(settings, metrics=names, slices=[], better=0, worse=0, margin=None, test=test, baseline=None)
    try:
        return compare([baseline, other], **alone.as_dict())
    except RagmeterError:  # the page's own comparison says what is wrong
        return None


def _kept(runs: Sequence[Run]) -> KeptComparison | None:
    try:
        return kept_comparison(runs)
    except RagmeterError:  # a damaged file is no reason to show nothing
        return None


def _is_number(written: str) -> bool:
    try:
        float(written)
    except ValueError:
        return False
    return True
