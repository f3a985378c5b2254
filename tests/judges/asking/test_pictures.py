"""Pictures that are shown to a judge, in each vendor's form."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from ragmeter import FakeProvider, Judge, evaluate
from ragmeter.effects.limits.caller import GiveUp
from ragmeter.effects.network.downloads import Fetcher
from ragmeter.effects.replies.journal import Reply
from ragmeter.errors import InputError, UsageError
from ragmeter.judges.asking.pictures import MOST_BYTES, PictureError, Pictures
from ragmeter.judges.asking.prompt import Prompt
from ragmeter.judges.verdict import verdict
from ragmeter.models.port import Messages, Parameters
from tests.conftest import Run
from tests.models.helpers import KEY, SERVERS
from tests.provider_servers import FormatServer

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(60))
DATA = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


def rows(*images: Any) -> list[dict[str, Any]]:
    return [
        {
            "qid": f"q{n}",
            "question": f"What is it, {n}?",
            "reference": "a cat",
            "answer": f"some cat {n}",
            "image": image,
        }
        for n, image in enumerate(images)
    ]


def picture_in(vendor: str, request: dict[str, Any]) -> tuple[str, str]:
    """The picture and the text that a request has, in the vendor's own form."""
    if vendor == "gemini":
        picture, text = request["contents"][-1]["parts"]
        assert picture["inlineData"]["mimeType"] == "image/png"
        return picture["inlineData"]["data"], text["text"]
    picture, text = request["messages"][-1]["content"]
    assert text["type"] == "text"
    if vendor == "openai":
        assert picture["type"] == "image_url"
        return picture["image_url"]["url"].removeprefix("data:image/png;base64,"), text["text"]
    assert (picture["type"], picture["source"]["type"]) == ("image", "base64")
    assert picture["source"]["media_type"] == "image/png"
    return picture["source"]["data"], text["text"]


