"""Results and references joined by qid, with both sides' leftovers counted and named."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from ragmeter import evaluate
from ragmeter.documents.summary import Join, Unmatched
from ragmeter.errors import ColumnError, InputError, RagmeterWarning
from ragmeter.io import join
from ragmeter.io.data import Data


def rows(*qids: str, **columns: Any) -> list[dict[str, Any]]:
    return [{"qid": qid, **columns} for qid in qids]


def test_both_sides_leftovers_are_rows_that_failed() -> None:
    evaluation = evaluate(
        rows("3", "1", "9", answer="a"), rows("1", "2", "3", "4", reference="a"), metrics="token_f1,exact_match"
    )
    assert evaluation.summary.join == Join(2, Unmatched(1, ["9"]), Unmatched(2, ["2", "4"]))
    for name in ("token_f1", "exact_match"):
        assert evaluation[name].n_total == 5
        assert evaluation[name].n_scored == 2
        assert evaluation[name].n_not_scored == {"no_reference": 1, "no_result": 2}
        assert evaluation[name].mean == 1
    assert evaluation.rows.column("qid").to_pylist() == ["3", "1", "9", "2", "4"]


def test_text_ids_are_not_numbers() -> None:
    evaluation = evaluate(rows("007", "7", answer="a"), rows("007", "8", reference="a"), metrics="token_f1")
    assert evaluation.summary.join.results_only == Unmatched(1, ["7"])


def test_the_reference_s_columns_come_along() -> None:
    reference = [{"qid": "1", "question": "q?", "answer": "gold", "domain": "sports"}]
    evaluation = evaluate([{"qid": "1", "answer": "gold", "domain": "mine"}], reference, metrics="exact_match")
    row = evaluation.rows.to_pylist()[0]
    assert row["question"] == "q?"
    assert row["reference"] == ["gold"]
    assert row["domain"] == "mine"


def test_nothing_in_common() -> None:
    with pytest.raises(InputError, match="no qid in common"):
        evaluate(rows("a", answer="x"), rows("b", reference="x"), metrics="token_f1")


def test_no_qid_to_join_by_and_another_column_instead() -> None:
    results = [{"question": "q1", "answer": "a"}]
    reference = [{"question": "q1", "ground_truth": "a"}]
    with pytest.raises(ColumnError, match=r'both have question: .* add columns=\{"qid": "question"\}'):
        evaluate(results, reference, metrics="exact_match")
    evaluation = evaluate(results, reference, metrics="exact_match", columns={"qid": "question"})
    assert evaluation["exact_match"].mean == 1


def test_nothing_to_join_by() -> None:
    with pytest.raises(ColumnError, match="none to join by"):
        evaluate([{"nr": "1", "answer": "a"}], [{"number": "1", "reference": "a"}], metrics="exact_match")


def test_a_duplicate_in_the_reference() -> None:
    with pytest.raises(InputError, match="row 2: the qid '1' appears here for the second time"):
        evaluate(rows("1", answer="x"), rows("1", "1", reference="x"), metrics="token_f1")


def test_a_duplicate_far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.io.batches.ROWS", 10)
    qids = [str(n) for n in range(35)]
    with pytest.raises(InputError, match="row 36: the qid '3'"):
        list(Data.open(rows(*qids, "3", answer="x")).batches())


def test_equal_hashes_of_different_ids_are_no_duplicate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join, "hash", lambda text: 1, raising=False)
    batches = list(Data.open(rows("a", "b", "c", answer="x")).batches())
    assert [qid for batch in batches for qid in batch.columns["qid"]] == ["a", "b", "c"]


def test_rows_without_a_qid_are_numbered() -> None:
    evaluation = evaluate([{"query": "same", "response": "a", "ground_truth": "a"}] * 3, metrics="exact_match")
    assert evaluation.rows.column("qid").to_pylist() == ["1", "2", "3"]


def test_a_row_that_failed_is_counted_with_its_cause() -> None:
    results = [
        {"qid": "1", "answer": "a", "error": None},
        {"qid": "2", "answer": "Error", "error": "HTTP 500"},
        {"qid": "3", "answer": None, "error": ""},
    ]
    evaluation = evaluate(results, rows("1", "2", "3", reference="a"), metrics="token_f1")
    assert evaluation["token_f1"].n_not_scored == {"no_answer": 1, "target_error": 1}
    assert evaluation["token_f1"].mean == 1


def test_a_column_that_appears_late_in_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.io.batches.ROWS", 2)
    reference = [{"qid": str(n), "reference": "a", **({"relevant": [f"d{n}"]} if n > 2 else {})} for n in range(5)]
    results = [{"qid": str(n), "answer": "a", "retrieved": [f"d{n}"]} for n in range(5)]
    evaluation = evaluate(results, reference, metrics="token_f1,recall@1")
    assert evaluation["token_f1"].n_scored == 5
    assert (evaluation["recall@1"].mean, evaluation["recall@1"].n_not_scored) == (1, {"no_relevant": 3})


@pytest.mark.parametrize(("name", "place"), [("a.json", "row 2"), ("a.jsonl", "line 3")])
def test_a_row_is_named_by_its_line_or_by_its_number(name: str, place: str, tmp_path: Path) -> None:
    """Rows of a JSON document are over several lines, and blank lines are no rows."""
    row = {"qid": "1", "answer": "a", "reference": "a"}
    text = json.dumps([row, row], indent=2) if name == "a.json" else f"{json.dumps(row)}\n\n{json.dumps(row)}\n"
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"{name}, {place}: the qid '1' appears here for the second time"):
        evaluate(tmp_path / name, metrics="token_f1")


def test_a_reference_without_its_qid() -> None:
    with pytest.raises(InputError, match="reference, row 2: the qid is missing"):
        evaluate(rows("1", answer="a"), [{"qid": "1", "reference": "a"}, {"reference": "b"}], metrics="token_f1")


def test_the_user_s_title_in_one_file_and_a_usual_one_in_the_other() -> None:
    results, reference = [{"my_id": "1", "answer": "a"}], [{"qid": "1", "answer": "a"}]
    evaluation = evaluate(results, reference, metrics="exact_match", columns={"qid": "my_id", "answer": "answer"})
    assert evaluation["exact_match"].mean == 1


def test_results_that_are_their_own_reference(tmp_path: Path) -> None:
    """They scored 1.0000 without a word."""
    gold, link, copy, other = (tmp_path / f"{name}.tsv" for name in ("gold", "link", "copy", "other"))
    gold.write_text("qid\tanswer\n1\tRome\n2\tParis\n")
    link.symlink_to(gold)
    copy.write_bytes(gold.read_bytes())
    other.write_text("qid\tanswer\n1\tRoma\n2\tParis\n")
    for reference in (gold, str(gold), link, copy):
        with pytest.warns(
            RagmeterWarning, match=r"the results and the reference are the same \(.*gold\.tsv\)"
        ) as caught:
            assert evaluate(gold, reference, metrics="exact_match")["exact_match"].mean == 1.0
        assert caught[0].filename == __file__, "the warning points at the call"
    results = rows("1", answer="Rome")
    with pytest.warns(RagmeterWarning, match="are the same"):
        evaluate(results, results, metrics="exact_match")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(gold, other, metrics="exact_match")
        evaluate(results, rows("1", reference="Rome"), metrics="exact_match")


def test_a_reference_that_was_forgotten() -> None:
    with pytest.raises(ColumnError, match="token_f1 needs the column 'reference', which is missing") as caught:
        evaluate(rows("1", answer="Rome", question="?"), metrics="token_f1")
    assert caught.value.hint.startswith("the columns are qid, answer, question; if another file has it, name that file")
    with pytest.raises(ColumnError) as caught:
        evaluate(rows("1", answer="Rome"), rows("1", gold="Rome"), metrics="token_f1")
    assert "another file" not in caught.value.hint
