"""A target that is a web page: questions are typed into it in a browser."""

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
from ragmeter.targets.browser import launch, playwright_api, start_playwright
from ragmeter.targets.port import Question, Target
from ragmeter.targets.visit import BLOCKED, NAVIGATION_ERROR, PAGE_CRASHED, Page, Visit, first_line

Result = TypeVar("Result")
_SCRIPT = Path(__file__).with_name("watch.js")
#: Timeouts for a screenshot and for a frame's text, in milliseconds; generous, for a busy machine.
_SCREENSHOT, _READ = 30_000, 10_000


@dataclass(frozen=True)
class Login:
    """Credentials for the page. They are never written to a file."""

    storage_state: str | None = None
    credentials: tuple[str, str] | None = field(default=None, repr=False)
    cookies: Sequence[Mapping[str, str]] = field(default=(), repr=False)

    def options(self, url: str) -> dict[str, Any]:
        """Options for a browser context. The password is sent only to the page's own host."""
        options: dict[str, Any] = {"accept_downloads": False}
        if self.storage_state is not None:
            options["storage_state"] = self.storage_state
        if self.credentials is not None:
            address = urlsplit(url)
            user, password = self.credentials
            origin = f"{address.scheme}://{address.netloc}"
            options["http_credentials"] = {"username": user, "password": password, "origin": origin}
        return options


class WebTarget(Target):
    """Uses pages in isolated contexts of one browser. A session keeps its page, and so its conversation."""

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
                hint='give the CSS selector of the input box, for example "#query-input"',
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
        # Answers depend on the whole address, whose query may be secret (hence a hash), but not on timeouts.
        whole_url = hashlib.sha256(page.url.encode()).hexdigest()[:16]
        irrelevant = {"timeout": None, "any_host": None}
        self.name = dumps({**self.signature(), **irrelevant, "address": whole_url})

    def signature(self) -> dict[str, Any]:
        """The page and how it is used; no credentials."""
        return {"kind": "web", **vars(self.page), "url": public(self.page.url)}

    async def __aenter__(self) -> Self:
        api = playwright_api()
        self._starting = asyncio.Lock()
        self._error = api.Error
        self._playwright = await start_playwright()
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
        """Use other selectors from now on, on open pages too."""
        self.page = page
        for visit in self._sessions.values():
            visit.how = page

    async def open(self, question: Question) -> None:
        """Open the page of a session, before its first question."""
        await self._explained(self._visit_of(question))

    async def answer(self, question: Question) -> Reply:
        """Ask on a page: the session's own, or one that is free or new."""
        return await self._explained(self._answer(question))

    async def _explained(self, work: Awaitable[Result]) -> Result:
        try:
            return await work
        except GiveUp as problem:
            # If the first page fails, the call is wrong (a selector, an address, a login): stop the run.
            has_evidence = self.evidence is not None and self.evidence.exists()
            hint = f"a screenshot and the page's text are in {self.evidence}/" if has_evidence else ""
            fatal = None if self._worked else UsageError(problem.cause, hint=hint)
            raise GiveUp(problem.outcome, problem.cause, fatal=fatal) from None

    async def _answer(self, question: Question) -> Reply:
        visit = await self._visit_of(question)
        try:
            for earlier, _ in question.history if visit.asked == 0 else ():
                await visit.ask(earlier)  # a resumed conversation: its earlier turns are asked again on the new page
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
        """The open page for a question."""
        try:
            visit = await self._visit(question)
        except self._error as error:
            reason = first_line(error).rstrip(":")
            if self._browser.is_connected() and self.login != Login():
                raise GiveUp(BLOCKED, f"the browser can't use this login: {reason}") from None
            raise TryAgain(PAGE_CRASHED, f"the browser can't open a page: {reason}") from None
        try:
            if not visit.opened:
                await visit.open()
        except (GiveUp, TryAgain, self._error) as error:
            raise await self._failed(visit, question, error) from None
        return visit

    async def _failed(self, visit: Visit, question: Question, error: Exception) -> Exception:
        """Close a page that failed, and return the error to raise."""
        await self._keep_evidence(visit, question, failed=True)
        await self._leave(visit, question, broken=True)
        if not isinstance(error, self._error):
            return error
        gone = visit.crashed or not self._browser.is_connected() or "crash" in str(error).lower()
        return TryAgain(PAGE_CRASHED if gone else NAVIGATION_ERROR, first_line(error))

    async def _visit(self, question: Question) -> Visit:
        """The session's own page, an idle one, or a new one that is not opened yet."""
        if question.session_id is not None:
            own = self._sessions.get(question.session_id)
            if own is not None and not own.gone:
                return own
        while question.session_id is None and self._idle:
            idle = self._idle.pop()
            if not idle.gone:
                return idle
        visit = await self._new()
        if question.session_id is not None:
            self._sessions[question.session_id] = visit
        return visit

    async def _new(self) -> Visit:
        async with self._starting:
            if not self._browser.is_connected():  # the browser was killed, perhaps for memory
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
                return  # the next turn is asked on the same page
        elif self.page.same_page and not broken:
            self._idle.append(visit)
            return
        await visit.close()

    async def end(self, session_id: str | None) -> None:
        """Close the page of a session that has ended."""
        visit = self._sessions.pop(session_id, None) if session_id is not None else None
        if visit is not None:
            await visit.close()

    async def _keep_evidence(self, visit: Visit, question: Question, *, failed: bool) -> None:
        """Write a screenshot, the page's text and its console output."""
        if self.evidence is None:
            return
        name = re.sub(r"[^\w.-]+", "_", question.qid)[:80]
        if name != question.qid:  # two qids may have become equal
            name += "-" + hashlib.sha256(question.qid.encode("utf-8", "replace")).hexdigest()[:8]
        screenshot, text_file = (self.evidence / f"{name}{ending}" for ending in (".png", ".txt"))
        if self.evidence_when == "never" or not (failed or self.evidence_when == "always"):
            screenshot.unlink(missing_ok=True)  # from an earlier attempt that failed
            text_file.unlink(missing_ok=True)
            return
        self.evidence.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            await visit.page.screenshot(path=str(screenshot), timeout=_SCREENSHOT)
            frames = [await frame.inner_text("body", timeout=_READ) for frame in visit.page.frames]
            text = "\n\n-- frame --\n".join(frames)
        except self._error as error:  # a crashed page shows nothing
            text = f"(the page can't be read: {first_line(error)})"
        console = "\n".join(visit.console)
        content = f"{whole(question.text)}\n\n-- page --\n{whole(text)}\n\n-- console --\n{whole(console)}\n"
        text_file.write_text(content, encoding="utf-8")
