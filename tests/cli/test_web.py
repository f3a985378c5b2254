"""`ragmeter web` as a person runs it, on the example application's chat page and on hard ones."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from ragmeter import EvaluationManager, ExactMatchScorer, Run, TokenF1Scorer, WebInterface, evaluate
from ragmeter.effects.replies.journal import Journal
from ragmeter.errors import UsageError
from tests.browser import missing, served
from tests.command import PATIENCE
from tests.conftest import Run as Command
from tests.web.helpers import give_up_soon

EXAMPLES = Path(__file__).parents[2] / "examples"
HEADER = [
    "query", "ground_truth", "actual_response", "cosine_similarity", "rouge_l_score", "exact_match", "token_f1",
    "meteor_score", "average_score",
]  # fmt: skip
pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is one"),
    pytest.mark.usefixtures("shared_browser"),
]


@pytest.fixture(scope="module")
def app() -> Iterator[str]:
    with served(str(EXAMPLES / "rag_app.py"), "--port", "0") as address:
        yield address


def queries(folder: Path, *rows: tuple[str, str]) -> None:
    with (folder / "queries.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("query", "ground_truth"), *rows])


def command(url: str, *more: str) -> list[str]:
    return [
        "web", "--url", url, "--input", "queries.csv", "--output", "results.csv", "--input-selector", "#query-input",
        "--submit-selector", "#submit-button", "--timeout", str(PATIENCE), *more,
    ]  # fmt: skip


def results(folder: Path) -> list[dict[str, str]]:
    with (folder / "results.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_seeds_five_options_on_the_example_application(ragmeter: Command, tmp_path: Path, app: str) -> None:
    rows = [
        ("Where is the night market?", "At Rope Street."),
        ("Where can I renew my passport?", "I couldn't find any events."),
    ]
    queries(tmp_path, *rows)
    done = ragmeter(*command(f"{app}/", "--language", "en"))
    assert done.returncode == 0, done.stderr
    assert "the answer was read from div.bot; " in done.stdout
    answers = results(tmp_path)
    assert list(answers[0]) == HEADER
    assert [row["actual_response"].split("\n")[0] for row in answers] == [
        "Night Market is at Rope Street.",
        "Sorry, I couldn't find any events about that.",
    ]
    assert "\n" not in answers[0]["actual_response"]  # the page shows its sources beside the message
    scored = evaluate(
        [{"answer": row["actual_response"], "reference": row["ground_truth"]} for row in answers],
        metrics="rouge_l_score[language=en],token_f1",
    )
    assert [float(row["token_f1"]) for row in answers] == pytest.approx(scored.rows["token_f1"].to_pylist())
    assert [float(row["rouge_l_score"]) for row in answers] == pytest.approx(
        scored.rows["rouge_l_score[language=en]"].to_pylist()
    )


SCORERS = """
class SameLength:
    def calculate_score(self, reference, candidate):
        return 1.0 if len(reference) == len(candidate) else 0.5
    def get_score_name(self):
        return "same_length"
class Fails(SameLength):
    def calculate_score(self, reference, candidate):
        raise ValueError(reference)
    def get_score_name(self):
        return "fails"
