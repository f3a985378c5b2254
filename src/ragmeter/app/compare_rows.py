"""The rows of two runs that a page of Compare lists: by change, slice, search, cause and conditions on scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow.compute as pc

from ragmeter.analysis.comparing.selection import FAILED, Flags, Gains, Places
from ragmeter.app.compare_query import BY_BASELINE, BY_CHANGE, BY_FILE, CompareQuery, Condition
from ragmeter.app.queries import Database
from ragmeter.app.row_query import RowQuery
from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.metrics.causes import CAUSE, CAUSES
from ragmeter.runs.run import Run, full_name
from ragmeter.show.page.compare.view import CompareView
from ragmeter.table import Scores

_SIGNS: dict[str, Callable[[Scores, float], Flags]] = {
    "<=": lambda scores, number: scores <= number,
    ">=": lambda scores, number: scores >= number,
    "=": lambda scores, number: scores == number,
}


def shown_metric(view: CompareView, query: CompareQuery) -> str:
    """The metric by which rows got better or worse: the headline, unless another is named."""
    return full_name(query.metric, view.pair.metrics, "this comparison") if query.metric else view.pair.headline


def chosen_pairs(view: CompareView, database: Database, query: CompareQuery) -> tuple[Gains, Places]:
    """The scores of all pairs, and the places of those that are wanted, in their order."""
    gains = Gains.of(view.baseline, view.candidate, view.pairing, shown_metric(view, query))
    wanted = gains.that(query.shown_change)
    for written in query.filters:
        wanted = wanted & _meets(view, Condition.read(written))
    for written in query.causes:
        wanted = wanted & _caused(view, written)
    if query.search:
        found = np.zeros(view.baseline.n_rows, dtype=np.bool_)
        found[database.all_rows(view.baseline, RowQuery(search=query.search))] = True
        in_candidate = np.zeros(view.candidate.n_rows, dtype=np.bool_)
        in_candidate[database.all_rows(view.candidate, RowQuery(search=query.search))] = True
        wanted = wanted & (found[view.pairing.a] | in_candidate[view.pairing.b])
    return gains, _sorted(gains, np.flatnonzero(wanted), query)


def _sorted(gains: Gains, places: Places, query: CompareQuery) -> Places:
    if query.sort == BY_FILE or (query.sort == BY_CHANGE and query.shown_change == FAILED):
        return places
    if query.sort == BY_CHANGE:
        return gains.largest_first(places)
    scores = (gains.a if query.sort == BY_BASELINE else gains.b)[places]
    worst_first = -scores if gains.is_lower_better else scores
    return places[np.argsort(worst_first, kind="stable")]  # those without a score are last


def _run(view: CompareView, letter: str) -> tuple[Run, Places]:
    """The run of this letter, and the places of the pairs in it."""
    sides = {
        view.letters[view.pair.a]: (view.baseline, view.pairing.a),
        view.letters[view.pair.b]: (view.candidate, view.pairing.b),
        "B": (view.candidate, view.pairing.b),  # the candidate that is shown, whichever it is
    }
    if letter not in sides:
        raise UsageError(f"{letter[:20]!r} is no run on this page", hint=f"there are {' and '.join(sides)}")
    return sides[letter]


def _meets(view: CompareView, condition: Condition) -> Flags:
    run, rows = _run(view, condition.letter)
    scores = run.scores(full_name(condition.metric, run.measures, run.name))[rows]
    return _SIGNS[condition.sign](scores, condition.number)


def _caused(view: CompareView, written: str) -> Flags:
    """The pairs whose answer in a run has a cause, written `B:not_retrieved`."""
    letter, _, cause = written.rpartition(":")
    run, rows = _run(view, letter or "B")
    if cause not in CAUSES:
        raise UnknownNameError("cause", cause[:60], CAUSES)
    if CAUSE not in run.texts:
        raise UsageError(f"{run.name} has no causes")
    has_cause = pc.fill_null(pc.equal(run.column(CAUSE), cause), False)
    flags: Flags = np.asarray(has_cause.to_numpy(zero_copy_only=False), dtype=np.bool_)[rows]
    return flags


def page_of(places: Places, page: int, size: int) -> Sequence[int]:
    """The places on a page."""
    listed: list[int] = places[(page - 1) * size : page * size].tolist()
    return listed
