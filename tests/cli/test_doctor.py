"""`ragmeter doctor`, `--version` and `--completion`."""

from __future__ import annotations

import http.server
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from ragmeter.cli import environment
from ragmeter.cli.commands import COMMANDS
from ragmeter.cli.completion import completion
from ragmeter.cli.environment import Package, packages
from ragmeter.embedders.models import cached_models
from ragmeter.errors import UnknownNameError
from ragmeter.hints import install_command
from tests.conftest import Run
from tests.hostile.test_slow_servers import OneSlot
from tests.judge_server import Action, JudgeServer


class Handler(http.server.BaseHTTPRequestHandler):
    headers_seen: dict[str, str]

    def do_GET(self) -> None:
        Handler.headers_seen = dict(self.headers)
        self.send_response(401)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()
        thread.join()


def states(output: str) -> dict[str, tuple[str, str]]:
    return {check["name"]: (check["state"], check["what"]) for check in json.loads(output)}


def test_what_is_there(ragmeter: Run) -> None:
    done = ragmeter("doctor", "--json", env={"OPENAI_API_KEY": "sk-very-secret"})
    assert done.returncode == 0, done.stderr
    checks = states(done.stdout)
    assert checks["core"][0] == "ok"
    assert "numpy " in checks["core"][1]
    assert "aiohttp " in checks["extra http"][1]
    assert checks["keys"] == ("ok", "set: OPENAI_API_KEY")
    assert "sk-very-secret" not in done.stdout
    assert checks["runs"] == ("ok", "0 in runs/")
    assert "extra http" in ragmeter("doctor").stdout


def test_plugins(ragmeter: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    good = EntryPoint("good", "ragmeter.metrics.text", "ragmeter.metrics")
    points = {"ragmeter.metrics": [good], "ragmeter.targets": [EntryPoint("bad", "no_module:X", "ragmeter.targets")]}
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points.get(group, []))
    done = ragmeter("doctor", "--json")
    assert done.returncode == 1
    plugins = [(check["state"], check["what"]) for check in json.loads(done.stdout) if check["name"] == "plugin"]
    assert plugins[0] == ("ok", "good (ragmeter.metrics.text), for metrics")
    assert plugins[1][0] == "broken"
    assert "the plugin 'bad' (no_module:X) does not load: ModuleNotFoundError" in plugins[1][1]


def test_an_endpoint_that_is_named(ragmeter: Run, server: str) -> None:
    done = ragmeter("doctor", "--json", "--endpoint", server, env={"OPENAI_API_KEY": "sk-very-secret"})
    assert (done.returncode, states(done.stdout)["endpoint"][0]) == (0, "ok")  # it answers, and wants a key
    assert "401 Unauthorized" in done.stdout
    assert "Authorization" not in Handler.headers_seen
    done = ragmeter("doctor", "--endpoint", "http://127.0.0.1:9/", "--endpoint", "ftp://x")
    assert (done.returncode, done.stdout.count("broken")) == (1, 2)


