"""The rows of two runs that a page of Compare lists: by change, slice, search, cause and conditions on scores."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ragmeter.analysis.comparing.selection import FAILED, Flags, Gains, Places
from ragmeter.app.compare_query import BY_BASELINE, BY_CHANGE, BY_FILE, CompareQuery
from ragmeter.app.conditions import Condition
from ragmeter.app.queries import Database
from ragmeter.app.row_query import RowQuery
from ragmeter.errors import UsageError
from ragmeter.runs.run import Run, full_name
from ragmeter.show.page.compare.view import CompareView

#: A filter is of the candidate that is shown, unless a letter before it says another run.
_LETTERED = re.compile(r"(?:([A-E]):)?(.*)", re.DOTALL)


def shown_metric(view: CompareView, query: CompareQuery) -> str:
    """The metric by which rows got better or worse: the headline, unless another is named."""
    return full_name(query.metric, view.pair.metrics, "this comparison") if query.metric else view.pair.headline


def chosen_pairs(view: CompareView, database: Database, query: CompareQuery) -> tuple[Gains, Places]:
    """The scores of all pairs, and the places of those that are wanted, in their order."""
    gains = Gains.of(view.baseline, view.candidate, view.pairing, shown_metric(view, query))
    wanted = gains.that(query.shown_change)
    for written in query.filters:
        run, condition = filter_of(view, written)
        wanted = wanted & _in_run(view, database, run, RowQuery(conditions=(condition,)))
    if query.search:
        of_either = [_in_run(view, database, run, RowQuery(query.search)) for run in (view.baseline, view.candidate)]
        wanted = wanted & (of_either[0] | of_either[1])
    return gains, _sorted(gains, np.flatnonzero(wanted), query)


def _sorted(gains: Gains, places: Places, query: CompareQuery) -> Places:
    if query.sort == BY_FILE or (query.sort == BY_CHANGE and query.shown_change == FAILED):
        return places
    if query.sort == BY_CHANGE:
        return gains.largest_first(places)
    scores = (gains.a if query.sort == BY_BASELINE else gains.b)[places]
    worst_first = -scores if gains.is_lower_better else scores
    return places[np.argsort(worst_first, kind="stable")]  # those without a score are last


def filter_of(view: CompareView, written: str) -> tuple[Run, Condition]:
    """The run that a filter is of, and what it asks for: `A:recall@5=0` is of the baseline."""
    letter, rest = _LETTERED.fullmatch(written).groups()  # type: ignore[union-attr]  # which matches anything
    letters = {view.letters[run.name]: run for run in (view.baseline, view.candidate)}
    if letter and letter not in letters:
        raise UsageError(f"{letter} is no run of this list", hint=f"there are {' and '.join(letters)}")
    run = letters[letter] if letter else view.candidate
    return run, Condition.read(run, rest)


def _in_run(view: CompareView, database: Database, run: Run, query: RowQuery) -> Flags:
    """The pairs whose row in a run is among those that are asked for."""
    is_wanted = np.zeros(run.n_rows, dtype=np.bool_)
    is_wanted[database.all_rows(run, query)] = True
    flags: Flags = is_wanted[view.pairing.a if run is view.baseline else view.pairing.b]
    return flags


def page_of(places: Places, page: int, size: int) -> Sequence[int]:
    """The places on a page."""
    listed: list[int] = places[(page - 1) * size : page * size].tolist()
    return listed
