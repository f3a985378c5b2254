"""What each document does in a run: counted by hand, and against a plain count."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import evaluate, list_documents
from ragmeter.documents.document_use import DocumentUse
from ragmeter.errors import InputError, UsageError

ROWS: list[dict[str, Any]] = [
    {"qid": "1", "relevant": ["a"], "retrieved": ["b", "a", "b"], "answer": "x", "reference": "x"},
    {"qid": "2", "relevant": ["a", "c"], "retrieved": ["b"], "answer": "y", "reference": "x"},
    {"qid": "3", "relevant": ["d"], "retrieved": [], "answer": "x", "reference": "x"},
    {"qid": "4", "relevant": ["a"], "retrieved": None, "answer": None, "reference": "x", "error": "HTTP 500"},
]


def test_counted_by_hand() -> None:
    documents = list_documents(evaluate(ROWS, metrics="exact_match,recall@5"))
    assert documents.n_questions == 3  # what was retrieved for the fourth, nobody knows
    by_id = {document.id: document for document in documents}
    assert by_id["a"] == DocumentUse("a", retrieved=1, gold=2, missed=1, useful=1, mean_rank=2.0, right=1.0, n_judged=1)
    assert by_id["b"] == DocumentUse("b", retrieved=2, gold=0, missed=0, useful=0, mean_rank=1.0, right=0.5, n_judged=2)
    assert by_id["c"] == DocumentUse(
        "c", retrieved=0, gold=1, missed=1, useful=0, mean_rank=None, right=None, n_judged=0
    )
    assert [document.id for document in documents] == ["a", "c", "d", "b"]
    assert documents[0] == by_id["a"]
    assert documents[-1] == by_id["b"]
    assert (documents.useless.gold_never_retrieved, documents.useless.never_useful) == (["c", "d"], ["b"])
    assert documents.useless.never_retrieved is None


def test_with_a_corpus(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps({"_id": name, "text": "t"}) + "\n" for name in "abxyz"))
    run = evaluate(ROWS, metrics="recall@5")
    documents = list_documents(run, corpus=tmp_path / "docs.jsonl")
    assert (documents.useless.never_retrieved, documents.useless.n_corpus) == (["x", "y", "z"], 5)
    assert [document.id for document in documents] == [document.id for document in list_documents(run)]
    in_memory = list_documents(run, corpus=[{"id": "a"}, {"id": "z"}])
    assert in_memory.useless.never_retrieved == ["z"]


def test_a_corpus_without_ids_is_refused(tmp_path: Path) -> None:
    run = evaluate(ROWS, metrics="recall@5")
    with pytest.raises(InputError, match="no column of ids"):
        list_documents(run, corpus=[{"text": "t"}])
    (tmp_path / "docs.jsonl").write_text('{"_id": "a"}\n{"_id": null}\n')
    with pytest.raises(InputError, match="without an id") as raised:
        list_documents(run, corpus=tmp_path / "docs.jsonl")
    assert raised.value.line == 2


def test_chunks_are_their_documents() -> None:
    rows = [{"relevant": ["a"], "retrieved": ["a::chunk-1", "b::chunk-9", "a::chunk-2", "c"]}]
    documents = {document.id: document for document in list_documents(evaluate(rows, metrics="recall@5"))}
    assert set(documents) == {"a", "b", "c"}
    assert (documents["a"].useful, documents["a"].mean_rank, documents["c"].mean_rank) == (1, 1.0, 3.0)
    rows = [{"relevant": ["a"], "retrieved": ["a#1", "b#9"]}]
    by_pattern = list_documents(evaluate(rows, metrics="recall@5", doc_id_pattern=r"^(.*)#"))
    assert {document.id for document in by_pattern} == {"a", "b"}


def test_without_gold_documents_right_answers_make_a_document_useful() -> None:
    rows = [
        {"retrieved": ["a", "b"], "answer": "x", "reference": "x"},
        {"retrieved": ["b", "c"], "answer": "y", "reference": "x"},
    ]
    assert list_documents(evaluate(rows, metrics="exact_match")).useless.never_useful == ["c"]
    assert [document.useful for document in list_documents(evaluate(rows, metrics="exact_match"))] == [1, 1, 0]
    unjudged = list_documents(evaluate(rows, metrics="token_f1"))
    assert {document.useful for document in unjudged} == {None}
    assert (unjudged.useless.never_useful, unjudged[0].right) == ([], None)


def test_right_is_the_run_s_verdict_with_and_without_texts() -> None:
    asked = {"question": "What is the capital of Peru?", "reference": "Lima", "relevant": ["p"], "retrieved": ["p"]}
    who = {"question": "Who was mayor of Lima in 3000?", "reference": "I don't know", "retrieved": ["p"]}
    answers = [("Lima", asked), ("Quito", asked), ("Ann Lee", who), ("I don't know", who), (None, asked)]
    bare = [{**row, "qid": str(place), "answer": answer} for place, (answer, row) in enumerate(answers)]
    runs = [bare, [{**row, "contexts": ["Lima is the capital of Peru."]} for row in bare]]
    for run in (evaluate(rows, metrics="offline_correct") for rows in runs):
        scores = [score for score in run.rows["offline_correct"].to_pylist() if score is not None]
        (document,) = list_documents(run)
        assert document.n_judged == len([score for score in scores if score == score])
        assert document.right == sum(score for score in scores if score == score) / document.n_judged


def test_a_run_without_retrieved_documents_is_refused() -> None:
    with pytest.raises(UsageError, match="no column 'retrieved'"):
        list_documents(evaluate([{"answer": "a", "reference": "a"}], metrics="exact_match"))


def test_the_table_for_frames_and_json() -> None:
    documents = list_documents(evaluate(ROWS, metrics="recall@5"))
    assert documents.to_pandas()["id"].tolist() == ["a", "c", "d", "b"]
    assert documents.as_dict()["documents"][0]["id"] == "a"
    assert documents.as_dict()["gold_never_retrieved"] == ["c", "d"]
    assert (
        "<b>"
        not in list_documents(evaluate([{"relevant": ["<b>"], "retrieved": ["<b>"]}], metrics="hit"))._repr_html_()
    )


IDS = st.lists(st.sampled_from("abcdef"), max_size=5)


@given(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=8).filter(lambda rows: any(a or b for a, b in rows)))
def test_as_a_plain_count_has_it(rows: list[tuple[list[str], list[str]]]) -> None:
    table = [{"relevant": gold, "retrieved": ids, "answer": "x", "reference": "x"} for gold, ids in rows]
    expected: dict[str, list[Any]] = defaultdict(lambda: [0, 0, 0, []])
    for gold, ids in rows:
        distinct = list(dict.fromkeys(ids))
        for rank, name in enumerate(distinct, 1):
            expected[name][0] += 1
            expected[name][3].append(rank)
        for name in set(gold):
            expected[name][1] += 1
            expected[name][2] += name not in distinct
    found = list_documents(evaluate(table, metrics="exact_match"))
    assert {d.id: [d.retrieved, d.gold, d.missed] for d in found} == {k: v[:3] for k, v in expected.items()}
    for document in found:
        ranks = expected[document.id][3]
        assert document.mean_rank == (pytest.approx(sum(ranks) / len(ranks)) if ranks else None)
