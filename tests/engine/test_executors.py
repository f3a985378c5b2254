"""Threads, processes and executors of the user's: the same numbers, the same errors, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import add_metrics, evaluate, get_metric
from ragmeter.cli.main import main
from ragmeter.definition import METRICS
from ragmeter.documents.hops import Hop, written_hops
from ragmeter.engine import executors
from ragmeter.engine.executors import Auto, Threads, _cut, executor_of, map_pieces
from ragmeter.engine.processes import Processes
from ragmeter.engine.scoring import score_batches
from ragmeter.errors import UsageError, WorkerError
from ragmeter.registry import known
from ragmeter.table import Batch
from tests.command import PATIENCE, wait_for
from tests.conftest import Run, load_rows

MODULE = """
import os, pathlib, signal, sys, time
from ragmeter import BaseScorer, Failed, metric

class Vowels(BaseScorer):
    def calculate_score(self, reference, candidate):
        if not candidate:
            raise ValueError("nothing")
        return sum(letter in "aeiou" for letter in candidate) / len(candidate)

    def get_score_name(self):
        return "vowels"

@metric(bounds=(0, 1e9))
def place_in_block(answer):
    return [float(place) for place, _ in enumerate(answer)]

@metric
def pandas_is_there(answer):
    return [float("pandas" in sys.modules) for _ in answer]

@metric
def broken_metric(answer):
    raise ValueError(f"broken at {answer[0]}")

@metric
def deadly_metric(answer):
    os.kill(os.getpid(), signal.SIGKILL)

class Stuck(BaseScorer):
    def calculate_score(self, reference, candidate):
        pathlib.Path(f"started-{os.getpid()}").touch()
        time.sleep(3600)

    def get_score_name(self):
        return "stuck"
