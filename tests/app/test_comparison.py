"""Compare: which run is the baseline, the slice, the rows, the settings that are kept, what stands in the address."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter.app import compare, wording
from ragmeter.runs.comparisons import kept_comparison
from ragmeter.runs.run import Run
from ragmeter.show.report.page import OF_ALL_ROWS
from ragmeter.stats.confidence import TESTS
from tests.app.serving import Client, serving
from tests.app.test_pages import ROWS, words
from tests.command import call

PAIR = "/compare?run=a&run=b"


def _rows(right: set[int], count: int = 60) -> list[dict[str, Any]]:
    """Questions of two topics, some answered rightly; the document is retrieved for those and every tenth other."""
    return [
        {
            "qid": f"q{i:02}",
            "question": f"Which number is {i}?",
            "reference": [f"the number {i}"],
            "answer": f"the number {i}" if i in right else "something else",
            "contexts": [f"It is the number {i}." if i in right or i % 10 == 0 else "Nothing."],
            "relevant": [f"d{i}"],
            "retrieved": [f"d{i}" if i in right or i % 10 == 0 else "d99"],
            "topic": "science" if i % 2 else "art",
            "latency_ms": 100 + i,
        }
        for i in range(count)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of 60 questions, a has 20 right; b these without four, and 30 more; c has those of a."""
    folder = tmp_path_factory.mktemp("runs")
    right = {"a": set(range(20)), "b": set(range(4, 50)), "c": set(range(20))}
    for name, rows in right.items():
        ragmeter.evaluate(_rows(rows), metrics="exact_match,token_f1,recall@1", run=name, output_dir=folder)
        created = {"a": "2026-01-01T00:00:00+00:00", "b": "2026-02-01T00:00:00+00:00", "c": "2026-03-01T00:00:00+00:00"}
        path = folder / name / "manifest.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "created": created[name]}))
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    with serving(folder) as client:
        yield client


def listed(page: str) -> list[str]:
    """The questions of the rows that are listed, by their numbers."""
    return re.findall(r'class="row-question">.*?is (\d+)\?', page)


@pytest.mark.parametrize(
    "address", [PAIR, "/compare?run=b&run=a", "/compare?baseline=a&run=b", "/compare?baseline=a&run=a&run=b"]
)
def test_the_older_run_is_the_baseline_in_whatever_order_they_were_ticked(client: Client, address: str) -> None:
    text = words(client.page(address))
    assert "B is better on exact_match: 76.7% instead of 33.3%" in text
    assert re.search(r"Baseline A .*Candidate B", text)
    assert "▲ 30 wrong → right ▼ 4 right → wrong — read these 16 right in both 10 wrong in both" in text


def test_a_pinned_baseline_counts_and_a_link_swaps(client: Client) -> None:
    page = client.page("/compare?baseline=b&run=a")
    assert "B is worse on exact_match: 33.3% instead of 76.7%" in words(page)
    (swap,) = re.findall(rf'href="([^"]+)"[^>]*aria-label="{wording.SWAP}"', page)
    assert "B is better" in words(client.page(unescape(swap)))


def test_rows_are_those_that_got_worse_until_others_are_chosen(client: Client) -> None:
    page = client.page(PAIR)
    assert listed(page) == ["0", "1", "2", "3"]
    assert "right → wrong · 4 rows" in words(page)
    better = re.search(r'<a class="stat card" href="([^"]+)"', page)
    assert better is not None
    assert len(listed(client.page(unescape(better[1])))) == 20
    assert len(listed(client.page(unescape(better[1]) + "&page=2"))) == 10
    assert listed(client.page(f"{PAIR}&change=wrong")) == [str(n) for n in range(50, 60)]
    assert listed(client.page(f"{PAIR}&search=number+is+7")) == ["7"]
    assert listed(client.page(f"{PAIR}&change=all&sort=candidate"))[:4] == ["0", "1", "2", "3"]
    assert listed(client.page(f"{PAIR}&change=all&sort=file"))[4:6] == ["4", "5"]


def test_conditions_are_joined_by_and(client: Client) -> None:
    wrong = client.page(f"{PAIR}&filter=exact_match%3D0")
    assert listed(wrong) == ["0", "1", "2", "3", *(str(n) for n in range(50, 60))]
    both = client.page(f"{PAIR}&filter=exact_match%3D0&filter=recall%401%3D0")
    assert listed(both) == ["1", "2", "3", *(str(n) for n in range(51, 60))]
    assert listed(client.page(f"{PAIR}&filter=exact_match%3D0&filter=A:exact_match%3D1")) == ["0", "1", "2", "3"]
    added = client.page(f"{PAIR}&filter=exact_match%3D0&of=A&column=recall%401&is=%3E%3D&value=1")
    assert listed(added) == ["0", "1", "2", "3", "50"]
    assert "B: exact_match = no × A: recall@1 ≥ 1 ×" in words(added)
    assert listed(client.page(f"{PAIR}&filter=exact_match%3D0&filter=topic%3Dscience")) == [
        "1",
        "3",
        *(str(n) for n in range(51, 60, 2)),
    ]


