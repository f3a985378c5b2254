"""The addresses of Compare: the page, its rows as a file, its report, and the comparison kept with the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ragmeter.analysis.comparing.row_pairs import pair
from ragmeter.app import wording
from ragmeter.app.compare import compare_page
from ragmeter.app.compare_query import CompareQuery, ordered
from ragmeter.app.compare_rows import chosen_pairs, shown_metric
from ragmeter.app.compared import Comparisons, chosen_settings
from ragmeter.app.compared import keep as keep_comparison
from ragmeter.app.downloads import exported_pairs, report_page, signed
from ragmeter.app.layout import page as whole_page
from ragmeter.app.queries import Database
from ragmeter.app.safety import Keys
from ragmeter.errors import UsageError
from ragmeter.io.decoding import JsonObject
from ragmeter.runs.baselines import read_baselines
from ragmeter.runs.catalogue import RunEntry
from ragmeter.runs.run import Run
from ragmeter.show.page.compare.view import Addresses

#: Runs that can be chosen.
_PICKED = 200


class ComparePages:
    """Compare over the runs of one folder; `entries` lists them."""

    def __init__(self, folder: Path, database: Database, keys: Keys, entries: Callable[[], list[RunEntry]]) -> None:
        self._folder, self._database, self._keys, self._entries = folder, database, keys, entries
        self._comparisons = Comparisons()

    def _compared_runs(self, request: Request) -> list[Run]:
        """The runs that an address of Compare names, the baseline first."""
        query = request.query_params
        baseline = query.get("baseline", "")
        names = dict.fromkeys(name for name in (baseline, *query.getlist("run")) if name)
        if not baseline:  # that which was set as baseline of its questions, if it is among them
            baseline = next((name for name in read_baselines(self._folder).values() if name in names), "")
        return ordered([request.state.snapshot.run(name) for name in names], baseline)

    def page(self, request: Request) -> Response:
        runs = self._compared_runs(request)
        query = CompareQuery.read(request.query_params, runs)
        at_once = request.headers.get("HX-Request") == "true"
        content = compare_page(runs, query, self._pickable(runs), self._comparisons, self._database, at_once=at_once)
        title = " · ".join([wording.COMPARE, *(run.name for run in runs)])
        return whole_page(title, content, csrf=self._keys.csrf, active="compare", heading=None)

    def _pickable(self, runs: Sequence[Run]) -> list[str]:
        """The runs that can be chosen, the newest first, and before all others those of the same questions."""
        entries = sorted(
            (entry for entry in self._entries() if not entry.error), key=lambda of: of.created, reverse=True
        )
        of_page = {entry.questions for entry in entries if entry.name in [run.name for run in runs]}
        return [entry.name for entry in sorted(entries, key=lambda of: of.questions not in of_page)][:_PICKED]

    def keep(self, request: Request) -> Response:
        """Make the comparison that a form's fields describe, as an address does, and keep it with the runs."""
        fields = QueryParams([(name, value) for name, value in _pairs(request.state.form)])
        names = dict.fromkeys(name for name in (fields.get("baseline", ""), *fields.getlist("run")) if name)
        runs = ordered([request.state.snapshot.run(name) for name in names], fields.get("baseline", ""))
        if len(runs) < 2:
            raise UsageError("choose the runs to compare")
        query = CompareQuery.read(fields, runs)
        keep_comparison(runs, chosen_settings(runs, query).settings)
        return JSONResponse({"next": query.address()})

    def shared(self, request: Request) -> Response:
        """How many questions of the first run each other one has, at least."""
        first, *others = self._compared_runs(request)
        counts = [len(pairing) - pairing.questions_differ for pairing in (pair(first, other) for other in others)]
        return JSONResponse({"shared": min(counts, default=0)})

    def export(self, request: Request) -> Response:
        """The rows that Compare lists, all of them, as a file."""
        runs = self._compared_runs(request)
        query = CompareQuery.read(request.query_params, runs)
        view = self._comparisons.view(runs, chosen_settings(runs, query), query.candidate, Addresses())
        _, places = chosen_pairs(view, self._database, query)
        metric, chosen = shown_metric(view, query), [query.shown_change, *query.filters, query.search]
        file = exported_pairs(view, metric, places.tolist(), request.path_params["kind"], chosen)
        return signed(file, request.query_params)

    def report(self, request: Request) -> Response:
        runs = self._compared_runs(request)
        query = CompareQuery.read(request.query_params, runs)
        view = self._comparisons.view(runs, chosen_settings(runs, query), query.candidate, Addresses())
        return signed(report_page(runs, view.comparison), request.query_params)


def _pairs(form: JsonObject) -> Iterator[tuple[str, str]]:
    """The fields of a form in JSON, a list's values one by one."""
    for name, values in form.items():
        for value in values if isinstance(values, list) else [values]:
            yield name, str(value)
