"""`ragmeter compare`, `power` and `summary`, as a person or a script calls them."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from ragmeter.cli.main import main
from tests.conftest import Run
from tests.make_runs import make_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    random = np.random.default_rng(1)
    old = random.random(300)
    kinds = ["x" if row % 3 else "y" for row in range(300)]
    texts = {"question": [f"q{row}" for row in range(300)], "answer": ["\x1b[31mred"] * 300, "kind": kinds}
    make_run(tmp_path / "runs" / "old", {"score": old, "right": (old > 0.5).astype(float)}, texts)
    new = old + random.normal(0.08, 0.2, 300)
    make_run(tmp_path / "runs" / "new", {"score": new, "right": (new > 0.5).astype(float)}, texts)
    return tmp_path


def test_compare(ragmeter: Run, runs: Path) -> None:
    done = ragmeter("compare", "old", "new")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(
        r"new is better on score: 0\.\d+ instead of 0\.\d+ \(\+0\.\d+, 95%: \+0\.\d+ to \+0\.\d+, 300 questions\)\.",
        lines[0],
    )
    assert lines[1].startswith("Of 2 metrics: ")
    assert lines[2] == "baseline: old, candidate: new"
    tested = "the headline metric is tested by itself, and so is the other one"
    assert lines.count(f"Paired randomisation test; {tested}; significant: p below 0.05.") == 1
    (row,) = (line.split() for line in lines if line.startswith(" score ↑"))
    assert row[2:4] == ["▲", "better"]
    assert sum(line.endswith("(--worse N shows more):") for line in lines) == 1
    assert len([line for line in lines if line.startswith("   candidate: ")]) == 6
    twenty = ragmeter("compare", "old", "new", "--worse", "20", "--better", "0", "--movers", "1").stdout.splitlines()
    assert len([line for line in twenty if line.startswith("   candidate: ")]) == 20
    assert "score moved most on:" in twenty
    assert "\x1b" not in done.stdout
    assert "*" not in done.stdout


def test_compare_for_a_script(ragmeter: Run, runs: Path) -> None:
    done = ragmeter("compare", "runs/old", "runs/new", "--metrics", "score", "--test", "t", "--json")
    comparison = json.loads(done.stdout)
    (pair,) = comparison["pairs"]
    assert (comparison["runs"], comparison["test"], list(pair["metrics"])) == (["old", "new"], "t", ["score"])
    assert {part["column"] for part in pair["slices"]} == {"kind"}
    assert pair["metrics"]["score"]["movers"] == []
    assert pair["headline"] == "score"
    assert comparison["baseline"] == "old"
    gains = [after - before for before, after in (row["scores"]["score"] for row in pair["better_rows"])]
    assert pair["better_rows"][0]["question"].startswith("q")
    assert gains == sorted(gains, reverse=True)
    assert len(gains) == 3


def test_the_baseline_of_the_project_is_that_of_several_runs(ragmeter: Run, runs: Path) -> None:
    make_run(runs / "runs" / "other", {"score": np.linspace(0, 1, 300)})
    several = ("compare", "old", "new", "other", "--metrics", "score", "--json")
    assert json.loads(ragmeter(*several).stdout)["baseline"] == "old"
    (runs / "ragmeter.toml").write_text('[compare]\nbaseline = "other"\n')
    assert json.loads(ragmeter(*several).stdout)["baseline"] == "other"
    assert json.loads(ragmeter(*several, "--baseline", "new").stdout)["baseline"] == "new"
    apart = ragmeter("compare", "old", "new", "--baseline", "other", "--metrics", "score", "--keep")
    assert apart.stdout.splitlines()[-1] == f"kept: {Path('runs/new/comparisons/other+old.json')}"
    assert (runs / "runs" / "new" / "comparisons" / "other+old.json").exists()
    assert r"new vs. other" in ragmeter("compare", "old", "new", "--baseline", "other", "--latex").stdout
    two = json.loads(ragmeter("compare", "old", "new", "--json").stdout)
    assert two["baseline"] == "old", "of two runs, the first"
    (runs / "ragmeter.toml").write_text('[compare]\nbaseline = "elsewhere"\n')
    assert json.loads(ragmeter(*several).stdout)["baseline"] == "old"
    (runs / "ragmeter.toml").write_text("compare = 3\n")
    assert "compare should be a table" in ragmeter(*several).stderr


def test_several_systems_in_the_terminal(ragmeter: Run, runs: Path) -> None:
    make_run(runs / "runs" / "other", {"score": np.linspace(0, 1, 300), "right": [1.0, 0.0] * 150})
    lines = ragmeter("compare", "old", "new", "other").stdout.splitlines()
    assert lines[0].startswith("new is better on score: ")
    assert lines[1].startswith("The baseline is old")
    (order,) = (line.split() for line in lines if line.startswith(" system"))
    assert order == ["system", "verdict", "rank", "score", "↑", "difference", "95%", "interval", "n"]
    (new,) = (line.split() for line in lines if line.startswith(" new"))
    assert new[:4] == ["new", "▲", "better", "1"]
    (title,) = (line.split() for line in lines if line.startswith(" metric"))
    assert set(title[1:]) == {"old", "new", "other", "n"}
    assert lines[-1] == "which rows changed: ragmeter compare old SYSTEM"
    pairs = ragmeter("compare", "old", "new", "other", "--all-pairs").stdout.splitlines()
    assert sum(line.startswith(" score ↑") for line in pairs) == 1, "that of the two which are not the baseline"


def test_what_can_be_pasted(ragmeter: Run, runs: Path) -> None:
    text = ragmeter("compare", "old", "new", "--markdown").stdout
    assert text.startswith("**new is better on score: 0")
    assert "| metric | verdict | baseline: old | candidate: new | difference | 95% interval |" in text
    assert "| score ↑ | ▲ better | 0." in text
    assert text.endswith("significant: p below 0.05.\n")
    paper = ragmeter("compare", "old", "new", "--latex").stdout
    assert paper.count(r"\begin{tabular}") == paper.count(r"\end{tabular}") == 1
    (line,) = (line for line in paper.splitlines() if line.startswith(r"score $\uparrow$ & "))
    assert re.search(r"& \+0\.\d+\$\^\{\*\}\$ \{\\small\[\+0\.\d+, \+0\.\d+\]\} & \$<\$0\.0001 & 300 ", line)
    assert r"\paragraph{Methods}" in paper
    assert "The headline metric is score: it was chosen by its name, not by its scores." in paper
    assert "Its p-value is not corrected." in paper
    assert r"test:randomisation\textbar{}\allowbreak{}draws:9999" in paper
    make_run(runs / "runs" / "other", {"score": np.linspace(0, 1, 300)})
    several = ragmeter("compare", "old", "new", "other", "--markdown").stdout
    assert "| system | verdict | rank | score ↑ | difference | 95% interval | n |" in several
    assert ragmeter("compare", "old", "new", "--json", "--latex").returncode == 2


def test_compare_says_what_is_wrong(ragmeter: Run, runs: Path) -> None:
    done = ragmeter("compare", "old", "knew")
    assert done.returncode == 2
    assert "unknown run 'knew': did you mean new?" in done.stderr
    assert ragmeter("compare", "old").returncode == 2
    assert "--alpha" in ragmeter("compare", "--help").stdout


def test_power(ragmeter: Run, runs: Path) -> None:
    done = ragmeter("power", "--variance", str(1 / 9), "--difference", "0.03")
    assert done.returncode == 0, done.stderr
    assert "969" in done.stdout
    done = ragmeter("power", "old", "new", "--metric", "score", "--n", "1000", "--json")
    plan = json.loads(done.stdout)
    assert plan["smallest"]["1000"] == pytest.approx(2.8016 * (plan["variances"]["between"] / 1000) ** 0.5, rel=1e-4)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "a pilot run, or --variance"),
        (("old",), "--metric is missing: which of the run's metrics is the plan for?\n  old has score, right"),
        (("old", "--variance", "1", "--metric", "score"), "leave one of them out"),
        (("old", "new", "old", "--metric", "score"), "one run or two"),
        (("old", "--metric", "scor"), "did you mean score"),
        (("old", "--metric", "other"), "old has score, right"),
        (
            ("old", "--metric", "score", "--difference", "0.02", "5"),
            "no difference in score can be 5: its scores lie between 0 and 1\n"
            "  a difference is at most 1; 5 points are 0.05",
        ),
        (("--variance", "0.1", "--metric", "token_f1", "--difference", "2"), "no difference in token_f1 can be 2"),
        (("old", "--metrics", "score"), "unknown option --metrics: did you mean --metric?"),
    ],
)
def test_power_says_what_is_wrong(ragmeter: Run, runs: Path, arguments: tuple[str, ...], said: str) -> None:
    done = ragmeter("power", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_summary(ragmeter: Run, runs: Path) -> None:
    done = ragmeter("summary", "old", "--slice", "kind", "--level", "0.9")
    assert done.returncode == 0, done.stderr
    assert "90% interval" in done.stdout
    assert "kind" in done.stdout
    summary = json.loads(ragmeter("summary", "old", "--slice", "kind", "--json").stdout)
    assert [(part["value"], part["n_rows"]) for part in summary["slices"]] == [("y", 100), ("x", 200)]


def test_evaluate_takes_other_intervals(ragmeter: Run, tmp_path: Path) -> None:
    rows = [{"qid": str(i), "session_id": str(i // 2), "reference": "a b", "answer": "a" * (i % 3)} for i in range(12)]
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    plain = ("evaluate", "--metrics", "token_f1", "--results", "rows.jsonl", "--run", "r", "--json")
    summary = json.loads(ragmeter(*plain).stdout)
    assert summary["statistics"] == {"method": "auto", "cluster": "session_id", "level": 0.95}
    assert summary["metrics"]["token_f1"]["n_clusters"] == 6
    summary = json.loads(ragmeter(*plain, "--interval", "bca", "--cluster", "none", "--seed", "5").stdout)
    assert summary["metrics"]["token_f1"]["interval_method"] == "bca_with_pseudo_rows"
    manifest = json.loads((tmp_path / "runs" / "r" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["statistics"]["seed"] == 5
    added = ragmeter("evaluate", "--run", "r", "--metrics", "exact_match", "--json")
    assert json.loads(added.stdout)["metrics"]["exact_match"]["interval_method"] == "bca_with_pseudo_rows"


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("rows.parquet", None),
        ("rows.parquet", b""),
        ("rows.parquet", b"PAR1 and no more"),
        ("summary.json", None),
        ("summary.json", b"{"),
        ("summary.json", b"[]"),
        ("summary.json", b'{"metrics": 3}'),
    ],
)
def test_a_damaged_run_is_named(ragmeter: Run, runs: Path, file: str, content: bytes | None) -> None:
    """One error with the file, and never exit code 1, which says that a gate failed."""
    place = runs / "runs" / "new" / file
    place.unlink()
    if content is not None:
        place.write_bytes(content)
    for call in (
        ["compare", "old", "new"],
        ["summary", "new"],
        ["power", "new", "--metric", "score"],
        ["gate", "new", "--fail-under", "score=0.1"],
        ["gate", "old", "--no-worse-than", "new:score:0.1"],
        ["report", "new"],
    ):
        done = ragmeter(*call)
        assert done.returncode == 2, call
        assert file in done.stderr or "the run has no metrics" in done.stderr, done.stderr
        assert len(done.stderr.splitlines()) <= 2, done.stderr


def test_a_level_is_shown_as_it_is(ragmeter: Run, runs: Path) -> None:
    assert "99.9% interval" in ragmeter("summary", "old", "--level", "0.999").stdout
    assert ", 99.5%: " in ragmeter("compare", "old", "new", "--level", "0.995").stdout


def test_a_seed_that_is_none(ragmeter: Run, runs: Path) -> None:
    done = ragmeter("summary", "old", "--interval", "bootstrap", "--seed", "-1")
    assert (done.returncode, done.stderr) == (2, "ragmeter: seed must be 0 or more, got -1\n")


def test_a_pipe_gets_every_column_on_one_line(ragmeter: Run, tmp_path: Path) -> None:
    name = "semantic_similarity[model=intfloat/multilingual-e5-base]"
    for run, value in (("a", 0.1), ("b", 0.2)):
        make_run(
            tmp_path / "runs" / run, {name: [value, 0.3, 0.4], "slow_reply_ms": [12345.6, 23456.7, 34567.8 * value]}
        )
    done = ragmeter("compare", "a", "b", "--alpha", "0.01", env={"COLUMNS": "40"})
    lines = done.stdout.splitlines()
    (title,) = (line.split() for line in lines if line.startswith(" metric"))
    assert title == ["metric", "verdict", "baseline", "candidate", "difference", "95%", "interval"]
    (row,) = (line for line in lines if line.startswith(f" {name} ↑ "))
    assert row.split()[2:5] == ["=", "not", "significant"]
    assert row.split()[-3:] == ["-1.0", "to", "+1.0"]
    assert sum(line.endswith("; significant: p below 0.01.") for line in lines) == 1


class Terminal(io.StringIO):
    """A standard output that a person looks at."""

    def isatty(self) -> bool:
        return True


FIGURE = re.compile(r"(?<![\w.,+-])[-+]?\d[\d,]*(?:\.\d+)?(?:/\d+)?(?![\w.,/])")


@pytest.fixture
def long_names(tmp_path: Path) -> Path:
    random = np.random.default_rng(4)
    for run in ("old", "new"):
        scores = {
            "rouge_l_score[language=en]": random.random(84),
            "slow_latency_of_the_whole_system_ms": random.random(84) * 123_456,
            "right": (random.random(84) < 0.5).astype(float),
        }
        make_run(tmp_path / "runs" / run, scores, {"kind": ["short", "a rather long kind of question"] * 42})
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "old", "new", "--movers", "0"],
        ["summary", "new", "--slice", "kind"],
        ["gate", "new", "--fail-under", "right=0.1", "--no-worse-than", "old:right:0.9"],
        ["power", "old", "new", "--metric", "rouge_l_score[language=en]"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_number_is_cut_at_any_width(long_names: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.chdir(long_names)
    monkeypatch.setenv("TERM", "dumb")

    def shown(columns: int) -> str:
        terminal = Terminal()
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(sys, "stdout", terminal)
        assert main(arguments) == 0
        return terminal.getvalue()

    widest = set(FIGURE.findall(shown(1000)))
    for columns in (40, 60, 80, 100, 120):
        text = shown(columns)
        assert all(cell_len(line) <= columns for line in text.splitlines() if " " in line.strip())
        figures = set(FIGURE.findall(text))
        assert figures <= widest, "no figure is a part of another one"
        left_out = re.findall(r"no room for: ([\w/]+)", text)
        assert set(left_out) <= {"better/worse", "median"}
        assert figures == widest or left_out, columns
        assert "…" not in text


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminal")
def test_a_real_terminal_of_80_columns(long_names: Path) -> None:
    """0/84 was shown as 0/8."""
    import fcntl
    import pty
    import struct
    import termios

    for run, score in (("zeros", 0.0), ("ones", 1.0)):
        make_run(long_names / "runs" / run, {"rouge_l_score[language=en]": [score] * 84, "right": [score] * 84})
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    with subprocess.Popen(
        [sys.executable, "-m", "ragmeter", "compare", "ones", "zeros", "--movers", "0"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=long_names,
        env={**environment, "PYTHONUTF8": "1", "TERM": "dumb"},
    ) as started:
        os.close(theirs)
        said = b""
        with suppress(OSError):  # how Linux says that the other end is closed
            while part := os.read(ours, 65536):
                said += part
        os.close(ours)
        assert started.wait(timeout=300) == 0
    lines = said.decode().splitlines()
    assert max(map(cell_len, lines)) <= 80
    figures = [line.split()[-3:] for line in lines if "-1.000 to" in line and not line.endswith(".")]
    assert figures == [["-1.000", "to", "-0.930"]] * 2


def test_a_summary_of_another_version(ragmeter: Run, runs: Path) -> None:
    """More than is known is left alone, less than is needed is said."""
    place = runs / "runs" / "new" / "summary.json"
    summary = json.loads(place.read_text(encoding="utf-8"))
    summary["metrics"]["score"]["of_the_future"] = 1
    place.write_text(json.dumps(summary), encoding="utf-8")
    assert ragmeter("gate", "new", "--fail-under", "score=0.1").returncode == 0
    del summary["metrics"]["score"]["range"]
    place.write_text(json.dumps(summary), encoding="utf-8")
    for call in (["gate", "new", "--fail-under", "score=0.1"], ["compare", "old", "new"], ["summary", "new"]):
        done = ragmeter(*call)
        assert done.returncode == 2
        assert "summary.json: can't be read: metrics.score has no range" in done.stderr


def test_the_test_that_was_made_is_named(ragmeter: Run, runs: Path) -> None:
    """McNemar's test is for scores of 0 and 1, and others get another one."""
    made = "mcnemar (right) or randomisation (score)"
    done = ragmeter("compare", "old", "new", "--metrics", "right", "score", "--test", "mcnemar", "--keep")
    assert f"Paired {made} test; the headline metric is tested by itself" in done.stdout
    assert ragmeter("report", "old", "new", "--output", "page.html", "--markdown", "page.md").returncode == 0
    assert f"; test: {made}, alpha: 0.05" in (runs / "page.md").read_text(encoding="utf-8")
    page = (runs / "page.html").read_text(encoding="utf-8")
    assert made in page
    alone = ragmeter("compare", "old", "new", "--metrics", "score", "--test", "mcnemar")
    assert "Paired randomisation test; significant: " in alone.stdout


