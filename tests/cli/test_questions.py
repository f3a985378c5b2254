"""`ragmeter questions` as a person uses it: from documents to a run that `ask` takes, exports, labels and the card."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragmeter.io.source import _RUN
from ragmeter.runs.layout import MANIFEST, ROWS
from ragmeter.runs.run import Run as StoredRun
from tests.conftest import Run
from tests.judge_server import Action, JudgeServer, completion
from tests.testsets import writer
from tests.testsets.test_planning import CATEGORIES
from tests.testsets.writer import write_chunks, write_folder

SYSTEM = """
import json
with open("chunks.jsonl") as file:
    CHUNKS = [json.loads(line) for line in file]

def retriever(step):
    def answer(question):
        names = {word for word in question.strip("?").split() if word.startswith("Place")}
        towns = [chunk["id"] for chunk in CHUNKS if names & set(chunk["text"].split())]
        n = sum(map(ord, question)) % 10
        return {"answer": "Abel", "retrieved": towns if n >= step else ["none"]}
    return answer

best, good, bad, worst = (retriever(step) for step in (0, 3, 6, 9))
"""


def behave(request: dict[str, Any], number: int) -> Action:
    return Action(body=completion(writer.reply(request["messages"][-1]["content"])))


def _of(url: str) -> list[str]:
    return ["questions", "chunks.jsonl", "--n", "10", "--judge-model", "m", "--base-url", url]


def _recall(reference: str) -> list[str]:
    return ["--results", "results.jsonl", "--reference", reference, "--metrics", "recall@5"]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with JudgeServer(behave) as server:
        yield server.url


@pytest.fixture(autouse=True)
def _documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    write_folder(tmp_path / "docs", 10)
    write_chunks(tmp_path / "chunks.jsonl", 40)
    (tmp_path / "rag.py").write_text(SYSTEM, encoding="utf-8")


def test_a_dry_run_says_what_is_planned(ragmeter: Run, tmp_path: Path) -> None:
    done = ragmeter("questions", "docs", "--n", "20", "--judge-model", "gpt-4o", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "10 documents, 20 passages, 20 of them to ask about" in done.stdout
    assert "held out, so that their questions have no answer: doc" in done.stdout
    assert "about 20 calls, and 0 recorded before" in done.stdout
    assert not (tmp_path / "runs").exists()
    planned = json.loads(ragmeter("questions", "docs", "--offline", "--n", "5", "--dry-run", "--json").stdout)
    assert planned["kinds"] == {"keywords": 5}


def test_from_chunks_to_an_evaluation(ragmeter: Run, tmp_path: Path, url: str) -> None:
    (tmp_path / "categories.json").write_text(json.dumps(CATEGORIES), encoding="utf-8")
    model = ("--judge-model", "m", "--base-url", url)
    done = ragmeter("questions", "chunks.jsonl", "--n", "10", *model, "--categories", "categories.json")
    assert done.returncode == 0, done.stderr
    assert "10 questions by m about 40 documents" in done.stdout
    assert "fit to rank retrievers; not shown to rank generators" in done.stdout
    again = ragmeter("questions", "chunks.jsonl", "--n", "10", *model, "--categories", "categories.json")
    assert again.returncode == 0, again.stderr
    asked = ragmeter("ask", "--dataset", "runs/questions", "--target", "rag:best", "--run", "best")
    assert asked.returncode == 0, asked.stderr
    metrics = StoredRun(tmp_path / "runs" / "best").metrics()
    assert metrics["recall@5"].n_scored == 9
    assert metrics["abstention_correct"].n_scored == 10 if "abstention_correct" in metrics else True
    sliced = ragmeter("summary", "best", "--slice", "kind", "--slice", "expertise", "--metrics", "recall@5")
    assert "how_why" in sliced.stdout
    assert "novice" in sliced.stdout
    for command in (("summary", "questions"), ("questions", "--run", "questions")):
        assert "10 questions by m about 40 documents" in ragmeter(*command).stdout
    done = ragmeter("report", "questions", "--output", "set.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "set.html").read_text(encoding="utf-8")
    assert "What this test set is good for" in page
    assert "<script" not in page


def test_too_few_questions_are_an_exit_code(ragmeter: Run, url: str) -> None:
    done = ragmeter(*_of(url), "--max-calls", "4")
    assert done.returncode == 3
    assert "4 of 10 questions: the limit was reached" in done.stderr
    assert ragmeter(*_of(url)).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "which documents?"),
        (("docs",), "who writes the questions?"),
        (("nowhere", "--offline"), "there is no such file"),
        (("docs", "--offline", "--kinds", "riddle"), "unknown kind of question"),
        (("docs", "--offline", "--n", "0"), "must be at least 1"),
        (("docs", "--offline", "--kinds", "fact"), "no questions of the kind fact"),
        (("docs", "--offline", "--language", "klingon"), "unknown language"),
        (("docs", "--offline", "--categories", "missing.json"), "can't be read"),
        (("--run", "nothing"), "nothing"),
    ],
)
def test_bad_arguments(ragmeter: Run, tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    done = ragmeter("questions", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs" / "questions").exists()


def test_exports(ragmeter: Run, tmp_path: Path, url: str) -> None:
    done = ragmeter(*_of(url))
    assert done.returncode == 0, done.stderr
    for name in ("qa-pairs", "beir", "qrels", "ragas", "deepeval"):
        done = ragmeter("export", "questions", "--to", name)
        assert done.returncode == 0, done.stderr
    rows = StoredRun(tmp_path / "runs" / "questions").rows().to_pylist()
    answerable = [row for row in rows if row["relevant"]]
    with (tmp_path / "questions.qa.tsv").open(encoding="utf-8", newline="") as file:
        pairs = list(csv.DictReader(file, delimiter="\t"))
    assert [pair["question"] for pair in pairs] == [row["question"] for row in rows]
    assert pairs[0]["document_ids"] == repr(rows[0]["relevant"])
    qrels = (tmp_path / "questions.qrels").read_text(encoding="utf-8").splitlines()
    assert qrels[0].split() == [answerable[0]["qid"], "0", answerable[0]["relevant"][0], "1"]
    ragas = [json.loads(line) for line in (tmp_path / "questions.ragas.jsonl").read_text("utf-8").splitlines()]
    assert ragas[0] == {
        "user_input": rows[0]["question"],
        "reference": rows[0]["reference"][0],
        "reference_contexts": rows[0]["evidence"],
    }
    golden = json.loads((tmp_path / "questions.deepeval.json").read_text("utf-8"))[0]
    assert (golden["input"], golden["expected_output"]) == (rows[0]["question"], rows[0]["reference"][0])
    results = [{"qid": row["qid"], "answer": "Abel", "retrieved": row["relevant"] or []} for row in rows]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in results), encoding="utf-8")
    for reference in ("questions.qa.tsv", "questions-beir"):
        done = ragmeter("evaluate", *_recall(reference), "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["metrics"]["recall@5"]["mean"] == 1
    ragmeter("evaluate", "--results", "results.jsonl", "--reference", "questions.qa.tsv", "--run", "other")
    done = ragmeter("export", "other", "--to", "ragas")
    assert "other is no test set" in done.stderr


def test_people_accept_some(ragmeter: Run, tmp_path: Path, url: str) -> None:
    ragmeter(*_of(url))
    done = ragmeter("label", "questions", "--n", "4", "--output", "people.csv")
    assert done.returncode == 0, done.stderr
    assert "write yes or no into user_would_ask" in done.stderr
    with (tmp_path / "people.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = ["user_would_ask", "answer_is_right", "in_passage"]
    for row, answers in zip(rows, ("yyy", "YYY", "nyy", "yn"), strict=True):
        row.update(zip(names, answers, strict=False))
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    done = ragmeter("label", "questions", "--output", "people.csv")
    assert "people accept 67% of 3 questions (95%: 21% to 94%)" in done.stdout
    people = StoredRun(tmp_path / "runs" / "questions").summary().test_set.people
    assert (people.labelled, people.accepted, people.no_user, people.wrong, people.not_in_passage) == (3, 2, 1, 0, 0)
    (tmp_path / "people.csv").write_text(
        "qid,user_would_ask,answer_is_right,in_passage\nq01,perhaps,,\n", encoding="utf-8"
    )
    assert "'perhaps' is neither yes nor no" in ragmeter("label", "questions", "--output", "people.csv").stderr


def test_real_questions_beside_them_and_ranks(ragmeter: Run, tmp_path: Path, url: str) -> None:
    real = [
        {"qid": f"r{number}", "question": f"Please, who was it that founded Place{number}?", "relevant": [f"c{number}"]}
        for number in range(40)
    ]
    (tmp_path / "real.jsonl").write_text("".join(json.dumps(row) + "\n" for row in real), encoding="utf-8")
    kinds = ("--kinds", "fact,how_why")
    done = ragmeter(
        "questions",
        "chunks.jsonl",
        "--n",
        "30",
        *kinds,
        "--judge-model",
        "m",
        "--base-url",
        url,
        "--like",
        "real.jsonl",
    )
    assert done.returncode == 0, done.stderr
    assert "real ones: 7 words, 67% of their words in the passage (40 questions)" in " ".join(done.stdout.split())
    runs = []
    for dataset, name in (("runs/questions", "made"), ("real.jsonl", "real")):
        for system in ("best", "good", "bad", "worst"):
            runs.append(f"{name}-{system}")
            ragmeter(
                "ask", "--dataset", dataset, "--target", f"rag:{system}", "--metrics", "recall@5", "--run", runs[-1]
            )
    done = ragmeter("questions", "--run", "questions", "--check", *runs[:4], *reversed(runs[4:]))
    assert done.returncode == 0, done.stderr
    check = StoredRun(tmp_path / "runs" / "questions").summary().test_set.check
    assert (check.metric, check.systems, check.tau) == ("recall@5", 4, 1.0)
    assert check.interval is not None
    assert check.interval[1] == 1
    assert check.split_half is not None
    assert 0 < check.split_half <= 1
    assert "4 systems by recall@5: Kendall's tau with real questions 1" in done.stdout
    done = ragmeter("questions", "--run", "questions", "--check", *runs[:5])
    assert "4 runs over the questions of questions, and 1 over others" in done.stderr
    done = ragmeter("questions", "--run", "questions", "--check", *runs[:3], *runs[5:])
    assert "are not of the same 3 systems" in done.stderr


def test_offline(ragmeter: Run, tmp_path: Path) -> None:
    done = ragmeter("questions", "docs", "--n", "30", "--offline", "--run", "made")  # more than there are passages
    assert done.returncode == 0, done.stderr
    assert "questions without a model about 10 documents" in done.stdout
    assert "written without a model" in done.stdout
    rows = StoredRun(tmp_path / "runs" / "made").rows().to_pylist()
    assert all(row["relevant"] and row["question"] for row in rows)
    ragmeter("label", "made", "--n", "2")
    text = (tmp_path / "labels.csv").read_text(encoding="utf-8")
    (tmp_path / "labels.csv").write_text(text.replace(",,,", ",yes,,no"), encoding="utf-8")
    assert "people accept 0% of 2 questions" in ragmeter("label", "made").stdout  # about answers nothing is asked
    (tmp_path / "german.jsonl").write_text(
        json.dumps({"id": "1", "text": "Der See ist tief, und niemand hat gesehen, was in ihm ist und wie es lebt."})
    )
    done = ragmeter("questions", "german.jsonl", "--offline", "--run", "german")
    assert done.returncode == 3
    assert "not in English or Spanish" in done.stderr


def test_the_judge_of_a_project_writes(ragmeter: Run, tmp_path: Path, url: str) -> None:
    (tmp_path / "ragmeter.toml").write_text(f'[judge]\nmodel = "m"\nbase_url = "{url}"\n', encoding="utf-8")
    done = ragmeter("questions", "chunks.jsonl", "--n", "3", "--kinds", "fact")
    assert done.returncode == 0, done.stderr
    assert "3 questions by m" in done.stdout
    done = ragmeter("questions", "docs", "--n", "3", "--offline", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert ragmeter("questions", "--run", "questions").returncode == 0


def test_a_run_is_read_by_the_names_of_its_files() -> None:
    assert _RUN == (ROWS, MANIFEST)
