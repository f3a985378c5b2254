"""The documents of a run in the app: as `ragmeter documents` counts them, searched, sorted, and their questions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

import ragmeter
from ragmeter.analysis.document_list import document_questions
from tests.app.serving import Client, serving
from tests.app.test_pages import words

HOSTILE = '<script>hit=1</script>"&?/'
#: q0 finds its gold document second, q1 misses it, q2 finds what nobody needs, q3's system failed.
_OF_ROWS = (
    ("Where?", "a", ["x", "g::chunk-1", "g::chunk-2"], ["g"]),
    ("Who?", "b", ["x", HOSTILE], ["lost", "g"]),
    ("When?", "a", [f"d{i}" for i in range(30)], ["d3"]),
    ("Why?", None, None, ["g"]),
)
ROWS = [
    {"qid": f"q{i}", "question": asked, "answer": said, "reference": "a", "retrieved": retrieved, "relevant": gold}
    | ({} if said else {"error": "timeout"})
    for i, (asked, said, retrieved, gold) in enumerate(_OF_ROWS)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    ragmeter.evaluate(ROWS, metrics="exact_match,recall@3", run="a", output_dir=folder)
    ragmeter.evaluate([{"answer": "a", "reference": "a"}], metrics="exact_match", run="none", output_dir=folder)
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    with serving(folder) as client:
        yield client


def ids(page: str) -> list[str]:
    return [words(f"<body>{cell}") for cell in re.findall(r'data-title="document[^"]*">(.*?)</td>', page)]


def test_counts_are_those_of_the_command(client: Client) -> None:
    page = client.page("/run/a/documents")
    text = words(page)
    assert "34 documents, of 3 questions" in text
    assert "gold, never retrieved: 1" in text
    assert ids(page)[:3] == ["g", "lost", "x"]  # missed most, then retrieved most
    assert "g 1 2 1 1 2.00 100% 1" in text
    assert "ragmeter documents a --corpus docs.jsonl" in text


def test_searched_sorted_and_paged(client: Client) -> None:
    assert len(ids(client.page("/run/a/documents"))) == 25
    assert len(ids(client.page("/run/a/documents?page=2"))) == 9
    assert ids(client.page("/run/a/documents?search=D2&sort=mean_rank&descending=1"))[:2] == ["d29", "d28"]
    assert ids(client.page("/run/a/documents?kind=lost")) == ["lost"]
    assert "d3" not in ids(client.page("/run/a/documents?kind=useless&search=d3"))
    assert "No document matches." in words(client.page("/run/a/documents?search=nothing"))


def test_the_questions_of_a_document(client: Client, folder: Path) -> None:
    questions = document_questions("a", "g", output_dir=folder)
    assert [(row.place, row.rank, row.is_gold, row.right) for row in questions] == [(1, None, True, 0), (0, 2, True, 1)]
    text = words(client.page("/run/a/document?id=g"))
    assert "q1 Who? missed gold wrong q0 Where? 2 gold right" in text


def test_an_id_is_text(client: Client) -> None:
    page = client.page("/run/a/documents?search=script")
    assert HOSTILE not in page
    (where,) = re.findall(r'href="(/run/a/document\?id=[^"]*)"', page)
    assert "q1 Who? 2 wrong" in words(client.page(where.replace("&amp;", "&")))


def test_a_corpus_that_is_named_at_the_start(folder: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"_id": name}) + "\n" for name in ("g", "unseen", "x")))
    with serving(folder, corpus=corpus) as client:
        page = client.page("/run/a/documents?kind=unseen")
        assert "in the corpus, never retrieved: 1" in words(page)
        assert ids(page) == ["unseen"]
    with serving(folder) as client:  # and no address names one
        assert client.ask("/run/a/documents?kind=unseen").status == 400
        assert client.ask(f"/run/a/documents?corpus={corpus}").status == 400


def test_a_run_that_does_not_say_what_was_retrieved(client: Client) -> None:
    assert "give the results a column retrieved with lists of ids" in words(client.page("/run/none/documents"))
    assert client.ask("/run/none/document?id=x").status == 400


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("documents?kind=x", "kind=x: it must be one of"),
        ("documents?sort=x", "sort=x: it must be one of"),
        ("documents?descending=x", "it must be 0 or 1"),
        ("documents?page=999", "there is no page 999 of"),
        ("documents?foo=1", "no field 'foo'"),
        ("document?id=nothing", "unknown document 'nothing'"),
    ],
)
def test_what_the_documents_page_does_not_know_is_an_error(client: Client, path: str, says: str) -> None:
    answer = client.ask(f"/run/a/{path}")
    assert answer.status in (400, 404)
    assert says in unescape(answer.text)
