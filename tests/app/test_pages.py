"""What the pages of the app say, by HTTP alone."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest

import ragmeter
from ragmeter.testsets.planning import Wish
from tests.app.serving import Client, serving
from tests.engine.test_test_sets import make
from tests.testsets.writer import write_chunks

WORDS = ("zero", "one", "two", "three")
ROWS: list[dict[str, Any]] = [
    {
        "qid": f"q{i}",
        "question": f"Which number is {i}?",
        "reference": [WORDS[i % 4]],
        "answer": None if i == 7 else WORDS[i % 4] if i % 3 else f"=HYPERLINK({i})",
        "contexts": [f"passage {i}"],
        "kind": "even" if i % 2 == 0 else "odd",
    }
    for i in range(120)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, rows in (("a", ROWS), ("b", [{**row, "answer": row["reference"][0]} for row in ROWS])):
        ragmeter.evaluate(rows, metrics="token_f1,exact_match", run=name, output_dir=folder)
    damaged = folder / "damaged"
    damaged.mkdir()
    (damaged / "manifest.json").write_text("{")
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    with serving(folder) as client:
        yield client


def words(page: str) -> str:
    """What a reader sees, roughly."""
    body = page.partition("<body>")[2].replace("<wbr>", "")
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def test_a_run_has_its_figures_failures_and_rows(client: Client) -> None:
    page = client.page("/run/a")
    text = words(page)
    assert "1 to 50 of 120 rows" in text
    assert 'name="descending"' not in page
    assert "1 row has no score: no answer ; all metrics" in text
    assert 'title="Harmonic mean of token precision and recall' in page


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("search=which+NUMBER+is+11%3F", "1 to 1 of 1 rows"),
        ("show=no_score", "1 to 1 of 1 rows"),
        ("column=token_f1&is=%3E%3D&value=0.5", "1 to 50 of 79 rows"),
        ("filter=token_f1%3C%3D0.5", "1 to 40 of 40 rows"),
        ("filter=token_f1.outcome%3Dno_answer", "1 to 1 of 1 rows"),
        ("filter=token_f1:none", "1 to 1 of 1 rows"),
        ("filter=exact_match%3D0&column=kind&value=odd", "1 to 20 of 20 rows"),
        ("filter=exact_match%3D0&filter=kind!%3Dodd", "1 to 20 of 20 rows"),
        ("filter=answer~hyper", "1 to 40 of 40 rows"),
        ("filter=reference~thr", "1 to 30 of 30 rows"),
        ("column=&search=passage", "No row matches."),
        ("filter=kind%3Dodd&page=2", "51 to 60 of 60 rows"),
        ("search=nothing+like+it", "No row matches."),
        ("search=%25", "No row matches."),
        ("search='%22%3B--", "No row matches."),
    ],
)
def test_filters(client: Client, query: str, shown: str) -> None:
    assert shown in words(client.page(f"/run/a?{query}"))


def test_sorted_with_rows_without_a_score_last(client: Client) -> None:
    page = client.page("/run/a?sort=token_f1&descending=1&page=3")
    table, _, links = words(page).rpartition("101 to 120 of 120 rows")  # above the table and below it
    assert table.rstrip().endswith("no_answer no_answer")
    assert links.split()[0] == "Previous"


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/run/nothing", 404, "unknown run 'nothing'"),
        ("/run/..", 404, ""),
        ("/run/%2e%2e%2fruns", 404, ""),
        ("/run/damaged", 500, "the run is damaged"),
        ("/run/a/row/120", 404, "unknown row"),
        ("/run/a?sort=nothing", 400, "a has no column 'nothing'"),
        ("/run/a?column=qid%22%3B+DROP&value=1", 400, "has no column"),
        ("/run/a?filter=token_f1%3E%3Dx", 400, "is not a number"),
        ("/run/a?filter=token_f1~1", 400, "token_f1 can't be filtered by '~'"),
        ("/run/a?column=kind&is=%3E%3D&value=1", 400, "kind can't be filtered by"),
        ("/run/a?value=1", 400, "a filter needs a column"),
        ("/run/a?metric=token_f1&low=0.5", 400, "has no field"),
        ("/run/a?show=nonsense", 400, "show=nonsense: it must be one of no_score"),
        ("/run/a?show=wrong", 400, "show=wrong"),
        ("/run/a?columns=nothing", 400, "a has no column 'nothing'"),
        ("/run/a?descending=yes", 400, "it must be 0 or 1"),
        ("/run/a?page=-3", 400, "no number of a page"),
        ("/run/a?page=0.5", 400, "no number of a page"),
        ("/run/a?row=120", 400, "has no row '120'"),
        ("/run/a?by=question", 400, "does not part the rows"),
        ("/run/a/export/csv?filter=odd", 400, "can't read the filter 'odd'"),
        ("/run/a/filter?column=nothing", 400, "has no column"),
        ("/run/a/export/exe", 404, "unknown format"),
        ("/compare?run=a&run=b&change=nothing", 400, "is not one of"),
        ("/static/server.py", 404, ""),
        ("/?columns=zz", 400, "no field 'columns'"),
        ("/?search=a&search=b", 400, "search is given 2 times"),
        ("/run/a/label?page=2", 400, "no field 'page'"),
        ("/run/a/agreement?kind=x", 400, "no field 'kind'"),
        ("/find?foo=1", 400, "no field 'foo'"),
        ("/compare?run=a&run=b&cause=A:right", 400, "no field 'cause'"),
        ("/compare?run=a&run=b&search=x&search=y", 400, "search is given 2 times"),
    ],
)
def test_what_can_not_be_shown_is_an_error_page(client: Client, path: str, status: int, says: str) -> None:
    answer = client.ask(path)
    assert (answer.status, says in unescape(answer.text)) == (status, True)
    assert "Traceback" not in answer.text


def test_a_row_and_its_neighbours(client: Client) -> None:
    page = client.page("/run/a/row/6?filter=kind%3Deven&sort=qid")
    text = words(page)
    for part in ("Which number is 6?", "two", "passage 6", "token_f1 ↑ 0.00", "kind even"):
        assert part in text
    assert re.search(r'href="/run/a/row/58\?[^"]*" rel="prev"', page)  # q58, q6, q60
    assert re.search(r'href="/run/a/row/60\?[^"]*" rel="next"', page)


def test_zero_is_a_limit_and_a_place(client: Client) -> None:
    page = client.page("/run/a?filter=token_f1%3E%3D0")
    assert "1 to 50 of 119 rows" in words(page)
    assert re.search(r'href="/run/a\?filter=token_f1%3E%3D0&amp;[^"]*" rel="next"', page)


def test_slices(client: Client) -> None:
    page = client.page("/run/a?by=kind&filter=exact_match%3D0")
    assert "even 60 0.67 0.67 odd 60 0.66 0.66" in words(page)
    wanted = "filter=exact_match%3D0&filter=kind%3Deven&by=kind"  # besides what is asked for already
    assert f'href="/run/a?{wanted.replace("&", "&amp;")}#rows"' in page


def test_words_that_differ_are_marked(client: Client) -> None:
    page = client.page("/compare?baseline=a&run=b&change=better")
    assert (
        len(re.findall(r'<p class="of-run"><a href="/run/[ab]/row/(\d+)"', page)) >= 2
    )  # each answer links to its row
    assert "<del>=HYPERLINK(0)</del>" in page
    assert "<ins>zero</ins>" in page
    assert "1 row" in words(client.page("/compare?baseline=b&run=a&change=failed"))


@pytest.mark.parametrize("query", ["sort=nothing", "metrics=nothing", "metric=nothing", "sort=descending"])
def test_what_the_list_does_not_know_is_an_error(client: Client, query: str) -> None:
    answer = client.ask(f"/?{query}")
    assert answer.status == 400
    assert "it must be one of" in words(answer.text)


@pytest.mark.parametrize("address", ["/run/a?page=999", "/?page=2", "/compare?baseline=a&run=b&page=99"])
def test_a_page_after_the_last_is_an_error(client: Client, address: str) -> None:
    answer = client.ask(address)
    assert answer.status == 400
    assert "there is no page" in words(answer.text)


def test_downloads_are_what_the_page_shows(client: Client, tmp_path: Path) -> None:
    query = "filter=kind%3Dodd&sort=token_f1"
    rows = list(csv.DictReader(io.StringIO(client.page(f"/run/a/export/csv?{query}"))))
    assert len(rows) == 60
    assert {row["kind"] for row in rows} == {"odd"}
    assert rows[0]["answer"].startswith("'=HYPERLINK")  # guarded
    lines = client.page(f"/run/a/export/jsonl?{query}").splitlines()
    assert [json.loads(line)["qid"] for line in lines] == [row["qid"] for row in rows]
    (tmp_path / "rows.parquet").write_bytes(client.ask(f"/run/a/export/parquet?{query}").body)
    assert pq.read_table(tmp_path / "rows.parquet")["qid"].to_pylist() == [row["qid"] for row in rows]


def test_the_report_page_can_be_downloaded(client: Client) -> None:
    answer = client.ask("/run/a/report")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''report-a.html"
    assert "<title>a – ragmeter report</title>" in answer.text


def test_names_of_runs_are_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.io.names._NOT_ON_WINDOWS", re.compile("(?!)"))  # of a folder made elsewhere
    names = ["a*", "a[b]", "100%?", "ä ö", "a&b=<i>"]
    for name in [*names, "ab"]:
        ragmeter.evaluate(ROWS[:3], metrics="token_f1", run=name, output_dir=tmp_path)
    with serving(tmp_path) as client:
        page = client.page("/")
        for name in names:
            assert f'href="/run/{quote(name, safe="")}"' in page
            assert "1 to 3 of 3 rows" in words(client.page(f"/run/{quote(name, safe='')}"))


def test_a_run_that_is_replaced_is_shown_anew(tmp_path: Path) -> None:
    ragmeter.evaluate(ROWS[:3], metrics="token_f1", run="x", output_dir=tmp_path)
    with serving(tmp_path) as client:
        assert "1 to 3 of 3 rows" in words(client.page("/run/x"))
        ragmeter.evaluate(ROWS[:5], metrics="token_f1", run="x", output_dir=tmp_path)
        assert "1 to 5 of 5 rows" in words(client.page("/run/x"))
        assert ">5</td>" in client.page("/")


def test_tags_are_saved_beside_the_runs(tmp_path: Path) -> None:
    for name in ("x", "y"):
        ragmeter.evaluate(ROWS[:3], metrics="token_f1", run=name, output_dir=tmp_path)
    with serving(tmp_path) as client:
        assert client.post("/run/x/tags", tags="baseline v1.2").status == 200
        assert client.post("/run/x/tags", tags="baseline <b>").status == 400
        assert json.loads((tmp_path / "tags.json").read_text()) == {"x": ["baseline", "v1.2"]}
        page = client.page("/?tag=baseline")
        assert 'value="x"' in page
        assert 'value="y"' not in page
        assert client.post("/run/x/tags", tags="").status == 200
    assert json.loads((tmp_path / "tags.json").read_text()) == {}


def test_no_runs(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        assert "There are no runs in this folder yet." in words(client.page("/"))


def test_claims_of_a_row_with_what_supports_them(tmp_path: Path) -> None:
    rows = [
        {
            "qid": "1",
            "question": "Where is the museum?",
            "answer": "The museum is in Lisbon. It opened in 1950.",
            "contexts": ["The museum is in Lisbon, near the river."],
            "nuggets": [{"text": "It is small.", "importance": "okay"}, "It is in Lisbon."],
            "nugget_support": ["no support", "support"],
        }
    ]
    ragmeter.evaluate(rows, metrics="faithfulness[judge=offline],nugget_recall", run="c", output_dir=tmp_path)
    with serving(tmp_path) as client:
        page = client.page("/run/c/row/0")
    text = words(page)
    assert re.search(r"1 The museum is in Lisbon\. ✓ supported passage 1", text)
    assert "○ not mentioned" in text
    assert "near the river. ✓ supports claim 1" in text
    assert 'href="#passage-1"' in page
    assert 'id="passage-1"' in page
    assert 'href="#claim-1"' in page
    assert 'id="claim-1"' in page
    assert "support_by_passages" not in text  # it is shown in words, and not as JSON
    assert '<mark class="unsupported">1950</mark>' in page
    assert "# Claim by the answer 1 It is small. (okay) ○ no support 2 It is in Lisbon. ✓ support" in text


def test_damaged_tags_are_an_error_of_the_page_and_not_of_the_server(tmp_path: Path) -> None:
    ragmeter.evaluate(ROWS[:3], metrics="token_f1", run="x", output_dir=tmp_path)
    (tmp_path / "tags.json").write_text("{")
    with serving(tmp_path) as client:
        answer = client.ask("/")
        assert answer.status in (200, 400, 500)
        assert "Traceback" not in answer.text
        assert client.ask("/static/app.css").status == 200


def test_the_search_for_runs(client: Client) -> None:
    page = client.page("/find?search=A")
    assert '<ul id="runs-by-name"><li><a href="/run/a">' in page
    assert "damaged" not in words(page)  # it has no page
    assert "No run has this" in client.page("/find?search=nothing+like+it")


def test_the_rail_leads_to_the_pages_of_the_run(client: Client) -> None:
    rail = client.page("/run/a").partition('class="rail"')[2].partition("</header>")[0]
    pages = ["/run/a/documents", "/run/a/label", "/run/a/agreement"]
    assert re.findall(r'href="([^"]+)"', rail) == ["/", "/compare", *pages]
    blind = client.page("/run/a/label?blind=1").partition('class="rail"')[2].partition("</header>")[0]
    assert "/run/a" not in blind


def test_a_test_set_shows_its_card(tmp_path: Path) -> None:
    make(tmp_path, write_chunks(tmp_path / "c.jsonl", 10), Wish(4, {"fact": 1.0}))
    with serving(tmp_path / "runs") as client:
        shown = words(client.page("/run/questions"))
        assert "What this test set is good for 4 questions by fake about 10 documents: facts 4" in shown
