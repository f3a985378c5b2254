"""The evaluator: judgement in its order, scores, files, and the seed's ways of using it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ragmeter import CRAGEvaluator, FakeProvider, LLMJudge, Run
from ragmeter.compat.crag.evaluation import RESULT_COLUMNS
from ragmeter.errors import ColumnError, InputError, UsageError
from ragmeter.metrics.conversation import is_same_answer
from tests.compat.crag.helpers import EchoAgent, conversation, turn
from tests.judge_server import Action, JudgeServer, completion

COLUMNS = [
    "session_id", "interaction_id", "turn_idx", "is_ego", "image_quality", "query_category", "domain", "dynamism",
    "query", "ground_truth", "agent_response", "total_turn_count", "interaction_id_history", "is_exact_match",
    "is_correct", "is_miss", "is_semantically_correct", "api_response",
]  # fmt: skip


def evaluator(server: JudgeServer, **keywords: Any) -> CRAGEvaluator:
    return CRAGEvaluator(
        None, None, "m", "sk-no-key", num_workers=4, base_url=server.url, **{"journal": None, **keywords}
    )


def flags(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("is_exact_match", "is_correct", "is_miss", "is_semantically_correct")
    return [tuple(row[name] for name in names) for row in rows]


def test_miss_then_exact_then_judge() -> None:
    turns = [
        turn("a", 0, "I don't know", "I don't know."),  # a miss comes first, even where it matches
        turn("b", 0, "Red", " red. "),
        turn("c", 0, "red", "It is red"),
        turn("d", 0, "red", "It is blue"),
        turn("e", 0, "red", ""),
    ]
    with JudgeServer() as server:
        rows, scores = evaluator(server).evaluate_agent_responses(turns)
        assert server.count == 2
    assert flags(rows["all"]) == [
        (False, False, True, False),
        (True, True, False, True),
        (False, True, False, True),
        (False, False, False, False),
        (False, False, True, False),
    ]
    assert rows["all"][2]["api_response"]["verdict"] == "CORRECT"
    assert rows["all"][1]["api_response"] is None
    assert scores["all"]["accuracy"] == 0.4
    assert scores["all"]["correct_exact"] == 1.0


def test_two_wrong_answers_end_a_conversation_and_the_judge_is_not_asked_further() -> None:
    turns = [turn("a", index, "red", answer) for index, answer in enumerate(["blue", "green", "it is red", "red"])]
    with JudgeServer() as server:
        rows, scores = evaluator(server).evaluate_agent_responses(turns)
        assert server.count == 2
    assert [row["is_miss"] for row in rows["all"]] == [False, False, True, True]
    assert [row["is_exact_match"] for row in rows["all"]] == [False] * 4
    assert scores["all"]["mean_multi_turn_conversation_score"] == -0.5
    assert (scores["all"]["hallucination"], scores["all"]["miss"], scores["all"]["correct"]) == (2.0, 2.0, 0.0)


def test_turns_may_come_in_any_order() -> None:
    turns = [turn("a", 2, "red", "red"), turn("b", 0, "red", "red"), turn("a", 1, "red", "x"), turn("a", 0, "red", "y")]
    with JudgeServer() as server:
        rows, _ = evaluator(server).evaluate_agent_responses(turns)
    assert [(row["session_id"], row["turn_idx"]) for row in rows["all"]] == [("a", 0), ("a", 1), ("a", 2), ("b", 0)]
    assert [row["is_miss"] for row in rows["all"]] == [False, False, True, False]


def test_what_failed_has_no_flags_and_its_cause() -> None:
    def behave(request: dict[str, Any], number: int) -> Action | None:
        return Action(body=completion("hm")) if "unreadable" in request["messages"][1]["content"] else None

    turns = [
        turn("a", 0, "red", "it is red"),
        turn("b", 0, "red", "unreadable"),
        turn("c", 0, None, "red"),
        turn("d", 0, "red", None, error="ValueError: x"),
        turn("e", 0, "red", None),
    ]
    with JudgeServer(behave) as server:
        made = evaluator(server)
        rows, scores = made.evaluate_agent_responses(turns)
    assert flags(rows["all"])[1:] == [(None, None, None, None)] * 4
    outcomes = [row["api_response"]["outcome"] for row in rows["all"]]
    assert outcomes == ["scored", "unparsable", "no_reference", "target_error", "target_error"]
    assert rows["all"][3]["api_response"]["cause"] == "ValueError: x"
    assert (scores["all"]["total"], scores["all"]["accuracy"]) == (1.0, 1.0)
    assert made.report is not None
    summary = made.report.summary
    assert summary["metrics"]["accuracy"]["n_not_scored"] == {"no_reference": 1, "target_error": 2, "unparsable": 1}
    assert summary["unreadable"] == {"unparsable: not a verdict": "hm"}
    assert summary["accuracy_bounds"] == (0.2, 1.0)
    assert summary["unscored_share"] == 0.8
    assert summary["usage"]["calls"] == 4


def test_the_same_texts_are_judged_once() -> None:
    turns = [turn(session, 0, "red", "it is red", query="what colour?") for session in "abc"]
    with JudgeServer() as server:
        _, scores = evaluator(server).evaluate_agent_responses(turns)
        assert server.count == 1
    assert scores["all"]["correct"] == 3.0


def test_without_a_judge_only_a_match_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "no address")  # nobody is asked
    monkeypatch.setenv("OPENAI_API_KEY", "no\nkey")
    rows, scores = CRAGEvaluator(journal=None).evaluate_agent_responses(
        [turn("a", 0, "red", "red"), turn("b", 0, "red", "it is red")]
    )
    assert flags(rows["all"]) == [(True, True, False, True), (False, False, False, False)]
    assert scores["all"]["hallucination"] == 1.0


@pytest.mark.parametrize(
    ("answer", "truth", "same"),
    [
        ("Red", "red", True), ("red.", "red", True), ("It’s red", "it's  red", True), ("CAFÉ", "cafe\u0301", True),
        ("3.5", "35", False), ("-5", "5", False), ("C++", "C", False), ("red!", "red", False), ("cafe", "café", False),
    ],
)  # fmt: skip
def test_exact_match(answer: str, truth: str, same: bool) -> None:
    assert is_same_answer(answer, truth) is same


def test_the_seeds_basic_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dataset = [
        conversation("a", ("red", "red"), ("x", "blue")),
        conversation("b", ("green", "about green"), url="http://x/b.png"),
    ]
    with JudgeServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        evaluator = CRAGEvaluator(
            dataset=dataset,
            agent=EchoAgent(),
            eval_model_name="gpt-4o",
            eval_api_key="your-api-key",
            num_conversations=100,
            num_workers=4,
            fetch_images=False,
        )
        turn_results, scores = evaluator.evaluate_agent()
        evaluator.save_results(turn_results, scores, output_dir="./results")
    assert scores["all"]["total"] == 3.0
    assert scores["all"]["correct"] == 2.0
    with Path("results/turn_evaluation_results_all.csv").open(newline="") as file:
        table = list(csv.reader(file))
    assert table[0] == COLUMNS == list(RESULT_COLUMNS)
    assert len(table) == 4
    with Path("results/turn_evaluation_results_ego.csv").open(newline="") as file:
        assert [row["session_id"] for row in csv.DictReader(file)] == ["a", "a"]
    assert json.loads(Path("results/scores_dictionary.json").read_text()) == scores
    assert list(scores["all"]) == list(scores["ego"]) == [
        "total", "correct_exact", "correct", "miss", "hallucination", "exact_match", "accuracy", "missing",
        "hallucination_rate", "truthfulness_score", "mean_multi_turn_conversation_score",
    ]  # fmt: skip
    assert Path("runs/crag_journal.sqlite").exists()  # a crash would have lost nothing


def test_the_seeds_generation_only_and_evaluation_of_saved_turns(tmp_path: Path) -> None:
    dataset = [conversation("a", ("red", "red"), ("it is x", "x"))]
    evaluator = CRAGEvaluator(dataset=dataset, agent=EchoAgent(), num_conversations=100)
    evaluator.initialize_for_generation()
    evaluator.generate_agent_responses()
    path = tmp_path / "output" / "turn_data.jsonl"
    evaluator.save_turn_data(str(path))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert list(lines[0]) == COLUMNS[:13]
    with JudgeServer() as server:
        judge = LLMJudge("your-api-key", "gpt-4o", server.url)
        evaluator = CRAGEvaluator(dataset=None, agent=None, judge=judge, num_workers=8, journal=None)
        turn_data = evaluator.load_turn_data(str(path))
        assert turn_data == lines
        _, scores = evaluator.evaluate_agent_responses(turn_data)
    assert scores["all"]["accuracy"] == 1.0


def test_no_ego_turns_is_no_error(tmp_path: Path) -> None:
    made = CRAGEvaluator(journal=None)
    rows, scores = made.evaluate_agent_responses([turn("a", 0, "red", "red", is_ego=False)])
    made.save_results(rows, scores, tmp_path)
    assert rows["ego"] == []
    assert scores["ego"]["total"] == 0.0
    assert scores["ego"]["accuracy"] is None
    assert (tmp_path / "turn_evaluation_results_ego.csv").read_text() == ",".join(COLUMNS) + "\n"


def test_the_results_are_a_run_folder(tmp_path: Path) -> None:
    made = CRAGEvaluator(journal=None)
    made.save_results(*made.evaluate_agent_responses([turn("a", 0, "red", "red"), turn("b", 0, None, "red")]), tmp_path)
    run = Run.at(tmp_path)
    assert run.rows().column_names[:3] == ["qid", "session_id", "interaction_id"]
    assert run.rows(["question", "answer", "reference"]).num_rows == 2
    assert run.scores("accuracy").tolist()[0] == 1.0
    assert run.rows(["accuracy.outcome"])["accuracy.outcome"].to_pylist() == ["scored", "no_reference"]
    assert run.summary().metrics["accuracy"].n_total == 2


def test_formulas_are_guarded(tmp_path: Path) -> None:
    made = CRAGEvaluator(journal=None)
    results = made.evaluate_agent_responses([turn("a", 0, "red", "=cmd|'/c calc'!A1")])
    made.save_results(*results, tmp_path)
    assert "'=cmd" in (tmp_path / "turn_evaluation_results_all.csv").read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"session_id": None}, "no session_id"),
        ({"turn_idx": "first"}, "turn_idx must be a whole number from 0 up, got 'first'"),
        ({"turn_idx": -1}, "got -1"),
        ({"turn_idx": True}, "got True"),
        ({"agent_response": ["red"]}, "agent_response must be a text, got list"),
        ({"is_ego": "perhaps"}, "is_ego must be true or false, got 'perhaps'"),
        ({"session_id": "a"}, "occurs twice, first in line 1"),
    ],
)
def test_turn_data_that_is_none(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text(
        "".join(json.dumps(each) + "\n" for each in (turn("a", 0, "x", "y"), turn("b", 0, "x", "y") | change))
    )
    with pytest.raises(InputError, match=rf"turns\.jsonl, line 2: .*{message}"):
        CRAGEvaluator().load_turn_data(path)


def test_turn_data_without_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text('{"question": "q"}\n')
    with pytest.raises(ColumnError, match="turn data needs session_id, turn_idx"):
        CRAGEvaluator().load_turn_data(path)


def test_turn_data_from_csv(tmp_path: Path) -> None:
    path = tmp_path / "turns.csv"
    path.write_text("session_id,turn_idx,is_ego,query,ground_truth,agent_response\na,0,True,q,g,=1+1\n")
    (found,) = CRAGEvaluator().load_turn_data(path)
    assert (found["turn_idx"], found["is_ego"], found["agent_response"], found["interaction_id_history"]) == (
        0,
        True,
        "=1+1",
        [],
    )


def test_a_turn_that_is_there_twice() -> None:
    with pytest.raises(InputError, match="turn 0 of session 'a' occurs twice"):
        CRAGEvaluator().evaluate_agent_responses(
            [turn("a", 0, "x", "y"), turn("b", 0, "x", "y"), turn("a", 0, "x", "z")]
        )


def test_calls_that_make_no_sense() -> None:
    with pytest.raises(UsageError, match="no turns"):
        CRAGEvaluator().evaluate_agent_responses()
    with pytest.raises(UsageError, match="num_workers"):
        CRAGEvaluator(num_workers=0)
    with pytest.raises(UsageError, match="price"):
        CRAGEvaluator(eval_model_name="mine", eval_api_key="k", budget=1.0)


def test_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    from ragmeter.compat.crag import config

    assert (config.DEFAULT_EVAL_MODEL, config.MAX_API_RETRIES, config.DEFAULT_NUM_WORKERS) == ("gpt-4o", 3, 1)
    assert (config.MIN_BATCH_SIZE, config.MAX_BATCH_SIZE) == (1, 16)
    assert (config.MAX_RESPONSE_LENGTH_IN_TOKENS, config.MAX_EVAL_TOKENS) == (75, 1024)
    code = "from ragmeter.compat.crag.config import MAX_BATCH_SIZE; print(MAX_BATCH_SIZE)"
    for given, printed in (("4", "4"), ("", "16"), ("many", "")):
        monkeypatch.setenv("MAX_BATCH_SIZE", given)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.stdout.strip() == printed
        assert (done.returncode == 0) == bool(printed)


def test_the_environment_is_read_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    from ragmeter.compat import crag
    from ragmeter.compat.crag import config

    monkeypatch.setenv("MAX_BATCH_SIZE", "5")
    assert (config.MAX_BATCH_SIZE, crag.MAX_BATCH_SIZE, config.batch_size(99)) == (5, 5, 5)
    monkeypatch.setenv("MAX_BATCH_SIZE", "none")
    with pytest.raises(UsageError, match="MAX_BATCH_SIZE must be a whole number from 1 up, got 'none'"):
        config.batch_size(1)
    with pytest.raises(AttributeError, match="MAX_BATCH"):
        _ = config.MAX_BATCH


def test_results_may_come_back_as_data_frames(tmp_path: Path) -> None:
    import pandas as pd

    evaluator = CRAGEvaluator(journal=None)
    rows, found = evaluator.evaluate_agent_responses(
        [turn("b", 0, "x", "x"), turn("a", 0, "y", None), turn("a", 1, "y", "z")]
    )
    frames = {part: pd.DataFrame(part_rows) for part, part_rows in rows.items()}
    evaluator.save_results(rows, found, tmp_path / "lists")
    evaluator.save_results(frames, found, tmp_path / "frames")
    CRAGEvaluator(journal=None).save_results(frames, found, tmp_path / "alone")
    tables = [
        (tmp_path / name / "turn_evaluation_results_all.csv").read_text() for name in ("lists", "frames", "alone")
    ]
    assert tables[0] == tables[1] == tables[2]
    with pytest.raises(UsageError, match=r"turn_results\['all'\] must be a list of dicts or a DataFrame, got str"):
        evaluator.save_results({"all": "rows", "ego": []}, found, tmp_path / "none")


def test_sessions_are_in_the_old_order_whatever_the_files_is() -> None:
    data = [turn("b", 1, "x", "x"), turn("a", 0, "x", "x"), turn("b", 0, "x", "x")]
    rows, _ = CRAGEvaluator(journal=None).evaluate_agent_responses(data)
    assert [(row["session_id"], row["turn_idx"]) for row in rows["all"]] == [("a", 0), ("b", 0), ("b", 1)]


def test_the_old_keys_of_a_judgement() -> None:
    judge = LLMJudge(provider=FakeProvider("CORRECT"))
    found = judge.evaluate("Which city?", "Paris", "It is Paris")
    assert (found["accuracy"], found["eval_result"], found.get("verdict")) == (True, "CORRECT", "CORRECT")
    rows, _ = CRAGEvaluator(judge=judge, journal=None).evaluate_agent_responses(
        [turn("a", 0, "Paris", "It is Paris"), turn("b", 0, "x", None), turn("c", 0, "x", "x")]
    )
    responses = [row["api_response"] for row in rows["all"]]
    assert (responses[0]["accuracy"], responses[0]["eval_result"]) == (True, "CORRECT")
    assert (responses[1]["accuracy"], responses[1]["eval_result"]) == (None, "")
    assert responses[2] is None