def test_causes_are_joined_by_and(client: Client) -> None:
    assert "· 36 rows" in words(client.page(f"{PAIR}&filter=A:cause%3Dnot_retrieved"))
    both = words(client.page(f"{PAIR}&filter=A:cause%3Dnot_retrieved&filter=cause%3Dright"))
    assert "· 27 rows" in both  # 20 to 49 but for 20, 30 and 40, which had their document


def test_rows_by_another_metric_are_called_by_what_it_says(client: Client) -> None:
    text = words(client.page(f"{PAIR}&metric=recall@1"))
    assert "recall@1: got worse · 3 rows" in text
    assert "right → wrong ·" not in text


def test_a_slice_cuts_everything(client: Client) -> None:
    page = client.page(f"{PAIR}&where=topic%3Dscience")
    text = words(page)
    assert "on 30 questions" in text
    assert "▲ 15 wrong → right ▼ 2 right → wrong" in text
    assert listed(page) == ["1", "3"]
    assert "topic: science ×" in text
    command = unescape(re.search(r'data-copy="(ragmeter [^"]+)"', page)[1])  # type: ignore[index]
    assert "--where topic=science" in command
    drawings = [re.search(r"Quality against latency.*?</figure>", of, re.S) for of in (page, client.page(PAIR))]
    assert drawings[0] is not None
    assert drawings[1] is not None
    assert drawings[0][0] != drawings[1][0]
    answer = client.ask("/compare/report?run=b&run=a&where=topic%3Dscience")
    assert "report-a-b-topic-science.html" in answer.headers["content-disposition"]
    report = words(answer.text)
    assert "Only rows where topic is science." in report
    assert "right → wrong: 2 rows" in report
    assert report.index("Both scores" if "Both scores" in report else "Quality against") < report.index(OF_ALL_ROWS)
    assert report.index(OF_ALL_ROWS) < report.index("60 rows, 3 metrics")
    export = unescape(re.search(r'href="(/compare/export/csv[^"]*)"', page)[1])  # type: ignore[index]
    assert "topic-science" in client.ask(export).headers["content-disposition"]
    assert "ragmeter-file-0123abcd=1" in client.ask(f"{export}&sign=ragmeter-file-0123abcd").headers["set-cookie"]


@pytest.mark.parametrize(
    ("address", "says"),
    [
        (f"{PAIR}&where=nothing%3Dx", "has no column 'nothing'"),
        (f"{PAIR}&where=topic%3Dmaths", "unknown value"),
        (f"{PAIR}&value=science", "a filter needs a column"),
        (f"{PAIR}&by=nothing", "is no column with slices"),
        (f"{PAIR}&colum=topic", "no field 'colum'"),
        (f"{PAIR}&change=nothing", "is not one of"),
        (f"{PAIR}&sort=nothing", "is not one of"),
        (f"{PAIR}&of=zeros", "is none of A, B"),
        (f"{PAIR}&metric=nothing", "unknown metric"),
        (f"{PAIR}&filter=what", "can't read the filter"),
        (f"{PAIR}&filter=nothing%3D1", "has no column 'nothing'"),
        (f"{PAIR}&filter=C:exact_match%3D1", "C is no run of this list"),
        (f"{PAIR}&where=topic~science", "can't cut to"),
        (f"{PAIR}&page=x", "is no number of a page"),
        (f"{PAIR}&candidate=c", "is none of the candidates b"),
        (f"{PAIR}&alpha=x", "is no number"),
        (f"{PAIR}&alpha=-0.5", "got -0.5"),
        (f"{PAIR}&margin=token_f1", "is no number"),
        (f"{PAIR}&test=guess", "unknown test"),
        ("/compare?run=a&run=nothing", "unknown run"),
    ],
)
def test_what_makes_no_sense_is_said(client: Client, address: str, says: str) -> None:
    answer = client.ask(address)
    assert answer.status in (400, 404)
    assert says in words(answer.text)


def test_without_two_runs_they_can_be_chosen(client: Client) -> None:
    for address in ("/compare", "/compare?run=a", "/compare?run="):
        text = words(client.page(address))
        assert wording.CHOOSE_TWO in text
    assert words(client.page("/compare?run=a")).count("choose a run") >= 1


def test_several_runs_are_each_beside_the_baseline(client: Client) -> None:
    page = client.page(f"{PAIR}&run=c")
    text = words(page)
    assert "B is better" in text  # the best one comes first
    assert "a can't be told apart" in text or "c can't be told apart" in text
    assert "= 0.33" in text
    other = client.page(f"{PAIR}&run=c&candidate=c")
    assert "No difference seen between C and A on exact_match" in words(other)
    assert "Quality against latency" in text


