"""Images of conversations: fetched, in the size of ego-centric ones, and each failing alone."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from ragmeter import CRAGEvaluator
from ragmeter.compat.crag.images import Images
from ragmeter.effects.network.downloads import Fetcher
from ragmeter.errors import MissingExtraError
from tests.compat.crag.helpers import EchoAgent, conversation
from tests.compat.crag.test_generation import generate
from tests.tls_server import Answer, TlsServer


def picture(width: int = 30, height: int = 20) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(file, "PNG")
    return file.getvalue()


def answer(path: str) -> Answer:
    bodies = {
        "/a.png": picture(),
        "/b.png": picture(40, 20),
        "/text.png": b"<html>",
        "/pages.ps": b"%!PS-Adobe-3.0 EPSF",
    }
    return (200, {}, bodies[path]) if path in bodies else (404, {}, b"")


def test_images_are_fetched_and_one_failure_is_that_conversations_alone(tmp_path: Path) -> None:
    with TlsServer(tmp_path, answer) as server:
        paths = ("a.png", "b.png", "gone.png", "text.png", "pages.ps")
        dataset = [conversation(path, ("q0", "x"), ("q1", "x"), url=f"{server.url}/{path}") for path in paths]
        agent = EchoAgent(5)
        evaluator = CRAGEvaluator(dataset, agent, journal=None, retries=0)
        evaluator.images = Images(fetcher=Fetcher(pause=0, may_connect=lambda address: True, tls=server.trust))
        turns = evaluator.generate_agent_responses()
    assert [image.size for image in agent.calls[0][1]] == [(30, 20), (40, 20)]
    assert len(agent.calls) == 2  # the batch is asked once for each turn, without those that failed
    assert server.asked.count("/a.png") == 1
    answered = [turn["session_id"] for turn in turns if turn["agent_response"] is not None]
    assert answered == ["a.png", "a.png", "b.png", "b.png"]
    errors = {turn["session_id"]: turn["error"] for turn in turns if turn.get("error") and turn["turn_idx"] == 0}
    assert errors["gone.png"].endswith("/gone.png can't be fetched: HTTP 404")
    assert "no image that can be read" in errors["text.png"]
    assert "no image that can be read" in errors["pages.ps"]  # no interpreter is started for what somebody wrote
    assert {turn["outcome"] for turn in turns if turn.get("error")} == {"target_error"}


def test_private_addresses_are_not_fetched(tmp_path: Path) -> None:
    with TlsServer(tmp_path, answer) as server:
        agent = EchoAgent(1)
        turns, _ = generate(agent, [conversation("a", ("q", "x"), url=f"{server.url}/a.png")], fetch_images=True)
    assert "localhost is not at a public address" in turns[0]["error"]
    assert not server.asked
    assert not agent.calls


def test_without_fetching_the_agent_gets_the_address() -> None:
    agent = EchoAgent(1)
    generate(agent, [conversation("a", ("q", "x"), url="https://x.example/a.png")], fetch_images=False)
    assert agent.calls[0][1] == ["https://x.example/a.png"]


def test_ego_centric_images_have_one_size() -> None:
    agent = EchoAgent(3)
    stored = {"bytes": picture(), "path": None}
    dataset = [
        conversation("a", ("q", "x")) | {"image": Image.new("RGB", (3024, 4032))},
        conversation("b", ("q", "x")) | {"image": stored},
        conversation("c", ("q", "x")) | {"image": Image.new("RGB", (30, 20)), "image_url": "https://x.example/c.png"},
    ]
    generate(agent, dataset)
    assert [image.size for image in agent.calls[0][1]] == [(960, 1280), (960, 1280), (30, 20)]


def test_a_load_image_that_raises_fails_its_turn_alone() -> None:
    def load(url: str) -> Any:
        if "bad" in url:
            raise ValueError("no such picture")
        return f"loaded {url}"

    dataset = [conversation(name, ("q", "x"), url=f"https://x.example/{name}") for name in ("a", "bad", "c")]
    agent = EchoAgent(3)
    turns, _ = generate(agent, dataset, load_image=load)
    assert [turn["agent_response"] for turn in turns] == ["about q", None, "about q"]
    assert turns[1]["error"].startswith("load_image() failed on https://x.example/bad: ValueError: no such picture")
    assert agent.calls[0][1] == ["loaded https://x.example/a", "loaded https://x.example/c"]


def test_an_answer_in_the_journal_needs_no_image(tmp_path: Path) -> None:
    loaded: list[str] = []
    dataset = [conversation("a", ("q", "x"), url="https://x.example/a")]
    keywords: dict[str, Any] = {"agent_name": "mine", "journal": tmp_path / "j.sqlite", "load_image": loaded.append}
    generate(EchoAgent(1), dataset, **keywords)
    generate(EchoAgent(1), dataset, resume=True, **keywords)
    assert loaded == ["https://x.example/a"]


def test_a_bomb_is_no_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    agent = EchoAgent(1)
    turns, _ = generate(agent, [conversation("a", ("q", "x")) | {"image": {"bytes": picture(60, 20)}}])
    assert "DecompressionBomb" in turns[0]["error"] or "60 × 20 pixels" in turns[0]["error"]


def test_without_pillow_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = [conversation("a", ("q", "x")) | {"image": {"bytes": picture()}}]
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError) as error:
        generate(EchoAgent(1), dataset)
    assert "images" in str(error.value.hint)
