"""The list of all runs: its lines, facets, actions and charts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.datastructures import QueryParams

import ragmeter
from ragmeter import FakeProvider, Judge
from ragmeter.app.run_list import MOST_METRICS, PAGE, ListQuery, RunList
from ragmeter.runs.catalogue import RunEntry
from ragmeter.runs.places import hold
from ragmeter.runs.tags import change_tags
from ragmeter.wording import times
from tests.app.serving import Client, serving
from tests.app.test_browser import written_at
from tests.make_runs import summary_of

QUESTIONS = [{"qid": str(i), "question": f"Which is {i}?", "reference": f"number {i}"} for i in range(12)]
OTHERS = [{"qid": str(i), "question": f"Who is {i}?", "reference": f"person {i}"} for i in range(10)]
NOW = datetime.now().astimezone()
NOON = NOW.replace(hour=12, minute=0, second=0, microsecond=0)


def rows(questions: list[dict[str, Any]], right: int, system: str) -> list[dict[str, Any]]:
    return [
        {**row, "answer": row["reference"] if n < right else "no", "system_name": system}
        for n, row in enumerate(questions)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    made = [
        ("old", rows(QUESTIONS, 3, "bm25"), 40),
        ("middle", rows(QUESTIONS, 6, "dense"), 8),
        ("new", [{**row, "answer": None} if row["qid"] == "11" else row for row in rows(QUESTIONS, 9, "dense")], 1),
        ("people-old", rows(OTHERS, 2, "bm25"), 3),
        ("people-new", rows(OTHERS, 5, "bm25"), 2),
    ]
    for name, table, days in made:
        ragmeter.evaluate(table, metrics="token_f1,exact_match", run=name, output_dir=folder)
        written_at(folder / name, (NOON - timedelta(days=days)).astimezone(UTC).isoformat(timespec="seconds"))
    change_tags(folder, "old", add=["nightly"])
    change_tags(folder, "new", add=["nightly", "release"])
    judge = Judge(provider=FakeProvider("??"), check=False)
    ragmeter.evaluate(rows(OTHERS, 0, "x"), metrics="llm_correct", judge=judge, run="unjudged", output_dir=folder)
    ragmeter.evaluate(rows(OTHERS, 0, "x"), metrics="token_f1", run="cut", output_dir=folder)
    cut = folder / "cut" / "rows.parquet"
    cut.write_bytes(cut.read_bytes()[:-10])
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    with pytest.MonkeyPatch.context() as patch, serving(folder) as client:
        patch.setattr(times, "clock", lambda: NOW)  # a suite may run past midnight
        yield client


def words(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.partition("<body>")[2].replace("<wbr>", ""))).split())


def shown(page: str) -> list[str]:
    """The runs of the list, in its order."""
    return re.findall(r'href="/run/([^"/]+)" class="to-run"', page)


def test_lines_stand_by_question_set_with_the_newest_first(client: Client) -> None:
    page = client.page("/")
    assert sorted(shown(page)[:2]) == ["cut", "unjudged"]  # of this second
    assert shown(page)[2:] == ["people-new", "people-old", "new", "middle", "old"]
    text = words(page)
    assert "yesterday 12:00" in text
    assert re.search(r"new nightly release dense yesterday 12:00 11/12 0\.\d+ [±−]", text)
    assert "12 questions" in text


def test_a_damaged_run_and_one_without_any_score(client: Client) -> None:
    page = client.page("/")
    text = words(page)
    assert "llm_correct failed on all 10 rows of unjudged" in text
    assert "damaged: rows.parquet:" in text
    assert re.search(r'value="cut"[^>]*disabled', page)
    assert 'class="lacking">1<' in page  # an ordinary row without an answer is no alarm
    assert page.count('role="alert"') == 1


def titles(page: str) -> list[str]:
    """The metrics that are columns."""
    return [words(f"<body>{title}") for title in re.findall(r'<th [^>]*class="metric"[^>]*>.*?</th>', page)]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("search=dense", {"new", "middle"}),
        ("search=yesterday", {"new"}),
        ("search=questions+RELEASE", {"new"}),
        ("search=release+nightly", {"new"}),
        ("tag=nightly", {"old", "new"}),
        ("tag=nightly&system=bm25", {"old"}),
        ("tag=nightly&tag=release", {"old", "new"}),
        ("system=dense&system=x", {"new", "middle", "unjudged", "cut"}),
        ("when=yesterday", {"new"}),
        ("when=7", {"new", "people-new", "people-old", "unjudged", "cut"}),
        ("when=30&system=dense", {"new", "middle"}),
        ("status=damaged", {"cut"}),
        ("status=failed", {"unjudged"}),
        ("status=no_score", {"new"}),
        ("tag=nothing", set()),
        ("set=", {"old", "middle", "new", "people-old", "people-new", "unjudged", "cut"}),
    ],
)
def test_facets_and_search_combine(client: Client, query: str, names: set[str]) -> None:
    assert set(shown(client.page(f"/?{query}"))) == names


def test_a_question_set_is_a_facet(client: Client, folder: Path) -> None:
    fingerprint = RunEntry.of(folder / "old").questions
    page = client.page(f"/?set={fingerprint}&sort=token_f1")
    assert shown(page) == ["new", "middle", "old"]  # the best first
    assert "3 runs of 7" in words(page)
    assert shown(client.page(f"/?set={fingerprint}&sort=name")) == ["middle", "new", "old"]


def test_charts_are_of_one_question_set_each(client: Client) -> None:
    page = client.page("/?metric=token_f1&status=complete&status=no_score")
    charts = re.findall(r'<div class="card history">.*?</figure>', page)
    assert [set(re.findall(r'href="/run/([^"]+)"', chart)) for chart in charts] == [
        {"old", "middle", "new"}, {"people-old", "people-new"},
    ]  # fmt: skip
    assert "3 runs" in words(f"<body>{charts[0]}")
    places = [float(x) for x in re.findall(r'cx="([\d.]+)%"', charts[0])]
    assert places == pytest.approx([2, 2 + 96 * 32 / 39, 98], abs=0.1)  # 40, 8 and 1 days ago


def test_up_to_five_metrics_of_choice(client: Client) -> None:
    page = client.page("/?metrics=exact_match")
    assert titles(page) == ["exact_match ↑"]
    assert len(ListQuery.read(fields(metrics=list("abcdefg"))).metrics) == MOST_METRICS


def fields(**values: list[str]) -> QueryParams:
    """The query of an address."""
    return QueryParams([(name, value) for name, of_field in values.items() for value in of_field])


@pytest.mark.parametrize("page", ["0", "-1", "x", "9" * 30, "²"])
def test_what_is_no_page_is_an_error(client: Client, page: str) -> None:
    assert client.ask(f"/?page={quote(page)}").status == 400


def test_of_thousands_of_runs_a_page_is_shown_that_says_so() -> None:
    entries = [
        RunEntry(f"r{n}", Path(f"r{n}"), f"2026-01-01T00:{n // 60 % 60:02}:{n % 60:02}+00:00", questions=str(n % 3),
                 n_rows=5, metrics={"m": summary_of(mean=0.5, n_scored=5)})
        for n in range(3_000)
    ]  # fmt: skip
    from ragmeter.app.all_runs import all_runs
    from ragmeter.show.page.elements import joined

    page = joined(all_runs(entries, ListQuery.read(fields(page=["2"])), None))
    assert len(shown(page)) == PAGE
    assert "51 to 100 of 3,000 runs" in page
    assert "500 of 1,000 runs" in page  # of each chart
    assert RunList.of(entries, ListQuery.read(fields())).counts("set") == {"0": 1_000, "1": 1_000, "2": 1_000}


def test_what_is_done_with_a_run(tmp_path: Path) -> None:
    for name in ("a", "b"):
        ragmeter.evaluate(rows(QUESTIONS, 3, "x"), metrics="token_f1", run=name, output_dir=tmp_path)
    with serving(tmp_path) as client:
        client.post("/run/a/label/begin", rater="Ann", n=3, by="random", seed=0)
        assert client.post("/run/a/baseline").status == 200
        assert list(json.loads((tmp_path / "baselines.json").read_text()).values()) == ["a"]
        assert client.post("/run/a/rename", name="b").status == 400
        for name in ("../x", "a\0b", "", ".", "x/y"):
            assert client.post("/run/a/rename", name=name).status == 400
        assert client.post("/run/a/rename", name="c").status == 200
        assert (tmp_path / "labels-c-Ann.csv").is_file()
        assert list(json.loads((tmp_path / "baselines.json").read_text()).values()) == ["c"]
        assert shown(client.page("/?sort=name")) == ["b", "c"]
        assert client.post("/run/c/baseline").status == 200
        assert json.loads((tmp_path / "baselines.json").read_text()) == {}

        key = client.post("/run/c/delete").body
        where = f"/?deleted={json.loads(key)['deleted']}"
        assert "c is deleted. Undo" in words(client.page(where))
        assert client.post("/run/c/delete").status == 404
        assert client.post("/deleted/..%2f..%2fb/restore").status == 404
        assert client.post(f"/deleted/{json.loads(key)['deleted']}/restore").status == 200
        assert "is deleted" not in words(client.page(where))
        assert client.page("/run/c")

        with hold(tmp_path / "b", "writes it", asks=True):
            assert client.post("/run/b/delete").status == 409
        assert client.ask("/run/b/delete", method="POST", body={}).status == 403  # without the token
        assert client.ask("/run/b/delete").status == 405
        assert shown(client.page("/?sort=name")) == ["b", "c"]


def test_names_and_tags_are_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.io.names._NOT_ON_WINDOWS", re.compile("(?!)"))  # of a folder made elsewhere
    name = '<b onclick="x()">&amp;'
    ragmeter.evaluate(rows(QUESTIONS, 3, "<i>system"), metrics="token_f1", run=name, output_dir=tmp_path)
    with serving(tmp_path) as client:
        page = client.page(f"/?search=<u>&system={quote('<i>system')}")
        assert "No run is like this" in page
        page = client.page(f"/?system={quote('<i>system')}") + client.page(f"/run/{quote(name, safe='')}/actions")
        assert "<b onclick" not in page
        assert "<i>system" not in page
        assert "&lt;i&gt;system" in page


def test_times_in_words() -> None:
    now = datetime(2026, 11, 19, 9, 30).astimezone()

    def spoken(**ago: float) -> str:
        return times.spoken((now - timedelta(**ago)).isoformat(), now)

    assert (spoken(minutes=5), spoken(hours=10), spoken(days=10)) == ("today 09:25", "yesterday 23:30", "9 Nov 09:30")
    assert spoken(days=400) == "15 Oct 2025"
    assert times.spoken("soon") == "soon"
    assert [times.time_left(seconds) for seconds in (42, 600, 9_000)] == ["42 s", "10 min", "2.5 h"]


def test_runs_that_share_no_question_are_told(tmp_path: Path) -> None:
    for run, qids in (("a", "123"), ("b", "345"), ("c", "678")):
        rows = [{"qid": qid, "answer": "x", "reference": "x"} for qid in qids]
        ragmeter.evaluate(rows, metrics="exact_match", run=run, output_dir=tmp_path)
    with serving(tmp_path) as client:
        assert client.page("/compare/shared?run=a&run=b") == '{"shared":1}'
        assert client.page("/compare/shared?run=a&run=b&run=c") == '{"shared":0}'
        assert client.ask("/compare/shared?run=a&run=d").status == 404


def test_ctrl_k_finds_what_the_search_of_the_list_finds(client: Client) -> None:
    assert ">new<" in client.page("/find?search=yesterday+dense")
    assert ">All runs<" in client.ask("/run/nowhere").text  # a link that leads on