def test_an_interval_of_no_width_is_no_certainty(ragmeter: Run, tmp_path: Path) -> None:
    """Scores whose range is not known: there is no end at which a pseudo-row could be."""
    caution = "score: the scores are all the same, but few: an interval of no width does not make the mean certain"
    make_run(tmp_path / "runs" / "few", {"score": [2.0] * 3, "right": [1.0] * 3})
    make_run(tmp_path / "runs" / "many", {"score": [2.0] * 30})
    assert caution in ragmeter("summary", "few").stdout.splitlines()
    assert "no width" not in ragmeter("summary", "many").stdout
    row = json.dumps({"answer": "a", "reference": "a"}) + "\n"
    (tmp_path / "rows.jsonl").write_text(3 * row, encoding="utf-8")
    done = ragmeter("evaluate", "--results", "rows.jsonl", "--metrics", "edit_distance", "token_f1", "--run", "r")
    assert caution.replace("score:", "edit_distance:") in done.stdout.splitlines()


def test_power_of_labels(ragmeter: Run, tmp_path: Path) -> None:
    from tests.analysis.people.helpers import make_run, truth

    make_run(tmp_path, metrics="exact_match,token_f1")
    lines = "".join(f"{qid},{'correct' if said else 'wrong'}\n" for qid, said in list(truth().items())[:60])
    (tmp_path / "labels.csv").write_text(f"qid,label\n{lines}", encoding="utf-8")
    shown = ragmeter("power", "demo", "--labels", "--half-width", "0.1")
    assert shown.returncode == 0, shown.stderr
    assert "is not known before there are labels" in shown.stdout
    assert "draw them: ragmeter label demo --n 100" in shown.stdout
    plan = json.loads(ragmeter("power", "demo", "--labels", "labels.csv", "--n", "30", "--json").stdout)
    assert plan["n_labels"] == 60
    assert plan["n_next"] == 30
    refused = ragmeter("power", "demo", "--labels", "--variance", "0.1")
    assert "--variance has no effect with --labels" in refused.stderr
    assert "--half-width has no effect without --labels" in ragmeter("power", "demo", "--half-width", "0.1").stderr
