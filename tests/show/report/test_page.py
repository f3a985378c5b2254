"""The page's parts: rows that are chosen and cut, data that stays data, a policy that holds."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragmeter
from ragmeter.errors import UsageError
from ragmeter.runs.run import Run
from ragmeter.show.report import page, page_texts, rows
from ragmeter.show.report.page import embedded, render
from tests.show.report import helpers
from tests.show.report.helpers import PAYLOAD, PAYLOADS, keep, keep_hostile, loaded

BLOCK = re.compile(r'<script type="application/json" id="(\w+)"(?: data-encoding="(\w+)")?>(.*?)</script>', re.DOTALL)


def blocks(document: str) -> dict[str, Any]:
    """The page's data, read as the page reads it."""
    blocks = {}
    for name, encoding, text in BLOCK.findall(document):
        blocks[name] = json.loads(gzip.decompress(base64.b64decode(text)) if encoding == "gzip" else text)
    return blocks


@pytest.fixture
def small(tmp_path: Path) -> Run:
    keep(tmp_path)
    return loaded(tmp_path, "small")[0]


@given(
    st.recursive(
        st.text() | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_data_in_a_script_element_stays_data(value: Any) -> None:
    text = embedded({"held": value, "payload": PAYLOAD})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text)["payload"] == PAYLOAD


def test_the_policy_allows_the_one_script_and_the_one_style(small: Run) -> None:
    document = render([small], max_rows=100).html
    policy = html.unescape(re.findall(r'Content-Security-Policy" content="([^"]*)"', document)[0])
    assert document.index("Content-Security-Policy") < document.index("<style>") < document.index("<script")
    assert policy.startswith("default-src 'none'; ")
    for tag in ("script", "style"):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", document, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}';" in policy
    assert "unsafe" not in policy
    assert "http:" not in policy
    assert "https:" not in policy


def test_the_script_never_reads_markup_or_asks_the_network() -> None:
    script = page._script()
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "fetch(",
                 "XMLHttpRequest", "WebSocket", "sendBeacon", "importScripts", "cookie"):  # fmt: skip
        assert word not in script, word
    for name in page._SCRIPTS:
        assert len((page._STATIC / f"{name}.js").read_text(encoding="utf-8").splitlines()) < 400
    assert {path.stem for path in page._STATIC.glob("*.js")} == set(page._SCRIPTS)
    template = (page._STATIC / "report.html").read_text(encoding="utf-8")
    assert not re.findall(r'(?:src|href)="(?!#)', template)
    assert not re.findall(r"url\(|@import", page._style())


