"""The agent answers: in batches, turn after turn, and whatever one of them does."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragmeter import CRAGEvaluator
from ragmeter.compat.crag import config
from ragmeter.errors import UsageError
from tests.command import PATIENCE
from tests.compat.crag.helpers import EchoAgent, conversation

DATASET = [
    conversation("a", ("a0", "x"), ("a1", "x"), ("a2", "x")),
    conversation("b", ("b0", "x"), url="http://x/b.png"),
    conversation("c", ("c0", "x"), ("c1", "x")),
]


def generate(agent: Any, dataset: Any = DATASET, **keywords: Any) -> tuple[list[dict[str, Any]], CRAGEvaluator]:
    evaluator = CRAGEvaluator(dataset, agent, **{"journal": None, "retries": 0, "fetch_images": False, **keywords})
    evaluator.initialize_for_generation()
    return evaluator.generate_agent_responses(), evaluator


def test_turns_in_order_with_their_history() -> None:
    agent = EchoAgent(2)
    turns, _ = generate(agent)
    assert [(turn["session_id"], turn["turn_idx"]) for turn in turns] == [
        ("a", 0),
        ("a", 1),
        ("a", 2),
        ("b", 0),
        ("c", 0),
        ("c", 1),
    ]
    assert [call[0] for call in agent.calls] == [["a0", "b0"], ["a1"], ["a2"], ["c0"], ["c1"]]
    assert agent.calls[0][1] == ["pixels of a", "http://x/b.png"]
    assert agent.calls[0][2] == [[], []]
    assert agent.calls[2][2] == [
        [
            {"role": "user", "content": "a0"},
            {"role": "assistant", "content": "about a0"},
            {"role": "user", "content": "a1"},
            {"role": "assistant", "content": "about a1"},
        ]
    ]
    assert turns[2] == {
        "session_id": "a", "interaction_id": "a-2", "turn_idx": 2, "is_ego": True, "image_quality": 2,
        "query_category": 1, "domain": 3, "dynamism": 0, "query": "a2", "ground_truth": "x",
        "agent_response": "about a2", "total_turn_count": 3,
        "interaction_id_history": ["a-0", "a-1"],
    }  # fmt: skip
    assert [turn["is_ego"] for turn in turns] == [True] * 3 + [False] + [True] * 2


@pytest.mark.parametrize(("wanted", "size"), [(0, 1), (-3, 1), (7, 7), (99, config.MAX_BATCH_SIZE)])
def test_batches_are_clipped_to_the_limits(wanted: int, size: int) -> None:
    agent = EchoAgent(wanted)
    generate(agent, [conversation(str(i), ("q", "g")) for i in range(40)])
    assert max(len(call[0]) for call in agent.calls) == size


def test_so_many_conversations() -> None:
    turns, _ = generate(EchoAgent(), num_conversations=2)
    assert {turn["session_id"] for turn in turns} == {"a", "b"}


def test_long_answers_are_cut_and_handed_on_as_they_were_cut() -> None:
    class Long(EchoAgent):
        def answer(self, query: str) -> str:
            return "word " * 100

    agent = Long()
    turns, evaluator = generate(agent)
    assert {len(turn["agent_response"].split()) for turn in turns} == {75}
    assert agent.calls[1][2][0][1]["content"] == turns[0]["agent_response"]
    assert evaluator.shortened == 6


class Sick(EchoAgent):
    """Breaks on one question, whoever asks it."""

    def batch_generate_response(self, queries: list[str], images: Any, message_histories: Any) -> list[str]:
        super().batch_generate_response(queries, images, message_histories)
        if "a1" in queries:
            raise ValueError("a1 is\n beyond me")
        return [f"about {query}" for query in queries]


def test_one_bad_question_takes_no_other_with_it() -> None:
    dataset = [conversation("a", ("a0", "x"), ("a1", "x"), ("a2", "x")), conversation("d", ("d0", "x"), ("d1", "x"))]
    agent = Sick(2)
    turns, _ = generate(agent, dataset)
    assert [turn["agent_response"] for turn in turns] == ["about a0", None, None, "about d0", "about d1"]
    assert turns[1]["error"].startswith("ValueError: a1 is beyond me (test_generation.py, line ")
    assert turns[1]["outcome"] == turns[2]["outcome"] == "target_error"
    assert "earlier turn" in turns[2]["error"]
    assert ["a1", "d1"] in [call[0] for call in agent.calls]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (["one"], "1 answers for 2"),
        (["one", "two", "three"], "3 answers for 2"),
        ("on", "one text for 2"),
        (None, "a NoneType"),
        ([None, "two"], "gave a NoneType, not a text"),
        ([b"one", "two"], "gave a bytes, not a text"),
    ],
)
def test_answers_that_are_none(answers: Any, said: str) -> None:
    class Odd(EchoAgent):
        def batch_generate_response(self, queries: Any, images: Any, message_histories: Any) -> Any:
            return answers if len(queries) == 2 else ["fine"]

    turns, _ = generate(Odd(), [conversation("a", ("q", "g")), conversation("b", ("q", "g"))])
    assert [turn["agent_response"] for turn in turns] == ["fine", "fine"]  # alone, they are answered
    alone, _ = generate(Lonely(answers), [conversation("a", ("q", "g"))])
    assert alone[0]["agent_response"] is None
    assert "batch_generate_response() gave" in alone[0]["error"]


class Lonely(EchoAgent):
    """Gives one thing too many, or whatever it was given, for a single question."""

    def __init__(self, answers: Any) -> None:
        super().__init__(1)
        self.given = (
            [*answers, "more"] if isinstance(answers, list) and all(isinstance(a, str) for a in answers) else answers
        )

    def batch_generate_response(self, queries: Any, images: Any, message_histories: Any) -> Any:
        return self.given


def test_an_agent_that_recovers() -> None:
    class Shaky(EchoAgent):
        def answer(self, query: str) -> str:
            if len(self.calls) < 3:
                raise ConnectionError("try again")
            return super().answer(query)

    turns, _ = generate(Shaky(1), DATASET[1:2], retries=3)
    assert turns[0]["agent_response"] == "about b0"


def asked(agent: EchoAgent) -> list[str]:
    return [query for call in agent.calls for query in call[0]]


def interrupted(agent: EchoAgent, journal: Path, dataset: Any = DATASET) -> None:
    """A generation that was never finished: the answers so far are in the journal."""
    evaluator = CRAGEvaluator(dataset, agent, journal=journal, retries=0, agent_name="mine", fetch_images=False)
    evaluator.initialize_for_generation()
    evaluator.generate_agent_responses(finish=False)


def test_an_interrupted_generation_goes_on_only_with_the_same_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "journal.sqlite"
    interrupted(EchoAgent(2), journal, DATASET[:1])
    with pytest.raises(UsageError, match=r"the target has changed since then \(state\)"):
        generate(EchoAgent(1), agent_name="mine", journal=journal, resume=True)
    agent = EchoAgent(1)
    generate(agent, agent_name="mine", journal=journal)
    assert len(asked(agent)) == 6
    assert "3 answers of an interrupted run of 20" in capsys.readouterr().err


def test_the_same_agent_goes_on_in_the_same_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = tmp_path / "journal.sqlite"
    agent = Sick(2)
    interrupted(agent, journal)
    count = len(agent.calls)  # they are part of what the agent holds, and were noted when it was let go
    _, evaluator = generate(agent, agent_name="mine", journal=journal)
    assert evaluator.effort["from_journal"] == 4
    assert [call[0] for call in agent.calls[count:]] == [["a1"]]
    assert "4 of 6 answers are from 20" in capsys.readouterr().err


def test_a_new_process_goes_on_and_a_finished_generation_is_asked_anew(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    interrupted(EchoAgent(2), journal, DATASET[:1])
    goes_on = EchoAgent(2)
    turns, _ = generate(goes_on, agent_name="mine", journal=journal)
    assert asked(goes_on) == ["b0", "c0", "c1"]
    assert turns == generate(EchoAgent(2))[0]

    anew = EchoAgent(2)
    generate(anew, agent_name="mine", journal=journal)
    assert len(asked(anew)) == 6
    resumed = EchoAgent(2)
    generate(resumed, agent_name="mine", journal=journal, resume=True)
    assert asked(resumed) == []


WELL = threading.Event()


class Flaky(EchoAgent):
    """Depends on something outside of itself."""

    def answer(self, query: str) -> str:
        if query == "a1" and not WELL.is_set():
            raise ConnectionError("not today")
        return super().answer(query)


def test_what_failed_is_tried_again(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    WELL.clear()
    with pytest.raises(UsageError, match="no run 'mine list' to retry"):
        generate(Flaky(2), agent_name="mine", journal=journal, retry_failed=True)
    turns, _ = generate(Flaky(2), agent_name="mine", journal=journal)
    assert [turn["query"] for turn in turns if turn["agent_response"] is None] == ["a1", "a2"]
    WELL.set()
    again = Flaky(2)
    turns, _ = generate(again, agent_name="mine", journal=journal, retry_failed=True)
    assert asked(again) == ["a1", "a2"]
    assert all(turn["agent_response"] for turn in turns)


def test_an_agent_that_remembers_goes_on_after_an_error(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    agent = EchoAgent(1)

    def fails(done: int, total: int) -> None:
        raise RuntimeError("the user's own")

    evaluator = CRAGEvaluator(DATASET, agent, journal=journal, agent_name="mine", fetch_images=False)
    evaluator.initialize_for_generation()
    with pytest.raises(RuntimeError, match="the user's own"):
        evaluator.generate_agent_responses(fails)
    count = len(agent.calls)
    assert count
    generate(agent, agent_name="mine", journal=journal)
    assert len(agent.calls) == 6


def test_answers_that_were_judged_are_finished(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    agents = [EchoAgent(2), EchoAgent(2)]
    for agent in agents:
        CRAGEvaluator(DATASET, agent, journal=journal, agent_name="mine", fetch_images=False).evaluate_agent()
    assert [len(asked(agent)) for agent in agents] == [6, 6]


def test_a_changed_answer_changes_what_comes_after_it(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    dataset = [conversation("a", ("q0", "g"), ("q1", "g"))]
    interrupted(EchoAgent(), journal, dataset)
    dataset[0]["turns"][0]["query"] = "q0 in other words"
    agent = EchoAgent()
    generate(agent, dataset, agent_name="mine", journal=journal)
    assert sum(len(call[0]) for call in agent.calls) == 2  # the second turn has another history now


def test_so_many_calls(tmp_path: Path) -> None:
    agent = EchoAgent(1)
    turns, _ = generate(agent, max_calls=3)
    assert len(agent.calls) == 3
    assert [turn.get("outcome") for turn in turns] == [
        None,
        None,
        None,
        "skipped_budget",
        "skipped_budget",
        "skipped_budget",
    ]
    journal = tmp_path / "journal.sqlite"
    for resume in (False, True, False):  # the limit is the run's, not the command's
        generate(agent, max_calls=2, agent_name="mine", journal=journal, resume=resume)
    assert len(agent.calls) == 3 + 2 + 0 + 2


def test_batches_side_by_side() -> None:
    together = threading.Barrier(8, timeout=PATIENCE)  # breaks unless all eight are under way at once

    class Slow(EchoAgent):
        def answer(self, query: str) -> str:
            together.wait()
            return super().answer(query)

    dataset = [conversation(str(i), ("q", "g")) for i in range(8)]
    turns, _ = generate(Slow(1), dataset, agent_workers=8)
    assert all(turn["agent_response"] for turn in turns)
    assert [turn["session_id"] for turn in turns] == [str(i) for i in range(8)]


def test_an_agent_is_called_from_one_thread_whatever_the_judge_has() -> None:
    """A stateful agent, as the seed's example makes it: `num_workers=4` is for judging."""

    class Stateful(EchoAgent):
        query = ""

        def __init__(self, size: int) -> None:
            super().__init__(size)
            self.threads: set[int] = set()

        def answer(self, query: str) -> str:
            self.threads.add(threading.get_ident())
            self.query = query
            waiting.wait(0.005)  # time for another thread to come between
            return f"about {self.query}"

    waiting = threading.Event()
    dataset = [conversation(f"s{i}", *((f"q{i}.{j}", "x") for j in range(2))) for i in range(12)]
    agent = Stateful(1)
    turns, _ = generate(agent, dataset, num_workers=4)
    assert [turn["agent_response"] for turn in turns] == [f"about {turn['query']}" for turn in turns]
    assert len(agent.threads) == 1
    assert CRAGEvaluator(dataset, agent).num_workers == 1
    with pytest.raises(UsageError, match="agent_workers must be at least 1"):
        CRAGEvaluator(dataset, agent, agent_workers=0)


