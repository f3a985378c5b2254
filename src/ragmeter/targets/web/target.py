"""A target that is a web page: questions are typed into it in a browser."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Self, TypedDict, TypeVar
from urllib.parse import urlsplit

from ragmeter.effects.limits.caller import GiveUp, TryAgain
from ragmeter.effects.network.wire import check_address
from ragmeter.effects.replies.journal import Reply
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller, parameter
from ragmeter.io.addresses import public
from ragmeter.io.write import dumps
from ragmeter.naming import Signature
from ragmeter.table import BLOCKED, NAVIGATION_ERROR, PAGE_CRASHED, TARGET_ERROR, TIMEOUT, UNSURE
from ragmeter.targets.port import Question, Target
from ragmeter.targets.web.browser import launch, playwright_api, start_playwright
from ragmeter.targets.web.contexts import Contexts
from ragmeter.targets.web.evidence import drop_evidence, keep_evidence
from ragmeter.targets.web.learning.reading import Reading
from ragmeter.targets.web.origin import Gate
from ragmeter.targets.web.page import Page, first_line
from ragmeter.targets.web.profile import ENTER, Profile, shown
from ragmeter.targets.web.turns import Slot, Turns
from ragmeter.targets.web.visit import Visit

Result = TypeVar("Result")
#: Our script for every page, in this order.
_SCRIPTS = tuple(f"{name}.js" for name in ("dom", "text", "tree", "rule", "errors", "work", "dialogs", "steps", "page"))
#: Seconds that the browser may take to make a page, and to end; generous, for a busy machine.
_MAKES, _ENDS = 120.0, 30.0


class ContextOptions(TypedDict, total=False):
    """The options of Playwright's `new_context` that are used here."""

    accept_downloads: bool
    storage_state: str
    http_credentials: dict[str, str]
    proxy: dict[str, str]


@dataclass(frozen=True)
class Login:
    """Credentials for the page. They are never written to a file."""

    storage_state: str | None = None
    credentials: tuple[str, str] | None = field(default=None, repr=False)
    cookies: Sequence[Mapping[str, str]] = field(default=(), repr=False)

    def options(self, url: str) -> ContextOptions:
        """Options for a browser context. The password is sent only to the page's own host."""
        options: ContextOptions = {"accept_downloads": False}
        if self.storage_state is not None:
            options["storage_state"] = self.storage_state
        if self.credentials is not None:
            address = urlsplit(url)
            user, password = self.credentials
            origin = f"{address.scheme}://{address.netloc}"
            options["http_credentials"] = {"username": user, "password": password, "origin": origin}
        return options


