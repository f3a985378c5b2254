"""Every bad input gets one clear error: file, line, what was found, what to do. Exit code 2, and no output."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ragmeter import evaluate
from ragmeter.errors import ColumnError
from tests.conftest import Run

GOOD = "qid\tanswer\treference\n1\ta\ta\n2\tb\tb\n"

#: name of the case: file name, content, what the message must hold
BAD: dict[str, tuple[str, bytes, list[str]]] = {
    "ragged, too short": ("r.tsv", b"qid\tanswer\treference\n1\ta\ta\n2\tb\n", ["line 3", "2 cells", "header has 3"]),
    "ragged, too long": ("r.csv", b"qid,answer,reference\n1,a,a,a\n", ["line 2", "4 cells", "double quotes"]),
    "ragged after a cell of two lines": (
        "r.csv", b'qid,answer,reference\n1,"a\nb",a\n2,b\n', ["line 4", "2 cells"],
    ),
    "unclosed quote": ("r.csv", b'qid,answer,reference\n1,a,a\n2,"b,b\n3,c,c\n', ["line 3", "never closed"]),
    "text after a quote": ("r.tsv", b'qid\tanswer\treference\n1\t"a" x\ta\n', ["line 2", "tab", "--no-quotes"]),
    "NUL byte": ("r.csv", b"qid,answer,reference\n1,a,a\n2,b\0,b\n", ["line 3", "NUL", "'answer'"]),
    "not UTF-8": (
        "r.csv", b"qid,answer,reference\n1,a,a\n2,caf\xe9,b\n", ["line 3", "0xe9", "offset 32", "--encoding latin-1"],
    ),
    "UTF-16": ("r.csv", "qid,answer,reference\n1,a,a\n".encode("utf-16"), ["UTF-16", "--encoding utf-16"]),
    "duplicate qid": ("r.csv", b"qid,answer,reference\n7,a,a\n8,b,b\n7,c,c\n", ["line 4", "'7'", "second time"]),
    "qid missing": ("r.jsonl", b'{"qid": "1", "answer": "a", "reference": "a"}\n{"answer": "b"}\n', ["line 2", "qid"]),
    "empty file": ("r.csv", b"", ["no rows"]),
    "header only": ("r.csv", b"qid,answer,reference\n", ["no rows"]),
    "header twice": ("r.csv", b"qid,answer,answer\n1,a,a\n", ["line 1", "'answer'", "more than once"]),
    "empty JSON lines": ("r.jsonl", b"\n\n", ["no rows"]),
    "malformed JSON line": ("r.jsonl", b'{"answer": "a", "reference": "a"}\n{"answer": oops}\n', ["line 2", "oops"]),
    "JSON line that is a list": ("r.jsonl", b"[1, 2]\n", ["line 1", "a list"]),
    "NaN in JSON": ("r.jsonl", b'{"answer": NaN}\n', ["line 1", "NaN is not JSON", "null"]),
    "JSON too deep": ("r.jsonl", b'{"answer": ' + b"[" * 100_000 + b"\n", ["line 1"]),
    "JSON without rows": ("r.json", b'"a"', ["list of objects", "results"]),
    "JSON object that is no row": ("r.json", b'{"q1": {"answer": "a"}}', ["'reference'", "the columns are q1"]),
    "JSON object without rows": ("r.json", b'{"results": []}', ["no rows"]),
    "JSON cut off": ("r.json", b'[{"answer": "a"},\n{"answer"', ["line 2"]),
    "answer that is an object": ("r.jsonl", b'{"answer": {"text": "a"}, "reference": "a"}\n', ["line 1", "an object"]),
    "not Parquet": ("r.parquet", b"PAR1 is not enough", ["not a readable Parquet file"]),
    "damaged gzip": ("r.csv.gz", gzip.compress(GOOD.encode())[:-9], ["damaged"]),
    "unknown ending": ("r.docx", b"PK", ["'.docx'", "csv, tsv, json"]),
    "a spreadsheet": ("r.ods", b"PK", ["'.ods'", "save the sheet as CSV", "csv, tsv, json"]),
    "a decimal comma": ("r.csv", b'qid,answer,reference,latency_ms\n1,a,a,"12,5"\n', ["'12,5'", "line 2", "decimal"]),
    "missing column": ("r.csv", b"qid,answer,gold\n1,a,a\n", ["token_f1", "'reference'", "gold", "--column"]),
    "semicolons": ("r.csv", b"qid;answer;reference\n1;a;a\n", ["line 1", "separated by ';'", "--delimiter ';'"]),
    "tabs in a csv": ("r.csv", b"qid\tanswer\treference\n1\ta\ta\n", ["line 1", "--delimiter TAB"]),
    "unclosed quote in the header": ("r.csv", b'qid,"answer,reference\n1,a,b\n', ["line 1", "never closed"]),
    "NUL in the header": ("r.csv", b"qid,ans\0wer,reference\n1,a,b\n", ["NUL"]),
    "reference that is an object": ("r.jsonl", b'{"answer": "a", "reference": {"x": 1}}\n', ["line 1", "an object"]),
    "reference of lists": ("r.jsonl", b'{"answer": "a", "reference": [["x"]]}\n', ["line 1", "is not a text"]),
    "retrieved objects": ("r.jsonl", b'{"answer": "a", "doc_ids": [{"a": 1}]}\n', ["line 1", "has no id"]),
    "duplicate key": (
        "r.jsonl", b'{"answer": "a"}\n{"answer": "a", "answer": "b"}\n', ["line 2", '"answer"', "second time"],
    ),
    "duplicate key, written in another way": (
        "r.jsonl", b'{"answer": "a", "re\\u0066": "\\":", "ref": "b"}\n', ["line 1", '"ref" appears'],
    ),
    "duplicate key inside": (
        "r.json", b'[{"answer": "a"},\n {"answer": "b",\n "more": [{"id": 1,\n "id": 2}]}]', ["line 4", '"id" appears'],
    ),
    "duplicate key around the rows": (
        "r.json", b'{"results": [{"answer": "a"}],\n"results": []}', ["line 2", '"results" appears'],
    ),
    "JSON of 979 levels": ("r.jsonl", b'{"more": ' + b"[" * 978 + b"]" * 978 + b"}\n", ["line 1", "200 levels"]),
    "JSON of 201 levels": ("r.jsonl", b'{"more": ' + b"[" * 200 + b"]" * 200 + b"}\n", ["line 1", "200 levels"]),
    "list cell of 979 levels": (
        "r.csv", b'answer,doc_ids\na,[]\na,"' + b"[" * 979 + b"]" * 979 + b'"\n', ["line 3", "'doc_ids'", "levels"],
    ),
    "list cell of 5,000 levels": (
        "r.csv", b'answer,doc_ids\na,"' + b"[" * 5000 + b"]" * 5000 + b'"\n', ["line 2", "'doc_ids'", "levels"],
    ),
    "number of 200,000 digits": (
        "r.csv", b'answer,doc_ids\na,[]\na,"[0x' + b"f" * 200_000 + b']"\n', ["line 3", "'doc_ids'", "limit"],
    ),
    "number of 200,000 digits in a list of lists": (
        "r.csv", b'answer,doc_ids\na,"[[0x' + b"f" * 200_000 + b']]"\n', ["line 2", "'doc_ids'"],
    ),
    "number of 5,000 digits in JSON": ("r.jsonl", b'{"answer": 1' + b"0" * 5000 + b"}\n", ["line 1", "digits"]),
    "list cell with a list as a key": ("r.csv", b'answer,doc_ids\na,"[{[]: 1}]"\n', ["line 2", "is not a list"]),
    "damaged zstd": ("r.csv.zst", b"\x28\xb5\x2f\xfd" + bytes(40), ["can't be read", "compressed"]),
    "20,000 columns": ("r.csv", b",".join(b"c%d" % n for n in range(20_000)) + b"\n", ["line 1", "16,384 columns"]),
    "20,000 keys": (
        "r.jsonl", b"{" + b", ".join(b'"k%d": 1' % n for n in range(20_000)) + b"}", ["more than 16,384 columns"],
    ),
    "two candidates for a column": (
        "r.csv", b"qid,response,prediction,reference\n1,a,a,a\n", ["'response' and 'prediction'", "--column answer="],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_one_clear_error(case: str, tmp_path: Path, ragmeter: Run) -> None:
    name, content, parts = BAD[case]
    (tmp_path / name).write_bytes(content)
    done = ragmeter("evaluate", "--metrics", "token_f1", "--results", name, "--run", "r")
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("ragmeter: ")
    assert name in done.stderr
    for part in parts:
        assert part in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    left = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != name]
    assert left == [], "nothing is written"


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("a, b", "'a, b' is not a list"),
        ('{""a"": 1}', "is not a list"),
        ("['a' 'b']", "without a comma"),
        ("__import__('os')", "is not a list"),
        ("3", "is not a list"),
    ],
)
def test_a_list_cell_that_is_no_list(cell: str, message: str, tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "r.csv").write_text(f'qid,relevant,retrieved\n1,[],[]\n2,"[""a""]","{cell}"\n')
    done = ragmeter("evaluate", "--metrics", "ndcg@10", "--results", "r.csv")
    assert done.returncode == 2
    assert "r.csv, line 3: column 'retrieved'" in done.stderr
    assert message in done.stderr


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--metrics", "token_f2"], ["unknown metric 'token_f2'", "did you mean token_f1"]),
        (["--metrics", "blub"], ["unknown metric 'blub'\n  `ragmeter metrics` lists them\n"]),
        (["--metric", "token_f1"], ["unknown option --metric: did you mean --metrics?"]),
        (["--metric=token_f1"], ["unknown option --metric: did you mean --metrics?"]),
        (["--metrics", "token_f1", "--out"], ["unknown option --out"]),
        (["--metrics", "ndcg@0"], ["at least 1"]),
        (["--metrics", "token_f1[k=3]"], ["token_f1 has no setting 'k'"]),
        (["--metrics", "rouge_l_score[language="], ["not a metric's name"]),
        (["--metrics", "no.such.Scorer"], ["no.such.Scorer", "no module 'no'"]),
        (["--metrics", "os.path.join"], ["'os.path.join' is not a metric"]),
        (["--metrics", "token_f1", "--language", "klingon"], ["unknown language 'klingon'"]),
        (["--metrics", "token_f1", "--column", "answer"], ["NAME=YOURS"]),
        (["--metrics", "token_f1", "--column", "anser=answer"], ["no column 'anser'", "did you mean answer"]),
        (["--metrics", "token_f1", "--column", "answer=anwser"], ["no column 'anwser'", "did you mean answer"]),
        (["--metrics", "token_f1", "--encoding", "utf-9"], ["unknown encoding 'utf-9'"]),
        (["--metrics", "token_f1", "--encoding", "hex"], ["unknown encoding 'hex'"]),
        (["--metrics", "token_f1", "--encoding", "utf-16"], ["the file is not utf-16"]),
        (["--metrics", 'mrr[doc_id="\\d"]'], ["can't read the settings", "backslash is written twice"]),
        (["--metrics", "token_f1", "--run", "x" * 300], ["300 bytes", "too long", "--run"]),
        (["--metrics", "token_f1", "--run", "../up"], ["'../up' is not a name"]),
        (["--metrics", "token_f1", "--output-prefix", "p"], ["--output-prefix has no effect"]),
        (["--evaluator", "EditDistance"], ["unknown evaluator 'EditDistance'", "did you mean EditDistanceEvaluator"]),
        (["--evaluator", "os.path.join"], ["not an evaluator"]),
        (["--evaluator", "EditDistanceEvaluator", "--language", "es"], ["--language has no effect"]),
        (["--evaluator", "EditDistanceEvaluator", "--normalise"], ["--normalise"]),
        (["--evaluator", "ContextRecall"], ["context_recall", "'relevant'"]),
        (["--metrics", "token_f1", "--evaluator", "ContextRecall"], ["--evaluator and --metrics don't go together"]),
        (["--metrics", "token_f1", "--delimiter", ";;"], ["a delimiter is one character"]),
        (["s.tsv"], ["s.tsv and --results r.tsv: which is it?"]),
    ],
)
def test_a_wrong_call(arguments: list[str], parts: list[str], tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "r.tsv").write_text(GOOD)
    done = ragmeter("evaluate", "--results", "r.tsv", *arguments)
    assert done.returncode == 2, done.stdout
    for part in parts:
        assert part in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.tsv"]


def test_a_missing_file(ragmeter: Run, tmp_path: Path) -> None:
    done = ragmeter("evaluate", "--metrics", "token_f1", "--results", "nowhere.tsv")
    assert done.returncode == 2
    assert "nowhere.tsv: there is no such file" in done.stderr
    done = ragmeter("evaluate", "--metrics", "token_f1", "--results", tmp_path)
    assert "is a folder" in done.stderr


@pytest.mark.parametrize("kind", [["--metrics", "token_f1"], ["--evaluator", "EditDistanceEvaluator"]])
def test_a_folder_that_cannot_be_written(kind: list[str], tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "r.tsv").write_text(GOOD)
    (tmp_path / "taken").write_text("a file where a folder should be")
    done = ragmeter("evaluate", *kind, "--results", "r.tsv", "--output-dir", "taken/out")
    assert done.returncode == 2
    assert "can't write into taken/out" in done.stderr
    assert "--output-dir" in done.stderr


def test_a_folder_that_is_no_run_is_left_alone(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "r.tsv").write_text(GOOD)
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    (tmp_path / "runs" / "mine" / "thesis.txt").write_text("years of work")
    done = ragmeter("evaluate", "--metrics", "token_f1", "--results", "r.tsv", "--run", "mine")
    assert done.returncode == 2
    assert "not a run" in done.stderr
    assert (tmp_path / "runs" / "mine" / "thesis.txt").read_text() == "years of work"


def test_titles_that_differ_in_case_alone() -> None:
    rows = [{"qid": "1", "Answer": "a", "ANSWER": "b", "reference": "a"}]
    with pytest.raises(ColumnError, match="'Answer' and 'ANSWER' could each be the answer"):
        evaluate(rows, metrics="exact_match")
    assert evaluate(rows, metrics="exact_match", columns={"answer": "ANSWER"})["exact_match"].mean == 0
    rows[0] |= {"answer": "a", "prediction": "c"}  # the table's own name comes first
    assert evaluate(rows, metrics="exact_match")["exact_match"].mean == 1
    assert (
        evaluate([{"Answer": "a", "prediction": "b", "reference": "a"}], metrics="exact_match")["exact_match"].mean == 1
    )
