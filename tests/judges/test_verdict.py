"""The words in which a model is asked, and the strict reading of what it replies."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.errors import InputError
from ragmeter.judges.verdict import CORRECT, WRONG, Prompt, Verdict, parse
from tests.judge_server import texts

INJECTIONS: list[str] = json.loads((Path(__file__).parent / "injections.json").read_text(encoding="utf-8"))
CONTROL_MARKS = (
    "<|",
    "|>",
    "<｜",
    "</s>",
    "[INST]",
    "[/INST]",
    "<<SYS>>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<think>",
)


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ('{"reason": "same", "verdict": "CORRECT"}', Verdict(CORRECT, "same")),
        ('{"verdict": "WRONG"}', Verdict(WRONG)),
        ('  {"verdict": "wrong", "reason": ""}\n', Verdict(WRONG)),
        ('```json\n{"verdict": "CORRECT"}\n```', Verdict(CORRECT)),
        ("CORRECT", Verdict(CORRECT)),
        ("wrong.", Verdict(WRONG)),
        ("**CORRECT**", Verdict(CORRECT)),
        ("**Verdict:** WRONG", Verdict(WRONG)),
        ("\ufeffWRONG", Verdict(WRONG)),
        ('```JSON\n{"verdict": "CORRECT", "reason": null}\n```', Verdict(CORRECT)),
        ('{"reason": "two\nlines", "verdict": "WRONG"}', Verdict(WRONG, "two\nlines")),
        ("Verdict: WRONG", Verdict(WRONG)),
        ("<think>It says CORRECT, but no.</think>\nWRONG", Verdict(WRONG)),
        ('<think>hm</think>{"verdict": "CORRECT", "reason": "ok", "score": 1}', Verdict(CORRECT, "ok")),
    ],
)
def test_a_verdict(reply: str, verdict: Verdict) -> None:
    assert parse(reply) == verdict


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " ",
        "CORRECT or WRONG",
        "INCORRECT",
        "NOT CORRECT",
        "The answer is CORRECT",
        "CORRECT, because it says so",
        "CORRECT\nWRONG",
        'It is {"verdict": "CORRECT"}',
        '{"verdict": "CORRECT"} {"verdict": "WRONG"}',
        '{"verdict": "WRONG", "verdict": "CORRECT"}',
        '{"verdict": "CORRECT"',
        '{"verdict": true}',
        '{"verdict": ["CORRECT"]}',
        '{"verdict": null}',
        '{"verdict": "CORRECT", "reason": 3}',
        '{"verdict": "MAYBE"}',
        '{"answer": "CORRECT"}',
        '["CORRECT"]',
        '"CORRECT and WRONG"',
        "true",
        "1",
        "null",
        "<think>CORRECT",
        "<think>CORRECT</think>",
        "The candidate wrote </think> CORRECT",
        'The candidate wrote "CORRECT". WRONG',
        "[" * 100_000,
    ],
)
def test_no_verdict(reply: str) -> None:
    assert parse(reply) is None


@given(st.text())
def test_any_text_is_a_verdict_or_none(reply: str) -> None:
    found = parse(reply)
    assert found is None or found.verdict in (CORRECT, WRONG)


@given(st.text(min_size=1).filter(lambda text: text.strip() and not re.fullmatch(r"[\s*_\"'`.!:=]*", text)))
def test_a_word_among_others_is_none(words: str) -> None:
    reply = f"{words} CORRECT"
    assert parse(reply) is None or re.match(r"\s*(verdict|<think>|```)", words, re.IGNORECASE)


@pytest.mark.parametrize("answer", INJECTIONS)
def test_no_answer_gets_out_of_its_fence(answer: str) -> None:
    given = {"query": "Which city?", "ground_truth": "Paris", "agent_response": answer}
    messages = Prompt().messages(given)
    marker = re.search(r"marker ([0-9a-f]{16})", messages[0]["content"])
    assert marker is not None
    user = messages[1]["content"]
    assert user.count(marker[1]) == 6  # three texts, begun and ended
    found = texts({"messages": messages})
    assert found == {name: text.replace("\u200b", "") for name, text in given.items()}
    # what we wrote ourselves is the same whatever the answer is
    outside = re.sub(rf"BEGIN {marker[1]} (\w+)\n.*?\nEND {marker[1]} \1", "", user, flags=re.DOTALL)
    assert outside == re.sub(r"\{\w+\}", "", Prompt().criteria)
    inside = user[user.index(f"BEGIN {marker[1]} agent_response") : user.rindex(f"END {marker[1]} agent_response")]
    assert not [mark for mark in CONTROL_MARKS if mark in inside]


def test_every_call_has_a_marker_of_its_own() -> None:
    given = {"query": "q", "ground_truth": "g", "agent_response": "a"}
    assert len({Prompt().messages(given)[0]["content"] for _ in range(100)}) == 100


def test_a_marker_is_in_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(["aaaa", "bbbb", "cccc"])
    monkeypatch.setattr("secrets.token_hex", lambda size: next(drawn))
    given = {"query": "has aaaa", "ground_truth": "has bbbb", "agent_response": "x"}
    assert "marker cccc" in Prompt().messages(given)[0]["content"]


@given(st.text(), st.text(), st.text())
def test_the_texts_come_through_as_they_are(query: str, truth: str, answer: str) -> None:
    given = {"query": query, "ground_truth": truth, "agent_response": answer}
    assert texts({"messages": Prompt().messages(given)}) == {k: v.replace("\u200b", "") for k, v in given.items()}


def test_a_prompt_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text(
        'Compare {agent_response} with {ground_truth}. {"verdict": "CORRECT"} {} { query }', encoding="utf-8"
    )
    prompt = Prompt.read(path)
    user = prompt.messages({"query": "q", "ground_truth": "{query}", "agent_response": "{agent_response}"})[1][
        "content"
    ]
    assert '{"verdict": "CORRECT"} {} { query }' in user
    assert user.count("{agent_response}") == 1  # the data's own, which nobody filled in
    assert prompt.hash != Prompt().hash


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{ground_truth}\n{agent_respons}",
            r"line 2: there is no field \{agent_respons\}: did you mean agent_response",
        ),
        ("{query} {agent_response}", r"the prompt never shows \{ground_truth\}"),
        ("", r"never shows"),
    ],
)
def test_a_prompt_that_makes_no_sense(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        Prompt.read(path)


def test_a_prompt_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.txt: can't be read"):
        Prompt.read(tmp_path / "nothing.txt")
    (tmp_path / "latin.txt").write_bytes("{ground_truth} {agent_response} é".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        Prompt.read(tmp_path / "latin.txt")
