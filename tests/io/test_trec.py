"""TREC's runs and qrels, and BEIR's folders: read as rows, with the values of trec_eval."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import add_metrics, ask, evaluate, export, get_metric
from ragmeter.engine.scoring import score_batch
from ragmeter.errors import ColumnError, InputError, UsageError
from ragmeter.io.data import Data
from ragmeter.io.reading import Reading
from ragmeter.io.source import open_source
from tests.conftest import Run
from tests.in_parts import in_parts

RUN = "1 Q0 d2 1 12.5 bm25\n1 Q0 d1 2 11.0 bm25\n1\tQ0\td7\t3\t11\tbm25\n2 Q0 d9 1 1.0 bm25\n2 Q0 d1 2 2.0 bm25\n"
QRELS = "1 0 d1 2\n1 0 d2 0\n1 0 d3 1\n2 0 d1 1\n2 0 d9 3\n"
MEASURES = {
    "ndcg@3": "ndcg_cut_3", "ndcg": "ndcg", "map": "map", "map@3": "map_cut_3", "mrr": "recip_rank",
    "recall@3": "recall_3", "precision@3": "P_3", "hit@3": "success_3",
}  # fmt: skip


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def scores_of(run: Path, qrels: Path, names: list[str]) -> dict[str, dict[str, float]]:
    """Each query's scores by metric, without those that have none."""
    metrics = [get_metric(name) for name in names]
    scores: dict[str, dict[str, float]] = {}
    for batch in Data.open(run, qrels).batches(metrics):
        for metric, (values, outcomes) in score_batch(batch, metrics).scores.items():
            for qid, value, outcome in zip(batch.columns["qid"], values.tolist(), outcomes, strict=True):
                if outcome == "scored":
                    scores.setdefault(qid, {})[metric] = value
    return scores


documents = st.sampled_from(["a", "b", "c", "d1", "d10", "é", "z", "😀", "\uffee"])
scores = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e3, 1e3), st.sampled_from([16777216.0, 16777217.0]))
runs = st.dictionaries(st.sampled_from("123"), st.dictionaries(documents, scores, min_size=1), min_size=1)
judgements = st.dictionaries(
    st.sampled_from("123"), st.dictionaries(documents, st.integers(-2, 4), min_size=1), min_size=1
)


@given(run=runs, qrels=judgements)
def test_values_are_those_of_trec_eval(run: dict[str, Any], qrels: dict[str, Any]) -> None:
    shared = [qid for qid in run if any(grade > 0 for grade in qrels.get(qid, {}).values())]
    if not shared:
        return
    with tempfile.TemporaryDirectory() as folder:
        run_text = "".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, of in run.items() for d, s in of.items())
        qrels_text = "".join(f"{q} 0 {d} {g}\n" for q, of in qrels.items() for d, g in of.items())
        files = write(Path(folder), "a.run", run_text), write(Path(folder), "qrels.txt", qrels_text)
        ours = scores_of(*files, [*MEASURES, "ndcg@3[gains=exponential]", "ndcg[gains=binary]"])
    qrels = {qid: qrels[qid] for qid in shared}
    theirs = evaluated(run, changed(qrels, lambda grade: max(grade, 0)))  # it may crash on grades below 0
    exponential = evaluated(run, changed(qrels, lambda grade: 2 ** max(grade, 0) - 1))
    binary = evaluated(run, changed(qrels, lambda grade: int(grade > 0)))
    assert sorted(ours) == sorted(shared)
    for qid in shared:
        for name, measure in MEASURES.items():
            assert ours[qid][name] == pytest.approx(theirs[qid][measure], rel=0, abs=1e-9), name
        assert ours[qid]["ndcg@3[gains=exponential]"] == pytest.approx(exponential[qid]["ndcg_cut_3"], rel=0, abs=1e-9)
        assert ours[qid]["ndcg[gains=binary]"] == pytest.approx(binary[qid]["ndcg"], rel=0, abs=1e-9)


def changed(qrels: dict[str, dict[str, int]], of: Callable[[int], int]) -> dict[str, dict[str, int]]:
    return {qid: {document: of(grade) for document, grade in grades.items()} for qid, grades in qrels.items()}


def evaluated(run: dict[str, Any], qrels: dict[str, Any]) -> dict[str, dict[str, float]]:
    names = {"ndcg_cut.3", "ndcg", "map", "map_cut.3", "recip_rank", "recall.3", "P.3", "success.3"}
    result: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)
    return result