@pytest.mark.parametrize("vendor", SERVERS)
def test_a_picture_in_the_vendor_s_own_form(vendor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cat.png").write_bytes(PNG)
    with SERVERS[vendor]("Yes") as server:
        assert isinstance(server, FormatServer)
        url = server.url if vendor == "openai" else server.root
        judge = Judge(f"{vendor}:{server.model}", url, KEY, images="local", check=False, wordings=1, workers=1)
        evaluation = evaluate(rows("cat.png", None), metrics="llm_correct", judge=judge, output_dir=tmp_path)
        seen, without = server.requests
    assert evaluation["llm_correct"].mean == 1
    data, text = picture_in(vendor, seen)
    assert base64.b64decode(data) == PNG
    assert "If there is a picture" in text
    assert "image" not in json.dumps(without).replace("image/", "")


@pytest.mark.parametrize("metric", ["llm_correct", "criteria[file=tone.md]", "claim_precision", "faithfulness"])
def test_what_a_picture_is_shown_for(metric: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tone.md").write_text("Is it polite?", encoding="utf-8")
    pictures: list[str] = []

    class Seeing(FakeProvider):
        async def send(self, messages: Messages, parameters: Parameters) -> Reply:
            pictures.append(messages[-1].get("image", ""))
            return await super().send(messages, parameters)

    judge = Judge(provider=Seeing("- It is a cat."), images="local", check=False, wordings=1, tries=1)
    evaluate([{**rows(DATA)[0], "contexts": ["A cat."]}], metrics=metric, judge=judge, output_dir=tmp_path)
    assert pictures[0] == DATA


def test_claims_are_read_and_supported_with_a_picture(tmp_path: Path) -> None:
    provider = FakeProvider(lambda prompt: "Supported" if "Claim: [" in prompt else "- It is a cat.\n- Some cat.")
    judge = Judge(provider=provider, images="local", check=False, claims_per_call=1)
    table = [{**rows(DATA)[0], "contexts": ["A cat.", "A dog."]}]
    evaluation = evaluate(table, metrics="faithfulness", judge=judge, output_dir=tmp_path)
    assert evaluation["faithfulness"].mean == 1, provider.prompts[-1]


def test_the_journal_and_the_prompt_know_the_picture(tmp_path: Path) -> None:
    provider = FakeProvider("Yes")
    judge = Judge(provider=provider, images="local", check=False, wordings=1)
    evaluate(rows(PNG), metrics="llm_correct", judge=judge, output_dir=tmp_path)
    evaluate(rows(DATA), metrics="llm_correct", judge=judge, output_dir=tmp_path)  # the same picture
    assert len(provider.prompts) == 1
    evaluate(rows(PNG + b"x"), metrics="llm_correct", judge=judge, output_dir=tmp_path)
    assert len(provider.prompts) == 2
    assert judge.call_key() != Judge(provider=provider).call_key()


def test_a_picture_counts_in_the_estimate() -> None:
    judge = Judge("gpt-4o", images="local")
    texts = {"question": "?", "reference": "x", "answer": "y"}
    with_picture, without = (judge.on(verdict).estimate({**texts, "image": image})[0] for image in (DATA, ""))
    assert 1_500 < with_picture - without < 1_700
    messages = Prompt(judge.worded(verdict)).messages({**texts, "image": DATA})
    assert DATA not in messages[-1]["content"]


def test_what_can_not_be_shown_has_a_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "here"
    inside.mkdir()
    monkeypatch.chdir(inside)
    (tmp_path / "other.png").write_bytes(PNG)
    (inside / "notes.txt").write_text("secret", encoding="utf-8")
    (inside / "large.png").write_bytes(PNG + bytes(MOST_BYTES))
    (inside / "link.png").symlink_to(tmp_path / "other.png")
    pictures = Pictures()
    for cell, cause in {
        "../other.png": "no file in the current folder",
        str(tmp_path / "other.png"): "no file in the current folder",
        "link.png": "no file in the current folder",
        "notes.txt": "no PNG, JPEG, GIF or WebP",
        "large.png": "more than 5,000,000 bytes",
        "none.png": "can't be read: No such file",
        "a\0b": "can't be read|no file",
        "data:image/png;base64,???": "not in base64",
        "https://example.com/cat.png": "nothing is fetched unless",
    }.items():
        with pytest.raises(PictureError, match=cause):
            pictures.text(cell)
    provider = FakeProvider("Yes")
    judge = Judge(provider=provider, images="local", check=False)
    evaluation = evaluate(rows("notes.txt", PNG), metrics="llm_correct", judge=judge, output_dir=inside)
    assert evaluation["llm_correct"].n_not_scored == {"image_error": 1}
    assert evaluation.rows["reason"].to_pylist() == ["it is no PNG, JPEG, GIF or WebP", None]
    assert len(provider.prompts) == 1


def test_an_address_is_fetched_only_where_asked(tmp_path: Path) -> None:
    asked: list[str] = []

    class Web(Fetcher):
        async def fetch(self, url: str) -> bytes:
            asked.append(url)
            return PNG if "cat" in url else b"<html>"

    pictures = Pictures(is_fetching=True, fetcher=Web())
    assert pictures.text("https://example.com/cat.png") == "https://example.com/cat.png"
    assert asked == []
    assert asyncio.run(pictures.sent("https://example.com/cat.png")) == DATA
    with pytest.raises(GiveUp, match="no PNG"):
        asyncio.run(pictures.sent("https://example.com/page?key=secret"))
    with pytest.raises(GiveUp) as refused:
        asyncio.run(Pictures(is_fetching=True).sent("https://127.0.0.1/cat.png"))
    assert refused.value.outcome == "image_error"


def test_a_table_without_pictures_is_an_error(tmp_path: Path) -> None:
    judge = Judge(provider=FakeProvider("Yes"), images="local", check=False)
    table = [{name: value for name, value in rows("")[0].items() if name != "image"}]
    with pytest.raises(InputError, match="image"):
        evaluate(table, metrics="llm_correct", judge=judge, output_dir=tmp_path)
    with pytest.raises(UsageError, match="images must be local or fetch"):
        Judge("m", images="yes")  # type: ignore[arg-type]


def test_turns_of_crag_mm(ragmeter: Run, tmp_path: Path) -> None:
    (tmp_path / "cat.png").write_bytes(PNG)
    turn = {"session_id": "s", "turn_idx": 0, "query": "What is it?", "ground_truth": "a cat", "agent_response": "cats"}
    (tmp_path / "turns.jsonl").write_text(json.dumps({**turn, "image": "cat.png"}) + "\n", encoding="utf-8")
    with SERVERS["openai"]("Yes") as server:
        done = ragmeter(
            "crag", "evaluate", "--turns", "turns.jsonl", "--output-dir", "out", "--judge-model", "m-1",
            "--base-url", server.url, "--no-judge-check", "--judge-images", "local",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        data, _ = picture_in("openai", server.requests[0])
    assert base64.b64decode(data) == PNG
