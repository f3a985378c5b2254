"""The pages of a run and of a row, by their addresses."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ragmeter.app import wording
from ragmeter.app.figures import Figures
from ragmeter.app.labelling import Labelling
from ragmeter.app.layout import page
from ragmeter.app.one_row import MOST_OTHERS, one_row
from ragmeter.app.one_run import Surroundings, damaged_run, one_run
from ragmeter.app.queries import Database
from ragmeter.app.row_labels import label_row
from ragmeter.app.row_query import RowQuery
from ragmeter.app.rows_table import new_filter
from ragmeter.app.run_parts import run_parts
from ragmeter.app.safety import Keys
from ragmeter.errors import InputError, UnknownNameError, UsageError
from ragmeter.io.cells import whole
from ragmeter.runs.catalogue import RunEntry
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Markup, address, link, text


class RunPages:
    """The pages of a run. `entries` are those of the list of all runs."""

    def __init__(
        self, database: Database, labelling: Labelling, keys: Keys, entries: Callable[[], list[RunEntry]]
    ) -> None:
        self._database = database
        self._labelling = labelling
        self._keys = keys
        self._entries = entries
        self._figures = Figures(database)

    def one_run(self, request: Request) -> Response:
        run = run_of(request)
        try:
            opened = _opened(run, request)
        except InputError as error:  # its summary can be read, and its rows can't
            return page(run.name, *damaged_run(run, error), run=run.name, heading=None, status=500)
        query = RowQuery.of(run, request.query_params)
        row = None if opened is None else self._row(request, run, query, opened, in_drawer=True)
        content = one_run(run, self._database, query, self._figures, self._around(run), row, opened)
        return page(run.name, *content, csrf=self._keys.csrf, run=run.name, heading=None)

    def _around(self, run: Run) -> Surroundings:
        """The run's tags, and the other runs of its questions, the newest first."""
        entries = sorted(self._entries(), key=lambda entry: entry.created, reverse=True)
        own = next((entry for entry in entries if entry.name == run.name), None)
        if own is None:
            return Surroundings()
        others = [
            entry
            for entry in entries
            if entry.questions and entry.questions == own.questions and entry.name != own.name
        ]
        return Surroundings(own.tags, others, own.created)

    def parts(self, request: Request) -> Response:
        """The figures over all rows of a large run, which its page asks for once it is there."""
        run = run_of(request)
        query = RowQuery.of(run, request.query_params)
        return page(run.name, run_parts(run, run.summary(), query, self._figures, wait=True), run=run.name)

    def new_filter(self, request: Request) -> Response:
        """The controls that fit the values of a column."""
        return page(wording.FILTER, new_filter(run_of(request), request.query_params.get("column", ""), self._figures))

    def one_row(self, request: Request) -> Response:
        run = run_of(request)
        query = RowQuery.of(run, request.query_params)
        in_drawer = request.headers.get("hx-request") == "true"
        place = request.path_params["place"]
        content = self._row(request, run, query, place, in_drawer=in_drawer)
        return page(
            f"{wording.ROW} {place + 1}", content, csrf=self._keys.csrf, here=[up_to(run)], run=run.name, heading=None
        )

    def _row(self, request: Request, run: Run, query: RowQuery, place: int, *, in_drawer: bool) -> Markup:
        if place >= run.n_rows:
            raise UnknownNameError("row", str(place), [])
        names = [entry.name for entry in self._around(run).others[:MOST_OTHERS]]
        others = [request.state.snapshot.run(name) for name in names]
        return one_row(run, self._database, query, place, others, in_drawer=in_drawer)

    def label_row(self, request: Request) -> Response:
        """A person's label of a row; without one, the label that they have given it."""
        form = request.state.form
        rater, shown = (str(form.get(name) or "") for name in ("rater", "shown"))
        label = None if form.get("label") is None else str(form["label"])
        place = request.path_params["place"]
        given = label_row(run_of(request), self._labelling, place, whole(rater), label, shown)
        return JSONResponse({"label": given})


def run_of(request: Request) -> Run:
    """The run that the address names."""
    run: Run = request.state.snapshot.run(request.path_params["name"])
    return run


def up_to(run: Run) -> Markup:
    """A link to a run, from its other pages."""
    return link(text(run.name), address("run", run.name))


def _opened(run: Run, request: Request) -> int | None:
    """The place of the row that is open beside the table."""
    written, n_rows = request.query_params.get("row", ""), run.n_rows
    if written and not (written.isascii() and written.isdigit() and int(written[:12]) < n_rows):
        raise UsageError(f"{run.name} has no row {written[:40]!r}")
    return int(written) if written else None