@given(run=runs, qrels=judgements, k=st.integers(1, 4))
def test_judged_counts_documents_with_any_grade(run: dict[str, Any], qrels: dict[str, Any], k: int) -> None:
    share, missing = get_metric(f"judged@{k}"), get_metric(f"unjudged_docs_count@{k}")
    assert share.needs == ("retrieved", "relevance_grades", "ids_as_written")
    for qid in set(run) & set(qrels):
        retrieved, first = list(run[qid]), list(run[qid])[:k]
        columns = [retrieved], [json.dumps(qrels[qid])]
        judged = sum(document in qrels[qid] for document in first)
        assert share(*columns)[0] == pytest.approx(judged / len(first))
        assert missing(*columns)[0] == len(first) - judged


CHUNKS = {"1": {"X::chunk-2": 2.0, "Y": 1.0}, "2": {"X": 3.0, "doc-<Y>::chunk-1": 1.0}}
OF_CHUNKS = {"1": {"X": 1, "Y": 2}, "2": {"X::chunk-2": 1, "<Y>": 1}}


def files_of(folder: Path, run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]) -> tuple[Path, Path]:
    run_text = "".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, of in run.items() for d, s in of.items())
    qrels_text = "".join(f"{q} 0 {d} {g}\n" for q, of in qrels.items() for d, g in of.items())
    return write(folder, "a.run", run_text), write(folder, "qrels.txt", qrels_text)


def test_an_id_that_looks_like_a_chunks_is_an_id(tmp_path: Path) -> None:
    """trec_eval has no chunks: `X::chunk-2` is not the document `X`, unless a pattern says so."""
    files = files_of(tmp_path, CHUNKS, OF_CHUNKS)
    ours, theirs = scores_of(*files, list(MEASURES)), evaluated(CHUNKS, OF_CHUNKS)
    for qid in CHUNKS:
        for name, measure in MEASURES.items():
            assert ours[qid][name] == pytest.approx(theirs[qid][measure], rel=0, abs=1e-9), name
    assert evaluate(*files, metrics="judged@3")["judged@3"].mean == pytest.approx((1 / 2 + 0) / 2)
    pattern = r"^(?:doc-)?(.+?)(?:::chunk-\d+)?$"
    joined = evaluate(*files, metrics="recall@3", doc_id_pattern=pattern)
    assert joined[f'recall@3[doc_id="{pattern}"]'.replace("\\", "\\\\")].mean == 1


def test_a_run_keeps_how_its_ids_are_compared(tmp_path: Path) -> None:
    files = files_of(tmp_path, CHUNKS, OF_CHUNKS)
    kept = evaluate(*files, metrics="recall@3", run="a", output_dir=tmp_path)
    more = add_metrics(kept, "hit@3", output_dir=tmp_path)
    assert (more["recall@3"].mean, more["hit@3"].mean) == (0.25, 0.5)
    assert more.summary.document_ids is None or more.summary.document_ids.chunks is None


def test_queries_without_a_result(ragmeter: Run, tmp_path: Path) -> None:
    """trec_eval's -c averages over all queries of the qrels that have a relevant document."""
    qrels = {**OF_CHUNKS, "3": {"Z": 1}, "4": {"Z": 0}}
    run, gold = files_of(tmp_path, {"1": {"Y": 1.0}, "2": {"X": 1.0}}, qrels)
    options = ("evaluate", "--results", run, "--reference", gold, "--metrics", "recall@3,ndcg")
    done = ragmeter(*options, "--run", "a")
    complete = ragmeter(*options, "--run", "b", "--missing", "zero")
    first, second = (json.loads((tmp_path / "runs" / name / "summary.json").read_text()) for name in "ab")
    means = first["document_ids"]["missing"]["means_as_zero"]
    assert first["document_ids"]["missing"]["questions"] == 1
    assert means == {name: pytest.approx(of["mean"]) for name, of in second["metrics"].items()}
    assert means["recall@3"] == pytest.approx((1 / 2 + 0 + 0) / 3)
    assert first["metrics"]["recall@3"]["mean"] == pytest.approx((1 / 2 + 0) / 2)
    assert "1 question without a result is in no mean; counted as 0 (--missing zero) the means are:" in done.stdout
    assert "is in no mean" not in complete.stdout
    assert second["metrics"]["recall@3"]["n_not_scored"] == {"no_relevant": 1}
    parts = in_parts(run, gold, metrics="recall@3", missing="zero", run="c", output_dir=tmp_path)
    assert parts["recall@3"].mean == pytest.approx(means["recall@3"])
    with pytest.raises(UsageError, match="no effect without a reference"):
        evaluate(run, metrics="recall@3", missing="zero")


