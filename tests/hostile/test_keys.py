"""A server that repeats the key, in any form and anywhere: it gets into no file, and onto no screen."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.command import PATIENCE
from tests.conftest import Run
from tests.hostile.key_forms import FORMS, KEY
from tests.judge_server import Action, JudgeServer, completion, texts

ENVIRONMENT = {"OPENAI_API_KEY": KEY, "MY_KEY": KEY}
#: Where a target repeats it.
PLACES = ("answer", "raw", "document", "context", "error", "stream", "broken stream")


def everything(folder: Path) -> Iterator[tuple[str, str]]:
    """Every text of every file."""
    for path in folder.rglob("*"):
        if path.suffix == ".parquet":
            yield str(path), repr(pq.read_table(path).to_pylist())
        elif path.suffix == ".sqlite":
            with sqlite3.connect(path) as database:
                names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                rows = [database.execute(f"SELECT * FROM {name}").fetchall() for name in names]  # noqa: S608 - our own
                yield str(path), repr(rows)
        elif path.is_file():
            yield str(path), path.read_text(encoding="utf-8", errors="replace")


def leaks(folder: Path, *screens: str) -> list[tuple[str, str]]:
    """Where which form of the key is."""
    written = {name: write(KEY) for name, write in FORMS.items()}
    once_more = {name: json.dumps(form)[1:-1] for name, form in written.items()}  # as a text in a JSON file
    once_more |= {f"{name}, repr": repr(form)[1:-1] for name, form in written.items()}
    return [
        (place, name)
        for place, text in [*everything(folder), *(("screen", screen) for screen in screens)]
        for name, form in [*written.items(), *once_more.items()]
        if form in text
    ]


def target(request: dict[str, Any], number: int) -> Action:
    """Repeats the key as the question asks for it: where, and in which form."""
    place, _, form = request["question"].partition(": ")
    said = FORMS[form](KEY)
    if place == "error":
        return Action(400, {"error": {"message": f"{said} is wrong"}})
    if place == "raw" and '"' not in said and ("\\" not in said or form in ("slashes", "\\u", "\\u in capitals")):
        return Action(body=f'{{"answer": "it is {said}"}}'.encode())
    if "stream" in place:
        half = len(said) // 2
        events = [{"delta": "it is "}, {"delta": said[:half]}, {"delta": said[half:]}]
        broken = [b"event: error\ndata: no more\n\n"] if place == "broken stream" else []
        return Action(pieces=[*(f"data: {json.dumps(event)}\n\n".encode() for event in events), *broken])
    document = {"id": said if place == "document" else "d", "text": said if place == "context" else "t"}
    return Action(body={"answer": f"it is {said}" if place == "answer" else "x", "events": [document]})


def test_a_target_that_repeats_it(tmp_path: Path, ragmeter: Run) -> None:
    questions = [{"question": f"{place}: {form}", "reference": "x"} for place in PLACES for form in FORMS]
    (tmp_path / "questions.json").write_text(json.dumps(questions))
    out = tmp_path / "out"
    with JudgeServer(target) as server:
        done = ragmeter(
            "ask", "--dataset", "questions.json", "--target", f"http://127.0.0.1:{server.port}/?token={KEY}x",
            "--header", "Authorization: Bearer $MY_KEY", "--metrics", "exact_match", "--output-dir", out,
            "--output", out / "results.json", "--retrieved-path", "events[*].id", "--contexts-path", "events[*].text",
            "--retries", "0", "--workers", "64", "--max-unscored", "1", "--timeout", str(PATIENCE), env=ENVIRONMENT,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert leaks(out, done.stdout, done.stderr) == []
    rows = {row["question"]: row for row in json.loads((out / "results.json").read_text())["results"]}
    shown = {"answer": "generated_answer", "document": "retrieved", "error": "error", "broken stream": "partial_answer"}
    for question, row in rows.items():
        place = question.partition(": ")[0]
        assert row["scores"]["exact_match"] is not None or place in ("error", "broken stream"), row
        assert "***" in str(row[shown[place]] if place in shown else "***")


def judge(request: dict[str, Any], number: int) -> Action:
    form, _, place = texts(request)["answer"].partition(" in ")
    said = FORMS[form](KEY)
    if place == "an error":
        return Action(400, {"error": {"message": f"{said} is wrong"}})
    reply = json.dumps({"reason": f"it is {said}", "verdict": "CORRECT"}) if place == "a reason" else said
    return Action(body=completion(reply))


def test_a_judge_that_repeats_it(tmp_path: Path, ragmeter: Run) -> None:
    places = ("a reason", "an error", "a reply")
    rows = [{"question": "q", "reference": "x", "answer": f"{form} in {place}"} for form in FORMS for place in places]
    (tmp_path / "results.json").write_text(json.dumps(rows))
    with JudgeServer(judge) as server:
        done = ragmeter(
            "evaluate", "--results", "results.json", "--metrics", "llm_correct", "--judge-model", "m", "--reasons",
            "--base-url", server.url, "--no-judge-check", "--retries", "0", "--tries", "1", "--max-unscored", "1",
            "--output-dir", tmp_path / "out", "--json", "--timeout", str(PATIENCE), env=ENVIRONMENT,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert leaks(tmp_path / "out", done.stdout, done.stderr) == []


@pytest.mark.parametrize("form", FORMS)
def test_the_error_that_ends_a_run(form: str, tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "questions.json").write_text(json.dumps([{"question": "q", "reference": "x"}]))
    body = json.dumps({"error": {"message": f"{FORMS[form](KEY)} is wrong"}}).encode()
    location = {"Location": f"http://elsewhere.example/{FORMS['percent'](KEY)}/"}
    for action in (Action(401, body), Action(302, b"", headers=location)):
        with JudgeServer(lambda request, number, action=action: action) as server:  # type: ignore[misc]
            done = ragmeter(
                "ask", "--dataset", "questions.json", "--target", f"http://127.0.0.1:{server.port}/", "--metrics",
                "exact_match", "--header", "X-Key: $MY_KEY", "--output-dir", tmp_path / "out", env=ENVIRONMENT,
            )  # fmt: skip
        assert done.returncode == 2
        assert "***" in done.stderr
        assert leaks(tmp_path / "out", done.stdout, done.stderr) == []
