"""The app's addresses, and the server that answers them on this machine."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ragmeter.app import wording
from ragmeter.app.all_runs import all_runs
from ragmeter.app.compare_pages import ComparePages
from ragmeter.app.conversations import conversation_page
from ragmeter.app.disagreements import agreed_words, disagreements_page
from ragmeter.app.documents import Documents, document_page, documents_page
from ragmeter.app.downloads import drop, exported_rows, report_page, signed
from ragmeter.app.fields import check_fields, page_number
from ragmeter.app.judge import judge_page
from ragmeter.app.labelling import Labelling, label_page, progress_words
from ragmeter.app.layout import found_runs, page
from ragmeter.app.queries import Database
from ragmeter.app.question_labels import questions_page, record_answer
from ragmeter.app.row_query import RowQuery
from ragmeter.app.run_actions import act, actions_page, restored
from ragmeter.app.run_list import ListQuery, RunList
from ragmeter.app.run_pages import RunPages, run_of, up_to
from ragmeter.app.safety import EVERYWHERE, Guard, Keys, allowed_hosts
from ragmeter.app.snapshots import Snapshot, of_one_moment
from ragmeter.app.watching import events, live
from ragmeter.errors import BusyError, OutputError, RagmeterError, UnknownNameError, UsageError
from ragmeter.io.cells import whole
from ragmeter.io.decoding import JsonObject
from ragmeter.runs.catalogue import RunEntry, run_stamps, tagged
from ragmeter.runs.colours import keep_colours
from ragmeter.runs.layout import Stamp, stamps_of
from ragmeter.runs.run import Run
from ragmeter.runs.status import under_way
from ragmeter.runs.trash import deleted_runs
from ragmeter.show.page import elements
from ragmeter.show.page.elements import address, element, link, text
from ragmeter.wording.texts import shortened

_STATIC = {
    **{f"runs.{kind}": Path(__file__).with_name("static") / f"runs.{kind}" for kind in ("css", "js")},
    "app.css": Path(__file__).with_name("static") / "app.css",
    "app.js": Path(__file__).with_name("static") / "app.js",
    "rows.css": Path(__file__).with_name("static") / "rows.css",
    "rows.js": Path(__file__).with_name("static") / "rows.js",
    "label.js": Path(__file__).with_name("static") / "label.js",
    "htmx.js": Path(__file__).with_name("static") / "htmx" / "htmx-2.0.11.min.js",
    "style.css": Path(elements.__file__).with_name("style.css"),
}
#: How often a run that is replaced just now is read for the list of all runs.
_TRIES = 10
#: Runs that the search for runs shows.
_FINDS = 12

#: The status of an answer that is an error; any other error is ours.
_STATUS = {UnknownNameError: 404, UsageError: 400, BusyError: 409}


class App:
    """The pages over the runs of one folder."""

    def __init__(self, output_dir: Path, labels: Path, keys: Keys, corpus: Path | None = None) -> None:
        self._folder = output_dir
        self._keys = keys
        self._database = Database()
        self._compared = ComparePages(output_dir, self._database, keys, self.entries)
        self._labelling = Labelling(labels)
        self._documents_of_runs = Documents(corpus)
        self._entries: dict[str, tuple[tuple[Stamp, ...], RunEntry]] = {}
        self._reading = Lock()

    def routes(self) -> list[Route]:
        """All addresses of the app, with their pages."""
        runs = RunPages(self._database, self._labelling, self._keys, self.entries)
        return [
            Route("/", self._page(self._all_runs)),
            Route("/run/{name}", self._page(runs.one_run)),
            Route("/run/{name}/row/{place:int}", self._page(runs.one_row)),
            Route("/run/{name}/conversation", self._page(self._conversation, "session", "page")),
            Route("/run/{name}/parts", self._page(runs.parts)),
            Route("/run/{name}/filter", self._page(runs.new_filter)),
            Route("/run/{name}/row/{place:int}/label", self._page(runs.label_row), methods=["POST"]),
            Route("/run/{name}/actions", self._page(self._actions)),
            *(
                Route(f"/run/{{name}}/{action}", self._page(partial(self._act, action)), methods=["POST"])
                for action in ("rename", "tags", "baseline", "delete")
            ),
            Route("/deleted/{key}/restore", self._page(self._restore), methods=["POST"]),
            Route("/run/{name}/documents", self._page(self._documents, "kind", "search", "sort", "descending", "page")),
            Route("/run/{name}/document", self._page(self._document, "id")),
            Route("/run/{name}/label", self._page(self._label, "rater", "blind", "place")),
            Route("/run/{name}/agreement", self._page(self._agreement, "metric", "cell")),
            Route("/run/{name}/disagreements", self._page(self._disagreements, "place")),
            Route("/run/{name}/disagreements/record", self._page(self._agree), methods=["POST"]),
            Route("/run/{name}/label/begin", self._page(self._begin), methods=["POST"]),
            Route("/run/{name}/label/record", self._page(self._record), methods=["POST"]),
            Route("/run/{name}/export/{kind}", self._page(self._export)),
            Route("/run/{name}/report", self._page(self._report)),
            Route("/find", self._page(self._find, "search")),
            Route("/events", self._events),
            Route("/under-way", self._page(lambda _: page(wording.UNDER_WAY, live(under_way(self._folder))))),
            Route("/compare", self._page(self._compared.page)),
            Route("/compare/shared", self._page(self._compared.shared)),
            Route("/compare/export/{kind}", self._page(self._compared.export)),
            Route("/compare/report", self._page(self._compared.report)),
            Route("/compare/keep", self._page(self._compared.keep), methods=["POST"]),
            Route("/static/{file}", _static),
        ]

    def _page(self, answer: Callable[[Request], Any], *fields: str) -> Callable[[Request], Any]:
        """An address whose errors are a page that says what is wrong. A page without `fields` looks at them itself."""

        def respond_of(request: Request, snapshot: Snapshot) -> Response:
            request.state.snapshot = snapshot
            if fields:
                check_fields(request.query_params, fields)
            response: Response = answer(request)
            return response

        def respond(request: Request) -> Response:
            try:
                return of_one_moment(self._folder, partial(respond_of, request), drop, again=_is_read(request))
            except RagmeterError as error:
                status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
                if request.method == "POST":  # a script sent it, and shows what it gets
                    return JSONResponse({"error": str(error)}, status)
                note = element("p", text(error), " ", link(wording.TO_THE_RUNS, address()), class_="note bad")
                return page(wording.ERROR, note, status=status)

        async def respond_with_body(request: Request) -> Response:
            from starlette.concurrency import run_in_threadpool

            try:
                request.state.form = await _json(request) if request.method == "POST" else {}
            except UsageError as error:
                return JSONResponse({"error": str(error)}, 400)
            return await run_in_threadpool(respond, request)

        return respond_with_body

    def entries(self) -> list[RunEntry]:
        """All runs; those that have not changed since the last look are not read again."""
        with self._reading:
            entries: dict[str, tuple[tuple[Stamp, ...], RunEntry]] = {}
            for name, stamps in run_stamps(self._folder).items():
                known = self._entries.get(name)
                entries[name] = known if known and known[0] == stamps else _entry(self._folder / name, stamps)
            self._entries = entries
            keep_colours(self._folder, {name: (entry.created, entry.questions) for name, (_, entry) in entries.items()})
            return tagged((entry for _, entry in self._entries.values()), self._folder)

    def read_ahead(self) -> None:
        """Read the list of runs while the browser starts: thousands of them take a while. Errors are for the page."""
        with suppress(RagmeterError, OSError):
            self.entries()

    def _all_runs(self, request: Request) -> Response:
        query = ListQuery.read(request.query_params)
        content = all_runs(self.entries(), query, live(under_way(self._folder)), deleted_runs(self._folder))
        return page(wording.ALL_RUNS, *content, csrf=self._keys.csrf, own_files="runs")

    def _entry(self, run: Run) -> RunEntry:
        return next(entry for entry in self.entries() if entry.name == run.name)

    def _actions(self, request: Request) -> Response:
        run = run_of(request)
        return page(run.name, actions_page(self._entry(run)), run=run.name)

    def _act(self, action: str, request: Request) -> Response:
        run = run_of(request)
        questions = self._entry(run).questions if action == "baseline" else ""
        return JSONResponse(act(run, action, request.state.form, questions, self._labelling.rename))

    def _restore(self, request: Request) -> Response:
        return JSONResponse(restored(self._folder, request.path_params["key"]))

    def _find(self, request: Request) -> Response:
        """The newest runs that the search of the list finds."""
        query = ListQuery(request.query_params.get("search", ""))
        entries = sorted(RunList.of(self.entries(), query).chosen(), key=lambda entry: entry.created, reverse=True)
        return page(wording.FIND_RUN, found_runs([entry.name for entry in entries if not entry.error][:_FINDS]))

    async def _events(self, request: Request) -> Response:
        return events(self._folder, request)

    def _conversation(self, request: Request) -> Response:
        run = run_of(request)
        session = request.query_params.get("session", "")
        title, number = f"{wording.CONVERSATION} {session}", page_number(request.query_params)
        return page(title, *conversation_page(run, session, number), here=[up_to(run)], run=run.name)

    def _documents(self, request: Request) -> Response:
        run = run_of(request)
        content = documents_page(run, self._documents_of_runs, dict(request.query_params))
        title = f"{wording.DOCUMENTS}: {run.name}"
        return page(title, *content, here=[up_to(run)], active="documents", run=run.name)

    def _document(self, request: Request) -> Response:
        run, document = run_of(request), request.query_params.get("id", "")
        content = document_page(run, self._database, document)
        here = [up_to(run), link(wording.DOCUMENTS, address("run", run.name, "documents"))]
        return page(shortened(document, 200), *content, here=here, active="documents", run=run.name)

    def _label(self, request: Request) -> Response:
        run = run_of(request)
        asked = request.query_params
        if run.manifest().test_set is None:
            content = label_page(run, self._labelling, self._database, asked)
        else:
            content = questions_page(run, self._labelling, asked)
        blind = request.query_params.get("blind") == "1"
        title, here = (wording.LABEL, []) if blind else (f"{wording.LABEL}: {run.name}", [up_to(run)])
        about = "" if blind else run.name  # the rail would name the system
        return page(title, *content, csrf=self._keys.csrf, here=here, active="label", run=about)

    def _agreement(self, request: Request) -> Response:
        run = run_of(request)
        content = judge_page(run, self._labelling.agreement(run), self._database, dict(request.query_params))
        title = f"{wording.JUDGE_PAGE}: {run.name}"
        return page(title, *content, here=[up_to(run)], active="judge", run=run.name)

    def _disagreements(self, request: Request) -> Response:
        run = run_of(request)
        content = disagreements_page(run, self._labelling, self._database, request.query_params)
        return page(wording.DISAGREEMENTS, *content, csrf=self._keys.csrf, active="label")  # nobody's name stands there

    def _agree(self, request: Request) -> Response:
        form = request.state.form
        note = None if form.get("note") is None else str(form["note"])
        label, seen, shown = (str(form.get(name, "")) for name in ("label", "seen", "shown"))
        agreement = self._labelling.agree(run_of(request), _whole(form, "place"), label, note, seen, shown)
        total, left = len(agreement.disagreements), len(agreement.open)
        return _saved(label, total - left, agreed_words(total, left))

    def _begin(self, request: Request) -> Response:
        run, form = run_of(request), request.state.form
        rater = whole(str(form.get("rater", "")))[:60]
        strata = form.get("strata")
        columns = [str(name) for name in strata] if isinstance(strata, list) else []
        self._labelling.begin(run, rater, _whole(form, "n"), str(form.get("by", "")), _whole(form, "seed"), columns)
        blind = 1 if form.get("blind") else 0
        return JSONResponse({"next": address("run", run.name, "label", rater=rater, blind=blind)})

    def _record(self, request: Request) -> Response:
        run, form = run_of(request), request.state.form
        label, rater = str(form.get("label", "")), whole(str(form.get("rater", "")))
        if run.manifest().test_set is not None:
            total, left = record_answer(run, self._labelling, _whole(form, "place"), label)
            return _saved(label, total - left, progress_words(total, left))
        note, seen, shown = (None if form.get(name) is None else str(form[name]) for name in ("note", "seen", "shown"))
        sheet = self._labelling.record(run, rater, _whole(form, "place"), label, note, seen, shown)
        total, left = len(sheet.rows), sum(not row["label"] for row in sheet.rows)
        return _saved(label, total - left, progress_words(total, left))

    def _export(self, request: Request) -> Response:
        """The rows that a run's page shows, all of them, as a file."""
        run = run_of(request)
        query = RowQuery.of(run, request.query_params)
        file = exported_rows(run, self._database, query, request.path_params["kind"])
        return signed(file, request.query_params)

    def _report(self, request: Request) -> Response:
        """The page that can be sent to others."""
        return signed(report_page([run_of(request)]), request.query_params)


