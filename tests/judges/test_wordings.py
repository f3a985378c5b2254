"""The words of the judgement, measured: a real small model against people's verdicts. `make test-slow` installs it.

1,700 calls of a second or two each: half an hour to an hour on two cores that have nothing else to do.
"""

from __future__ import annotations

import hashlib
import json
import re
import urllib.request
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from ragmeter import LLMJudge
from ragmeter.definition.judge_columns import JudgeColumn
from ragmeter.judges.asking.judge import as_rephrased
from ragmeter.judges.asking.prompt import Prompt
from ragmeter.judges.verdict import verdict
from ragmeter.metrics.conversation import is_same_answer
from ragmeter.stats.paired_tests import McNemar
from tests.judges.wordings import CHOSEN, WORDINGS, Judged, Score, Wording, halves
from tests.model_server import qwen

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with qwen(tmp_path_factory.mktemp("model")) as address:
        yield address


@cache
def post(url: str, path: str, body: str) -> Any:
    request = urllib.request.Request(url + path, body.encode(), {"Content-Type": "application/json"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=600) as response:  # noqa: S310 - on loopback
        return json.load(response)


def is_exact(judged: Judged) -> bool:
    """What ragmeter decides without asking."""
    return any(is_same_answer(judged.answer, reference) for reference in judged.references)


def ask(url: str, wording: Wording, judged: Judged) -> bool | None:
    """The verdict, or None where the reply is not just one of the two words."""
    if is_exact(judged):
        return True
    marker = hashlib.sha256(f"{judged.question}\0{judged.answer}".encode()).hexdigest()[:8]
    request = {"messages": wording.messages(judged.texts, marker), "temperature": 0, "max_tokens": 4}
    choice = post(url, "/chat/completions", json.dumps(request))["choices"][0]
    word = re.fullmatch(r"[*_\"'`\s]*(\w+)[*_\"'`.!\s]*", choice["message"]["content"])
    if word is None or choice["finish_reason"] != "stop":
        return None
    return {wording.right.casefold(): True, wording.wrong.casefold(): False}.get(word[1].casefold())


@pytest.mark.parametrize("half", [0, 1])
def test_the_shipped_words_agree_with_people(url: str, half: int) -> None:
    judge = LLMJudge("no-key", "qwen", url, tries=1)
    answers = halves()[half]
    verdicts = [True if is_exact(judged) else judge.evaluate(*judged.texts.values()).accuracy for judged in answers]
    score = Score.of(verdicts, [judged.right for judged in answers])
    assert score.agreement >= 0.85
    assert score.unreadable <= 0.01


@pytest.mark.parametrize("node", [verdict, as_rephrased(verdict)])
def test_the_shipped_words_are_few(url: str, node: JudgeColumn) -> None:
    messages = Prompt(node).messages({"question": "", "reference": "", "answer": ""})
    server = url.removesuffix("/v1")
    prompt = post(server, "/apply-template", json.dumps({"messages": messages}))["prompt"]
    tokens = post(server, "/tokenize", json.dumps({"content": prompt, "parse_special": True}))["tokens"]
    assert len(tokens) <= 150


def test_no_other_words_do_better(url: str) -> None:
    """On the answers that chose: no candidate is ahead of the chosen one by more than chance."""
    answers = halves()[0]
    right: dict[str, list[bool]] = {name: [] for name in WORDINGS}
    for judged in answers:  # answer by answer: a server that keeps the last prompt reads the texts once
        for name, wording in WORDINGS.items():
            right[name].append(ask(url, wording, judged) is judged.right)
    for name, agreed in right.items():
        pairs = list(zip(right[CHOSEN], agreed, strict=True))
        ahead = McNemar(
            sum(ours and not theirs for ours, theirs in pairs), sum(theirs and not ours for ours, theirs in pairs)
        )
        assert ahead.only_a >= ahead.only_b or ahead.exact_p > 0.05, name
