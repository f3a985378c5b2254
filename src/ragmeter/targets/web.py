"""A target that is only a web page: asked as a person would, in a browser of its own."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from ragmeter.effects.caller import GiveUp, TryAgain
from ragmeter.effects.journal import Reply
from ragmeter.effects.wire import check_address, public
from ragmeter.errors import UsageError
from ragmeter.hints import parameter
from ragmeter.io.cells import whole
from ragmeter.io.write import dumps
from ragmeter.targets.browser import launch, playwright_api
from ragmeter.targets.port import Question, Target
from ragmeter.targets.visit import BLOCKED, NAVIGATION_ERROR, PAGE_CRASHED, Page, Visit, first_line

Result = TypeVar("Result")
_SCRIPT = Path(__file__).with_name("watch.js")
#: How long a page may take to be drawn and read for the evidence, in milliseconds; a busy machine is slow at it.
_DRAWN, _READ = 30_000, 10_000


@dataclass(frozen=True)
class Login:
    """How to get in. None of it is written down."""

    storage_state: str | None = None
    credentials: tuple[str, str] | None = field(default=None, repr=False)
    cookies: Sequence[Mapping[str, str]] = field(default=(), repr=False)

    def options(self, url: str) -> dict[str, Any]:
        """What a browser's context needs for it. The password goes to the page's own host and to no other."""
        options: dict[str, Any] = {"accept_downloads": False}
        if self.storage_state is not None:
            options["storage_state"] = self.storage_state
        if self.credentials is not None:
            named = urlsplit(url)
            user, password = self.credentials
            origin = f"{named.scheme}://{named.netloc}"
            options["http_credentials"] = {"username": user, "password": password, "origin": origin}
        return options


class WebTarget(Target):
    """Drives pages in isolated contexts of one browser. A session keeps its page, and so its conversation."""

    def __init__(
        self,
        page: Page,
        login: Login = Login(),  # noqa: B008 - frozen
        *,
        browser_path: str | None = None,
        headed: bool = False,
        evidence: Path | None = None,
        evidence_when: str = "on-failure",
    ) -> None:
        check_address(page.url, "http://localhost:8000/")
        if page.input_selector is not None and not page.input_selector.strip():
            raise UsageError(
                f"{parameter('input_selector')} is empty",
                hint='the CSS selector of the box, for example "#query-input"',
            )
        if login.storage_state is not None and not Path(login.storage_state).is_file():
            raise UsageError(
                f"there is no file {login.storage_state}",
                hint=f"{parameter('storage_state')} is a file that Playwright wrote",
            )
        self.page = page
        self.login = login
        self.found_selector: str | None = None
        self.found_box: str | None = None
        self.evidence, self.evidence_when = evidence, evidence_when
        self._browser_path, self._headed = browser_path, headed
        self._worked = False
        self._sessions: dict[str, Visit] = {}
        self._idle: list[Visit] = []
        # Answers depend on the whole address, whose query may be secret, and not on how long they are waited for.
        whole_url = hashlib.sha256(page.url.encode()).hexdigest()[:16]
        patience = {"timeout": None, "any_host": None}
        self.name = dumps({**self.signature(), **patience, "address": whole_url})

    def signature(self) -> dict[str, Any]:
        """The page and how it is used; not how to get in."""
        return {"kind": "web", **vars(self.page), "url": public(self.page.url)}

    async def __aenter__(self) -> Self:
        api = playwright_api()
        self._starting = asyncio.Lock()
        self._error = api.Error
        self._playwright = await api.async_playwright().start()
        try:
            self._browser = await launch(self._playwright, self._browser_path, headed=self._headed)
        except BaseException:
            await self._playwright.stop()
            raise
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._browser.close()
        await self._playwright.stop()

    def use(self, page: Page) -> None:
        """Use the pages of sessions in this way from now on: with other selectors, on the same address."""
        self.page = page
        for visit in self._sessions.values():
            visit.how = page

    async def open(self, question: Question) -> None:
        """Open the page of a session before it is asked anything."""
        await self._explained(self._visit_of(question))

    async def answer(self, question: Question) -> Reply:
        """Ask on a page: the session's own, or one that is free or new."""
        return await self._explained(self._answer(question))

    async def _explained(self, work: Awaitable[Result]) -> Result:
        try:
            return await work
        except GiveUp as problem:
            # What is wrong with the first page is wrong with the call: a selector, an address, a login.
            kept = self.evidence is not None and self.evidence.exists()
            hint = f"what the page showed is in {self.evidence}/" if kept else ""
            fatal = None if self._worked else UsageError(problem.cause, hint=hint)
            raise GiveUp(problem.outcome, problem.cause, fatal=fatal) from None

    async def _answer(self, question: Question) -> Reply:
        visit = await self._visit_of(question)
        try:
            for asked, _ in question.history if visit.asked == 0 else ():
                await visit.ask(asked)  # it was broken off: what was said is said again on the new page
            answer = await visit.ask(question.text)
        except (GiveUp, TryAgain, self._error) as error:
            raise await self._failed(visit, question, error) from None
        self._worked = True
        self.found_selector = visit.selector or self.found_selector
        self.found_box = visit.box or self.found_box
        await self._keep_evidence(visit, question, failed=False)
        await self._leave(visit, question, broken=False)
        return answer.as_reply()

    async def _visit_of(self, question: Question) -> Visit:
        """The page for a question, open."""
        try:
            visit = await self._visit(question)
        except self._error as error:
            said = first_line(error).rstrip(":")
            if self._browser.is_connected() and self.login != Login():
                raise GiveUp(BLOCKED, f"the browser can't use this login: {said}") from None
            raise TryAgain(PAGE_CRASHED, f"the browser gives no page: {said}") from None
        try:
            if not visit.opened:
                await visit.open()
        except (GiveUp, TryAgain, self._error) as error:
            raise await self._failed(visit, question, error) from None
        return visit

    async def _failed(self, visit: Visit, question: Question, error: Exception) -> Exception:
        """Leave a page that failed, and say what that comes to."""
        await self._keep_evidence(visit, question, failed=True)
        await self._leave(visit, question, broken=True)
        if not isinstance(error, self._error):
            return error
        gone = visit.crashed or not self._browser.is_connected() or "crash" in str(error).lower()
        return TryAgain(PAGE_CRASHED if gone else NAVIGATION_ERROR, first_line(error))

    async def _visit(self, question: Question) -> Visit:
        """The session's own page, one that is free, or a new one, which is still to be opened."""
        if question.session_id is not None:
            held = self._sessions.get(question.session_id)
            if held is not None and not held.gone:
                return held
        while question.session_id is None and self._idle:
            free = self._idle.pop()
            if not free.gone:
                return free
        visit = await self._new()
        if question.session_id is not None:
            self._sessions[question.session_id] = visit
        return visit

    async def _new(self) -> Visit:
        async with self._starting:
            if not self._browser.is_connected():  # it was killed, for memory perhaps
                self._browser = await launch(self._playwright, self._browser_path, headed=self._headed)
        context = await self._browser.new_context(**self.login.options(self.page.url))
        if self.login.cookies:
            await context.add_cookies([{"url": self.page.url, **cookie} for cookie in self.login.cookies])
        await context.add_init_script(path=str(_SCRIPT))
        tab = await context.new_page()
        return Visit(self.page, context, tab, self._error, password=self.login.credentials is not None)

    async def _leave(self, visit: Visit, question: Question, *, broken: bool) -> None:
        if question.session_id is not None:
            if broken:
                self._sessions.pop(question.session_id, None)
            else:
                return  # the next turn comes on the same page
        elif self.page.same_page and not broken:
            self._idle.append(visit)
            return
        await visit.close()

    async def end(self, session_id: str | None) -> None:
        """A session has come to its end: its page is no longer needed."""
        visit = self._sessions.pop(session_id, None) if session_id is not None else None
        if visit is not None:
            await visit.close()

    async def _keep_evidence(self, visit: Visit, question: Question, *, failed: bool) -> None:
        """A screenshot, the page's text and its console's errors."""
        if self.evidence is None:
            return
        name = re.sub(r"[^\w.-]+", "_", question.qid)[:80]
        if name != question.qid:  # two may look the same now
            name += "-" + hashlib.sha256(question.qid.encode("utf-8", "replace")).hexdigest()[:8]
        picture, words = (self.evidence / f"{name}{ending}" for ending in (".png", ".txt"))
        if self.evidence_when == "never" or not (failed or self.evidence_when == "always"):
            picture.unlink(missing_ok=True)  # of an attempt that failed, before this one
            words.unlink(missing_ok=True)
            return
        self.evidence.mkdir(parents=True, exist_ok=True)
        try:
            await visit.page.screenshot(path=str(picture), timeout=_DRAWN)
            frames = [await frame.inner_text("body", timeout=_READ) for frame in visit.page.frames]
            text = "\n\n-- frame --\n".join(frames)
        except self._error as error:  # a page that crashed has nothing to show
            text = f"(the page can't be read: {first_line(error)})"
        said = "\n".join(visit.console)
        words.write_text(
            f"{whole(question.text)}\n\n-- page --\n{whole(text)}\n\n-- console --\n{whole(said)}\n", encoding="utf-8"
        )
