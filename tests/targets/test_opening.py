"""The registry of kinds of targets: built in, from a plugin, and names that no kind opens."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter.effects.replies.journal import Reply
from ragmeter.effects.replies.rounds import Identity
from ragmeter.errors import RagmeterWarning, UnknownNameError, UsageError
from ragmeter.registry import Kind
from ragmeter.targets.http import HttpTarget
from ragmeter.targets.model import ModelTarget
from ragmeter.targets.opening import open_target
from ragmeter.targets.port import Answer, Question, Target
from ragmeter.targets.python import PythonTarget


class Echo(Target):
    """The smallest target: everything but `answer` and `signature` is a default."""

    def __init__(self, word: str) -> None:
        self.word = self.name = word

    async def answer(self, question: Question) -> Reply:
        return Answer(f"{self.word} {question.text}").as_reply()

    def signature(self) -> dict[str, Any]:
        return {"kind": "echo", "word": self.word}


class EchoKind(Kind[Target]):
    prefix = "echo:"
    options = ("twice",)

    def open(self, given: Any, settings: Mapping[str, Any]) -> Target:
        word = given.removeprefix(self.prefix)
        return Echo(word * 2 if settings.get("twice") else word)


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {"ragmeter.targets": [EntryPoint("echo", f"{__name__}:EchoKind", "ragmeter.targets")]}
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points.get(group, []))


def test_built_in_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    assert isinstance(open_target("openai:gpt-4o"), ModelTarget)
    assert isinstance(open_target("HTTPS://example.org/ask"), HttpTarget)
    assert isinstance(open_target("json:dumps"), PythonTarget)
    assert isinstance(open_target(str.upper), PythonTarget)
    echo = Echo("hm")
    assert open_target(echo) is echo


@pytest.mark.usefixtures("plugin")
def test_a_kind_from_a_plugin(tmp_path: Path) -> None:
    assert open_target("echo:hm").name == "hm"
    assert open_target("echo:hm", twice=True).name == "hmhm"
    with pytest.raises(UsageError, match="method has no effect on echo:hm"):
        open_target("echo:hm", method="GET")
    rows = [{"qid": "1", "question": "why", "reference": "hm why"}]
    done = ragmeter.ask(rows, "echo:hm", metrics="exact_match", output_dir=tmp_path)
    assert done.to_pandas()["exact_match"].tolist() == [1]
    with pytest.raises(UsageError, match="price is not known"):
        ragmeter.ask(rows, "echo:hm", metrics="exact_match", output_dir=tmp_path, budget=1.0)


def test_the_kind_in_the_documents() -> None:
    document = Path(__file__).parents[2] / "docs" / "ask.md"
    block = re.findall(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)[-1]
    namespace: dict[str, Any] = {}
    exec(block, namespace)  # noqa: S102 - our own document
    target = namespace["EchoKind"]().open("echo:hm", {})
    reply = asyncio.run(target.answer(Question("1", "why?")))
    assert Answer.from_reply(reply).answer == "hm why?"
    assert target.identity() == Identity("hm", {"kind": "echo", "word": "hm"}, certain=False)


@pytest.mark.parametrize(
    ("path", "message"), [("json:dumps", "is not a kind"), ("no_such_module:X", "the plugin 'wrong'")]
)
def test_a_plugin_that_is_wrong(monkeypatch: pytest.MonkeyPatch, path: str, message: str) -> None:
    point = EntryPoint("wrong", path, "ragmeter.targets")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point])
    with pytest.raises(UsageError, match=message):
        open_target("wrong:hm")
    with pytest.warns(RagmeterWarning, match=message), pytest.raises(UsageError, match="no module 'echo'"):
        open_target("echo:hm")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("opnai:gpt-4o", "unknown kind of target 'opnai:': did you mean openai:"),
        ("htp://localhost/", "unknown kind of target 'htp:': did you mean http://"),
        ("ftp://localhost/", "unknown kind of target 'ftp:'"),
    ],
)
def test_an_unknown_prefix(name: str, message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        open_target(name)
    with pytest.raises(UnknownNameError, match=message):
        open_target(name, base_url="http://localhost/v1")


def test_a_module_with_a_name_like_a_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "openia.py").write_text("def ask(question):\n    return question\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert isinstance(open_target("openia:ask"), PythonTarget)
    with pytest.raises(UsageError, match="unknown name in openia"):
        open_target("openia:nothing")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gpt-4o", "openai:gpt-4o"),
        ("claude-3-5-sonnet", "anthropic:claude-3-5-sonnet"),
        ("gemini-2.0-flash", "gemini:gemini-2.0-flash"),
        ("qwen2.5:7b", "openai:qwen2.5:7b"),
        ("127.0.0.1:8000/q", "http://127.0.0.1:8000/q"),
        ("localhost:8000", "http://localhost:8000"),
        ("rag.example.com/query", "http://rag.example.com/query"),
    ],
)
def test_a_model_or_an_address_without_its_kind(name: str, hint: str) -> None:
    for request in (None, "{}"):
        with pytest.raises(UsageError, match=f"write {re.escape(hint)}$"):
            open_target(name, request=request)


@pytest.mark.parametrize("name", ["src/rag.py", "rag.py", "my-pkg.rag:answer", "nobody.rag:answer"])
def test_what_is_neither_a_model_nor_an_address_is_not_called_one(name: str) -> None:
    with pytest.raises(UsageError) as error:
        open_target(name)
    assert "if it is" not in str(error.value)


@pytest.mark.parametrize("head", ["def build():", "def build(*, k=3):"])
def test_a_function_without_arguments_builds_what_is_asked(
    head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"made_{len(head)}.py").write_text(f"{head}\n    return lambda question: question.upper()\n")
    monkeypatch.syspath_prepend(tmp_path)
    reply = asyncio.run(open_target(f"made_{len(head)}:build").answer(Question("1", "paris")))
    assert Answer.from_reply(reply).answer == "PARIS"