"""


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module of the user's, in the current folder."""
    (tmp_path / "user_metrics.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = dict(METRICS)
    import user_metrics  # type: ignore[import-not-found]

    yield user_metrics
    for name in METRICS.keys() - before.keys():
        del METRICS[name]
    del sys.modules["user_metrics"]


def rows() -> list[dict[str, Any]]:
    """Real answers, some of them missing or empty, some calls failed."""
    loaded = [dict(row, retrieved=["a", "b"], relevant=["b"]) for row in load_rows("evouna.jsonl")]
    for place, row in enumerate(loaded):
        row["latency_ms"] = None if place % 5 == 0 else 7.5 * place
        row["answer"] = None if place % 11 == 0 else "" if place % 13 == 0 else row["answer"]
        row["error"] = "HTTP 500" if place % 17 == 0 else None
    return loaded


def bits(table: Any) -> dict[str, object]:
    """A table's columns, numbers to the bit."""
    return {
        name: column.to_numpy().tobytes() if str(column.type) == "double" else column.to_pylist()
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


def test_the_numbers_are_the_same(user: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.io.batches.ROWS", 200)
    names = ["token_f1", "meteor_score", "satisfaction_score", "semantic_similarity", "response_coverage_rate", "mrr"]
    metrics = [*names, user.Vowels, user.place_in_block]
    by_threads = evaluate(rows(), metrics=metrics, embedding_model="wordllama")
    assert by_threads["vowels"].n_not_scored["scorer_error: ValueError"] > 0
    for engine in ("local", "local:2"):
        evaluation = evaluate(rows(), metrics=metrics, embedding_model="wordllama", engine=engine)
        assert bits(evaluation.rows) == bits(by_threads.rows)
        assert evaluation.summary == by_threads.summary
        assert [used.texts for used in evaluation.embeddings] == [used.texts for used in by_threads.embeddings]


#: Columns that a judge fills, with two values that take turns.
JUDGED = {
    "support_by_reference": ('["supported", "not mentioned"]', '["contradicted"]'),
    "reference_support_by_answer": ('["supported", "not mentioned"]', "[]"),
    "support_by_passages": ('[["supported", "not mentioned"], ["supported", "supported"]]', '[["contradicted", "x"]]'),
    "reference_support_by_passages": ('[["supported", "x"], ["not mentioned", "x"]]', "[]"),
    "passage_relevance": ('["relevant", "irrelevant"]', "[]"),
    "answer_relevance_label": ("partly", "relevant"),
    "citation_support": ('[[[1, "supported"]], []]', "[]"),
    "ratings": ('{"tone": 0.5}', '{"tone": 1.0, "form": 0.0}'),
    "preferred": ('"this"', '"tie"'),
    "nuggets": ('["a", "b"]', '["c"]'),
    "nugget_support": ('["support", "no support"]', '["partial support"]'),
}


class Here(Threads):
    """Notes what would be sent to two other processes, and does it here; what ends last is given first."""

    def __init__(self, sent: list[bytes]) -> None:
        super().__init__(2)
        self.sent = sent

    def map(self, scoring: Any, batches: Any) -> Any:
        def run(function: Any, arguments: Any, ahead: int) -> Any:
            given = list(arguments)
            self.sent += [one for own in given for one in own]
            return reversed([(place, function(*own)) for place, own in enumerate(given)])

        return map_pieces(run, self.workers, scoring, batches)


def test_our_own_metrics_score_each_row_by_itself() -> None:
    columns: dict[str, list[Any]] = {name: [row.get(name) for row in rows()] for name in rows()[0]}
    columns["question"] = [f"Which {answer}?" for answer in columns["answer"]]
    columns["retrieved"] = [["a", "b", f"d{place % 3}"] for place, _ in enumerate(columns["answer"])]
    columns["relevant"] = [[f"d{place % 2}", "b"][: 1 + place % 2] for place, _ in enumerate(columns["answer"])]
    columns["relevance_grades"] = ['{"b": 2}' if place % 3 else None for place, _ in enumerate(columns["answer"])]
    columns["verdict"] = ["CORRECT" if place % 3 else "WRONG" for place, _ in enumerate(columns["answer"])]
    columns["grade"] = [str(1 + place % 5) for place, _ in enumerate(columns["answer"])]
    columns["answer"] = [f"{answer} [{place % 3}]" for place, answer in enumerate(columns["answer"])]
    columns["contexts"] = [["a", "b"] for _ in columns["answer"]]
    columns["must_contain"] = columns["must_match"] = ["a" for _ in columns["answer"]]
    columns["expected_json"] = ['{"a": 1}' for _ in columns["answer"]]
    columns["cost_usd"] = [0.002 * (place % 9) for place, _ in enumerate(columns["answer"])]
    hops = [
        [Hop("retrieval", ids=(f"d{place % 3}", "b")), Hop("tool", tool="a")]
        for place, _ in enumerate(columns["answer"])
    ]
    columns["hops"] = [written_hops(of_row) for of_row in hops]
    columns["expected_tool_calls"] = ['[{"name": "a"}]' if place % 3 else '["b"]' for place, _ in enumerate(hops)]
    columns["unanswerable"] = ["yes" if place % 3 else "no" for place, _ in enumerate(columns["answer"])]
    columns |= {name: [value[place % 2] for place, _ in enumerate(columns["answer"])] for name, value in JUDGED.items()}
    metrics = [metric for metric in known() if metric.source.startswith("ragmeter.") and not metric.embedded]
    metrics = [metric for metric in metrics if not metric.by_session]  # which look at whole conversations
    metrics = [metric for metric in metrics if metric.name != "jury_agreement"]  # of one judge there is none
    metrics += [get_metric("rouge_l_score[language=de]"), get_metric("ndcg@2")]
    (whole,) = score_batches([Batch(columns)], metrics, executor=Threads(1))
    sent: list[bytes] = []
    (cut,) = score_batches([Batch(columns)], metrics, executor=Here(sent))
    assert len(sent) == 8 * 2
    for name, (scores, outcomes) in whole.scores.items():
        assert np.isfinite(scores).any(), name
        assert cut.scores[name][0].tobytes() == scores.tobytes(), name
        assert cut.scores[name][1] == outcomes


@given(st.integers(0, 1000), st.integers(1, 9), st.booleans())
def test_pieces_are_the_batch(rows: int, pieces: int, failed: bool) -> None:
    causes = [None if place % 3 else "timeout" for place in range(rows)] if failed else []
    batch = Batch({"answer": list(range(rows)), "qid": list(range(rows))}, causes=causes)
    cut = _cut(batch, pieces)
    assert len(cut) <= pieces
    assert [cell for piece in cut for cell in piece.columns["answer"]] == batch.columns["answer"]
    assert [cause for piece in cut for cause in piece.causes] == causes


def test_what_is_sent_is_arrow_and_names(user: Any) -> None:
    sent: list[bytes] = []
    in_the_data = "only in the data"
    data = [{"qid": "1", "answer": in_the_data, "reference": "x", "question": "not needed by any metric"}]
    metrics = [get_metric("token_f1"), get_metric(user.Vowels)]
    columns = {name: [row[name] for row in data] for name in data[0]}
    list(score_batches([Batch(columns)], metrics, executor=Here(sent)))
    names, batch = sent
    assert batch.startswith(b"\xff\xff\xff\xff")  # how an Arrow stream begins
    assert in_the_data.encode() in batch
    assert b"not needed" not in batch
    assert in_the_data.encode() not in names
    assert b"token_f1" in names


def test_an_error_in_a_worker_is_the_same_error(user: Any, tmp_path: Path) -> None:
    said = []
    for engine in ("threads", "local:2"):
        with pytest.raises(UsageError) as raised:
            evaluate(rows(), metrics=[user.broken_metric], engine=engine, run="r", output_dir=tmp_path / "runs")
        said.append(str(raised.value))
    assert said[0] == said[1]
    assert "metric broken_metric failed with ValueError: broken at" in said[0]
    assert not (tmp_path / "runs").exists()


def test_a_worker_that_is_killed(user: Any, tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match="10 workers have ended in the middle of the same work") as raised:
        evaluate(rows(), metrics=[user.deadly_metric], engine="local:2", run="r", output_dir=tmp_path / "runs")
    assert raised.value.exit_code == 2
    assert "--engine threads" in raised.value.for_command_line()
    assert not (tmp_path / "runs").exists()


def test_metrics_are_added_by_processes(user: Any, tmp_path: Path) -> None:
    evaluate(rows(), metrics="token_f1", run="r", output_dir=tmp_path)
    evaluation = add_metrics("r", [user.Vowels, user.pandas_is_there], output_dir=tmp_path, engine="local:2")
    assert evaluation["pandas_is_there"].mean == 0, "Arrow would import it, which takes longer than most work"
    assert evaluation["vowels"] == evaluate(rows(), metrics=[user.Vowels])["vowels"]


def test_a_metric_that_nobody_else_can_import(user: Any) -> None:
    class Inner(user.Vowels):  # type: ignore[misc]
        """In this function alone."""

    with pytest.raises(UsageError, match=r"Inner was declared in the module .*another process can't import it"):
        evaluate(rows(), metrics=[Inner], engine="local:2")


SCRIPT = """
from ragmeter import evaluate
data = [{"qid": str(n), "answer": "answer %d" % n, "reference": "x"} for n in range(200)]
print(evaluate(data, metrics="exact_match", engine="local:2")["exact_match"].n_scored)
"""


def test_a_script_is_not_begun_again_by_workers(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "200\n"), done.stderr

    own = MODULE + SCRIPT.replace('"exact_match", engine', "[Vowels], engine")
    done = subprocess.run([sys.executable, "-c", own], cwd=tmp_path, capture_output=True, text=True)
    assert "was declared in a script or a notebook (__main__)" in done.stderr


def test_names_of_executors() -> None:
    assert isinstance(executor_of("threads"), Threads)
    assert isinstance(executor_of("auto"), Auto)
    local = executor_of("local:3")
    assert isinstance(local, Processes)
    assert local.workers == 3
    with pytest.raises(UsageError, match="engine can't be 'processes'"):
        executor_of("processes")
    with pytest.raises(UsageError, match="engine can't be a int"):
        evaluate([{"answer": "a", "reference": "a"}], metrics="token_f1", engine=3)


@pytest.mark.parametrize(
    ("metrics", "many", "by_processes"),
    [
        ("offline_correct", 300, True),
        ("offline_correct,user_metrics.Vowels", 300, False),
        ("offline_correct,token_f1", 300, True),
        ("offline_correct", 10**6, False),
        ("token_f1", 300, False),
    ],
)
def test_processes_are_taken_where_they_pay(
    user: Any, monkeypatch: pytest.MonkeyPatch, metrics: str, many: int, by_processes: bool
) -> None:
    used: list[Any] = []

    def for_many(executor: Auto, *, holds_lock: bool) -> Threads:
        used.append(holds_lock)
        return Threads()

    monkeypatch.setattr("ragmeter.io.batches.ROWS", 200)
    monkeypatch.setattr(executors, "_MANY", many)
    monkeypatch.setattr(Auto, "for_many", for_many)
    by_threads = evaluate(rows(), metrics=metrics, engine="threads")
    assert bits(evaluate(rows(), metrics=metrics).rows) == bits(by_threads.rows)
    assert bool(used) is by_processes


@pytest.mark.parametrize(
    ("cores", "holds_lock", "workers"),
    [(2, True, 2), (2, False, None), (16, False, 16), (1, True, None)],
)
def test_processes_for_many_rows(
    monkeypatch: pytest.MonkeyPatch, cores: int, holds_lock: bool, workers: int | None
) -> None:
    monkeypatch.setattr(executors, "available_cores", lambda: cores)
    monkeypatch.setattr("ragmeter.engine.processes.available_cores", lambda: cores)
    chosen = Auto().for_many(holds_lock=holds_lock)
    assert isinstance(chosen, Threads if workers is None else Processes)
    assert isinstance(chosen, Threads) or chosen.workers == workers


def test_the_command_chooses_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("answer,reference\nan answer,the gold\n")
    chosen: list[Any] = []
    choose = Auto.map

    def record(self: Auto, *work: Any) -> Any:
        chosen.append(self)
        return choose(self, *work)

    monkeypatch.setattr(Auto, "map", record)
    assert main(["evaluate", "--metrics", "token_f1", "--results", "r.csv", "--run", "mine"]) == 0
    assert main(["evaluate", "--metrics", "exact_match", "--run", "mine"]) == 0
    assert len(chosen) == 2


def test_the_option_of_the_command(
    user: Any, tmp_path: Path, ragmeter_process: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.csv").write_text("answer,reference\n" + "an answer,the gold\n" * 300)
    means = []
    for engine in ("auto", "threads", "local:2"):
        command = ["evaluate", "--metrics", "user_metrics.Vowels,token_f1", "--results", "r.csv", "--run", engine[:4]]
        done = ragmeter_process(*command, "--engine", engine)
        assert done.returncode == 0, done.stderr
        means.append(done.stdout.partition("rows:")[0])
    assert len(set(means)) == 1
    idle = ["evaluate", "--evaluator", "EditDistanceEvaluator", "--results", "r.csv", "--engine", "threads"]
    assert main(idle) == 2
    assert "--engine has no effect with --evaluator" in capsys.readouterr().err


def _alive(folder: Path) -> list[int]:
    """The workers that have begun to score and are there still."""
    return [pid for path in folder.glob("started-*") if _is_there(pid := int(path.name.partition("-")[2]))]


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "zombie" not in Path(f"/proc/{pid}/status").read_text() if Path("/proc/self").exists() else True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_the_command(number: int, user: Any, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("answer,reference\n" + "a,a\n" * 1000)
    command = ["evaluate", "--metrics", "user_metrics.Stuck", "--results", "r.csv", "--run", "r"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ragmeter", *command, "--engine", "local:2"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    wait_for(lambda: _alive(tmp_path), process)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does: the workers get it too
    else:
        process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as clock:
        wait_for(lambda: not _alive(tmp_path), clock)
    if number == signal.SIGINT:
        assert (process.returncode, said) == (130, b"ragmeter: interrupted; nothing was written\n")
        assert not (tmp_path / "runs").exists()