"""


def test_a_scorer_of_the_user_s(ragmeter: Command, tmp_path: Path, site: str) -> None:
    (tmp_path / "mypkg_of_scorers").mkdir()
    (tmp_path / "mypkg_of_scorers" / "__init__.py").write_text(SCORERS)
    queries(tmp_path, ("x", "Answer to x: it is so."), ("y", "something else"))
    mine = "mypkg_of_scorers.SameLength"
    done = ragmeter(*command(f"{site}/plain", "--metrics", f"exact_match,{mine}", "edit_distance", "--run", "r"))
    assert done.returncode == 0, done.stderr
    assert "same_length" in done.stdout
    answers = results(tmp_path)
    assert list(answers[0]) == [*HEADER[:3], "exact_match", "same_length", "edit_distance", "average_score"]
    scores = [[row[name] for name in ("exact_match", "same_length", "average_score")] for row in answers]
    assert scores == [["1.0", "1.0", "1.0"], ["0.0", "0.5", "0.25"]]  # a distance is no part of the average
    rows = Run.at(tmp_path / "runs" / "r").rows(["same_length"]).to_pylist()
    assert [row["same_length"] for row in rows] == [1.0, 0.5]


def test_a_scorer_that_fails_leaves_the_cell_and_the_average_empty(
    ragmeter: Command, tmp_path: Path, site: str
) -> None:
    (tmp_path / "mypkg_that_fails.py").write_text(SCORERS)
    queries(tmp_path, ("x", "y"))
    box = ["--input-selector", "#query-input", "--submit-selector", "#submit-button"]
    plain = [word for word in command(f"{site}/plain", "--metrics", "mypkg_that_fails.Fails") if word not in box]
    done = ragmeter(*plain)  # and without a word about the box
    assert done.returncode == 0, done.stderr
    assert "questions were typed into #query-input" in done.stdout
    assert list(results(tmp_path)[0].items())[2:] == [
        ("actual_response", "Answer to x: it is so."), ("fails", ""), ("average_score", ""),
    ]  # fmt: skip
    done = ragmeter(*command(f"{site}/plain", "--metrics", "mypkg_that_fails.Nothing"))
    assert done.returncode == 2
    assert "unknown name in mypkg_that_fails 'Nothing'" in done.stderr


def test_columns_of_other_names(ragmeter: Command, tmp_path: Path, site: str) -> None:
    """And a limit, so that the second row is not asked."""
    (tmp_path / "queries.csv").write_text("frage,antwort\nx,Answer to x: it is so.\ny,z\n")
    columns = ["--column", "question=frage", "--column", "reference=antwort"]
    done = ragmeter(*command(f"{site}/plain", *columns, "--limit", "1"))
    assert done.returncode == 0, done.stderr
    assert "only the first question was asked, of 2" in done.stdout
    assert len(results(tmp_path)) == 1
    assert (tmp_path / "runs" / "web-queries-first-1").is_dir()
    assert list(results(tmp_path)[0]) == ["frage", "antwort", *HEADER[2:]]
    assert results(tmp_path)[0]["exact_match"] == "1.0"


def test_answers_and_sources_by_selectors(ragmeter: Command, tmp_path: Path, app: str) -> None:
    queries(tmp_path, ("Where is the night market?", "At Rope Street."))
    more = ["--answer-selector", ".message.bot", "--sources-selector", ".sources li", "--run", "r"]
    done = ragmeter(*command(f"{app}/", *more))
    assert done.returncode == 0, done.stderr
    assert results(tmp_path)[0]["actual_response"] == "Night Market is at Rope Street."
    kept = Run.at(tmp_path / "runs" / "r").rows(["retrieved", "latency_ms", "time_to_first_token_ms"]).to_pylist()[0]
    assert kept["retrieved"] == ["Night Market", "Harbour Jazz Night"]
    assert 0 < kept["time_to_first_token_ms"] <= kept["latency_ms"]


def test_unanswered_rows_have_empty_scores_and_evidence(
    ragmeter: Command, tmp_path: Path, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_up_soon(monkeypatch, "bad", PATIENCE / 100)
    queries(tmp_path, ("good", "x"), ("bad", "x"), ("good", "x"))
    done = ragmeter(*command(f"{site}/error", "--retries", "0", "--run", "r"))
    assert done.returncode == 3
    assert "timeout: no answer within 3 s" in done.stdout
    answers = results(tmp_path)
    assert [row["actual_response"] for row in answers] == [
        "Answer to good: it is so.",
        "",
        "Answer to good: it is so.",
    ]
    assert {answers[1][name] for name in HEADER[3:]} == {""}
    assert (tmp_path / "runs" / "r" / "evidence" / "2.png").exists()
    assert "no luck with bad" in (tmp_path / "runs" / "r" / "evidence" / "2.txt").read_text()


def test_what_is_needed(ragmeter: Command, tmp_path: Path) -> None:
    done = ragmeter("web", "--url", "http://127.0.0.1:1/")
    assert done.returncode == 2
    assert "the following arguments are required: --input, --output" in done.stderr


def test_a_file_in_which_quotes_mean_nothing(ragmeter: Command, tmp_path: Path, site: str) -> None:
    (tmp_path / "queries.csv").write_text('query,ground_truth\n"x,y\n')
    done = ragmeter(*command(f"{site}/plain"))
    assert "--no-quotes" in done.stderr
    done = ragmeter(*command(f"{site}/plain", "--no-quotes"))
    assert done.returncode == 0, done.stderr
    assert results(tmp_path)[0]["actual_response"] == 'Answer to "x: it is so.'


def test_a_selector_that_matches_nothing(
    ragmeter: Command, tmp_path: Path, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragmeter.targets.web.growth._QUIET", 1.0)
    queries(tmp_path, ("x", "y"))
    done = ragmeter(*command(f"{site}/plain", "--input-selector", "#nothing"))
    assert done.returncode == 2
    assert "#query-input" in done.stderr
    assert not (tmp_path / "results.csv").exists()


def wait_for_questions(site: str, count: int) -> None:
    """Until so many of them have reached the page."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with urlopen(f"{site}/log", timeout=PATIENCE) as reply:  # noqa: S310 - our own
            if sum(question.startswith("interrupted ") for question in json.load(reply)) >= count:
                return
        time.sleep(0.1)
    raise AssertionError("they were not asked")


