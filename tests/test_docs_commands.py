"""Every command and snippet on the pages of docs/, and of the skill, runs, in a folder that has what they speak of.

The tutorials, the tour and the page for those who come from other tools are followed step by step, with what they show
(tests/test_tutorials.py), as are docs/web.md there, and docs/formats.md (tests/test_formats_page.py).
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import socket
import sys
import types
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import HTTPCookieProcessor, build_opener

import distributed
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import uvicorn

from ragmeter import evaluate
from ragmeter.cli.commands import find_command
from ragmeter.io.locations import location
from ragmeter.judges.asking.probes import PROBES
from ragmeter.registry import get_all
from tests.embedders.helpers import write_folder
from tests.embedders.pair_models import write_pair_model
from tests.judge_server import Action, JudgeServer, completion, texts
from tests.pages import BLOCK, ROOT, run_command, run_python, shell_lines
from tests.show.test_exports import Client
from tests.store import bucket
from tests.testsets.writer import plain_reply, writes_questions

PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "skills" / "ragmeter" / "SKILL.md"]
#: Pages that other tests follow.
FOLLOWED = {"coming-from", "formats", "tour", "web"}
#: What can't be run here, each with the reason; its options and metrics are looked at all the same.
NOT_RUN = {
    "import ray": "tests/engine/test_other_engines.py runs it, slowly",
    "pyspark.sql": "tests/engine/test_other_engines.py runs it, slowly; needs Java",
}
#: What a page writes, and what stands for it here.
STANDS_FOR = {
    "ragmeter label RUN --claims": "ragmeter label RUN --claims --blank --output claims.csv",
    "ragmeter label RUN --n": "ragmeter label RUN --blank --output blank.csv --n",  # nobody to press a key
    "ragmeter label labelled": "ragmeter label labelled --blank",
    "--n 100 --judge": "--n 10 --judge",  # there are six documents here
    "--n 100 --offline": "--n 10 --offline --max-unscored 1",
    "--output labels.csv": "--output blank.csv",
    "anthropic:claude-sonnet-4-5": "gpt-4o",
    "https://NAME.openai.azure.com/openai/deployments/DEPLOYMENT": "http://127.0.0.1:8000/v1",
}
OLDER = ("before", "main", "baseline", "a")
NEWER = ("after", "new", "candidate", "b", "kept", "mine", "nightly", "my-run", "RUN")
QIDS = ("QID", *(f"q{number}" for number in range(1, 60)))
#: How many answers are right, before and after.
RIGHT = (46, 56)
MODEL, COMMIT = "intfloat/multilingual-e5-base", "0" * 40
RAG = """
def pipeline(question):
    return {"answer": "It is Paris.", "retrieved": ["d1"], "latency_ms": 5}

def build(top_k, model):
    return pipeline
