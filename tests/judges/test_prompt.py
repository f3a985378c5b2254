"""The defences of every prompt."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.definition.judge_columns import JudgeColumn
from ragmeter.errors import InputError
from ragmeter.judges.prompt import Prompt, prompt_hash, read_words
from ragmeter.judges.verdict import verdict
from tests.judge_server import texts
from tests.judges.wordings import CHOSEN, WORDINGS, halves, pool

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


def marker_of(user: str) -> str:
    """The marker of a prompt that begins with a fenced text."""
    return user.partition("[")[2][:8]


@pytest.mark.parametrize("answer", INJECTIONS)
def test_no_answer_gets_out_of_its_fence(answer: str) -> None:
    given = {"question": "Which city?", "reference": "Paris", "answer": answer}
    system, user = (message["content"] for message in Prompt(verdict).messages(given))
    assert system == Prompt(verdict).messages(given)[0]["content"]  # nothing of the data is in it
    marker = marker_of(user)
    assert user.count(marker) == 6  # three texts, begun and ended
    assert texts({"messages": [{"content": user}]}) == {
        name: text.replace("\u200b", "") for name, text in given.items()
    }
    # what we wrote ourselves is the same whatever the answer is
    outside = re.sub(rf"[\w ]+: \[{marker}\] .*? \[{marker}\]", "", user, flags=re.DOTALL)
    assert outside == re.sub(r"\{\w+\}", "", verdict.words) + " " + verdict.form.instruction(reasons=False)
    inside = user[user.index(f"Student answer: [{marker}]") : user.rindex(f"[{marker}]")]
    assert not [mark for mark in CONTROL_MARKS if mark in inside]


def test_every_call_has_a_marker_of_its_own() -> None:
    given = {"question": "q", "reference": "g", "answer": "a"}
    assert len({Prompt(verdict).messages(given)[1]["content"] for _ in range(100)}) == 100


def test_a_marker_is_in_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(["aaaa", "bbbb", "cccc"])
    monkeypatch.setattr("secrets.token_hex", lambda size: next(drawn))
    given = {"question": "has aaaa", "reference": "has bbbb", "answer": "x"}
    assert "[cccc] has aaaa [cccc]" in Prompt(verdict).messages(given)[1]["content"]


@given(st.text(), st.text(), st.text())
def test_the_texts_come_through_as_they_are(query: str, truth: str, answer: str) -> None:
    given = {"question": query, "reference": truth, "answer": answer}
    assert texts({"messages": Prompt(verdict).messages(given)}) == {
        k: v.replace("\u200b", "") for k, v in given.items()
    }


def own(words: str) -> JudgeColumn:
    return replace(verdict, words=words, labels={})


def test_words_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text('Compare {answer} with {tone}. {"verdict": "CORRECT"} {} { query }', encoding="utf-8")
    words = read_words(path)
    assert own(words).needs == ("answer", "tone")
    user = Prompt(own(words)).messages({"tone": "{question}", "answer": "{answer}"})[1]["content"]
    assert '{"verdict": "CORRECT"} {} { query }' in user
    assert user.count("{answer}") == 1  # the data's own, which nobody filled in
    assert prompt_hash(own(words)) != prompt_hash(verdict) != prompt_hash(verdict, reasons=True)


def test_words_that_were_written_for_conversations(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text("{query}: is {agent_response} the same as {ground_truth}?", encoding="utf-8")
    assert read_words(path) == "{question}: is {answer} the same as {reference}?"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{reference}\n{answer} {tune}", r"line 2: there is no column \{tune\}: did you mean tone"),
        ("{question} {tone}", r"the prompt never shows \{answer\}"),
        ("", r"never shows"),
    ],
)
def test_words_that_make_no_sense(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_words(path, ["question", "reference", "answer", "tone"])


@pytest.mark.parametrize("field", ["answr", "Answer", "agent_respons"])
def test_a_slip_in_the_name_of_the_answer_is_named_before_the_table_is_known(tmp_path: Path, field: str) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text(f"{{question}}\n{{{field}}}", encoding="utf-8")
    with pytest.raises(
        InputError, match=rf"line 2: the prompt never shows {{answer}}, but {{{field}}}: did you mean a"
    ):
        read_words(path)


def test_words_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.txt: can't be read"):
        read_words(tmp_path / "nothing.txt")
    (tmp_path / "latin.txt").write_bytes("{answer} é".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        read_words(tmp_path / "latin.txt")


@given(st.text(), st.text(), st.text())
def test_the_size_is_that_of_what_is_sent(query: str, truth: str, answer: str) -> None:
    given = {"question": query, "reference": truth, "answer": answer}
    for reasons in (False, True):
        sent = sum(
            len(message["content"].replace("\u200b", "").encode())
            for message in Prompt(verdict, reasons=reasons).messages(given)
        )
        size = Prompt(verdict, reasons=reasons).size(given)
        assert sent <= size + 3 * sum(text.count("\u200b") for text in given.values()) <= sent + 100


def test_the_words_are_those_that_were_measured() -> None:
    given = {"question": "q", "reference": "r", "answer": "a"}
    sent = Prompt(verdict).messages(given)
    marker = marker_of(sent[1]["content"])
    assert sent == WORDINGS[CHOSEN].messages(given, marker)


def test_words_are_not_chosen_by_questions_that_are_reported_on() -> None:
    first, second = halves()
    answers = pool()
    assert len(answers) == 2820
    assert set(first) <= set(answers)
    assert not {judged.question for judged in answers} & {judged.question for judged in second}
