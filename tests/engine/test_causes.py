"""The columns `cause` and `cause_evidence` of a run: who gets them, by which evidence, and what the summary says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import ragmeter
from ragmeter import add_metrics, evaluate
from ragmeter.runs.run import Run
from ragmeter.wording.ids import never_match_lines
from tests.in_parts import in_parts

FRANCE = "Paris is the capital of France. It lies on the Seine, and was the seat of the kings of France."
ITALY = "Rome is the capital of Italy. It lies on the Tiber, and was the seat of the emperors."
QUESTION = "What is the capital of France?"


def row(answer: str | None, *passages: str, **more: Any) -> dict[str, Any]:
    return {"question": QUESTION, "reference": "Paris", "answer": answer, "contexts": list(passages), **more}


ROWS = [
    (row("Paris", FRANCE), "right"),
    (row("Paris", ITALY), "right_not_from_passages"),
    (row("Lyon", FRANCE), "retrieved_not_used"),
    (row("Rome", FRANCE, ITALY), "misread"),
    (row("Berlin", ITALY), "not_retrieved"),
    (row("Berlin"), "not_retrieved"),
    (row("I don't know.", ITALY), "not_retrieved"),
    (row("I don't know.", FRANCE), "declined_though_retrieved"),
    (row("I don't know.", FRANCE, unanswerable="yes"), "rightly_declined"),
    (row(None, FRANCE), "failed"),
    (row(None, FRANCE, error="HTTP 500"), "failed"),
]
CAUSES = [cause for _, cause in ROWS]


def causes(evaluation: Any) -> list[str]:
    found: list[str] = evaluation.rows["cause"].to_pylist()
    return found


def test_by_the_texts_alone() -> None:
    evaluation = evaluate([row for row, _ in ROWS], metrics="offline_correct")
    assert causes(evaluation) == CAUSES
    evidence = evaluation.rows["cause_evidence"].to_pylist()
    assert evidence[5] == "no_passages"
    assert evidence[8:] == ["marked_unanswerable", "no_answer", "target_error"]
    assert set(evidence[:5]) == {"offline_support"}


def test_gold_documents_come_before_the_texts() -> None:
    rows = [
        row("Berlin", FRANCE, relevant=["fr"], retrieved=["it::chunk-1"]),
        row("Berlin", ITALY, relevant=["fr"], retrieved=["it::chunk-1", "fr::chunk-7"]),
        row("Paris", ITALY, relevant=["fr"], retrieved=["fr::chunk-2"]),
        row("Berlin", FRANCE, relevant=[], retrieved=["it"]),  # nothing is known of gold documents here
    ]
    evaluation = evaluate(rows, metrics="offline_correct")
    assert causes(evaluation) == ["not_retrieved", "retrieved_not_used", "right", "retrieved_not_used"]
    assert evaluation.rows["cause_evidence"].to_pylist() == [*["gold_documents"] * 3, "offline_support"]


def test_a_pattern_of_the_user_s_finds_the_documents() -> None:
    rows = [row("Berlin", relevant=["fr"], retrieved=["fr#3"])]
    assert causes(evaluate(rows, metrics="offline_correct,recall@5", doc_id_pattern=r"^(.*)#")) != ["not_retrieved"]
    assert causes(evaluate(rows, metrics="offline_correct,recall@5")) == ["not_retrieved"]


def test_the_verdict_of_a_judge_comes_before_the_offline_judge() -> None:
    judge = ragmeter.Judge(provider=ragmeter.FakeProvider("No"), check=False)
    evaluation = evaluate([row("The capital is Paris.", FRANCE)], metrics="offline_correct,llm_correct", judge=judge)
    assert causes(evaluation) == ["misread"]
    unread = ragmeter.Judge(provider=ragmeter.FakeProvider("perhaps"), check=False)
    evaluation = evaluate([row("The capital is Paris.", FRANCE)], metrics="offline_correct,llm_correct", judge=unread)
    assert (causes(evaluation), evaluation.rows["cause_evidence"].to_pylist()) == (["not_known"], ["unparsable"])


def test_labels_of_claims_by_a_judge_come_before_the_texts() -> None:
    labels = {
        "verdict": "WRONG",
        "reference_claims": json.dumps(["a"]),
        "reference_support_by_passages": json.dumps([["supported"]]),
        "claims": json.dumps(["b"]),
        "support_by_passages": json.dumps([["not mentioned"]]),
    }
    rows = [row("Paris", ITALY, **labels), row("Paris", ITALY, **labels | {"support_by_passages": '[["supported"]]'})]
    evaluation = evaluate(rows, metrics="llm_correct,faithfulness,context_claim_recall")
    assert causes(evaluation) == ["retrieved_not_used", "misread"]
    assert evaluation.rows["cause_evidence"].to_pylist() == ["judged_claims"] * 2


def test_exact_match_tells_by_ids_alone_and_reads_no_passage() -> None:
    rows = [
        row("Berlin", FRANCE, relevant=["fr"], retrieved=["it"]),
        row("Lyon", FRANCE, relevant=["a"], retrieved=["a"]),
    ]
    evaluation = evaluate(rows, metrics="exact_match")
    assert causes(evaluation) == ["not_retrieved", "retrieved_not_used"]
    assert evaluation.rows["cause_evidence"].to_pylist() == ["gold_documents", "no_texts"]
    assert "cause" not in evaluate([row("Berlin", FRANCE)], metrics="exact_match").rows.column_names


@pytest.mark.parametrize(
    ("rows", "metrics"),
    [
        ([row("Berlin", FRANCE)], "token_f1"),  # nobody says which answers are right
        ([{"question": QUESTION, "reference": "Paris", "answer": "Rome"}], "offline_correct"),
        ([{"question": QUESTION, "reference": "Paris", "answer": "Rome", "contexts": None}], "offline_correct"),
    ],
)
def test_a_run_without_evidence_has_no_causes(rows: list[dict[str, Any]], metrics: str) -> None:
    evaluation = evaluate(rows, metrics=metrics)
    assert "cause" not in evaluation.rows.column_names
    assert evaluation.summary.cause is None


def test_what_the_offline_judge_is_not_sure_of_is_not_known() -> None:
    from ragmeter import get_metric

    rows = [row(f"Paris, or {name}", FRANCE) for name in ("Lyon", "Rome", "perhaps Marseille")] + [
        row("the city", FRANCE)
    ]
    chances = get_metric("offline_correct_probability")(
        [QUESTION] * len(rows), ["Paris"] * len(rows), [row["answer"] for row in rows]
    )
    found = causes(evaluate(rows, metrics="offline_correct"))
    for chance, cause in zip(chances, found, strict=True):
        assert (cause == "not_known") == (0.4 < chance < 0.5), (chance, cause)
        assert (cause == "right") == (chance >= 0.5), "as many are right as the metric says"


def test_an_empty_answer_is_wrong_and_declines_nothing() -> None:
    rows = [row("", FRANCE), row(" ", ITALY), row("", FRANCE, unanswerable="yes")]
    assert causes(evaluate(rows, metrics="offline_correct")) == [
        "retrieved_not_used", "not_retrieved", "not_known"
    ]  # fmt: skip


def test_the_summary_has_every_share_with_its_interval() -> None:
    evaluation = evaluate([row for row, _ in ROWS] * 3, metrics="offline_correct", cluster=None)
    summary = evaluation.summary.cause
    assert summary is not None
    shares = {name: of.mean for name, of in summary.shares.items()}
    assert shares["not_retrieved"] == pytest.approx(3 / 11)
    assert shares["not_known"] == 0
    assert sum(share or 0 for share in shares.values()) == pytest.approx(1)
    n, p, z = 33, 9 / 33, 1.959963984540054  # Wilson's interval, by its formula
    half = z * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5
    ends = [(p + z**2 / (2 * n) + side * half) / (1 + z**2 / n) for side in (-1, 1)]
    assert summary.shares["not_retrieved"].interval == pytest.approx(ends)
    assert summary.evidence["not_retrieved"] == {"no_passages": 3, "offline_support": 6}
    assert sum(sum(by.values()) for by in summary.evidence.values()) == 33


def test_processes_and_parts_tell_the_same(tmp_path: Path) -> None:
    rows = [row | {"qid": f"q{place}"} for place, (row, _) in enumerate(ROWS * 3)]
    expected = causes(evaluate(rows, metrics="offline_correct"))
    assert causes(evaluate(rows, metrics="offline_correct", engine="local:2")) == expected
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    kept = in_parts(tmp_path / "r.jsonl", metrics="offline_correct", run="p", output_dir=tmp_path)
    assert causes(kept) == expected
    assert kept.summary.cause == evaluate(rows, metrics="offline_correct").summary.cause


def test_columns_of_the_user_s_own_get_another_name(tmp_path: Path) -> None:
    rows = [row("Paris", FRANCE, cause="mine", cause_evidence="too")]
    evaluation = evaluate(rows, metrics="offline_correct")
    assert evaluation.rows["input.cause"].to_pylist() == ["mine"]
    assert causes(evaluation) == ["right"]
    untouched = evaluate(rows, metrics="token_f1")
    assert untouched.rows["cause"].to_pylist() == ["mine"]
    assert untouched.summary.cause is None


def test_another_judge_tells_the_causes_anew_and_another_metric_leaves_them(tmp_path: Path) -> None:
    rows = [row("Paris", FRANCE), row("Lyon", FRANCE)]
    evaluate(rows, metrics="offline_correct", run="r", output_dir=tmp_path)
    add_metrics("r", "token_f1", output_dir=tmp_path)
    run = Run(tmp_path / "r")
    assert run.rows()["cause"].to_pylist() == ["right", "retrieved_not_used"]
    assert run.summary().cause is not None
    judge = ragmeter.Judge(provider=ragmeter.FakeProvider("Yes"), check=False)
    add_metrics("r", "llm_correct", judge=judge, output_dir=tmp_path)
    assert run.rows()["cause"].to_pylist() == ["right", "right"]
    assert pq.read_schema(tmp_path / "r" / "rows.parquet").names.count("cause") == 1


def test_causes_are_told_when_the_judge_comes_later(tmp_path: Path) -> None:
    evaluate([row("Lyon", FRANCE)], metrics="token_f1", run="r", output_dir=tmp_path)
    add_metrics("r", "offline_correct", output_dir=tmp_path)
    assert Run(tmp_path / "r").rows()["cause"].to_pylist() == ["retrieved_not_used"]


def test_a_cause_is_no_slice_unless_it_is_named(tmp_path: Path) -> None:
    rows = [row("Paris", FRANCE, domain="a"), row("Lyon", FRANCE, domain="b")] * 3
    evaluate(rows, metrics="offline_correct", run="r", output_dir=tmp_path)
    run = Run(tmp_path / "r")
    assert run.slices() == ["domain"]
    from ragmeter.analysis.slices import summarise_run

    parts = {part.value: part.metrics["offline_correct"].mean for part in summarise_run(run, slices="cause").slices}
    assert parts == {"right": 1.0, "retrieved_not_used": 0.0}


def test_ids_that_never_match_are_said_where_causes_rest_on_them() -> None:
    rows = [row("Berlin", FRANCE, relevant=["fr"], retrieved=["wiki/fr"]) for _ in range(3)]
    found = evaluate(rows, metrics="offline_correct").summary.document_ids
    assert found is not None
    assert found.never_match is not None
    assert (found.never_match.rows, found.never_match.gold) == (3, "fr")
    matching = [row("Berlin", FRANCE, relevant=["fr"], retrieved=["fr::chunk-1"])]
    assert evaluate(matching, metrics="offline_correct").summary.document_ids is None


def test_ids_that_never_match_tell_no_causes() -> None:
    rows = [
        {**row("Paris", FRANCE), "qid": str(n), "relevant": [f"d{n}"], "retrieved": [f"document-{n}"]}
        for n in range(10)
    ]
    evaluation = evaluate(rows, metrics="offline_correct")
    assert evaluation.summary.cause is None
    assert "nothing is said of where answers failed" in "".join(never_match_lines(evaluation.summary))
    few = evaluate(rows[:9], metrics="offline_correct").summary
    assert few.cause is not None
    assert "nothing is said" not in "".join(never_match_lines(few))
    matching = evaluate([*rows, {**rows[0], "qid": "x", "retrieved": ["d0"]}], metrics="offline_correct")
    assert matching.summary.cause is not None


def test_a_gold_answer_word_for_word_declines_nothing() -> None:
    for reference in (
        "destination address, source address, and port numbers",
        "su creencia en la validez del contrato social",
    ):
        passage = f"It says: {reference}."
        told = {"question": "What is in it?", "reference": reference, "answer": f"{reference}.", "contexts": [passage]}
        evaluation = evaluate([told], metrics="offline_correct")
        assert evaluation["offline_correct"].mean == 1
        assert causes(evaluation) == ["right"]
    both = {"question": "What is in it?", "reference": "I don't know.", "answer": "I don't know.", "contexts": [FRANCE]}
    evaluation = evaluate([both], metrics="offline_correct")
    assert (evaluation["offline_correct"].mean, causes(evaluation)) == (1, ["rightly_declined"])


@pytest.mark.parametrize(
    ("reference", "cause"),
    [
        ("The sign says nothing of the fee.", "not_retrieved"),
        ("Das Blatt dreht sich ausschließlich um den Winterdienst.", "not_retrieved"),  # only the model thinks so
        ("The document does not mention the fee.", "rightly_declined"),
    ],
)
def test_a_reference_declines_in_a_known_phrase_alone(reference: str, cause: str) -> None:
    asked = {"question": "What is the fee?", "reference": reference, "answer": "I don't know.", "contexts": [FRANCE]}
    assert causes(evaluate([asked], metrics="offline_correct")) == [cause]


def test_who_answers_a_question_without_an_answer_is_not_right(tmp_path: Path) -> None:
    asked = {"question": QUESTION, "reference": None, "answer": "Paris", "contexts": [ITALY], "unanswerable": "yes"}
    evaluation = evaluate([{**asked, "qid": "1"}, {**row("Paris", FRANCE), "qid": "2"}], metrics="offline_correct")
    assert evaluation.rows["cause_evidence"].to_pylist()[0] == "answered_unanswerable"


def test_an_empty_answer_declines_nothing() -> None:
    rows = [
        {**row("", FRANCE), "qid": "1", "reference": "I don't know."},
        {**row(" ", FRANCE), "qid": "2", "reference": None, "unanswerable": "yes"},
        {**row("I don't know.", FRANCE), "qid": "3", "reference": None, "unanswerable": "yes"},
        {**row("Paris", FRANCE), "qid": "4"},
    ]
    evaluation = evaluate(rows, metrics="offline_correct")
    assert causes(evaluation)[2:] == ["rightly_declined", "right"]
    assert "rightly_declined" not in causes(evaluation)[:2]
    assert evaluation.summary.rightly_declined == 1  # that the metric has no score for
