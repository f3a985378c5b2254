"""`ragmeter crag evaluate --judge cascade` as a person runs it: labels, the journal, options that don't go together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.compat.crag.helpers import turn
from tests.conftest import Run
from tests.judge_server import JudgeServer

TURNS = [
    turn(f"s{i}", 0, ["Paris", "Paris, France"], f"I would say it is {'Paris' if i % 2 else 'Rome'}, number {i}.",
         query="which city is it")
    for i in range(200)
]  # fmt: skip


@pytest.fixture(autouse=True)
def _turns(tmp_path: Path) -> None:
    (tmp_path / "turns.jsonl").write_text("".join(json.dumps(row) + "\n" for row in TURNS), encoding="utf-8")


def cascade(server: JudgeServer, *more: str) -> list[str]:
    return [
        "crag", "evaluate", "--turns", "turns.jsonl", "--output-dir", "out", "--judge", "cascade", "--judge-model", "m",
        "--base-url", server.url, "--no-judge-check", *more,
    ]  # fmt: skip


def result_of(done: Any) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_nothing_is_asked_twice_whatever_the_target_and_the_audit(ragmeter: Run, tmp_path: Path) -> None:
    with JudgeServer() as server:
        dry = result_of(ragmeter(*cascade(server, "--llm-share", "0.1", "--dry-run", "--json")))
        first = result_of(ragmeter(*cascade(server, "--llm-share", "0.1", "--json")))
        assert server.count == dry["calls"] == first["judged_by"]["llm"]
        result_of(ragmeter(*cascade(server, "--llm-share", "0.1", "--json")))
        assert server.count == dry["calls"]
        other = result_of(ragmeter(*cascade(server, "--llm-share", "0.3", "--audit-seed", "7", "--json")))
        assert other["effort"]["from_journal"] > 0
        assert other["effort"]["made"] + other["effort"]["from_journal"] == other["judged_by"]["llm"]
        assert server.count == first["effort"]["made"] + other["effort"]["made"]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["judged_columns"]["verdict[judge=cascade]"]["cascade"] == {
        "target_agreement": None, "llm_share": 0.3, "n_labels": 0, "audit": 0.05, "seed": 7, "calibration": None,
    }  # fmt: skip


def test_labels_of_an_offline_run_set_the_threshold(ragmeter: Run, tmp_path: Path) -> None:
    offline = ["crag", "evaluate", "--turns", "turns.jsonl", "--output-dir", "offline", "--judge", "offline"]
    done = ragmeter(*offline)
    assert done.returncode == 0, done.stderr
    assert "threshold" not in done.stdout  # there is none
    assert "as the model would find it" not in done.stdout
    done = ragmeter("label", "offline", "--by", "random", "--n", "200", "--blank", "--output", "labels.csv")
    assert done.returncode == 0, done.stderr
    with JudgeServer() as server:
        done = ragmeter(*cascade(server, "--labels", "labels.csv"))
        assert done.returncode == 2
        assert "no row is labelled" in done.stderr
        lines = ["qid,label", *(f"{row['interaction_id']},{i % 2}" for i, row in enumerate(TURNS))]
        (tmp_path / "labels.csv").write_text("\n".join(lines), encoding="utf-8")
        done = ragmeter(*cascade(server, "--labels", "labels.csv", "--target-agreement", "0.95", "--audit-share", "0"))
        assert done.returncode == 0, done.stderr
        assert server.count == 0
    assert "set by 200 labels" in done.stdout
    assert "not guaranteed" not in done.stdout


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--judge", "llm", "--audit-seed", "1"], "--audit-seed has no effect"),
        (["--judge", "offline", "--llm-share", "0.1"], "--llm-share has no effect"),
        (["--audit-seed", "-1"], "at least 0"),
        (["--target-agreement", "0"], "can't be aimed at"),
        (["--judge-model", "none"], "one is asked, not 2"),
        (["--offline-calibration", "nowhere.json"], "nowhere.json"),
    ],
)
def test_what_makes_no_sense_is_refused(ragmeter: Run, more: list[str], said: str) -> None:
    with JudgeServer() as server:
        done = ragmeter(*cascade(server, *more))
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