def test_large_runs_come_at_once_and_are_compared_afterwards(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "QUICK", 10)
    address = f"{PAIR}&alpha=0.011"
    page = client.page(address)
    assert "Comparing 60 rows …" in words(page)
    assert "0.333" in words(page) or "0.33" in words(page)  # the means are there already
    (rest,) = re.findall(r'hx-get="([^"]+)"', page[page.index("pending") - 900 : page.index("pending") + 50])
    whole = client.ask(unescape(rest), HX_Request="true").text
    assert "B is better" in words(whole)
    assert "B is better" in words(client.page(address))  # by now it is known


def test_rows_can_be_downloaded_and_the_report_has_the_comparison(client: Client) -> None:
    page = client.page(PAIR)
    (address,) = re.findall(r'href="(/compare/export/jsonl[^"]*)"', page)
    rows = [json.loads(line) for line in client.page(unescape(address)).splitlines()]
    assert [row["qid"] for row in rows] == ["q00", "q01", "q02", "q03"]
    assert (rows[0]["a.exact_match"], rows[0]["b.exact_match"]) == (1, 0)
    assert client.ask(f"/compare/export/exe{PAIR.removeprefix('/compare')}").status == 404
    report = client.ask("/compare/report?run=b&run=a")
    assert "attachment" in report.headers["content-disposition"]
    assert "B is better on exact_match:" in words(report.text)


def test_any_test_and_alpha_kept_with_the_runs_and_as_a_command(tmp_path: Path) -> None:
    for name, rows in (("a", ROWS), ("b", [{**row, "answer": row["reference"][0]} for row in ROWS])):
        ragmeter.evaluate(rows, metrics="token_f1,exact_match", run=name, output_dir=tmp_path)
    with serving(tmp_path) as client:
        page = client.page("/compare?baseline=a&run=b&test=t&alpha=0.01")
        command = unescape(re.search(r'data-copy="(ragmeter [^"]+)"', page)[1])  # type: ignore[index]
        assert command == f"ragmeter compare a b --test t --alpha 0.01 --output-dir {tmp_path}"
        assert client.post("/compare/keep", baseline="a", run=["b"], test="t", alpha="x").status == 400
        assert client.post("/compare/keep", run=["a"], test="t", alpha="0.01").status == 400
        assert kept_comparison([Run(tmp_path / "a"), Run(tmp_path / "b")]) is None
        answer = client.post("/compare/keep", baseline=["a"], run=["b"], test=["t"], alpha=["0.01"], change="worse")
        shown = json.loads(answer.text)["next"]
        assert shown == "/compare?baseline=a&run=b&change=worse&test=t&alpha=0.01"
        kept = (tmp_path / "b" / "comparisons" / "a.json").read_text()
        again = client.page("/compare?baseline=a&run=b")  # what was kept is what is shown
        assert "Kept with the runs on" in words(again)
        assert "p below 0.01" in again
    assert call(shlex.split(command)[1:], tmp_path, {}).returncode == 0
    kept_again = json.loads((tmp_path / "b" / "comparisons" / "a.json").read_text())
    assert json.loads(kept)["settings"] == kept_again["settings"]


def test_kept_margins_are_in_the_command(tmp_path: Path) -> None:
    for name, rows in (("a", ROWS), ("b", [{**row, "answer": row["reference"][0]} for row in ROWS])):
        ragmeter.evaluate(rows, metrics="token_f1", run=name, output_dir=tmp_path)
    ragmeter.compare(["a", "b"], margin={"token_f1": 0.9}, movers=3, keep=True, output_dir=tmp_path)
    with serving(tmp_path) as client:
        page = client.page("/compare?baseline=a&run=b")
    assert "B is better on token_f1, but by little" in words(page)
    command = unescape(re.search(r'data-copy="(ragmeter [^"]+)"', page)[1])  # type: ignore[index]
    assert "--margin token_f1=0.9" in command
    assert "Both scores" in words(page)  # a metric that is not 0 or 1 has a scatter


def test_every_test_of_compare_can_be_chosen() -> None:
    assert tuple(wording.TESTS) == TESTS


def test_a_judge_that_failed_is_an_alarm_and_different_judges_give_no_verdict(tmp_path: Path) -> None:
    for name, reply in (("a", "No"), ("b", "Yes"), ("c", "well")):
        judge = ragmeter.Judge(provider=ragmeter.FakeProvider(reply, model=f"model-{name}"), check=False)
        ragmeter.evaluate(ROWS, metrics="llm_correct,token_f1", judge=judge, run=name, output_dir=tmp_path)
    with serving(tmp_path) as client:
        text = words(client.page("/compare?baseline=a&run=b"))
        failed = client.page("/compare?baseline=a&run=c")
    assert "a and b were judged differently (model: model-a, model-b)" in text
    assert "No verdict between B and A: their llm_correct is from different judges" in text
    alarm = failed[failed.index('class="note bad"') :]
    assert "The judge failed on 40 of 120 rows: unparsable" in alarm[:400]
    assert failed.index('class="note bad"') < failed.index('class="stats"')
