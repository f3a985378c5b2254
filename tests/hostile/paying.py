"""Commands that pay for calls, at work against a server that counts them: how they are started, what they have asked,
what they have recorded, and the numbers that they come to.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ragmeter.effects.replies.charges import Spent
from ragmeter.effects.replies.journal import Journal
from ragmeter.runs.run import Run
from tests.compat.crag.helpers import conversation, turn
from tests.judge_server import Action, JudgeServer, completion, texts

Read = TypeVar("Read")
#: So many calls at once; twice as many rows are in work.
WORKERS = 4
#: What is different each time.
_TIMES = {"latency_ms", "time_to_first_token_ms"}
_AGENT = """
import json, os
from urllib.request import Request, urlopen

class Agent:
    def get_batch_size(self):
        return int(os.environ.get("AGENT_BATCH", 2))

    def batch_generate_response(self, queries, images, message_histories):
        return [self.answer(query) for query in queries]

    def answer(self, query):
        body = json.dumps({"question": query}).encode()
        with urlopen(Request(os.environ["AGENT_SERVER"], body)) as reply:
            return json.load(reply)["answer"]
"""
_PAGE = b"""<!doctype html><title>chat</title><div id="chat"></div><input id="box"><button id="go">Send</button>
<script>
const box = document.getElementById("box"), chat = document.getElementById("chat");
const add = (text) => chat.append(Object.assign(document.createElement("p"), {className: "bot", textContent: text}));
document.getElementById("go").onclick = async () => {
  const question = box.value; box.value = "";
  const reply = await fetch("/", {method: "POST", body: JSON.stringify({question})});
  add((await reply.json()).answer);
};
</script>"""


class CountingServer(JudgeServer):
    """A judge, a system under test and a chat page in one. `asked` are the questions, in the order in which they came.

    Each reply names its question, so that a journal tells what is in it.
    """

    def __init__(self, latency: float = 0.0) -> None:
        super().__init__(self._reply, latency)
        self.asked: list[str] = []

    def _reply(self, request: dict[str, Any], number: int) -> Action:
        if not request:
            self.count -= 1  # a page is no question
            return Action(body=_PAGE, headers={"Content-Type": "text/html"})
        given = texts(request) if "messages" in request else request
        question = str(given["question"])
        self.asked.append(question)
        if "messages" not in request:
            return Action(body={"answer": f"[{question}] it is gold"})
        verdict = "CORRECT" if given["reference"] in given["answer"] else "WRONG"
        return Action(body=completion(json.dumps({"reason": f"[{question}]", "verdict": verdict})))


def _rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _questions(folder: Path, count: int) -> None:
    _rows(folder / "qa.jsonl", [{"question": f"q{n}", "ground_truth": f"[q{n}] it is gold"} for n in range(count)])


def _answers(folder: Path, count: int) -> None:
    answers = ("it is gold {}", "nothing", "gold {} for sure")
    _rows(
        folder / "rows.jsonl",
        [
            {"qid": str(n), "question": f"q{n}", "reference": f"gold {n}", "answer": answers[n % 3].format(n)}
            for n in range(count)
        ],
    )


def _turns(folder: Path, count: int) -> None:
    answers = ("it is gold {}", "I would say nothing", "gold {} for sure")
    rows = [turn(f"s{n // 3}", n % 3, f"gold {n}", answers[n % 3].format(n), query=f"q{n}") for n in range(count)]
    _rows(folder / "turns.jsonl", rows)


def _conversations(folder: Path, count: int) -> None:
    (folder / "agents.py").write_text(_AGENT)
    rows = [conversation(f"s{n}", *((f"q{n + i}", "x") for i in range(3))) for n in range(0, count, 3)]
    _rows(folder / "conversations.jsonl", rows)


def _queries(folder: Path, count: int) -> None:
    lines = [f"q{n},[q{n}] it is gold" for n in range(count)]
    (folder / "queries.csv").write_text("\n".join(["query,ground_truth", *lines]) + "\n")


def _run_numbers(folder: Path) -> Any:
    run = Run(folder / "runs" / "r")
    rows = [{name: value for name, value in row.items() if name not in _TIMES} for row in run.rows().to_pylist()]
    return rows, run.summary().metrics


def _crag_numbers(folder: Path) -> Any:
    files = ("turn_evaluation_results_all.csv", "scores_dictionary.json", "rows.parquet", "summary.json")
    return [(folder / "out" / name).read_bytes() for name in files]


def _judge(server: CountingServer) -> list[str]:
    return [
        "--judge-model", "gpt-4o", "--base-url", server.url, "--no-judge-check", "--judge-timeout", "3600",
        "--judge-workers", str(WORKERS),
    ]  # fmt: skip


@dataclass(frozen=True)
class Command:
    """A command that pays. `written` is the last file that it writes; `prepare` writes what so many questions need."""

    prepare: Callable[[Path, int], None]
    arguments: Callable[[CountingServer], list[str]]
    journal: str
    written: str
    read_numbers: Callable[[Path], Any]

    def start(self, folder: Path, server: CountingServer, *more: str) -> subprocess.Popen[str]:
        """Start it in a session of its own, as a terminal or a service manager would."""
        environment = {**os.environ, "OPENAI_API_KEY": "k", "AGENT_SERVER": f"http://127.0.0.1:{server.port}/"}
        return subprocess.Popen(
            [sys.executable, "-m", "ragmeter", *self.arguments(server), *more],
            cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip

    def recorded(self, folder: Path) -> set[str]:
        """The questions whose replies are in the journal."""
        return self._read(folder, _recorded_questions, set())

    def spent(self, folder: Path) -> Spent:
        """What the journal says was spent, for all scopes together."""
        return self._read(folder, _spent, Spent(0, 0.0))

    def _read(self, folder: Path, read: Callable[[Journal], Read], nothing: Read) -> Read:
        """What a copy of the journal says: the journal itself stays as it was left."""
        path = folder / self.journal
        if not path.exists() or not path.stat().st_size:
            return nothing
        with tempfile.TemporaryDirectory() as place:
            for file in path.parent.glob(f"{path.name}*"):
                shutil.copy(file, place)
            with Journal(Path(place) / path.name) as journal:
                return read(journal)

    def numbers(self, folder: Path) -> Any:
        """What the run says; None while it is not there."""
        return self.read_numbers(folder) if (folder / self.written).exists() else None


def _recorded_questions(journal: Journal) -> set[str]:
    bodies = (reply.body for key in journal._keys if (reply := journal.get(key)) is not None)
    return {question for body in bodies for question in re.findall(r"\[(q\d+)\]", body)}


def _spent(journal: Journal) -> Spent:
    calls, cost = journal._read("SELECT coalesce(sum(calls), 0), coalesce(sum(cost), 0.0) FROM spending")[0]
    return Spent(calls, cost)


COMMANDS = {
    "evaluate": Command(
        _answers,
        lambda server: [
            "evaluate", "--results", "rows.jsonl", "--metrics", "llm_correct", "--run", "r", *_judge(server),
        ],
        "runs/judge.journal.sqlite",
        "runs/r/manifest.json",
        _run_numbers,
    ),
    "crag evaluate": Command(
        _turns,
        lambda server: ["crag", "evaluate", "--turns", "turns.jsonl", "--output-dir", "out", *_judge(server)],
        "out/journal.sqlite",
        "out/manifest.json",
        _crag_numbers,
    ),
    "crag generate": Command(
        _conversations,
        lambda server: [
            "crag", "generate", "--dataset", "conversations.jsonl", "--agent", "agents:Agent", "--output",
            "turns.jsonl", "--workers", "2",
        ],
        "turns.jsonl.journal.sqlite",
        "turns.jsonl",
        lambda folder: (folder / "turns.jsonl").read_bytes(),
    ),
    "ask": Command(
        _questions,
        lambda server: [
            "ask", "--dataset", "qa.jsonl", "--metrics", "token_f1", "--run", "r", "--target",
            f"http://127.0.0.1:{server.port}/", "--timeout", "3600", "--workers", str(WORKERS),
        ],
        "runs/r.journal.sqlite",
        "runs/r/manifest.json",
        _run_numbers,
    ),
    "web": Command(
        _queries,
        lambda server: [
            "web", "--url", f"http://127.0.0.1:{server.port}/", "--input", "queries.csv", "--output", "results.csv",
            "--input-selector", "#box", "--submit-selector", "#go", "--answer-selector", ".bot", "--run", "r",
            "--timeout", "300", "--workers", "2",
        ],
        "runs/r.journal.sqlite",
        "results.csv",
        lambda folder: (folder / "results.csv").read_bytes(),
    ),
}  # fmt: skip