"""


def rows(*, right: int) -> list[dict[str, Any]]:
    """Answers, of which the first ones are right, with all that a metric may need."""
    return [
        {
            "qid": qid,
            "question": f"What is capital number {number}?",
            "reference": f"Paris {number}",
            "answer": f"It is Paris {number}." if number < right else "I believe that it is Rome.",
            "contexts": [f"Paris {number} is the capital.", "Rome is old."],
            "retrieved": ["d1", "d2"],
            "relevant": ["d1"],
            "domain": "even" if number % 2 else "odd",
            "latency_ms": 5,
        }
        for number, qid in enumerate(QIDS)
    ]


def write(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files, the runs and the package that the pages speak of."""
    folder = tmp_path_factory.mktemp("pages")
    before, after = (rows(right=right) for right in RIGHT)
    gold = [{key: row[key] for key in ("qid", "question", "reference", "relevant", "domain")} for row in after]
    answers = [{key: row[key] for key in row if key not in gold[0] or key == "qid"} for row in after]
    for name in ("answers.jsonl", "results.jsonl", "eval/answers.jsonl"):
        write(folder / name, after)
    for name in ("qa.jsonl", "reference.jsonl", "eval/questions.jsonl", "eval/gold.jsonl"):
        write(folder / name, gold)
    write(folder / "after.jsonl", answers)
    write(folder / "before.jsonl", [{**row, "answer": old["answer"]} for row, old in zip(answers, before, strict=True)])
    turns = [
        {"session_id": f"s{row['qid']}", "interaction_id": f"i{row['qid']}", "turn_idx": 0, "image": None,
         "query": row["question"], "ground_truth": row["reference"], "agent_response": row["answer"]}
        for row in after
    ]  # fmt: skip
    for name in ("turns.jsonl", "turn_data.jsonl"):
        write(folder / name, turns)
    labels = "".join(f"{row['qid']},{'correct' if n < 30 else 'wrong'}\n" for n, row in enumerate(after))
    (folder / "labels.csv").write_text("qid,label\n" + labels, encoding="utf-8")
    shutil.copytree(ROOT / "examples" / "guides", folder / "docs")
    (folder / "mypkg").mkdir()
    (folder / "mypkg" / "rag.py").write_text(RAG, encoding="utf-8")
    write_folder(folder / "FOLDER")
    write_pair_model(folder / "NLI")
    model = folder / "hub" / f"models--{MODEL.replace('/', '--')}"  # as the hub's library keeps what it has fetched
    shutil.copytree(folder / "FOLDER", model / "snapshots" / COMMIT)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    (folder / "answers").mkdir()
    pq.write_table(pa.Table.from_pylist(after), folder / "answers" / "0.parquet")
    metrics = "token_f1,ndcg@10,offline_correct,token_recall,faithfulness[judge=offline]"
    for answered, (first, *others) in ((before, OLDER), (after, NEWER)):
        evaluate(answered, metrics=metrics, run=first, output_dir=folder / "runs")
        for name in others:
            shutil.copytree(folder / "runs" / first, folder / "runs" / name)
    return folder


@pytest.fixture(scope="module")
def server() -> Iterator[JudgeServer]:
    """A judge that knows the built-in cases, a model, a system that is asked, and embeddings, behind one address."""
    known = {(probe.reference, probe.answer): probe.verdict for probe in PROBES}

    def behave(request: dict[str, Any], number: int) -> Action | None:
        if "input" in request:
            vectors = [{"index": place, "embedding": [1.0, 0.5]} for place, _ in enumerate(request["input"])]
            return Action(body={"data": vectors, "usage": {"prompt_tokens": 1, "total_tokens": 1}})
        if "messages" not in request:
            return Action(body={"answer": "It is Paris.", "events": [{"id": "d1"}], "data": {"text": "Paris"}})
        if writes_questions(request):
            return Action(body=completion(plain_reply(request["messages"][-1]["content"])))
        given = texts(request)
        verdict = known.get((given.get("reference", ""), given.get("answer", "")))
        if verdict is not None:
            return Action(body=completion(json.dumps({"reason": "known", "verdict": verdict})))
        return None if {"reference", "answer"} <= set(given) else Action(body=completion(reply_of_claims(given)))

    with JudgeServer(behave) as running:
        yield running


def reply_of_claims(given: dict[str, str]) -> str:
    """What a model says that lists claims, or says whether one is supported."""
    if any("laim" in label for label in given):
        return "Supported"
    return f"- {given.get('Answer') or given.get('Reference') or 'It is Paris.'}"


@pytest.fixture
def place(laid_out: Path, server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder to be in, with the server as the model's."""
    shutil.copytree(laid_out, tmp_path, dirs_exist_ok=True)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "mlflow", types.SimpleNamespace(MlflowClient=Client))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("webbrowser.open", ADDRESSES.append)
    monkeypatch.setattr("uvicorn.Server", Visited)
    for name, value in (("OPENAI_BASE_URL", server.url), ("OPENAI_API_KEY", "none"), ("AZURE_KEY", "none")):
        monkeypatch.setenv(name, value)
    return tmp_path


