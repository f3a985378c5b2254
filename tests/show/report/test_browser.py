"""The page in a real browser: what it shows, that it can be worked with, and that no text of a run does any harm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter import FakeProvider, Judge
from ragmeter.analysis.comparing.comparison import table_cells
from ragmeter.wording.texts import in_markdown
from tests.browser import chromium, missing
from tests.command import PATIENCE
from tests.conftest import load_rows
from tests.show.report.helpers import PAYLOAD, PAYLOADS, keep, keep_hostile, keep_judged, rows

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there is one")
WATCH = """
window.violations = [];
document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective));
"""


class Opened:
    """A page that was opened, and everything that it should not have done."""

    def __init__(self, browser: Any, path: Path, **context: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context})
        self.context.set_default_timeout(PATIENCE * 1000)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("dialog", self._refuse)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error {error}"))
        self.page.on("console", lambda said: self.wrong.extend([said.text] * (said.type in ("error", "warning"))))
        self.page.on("request", lambda sent: self.wrong.extend([sent.url] * (not sent.url.startswith("file:"))))
        self.page.on("popup", lambda page: self.wrong.append("a new window"))
        self.page.add_init_script(WATCH)
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready=yes]")
        self.page.evaluate("document.querySelectorAll('details.part').forEach((part) => { part.open = true; })")

    def _refuse(self, dialog: Any) -> None:
        self.wrong.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).first.inner_text())

    def wait_for_status(self, text: str) -> None:
        """Until the line above the rows says so."""
        self.page.locator(f"#status:text-is('{text}')").wait_for()

    def check(self) -> None:
        """Nothing was asked, nothing was run, nothing was refused, and nothing sticks out at the side."""
        assert self.page.evaluate("window.violations") == []
        assert self.page.evaluate("window.hit") is None
        assert self.page.evaluate("document.querySelectorAll('img, iframe, object, link').length") == 0
        assert self.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert self.wrong == []
        self.context.close()


@pytest.fixture(scope="module")
def browser(browser_address: str) -> Iterator[Any]:
    with chromium(browser_address) as started:
        yield started


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    keep(folder)
    return ragmeter.report("small", folder / "report.html", output_dir=folder).page


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three systems on the same real questions."""
    folder = tmp_path_factory.mktemp("systems")
    names = sorted({row["system"] for row in load_rows("evouna.jsonl")})[:3]
    for name in names:
        rows_of_system = [{**row, "kind": row["question"].split()[0]} for row in load_rows("evouna.jsonl", system=name)]
        keep(folder, name, [{**row, "qid": row["question"]} for row in rows_of_system], "token_f1,exact_match")
    return ragmeter.report(names, folder / "report.html", output_dir=folder).page


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), pytest.param(1280, "dark", marks=pytest.mark.slow), (390, "light")]
)
def test_a_payload_in_every_field_is_shown_and_does_nothing(
    browser: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    names = [keep_hostile(tmp_path).name, keep_hostile(tmp_path, PAYLOADS[3], seed=1).name]
    path = ragmeter.report(names, tmp_path / "report.html", output_dir=tmp_path, title=PAYLOAD).page
    opened = Opened(browser, path, viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = opened.page
    for part in (
        "title",
        "headline",
        "which",
        "scores",
        "distributions",
        "relations",
        "slices",
        "conversations",
        "signature",
    ):
        assert PAYLOADS[0] in page.locator(f"#{part}").inner_text().replace("\u00a0", " "), part
    for element in page.locator("main details").all():
        element.evaluate("(node) => { node.open = true; }")
    page.select_option("#run", "1")
    assert page.title().startswith(PAYLOADS[0])
    page.select_option("#slice", index=1)
    page.select_option("#slice-value", index=1)
    page.fill("#search", "onerror")
    opened.wait_for_status("5 of 10 rows")
    for row in range(page.locator(".open").count()):
        page.locator(".open").nth(row).click()
        shown = page.locator("#detail").inner_text()
        for title in ("Question", "References", "Answer", "Judge", "Retrieved, by rank", "Contexts", "Other columns"):
            assert title in shown
        assert PAYLOADS[0] in shown
        page.keyboard.press("Escape")
    opened.check()


def test_the_figures_and_the_failures_stand_first(browser: Any, small: Path) -> None:
    opened = Opened(browser, small)
    assert opened.text("h1") == "small"
    assert "8 rows, 3 metrics" in opened.text(".lead")
    assert "no score for 1: no_answer, the row has no answer (token_f1, exact_match)" in opened.text("#headline .note")
    lines = opened.page.locator("#scores tbody tr").all_inner_texts()
    assert [line.split()[0] for line in lines][:3] == ["token_f1", "exact_match", "recall@2"]
    assert "0.57" in lines[1]  # four of the seven that have an answer
    assert "0.25 to 0.84" in lines[1]
    assert "n 7 of 8" in lines[1]
    assert "fewer than 30 rows" in lines[1]
    assert "n 8" in lines[2]
    assert opened.page.locator("#which").count() == 0
    assert opened.page.locator("#conversations").is_hidden()
    assert "sha256" in opened.text("#signature") or "python" in opened.text("#signature")
    opened.check()


def test_the_appendix_is_folded_and_its_links_open_it(browser: Any, systems: Path) -> None:
    opened = Opened(browser, systems, viewport={"width": 390, "height": 844})
    page = opened.page
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    assert page.evaluate("document.documentElement.scrollHeight") <= 10 * 844
    assert page.locator("details.part[open]").count() == 0
    page.locator("#contents a", has_text="Slices").click()
    assert page.locator("#slices-body").is_visible()
    assert page.locator("details.part[open]").count() == 1
    page.locator("h1").click()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.emulate_media(media="print")
    page.locator("details.part:not([open])").first.wait_for(state="detached")
    page.locator("#rows-body").wait_for()
    opened.check()


def test_slices_show_their_n_and_mark_small_ones(browser: Any, small: Path) -> None:
    opened = Opened(browser, small)
    cells = opened.page.locator(".heat tbody tr").all_inner_texts()
    assert cells[0].split() == [
        "music",
        "4",
        "rows",
        "0.67",
        "n",
        "=",
        "3",
        "(few)",
        "0.67",
        "n",
        "=",
        "3",
        "(few)",
        "0.50",
        "n",
        "=",
        "4",
        "(few)",
    ]
    assert "*" not in opened.text("#slices")
    assert cells[-1].split()[:4] == ["all", "rows", "8", "rows"]
    opened.check()


def test_rows_are_searched_filtered_and_sorted(browser: Any, small: Path) -> None:
    opened = Opened(browser, small)
    page = opened.page

    def shown() -> list[str]:
        return [text.split()[2].rstrip("?") for text in page.locator(".rows tbody th").all_inner_texts()]

    assert shown() == list("01234567")
    page.fill("#search", "ENTIRELY d6")
    opened.wait_for_status("1 of 8 rows")
    assert shown() == ["6"]
    page.fill("#search", "")
    opened.wait_for_status("8 rows")
    page.select_option("#only", "failed")
    assert shown() == ["7"]
    page.click("#reset")
    page.select_option("#slice", "domain")
    page.select_option("#slice-value", label="music")
    assert shown() == ["1", "3", "5", "7"]
    page.select_option("#metric", "token_f1")
    page.fill("#high", "0.5")
    assert shown() == ["5"]
    page.click("#reset")
    page.locator("th[data-key=token_f1] button").focus()
    page.keyboard.press("Enter")
    assert shown() == ["4", "5", "6", "0", "1", "2", "3", "7"]  # what has no score is last
    assert page.get_attribute("th[data-key=token_f1]", "aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert shown() == ["0", "1", "2", "3", "4", "5", "6", "7"]
    assert page.get_attribute("th[data-key=token_f1]", "aria-sort") == "descending"
    opened.check()


def test_a_row_opens_by_the_keyboard_and_marks_what_differs(browser: Any, small: Path) -> None:
    opened = Opened(browser, small)
    page = opened.page
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.locator(".open").nth(4).focus()
    page.keyboard.press("Enter")
    assert opened.text("#detail-title") == "Row q4"
    assert page.locator("#detail ins").all_inner_texts() == ["something else entirely"]
    assert page.locator("#detail del").all_inner_texts() == ["gold answer 4"]
    assert page.locator("#detail .hit").count() == 0
    page.keyboard.press("ArrowLeft")
    assert opened.text("#detail-title") == "Row q3"
    assert page.locator("#detail ins, #detail del").count() == 0
    assert page.locator("#detail .hit").all_inner_texts() == ["d3::chunk-2✓ relevant", "d3✓ retrieved"]
    assert "passage one of 3" in opened.text("#detail")
    page.keyboard.press("Escape")
    assert not page.locator("#detail").is_visible()
    assert page.evaluate("document.activeElement.className") == "open"
    opened.check()


def test_runs_are_compared_and_chosen(browser: Any, systems: Path) -> None:
    opened = Opened(browser, systems)
    page = opened.page
    assert page.locator("#all-runs .forest tbody tr").count() == 3
    assert "fid is first, " in opened.text("#headline .verdict")
    other = page.locator(".other-pairs details")
    assert other.count() == 1
    other.locator("summary").first.click()
    assert other.locator(".forest").is_visible()
    page.locator("#which .paired summary").first.click()
    assert page.locator("#which .paired .of-run").first.is_visible()
    chosen = page.locator("#run option").nth(2).inner_text()
    page.select_option("#run", "2")
    assert chosen in opened.text("#rows-title")
    opened.check()


def test_the_verdict_and_the_four_questions_are_on_the_first_screen(browser: Any, tmp_path: Path) -> None:
    """The same sentences and figures as in the terminal and in Markdown, in a window of 1440 by 900."""
    kinds = [{**row, "kind": "odd" if i % 4 == 3 else "usual"} for i, row in enumerate(rows(80))]
    keep(tmp_path, "old", kinds)
    keep(tmp_path, "new", [{**row, "answer": "gold" if i % 2 else row["answer"]} for i, row in enumerate(kinds)])
    made = ragmeter.report(["old", "new"], tmp_path / "r.html", output_dir=tmp_path, markdown=tmp_path / "r.md")
    (pair,) = ragmeter.compare(["old", "new"], output_dir=tmp_path).pairs
    opened = Opened(browser, made.page, viewport={"width": 1440, "height": 900})
    heading, amounts = opened.text("#headline h1"), opened.text("#headline .amounts")
    assert pair.sentence.replace("new", "B").replace("old", "A").startswith(heading)
    assert amounts.split(" (")[0] in pair.sentence
    edges = "(part) => part.getBoundingClientRect().top"
    tops = [opened.page.locator(part).evaluate(edges) for part in ("h1", ".stats", "#by-how-much", "#where", "#which")]
    assert max(tops) < 900
    assert tops[0] < 200
    cells = opened.page.locator("#by-how-much tr", has_text="token_f1").locator("td").all_inner_texts()
    _, _, before, after, difference, _ = table_cells("token_f1", pair.metrics["token_f1"])
    assert (cells[0], cells[2].split()[-1]) == (f"{before} → {after} n 79", difference)
    turned = [part.sentence for part in pair.slices if part.turns]
    assert opened.page.locator("#where ul.soft li").all_inner_texts() == turned
    assert in_markdown(pair.sentence) in (tmp_path / "r.md").read_text(encoding="utf-8")
    opened.check()


def test_the_page_says_that_a_comparison_was_kept(browser: Any, tmp_path: Path) -> None:
    for name in ("old", "new"):
        keep(tmp_path, name)
    ragmeter.compare(["old", "new"], test="t", alpha=0.01, keep=True, output_dir=tmp_path)
    opened = Opened(browser, ragmeter.report(["old", "new"], tmp_path / "r.html", output_dir=tmp_path).page)
    about = opened.page.locator("#headline > .about").first.inner_text()
    assert about.startswith("The comparison that was kept on ")
    assert about.endswith("; test: t, alpha: 0.01.")
    assert "Paired t test" in str(opened.page.locator("#headline abbr").first.get_attribute("title"))
    opened.check()


def test_light_and_dark_are_a_choice_and_print_is_light(browser: Any, small: Path) -> None:
    opened = Opened(browser, small, color_scheme="dark")
    page = opened.page
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.click("#theme")
    light = page.evaluate(background)
    assert dark != light
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    assert page.evaluate(background) == light
    page.click("#theme")
    assert page.evaluate(background) == dark
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--page').trim()") == "#f5f6f8"
    assert not page.locator(".tools").is_visible()
    assert page.locator(".histogram .column").last.is_visible()
    opened.check()


def test_where_most_verdicts_are_unreadable_the_bounds_are_the_headline(browser: Any, tmp_path: Path) -> None:
    data = [{**row, "answer": row["reference"][0] if i == 0 else "nonsense"} for i, row in enumerate(rows(4))]
    asking = Judge(provider=FakeProvider("well"), check=False)
    ragmeter.evaluate(data, metrics="llm_correct", judge=asking, run="r", output_dir=tmp_path)
    opened = Opened(browser, ragmeter.report("r", tmp_path / "r.html", output_dir=tmp_path).page)
    assert opened.text("#scores .mean") == "0.25 to 1.00"
    assert "most rows have no score" in opened.text("#scores .figure")
    assert opened.page.locator("#scores .whisker .dot").count() == 0
    opened.check()


def test_a_judge_is_shown_with_its_check_and_its_reasons(browser: Any, tmp_path: Path) -> None:
    keep_judged(tmp_path)
    opened = Opened(browser, ragmeter.report("judged", tmp_path / "r.html", output_dir=tmp_path).page)
    page = opened.page
    notes = page.locator("#headline .note, #scores .note").all_inner_texts()
    assert notes[0].startswith("Before you trust the judge")
    assert "24 of the judge's 24 verdicts are the same: 'CORRECT'" in notes[0]
    assert notes[1].startswith("Not everything was scored")
    page.locator("#headline details summary").click()
    assert "1 × unparsable: not a verdict" in opened.text("#headline .note:has(details)")
    said = notes[2].splitlines()
    assert said[0] == "The judge: judge-7"
    assert said[1].startswith("this judge got 23 of 24 built-in cases right; it missed: wrong: 'Sydney is")
    assert said[2] == "verdicts by: exact 5, llm 24"
    assert said[3].startswith("calls: 51; tokens: ")
    assert page.locator("#slices").is_visible()
    assert "verdict" not in opened.text("#slices")  # what the judge said is no part of the data
    page.fill("#search", "gold-answer-7!")
    opened.wait_for_status("1 of 30 rows")
    page.locator(".open").click()
    block = page.locator("#detail .block", has=page.locator("h3:text-is('Judge')")).inner_text()
    assert block.split("\n\n") == ["Judge", "judged by llm", "CORRECT", "it says gold-answer-7!"]
    page.keyboard.press("Escape")
    page.fill("#search", "")
    opened.wait_for_status("30 rows")  # or else the status of the first search would be taken for that of the second
    page.fill("#search", "nonsense")
    opened.wait_for_status("1 of 30 rows")
    page.locator(".open").click()
    assert "not a verdict" in opened.text("#detail .content")
    opened.check()


def test_every_column_of_a_judge_has_its_block(browser: Any, tmp_path: Path) -> None:
    judge = Judge(provider=FakeProvider("5"), check=False)
    metrics = "llm_correct[judge=cascade],llm_grade"
    ragmeter.evaluate(rows(), metrics=metrics, judge=judge, run="graded", output_dir=tmp_path)
    keep_judged(tmp_path)
    made = ragmeter.report(["graded", "judged"], tmp_path / "r.html", output_dir=tmp_path)
    opened = Opened(browser, made.page)
    whose = opened.page.locator(".note.judge .whose").all_inner_texts()
    assert whose == ["graded, judged by fake", "judged, judged by judge-7"]
    opened.page.locator(".open").first.click()
    titles = opened.page.locator("#detail .block h3").all_inner_texts()
    assert [title for title in titles if title.startswith("Judge")] == ["Judge: verdict[judge=cascade]", "Judge: grade"]
    assert "judged by exact" in opened.text("#detail .content")
    assert "Other columns" in titles
    others = opened.page.locator("#detail .block").last.inner_text()
    assert "grade" not in others
    assert "verdict" not in others
    opened.check()


def test_conversations_are_shown_as_such(browser: Any, tmp_path: Path) -> None:
    turns = [{**row, "session_id": f"talk {i // 3}", "turn_idx": str(2 - i % 3)} for i, row in enumerate(rows(6))]
    keep(tmp_path, data=turns)
    opened = Opened(browser, ragmeter.report("small", tmp_path / "r.html", output_dir=tmp_path).page)
    assert "2 conversations, 6 turns" in opened.text("#conversations")
    chats = opened.page.locator(".chat")
    assert chats.locator("h3").all_inner_texts() == ["talk 0 3 turns", "talk 1 3 turns"]
    asked = chats.first.locator(".user").all_inner_texts()
    assert [text[-2] for text in asked] == ["2", "1", "0"]  # by turn_idx, not by the order of the file
    opened.page.select_option("#chat-order", "token_f1")
    assert "talk 1" in chats.first.locator("h3").inner_text()
    assert "no_answer" in chats.first.inner_text()
    opened.check()


def test_what_is_left_out_is_said(browser: Any, tmp_path: Path) -> None:
    keep(tmp_path)
    made = ragmeter.report("small", tmp_path / "r.html", output_dir=tmp_path, max_rows=3)
    assert (made.rows, made.rows_shown) == (8, 3)
    opened = Opened(browser, made.page)
    assert "3 of 8 rows are on this page: those that failed, then the worst" in opened.text("#rows-body")
    assert [text[-2] for text in opened.page.locator(".rows tbody th").all_inner_texts()] == ["4", "5", "7"]
    assert "8 rows, 3 metrics" in opened.text(".lead")  # the figures are of all rows
    opened.check()


def test_many_rows_are_packed_and_come_a_page_at_a_time(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragmeter.show.report.page._PLAIN", 100_000)
    keep(tmp_path, data=rows(1000), metrics="token_f1")
    made = ragmeter.report("small", tmp_path / "r.html", output_dir=tmp_path)
    assert 'data-encoding="gzip"' in made.page.read_text(encoding="utf-8")
    opened = Opened(browser, made.page)
    page = opened.page
    assert opened.text("#status") == "1,000 rows"
    assert page.locator(".rows tbody tr").count() == 50
    page.locator("#pages button", has_text="Last").click()
    assert opened.text("#pages span") == "page 20 of 20"
    assert "number 999" in page.locator(".rows tbody th").last.inner_text()
    opened.check()


def test_a_page_without_scripts_says_so(browser: Any, small: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(small.as_uri())
    assert "scripts are switched off" in page.locator("main").inner_text()
    context.close()


def test_only_failures_are_an_alarm(browser: Any, tmp_path: Path) -> None:
    for name, answer, is_alarm in (("declined", "I don't know.", False), ("failed", None, True)):
        data = [
            {"qid": str(n), "question": "Where?", "answer": text, "contexts": ["The tower is in Paris."]}
            for n, text in enumerate(["The tower is in Paris.", answer])
        ]
        ragmeter.evaluate(data, metrics="offline_hallucinated", run=name, output_dir=tmp_path)
        opened = Opened(browser, ragmeter.report(name, tmp_path / f"{name}.html", output_dir=tmp_path).page)
        assert opened.text("#headline .note").startswith("Not everything was scored")
        assert opened.page.locator("#headline .note.bad").count() == is_alarm
        opened.check()