class WebTarget(Target):
    """Uses pages in isolated contexts of one browser. A session keeps its page, and so its conversation.

    While an answer that seems to be complete is only watched, the next question begins; its page is opened before.
    """

    overlap = 4

    def __init__(
        self,
        page: Page,
        login: Login = Login(),  # noqa: B008 - frozen
        *,
        profile: Profile | None = None,
        browser_path: str | None = None,
        headed: bool = False,
        evidence: Path | None = None,
        evidence_when: str = "on-failure",
    ) -> None:
        instead = by_caller("--http-user NAME, and RAGMETER_HTTP_PASSWORD", "Login(credentials=...)")
        check_address(page.url, "http://localhost:8000/", instead)
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
        if page.any_host and page.same_origin_only:
            both = f"{parameter('any_host')} and {parameter('same_origin_only')}"
            raise UsageError(f"{both} contradict each other", hint="choose one of them")
        self.page = page if profile is None else used_by(profile, page)
        self.login = login
        self._profile = profile
        self.found_box: str | None = None
        self.evidence, self.evidence_when = evidence, evidence_when
        self.blocked: Counter[str] = Counter()  # connections to other origins that were refused, by host and port
        self._browser_path, self._headed = browser_path, headed
        self._worked = False
        self._discarded: Any = None  # a browser that did not respond
        self._sessions: dict[str, Visit] = {}
        self._idle: list[Visit] = []
        self._contexts = Contexts()
        self.reading = Reading(page.given()) if profile is None else Reading(profile, final=True)
        self.known: dict[str, Reply] = {}  # answers that were read while the page was learnt, by qid
        self._workers: int | None = None
        self._slots: asyncio.Semaphore | None = None  # for pages that answer
        self._ahead: asyncio.Semaphore | None = None  # for these, and for pages that are opened before it is their turn
        # Answers depend on the whole address, whose query may be secret (hence a hash), but not on timeouts.
        whole_url = hashlib.sha256(page.url.encode()).hexdigest()[:16]
        irrelevant = {"timeout": None, "any_host": None}
        self.name = dumps({**self.signature(), **irrelevant, "address": whole_url})

    def read_by(self, profile: Profile) -> None:
        """Read answers by this profile from now on."""
        self.reading = Reading(profile, final=True)
        self.page = used_by(profile, self.page)

    def signature(self) -> Signature:
        """The page and how it is used; no credentials."""
        by = (
            {} if self._profile is None else {"profile": hashlib.sha256(shown(self._profile).encode()).hexdigest()[:16]}
        )
        return {"kind": "web", **vars(self.page), "url": public(self.page.url), **by}

    def limit(self, workers: int) -> None:
        """The number of pages that answer at the same time. On the same page, a question waits for the one before."""
        self._workers = workers
        self.overlap = 1 if self.page.same_page else type(self).overlap

    async def __aenter__(self) -> Self:
        api = playwright_api()
        self._slots = asyncio.Semaphore(self._workers) if self._workers else None
        self._ahead = asyncio.Semaphore(2 * self._workers) if self._workers else None
        self._starting = asyncio.Lock()
        self._turns, self._contexts = Turns(), Contexts()
        self._error = api.Error
        self._playwright = await start_playwright()
        try:
            self._browser = await self._launch()
        except BaseException:
            await self._playwright.stop()
            raise
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._contexts.close()
        await self._discard(self._browser)
        await self._ended(self._playwright.stop())

    async def _launch(self) -> Any:
        own_origin = self.page.same_origin_only
        return await launch(self._playwright, self._browser_path, headed=self._headed, own_origin=own_origin)

    async def _discard(self, browser: Any) -> None:
        """End a browser: its pages are lost, and the next page gets a new one."""
        self._discarded = browser
        await self._ended(browser.close())

    async def _ended(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait until something has ended, but not for ever: what does not end by itself ends with this process."""
        with suppress(TimeoutError, self._error):
            async with asyncio.timeout(_ENDS):
                await work

    def use(self, page: Page) -> None:
        """Use other selectors from now on, on open pages too."""
        self.page = page
        for visit in self._sessions.values():
            visit.how = page

    def open_visit(self, session_id: str) -> Visit | None:
        """The open page of a session, if there is one."""
        visit = self._sessions.get(session_id)
        return None if visit is None or visit.gone else visit

    async def open(self, question: Question) -> None:
        """Open the page of a session, before its first question."""
        await self._explained(self.visit_of(question))

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
            ours = not self._worked and problem.outcome not in (TARGET_ERROR, UNSURE)
            fatal = UsageError(problem.cause, hint=hint) if ours else None
            raise GiveUp(problem.outcome, problem.cause, fatal=fatal) from None

    async def _answer(self, question: Question) -> Reply:
        if question.repeat == 1 and question.qid in self.known:
            self._worked = True
            return self.known.pop(question.qid)
        async with Slot(self._ahead) as ahead:
            visit = await self.visit_of(question)
            try:
                async with Slot(self._slots, ahead.release) as slot:
                    for earlier, _ in question.history if visit.asked == 0 else ():
                        await visit.ask(earlier)  # a resumed conversation: its earlier turns are asked again
                    if self._worked:  # the first answer shows whether the call is right: nothing is asked before it
                        visit.rests = slot.release
                    answer = await visit.ask(question.text)
            except (GiveUp, TryAgain, self._error) as error:
                raise await self._failed(visit, question, error) from None
        self._worked = True
        self.found_box = visit.box or self.found_box
        await self._keep_evidence(visit, question, failed=False)
        await self._leave(visit, question, broken=visit.frozen)
        return answer.as_reply()

    async def visit_of(self, question: Question) -> Visit:
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
                async with self._turns.opening():
                    await visit.open()
                    await visit.arrive()
        except (GiveUp, TryAgain, self._error) as error:
            raise await self._failed(visit, question, error) from None
        return visit

    async def _failed(self, visit: Visit, question: Question, error: Exception) -> Exception:
        """Close a page that failed, and return the error to raise."""
        await self._keep_evidence(visit, question, failed=True)
        await self._leave(visit, question, broken=True)
        if not isinstance(error, self._error):
            return error
        if visit.gone:
            return TryAgain(PAGE_CRASHED, visit.end())
        gone = not self._browser.is_connected() or "crash" in str(error).lower()
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
        visit = await self.new_visit()
        if question.session_id is not None:
            self._sessions[question.session_id] = visit
        return visit

    async def new_visit(self) -> Visit:
        """A page that is not opened yet."""
        visit = await self._new()
        visit.reading, visit.turns = self.reading, self._turns
        return visit

    async def _new(self) -> Visit:
        async with self._starting:
            if self._browser is self._discarded or not self._browser.is_connected():  # perhaps killed for memory
                self._browser = await self._launch()
            browser = self._browser
        if (context := await self._contexts.take(browser)) is not None:
            with suppress(TimeoutError, self._error):
                async with asyncio.timeout(_ENDS):
                    return await self._tab_in(*context)
        gate = Gate(self.page.url, self.blocked) if self.page.same_origin_only else None
        try:
            async with asyncio.timeout(_MAKES):
                return await self._page_in(browser, gate)
        except BaseException as error:
            if gate is not None:
                await gate.close()
            if not isinstance(error, TimeoutError):
                raise
            await self._discard(browser)
            raise TryAgain(TIMEOUT, f"the browser opened no page within {_MAKES:g} s") from None

    async def _page_in(self, browser: Any, gate: Gate | None) -> Visit:
        options = self.login.options(self.page.url)
        if gate is not None:
            options["proxy"] = await gate.open()
        context = await browser.new_context(**options)
        await context.add_init_script(_script())
        return await self._tab_in(context, gate)

    async def _tab_in(self, context: Any, gate: Gate | None) -> Visit:
        if self.login.cookies:
            await context.add_cookies([{"url": self.page.url, **cookie} for cookie in self.login.cookies])
        tab = context.pages[0] if context.pages else await context.new_page()  # emptied, or new
        password = self.login.credentials is not None
        return Visit(self.page, context, tab, self._error, password=password, gate=gate)

    async def leave(self, visit: Visit, question: Question) -> None:
        """Give up a page that was asked outside of a run."""
        await self._leave(visit, question, broken=visit.gone or visit.frozen)

    async def _leave(self, visit: Visit, question: Question, *, broken: bool) -> None:
        if question.session_id is not None:
            if broken:
                self._sessions.pop(question.session_id, None)
            else:
                return  # the next turn is asked on the same page
        elif self.page.same_page and not broken:
            self._idle.append(visit)
            return
        if broken or not await self._contexts.keep(visit, self.login.storage_state):
            await self._close(visit)

    async def _close(self, visit: Visit) -> None:
        """Close a page, if need be with its browser: one page must not stop the others."""
        browser = visit.context.browser
        if not await visit.close() and browser is not self._discarded:
            await self._discard(browser)

    async def end(self, session_id: str | None) -> None:
        """Close the page of a session that has ended."""
        visit = self._sessions.pop(session_id, None) if session_id is not None else None
        if visit is not None:
            await self._close(visit)

    async def _keep_evidence(self, visit: Visit, question: Question, *, failed: bool) -> None:
        if self.evidence is None:
            return
        if self.evidence_when == "always" or (failed and self.evidence_when != "never"):
            await keep_evidence(self.evidence, question, visit, self._error)
        else:
            drop_evidence(self.evidence, question)  # from an earlier attempt that failed


def used_by(profile: Profile, page: Page) -> Page:
    """How a page is used, with what the profile says and no option does."""
    send = None if profile.send in ("", ENTER) else profile.send
    return replace(
        page,
        input_selector=page.input_selector or profile.box or None,
        submit_selector=page.submit_selector or send,
        clicks=page.clicks or profile.before,
    )


@cache
def _script() -> str:
    """Our script, as one function: the page sees none of its names."""
    parts = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in _SCRIPTS)
    return f"(() => {{\n{''.join(parts)}}})();"