class Visited(uvicorn.Server):
    """A server that ends when its page has been read. A Ctrl-C here would be one for pytest as well."""

    def startup(self, sockets: list[socket.socket] | None = None) -> Any:
        def visit(address: str) -> None:
            try:
                with build_opener(HTTPCookieProcessor()).open(address) as reply:
                    assert b"<h1" in reply.read()
            finally:
                self.should_exit = True

        # pytest makes an error of a thread a warning, and a warning is an error here
        Thread(target=visit, args=(ADDRESSES.pop(),)).start()
        return super().startup(sockets)


#: Where the user's browser is sent.
ADDRESSES: list[str] = []


@pytest.fixture
def cluster(laid_out: Path, s3_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A scheduler with a worker, and a bucket with answers. Workers are threads, which start at once."""
    in_threads = partial(distributed.LocalCluster, processes=False, dashboard_address=":0")
    monkeypatch.setattr(distributed, "LocalCluster", lambda n_workers, **settings: in_threads(n_workers=n_workers))
    with bucket(s3_environment, "bucket") as address, in_threads(n_workers=1, protocol="tcp://") as workers:
        for file in (laid_out / "answers").iterdir():
            location(f"{address}/answers/{file.name}").write_bytes(file.read_bytes())
        monkeypatch.setitem(STANDS_FOR, "tcp://scheduler:8786", workers.scheduler_address)
        yield


def reason_not_to_run(text: str) -> str | None:
    """Why this is not run; None if it is."""
    return next((reason for part, reason in NOT_RUN.items() if part in text), None)


def replaced(text: str, server: JudgeServer) -> str:
    """The text with what stands for other things here."""
    for written, stand_in in STANDS_FOR.items():
        text = text.replace(written, stand_in)
    address = server.url.removesuffix("/v1")
    return re.sub(r"http://(127\.0\.0\.1|localhost):\d+", address, text)


def is_run(page: Path) -> bool:
    kinds = {kind for kind, _, _ in BLOCK.findall(page.read_text(encoding="utf-8"))}
    return bool(kinds & {"sh", "python"}) and page.stem not in FOLLOWED


@pytest.mark.parametrize("page", [page for page in PAGES if is_run(page)], ids=lambda page: page.stem)
@pytest.mark.filterwarnings("ignore::ragmeter.errors.RagmeterWarning")
def test_a_page_s_commands_and_snippets_run(
    page: Path, place: Path, server: JudgeServer, request: pytest.FixtureRequest
) -> None:
    if page.stem == "scale":
        request.getfixturevalue("cluster")
    names: dict[str, Any] = {}
    for kind, title, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        assert kind in ("sh", "python", "text", "toml", "yaml"), f"a block of {kind or 'no kind'} that nobody runs"
        if title:
            (place / title).write_text(replaced(text, server), encoding="utf-8")
        elif kind == "sh":
            for line in shell_lines(text):
                if reason_not_to_run(line) is None:
                    run_command(replaced(line, server), place)
        elif kind == "python" and reason_not_to_run(text) is None:
            run_python(replaced(text, server), names)


def commands(page: Path) -> list[list[str]]:
    """The commands of a page, those before an example's output as well."""
    blocks = [text for kind, _, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind in ("sh", "text")]
    matches = (re.match(r"(?:\$ )?ragmeter (.+)", line) for block in blocks for line in shell_lines(block))
    return [shlex.split(match[1], comments=True) for match in matches if match is not None]


def test_commands_are_seen() -> None:
    assert ["compare", "before", "after"] in commands(ROOT / "docs" / "statistics.md")
    assert sum(len(commands(page)) for page in PAGES) > 60


def test_what_is_not_run_stands_on_a_page() -> None:
    texts = " ".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert all(part in texts for part in (*NOT_RUN, *STANDS_FOR))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_s_commands_are_understood(page: Path) -> None:
    """Also those that can't be run."""
    for line in commands(page):
        called = find_command(line)
        assert called is not None, line
        command, arguments = called
        chosen = command.parser().parse_args(arguments)  # UsageError where an option is not there
        for name in getattr(chosen, "metrics", None) or []:
            get_all(name)
