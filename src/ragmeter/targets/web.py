"""A target that is only a web page: asked as a person would, in a browser of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from ragmeter.effects.caller import GiveUp, TryAgain
from ragmeter.effects.journal import Reply
from ragmeter.endpoints import check_address, public
from ragmeter.errors import UsageError
from ragmeter.io.cells import whole
from ragmeter.io.write import dumps
from ragmeter.targets.browser import launch, playwright_api
from ragmeter.targets.port import Question
from ragmeter.targets.visit import NAVIGATION_ERROR, PAGE_CRASHED, Page, Visit

_SCRIPT = Path(__file__).with_name("watch.js")


@dataclass(frozen=True)
class Login:
    """How to get in. None of it is written down."""

    storage_state: str | None = None
    credentials: tuple[str, str] | None = field(default=None, repr=False)
    cookies: Sequence[Mapping[str, str]] = field(default=(), repr=False)


class WebTarget:
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
        if not page.input_selector.strip():
            raise UsageError(
                "--input-selector is empty", hint='the CSS selector of the box, for example "#query-input"'
            )
        if login.storage_state is not None and not Path(login.storage_state).is_file():
            raise UsageError(
                f"there is no file {login.storage_state}", hint="--storage-state is a file that Playwright wrote"
            )
        self.page = page
        self.login = login
        self.found_selector: str | None = None
        self.evidence, self.evidence_when = evidence, evidence_when
        self._browser_path, self._headed = browser_path, headed
        self._worked = False
        self._sessions: dict[str, Visit] = {}
        self._idle: list[Visit] = []
        self.name = dumps(self.signature())

    def signature(self) -> dict[str, Any]:
        """The page and how it is used; not how to get in."""
        return {"kind": "web", **vars(self.page), "url": public(self.page.url)}

    async def __aenter__(self) -> Self:
        api = playwright_api()
        self._error, self._timeout = api.Error, api.TimeoutError
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

    async def answer(self, question: Question) -> Reply:
        """Ask on a page: the session's own, or one that is free or new."""
        try:
            return await self._answer(question)
        except GiveUp as problem:
            # What is wrong with the first page is wrong with the call: a selector, an address, a login.
            fatal = None if self._worked else UsageError(problem.cause)
            raise GiveUp(problem.outcome, problem.cause, fatal=fatal) from None

    async def _answer(self, question: Question) -> Reply:
        visit = await self._visit(question)
        try:
            answer = await visit.ask(question.text)
        except (GiveUp, TryAgain):
            await self._keep_evidence(visit, question, failed=True)
            await self._leave(visit, question, broken=True)
            raise
        except self._error as error:
            await self._keep_evidence(visit, question, failed=True)
            await self._leave(visit, question, broken=True)
            outcome = PAGE_CRASHED if visit.crashed or "crash" in str(error).lower() else NAVIGATION_ERROR
            raise TryAgain(outcome, str(error).splitlines()[0][:200]) from None
        self._worked = True
        self.found_selector = visit.selector or self.found_selector
        await self._keep_evidence(visit, question, failed=False)
        await self._leave(visit, question, broken=False)
        return answer.as_reply()

    async def _visit(self, question: Question) -> Visit:
        if question.session_id is not None and question.session_id in self._sessions:
            return self._sessions[question.session_id]
        if self.page.same_page and question.session_id is None and self._idle:
            return self._idle.pop()
        visit = await self._open()
        if question.session_id is not None:
            self._sessions[question.session_id] = visit
            for asked, _ in question.history:  # it was broken off: what was said is said again on the new page
                await visit.ask(asked)
        return visit

    async def _open(self) -> Visit:
        options: dict[str, Any] = {"accept_downloads": False}
        if self.login.storage_state is not None:
            options["storage_state"] = self.login.storage_state
        if self.login.credentials is not None:
            options["http_credentials"] = dict(zip(("username", "password"), self.login.credentials, strict=True))
        context = await self._browser.new_context(**options)
        if self.login.cookies:
            await context.add_cookies([{"url": self.page.url, **cookie} for cookie in self.login.cookies])
        await context.add_init_script(path=str(_SCRIPT))
        return await Visit.begin(self.page, context, self._error)

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
        wanted = self.evidence_when == "always" or (failed and self.evidence_when == "on-failure")
        if self.evidence is None or not wanted:
            return
        self.evidence.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "_", question.qid)[:80] or "question"
        try:
            await visit.page.screenshot(path=str(self.evidence / f"{name}.png"), timeout=5000)
            text = await visit.page.inner_text("body", timeout=5000)
        except self._error as error:  # a page that crashed has nothing to show
            text = f"(the page can't be read: {str(error).splitlines()[0]})"
        said = "\n".join(visit.console[-200:])
        (self.evidence / f"{name}.txt").write_text(
            f"{question.text}\n\n-- page --\n{whole(text)}\n\n-- console --\n{whole(said)}\n", encoding="utf-8"
        )