class Seen(HTMLParser):
    """The elements of a page that may do harm, the attributes of all, and its texts."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.texts: list[str] = []
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in ("href", "src")}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("names", [["one"], ["one", "two"], ["one", "two", "three"]])
def test_texts_of_runs_are_escaped_or_data(tmp_path: Path, names: list[str]) -> None:
    for seed, name in enumerate(names):
        keep_hostile(tmp_path, f"{name} {PAYLOADS[seed]}".replace("/", "_"), seed)
    runs = loaded(tmp_path, *(f"{name} {PAYLOADS[seed]}".replace("/", "_") for seed, name in enumerate(names)))
    comparison = ragmeter.compare(runs) if len(runs) > 1 else None
    document = render(runs, max_rows=100, title=PAYLOAD, comparison=comparison).html
    assert PAYLOAD in blocks(document)["rows"]["texts"]
    seen = Seen(BLOCK.sub("", document))
    assert (seen.tags.count("script"), seen.tags.count("style")) == (1, 1)
    assert not {"img", "iframe", "object", "embed", "link", "base"} & set(seen.tags)
    assert not [name for name in seen.attributes if name.startswith("on") or name in ("src", "srcdoc", "style")]
    assert all(link.startswith("#") for link in seen.links)
    assert any(PAYLOADS[0] in text for text in seen.texts)  # it is shown


def test_without_the_appendix_there_are_no_rows(tmp_path: Path) -> None:
    keep(tmp_path)
    keep(tmp_path, "other", [{**row, "answer": row["reference"][0]} for row in helpers.rows()])
    report = ragmeter.report(["small", "other"], tmp_path / "owner.html", output_dir=tmp_path, audience="owner")
    document = report.page.read_text(encoding="utf-8")
    assert (report.rows, report.rows_shown) == (16, 0)
    assert "rows" not in blocks(document)
    assert 'id="appendix"' not in document
    text = re.sub("<[^>]*>", "", document)
    for part in ("between other and small on token_f1:", "By how much?", "All metrics"):
        assert part in text, part
    for method in ("test", "Holm", "discounted", "interval says"):
        assert method not in text[text.index("between other") : text.index("Made by ragmeter")], method
    with pytest.raises(UsageError, match="audience"):
        ragmeter.report("small", tmp_path / "x.html", output_dir=tmp_path, audience="nobody")


def test_every_row_is_there_with_its_scores_outcomes_and_hits(small: Run) -> None:
    rows = blocks(render([small], max_rows=100).html)["rows"]
    texts, (run,) = rows["texts"], rows["runs"]
    assert (run["n"], run["total"]) == (8, 8)
    assert [texts[place] for place in run["qid"]] == [f"q{i}" for i in range(8)]
    assert run["answer"][7] == -1
    assert run["scores"]["token_f1"] == [1, 1, 1, 1, 0, 0, 0, None]
    assert texts[run["outcomes"]["token_f1"][7]] == "no_answer"
    assert run["hits"][0] == [1, 0]  # a chunk stands for its document
    assert (run["hits"][5], run["found"][0], run["found"][5]) == ([0, 0], [1], [0])
    assert list(run["slices"]) == ["domain"]
    assert list(run["others"]) == ["note"]


def test_the_documents_pattern_of_the_run_finds_the_hits(tmp_path: Path) -> None:
    data = [{**row, "retrieved": [f"{row['relevant'][0]}/part 3"]} for row in helpers.rows()]
    ragmeter.evaluate(data, metrics="recall@2", doc_id_pattern=r"^(.*)/part \d+$", run="parts", output_dir=tmp_path)
    (run,) = blocks(render(loaded(tmp_path, "parts"), max_rows=100).html)["rows"]["runs"]
    assert run["hits"] == [[1]] * 8


def test_without_room_failures_and_the_worst_rows_stay(tmp_path: Path) -> None:
    keep(tmp_path)
    turned = [{**row, "answer": "gold answer" if i == 0 else row["answer"]} for i, row in enumerate(helpers.rows())]
    keep(tmp_path, "other", turned)
    one, other = loaded(tmp_path, "small", "other")
    assert rows.quality(one).tolist() == pytest.approx([1, 1, 1, 1, 0, 0, 0, -1])
    assert rows.choose([one], 8)[0].tolist() == list(range(8))
    assert rows.choose([one], 2)[0].tolist() == [4, 7]
    for places in rows.choose([one, other], 10):  # five questions, the same of both; q0 is worse in the second
        assert places.tolist() == [0, 4, 5, 6, 7]


def test_long_texts_are_cut_and_say_how_long_they_were() -> None:
    texts = page_texts.Texts()
    long = "x" * (page_texts.LONGEST_TEXT + 5)
    assert texts.places([long, "short", None, "short"]) == [0, 1, -1, 1]
    kept, whole, limit = texts.cut()
    assert limit == page_texts.LONGEST_TEXT
    assert [len(value) for value in kept] == [page_texts.LONGEST_TEXT, 5]
    assert whole == {0: page_texts.LONGEST_TEXT + 5}


def test_texts_that_are_too_many_together_are_cut_shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_texts, "_MOST_CHARACTERS", 10_000)
    texts = page_texts.Texts()
    texts.places([f"{i}" * 3000 for i in range(9)])
    kept, whole, limit = texts.cut()
    assert limit == 1000
    assert sum(map(len, kept)) <= 10_000
    assert whole[0] == 3000


def test_names_that_a_script_could_trip_over(tmp_path: Path) -> None:
    data = [{**row, "__proto__": "ab"[i % 2], "constructor": "ab"[i % 2]} for i, row in enumerate(helpers.rows())]
    keep(tmp_path, data=data)
    (run,) = blocks(render(loaded(tmp_path, "small"), max_rows=100).html)["rows"]["runs"]
    assert list(run["slices"]) == ["domain", "__proto__", "constructor"]


def test_an_answer_that_declines_is_no_failure(tmp_path: Path) -> None:
    data = [
        {"qid": str(n), "question": "Where?", "answer": answer, "contexts": ["The tower is in Paris."]}
        for n, answer in enumerate(["The tower is in Paris.", *["I don't know."] * 20])
    ]
    ragmeter.evaluate(data, metrics="offline_hallucinated", run="r", output_dir=tmp_path)
    document = render(loaded(tmp_path, "r"), max_rows=100).html
    assert "no score for 20: " in document
    assert '<div class="note"><strong>Not everything was scored' in document


def test_a_judge_that_failed_is_red(tmp_path: Path) -> None:
    judge = ragmeter.Judge(provider=ragmeter.FakeProvider("well"), check=False)
    ragmeter.evaluate(helpers.rows(), metrics="llm_correct,token_f1", judge=judge, run="r", output_dir=tmp_path)
    document = render(loaded(tmp_path, "r"), max_rows=100).html
    assert '<div class="note bad"><strong>Not everything was scored' in document
