"""Documents into passages: formats, ids, what is left out, and what can't be read."""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragmeter.errors import InputError, MissingExtraError, RagmeterError, UsageError
from ragmeter.testsets.cutting import paragraphs_of, passages_of
from ragmeter.testsets.documents import Documents
from ragmeter.testsets.html import text_of_page
from ragmeter.testsets.questions import Passage
from ragmeter.testsets.sampling import Sample, draw, survey
from tests.testsets.writer import passage, pdf, write_chunks, write_folder


def test_markdown_is_cut_at_headings() -> None:
    text = f"# Guide\n\n{passage(1)}\n\n## Food\n\n{passage(2)}\n\n```\n# no heading\n\nx = 1\n```\n"
    cut = list(passages_of(paragraphs_of(text)))
    assert [part.heading for part in cut] == ["Guide", "Guide\nFood"]
    assert cut[0].text == passage(1)
    assert "# no heading" in cut[1].text


def test_a_long_paragraph_is_divided_between_sentences() -> None:
    cut = list(passages_of(paragraphs_of(" ".join(passage(number) for number in range(40)))))
    assert len(cut) > 3
    assert all(part.text.endswith(".") and len(part.text.split()) <= 220 for part in cut)


def test_html_is_its_texts() -> None:
    page = (
        "<html><head><title>Towns</title><style>p {color: red}</style></head><body><nav>Home <b>About</b></nav>"
        f"<h2>First &amp; last</h2><p>{passage(1)}</p><script>alert('x')</script><p>Two<br>lines</p>"
        "<footer>All rights</footer></body>"
    )
    text = text_of_page(page)
    assert text.startswith("# Towns\n\n## First & last")
    assert passage(1) in text
    assert not [left for left in ("Home", "About", "alert", "color", "All rights") if left in text]


def test_a_pdf_is_the_texts_of_its_pages(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "two.pdf").write_bytes(pdf(passage(1), f"{passage(2)} In Köln."))
    documents = Documents.open([folder])
    documents.passages()
    [one] = documents.passages()
    assert (one.id, " ".join(one.text.split())) == ("two.pdf", f"{passage(1)} {passage(2)} In Köln.")
    assert not +documents.left_out


def test_pdfs_that_can_not_be_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from pypdf import PdfWriter

    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "good.pdf").write_bytes(whole := pdf(passage(1)))
    for name, user in (("locked", "secret"), ("open", "")):  # everybody may read what only its owner may change
        writer = PdfWriter(clone_from=folder / "good.pdf")
        writer.encrypt(user, "owner", algorithm="RC4-128")
        writer.write(folder / f"{name}.pdf")
    (folder / "cut.pdf").write_bytes(whole[: len(whole) // 2])
    (folder / "wrong.pdf").write_bytes(whole.replace(b"/Kids [", b"/Kids 7["))
    (folder / "empty.pdf").write_bytes(b"")
    (folder / "scan.pdf").write_bytes(pdf(""))
    documents = Documents.open([folder])
    documents.passages()
    assert +documents.left_out == {"pdf_damaged": 3, "pdf_locked": 1, "pdf_without_text": 1}
    assert {one.id for one in documents.passages()} == {"good.pdf", "open.pdf"}
    assert capfd.readouterr() == ("", "")
    for name, words in (("locked", "locked with a password"), ("cut", "is damaged"), ("scan", "OCR")):
        with pytest.raises(InputError, match=words):
            Documents.open([folder / f"{name}.pdf"]).passages()


def test_without_a_reader_of_pdfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(passage(1)))
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(MissingExtraError, match=r"to read PDF files.*\s.*\[pdf\]"):
        Documents.open([tmp_path / "a.pdf"]).passages()


def test_own_chunks_keep_their_ids(tmp_path: Path) -> None:
    rows = [
        {"chunk_id": f"k{number}", "content": passage(number), "document": "d", "lang": "es"} for number in range(3)
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "chunks.parquet")
    passages = list(Documents.open([tmp_path / "chunks.parquet"]).passages())
    assert [(one.id, one.source, one.language) for one in passages] == [(f"k{at}", "d", "es") for at in range(3)]


def test_a_column_of_another_name(tmp_path: Path) -> None:
    path = tmp_path / "chunks.jsonl"
    path.write_text(json.dumps({"nr": 7, "inhalt": passage(1)}) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="chunks need a column id"):
        Documents.open([path]).passages()
    documents = Documents.open([path], columns={"id": "nr", "text": "inhalt"})
    assert [(one.id, one.text) for one in documents.passages()] == [("7", passage(1))]
    with pytest.raises(UsageError, match="no column colour"):
        Documents.open([path], columns={"colour": "x"})


def test_the_corpus_of_a_beir_folder(tmp_path: Path) -> None:
    rows = [{"_id": f"d{number}", "title": f"Town {number}", "text": passage(number)} for number in range(2)]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert [(one.id, one.heading) for one in Documents.open([tmp_path]).passages()] == [
        ("d0", "Town 0"),
        ("d1", "Town 1"),
    ]


def test_ids_that_stand_twice(tmp_path: Path) -> None:
    path = write_chunks(tmp_path / "chunks.jsonl", 3)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"id": "c1", "text": "again"}) + "\n")
    with pytest.raises(InputError, match="the id 'c1' stands twice") as caught:
        Documents.open([path]).passages()
    assert caught.value.line == 4


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\0\0", b"\xff\xfe\xff"])
def test_binary_files_are_counted(tmp_path: Path, content: bytes) -> None:
    folder = write_folder(tmp_path / "docs", 2)
    (folder / "broken.txt").write_bytes(content)
    (folder / "picture.png").write_bytes(content)
    documents = Documents.open([folder])
    documents.passages()
    assert +documents.left_out == {"not_text": 1, "unknown_format": 1}
    assert {one.source for one in documents.passages()} == {"doc0.md", "doc1.md"}
    with pytest.raises(InputError, match="no text in UTF-8"):
        Documents.open([folder / "broken.txt"]).passages()
    with pytest.raises(InputError, match=r"can't tell what \.png is"):
        Documents.open([folder / "picture.png"])


