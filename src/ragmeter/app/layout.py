"""The frame of every page (rail, breadcrumb, search for runs, keys), and the lines about pages of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from starlette.responses import HTMLResponse

from ragmeter.app import wording
from ragmeter.errors import UsageError
from ragmeter.io.write import dumps
from ragmeter.show.page.elements import Content, Markup, address, element, joined, link, text

#: What htmx may do: no eval, no scripts or styles of its own, no other server, no copies of pages in the browser.
_HTMX = dumps(
    {
        "allowEval": False, "allowScriptTags": False, "includeIndicatorStyles": False, "selfRequestsOnly": True,
        "historyCacheSize": 0, "refreshOnHistoryMiss": True, "defaultSettleDelay": 0,
    }
)  # fmt: skip
#: The rail's links: those to all runs, and those that lead to a part of the run that a page is about.
_EVERYWHERE = {"runs": (wording.RUNS,), "compare": (wording.COMPARE, "compare")}
_OF_RUN = {
    "documents": (wording.DOCUMENTS, "documents"),
    "label": (wording.LABEL, "label"),
    "judge": (wording.JUDGE, "agreement"),
}


def page(
    title: str,
    *content: Content,
    csrf: str = "",
    status: int = 200,
    here: Sequence[Content] = (),
    active: str = "runs",
    run: str = "",
    heading: Content = "",
    own_files: str = "",
) -> HTMLResponse:
    """A whole page.

    Args:
        title: the page's title, and its heading unless it has another.
        content: what it shows.
        csrf: the token with which its scripts may write.
        status: of the response.
        here: links from the list of runs to this page.
        active: the entry of the rail that it belongs to.
        run: the run that it is about; the rail leads to this run's other pages.
        heading: another heading than the title; None if the content has one.
        own_files: the name of a style sheet and a script that this page has besides those of all pages.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="csrf", content=csrf),
        element("meta", name="htmx-config", content=_HTMX),
        element("title", f"{title} – ragmeter"),
        element("link", rel="icon", href="data:,"),
        element("link", rel="stylesheet", href="/static/style.css"),
        element("link", rel="stylesheet", href="/static/app.css"),
        element("link", rel="stylesheet", href="/static/rows.css"),
        element("script", type="module", src="/static/app.js"),
        element("script", src="/static/htmx.js", defer=True),
        _files(own_files) if own_files else None,
    )
    top = None if heading is None else element("h1", heading or text(title))
    body = element(
        "body",
        link(wording.SKIP_TO_MAIN, "#main", class_="skip"),
        element("div", id="waiting", role="status", aria_label=wording.WAITING),
        element("header", _rail(active, run), class_="rail"),
        element(
            "div",
            element("nav", [link(wording.RUNS, address()), *here], id="contents", aria_label=wording.BREADCRUMB),
            element("main", top, *content, id="main", tabindex="-1"),
            class_="beside-rail",
        ),
        _search_dialog(),
        _keys_dialog(),
    )
    return HTMLResponse("<!doctype html>" + element("html", head, body, lang="en"), status)


def _files(name: str) -> Markup:
    return joined(
        element("link", rel="stylesheet", href=f"/static/{name}.css"),
        element("script", type="module", src=f"/static/{name}.js"),
    )


def _rail(active: str, run: str) -> list[Markup]:
    """The brand, the links, and the buttons at the foot; on a phone a button unfolds them."""
    entries = {name: (label, address(*where)) for name, (label, *where) in _EVERYWHERE.items()}
    if run:
        entries |= {name: (label, address("run", run, *where)) for name, (label, *where) in _OF_RUN.items()}
    links = [
        element("li", link(label, where, aria_current="page" if name == active else None))
        for name, (label, where) in entries.items()
    ]
    return [
        element("span", "ragmeter", class_="brand", aria_hidden="true"),
        element(
            "button", "☰", type="button", id="menu", class_="quiet", aria_label=wording.MENU, aria_expanded="false",
            aria_controls="rail",
        ),
        element(
            "div",
            element("nav", element("ul", links), aria_label=wording.PAGES),
            element(
                "div",
                _button(wording.FIND_RUN, "Ctrl K", "find"),
                _button(wording.KEYS_TITLE, "?", "keys"),
                element("button", "◐ ", wording.THEME, type="button", id="theme", class_="link"),
                class_="foot",
            ),
            id="rail",
        ),
    ]  # fmt: skip


def _button(words: str, key: str, opens: str) -> Markup:
    return element("button", words, " ", element("kbd", key), type="button", class_="link", data_opens=opens)


def _search_dialog() -> Markup:
    """The search for runs: its results come from the page that `found_runs` makes."""
    control = element(
        "input", type="search", name="search", aria_label=wording.FIND_RUN, placeholder=wording.FIND_RUN,
        hx_get=address("find"), hx_trigger="input changed delay:60ms, open", hx_target="#runs-by-name",
        hx_select="main #runs-by-name", hx_swap="outerHTML ignoreTitle:true", hx_sync="this:replace",
        autocomplete="off", autofocus=True,
    )  # fmt: skip
    inside = element("form", control, element("ul", id="runs-by-name"), method="get", action=address("find"))
    return element("dialog", inside, id="find", aria_label=wording.FIND_RUN)


def found_runs(names: Sequence[str]) -> Markup:
    """Links to runs, for the search."""
    links = [element("li", link(text(name), address("run", name))) for name in names]
    return element("ul", links or element("li", wording.NO_RUN, class_="soft"), id="runs-by-name")


def _keys_dialog() -> Markup:
    rows = [
        joined(element("dt", element("kbd", key)), element("dd", does)) for key, does in wording.KEYS_EVERYWHERE.items()
    ]
    close = element("form", element("button", wording.CLOSE, class_="quiet"), method="dialog")
    title = element("h2", wording.KEYS_TITLE, id="keys-title")
    return element("dialog", title, element("dl", rows), close, id="keys", aria_labelledby="keys-title")


def beside(page: int, last: int, where: Callable[[int], str], shown: Content, *after: Content) -> Markup:
    """What a page shows, with links to the pages before and after it, and what follows; one past the last is none."""
    if page > max(last, 1):
        raise UsageError(wording.NO_SUCH_PAGE.format(page=page, last=max(last, 1)))
    around = ((wording.PREVIOUS, page - 1, "prev"), (wording.NEXT, page + 1, "next"))
    links = [joined(" ", link(words, where(to), rel=rel)) for words, to, rel in around if 0 < to <= last]
    return element("p", element("span", shown) if shown else None, links, *after, class_="pager")
