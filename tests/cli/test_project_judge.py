"""The table [judge] of a ragmeter.toml, which every command reads that asks a judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run
from tests.judge_server import JudgeServer

ROWS = "question,reference,answer\nWhere?,Paris,In Paris.\n"
JUDGED = ("evaluate", "rows.csv", "--metrics", "llm_correct", "--run", "r")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text(ROWS)
    return tmp_path / "ragmeter.toml"


def test_the_project_s_judge_is_asked(ragmeter: Run, project: Path) -> None:
    with JudgeServer() as server:
        project.write_text(f'[judge]\nmodel = "m"\nbase_url = "{server.url}"\ncheck = false\n')
        done = ragmeter(*JUDGED)
        assert done.returncode == 0, done.stderr
        assert [request["model"] for request in server.requests] == ["m"]


def test_what_the_command_line_says_comes_first(ragmeter: Run, project: Path) -> None:
    with JudgeServer() as server:
        project.write_text(f'[judge]\nmodel = "m"\nbase_url = "{server.url}"\ncheck = false\ntemperature = 0.5\n')
        done = ragmeter(*JUDGED, "--judge-temperature", "0.25")
        assert done.returncode == 0, done.stderr
        assert [request["temperature"] for request in server.requests] == [0.25]
        with JudgeServer() as other:
            more = ("--judge-model", "other", "--judge-base-url", other.url, "--no-judge-check")
            assert ragmeter(*JUDGED, *more, "--replace").returncode == 0
            assert [request["temperature"] for request in other.requests] == [0.0], "the file's is another model's"
        assert len(server.requests) == 1


@pytest.mark.parametrize("metrics", [(), ("--metrics", "token_f1")])
def test_nobody_is_asked_for_what_needs_no_judge(ragmeter: Run, project: Path, metrics: tuple[str, ...]) -> None:
    project.write_text('[judge]\nmodel = "m"\nbase_url = "http://127.0.0.1:9"\n')
    done = ragmeter("evaluate", "rows.csv", *metrics, "--json")
    assert done.returncode == 0, done.stderr
    assert "llm_correct" not in done.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[judge]\nmodle = 'm'\n", "unknown key 'modle' in [judge]: did you mean model"),
        ("judge = 'm'\n", "ragmeter.toml: judge should be a table"),
        ("[judge\n", "ragmeter.toml: can't be read"),
    ],
)
def test_a_table_that_is_not_understood(ragmeter: Run, project: Path, text: str, said: str) -> None:
    project.write_text(text)
    done = ragmeter(*JUDGED)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