@pytest.mark.parametrize("text", ["1 0 d1 1\n1 0 d2 1.5\n", "1 0 d1 1.5\n1 0 d2 1\n", QRELS * 2000 + "9 0 d 0.5\n"])
def test_a_grade_that_is_no_whole_number(tmp_path: Path, text: str) -> None:
    text = "".join(dict.fromkeys(text.splitlines(keepends=True)))
    line = next(number for number, line in enumerate(text.splitlines(), 1) if "." in line)
    with pytest.raises(InputError, match=f"line {line}: the grade .* is not a whole number"):
        evaluate(write(tmp_path, "a.run", RUN), write(tmp_path, "qrels.txt", text), metrics="ndcg")


def test_the_command_as_people_write_it(ragmeter: Run, tmp_path: Path) -> None:
    run, qrels = (
        write(tmp_path, "my.run", RUN + "5 Q0 d4 1 2.0 bm25\n"),
        write(tmp_path, "qrels.txt", QRELS + "4 0 d4 1\n"),
    )
    done = ragmeter(
        "evaluate",
        "--results",
        run,
        "--reference",
        qrels,
        "--metrics",
        "ndcg@10,map,judged@10",
        "--output-dir",
        tmp_path,
    )
    assert done.returncode == 0
    assert "my.run: read as a TREC run: 3 queries, ordered by score" in done.stdout
    assert "equal scores in 1 of 3 queries: ordered by document id, descending, as trec_eval does" in done.stdout
    assert "qrels.txt: read as TREC qrels: 3 queries, 6 judged documents; a grade above 0 is relevant" in done.stdout
    assert "results without a reference: 1 (qid 5)" in done.stdout
    assert "references without a result: 1 (qid 4)" in done.stdout


def test_rows_of_a_run_and_of_qrels(tmp_path: Path) -> None:
    evaluation = evaluate(write(tmp_path, "my.run", RUN), write(tmp_path, "q.qrels", QRELS), metrics="map,judged")
    rows = evaluation.rows.to_pylist()
    assert [row["retrieved"] for row in rows] == [["d2", "d7", "d1"], ["d1", "d9"]]  # the rank is not used, ties by id
    assert [row["relevant"] for row in rows] == [["d1", "d3"], ["d1", "d9"]]
    assert json.loads(rows[0]["retrieved_scores"]) == [12.5, 11.0, 11.0]
    assert rows[0]["system_name"] == "bm25"
    assert evaluation.summary.notes[0].endswith("ordered by score")
    assert evaluation["judged"].mean == pytest.approx((2 / 3 + 1) / 2)


def test_what_is_exported_has_the_same_scores(tmp_path: Path) -> None:
    files = write(tmp_path, "my.run", RUN), write(tmp_path, "q.qrels", QRELS)
    first = evaluate(*files, metrics="ndcg@10,judged@10", run="r", output_dir=tmp_path)
    again = evaluate(*export("r", "trec", tmp_path / "x.run", output_dir=tmp_path), metrics="ndcg@10,judged@10")
    for name in ("ndcg@10", "judged@10"):
        assert again[name].mean == first[name].mean


def test_queries_need_not_be_together(tmp_path: Path) -> None:
    lines = RUN.splitlines(keepends=True)
    mixed = write(tmp_path, "mixed.run", "".join([lines[0], lines[3], *lines[1:3], lines[4]]))
    (batch,) = open_source(mixed).batches()
    assert batch.columns["retrieved"] == [["d2", "d7", "d1"], ["d1", "d9"]]


