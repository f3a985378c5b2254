"""`ragmeter explain`, run as a person runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ragmeter as package
from ragmeter.errors import InputError, UnknownNameError, UsageError
from tests.conftest import Run

ROWS: list[dict[str, object]] = [
    {"qid": "q1", "question": "when was it built", "reference": ["1889"], "answer": "It was built in 1890."},
    {
        "qid": "q2",
        "question": "who built it",
        "reference": ["Gustave Eiffel", "Eiffel"],
        "answer": "G. Eiffel built it.",
    },
    {"qid": "q3", "question": "where is it", "reference": ["Paris"], "answer": "It is \u001b[31mnot in Paris."},
    {"qid": "q4", "question": "where is it", "reference": ["Paris"], "answer": None},
]


@pytest.fixture(autouse=True)
def _run(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "results.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    done = ragmeter("evaluate", "--metrics", "offline_correct", "--results", "results.jsonl", "--run", "tower")
    assert done.returncode == 0, done.stderr


def test_says_what_decided(ragmeter: Run) -> None:
    done = ragmeter("explain", "tower", "q1")
    assert done.returncode == 0, done.stderr
    assert "q1: wrong, probability of being right 0." in done.stdout
    assert "compared with: 1889" in done.stdout
    shown = " ".join(done.stdout.split())
    assert "missing: 1889; the answer has: 1890" in shown
    assert "q2: right" in ragmeter("explain", "runs/tower", "q2").stdout


def test_an_id_may_be_a_number_in_python(tmp_path: Path) -> None:
    package.evaluate([{**ROWS[0], "qid": 3}], metrics="offline_correct", run="numbered", output_dir=tmp_path)
    (explanation,) = package.explain("numbered", 3, output_dir=tmp_path)
    assert explanation.reference == "1889"
    with pytest.raises(UnknownNameError):
        package.explain("numbered", 4, output_dir=tmp_path)


def test_for_scripts(ragmeter: Run) -> None:
    (explanation,) = json.loads(ragmeter("explain", "tower", "q2", "--json").stdout)
    assert explanation["qid"] == "q2"
    assert explanation["correct"] is True
    assert explanation["reference"] in ("Gustave Eiffel", "Eiffel")
    assert explanation["language"] == "en"
    assert {"about", "says", "weight"} == set(explanation["evidence"][0])


def test_nothing_from_the_data_steers_the_terminal(ragmeter: Run) -> None:
    assert "\u001b[31m" not in ragmeter("explain", "tower", "q3").stdout


def test_what_can_t_be_explained_says_why(tmp_path: Path, ragmeter: Run) -> None:
    done = ragmeter("explain", "tower", "q22")
    assert done.returncode == 2
    assert "did you mean" in done.stderr
    done = ragmeter("explain", "nowhere", "q1")
    assert done.returncode == 2
    assert "unknown run 'nowhere'" in done.stderr
    runs = tmp_path / "runs"
    with pytest.raises(InputError, match="no answer"):
        package.explain("tower", "q4", output_dir=runs)
    with pytest.raises(UnknownNameError):
        package.explain("tower", "q5", output_dir=runs)
    (tmp_path / "bare.jsonl").write_text(json.dumps({"qid": "1", "answer": "a", "reference": ["a"]}))
    done = ragmeter("evaluate", "--metrics", "token_f1", "--results", "bare.jsonl", "--run", "bare")
    assert done.returncode == 0, done.stderr
    with pytest.raises(UsageError, match="no column 'question'"):
        package.explain("bare", "1", output_dir=runs)


def test_a_damaged_run_is_an_error(tmp_path: Path, ragmeter: Run) -> None:
    with_causes = [dict(row, contexts=["It was built in 1889."]) for row in ROWS]
    (tmp_path / "results.jsonl").write_text("\n".join(map(json.dumps, with_causes)))
    done = ragmeter("evaluate", "--metrics", "offline_correct", "--results", "results.jsonl", "--run", "tower")
    assert "cause" in ragmeter("explain", "tower", "q1").stdout, "it has something else to show"
    rows = tmp_path / "runs" / "tower" / "rows.parquet"
    with pq.ParquetFile(rows) as file:
        group = file.metadata.row_group(0)
        columns = {group.column(place).path_in_schema: group.column(place) for place in range(group.num_columns)}
    begin = columns["question"].data_page_offset
    data = bytearray(rows.read_bytes())
    data[begin : begin + 8] = b"\xff" * 8
    rows.write_bytes(data)
    done = ragmeter("explain", "tower", "q1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "rows.parquet" in done.stderr
    assert "can't be read" in done.stderr


def test_the_score_of_a_run_is_the_one_that_is_explained(tmp_path: Path) -> None:
    rows = package.Run(tmp_path / "runs" / "tower").rows().to_pylist()
    for row in rows[:3]:
        (explanation,) = package.explain(tmp_path / "runs" / "tower", row["qid"])
        assert row["offline_correct"] == explanation.correct


def test_the_settings_of_the_run_s_own_metric_are_explained(tmp_path: Path, ragmeter: Run) -> None:
    curve = {"curve": {"kind": "platt", "slope": 1.0, "shift": 9.0}}
    (tmp_path / "mine.json").write_text(json.dumps(curve), encoding="utf-8")
    metric = 'offline_correct_probability[language=es,calibration="mine.json"]'
    done = ragmeter("evaluate", "--metrics", metric, "--results", "results.jsonl", "--run", "bent")
    assert done.returncode == 0, done.stderr
    rows = package.Run(tmp_path / "runs" / "bent").rows().to_pylist()
    (name,) = [column for column in rows[0] if column.startswith("offline") and "outcome" not in column]
    done = ragmeter("explain", "bent", "q1", "--json")
    assert done.returncode == 0, done.stderr
    (explanation,) = json.loads(done.stdout)
    assert explanation["language"] == "es"
    assert explanation["probability"] == pytest.approx(rows[0][name])
    assert explanation["calibration"] == "mine.json"
    assert explanation["correct"] is True
    assert explanation["uncalibrated"] < 0.5
    assert "bend that" in ragmeter("explain", "bent", "q1").stdout
    (other,) = json.loads(ragmeter("explain", "tower", "q1", "--json", "--calibration", "mine.json").stdout)
    assert other["calibration"] == "mine.json"
    (tmp_path / "mine.json").unlink()
    done = ragmeter("explain", "bent", "q1")
    assert done.returncode == 2
    assert "mine.json" in done.stderr


def test_a_gold_answer_of_numbers_alone_is_told_by_them(tmp_path: Path) -> None:
    (explanation,) = package.explain(tmp_path / "runs" / "tower", "q1")
    said = {evidence.about: evidence.says for evidence in explanation.evidence}
    assert said["gold words"] == "missing: 1889"


def test_claims_are_shown_with_the_passages_that_support_them(tmp_path: Path, ragmeter: Run) -> None:
    row = {
        "qid": "c1",
        "answer": "The tower was built in 1889. Bananas \u001b[31m grow on trees.",
        "contexts": ["Nothing.", "The tower was built in 1889."],
        "nuggets": ["It was built in 1889.", {"text": "It is of iron.", "importance": "okay"}],
        "nugget_support": ["support", "partial support"],
    }
    (tmp_path / "claims.jsonl").write_text(json.dumps(row))
    metrics = "faithfulness[judge=offline],nugget_recall"
    done = ragmeter("evaluate", "--metrics", metrics, "--results", "claims.jsonl", "--run", "c")
    assert done.returncode == 0, done.stderr
    done = ragmeter("explain", "c", "c1")  # without a reference there is nothing but the claims
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert "c1: claims of the answer, offline" in shown
    assert "✓ supported: passage 2" in shown
    assert "[Bananas]" in shown
    assert "It is of iron. (okay) ◐ partial support" in shown
    assert "\u001b[31m" not in done.stdout
    (record,) = json.loads(ragmeter("explain", "c", "c1", "--json").stdout)
    (first, second) = next(own["claims"] for own in record["claims"] if own["title"] == "claims of the answer")
    assert first["passages"] == [[2, "supported"]]
    assert first["unsupported"] == []
    assert second["by_passages"] == "not mentioned"
    assert [0, 7] in second["unsupported"]


def test_what_the_run_has_metrics_for_comes_first(tmp_path: Path, ragmeter: Run) -> None:
    row = {"qid": "c1", "question": "When?", "reference": "1889", "answer": "It was in 1889.", "contexts": ["In 1889."]}
    (tmp_path / "one.jsonl").write_text(json.dumps(row))
    for metrics, begins in (("faithfulness[judge=offline]", "c1: claims"), ("offline_correct", "c1: ")):
        assert ragmeter("evaluate", "--metrics", metrics, "--results", "one.jsonl", "--run", "c").returncode == 0
        done = ragmeter("explain", "c", "c1")
        assert done.stdout.startswith(begins), done.stdout
        assert ("claims of the answer" in done.stdout) == ("faithfulness" in metrics)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            '{"verdict": "No", "reason": "too vague"}',
            "verdict is WRONG, decided by the model fake its reason: too vague",
        ),
        ("Perhaps", "verdict is missing, unparsable; the model fake was to decide the cause: not a verdict"),
    ],
)
def test_the_run_s_own_verdict_comes_first(reply: str, said: str, tmp_path: Path, ragmeter: Run) -> None:
    """The offline judge is of another opinion, and that is what it is called."""
    judge = package.Judge(provider=package.FakeProvider(reply), check=False, reasons=True)
    rows = [{"qid": "q", "question": "which city", "reference": "Paris", "answer": "It is Paris."}]
    package.evaluate(rows, metrics="llm_correct", judge=judge, run="judged", output_dir=tmp_path / "runs")
    shown = " ".join(ragmeter("explain", "judged", "q").stdout.split())
    assert shown.startswith(f"q: {said}")
    assert "the offline judge's opinion: right, probability of being right 0.9" in shown
    (record,) = json.loads(ragmeter("explain", "judged", "q", "--json").stdout)
    (judged,) = record["judged"]
    assert (judged["by"], judged["model"]) == (None if judged["value"] is None else "llm", "fake")
    (explanation,) = package.explain("judged", "q", output_dir=tmp_path / "runs")
    assert explanation.judged[0].value == judged["value"]
    assert explanation.correct


def test_who_decided_in_a_cascade(tmp_path: Path, ragmeter: Run) -> None:
    judge = package.Judge(
        provider=package.FakeProvider("No"), check=False, cascade=package.Cascade(llm_share=0.5, audit=0)
    )
    answers = ["It is Paris.", "It is Lyon.", "Paris, Rome or Lyon.", "The capital, they say."]
    rows = [
        {"qid": str(row), "question": "which city", "reference": "Paris", "answer": answer}
        for row, answer in enumerate(answers)
    ]
    metric = "llm_correct[judge=cascade]"
    result = package.evaluate(rows, metrics=metric, judge=judge, run="shared", output_dir=tmp_path / "runs")
    deciders = result.rows["judged_by[judge=cascade]"].to_pylist()
    assert set(deciders) == {"llm", "offline"}
    who = {"llm": "the model fake", "offline": "the offline judge, probability of being right"}
    for row, decider in zip(rows, deciders, strict=True):
        assert f"decided by {who[decider]}" in ragmeter("explain", "shared", str(row["qid"])).stdout


def test_a_run_without_a_reference_is_explained_by_its_verdict(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "words.txt").write_text("{question}\n{answer}\nIs it polite?")
    judge = package.Judge(provider=package.FakeProvider("No"), check=False, prompt=tmp_path / "words.txt")
    rows = [{"qid": "q", "question": "which city", "answer": "Paris, you fool."}]
    package.evaluate(rows, metrics="llm_correct", judge=judge, run="rude", output_dir=tmp_path / "runs")
    assert ragmeter("explain", "rude", "q").stdout == "q: verdict is WRONG, decided by the model fake\n"


@pytest.mark.parametrize("reference", [{}, {"reference": "Leonardo"}])
def test_a_row_that_declines_to_answer_says_so(reference: dict[str, str], tmp_path: Path, ragmeter: Run) -> None:
    rows = [
        {"qid": "1", "question": "Who?", "answer": "I don't know.", "contexts": ["Leonardo did."], **reference},
        {"qid": "2", "question": "Who?", "answer": "Leonardo did.", "contexts": ["Leonardo did."], **reference},
    ]
    metrics = "faithfulness[judge=offline]"
    package.evaluate(rows, metrics=metrics, run="r", output_dir=tmp_path / "runs")
    sentence = "1: the answer declines to answer: no score by faithfulness[judge=offline]"
    done = ragmeter("explain", "r", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == sentence
    assert ("evidence" in done.stdout) == bool(reference)
    (record,) = json.loads(ragmeter("explain", "r", "1", "--json").stdout)
    assert record["abstained"] == ["faithfulness[judge=offline]"]
    other = ragmeter("explain", "r", "2")
    assert other.returncode == 0
    assert "declines" not in other.stdout
    assert "abstained" not in ragmeter("explain", "r", "2", "--json").stdout
