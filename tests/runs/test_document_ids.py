"""What is said of ids of documents: those that never match, and chunks that were read as their documents."""

from pathlib import Path
from typing import Any

import pytest

from ragmeter import evaluate
from ragmeter.documents.summary import Chunks, DocumentIds, NeverMatch

PAGES = [
    {"qid": "1", "retrieved": [], "relevant": ["page1.md"]},
    {"qid": "2", "retrieved": ["docs/page7.md#0", "docs/page8.md#0"], "relevant": ["page7.md"]},
    {"qid": "3", "retrieved": ["docs/page9.md#0"], "relevant": []},
]
CHUNKS = [
    {"qid": "1", "retrieved": ["a::chunk-1", "a::chunk-2", "doc-<b>::chunk-1"], "relevant": ["a"]},
    {"qid": "2", "retrieved": ["a::chunk-1", "c"], "relevant": ["c"]},
]


@pytest.mark.parametrize("how", [{}, {"engine": "threads", "run": "a"}])
def test_ids_that_never_match(tmp_path: Path, how: dict[str, Any]) -> None:
    (tmp_path / "pages.jsonl").write_text("".join(f"{row}\n".replace("'", '"') for row in PAGES))
    evaluation = evaluate(tmp_path / "pages.jsonl", metrics="recall@5", output_dir=tmp_path, **how)
    never = NeverMatch(rows=1, retrieved="docs/page7.md#0", gold="page7.md")
    assert evaluation.summary.document_ids == DocumentIds(never_match=never)
    sentence = "retrieved 'docs/page7.md#0', gold 'page7.md'"
    assert sentence in repr(evaluation).splitlines()[1]
    assert "doc_id_pattern=..." in repr(evaluation)
    assert "docs/page7.md#0" in evaluation._repr_html_()


def test_a_text_as_an_id_is_shortened() -> None:
    rows = [{"retrieved": ["Paris is the capital of France. " * 20], "relevant": ["d1"]}]
    example = evaluate(rows, metrics="recall@5").summary.document_ids.never_match.retrieved
    assert (len(example), example[-1]) == (80, "…")


def test_nothing_is_said_where_ids_match_or_nobody_compares_them() -> None:
    rows = [*PAGES, {"qid": "4", "retrieved": ["x", "d1"], "relevant": ["d1"]}]
    assert evaluate(rows, metrics="recall@1").summary.document_ids is None
    rows = [{**row, "reference": "x", "answer": "x"} for row in PAGES]
    assert evaluate(rows, metrics="token_f1").summary.document_ids is None
    pattern = r"docs/(.+)#\d+"
    assert evaluate(PAGES, metrics="recall@5", doc_id_pattern=pattern).summary.document_ids is None


def test_chunks_that_are_read_as_documents() -> None:
    evaluation = evaluate(CHUNKS, metrics="recall@5")
    assert evaluation["recall@5"].mean == 1
    assert evaluation.summary.document_ids == DocumentIds(chunks=Chunks(ids=3, documents=2))
    assert "3 ids read as chunks of 2 documents" in repr(evaluation)


def test_the_line_stands_before_the_zeros(ragmeter: Any, tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text("".join(f"{row}\n".replace("'", '"') for row in PAGES))
    done = ragmeter("evaluate", "--results", "pages.jsonl", "--metrics", "recall@5", "--run", "a")
    assert done.stdout.index("no retrieved id is a gold id in the one row that has both") < done.stdout.index("0.00")
    assert "--doc-id-pattern finds" in done.stdout