def test_what_is_missing(ragmeter: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    required = ["numpy>=2.0", "nobody-has-this>=1", 'aiohttp>=999; extra == "http"']
    monkeypatch.setattr(metadata, "requires", lambda name: required)
    assert [package.is_fine for package in packages()] == [True, False, False]
    done = ragmeter("doctor", "--json")
    checks = states(done.stdout)
    assert done.returncode == 1
    assert checks["core"] == ("broken", "nobody-has-this is missing, needs 1")
    assert install_command("http") in checks["extra http"][1]
    monkeypatch.setattr(environment, "packages", list)
    assert states(ragmeter("doctor", "--json").stdout)["core"][0] == "missing"


@pytest.mark.parametrize(
    ("version", "least", "fine"),
    [
        ("3.10.1", "3.9", True),
        ("3.9", "3.10", False),
        ("2.0", "2.0", True),
        ("2.0rc1", None, True),
        (None, None, False),
    ],
)
def test_versions_are_compared_as_numbers(version: str | None, least: str | None, fine: bool) -> None:
    assert Package("x", version, least).is_fine is fine


def test_models_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = tmp_path / "hub" / "models--intfloat--multilingual-e5-base" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "a").write_bytes(b"x" * 1000)
    (tmp_path / "hub" / "models--empty--one" / "blobs").mkdir(parents=True)
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.delenv("HUGGINGFACE_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    assert cached_models() == {"intfloat/multilingual-e5-base": 1000}
    assert cached_models(tmp_path / "nowhere") == {}


def test_the_version_has_the_dependencies(ragmeter: Run) -> None:
    lines = ragmeter("--version").stdout.splitlines()
    assert f"numpy {metadata.version('numpy')}" in lines
    assert len(lines) == len(set(lines))


# -- Completion --------------------------------------------------------------------------------------------------------


def replies(shell: str, tmp_path: Path, *words: str) -> list[str]:
    """What a shell would offer for the last of these words."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / f"completion.{shell}"
    script.write_text(completion(shell))
    quoted = " ".join(f"'{word}'" for word in words)
    commands = {
        "bash": f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _ragmeter; "
        'printf "%s\\n" "${COMPREPLY[@]}"',
        "zsh": f"compdef() {{ }}; _files() {{ }}; source {script}; words=({quoted}); CURRENT={len(words)}; "
        "_describe() { print -l -- $entries }; compadd() { print -l -- $@ }; _ragmeter",
        "fish": f"source {script}; complete -C '{' '.join(words)}'",
    }
    for name in ("nightly", "$(touch executed)"):
        (tmp_path / "runs" / name).mkdir(parents=True, exist_ok=True)
    (tmp_path / "runs" / "nightly.journal.sqlite").touch()
    done = subprocess.run([shell, "-c", commands[shell]], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert not done.stderr, done.stderr
    return done.stdout.replace("\t", ":").splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes(shell: str, tmp_path: Path) -> None:
    def names(*words: str) -> list[str]:
        return [reply.partition(":")[0] for reply in replies(shell, tmp_path, "ragmeter", *words)]

    assert {"compare", "crag"} <= set(names("c"))
    assert "--judge-model" in names("ask", "--judge-m")
    assert {"llm", "cascade", "offline"} <= set(names("ask", "--judge", ""))
    assert "nightly" in names("summary", "")
    assert "nightly.journal.sqlite" not in names("summary", "n")
    assert not (tmp_path / "executed").exists(), "a run's name is no command"
    assert "nightly" not in names("summary", "--output-dir", ""), "that is a folder, no run"
    assert "--output-dir" in names("runs", "--ou")
    assert "prune" in names("runs", "")
    assert "--tokenizer" in names("crag", "generate", "--to")


def test_every_command_is_in_the_scripts(ragmeter: Run) -> None:
    for shell in ("bash", "zsh", "fish"):
        script = ragmeter("--completion", shell).stdout
        assert all(word in script for name in COMMANDS for word in name.split())
    with pytest.raises(UnknownNameError, match="unknown shell 'tcsh'"):
        completion("tcsh")
    assert ragmeter("--completion").returncode == 2


def test_how_fast_a_model_judges_behind_an_endpoint(ragmeter: Run) -> None:
    slot = OneSlot(0.3)
    with JudgeServer(lambda request, number: slot(request, number) if request else Action(body={})) as server:
        done = ragmeter("doctor", "--json", "--endpoint", server.url, "--judge-model", "m")
        state, what = states(done.stdout)["speed"]
        assert (done.returncode, state, server.count) == (0, "ok", 11)  # the first is the plain request
    assert "the slowest of 8 at once" in what
    assert "--judge-workers" in what
    with JudgeServer(lambda request, number: Action(404, {"error": "no such model"})) as server:
        done = ragmeter("doctor", "--json", "--endpoint", server.url, "--judge-model", "m")
        assert (done.returncode, states(done.stdout)["speed"][0]) == (1, "broken")
    assert ragmeter("doctor", "--judge-model", "m").returncode == 2


@pytest.mark.parametrize(
    "address",
    ["http://user:SECRET99@{}/v1?key=SECRET99", "http://{}/v1?key=SECRET99", "http://{}/v1?key=SECRET99 SECRET99"],
)
def test_what_is_secret_in_an_address_is_not_shown(ragmeter: Run, address: str) -> None:
    def repeats(request: object, number: int) -> Action:
        return Action(404, {"error": "no model for SECRET99"})

    with JudgeServer(repeats) as server:
        place = server.url.removeprefix("http://").partition("/")[0]
        done = ragmeter("doctor", "--json", "--endpoint", address.format(place), "--judge-model", "m")
    assert f"http://{place}/v1" in states(done.stdout)["endpoint"][1]
    assert "SECRET99" not in done.stdout + done.stderr