def test_interrupted_and_resumed(ragmeter: Command, tmp_path: Path, site: str) -> None:
    count = 26
    queries(tmp_path, *((f"interrupted {i}", "x") for i in range(count)))
    known = 0
    arguments = command(f"{site}/plain", "--workers", "2", "--run", "r")
    for number in (signal.SIGINT, signal.SIGKILL):
        process = subprocess.Popen(
            [sys.executable, "-m", "ragmeter", *arguments],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        wait_for_questions(site, known + 8)  # the page is learnt from six at most, whose answers are kept after that
        os.killpg(process.pid, number)  # as a terminal does: the browser's processes hear it as well
        process.communicate(timeout=PATIENCE)
        assert not (tmp_path / "runs" / "r.evidence").exists()  # what was under way came to its end
        assert not (tmp_path / "results.csv").exists()
        with Journal(tmp_path / "runs" / "r.journal.sqlite") as journal:
            known = len(journal)
        assert 0 < known < count
    done = ragmeter(*arguments, "--json")
    assert json.loads(done.stdout)["n_rows"] == count
    assert [row["actual_response"] for row in results(tmp_path)] == [
        f"Answer to interrupted {i}: it is so." for i in range(count)
    ]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--url", "file:///etc/passwd"], "not an address"),
        (["--storage-state", "nothing.json"], "no file nothing.json"),
        (["--cookie", "a=NOT_SET_AT_ALL"], "$NOT_SET_AT_ALL is not set"),
        (["--browser-path", "/nothing"], "no browser at /nothing"),
        (["--workers", "0"], "--workers"),
        (["--headed"], "--headed needs a screen"),
        (["--login", "login.json"], "needs a screen"),
        (["--record", "page.toml"], "needs a screen"),
        (["--output", "."], "is a folder"),
    ],
)
def test_calls_that_make_no_sense(
    ragmeter: Command, tmp_path: Path, site: str, monkeypatch: pytest.MonkeyPatch, more: list[str], message: str
) -> None:
    for screen in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(screen, raising=False)
    queries(tmp_path, ("x", "y"))
    done = ragmeter(*command(f"{site}/plain"), *more)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_from_python(tmp_path: Path, site: str) -> None:
    queries(tmp_path, ("one", "Answer to one: it is so."), ("two", "something else"))
    manager = EvaluationManager([ExactMatchScorer(), TokenF1Scorer()])
    with WebInterface(f"{site}/plain", "#query-input", "#submit-button", workers=2) as web:
        rows = manager.evaluate_file(tmp_path / "queries.csv", tmp_path / "results.csv", web)
        assert web.query("three") == "Answer to three: it is so."
    assert [row["exact_match"] for row in rows] == [1.0, 0.0]
    assert list(results(tmp_path)[0]) == [
        "query",
        "ground_truth",
        "actual_response",
        "exact_match",
        "token_f1",
        "average_score",
    ]
    assert rows[0]["average_score"] == 1.0
    with pytest.raises(UsageError, match="no browser at /nothing"):
        WebInterface(f"{site}/plain", "#query-input", browser_path="/nothing").query("x")
    assert manager.evaluate_response("x", None) == {"exact_match": None, "token_f1": None, "average_score": None}


def test_a_page_is_learnt_shown_and_read_by_its_file(ragmeter: Command, tmp_path: Path, app: str) -> None:
    rows = [
        ("Where is the night market?", "Night Market is at Rope Street."),
        ("Where does the lantern parade take place?", "Lantern Parade is at Mill Bridge."),
    ]
    queries(tmp_path, *rows)
    learnt = ragmeter("web", "--url", f"{app}/", "--input", "queries.csv", "--learn", "page.toml")
    assert learnt.returncode == 0, learnt.stdout + learnt.stderr
    assert "    Night Market is at Rope Street.\n" in learnt.stdout
    assert (tmp_path / "page.png").is_file()
    done = ragmeter(*command(f"{app}/", "--page", "page.toml"))
    assert done.returncode == 0, done.stderr
    assert [row["actual_response"] for row in results(tmp_path)] == [answer for _, answer in rows]
    (tmp_path / "page.toml").write_text("[answer]\nselector = 1\n")
    wrong = ragmeter(*command(f"{app}/", "--page", "page.toml"))
    assert wrong.returncode == 2
    assert "page.toml, line 2: answer.selector: " in wrong.stderr


def test_a_doubt_stops_a_run_unless_it_is_the_old_call(ragmeter: Command, tmp_path: Path, site: str) -> None:
    queries(tmp_path, ("one?", "Always the same answer."), ("two?", "Always the same answer."))
    stopped = ragmeter(
        "web",
        "--url",
        f"{site}/same_list",
        "--input",
        "queries.csv",
        "--output",
        "results.csv",
        "--timeout",
        str(PATIENCE),
    )
    assert stopped.returncode == 2
    assert "it is not sure how this page is read: the " in stopped.stderr
    assert "--page results.page.toml" in stopped.stderr
    assert (tmp_path / "results.page.toml").is_file()
    assert not (tmp_path / "results.csv").exists()
    done = ragmeter(*command(f"{site}/same_list"))
    assert done.returncode == 3, done.stderr
    assert "2 unsure: " in done.stdout
    assert "learnt with a doubt" in done.stdout