async def _json(request: Request) -> JsonObject:
    """The body of a write: a small JSON object."""
    import json

    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > 100_000:
            raise UsageError("what was sent is too large: at most 100,000 bytes")
    try:
        form = json.loads(body)
    except (ValueError, RecursionError):
        raise UsageError("what was sent is no JSON") from None
    if not isinstance(form, dict):
        raise UsageError("what was sent is no JSON object")
    return form


def _whole(form: JsonObject, name: str) -> int:
    try:
        return int(form[name])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise UsageError(f"{name} must be a whole number") from None


def _saved(label: str, done: int, progress: str) -> Response:
    """Says that a label is in its file, and how many rows are done."""
    return JSONResponse({"saved": label, "done": done, "progress": progress})


def _entry(path: Path, stamps: tuple[Stamp, ...]) -> tuple[tuple[Stamp, ...], RunEntry]:
    """A run's entry, and the stamps of the files that it was read from: anew where the run was replaced meanwhile."""
    for _ in range(_TRIES):
        entry, before = RunEntry.of(path).with_fingerprint(), stamps
        stamps = stamps_of(path)
        if stamps == before:
            break
    return stamps, entry


def _is_read(request: Request) -> bool:
    """Whether a request changes nothing, so that it may be answered twice."""
    return request.method in ("GET", "HEAD")