@pytest.mark.parametrize("raised", [StopIteration, SystemExit(3), "half \ud83d"])
def test_agents_that_do_odd_things(raised: Any, tmp_path: Path) -> None:
    class Odd(EchoAgent):
        def answer(self, query: str) -> str:
            if isinstance(raised, str):
                return raised
            raise raised

    turns, _ = generate(Odd(1), DATASET[1:2], agent_name="odd", journal=tmp_path / "journal.sqlite")
    assert turns[0]["agent_response"] == ("half \ufffd" if isinstance(raised, str) else None)


def test_another_image_is_another_question(tmp_path: Path) -> None:
    images = []
    for pixels in (b"red", b"blue", b"blue"):
        agent = EchoAgent()
        interrupted(agent, tmp_path / "j.sqlite", [conversation("a", ("q", "g")) | {"image": pixels}])
        images += [call[1] for call in agent.calls]
    assert images == [[b"red"], [b"blue"]]


def test_an_iterator_is_a_dataset() -> None:
    turns, _ = generate(EchoAgent(), iter(DATASET))
    assert len(turns) == 6
    with pytest.raises(UsageError, match="no conversations"):
        generate(EchoAgent(), [])


def test_an_agent_that_is_none() -> None:
    for agent in (None, object()):
        with pytest.raises(UsageError):
            generate(agent)
    with pytest.raises(UsageError, match="dataset"):
        generate(EchoAgent(), None)


@pytest.mark.parametrize("kind", [np.array, lambda texts: np.array(texts, dtype=object), pd.Series, tuple])
def test_answers_in_an_array(kind: Any) -> None:
    class ArrayAgent(EchoAgent):
        def batch_generate_response(self, *given: Any) -> Any:
            return kind(super().batch_generate_response(*given))

    turns, _ = generate(ArrayAgent(2))
    assert [turn["agent_response"] for turn in turns] == ["about " + turn["query"] for turn in turns]
    assert all(type(turn["agent_response"]) is str for turn in turns)


@pytest.mark.parametrize(
    ("answers", "cause"),
    [
        (np.array("one"), "gave one text for 1 queries"),
        (np.array(["one", "two"]), "gave 2 answers for 1 queries"),
        (np.array([["a"]]), "gave a list, not a text"),
        (np.array([1]), "gave a int, not a text"),
    ],
)
def test_arrays_that_are_no_answers(answers: Any, cause: str) -> None:
    class ArrayAgent(EchoAgent):
        def batch_generate_response(self, *given: Any) -> Any:
            return answers

    turns, _ = generate(ArrayAgent(1), DATASET[1:2])
    assert turns[0]["agent_response"] is None
    assert cause in turns[0]["error"]
