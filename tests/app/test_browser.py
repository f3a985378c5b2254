"""The app in a real browser: what a person does there, and that no text of a run does any harm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import ragmeter
from ragmeter.analysis.people.labels import read_labels
from ragmeter.runs.status import Status
from tests.app.serving import Client, serving
from tests.browser import chromium, missing
from tests.show.report.helpers import PAYLOAD, PAYLOADS, keep_hostile, keep_judged

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there is one")
WATCH = """
window.violations = [];
document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective));
"""


#: What of a page can be moved sideways, besides the line of links at its top.
SIDEWAYS = """
[...document.querySelectorAll('main *')].filter((part) => part.scrollWidth > part.clientWidth
  && ['auto', 'scroll'].includes(getComputedStyle(part).overflowX)).map((part) => part.outerHTML.slice(0, 200))
"""


class Visit:
    """A browser that has opened the printed address, and everything that its pages should not have done."""

    def __init__(self, browser: Any, client: Client, **context: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context})
        self.context.set_default_timeout(60_000)
        self.origin = f"http://127.0.0.1:{client.port}"
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("dialog", self._refuse)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error {error}"))
        self.page.on("console", self._hear)
        self.page.on("request", self._watch)
        self.page.on("popup", lambda page: self.wrong.append("a new window"))
        self.page.add_init_script(WATCH)
        self.page.goto(client.address)

    def _refuse(self, dialog: Any) -> None:
        self.wrong.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _hear(self, said: Any) -> None:
        if (
            said.type in ("error", "warning") and "with a status of 40" not in said.text
        ):  # a page that says what is wrong
            self.wrong.append(said.text)

    def _watch(self, request: Any) -> None:
        if not request.url.startswith((self.origin, "data:,")):
            self.wrong.append(request.url)

    def open(self, path: str) -> None:
        self.page.goto(self.origin + path)
        self.check()

    def check(self) -> None:
        """Nothing was asked, nothing was run, nothing was refused, and nothing sticks out at the side."""
        assert self.page.evaluate("window.violations") == []
        assert self.page.evaluate("window.hit") is None
        assert self.page.evaluate("document.querySelectorAll('img, iframe, object').length") == 0
        assert self.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        if self.page.viewport_size["width"] < 400:  # on a phone, wide tables are cards
            assert self.page.evaluate(SIDEWAYS) == []
        assert self.wrong == []


#: Writes wait, fail together, and work again.
HOLD_WRITES = """(() => {
  const real = window.fetch;
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  window.fail = release;
  window.mend = () => { window.fetch = real; };
  window.fetch = (where, options) => options?.method === 'POST'
    ? held.then(() => Promise.reject(new Error('cut off'))) : real(where, options);
})()"""


@pytest.fixture(scope="module")
def browser(browser_address: str) -> Iterator[Any]:
    with chromium(browser_address) as started:
        yield started


@pytest.mark.parametrize("context", [{}, {"viewport": {"width": 360, "height": 800}, "color_scheme": "dark"}])
def test_a_payload_in_every_field_does_nothing_on_any_page(browser: Any, tmp_path: Path, context: Any) -> None:
    names = [keep_hostile(tmp_path).name, keep_hostile(tmp_path, PAYLOADS[3], seed=1).name]
    first, second = (quote(name, safe="") for name in names)
    metric, column = quote(f"token {PAYLOAD}", safe=""), quote(f"slice {PAYLOAD}", safe="")
    with serving(tmp_path) as client:
        visit = Visit(browser, client, **context)
        visit.check()
        for path in (
            f"/?metric={metric}&search={quote(PAYLOADS[0][:5])}",
            f"/run/{first}?sort={metric}",
            f"/run/{first}?search=onerror",
            *(f"/run/{first}/row/{place}" for place in range(0, 10, 3)),
            f"/run/{first}?by={column}&columns={metric}&columns={column}&show=no_score",
            f"/run/{first}/conversation?session={quote(PAYLOADS[1], safe='')}",
            f"/compare?run={first}&run={second}",
            f"/compare?run={first}&run={second}&change=differs&metric={metric}",
            f"/compare?run={first}&run={second}&change=all&search=onerror&filter={metric}%3C%3D1",
            f"/compare?run={first}&run={second}&change=all&where={column}%3D{quote(PAYLOADS[0], safe='')}",
            f"/compare?run={first}&column={quote(PAYLOAD)}&value=x&run={second}",
        ):
            visit.open(path)
        for path in (f"/run/{quote(PAYLOAD, safe='')}", f"/run/{first}?sort={quote(PAYLOAD)}"):  # error pages
            visit.page.goto(visit.origin + path)
            visit.check()
        visit.open(f"/run/{first}/label")
        visit.page.wait_for_selector("html[data-ready]")
        visit.page.fill("input[name=rater]", PAYLOAD[:60])
        visit.page.fill("input[name=n]", "5")
        visit.page.click("#begin button")
        visit.page.wait_for_selector("#label")
        visit.check()
        for rater, label in ((PAYLOAD[:60], "wrong"), (PAYLOADS[0][:60], "correct")):
            client.post(f"/run/{first}/label/begin", rater=rater, n=5, by="random", seed=0)
            assert client.post(f"/run/{first}/label/record", rater=rater, place=0, label=label).status == 200
        visit.open(f"/run/{first}/agreement")
        assert "Cohen's kappa" in visit.page.inner_text("main")
        visit.open(f"/run/{first}/disagreements")
        visit.page.wait_for_selector("#label")
        visit.open(f"/run/{first}/documents")
        visit.context.close()


def test_one_key_a_row(browser: Any, tmp_path: Path) -> None:
    keep_judged(tmp_path)
    with serving(tmp_path) as client:
        visit = Visit(browser, client)
        page = visit.page
        page.get_by_role("link", name="judged", exact=True).click()
        page.locator("#rail a", has_text="Label").click()
        page.wait_for_selector("html[data-ready] #begin")
        page.fill("input[name=rater]", "Ann")
        page.fill("input[name=n]", "12")
        page.click("#begin button")
        for done, key in enumerate("cwsccccccccc"):
            page.locator(f"html[data-ready] #progress:has-text('{done} of 12 labelled')").wait_for()
            place = page.get_attribute("#label", "data-place")
            page.keyboard.press(key)
            # Before the next row is there, a key would be for one that nobody has seen: it does nothing.
            next_row = page.locator(f"#label:not([data-place='{place}'])")
            next_row.or_(page.get_by_text("All rows are labelled.")).wait_for()
        page.locator("text=All rows are labelled.").wait_for()
        page.locator("main a", has_text="How good the judge is").click()
        page.locator("text=The share of answers that people would call correct").wait_for()
        labels = read_labels(tmp_path / "labels-judged-Ann.csv")
        assert [label.label for label in labels[:4]] == ["correct", "wrong", "skip", "correct"]
        visit.check()
        visit.context.close()


def test_back_changes_the_last_label(browser: Any, tmp_path: Path) -> None:
    keep_judged(tmp_path)
    with serving(tmp_path) as client:
        visit = Visit(browser, client)
        page = visit.page
        client.post("/run/judged/label/begin", rater="Ann", n=3, by="random", seed=0)
        page.goto(f"{visit.origin}/run/judged/label?rater=Ann")
        page.wait_for_selector("html[data-ready]")
        page.wait_for_selector("html[data-ready]")
        page.keyboard.press("n")
        page.keyboard.type("hmm, cw")
        page.keyboard.press("Enter")
        page.click("button[data-label=wrong]")
        page.locator("#progress:has-text('1 of 3')").wait_for()
        page.keyboard.press("b")
        page.locator("#label[data-place='0'] button[data-label=wrong][aria-pressed=true]").wait_for()
        assert page.input_value("#note") == "hmm, cw"
        page.click("button[data-label=correct]")
        page.locator("#label[data-place='1']").wait_for()
        page.locator("#saving:empty").wait_for(state="attached")
        assert read_labels(tmp_path / "labels-judged-Ann.csv")[0].label == "correct"
        visit.context.close()


CONVERSATION = [
    {
        "qid": f"q{turn}",
        "session_id": "s",
        "turn_idx": turn,
        "question": f"Question {turn}?",
        "answer": f"Answer {turn}",
        "reference": "a",
        "contexts": [f"Gold passage {turn}. " + "word " * 400, "Another one", PAYLOAD],
        "retrieved": ["g::chunk-1", "x", "y"],
        "relevant": ["g"],
    }
    for turn in range(6)
]


def test_what_the_system_had_read_is_beside_the_answer(browser: Any, tmp_path: Path) -> None:
    ragmeter.evaluate(CONVERSATION, metrics="token_f1", run="chat", output_dir=tmp_path)
    with serving(tmp_path) as client:
        client.post("/run/chat/label/begin", rater="Ann", n=6, by="random", seed=0)
        visit = Visit(browser, client)
        page = visit.page
        rows = [row.qid for row in read_labels(tmp_path / "labels-chat-Ann.csv")]
        page.goto(f"{visit.origin}/run/chat/label?rater=Ann&blind=1&place={rows.index('q2')}")
        page.wait_for_selector("html[data-ready]")
        assert page.locator(".is-gold").count() == 1
        assert page.locator(".turns li").all_inner_texts() == ["Question 0?\nAnswer 0", "Question 1?\nAnswer 1"]
        assert not page.locator("#contexts details").first.evaluate("part => part.open")
        page.keyboard.press("x")
        assert page.locator("#contexts details").first.evaluate("part => part.open")
        assert "chat" not in page.inner_text("body")  # blind: the system's name is nowhere
        visit.check()
        visit.context.close()


def test_a_label_that_is_not_written_stops_the_advance(browser: Any, tmp_path: Path) -> None:
    ragmeter.evaluate(CONVERSATION, metrics="token_f1", run="chat", output_dir=tmp_path)
    with serving(tmp_path) as client:
        client.post("/run/chat/label/begin", rater="Ann", n=6, by="random", seed=0)
        visit = Visit(browser, client)
        page = visit.page
        page.goto(f"{visit.origin}/run/chat/label?rater=Ann")
        page.wait_for_selector("html[data-ready]")
        page.keyboard.press("c")
        page.locator("#progress:has-text('1 of 6')").wait_for()
        page.locator("#label[data-place='1']").wait_for()
        page.fill("#note", "keep me")
        page.evaluate("document.activeElement.blur()")
        page.route("**/record", lambda route: route.abort())
        page.keyboard.press("w")
        page.locator("#problem", has_text="Not saved").wait_for()
        page.locator("#label[data-place='1']").wait_for()  # the row is back, with its note
        assert page.input_value("#note") == "keep me"
        page.keyboard.press("w")
        page.locator("html:not(.waits) #saving:empty").wait_for(state="attached")
        assert page.locator("#label[data-place='1']").count() == 1  # and stays until it is written
        assert [label.label for label in read_labels(tmp_path / "labels-chat-Ann.csv")[:2]] == ["correct", None]
        page.unroute("**/record")
        page.keyboard.press("w")
        page.locator("#label:not([data-place='1'])").wait_for()
        page.locator("#problem").wait_for(state="detached")
        label = read_labels(tmp_path / "labels-chat-Ann.csv")[1]
        assert (label.label, label.note) == ("wrong", "keep me")
        visit.wrong.clear()  # the calls that were cut off
        visit.check()
        visit.context.close()


def test_labels_that_are_not_written_come_back_in_their_order(browser: Any, tmp_path: Path) -> None:
    ragmeter.evaluate(CONVERSATION, metrics="token_f1", run="chat", output_dir=tmp_path)
    with serving(tmp_path) as client:
        client.post("/run/chat/label/begin", rater="Ann", n=6, by="random", seed=0)
        visit = Visit(browser, client)
        page = visit.page
        page.goto(f"{visit.origin}/run/chat/label?rater=Ann")
        page.wait_for_selector("html[data-ready]")
        page.evaluate(HOLD_WRITES)  # until two labels wait
        for place in (0, 1):
            page.locator(f"#label[data-place='{place}']").wait_for()
            page.keyboard.press("c")
        page.locator("#label[data-place='2']").wait_for()
        page.evaluate("fail()")
        page.locator("#problem", has_text="Not saved").wait_for()
        page.locator("#label[data-place='0']").wait_for()
        page.evaluate("mend()")
        for place in (0, 1, 2):
            page.locator(f"#label[data-place='{place}']").wait_for()
            page.keyboard.press("w")
        page.locator("#progress:has-text('3 of 6')").wait_for()
        visit.check()
        visit.context.close()


def test_two_browsers_of_one_person(browser: Any, tmp_path: Path) -> None:
    ragmeter.evaluate(CONVERSATION, metrics="token_f1", run="chat", output_dir=tmp_path)
    with serving(tmp_path) as client:
        client.post("/run/chat/label/begin", rater="Ann", n=6, by="random", seed=0)
        visits = [Visit(browser, client), Visit(browser, client)]
        for visit in visits:
            visit.page.goto(f"{visit.origin}/run/chat/label?rater=Ann")
            visit.page.wait_for_selector("html[data-ready]")
        first, second = (visit.page for visit in visits)
        first.keyboard.press("c")
        first.locator("#progress:has-text('1 of 6')").wait_for()
        second.keyboard.press("w")  # of the same row, which has another label by now
        second.locator("#problem", has_text="labelled meanwhile: correct").wait_for()
        second.locator("#label[data-place='0'] button[data-label=correct][aria-pressed=true]").wait_for()
        second.keyboard.press("w")  # now it was seen
        second.locator("#label[data-place='1']").wait_for()
        second.locator("#progress:has-text('1 of 6')").wait_for()
        assert read_labels(tmp_path / "labels-chat-Ann.csv")[0].label == "wrong"
        for visit in visits:
            visit.context.close()


def test_two_people_agree_on_a_row_by_keys(browser: Any, tmp_path: Path) -> None:
    ragmeter.evaluate(CONVERSATION, metrics="token_f1", run="chat", output_dir=tmp_path)
    with serving(tmp_path) as client:
        for rater, label in (("Ann", "correct"), ("Bob", "wrong")):
            client.post("/run/chat/label/begin", rater=rater, n=6, by="random", seed=0)
            for place in range(2):
                client.post("/run/chat/label/record", rater=rater, place=place, label=label, note=f"by {rater}")
        visit = Visit(browser, client)
        page = visit.page
        page.goto(f"{visit.origin}/run/chat/label")
        page.locator("main a", has_text="Agree on 2 rows").click()
        page.wait_for_selector("html[data-ready]")
        assert "by Ann" in page.inner_text("#label")
        page.keyboard.press("c")
        page.locator("#progress:has-text('agreed on 1 of 2')").wait_for()
        page.keyboard.press("w")
        page.locator("text=All of these rows were looked at.").wait_for()
        assert [label.label for label in read_labels(tmp_path / "labels-chat-agreed.csv")] == ["correct", "wrong"]
        visit.check()
        visit.context.close()


def test_what_is_shown_has_an_address(browser: Any, tmp_path: Path) -> None:
    rows = [{"qid": f"q{i}", "question": f"Q {i}", "answer": "a" * (i % 2), "reference": "a"} for i in range(60)]
    ragmeter.evaluate(rows, metrics="token_f1", run="r", output_dir=tmp_path)
    with serving(tmp_path) as client:
        visit = Visit(browser, client)
        page = visit.page
        page.goto(f"{visit.origin}/run/r")
        page.wait_for_selector("html[data-ready]")
        page.select_option("#new-column", "token_f1")
        page.select_option("#new-filter select[name=is]", ">=")
        page.fill("#new-filter input[name=value]", "0.5")
        page.click("#filters button")
        page.locator("text=1 to 30 of 30 rows").wait_for()
        page.reload()
        page.locator("text=1 to 30 of 30 rows").wait_for()
        page.get_by_role("link", name="q1", exact=True).click()
        page.locator("#drawer h1", has_text="q1").wait_for()
        page.keyboard.press("j")
        page.locator("#drawer h1", has_text="q3").wait_for()
        page.go_back()
        page.locator("html[data-ready] #drawer h1", has_text="q1").wait_for()  # the page was loaded anew
        page.go_back()
        page.locator("#drawer:empty").wait_for(state="attached")
        page.locator("text=1 to 30 of 30 rows").wait_for()
        visit.check()
        visit.context.close()


def test_what_is_done_with_runs_of_the_list(browser: Any, tmp_path: Path) -> None:
    """Keys, the bar that compares, and the actions of a run: as a person would, one after another."""
    for name, answer in (("first", "x"), ("second", "gold"), ("third", "gold")):
        rows = [{"qid": str(i), "answer": answer, "reference": "gold"} for i in range(5)]
        ragmeter.evaluate(rows, metrics="exact_match", run=name, output_dir=tmp_path)
    for number, name in enumerate(("first", "second", "third")):  # all are of the same second
        written_at(tmp_path / name, f"2026-01-0{number + 1}T12:00:00+00:00")
    with serving(tmp_path) as client:
        visit = Visit(browser, client)
        page = visit.page
        page.wait_for_selector("html[data-ready]")
        bar = page.locator("#ticked")
        for key in ("j", "x", "j", "j", "x"):  # the newest run and the oldest
            page.keyboard.press(key)
        assert bar.locator(".baseline").inner_text() == "first"
        assert bar.locator(".candidate").inner_text() == "third"
        bar.locator(".swap").click()
        assert bar.locator(".baseline").inner_text() == "third"
        bar.locator(".swap").click()

        def act(run: str, button: str) -> None:
            page.locator(f"html[data-ready] [aria-label='Actions: {run}']").click()
            page.locator(f"#actions[open] button:text-is('{button}')").click()

        act("second", "Set as baseline")
        page.locator("tr", has_text="second").locator("text=Baseline").wait_for()
        for name in ("first", "second"):
            page.get_by_label(f"Choose {name}").check()
        assert bar.locator(".baseline").inner_text() == "second"  # though it is not the oldest

        act("third", "Delete")
        page.locator(".note", has_text="third is deleted").wait_for()
        assert page.get_by_role("link", name="third", exact=True).count() == 0
        page.locator("html[data-ready] .note button:text-is('Undo')").click()
        page.get_by_role("link", name="third", exact=True).wait_for()
        page.locator("html[data-ready] [aria-label='Actions: third']").click()
        page.locator("#actions[open] input[name=name]").fill("../third")
        page.locator("#actions[open] button:text-is('Rename')").click()
        page.locator("#actions [role=alert]", has_text="not a name for a run").wait_for()
        page.locator("#actions[open] input[name=name]").fill("after")
        page.locator("#actions[open] button:text-is('Rename')").click()
        page.get_by_role("link", name="after", exact=True).wait_for()
        for name in ("first", "after"):
            page.get_by_label(f"Choose {name}").check()
        visit.check()
        bar.locator(".go").click()
        page.wait_for_url("**/compare?*")
        assert page.url.partition("?")[2] == "run=first&baseline=first&run=after"
        visit.page.select_option("#rows-change", "all")  # only the comparison is put in the place of the old one
        visit.page.locator("#which", has_text="5 rows").wait_for()
        assert "change=all" in visit.page.url
        visit.page.locator(".paired summary").first.click()
        assert visit.page.locator("del").first.inner_text() in ("x", "gold")
        before = visit.page.url
        visit.page.get_by_label("Swap baseline and candidate").click()
        visit.page.wait_for_url(lambda url: url != before)
        visit.page.fill("#search-rows", "nothing like it")
        visit.page.keyboard.press("Enter")
        visit.page.locator("#which", has_text="No row matches.").wait_for()
        visit.wrong = [problem for problem in visit.wrong if "400" not in problem]
        visit.check()
        visit.context.close()


def written_at(run: Path, created: str) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "created": created}))


def test_a_run_under_way_is_watched(browser: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        visit = Visit(browser, client)
        with Status(tmp_path / PAYLOADS[0][:20].replace("/", "_"), "asking questions", 8, lambda: 0.5) as status:
            status.answered(PAYLOAD, PAYLOADS[0])
            status.failed("timeout")
            status.judged(is_right=True)
            status.advance(2)
            status._write()
            visit.page.locator("#live", has_text="2 of 8").wait_for()
            text = visit.page.inner_text("#live")
            for part in ("1 timeout", "$0.50", PAYLOADS[0], "100% right so far"):
                assert part in text
        visit.page.locator("#live", has_text="2 of 8").wait_for(state="detached")
        # a run is complete some time after its questions are asked
        ragmeter.evaluate([{"answer": "a", "reference": "a"}], metrics="token_f1", run="done", output_dir=tmp_path)
        visit.page.get_by_role("link", name="done", exact=True).wait_for()  # the page has loaded the list again
        visit.check()
        visit.context.close()


def test_a_comparison_is_kept_from_the_page_and_its_command_is_copied(browser: Any, tmp_path: Path) -> None:
    for name, answer in (("a", "x"), ("b", "gold")):
        rows = [{"qid": str(i), "answer": answer if i % 2 else "gold", "reference": "gold"} for i in range(20)]
        ragmeter.evaluate(rows, metrics="exact_match", run=name, output_dir=tmp_path)
    with serving(tmp_path) as client:
        visit = Visit(browser, client, permissions=["clipboard-read", "clipboard-write"])
        page = visit.page
        page.goto(f"{visit.origin}/compare?run=a&run=b&change=all")
        page.wait_for_selector("html[data-ready]")
        opened = "[...document.querySelectorAll('.paired')].findIndex((row) => row.open)"
        page.locator(".paired summary").first.click()
        before = page.url
        for key, place in (("j", 1), ("j", 2), ("k", 1)):
            page.keyboard.press(key)
            assert page.evaluate(opened) == place
        assert page.url == before
        assert page.evaluate("document.querySelectorAll('.paired[open]').length") == 1
        page.click("#settings summary")
        page.select_option("select[name=test]", "mcnemar")
        page.fill("input[name=alpha]", "0.1")
        page.click("#keep")
        page.locator("html[data-ready] #settings[open] >> text=Kept with the runs on").wait_for()
        assert (tmp_path / "b" / "comparisons" / "a.json").exists()
        page.click("button:text-is('Copy')")
        page.locator("button:text-is('Copied')").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == f"ragmeter compare a b --test mcnemar --alpha 0.1 --output-dir {tmp_path} --keep"
        visit.check()
        visit.context.close()


def test_keys_of_every_page(browser: Any, tmp_path: Path) -> None:
    for name in ("first-run", "second-run"):
        ragmeter.evaluate([{"answer": "a", "reference": "a"}], metrics="token_f1", run=name, output_dir=tmp_path)
    with serving(tmp_path) as client:
        visit = Visit(browser, client)
        page = visit.page
        page.wait_for_selector("html[data-ready]")
        page.keyboard.press("?")
        page.locator("dialog#keys[open]").wait_for()
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.name") == "search"
        page.keyboard.press("Control+k")
        page.locator("#runs-by-name a").nth(1).wait_for()
        page.keyboard.type("second")
        page.locator("#runs-by-name:not(:has(li:nth-child(2)))", has_text="second-run").wait_for()
        page.keyboard.press("Enter")
        page.locator("h1", has_text="second-run").wait_for()
        visit.check()
        visit.context.close()


def test_on_a_phone_the_rail_is_behind_a_button(browser: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        visit = Visit(browser, client, viewport={"width": 390, "height": 800})
        visit.page.wait_for_selector("html[data-ready]")
        assert not visit.page.locator("#rail").is_visible()
        visit.page.click("#menu")
        assert visit.page.locator("#rail a", has_text="Runs").is_visible()
        visit.check()
        visit.context.close()