def _static(request: Request) -> Response:
    path = _STATIC.get(request.path_params["file"])
    return PlainTextResponse("There is no such file.\n", 404) if path is None else FileResponse(path)


def make_app(output_dir: Path, host: str, port: int, labels: Path, keys: Keys, corpus: Path | None = None) -> Guard:
    """The whole app, guarded."""
    app = App(output_dir, labels, keys, corpus)
    Thread(target=app.read_ahead, daemon=True).start()
    return Guard(_starlette(app), keys, allowed_hosts(host, port))


def _no_page(request: Request, _: Exception) -> Response:
    """An address that no page has."""
    return page(wording.ERROR, element("p", wording.NO_PAGE, class_="note bad"), status=404)


def _starlette(app: App) -> Starlette:
    starlette = Starlette(routes=app.routes(), exception_handlers={404: _no_page})
    starlette.router.redirect_slashes = False
    return starlette


def listen(host: str, port: int) -> socket.socket:
    """A socket at this address; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)  # from now on connections wait until the server takes them
    except OSError as error:
        listener.close()
        raise OutputError(f"can't listen on {host}:{port}: {error.strerror}", hint="choose another port") from error
    return listener


def serve(
    output_dir: Path, host: str, port: int, labels: Path, opened: Callable[[str], None], corpus: Path | None = None
) -> None:
    """Serve until Ctrl-C. `opened` gets the address with its token once the server listens."""
    import uvicorn

    keys = Keys()
    with listen(host, port) as listener:
        bound = listener.getsockname()[1]
        app = make_app(output_dir, host, bound, labels, keys, corpus)
        shown = "127.0.0.1" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
        # Its own set-up of logs would close the handlers of everybody else in this process.
        config = uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=2
        )
        server = uvicorn.Server(config)
        opened(f"http://{shown}:{bound}/?token={keys.token}")
        server.run(sockets=[listener])
