"""A system that is asked each question several times."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter.analysis.calls import calls_of_row
from ragmeter.errors import UsageError
from tests.conftest import Run

ROWS = [{"qid": str(n), "question": f"q{n}?", "reference": "Paris"} for n in range(3)]


class Changing:
    """Right the first time it is asked q0, always for q1, never for q2."""

    def __init__(self) -> None:
        self.times: dict[str, int] = {}
        self.lock = threading.Lock()

    def query(self, question: str) -> str:
        with self.lock:
            time = self.times[question] = self.times.get(question, 0) + 1
        return "Paris" if question == "q1?" or (question == "q0?" and time == 1) else f"Rome {time}"


def test_each_question_is_asked_several_times(tmp_path: Path) -> None:
    system = Changing()
    done = ragmeter.ask(ROWS, system, metrics="exact_match", repeats=3, run="r", output_dir=tmp_path)
    assert system.times == {"q0?": 3, "q1?": 3, "q2?": 3}
    assert done.rows["qid"].to_pylist() == ["0", "1", "2"] * 3
    assert done.rows["repeat"].to_pylist() == ["1"] * 3 + ["2"] * 3 + ["3"] * 3
    assert done.summary.statistics.cluster == "qid"  # answers to one question are not independent
    result = ragmeter.repeats("r", output_dir=tmp_path)
    assert (result.repeats, result.n_questions, result.same_answers) == (3, 3, 1)
    metric = result.metrics["exact_match"]
    assert metric.variances.within == pytest.approx((2 / 3) / 6)
    assert [rate.k for rate in metric.passes] == [1, 2, 3]
    assert [rate.any.value for rate in metric.passes] == pytest.approx([4 / 9, 5 / 9, 2 / 3])
    assert [rate.all.value for rate in metric.passes] == pytest.approx([4 / 9, 1 / 3, 1 / 3])
    assert result.metrics["latency_ms"].passes == []


def test_sessions_are_repeated_as_conversations_of_their_own(tmp_path: Path) -> None:
    rows = [{**row, "session_id": "s", "turn_idx": turn} for turn, row in enumerate(ROWS)]
    seen: list[tuple[str, int]] = []

    def system(question: str, session_id: str, history: list[Any]) -> str:
        seen.append((session_id, len(history)))
        return "x"

    done = ragmeter.ask(rows, system, metrics="exact_match", repeats=2, output_dir=tmp_path, workers=1)
    assert sorted(seen) == [("s", 0), ("s", 2), ("s", 4), ("s#2", 0), ("s#2", 2), ("s#2", 4)]
    assert done.rows["session_id"].to_pylist() == ["s"] * 6


def test_an_interrupted_run_asks_only_what_is_missing(tmp_path: Path) -> None:
    calls: list[str] = []

    def system(question: str) -> str:
        calls.append(question)
        return "x"

    options: dict[str, Any] = {"metrics": "exact_match", "repeats": 3, "run": "r", "output_dir": tmp_path, "workers": 1}
    ragmeter.ask(ROWS, system, max_calls=4, **options)
    assert len(calls) == 4
    done = ragmeter.ask(ROWS, system, retry_failed=True, **options)
    assert (len(calls), done["exact_match"].n_scored) == (9, 9)


def test_the_call_behind_each_answer_is_found_again(tmp_path: Path) -> None:
    rows = [{**row, "session_id": "s", "turn_idx": turn} for turn, row in enumerate(ROWS)]
    done = ragmeter.ask(rows, Changing(), metrics="exact_match", repeats=2, run="r", output_dir=tmp_path)
    assert done.folder is not None
    for place, answer in enumerate(done.rows["answer"].to_pylist()):
        [call] = calls_of_row(done.folder, place)
        assert call.reply == answer


def test_a_column_of_that_name_is_the_users_own(tmp_path: Path) -> None:
    rows = [{**row, "repeat": "no"} for row in ROWS]
    done = ragmeter.ask(rows, Changing(), metrics="exact_match", run="r", output_dir=tmp_path)
    assert done.folder is not None
    assert len(calls_of_row(done.folder, 0)) == 1
    with pytest.raises(UsageError, match="each question was asked once"):
        ragmeter.repeats("r", output_dir=tmp_path)


def test_runs_with_repeats_are_compared_and_extended(tmp_path: Path) -> None:
    for name in ("a", "b"):
        ragmeter.ask(ROWS, Changing(), metrics="exact_match", repeats=2, run=name, output_dir=tmp_path)
    comparison = ragmeter.compare(["a", "b"], output_dir=tmp_path)
    assert (comparison["exact_match"].n, comparison["exact_match"].n_clusters) == (6, 3)
    assert ragmeter.add_metrics(tmp_path / "a", "token_f1")["token_f1"].n_scored == 6


def test_what_has_no_repeats(tmp_path: Path) -> None:
    ragmeter.ask(ROWS, Changing(), metrics="exact_match", run="once", output_dir=tmp_path)
    with pytest.raises(UsageError, match="each question was asked once"):
        ragmeter.repeats("once", output_dir=tmp_path)
    with pytest.raises(UsageError, match="repeats must be at least 1, got 0"):
        ragmeter.ask(ROWS, Changing(), metrics="exact_match", repeats=0, output_dir=tmp_path)
    with pytest.raises(UsageError, match="column 'repeat'"):
        ragmeter.ask([{**ROWS[0], "repeat": 1}], Changing(), metrics="exact_match", repeats=2, output_dir=tmp_path)


def test_the_command(ragmeter: Run, tmp_path: Path) -> None:
    (tmp_path / "rag.py").write_text("def ask(question): return 'Paris'")
    (tmp_path / "qa.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    command = ("ask", "--dataset", "qa.jsonl", "--target", "rag:ask", "--metrics", "exact_match", "--repeats", "2")
    done = ragmeter(*command, "--run", "r")
    assert done.returncode == 0, done.stderr
    assert "pass^k" in done.stdout
    assert "the same answer each time: 3 of 3 questions" in done.stdout
    assert "pass@k" in ragmeter("summary", "r").stdout
    document = json.loads(ragmeter("summary", "r", "--json", "--level", "0.9").stdout)["repeats"]
    assert document["metrics"]["exact_match"]["passes"][1]["all"]["value"] == 1
    assert document["level"] == 0.9
    assert json.loads(ragmeter(*command, "--json").stdout)["repeats"]["repeats"] == 2
    assert "--repeats must be at least 1" in ragmeter(*command[:-1], "0").stderr