@pytest.mark.parametrize("name", ["a.run", "a.trec", "a", "a.bm25", "a.txt", "a.tsv", "a.run.gz"])
def test_a_run_has_many_endings(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = RUN.replace(" ", "\t").encode()
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    (batch,) = open_source(path).batches()
    assert batch.columns["qid"] == ["1", "2"]


def test_a_table_that_only_looks_alike_stays_a_table(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "qid\tanswer\tid\tscore\n1\tyes\td1\t2\n")
    (batch,) = open_source(path).batches()
    assert list(batch.columns) == ["qid", "answer", "id", "score"]
    with pytest.raises(InputError, match=r"can't tell the format from the ending '\.txt'"):
        open_source(write(tmp_path, "a.txt", "it has four words\n"))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.run",
            RUN + "1 Q0 d1 4 1 bm25\n",
            "line 6: the document 'd1' appears here for the second time for the query '1'",
        ),
        ("a.run", RUN + "1 Q0 d8 4 nan bm25\n", "line 6: '1 Q0 d8 4 nan bm25' is not a line of a TREC run"),
        ("a.run", RUN + "1 Q0 d8 4\n", "line 6: '1 Q0 d8 4' is not a line of a TREC run"),
        ("a.qrels", QRELS + "1 0 d1 1\n", "line 6: the document 'd1' appears here for the second time"),
        ("a.qrels", QRELS + "1 0 d8 high\n", "line 6: '1 0 d8 high' is not a line of TREC qrels"),
    ],
)
def test_bad_lines_are_errors(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(open_source(write(tmp_path, name, text)).batches())


def test_files_in_each_other_s_place(tmp_path: Path) -> None:
    run, qrels = write(tmp_path, "my.run", RUN), write(tmp_path, "q.qrels", QRELS)
    with pytest.raises(ColumnError, match="needs the column 'relevant'"):
        evaluate(run, metrics="map")
    with pytest.raises(ColumnError, match="needs the column 're"):
        evaluate(qrels, run, metrics="map")


def beir(folder: Path, *splits: str) -> Path:
    (folder / "qrels").mkdir(parents=True)
    queries = [
        {"_id": "1", "text": "who?", "metadata": {}},
        {"_id": "2", "text": "where?"},
        {"_id": "3", "text": "why?"},
    ]
    write(folder, "queries.jsonl", "".join(json.dumps(query) + "\n" for query in queries))
    write(folder, "corpus.jsonl", json.dumps({"_id": "d1", "title": "One", "text": "Text."}) + "\n")
    for split in splits:
        write(folder / "qrels", f"{split}.tsv", "query-id\tcorpus-id\tscore\n1\td1\t2\n1\td3\t1\n2\td9\t1\n")
    return folder


def test_a_beir_folder_is_a_reference(tmp_path: Path) -> None:
    folder = beir(tmp_path / "nfcorpus", "test", "dev")
    evaluation = evaluate(write(tmp_path, "my.run", RUN), folder, metrics="ndcg@10")
    rows = evaluation.rows.to_pylist()
    assert [row["question"] for row in rows] == ["who?", "where?"]
    assert rows[0]["relevance_grades"] == '{"d1": 2, "d3": 1}'
    assert any("read as a BEIR folder, split test, not dev" in note for note in evaluation.summary.notes)
    assert "qrels/dev.tsv" in str(open_source(folder, Reading(split="dev")).path)


def test_a_beir_folder_s_split_is_not_guessed(tmp_path: Path) -> None:
    folder = beir(tmp_path / "scifact", "train", "dev")
    with pytest.raises(UsageError, match="has qrels for dev, train"):
        open_source(folder)
    with pytest.raises(UsageError, match=r"has no split 'trian' \(did you mean 'train'\?\)|has no split 'trian'"):
        open_source(folder, Reading(split="trian"))


def test_contexts_are_the_corpus_s_texts_of_what_was_retrieved(tmp_path: Path) -> None:
    folder = beir(tmp_path / "scifact", "test")
    with (folder / "corpus.jsonl").open("a") as corpus:
        corpus.write('{"_id": "d9", "text": "Nine."}\n{"_id": "d5", "text": "Not retrieved."}\n')
    answers = [{"qid": "1", "answer": "One [1].", "retrieved": ["d2", "d1"]}, {"qid": "2", "retrieved": ["d1", "d9"]}]
    evaluation = evaluate(answers, folder, metrics="valid_citations,ndcg@10")
    assert evaluation.rows["contexts"].to_pylist() == [["", "One\nText."], ["One\nText.", "Nine."]]
    notes = " ".join(evaluation.summary.notes)
    assert "the contexts are the texts of 3 retrieved documents in the corpus, which lacks 1 of them" in notes
    assert "contexts" not in evaluate(answers, folder, metrics="ndcg@10").rows.column_names
    own = [{**answers[0], "contexts": ["mine"]}]
    assert evaluate(own, folder, metrics="valid_citations").rows["contexts"].to_pylist()[0] == ["mine"]


def test_by_an_engine_the_numbers_are_the_same(tmp_path: Path) -> None:
    run, folder = write(tmp_path, "my.run", RUN), beir(tmp_path / "b", "test")
    for reference in (write(tmp_path, "q.qrels", QRELS), folder):
        plain = evaluate(run, reference, metrics="ndcg@10,judged@3")
        parts = in_parts(run, reference, metrics="ndcg@10,judged@3", run="parts", output_dir=tmp_path)
        assert parts["ndcg@10"].mean == plain["ndcg@10"].mean
        assert parts.summary.notes == plain.summary.notes


def test_a_beir_folder_has_questions_to_ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = beir(tmp_path / "nfcorpus", "test")

    def search(question: str) -> dict[str, Any]:
        return {"answer": question, "retrieved": ["d3", "d1"] if question == "who?" else ["d9"]}

    service = ask(folder, search, metrics="ndcg@10,mrr", output_dir=tmp_path, progress=False)
    assert service["mrr"].mean == 1
    assert service["ndcg@10"].mean == pytest.approx((0.8597186998521972 + 1) / 2)  # grades 2 and 1, turned round
    assert "read as a BEIR folder, split test" in capsys.readouterr().err
    assert len(service.summary.notes) == 2
