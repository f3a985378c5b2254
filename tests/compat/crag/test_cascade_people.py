"""The cascade through the real evaluator, with people's verdicts standing in for the language model.

The answers are those of EVOUNA that the offline judge was trained on, by nine questions in ten: what is said of all of
them flatters it. The tenth question was kept from it, and is told apart by the same hash as in training/judged.py.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter import CRAGEvaluator
from ragmeter.engine.judging import cascade_run
from ragmeter.judges.asking import cascade
from ragmeter.judges.asking.cascade import Cascade
from tests.compat.crag.helpers import turn
from tests.judge_server import Action, JudgeServer, completion, texts

PEOPLE = Path(__file__).parents[3] / "training" / "evouna_nq.jsonl.gz"
Turns = list[dict[str, Any]]
Verdicts = dict[tuple[str, str], bool]

pytestmark = pytest.mark.slow


def held_out(question: str) -> bool:
    return int.from_bytes(hashlib.sha256(question.encode()).digest()[:8]) % 10 == 0


def answers(*systems: str, kept_from_the_model: bool) -> tuple[Turns, Verdicts]:
    """Turns of their own, each a conversation of one; and what people say by question and answer."""
    turns: Turns = []
    said: Verdicts = {}
    with gzip.open(PEOPLE, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            for system, (answer, right) in row["answers"].items():
                if system in systems and (held_out(row["question"]) or not kept_from_the_model):
                    each = turn(f"{number}-{system}", 0, row["golds"], answer, query=row["question"])
                    turns.append(each)
                    said[_bare(row["question"]), _bare(answer)] = right
    return turns, said


def _bare(text: str) -> str:
    return " ".join(text.replace("\u200b", "").split())


@pytest.fixture
def chances_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same turns are judged over and over: the offline judge need not be asked anew."""
    known: dict[int, Any] = {}

    def offline_chances(columns: Any, calibration: str | None) -> Any:
        turns = len(columns["answer"])
        if turns not in known:
            known[turns] = cascade.offline_chances(columns, calibration)
        return known[turns]

    monkeypatch.setattr(cascade_run, "offline_chances", offline_chances)


def people(said: Verdicts) -> JudgeServer:
    """A language model that says what people say."""

    def behave(request: dict[str, Any], number: int) -> Action:
        given = texts(request)
        right = said[_bare(given["question"]), _bare(given["answer"])]
        return Action(body=completion(json.dumps({"reason": "", "verdict": "CORRECT" if right else "WRONG"})))

    return JudgeServer(behave, keep=False)


def evaluated(server: JudgeServer, turns: Turns, cascade: Cascade, journal: Path) -> tuple[Turns, dict[str, Any]]:
    evaluator = CRAGEvaluator(
        None, None, "m", "sk-no-key", num_workers=16, base_url=server.url, journal=journal, cascade=cascade
    )
    rows, _ = evaluator.evaluate_agent_responses(turns)
    assert evaluator.report is not None
    return rows["all"], evaluator.report.summary


def agreement(rows: Turns, said: Verdicts) -> float:
    same = [row["is_correct"] == said[_bare(row["query"]), _bare(row["agent_response"])] for row in rows]
    return float(np.mean(same))


@pytest.mark.parametrize("kept", [False, True])
def test_a_promised_agreement_and_what_it_takes(kept: bool, tmp_path: Path) -> None:
    """Labels of a fifth of the turns set the threshold; all verdicts are held to people's."""
    turns, said = answers("fid", "gpt35", "chatgpt", "gpt4", "newbing", kept_from_the_model=kept)
    random = np.random.default_rng(1)
    chosen = random.choice(len(turns), len(turns) // 5 if not kept else len(turns) // 2, replace=False)
    labels = {
        turns[place]["interaction_id"]: float(said[_bare(turns[place]["query"]), _bare(turns[place]["agent_response"])])
        for place in chosen.tolist()
    }
    with people(said) as server:
        rows, summary = evaluated(server, turns, Cascade(0.98, labels=labels, audit=0.0), tmp_path / "j.sqlite")
        asked = server.count / len(turns)
    found = agreement(rows, said)
    what = "kept from the model" if kept else "nine in ten learnt from"
    print(f"\n{what}: n = {len(turns):,}, agreement {found:.4f}, asked about {asked:.1%}")
    assert summary["cascade"]["warnings"] == []
    assert found >= 0.98
    assert asked <= (0.50 if kept else 0.30)
    assert server.count <= summary["judged_by"]["llm"]  # systems that give the same answer are asked about once


@pytest.fixture
def conversations() -> tuple[Turns, Verdicts]:
    """Made of one system's answers: five turns each, so that the rule which ends them has something to do."""
    turns, said = answers("chatgpt", kept_from_the_model=False)
    order = np.random.default_rng(3).permutation(len(turns))[:1_500]
    made = [
        {**turns[place], "session_id": f"c{index // 5}", "turn_idx": index % 5, "interaction_id": f"c{index}"}
        for index, place in enumerate(order.tolist())
    ]
    return made, said


@pytest.mark.usefixtures("chances_once")
@pytest.mark.parametrize("single", [True, False])
def test_the_accuracy_is_that_of_people_alone(
    single: bool, conversations: tuple[Turns, Verdicts], tmp_path: Path
) -> None:
    """Over seeds of the audit: right on average, conversations or not, and the interval covers it 95 times of 100."""
    turns, said = conversations
    if single:
        turns = [{**each, "session_id": each["interaction_id"], "turn_idx": 0} for each in turns]
    seeds, means, covered = 60, [], 0
    with people(said) as server:
        _, alone = evaluated(server, turns, Cascade(llm_share=1.0), tmp_path / "j.sqlite")
        truth, calls = alone["metrics"]["accuracy"]["mean"], server.count
        for seed in range(seeds):
            _, summary = evaluated(server, turns, Cascade(0.95, audit=0.1, seed=seed), tmp_path / "j.sqlite")
            accuracy = summary["cascade"]["accuracy"]
            means.append(accuracy["mean"])
            covered += accuracy["interval"][0] <= truth <= accuracy["interval"][1]
        again = server.count - calls
    spread = float(np.std(means)) / seeds**0.5
    print(f"\npeople alone {truth:.4f}; corrected {np.mean(means):.4f} ± {spread:.4f}; covered {covered} of {seeds}")
    assert abs(np.mean(means) - truth) < 3.5 * spread + 1e-3
    assert covered / seeds >= 0.9
    assert again <= (
        0 if single else 0.15 * len(turns)
    )  # past the end of conversations, which only an audit asks about