def test_nothing_to_read(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(RagmeterError, match="without files"):
        Documents.open([tmp_path / "empty"])
    with pytest.raises(InputError, match="there is no such file"):
        Documents.open([tmp_path / "missing"])


def test_what_many_documents_have_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    notice = (
        "Copyright of the guides of all towns; nobody may copy this text or parts of this text anywhere at any time."
    )
    for number in range(5):
        (folder / f"{number}.txt").write_text(f"{passage(number)}\n\n{notice}\n", encoding="utf-8")
    documents = Documents.open([folder])
    assert [one.text for one in documents.passages()] == [passage(number) for number in range(5)]
    assert documents.left_out["repeated_paragraphs"] == 1


def test_survey_and_draw(tmp_path: Path) -> None:
    path = write_chunks(tmp_path / "chunks.jsonl", 40, sources=8)
    extra = [("twin", passage(3)), ("short", "Too short."), ("table", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15")]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": name, "text": text, "source": "s0"}) + "\n" for name, text in extra)
    documents = Documents.open([path])
    seen = survey(documents.passages(), 1)
    assert seen.dropped == {"near_duplicate": 1, "too_short": 1, "boilerplate": 1}
    assert seen.usable == 40
    sample = draw(documents.passages, seen, 7, 3)
    assert len({one.source for one in sample.passages}) == 7  # each source in its turn
    assert len(sample.held_out_sources) == 1
    assert {one.source for one in sample.held_out} == set(sample.held_out_sources)
    assert not {one.source for one in sample.passages} & set(sample.held_out_sources)
    assert draw(documents.passages, seen, 7, 3) == sample
    assert draw(documents.passages, survey(documents.passages(), 2), 7, 3) != sample


def test_a_draw_does_not_depend_on_the_order() -> None:
    chunks = [Passage(f"c{number}", passage(number), f"s{number % 20}") for number in range(60)]

    def drawn(passages: list[Passage]) -> Sample:
        return draw(lambda: iter(passages), survey(passages, 1), 20, 3)

    sample = drawn(chunks)
    assert drawn(chunks[::-1]) == sample
    more = drawn([Passage("new", passage(100), "new"), *chunks])
    assert len({*more.passages} & {*sample.passages}) >= 15
    assert len({*more.held_out_sources} & {*sample.held_out_sources}) >= len(sample.held_out_sources) - 1


def test_texts_do_not_stay_in_memory() -> None:
    def most_memory(n: int) -> int:
        def read() -> Iterator[Passage]:
            return (Passage(f"c{number}", passage(number) * 10, f"s{number}") for number in range(n))

        tracemalloc.start()
        draw(read, survey(read(), 0), 50, 0)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    texts = sum(len(passage(number) * 10) for number in range(500, 2_000))
    assert most_memory(2_000) - most_memory(500) < texts / 2
